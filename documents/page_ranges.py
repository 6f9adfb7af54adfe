"""Page numbers as people write them: ``3-9``, ``3,7``, ``1,4-6``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import groupby

_RANGE = re.compile(r"(\d{1,6})(?:-(\d{1,6}))?")
_MOST = 100_000


def page_numbers(text: str) -> list[int]:
    """1-based numbers in ascending order. Raises ValueError with a sentence for people."""
    numbers: set[int] = set()
    for part in text.replace(" ", "").split(","):
        if not (match := _RANGE.fullmatch(part)):
            raise ValueError(f"“{part}” is not a page or a range of pages: write 3, 3-9 or 1,4-6.")
        first, last = int(match[1]), int(match[2] or match[1])
        if not 1 <= first <= last <= _MOST:
            raise ValueError(f"“{part}” is not a range of pages: pages count from 1.")
        numbers.update(range(first, last + 1))
    return sorted(numbers)


def ranges(numbers: Iterable[int]) -> str:
    """The inverse, for people: ``3, 7–9``."""
    in_order = enumerate(sorted(set(numbers)))
    runs = [[number for _, number in run] for _, run in groupby(in_order, lambda pair: pair[1] - pair[0])]
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in runs)
