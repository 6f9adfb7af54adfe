"""Lay out a document: the passes that lead from the words of its pages to units in reading order."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

import pymupdf

from documents.pdf.collecting import collector_at_rest
from documents.pdf.fast.captions import title_tables
from documents.pdf.fast.flow import mark_continuations, nest_lists, number_tables
from documents.pdf.fast.furniture import set_furniture_aside
from documents.pdf.fast.headings import name_headings
from documents.pdf.fast.hyphens import Vocabulary
from documents.pdf.fast.kerning import join_kerned
from documents.pdf.fast.kinds import name_kinds
from documents.pdf.fast.letterspacing import join_letterspaced
from documents.pdf.fast.order import blocks_in_order
from documents.pdf.fast.raw import RawPage, read_raw
from documents.pdf.fast.sections import assign_sections
from documents.pdf.fast.sheets import Sheet, sheet_of
from documents.pdf.fast.tags.regrouping import regrouped
from documents.pdf.fast.text import written
from documents.pdf.fast.traits import Traits, traits_of
from documents.pdf.geometry import PageFrame
from documents.pdf.structure import OutlineEntry, ParsedPage

_log = logging.getLogger(__name__)


def read_pages(
    document: pymupdf.Document, page_numbers: Iterable[int], tags: bool = True
) -> list[ParsedPage]:
    """The pages as units. Numbers are 1-based; a page that cannot be read says why in ``failure``.

    ``tags``: the structure that its author gave the document is used where it is sound.
    """
    with collector_at_rest():
        traits = traits_of(document, tags)
        raw_pages = (_read_or_say_why(document, number, traits) for number in page_numbers)
        return layout(list(raw_pages), outline_of(document))


def outline_of(document: pymupdf.Document) -> list[OutlineEntry]:
    """The PDF's bookmarks, in their order; empty where they cannot be read."""
    try:
        return [
            OutlineEntry(level, title.strip(), page) for level, title, page in document.get_toc(simple=True)
        ]
    except Exception:  # a damaged outline is no outline
        return []


def _read_or_say_why(document: pymupdf.Document, number: int, traits: Traits) -> RawPage:
    try:
        return read_raw(document.load_page(number - 1), traits)
    except Exception as error:  # MuPDF raises many kinds; a bad page must not end the document
        return RawPage(
            number=number, frame=PageFrame(612.0, 792.0), failure=f"{type(error).__name__}: {error}"[:200]
        )


def layout(raw_pages: Sequence[RawPage], outline: Sequence[OutlineEntry] = ()) -> list[ParsedPage]:
    """Units of pages that were read or recognised. ``outline``: the document's own table of contents."""
    vocabulary = Vocabulary(raw_pages)
    with left_out_on_failure():
        join_kerned(raw_pages, vocabulary)
        join_letterspaced(raw_pages, vocabulary)
    sheets = [sheet_of(raw) for raw in raw_pages]
    with left_out_on_failure():
        set_furniture_aside(sheets)
    for sheet in sheets:
        arrange(sheet)
    with left_out_on_failure():
        name_headings(sheets, outline)
    for look in (name_kinds, nest_lists, title_tables, number_tables, mark_continuations, assign_sections):
        with left_out_on_failure():
            look(sheets)
    return written(sheets, vocabulary)


@contextmanager
def left_out_on_failure() -> Iterator[None]:
    """What a look at the whole document would have found is missing then; its pages stand as they are."""
    try:
        yield
    except Exception:  # any: a page nobody thought of shall not cost the document
        _log.exception("a pass over the whole document failed")


def arrange(sheet: Sheet) -> None:
    """Finds the blocks of one page. A page that cannot be laid out says so; the others stand."""
    try:
        sheet.blocks = blocks_in_order(sheet.lines, sheet.rulings, sheet.fills, sheet.drawings)
        if sheet.raw.elements:
            with left_out_on_failure():
                sheet.blocks = regrouped(sheet.blocks, sheet.raw.elements)
    except Exception as error:
        sheet.raw.failure = f"layout: {type(error).__name__}: {error}"[:200]
        sheet.blocks, sheet.head, sheet.foot = [], [], []
