"""What parsing costs, against MuPDF's own words of the same pages.

Both are timed document by document, one right after the other, and each is the least of ``ROUNDS``: so both
meet the same machine. CPU time counts, of which a busy machine takes less away.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec
import pymupdf

from documents.pdf.fast.pipeline import read_pages

ROUNDS = 2


class ParsingCost(msgspec.Struct, frozen=True):
    """``times_words``: from page to finished units, by ``page.get_text("words")`` on the same pages."""

    times_words: float


class _Seconds(NamedTuple):
    """For all pages of one document: its words, its units."""

    words: float
    units: float


def parsing_cost(files: Sequence[Path]) -> ParsingCost:
    """Files that MuPDF cannot open, or that need a password, are left out."""
    seconds = [_measured(document) for file in files if (document := _opened(file))]
    if not seconds:
        return ParsingCost(0.0)
    return ParsingCost(round(sum(s.units for s in seconds) / sum(s.words for s in seconds), 2))


def _opened(file: Path) -> pymupdf.Document | None:
    try:
        document = pymupdf.open(file)
    except (RuntimeError, ValueError):
        return None
    return document if document.is_pdf and not document.needs_pass and document.page_count else None


def _measured(document: pymupdf.Document) -> _Seconds:
    rounds = [
        (_spent(partial(_read_words, document)), _spent(partial(_read_units, document)))
        for _ in range(ROUNDS)
    ]
    words, units = zip(*rounds, strict=True)
    return _Seconds(min(words), min(units))


def _spent(work: Callable[[], None]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def _read_words(document: pymupdf.Document) -> None:
    for number in range(document.page_count):
        document[number].get_text("words")


def _read_units(document: pymupdf.Document) -> None:
    read_pages(document, range(1, document.page_count + 1))
