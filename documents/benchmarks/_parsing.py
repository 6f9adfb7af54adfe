"""What the fast engine costs: against MuPDF's own words, and against the layout model, on the same pages."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import msgspec
import pymupdf

from documents.pdf import fast
from documents.pdf.ml import model_boxes

# So many pages, spread over the files, are shown to the model: it takes a quarter of a second for each.
MODEL_PAGES = 12


class ParsingCost(msgspec.Struct, frozen=True):
    """Ratios within one run.

    Attributes:
        times_words: CPU time from page to finished units by that of ``page.get_text("words")``.
        times_model_speed: pages a second by the layout model's, wall time, on the pages both have read.
    """

    times_words: float
    times_model_speed: float


def parsing_cost(files: Sequence[Path]) -> ParsingCost:
    """Files that MuPDF cannot open, or that need a password, are left out."""
    documents = [document for file in files if (document := _opened(file))]
    words = sum(_seconds(time.process_time, partial(_read_words, document)) for document in documents)
    units = sum(_seconds(time.process_time, partial(_read_units, document)) for document in documents)
    shown = [document[document.page_count // 2] for document in documents[:MODEL_PAGES]]
    if not shown:
        return ParsingCost(0.0, 0.0)
    _ask_model(shown[0])  # loads it
    model = sum(_seconds(time.perf_counter, partial(_ask_model, page)) for page in shown)
    alone = sum(_seconds(time.perf_counter, partial(_read_page_units, page)) for page in shown)
    return ParsingCost(round(units / words, 2), round(model / alone, 1))


def _opened(file: Path) -> pymupdf.Document | None:
    try:
        document = pymupdf.open(file)
    except (RuntimeError, ValueError):
        return None
    return document if document.is_pdf and not document.needs_pass and document.page_count else None


def _seconds(clock: Callable[[], float], work: Callable[[], None]) -> float:
    start = clock()
    work()
    return clock() - start


def _read_words(document: pymupdf.Document) -> None:
    for number in range(document.page_count):
        document[number].get_text("words")


def _read_units(document: pymupdf.Document) -> None:
    fast.read_pages(document, range(1, document.page_count + 1))


def _read_page_units(page: pymupdf.Page) -> None:
    fast.read_pages(page.parent, [page.number + 1])


def _ask_model(page: pymupdf.Page) -> None:
    model_boxes(page, fast.page_frame(page))
