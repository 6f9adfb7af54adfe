"""Render pages, plain or with the parser's results drawn over them, one colour per layer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import pymupdf

from pdf.geometry import Rect
from pdf.structure import Layer, ParsedPage

ALL_LAYERS: tuple[Layer, ...] = ("words", "lines", "units", "tables", "furniture", "figures", "order")

Color = tuple[float, float, float]
# Longest side of the picture in pixels.
_LONGEST_SIDE = 1600.0
_MOST_PIXELS = 25e6
_GREY, _GREEN, _ORANGE, _VIOLET, _RED = (
    (0.6, 0.6, 0.6),
    (0, 0.6, 0.2),
    (1, 0.5, 0),
    (0.6, 0, 0.8),
    (0.85, 0, 0.1),
)
_UNIT_COLORS: dict[str, Color] = {
    "prose": (0.1, 0.3, 0.9),
    "heading": (0.85, 0, 0.1),
    "list": (0, 0.5, 0.6),
    "table": (0.1, 0.6, 0.1),
    "caption": (0.7, 0.4, 0),
    "footnote": (0.5, 0.5, 0),
    "code": (0.3, 0.3, 0.3),
    "formula": (0.8, 0, 0.6),
}


def page_picture(page: pymupdf.Page, parsed: ParsedPage, layers: Iterable[Layer]) -> bytes:
    """Return a PNG of the page as displayed, with the layers drawn over it."""
    canvas = _Canvas(page, parsed)
    for layer in layers:
        _LAYERS[layer](canvas, parsed)
    return canvas.png()


def plain_picture(page: pymupdf.Page, dpi: int) -> bytes:
    """Return a PNG of the page as displayed, with at most ``_MOST_PIXELS`` pixels."""
    area = max(1.0, page.rect.width * page.rect.height)
    scale = min(dpi / 72, (_MOST_PIXELS / area) ** 0.5)
    picture = page.get_pixmap(matrix=pymupdf.Matrix(scale, scale), alpha=False)
    return bytes(picture.tobytes("png"))


class _Canvas:
    """A rendered page to draw on; its methods take rectangles in page space."""

    def __init__(self, page: pymupdf.Page, parsed: ParsedPage) -> None:
        self._frame = parsed.frame
        self._width, self._height = parsed.frame.display_size
        self._scale = _LONGEST_SIDE / max(self._width, self._height)
        rendered = page.get_pixmap(matrix=pymupdf.Matrix(self._scale, self._scale), alpha=False)
        self._page = pymupdf.open().new_page(width=self._width, height=self._height)
        self._page.insert_image(self._page.rect, pixmap=rendered, keep_proportion=False)
        self._shape = self._page.new_shape()

    def box(self, rect: Rect, color: Color, width: float = 0.6, fill: float = 0.0) -> None:
        """Draw a rectangle; ``width`` of the border in points, ``fill``: opacity inside."""
        self._shape.draw_rect(self._displayed(rect))
        self._shape.finish(
            color=color if width else None, fill=color if fill else None, fill_opacity=fill, width=width
        )

    def label(self, rect: Rect, text: str, color: Color) -> None:
        """Write small text above the rectangle's top left corner."""
        corner = self._displayed(rect).tl + pymupdf.Point(0, -1)
        self._shape.insert_text(corner, text, fontsize=5, color=color)

    def path(self, points: Sequence[tuple[float, float]], color: Color) -> None:
        displayed = [self._displayed(Rect(x, y, x, y)).tl for x, y in points]
        if len(displayed) > 1:
            self._shape.draw_polyline(displayed)
            self._shape.finish(color=color, width=0.8, closePath=False, stroke_opacity=0.7)
        for point in displayed:
            self._shape.draw_circle(point, 1.5)
            self._shape.finish(color=None, fill=color)

    def png(self) -> bytes:
        self._shape.commit()
        return bytes(self._page.get_pixmap(matrix=pymupdf.Matrix(self._scale, self._scale)).tobytes("png"))

    def _displayed(self, rect: Rect) -> pymupdf.Rect:
        x0, y0, x1, y1 = self._frame.to_display(rect)
        return pymupdf.Rect(x0 * self._width, y0 * self._height, x1 * self._width, y1 * self._height)


def _words(canvas: _Canvas, page: ParsedPage) -> None:
    for word in page.words:
        canvas.box(word.rect, _GREY, 0.3)


def _lines(canvas: _Canvas, page: ParsedPage) -> None:
    for unit in page.units:
        for rect in unit.rects:
            canvas.box(rect, _GREEN, 0, fill=0.12)


def _units(canvas: _Canvas, page: ParsedPage) -> None:
    for unit in page.units:
        color = _UNIT_COLORS[unit.type]
        canvas.box(unit.bbox, color, 0.9)
        level = "" if unit.level is None else f" {unit.level}"
        canvas.label(unit.bbox, f"{unit.index} {unit.type}{level}", color)


def _tables(canvas: _Canvas, page: ParsedPage) -> None:
    for unit in page.units:
        for cell in unit.table.cells if unit.table else ():
            if cell.rect:
                canvas.box(cell.rect, _UNIT_COLORS["table"], 0.5, fill=0.25 if cell.header else 0.08)


def _furniture(canvas: _Canvas, page: ParsedPage) -> None:
    for piece in page.furniture:
        for rect in piece.rects:
            canvas.box(rect, _ORANGE, 0.6, fill=0.2)


def _figures(canvas: _Canvas, page: ParsedPage) -> None:
    for figure in page.figures:
        canvas.box(figure.rect, _VIOLET, 1.2)
        canvas.label(figure.rect, f"figure {figure.caption[:60]}", _VIOLET)


def _order(canvas: _Canvas, page: ParsedPage) -> None:
    canvas.path([unit.bbox.center for unit in page.units], _RED)


_LAYERS: dict[Layer, Callable[[_Canvas, ParsedPage], None]] = {
    "words": _words,
    "lines": _lines,
    "units": _units,
    "tables": _tables,
    "furniture": _furniture,
    "figures": _figures,
    "order": _order,
}
