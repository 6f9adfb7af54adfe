"""Lay out a document: the passes that lead from the words of its pages to units in reading order."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

import pymupdf

from pdf.extract.page_content import DocumentFeatures, RawPage, document_features, read_page
from pdf.extract.word_repair import Vocabulary, join_kerned, join_letterspaced
from pdf.gc_control import gc_paused
from pdf.geometry import PageFrame
from pdf.layout.block_kinds import classify_blocks
from pdf.layout.continuations import mark_continuations, nest_lists, number_tables, title_tables
from pdf.layout.furniture import separate_furniture
from pdf.layout.headings import assign_sections, mark_headings
from pdf.layout.page_layout import PageLayout, page_layout_of
from pdf.layout.reading_order import blocks_in_order
from pdf.layout.unit_writer import emit_units
from pdf.structure import OutlineEntry, ParsedPage
from pdf.tags.blocks import group_by_tags

_log = logging.getLogger(__name__)


def read_pages(
    document: pymupdf.Document, page_numbers: Iterable[int], tags: bool = True
) -> list[ParsedPage]:
    """The pages as units. Numbers are 1-based; a page that cannot be read says why in ``failure``.

    ``tags``: the structure that its author gave the document is used where it is sound.
    """
    with gc_paused():
        traits = document_features(document, tags)
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


def _read_or_say_why(document: pymupdf.Document, number: int, traits: DocumentFeatures) -> RawPage:
    try:
        return read_page(document.load_page(number - 1), traits)
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
    page_layouts = [page_layout_of(raw) for raw in raw_pages]
    with left_out_on_failure():
        separate_furniture(page_layouts)
    for page_layout in page_layouts:
        arrange(page_layout)
    with left_out_on_failure():
        mark_headings(page_layouts, outline)
    for look in (
        classify_blocks,
        nest_lists,
        title_tables,
        number_tables,
        mark_continuations,
        assign_sections,
    ):
        with left_out_on_failure():
            look(page_layouts)
    return emit_units(page_layouts, vocabulary)


@contextmanager
def left_out_on_failure() -> Iterator[None]:
    """What a look at the whole document would have found is missing then; its pages stand as they are."""
    try:
        yield
    except Exception:  # any: a page nobody thought of shall not cost the document
        _log.exception("a pass over the whole document failed")


def arrange(page_layout: PageLayout) -> None:
    """Finds the blocks of one page. A page that cannot be laid out says so; the others stand."""
    try:
        page_layout.blocks = blocks_in_order(
            page_layout.lines, page_layout.rulings, page_layout.fills, page_layout.drawings
        )
        if page_layout.raw.elements:
            with left_out_on_failure():
                page_layout.blocks = group_by_tags(page_layout.blocks, page_layout.raw.elements)
    except Exception as error:
        page_layout.raw.failure = f"layout: {type(error).__name__}: {error}"[:200]
        page_layout.blocks, page_layout.head, page_layout.foot = [], [], []
