"""The figures of a page: its pictures and its charts, each with the caption near it.

A figure is a region beside the units, not a unit: the labels in a chart are
words of the page like all others and stand in units, so that they are found
and cited.
"""

from __future__ import annotations

from collections.abc import Sequence

from documents.pdf.fast.blocks import Block
from documents.pdf.fast.sheets import Sheet
from documents.pdf.geometry import Rect

# A caption stands at most this far from its figure (points).
CAPTION_DISTANCE = 40.0
# Smaller pictures are ornaments: bullets, logos, rules (points).
SMALLEST_SIDE = 40.0
# Labels of a chart's axes stand at most this far from its plot or from one another (points).
LABEL_DISTANCE = 14.0
# A drawing over which a table's rows reach this far is the table's own shading and frame.
TABLE_SHARE = 0.5


def figures(sheet: Sheet) -> list[tuple[Rect, str]]:
    """The page's figures and the captions near them, in the reading frame, from top to bottom."""
    if not sheet.images and not sheet.drawings:
        return []
    captions = [block for block in sheet.blocks if block.kind == "caption"]
    pictures = [rect for rect in sheet.images if min(rect.width, rect.height) >= SMALLEST_SIDE]
    drawn = [
        with_labels(rect, sheet.blocks) for rect in sheet.drawings if not _is_of_a_table(rect, sheet.blocks)
    ]
    charts = [rect for rect in drawn if not any(_holds(picture, rect) for picture in pictures)]
    found = [(rect, _nearest_caption(rect, captions)) for rect in [*pictures, *charts]]
    return sorted(found, key=lambda figure: figure[0].y0) if charts else found


def with_labels(chart: Rect, blocks: Sequence[Block]) -> Rect:
    """The chart and the short lines beside its plot: the labels of its axes, its legend."""
    labels = [
        block.rect
        for block in blocks
        if block.kind == "prose" and len(block.lines) == 1 and block.rect.width <= chart.width
    ]
    grown = chart
    for label in sorted(labels, key=lambda rect: _distance(rect, chart)):
        if _distance(label, grown) <= LABEL_DISTANCE and _stays_beside(label, chart):
            grown = grown.union(label)
    return grown


def _stays_beside(label: Rect, chart: Rect) -> bool:
    """Whether the label is centred on some part of the chart's width or height."""
    x, y = label.center
    return chart.x0 <= x <= chart.x1 or chart.y0 <= y <= chart.y1


def _distance(a: Rect, b: Rect) -> float:
    return max(0.0, -a.overlap_x(b), -a.overlap_y(b))


def _is_of_a_table(rect: Rect, blocks: Sequence[Block]) -> bool:
    rows = [block.rect for block in blocks if block.table is not None]
    shared = sum(max(0.0, row.overlap_x(rect)) * max(0.0, row.overlap_y(rect)) for row in rows)
    return shared > TABLE_SHARE * rect.area


def _holds(picture: Rect, chart: Rect) -> bool:
    return picture.contains(*chart.center)


def _nearest_caption(rect: Rect, captions: Sequence[Block]) -> str:
    near = [
        (distance, block.text)
        for block in captions
        if block.rect.overlap_x(rect) > 0
        and (distance := max(0.0, -block.rect.overlap_y(rect))) <= CAPTION_DISTANCE
    ]
    return min(near)[1] if near else ""
