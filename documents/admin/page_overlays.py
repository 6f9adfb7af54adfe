"""Draw what the parser found on a page, as SVG layers over the page's picture."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import singledispatch
from typing import Any
from uuid import UUID

from django.db import models
from django.http import HttpRequest, HttpResponse

from documents.admin.read_only import ReadOnlyAdmin
from documents.models import CitationUnit, Page, RetrievalChunk
from pdf import word_boxes
from pdf.geometry import PageFrame, Rect, bounding_box


@dataclass(frozen=True, slots=True)
class Mark:
    """A labelled rectangle in points of the page as displayed, the SVG's units."""

    x: float
    y: float
    width: float
    height: float
    label: str = ""
    kind: str = ""

    @property
    def center(self) -> tuple[float, float]:
        return self.x + self.width / 2, self.y + self.height / 2


@dataclass(frozen=True, slots=True)
class Layer:
    """Marks that are shown and hidden together; ``line`` holds the points of a polyline."""

    name: str
    title: str
    marks: tuple[Mark, ...]
    line: str = ""
    shown: bool = False


@dataclass(frozen=True, slots=True)
class Overlay:
    """The layers of one page, and its size as displayed, in points."""

    page: Page
    width: float
    height: float
    layers: tuple[Layer, ...] = field(default_factory=tuple)


@dataclass(frozen=True, slots=True)
class _Pen:
    """Convert rectangles in page space to the SVG's units."""

    frame: PageFrame

    def mark(self, rect: Sequence[float], label: str = "", kind: str = "") -> Mark:
        shown = self.frame.to_display(Rect(*rect))
        width, height = self.frame.display_size
        x, y = shown.x0 * width, shown.y0 * height
        return Mark(
            round(x, 2),
            round(y, 2),
            round(shown.width * width, 2),
            round(shown.height * height, 2),
            label,
            kind,
        )

    def marks(self, rects: Iterable[Sequence[float]], label: str = "", kind: str = "") -> list[Mark]:
        return [self.mark(rect, label, kind) for rect in rects]


def page_overlay(page: Page) -> Overlay:
    """Return all layers of a page, in at most two queries."""
    units = list(CitationUnit.objects.filter(document=page.document_id, page_number=page.number))
    units.sort(key=lambda unit: unit.position)
    pen = _Pen(page.frame)
    layers = (
        Layer("units", "units", tuple(_units(pen, units)), shown=True),
        Layer("order", "reading order", *_order(pen, units), shown=True),
        Layer("lines", "lines", tuple(mark for unit in units for mark in pen.marks(unit.rects))),
        Layer("words", "words", tuple(pen.marks(_words(page)))),
        Layer("chunks", "chunks", tuple(_chunks(pen, units))),
        Layer("tables", "table cells", tuple(_cells(pen, units))),
        Layer("furniture", "running heads", tuple(_furniture(pen, page))),
        Layer("figures", "figures", tuple(pen.mark(figure["rect"]) for figure in page.figures)),
    )
    return Overlay(page, *page.frame.display_size, layers)


def highlight_overlay(
    page: Page,
    rects: Iterable[Sequence[float]],
    anchor: Iterable[Sequence[float]] = (),
    heads: Iterable[Sequence[float]] = (),
) -> Overlay:
    """Highlight a passage (pale), its anchor (strong) and the headers of its cell."""
    pen = _Pen(page.frame)
    layers = (
        Layer("heads", "row and column heads", tuple(pen.marks(heads)), shown=True),
        Layer("passage", "passage", tuple(pen.marks(rects)), shown=True),
        Layer("anchor", "anchor", tuple(pen.marks(anchor)), shown=True),
    )
    return Overlay(page, *page.frame.display_size, layers)


def _units(pen: _Pen, units: list[CitationUnit]) -> Iterator[Mark]:
    for unit in units:
        if unit.rects:
            yield pen.mark(unit.bbox, unit.unit_type, unit.unit_type)


def _order(pen: _Pen, units: list[CitationUnit]) -> tuple[tuple[Mark, ...], str]:
    placed = [unit for unit in units if unit.rects]
    marks = tuple(pen.mark(unit.bbox, str(unit.paragraph_index)) for unit in placed)
    return marks, " ".join(f"{x:.1f},{y:.1f}" for x, y in (mark.center for mark in marks))


def _words(page: Page) -> list[list[float]]:
    return word_boxes.unpack(bytes(page.word_boxes), page.width, page.height).boxes.tolist()


def _chunks(pen: _Pen, units: list[CitationUnit]) -> Iterator[Mark]:
    rects: dict[UUID, list[Rect]] = defaultdict(list)
    for unit in units:
        if unit.chunk_id and unit.rects:
            rects[unit.chunk_id].append(Rect(*unit.bbox))
    for chunk_id, boxes in rects.items():
        yield pen.mark(bounding_box(boxes), chunk_id.hex[:6])


def _cells(pen: _Pen, units: list[CitationUnit]) -> Iterator[Mark]:
    for unit in units:
        for cell in (unit.cells or {}).get("cells", []):
            if cell.get("rect"):
                yield pen.mark(
                    cell["rect"], f"{unit.table_row}/{cell['column']}", "head" if cell["header"] else ""
                )


def _furniture(pen: _Pen, page: Page) -> Iterator[Mark]:
    for piece in page.furniture:
        yield from pen.marks(piece["rects"])


@singledispatch
def overlays_of(row: models.Model) -> list[Overlay]:
    """Return the pages of a row with its parts highlighted. Other apps register their models."""
    return []


@overlays_of.register
def _of_page(page: Page) -> list[Overlay]:
    return [page_overlay(page)]


@overlays_of.register
def _of_unit(unit: CitationUnit) -> list[Overlay]:
    return highlight_units([unit])


@overlays_of.register
def _of_chunk(chunk: RetrievalChunk) -> list[Overlay]:
    return highlight_units(list(chunk.units.order_by("position")))


def highlight_units(units: list[CitationUnit]) -> list[Overlay]:
    """Return the pages of these units of one document, with their lines highlighted. One query."""
    numbers = {unit.page_number for unit in units}
    pages = Page.objects.filter(document=units[0].document_id, number__in=numbers) if units else []
    return [
        highlight_overlay(
            page, [rect for unit in units if unit.page_number == page.number for rect in unit.rects]
        )
        for page in pages
    ]


class PlacedAdmin(ReadOnlyAdmin):
    """Read-only rows of a model that ``overlays_of`` knows."""

    change_form_template = "admin/documents/on_page.html"

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        row = self.get_object(request, object_id)
        context = {"overlays": overlays_of(row) if row else [], **(extra_context or {})}
        return super().change_view(request, object_id, form_url, context)
