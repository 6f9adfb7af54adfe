"""Microseconds a claim takes to verify: ``python -m bench._verify CASES.jsonl``.

Lines are those of ``manage.py verify --batch``. Each claim is verified with empty caches of words
and sentences ("first") and again with full ones ("again"); processor time, not wall time.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import msgspec


def main() -> None:
    import django

    django.setup()
    from chat.citations.verification.batch import Case

    cases = [msgspec.json.decode(line, type=Case) for line in Path(sys.argv[1]).read_bytes().splitlines()]
    measured(cases)  # reads the words of every language
    for name, empty in (("first", True), ("again", False)):
        times = sorted(measured(cases, empty=empty))
        p50, p95 = statistics.median(times), times[int(len(times) * 0.95)]
        print(f"{name:6} {len(times)} claims  p50 {p50:7.0f} µs  p95 {p95:7.0f} µs  most {times[-1]:7.0f} µs")


def measured(cases: Iterable[msgspec.Struct], *, empty: bool = False) -> list[float]:
    """Microseconds of processor time for each case."""
    from chat.citations.verification import prose, tokens
    from chat.citations.verification.batch import Case, check
    from text import quantities

    found = []
    for case in cases:
        assert isinstance(case, Case)
        if empty:
            tokens.tokens_of.cache_clear()
            prose.sentences_of.cache_clear()
            quantities.quantities_in.cache_clear()
        start = time.process_time()
        check(case)
        found.append((time.process_time() - start) * 1e6)
    return found


if __name__ == "__main__":
    main()
