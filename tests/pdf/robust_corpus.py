"""Every PDF below a folder through ``parse_file``: how it ended, how long it took, what it left behind.

    python -m tests.pdf.robust_corpus DIR [--limit N]

Prints a line of JSON per file and a table at the end; exits 1 when a file took
longer than 30 s, ended outside the closed list, or not as ``expected.json`` says.
"""

from __future__ import annotations

import argparse
import collections
import json
import resource
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from pdf.api import parse_file
from pdf.failures import ParseFailure
from tests.pdf import layout_invariants

SLOWEST_SECONDS = 30.0


class Outcome(msgspec.Struct, frozen=True):
    file: str
    outcome: str  # "ready" or a reason code
    seconds: float
    pages: int = 0
    words: int = 0
    hidden: int = 0
    ocr: int = 0
    failed_pages: int = 0
    detail: str = ""


def outcome_of(path: Path, root: Path) -> Outcome:
    name, began = str(path.relative_to(root)), time.monotonic()
    try:
        document = parse_file(path)
    except ParseFailure as failure:
        return Outcome(name, failure.code.value, time.monotonic() - began, detail=failure.detail[-300:])
    layout_invariants.check(document.pages)
    pages = document.pages
    return Outcome(
        name,
        "ready",
        round(time.monotonic() - began, 3),
        document.page_count,
        sum(len(page.words) for page in pages),
        sum(page.hidden_words for page in pages),
        sum(page.ocr for page in pages),
        sum(bool(page.failure) for page in pages),
        "; ".join(sorted({page.failure for page in pages if page.failure})),
    )


def files_below(root: Path) -> Iterator[Path]:
    return (path for path in sorted(root.rglob("*")) if path.is_file() and path.suffix.lower() == ".pdf")


def as_expected(outcome: Outcome, expected: str) -> bool:
    if outcome.outcome == "ready":
        return "ready" in expected or expected == "failed_no_text"  # a scan may be recognised
    return {
        "rejected_at_upload": outcome.outcome == "not_a_pdf",
        "failed_password": outcome.outcome == "password_protected",
        "failed_timeout_or_limit": outcome.outcome in ("took_too_long", "too_much_memory"),
        "failed_no_text": outcome.outcome == "no_text",
        "ready": False,
    }.get(expected, True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=Path)
    parser.add_argument("--limit", type=int)
    options = parser.parse_args()
    expected = json.loads((options.root / "synthetic/expected.json").read_text())
    before, outcomes, wrong = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, [], []
    for path in list(files_below(options.root))[: options.limit]:
        try:
            outcome = outcome_of(path, options.root)
        except AssertionError as error:
            outcome = Outcome(str(path.relative_to(options.root)), "invariant", 0.0, detail=str(error))
        outcomes.append(outcome)
        print(msgspec.json.encode(outcome).decode(), flush=True)
        wanted = expected.get(path.name, {}).get("outcome") if path.parent.name == "synthetic" else None
        broken = outcome.seconds > SLOWEST_SECONDS or outcome.outcome in ("internal", "invariant")
        if broken or (wanted and not as_expected(outcome, wanted)):
            wrong.append(outcome)
    _report(outcomes, wrong, before)
    sys.exit(bool(wrong))


def _report(outcomes: list[Outcome], wrong: list[Outcome], before: int) -> None:
    say = lambda text: print(text, file=sys.stderr)  # noqa: E731
    for name, count in collections.Counter(outcome.outcome for outcome in outcomes).most_common():
        say(f"{count:6} {name}")
    slowest = sorted(outcomes, key=lambda outcome: -outcome.seconds)[:5]
    say(f"{sum(outcome.failed_pages for outcome in outcomes):6} pages failed in documents that are ready")
    say(f"{sum(outcome.ocr for outcome in outcomes):6} pages recognised")
    say("slowest: " + ", ".join(f"{outcome.file} {outcome.seconds:.1f} s" for outcome in slowest))
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    say(f"this process grew by {grown / 1024:.1f} MB")
    for outcome in wrong:
        say(f"WRONG {outcome.file}: {outcome.outcome} in {outcome.seconds:.1f} s {outcome.detail}")


if __name__ == "__main__":
    main()
