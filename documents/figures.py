"""The figures and tables of a document, as the reader lists them and shows them on its pages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Max, Min

from documents.models import CitationUnit, Document, Page
from documents.pdf.geometry import Box, PageFrame, Rect

MOST_FIGURES = 1000
SMALLEST = 0.01  # of its page: what is smaller and has no caption is ornament


@dataclass(frozen=True, slots=True)
class ListedFigure:
    """A figure or table with its caption; ``boxes`` are display fractions of its page."""

    page: int
    caption: str
    is_table: bool
    boxes: tuple[Box, ...]


@dataclass(frozen=True, slots=True)
class TableArea:
    """Where a table, or the part of it that is on one page, stands; ``box`` in display fractions."""

    index: int
    page: int
    box: Box


def figures_of(document: Document) -> list[ListedFigure]:
    """Figures and tables in the order of their pages, those without a caption included. Four queries."""
    pages = document.pages.exclude(figures=[]).order_by("number").defer("text", "word_boxes", "furniture")
    figures = [
        ListedFigure(page.number, figure["caption"], False, page.frame.display_boxes([figure["rect"]]))
        for page in pages
        for figure in page.figures
        if figure["caption"] or page.frame.to_display(Rect(*figure["rect"])).area > SMALLEST
    ]
    captions = _table_captions(document)
    tables = [
        ListedFigure(area.page, captions.pop(area.index), True, (area.box,))
        for area in table_areas(document)
        if area.index in captions
    ]
    return sorted([*figures, *tables], key=lambda figure: figure.page)[:MOST_FIGURES]


def table_areas(document: Document) -> list[TableArea]:
    """The parts of all tables, page by page. Two queries."""
    rows = (
        CitationUnit.objects.filter(document=document, table_index__isnull=False)
        .values_list("table_index", "page_number")
        .annotate(Min("bbox__0"), Min("bbox__1"), Max("bbox__2"), Max("bbox__3"))
        .order_by("page_number", "table_index")
    )
    listed = list(rows)
    frames = _frames(document, {page for _, page, *_ in listed})
    return [
        TableArea(index, page, frames[page].display_boxes([rect])[0])
        for index, page, *rect in listed
        if page in frames
    ]


def _table_captions(document: Document) -> dict[int, str]:
    """By table: its caption, '' when it has none."""
    units = CitationUnit.objects.filter(document=document, table_index__isnull=False)
    firsts = units.order_by("table_index", "table_row").distinct("table_index")
    listed = firsts.values_list("table_index", "cells__caption")
    return {index: caption or "" for index, caption in listed if index is not None}


def _frames(document: Document, numbers: Iterable[int]) -> dict[int, PageFrame]:
    pages = Page.objects.filter(document=document, number__in=numbers)
    return {page.number: page.frame for page in pages.defer("text", "word_boxes", "furniture", "figures")}
