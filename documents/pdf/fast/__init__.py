"""The fast layout engine: our own geometry over MuPDF's words and line art."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pymupdf

from documents.pdf.fast.boxes import page_frame
from documents.pdf.fast.frames import from_reading, rects_for_reading, words_for_reading
from documents.pdf.fast.lines import drawn_lines
from documents.pdf.fast.order import blocks_in_order
from documents.pdf.fast.raw import RawPage, read_raw
from documents.pdf.fast.text import PageText, unit_of
from documents.pdf.geometry import PageFrame, Rect
from documents.pdf.structure import ParsedPage

__all__ = ["RawPage", "layout", "page_frame", "read_pages", "read_raw"]


def read_pages(
    document: pymupdf.Document,
    page_numbers: Sequence[int],
    on_page: Callable[[int], None] | None = None,
) -> list[ParsedPage]:
    """The pages as units. Numbers are 1-based; a page that cannot be read says why in ``failure``."""
    raw_pages = []
    for number in page_numbers:
        raw_pages.append(_read_or_say_why(document, number))
        if on_page:
            on_page(number)
    return layout(raw_pages)


def _read_or_say_why(document: pymupdf.Document, number: int) -> RawPage:
    try:
        return read_raw(document[number - 1])
    except Exception as error:  # MuPDF raises many kinds; a bad page must not end the document
        return RawPage(
            number=number, frame=PageFrame(612.0, 792.0), failure=f"{type(error).__name__}: {error}"[:200]
        )


def layout(raw_pages: Sequence[RawPage]) -> list[ParsedPage]:
    """Units of pages that were read or recognised."""
    pages, tables = [], 0
    for raw in raw_pages:
        turn = raw.turn
        blocks = blocks_in_order(
            drawn_lines(words_for_reading(raw, turn)), rects_for_reading(raw.rulings, raw.frame, turn)
        )

        for block in blocks:
            if block.table is not None and block.row == 0:
                block.table.index, tables = tables, tables + 1

        def back(rect: Rect, turn: int = turn, frame: PageFrame = raw.frame) -> Rect:
            return from_reading(rect, turn, frame.width, frame.height)

        text = PageText(back)
        units, line = [], 1
        for index, block in enumerate(blocks):
            units.append(unit_of(text, block, index, line))
            line = units[-1].line_end + 1
        pages.append(
            ParsedPage(
                number=raw.number,
                label=raw.label,
                frame=raw.frame,
                text=text.text,
                words=tuple(text.words),
                units=tuple(units),
                ocr=raw.ocr,
                hidden_words=raw.hidden_words,
                failure=raw.failure,
            )
        )
    return pages
