"""What the fast engine costs: against MuPDF's own words, and against the layout model, on the same pages.

What is compared is timed document by document, one right after the other, and each the least of
``ROUNDS``: so both meet the same machine. Against MuPDF's words CPU time counts, of which a busy machine
takes less away; against the model wall time, for it computes on several cores.

The model reads a page alone. The fast engine reads documents: what it looks up once (the vocabulary, the
running heads, the type of headings) serves all of their pages. So a page's share of its document read
whole is what is held against the model's time for that page.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec
import pymupdf

from documents.pdf import fast
from documents.pdf.ml import model_boxes

# So many documents show a page to the model, which takes a quarter of a second for each.
MODEL_PAGES = 12
ROUNDS = 2


class ParsingCost(msgspec.Struct, frozen=True):
    """Ratios within one run.

    Attributes:
        times_words: from page to finished units, by ``page.get_text("words")`` on the same pages.
        times_model_speed: pages a second by the layout model's, on the same documents.
    """

    times_words: float
    times_model_speed: float


class _Spent(NamedTuple):
    """Seconds of a piece of work."""

    cpu: float
    wall: float


class _Seconds(NamedTuple):
    """For all pages of one document: its words, its units."""

    words: _Spent
    units: _Spent


def parsing_cost(files: Sequence[Path]) -> ParsingCost:
    """Files that MuPDF cannot open, or that need a password, are left out."""
    documents = [document for file in files if (document := _opened(file))]
    if not documents:
        return ParsingCost(0.0, 0.0)
    seconds = [_measured(document) for document in documents]
    times_words = sum(s.units.cpu for s in seconds) / sum(s.words.cpu for s in seconds)
    step = -(-len(documents) // MODEL_PAGES)
    _ask_model(documents[0])  # loads it
    model = sum(_spent(partial(_ask_model, document)).wall for document in documents[::step])
    a_page = [s.units.wall / document.page_count for document, s in zip(documents, seconds, strict=True)]
    return ParsingCost(round(times_words, 2), round(model / sum(a_page[::step]), 1))


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


def _spent(work: Callable[[], None]) -> _Spent:
    cpu, wall = time.process_time(), time.perf_counter()
    work()
    return _Spent(time.process_time() - cpu, time.perf_counter() - wall)


def _read_words(document: pymupdf.Document) -> None:
    for number in range(document.page_count):
        document[number].get_text("words")


def _read_units(document: pymupdf.Document) -> None:
    fast.read_pages(document, range(1, document.page_count + 1))


def _ask_model(document: pymupdf.Document) -> None:
    """Shows it the page in the middle."""
    page = document[document.page_count // 2]
    model_boxes(page, fast.page_frame(page))
