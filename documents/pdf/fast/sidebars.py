"""Boxes on a page: what stands in a frame or on a ground of its own is read by itself.

An infobox beside a text, cards beside one another, a note on a grey ground. Shaded cells and
columns of tables are no boxes: they touch one another, lie in a grid, or share their rows with
what stands beside them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from documents.pdf.fast.grid import Grid, grids
from documents.pdf.fast.lines import Line
from documents.pdf.geometry import Rect

# A box holds at least so many lines and is at least so wide (points).
LINES, WIDTH = 3, 60.0
# Edges this near (points) touch; rulings this near make one corner.
TOUCH = 3.0
# Share of its lines that stand on baselines of what is beside it, from which on it is part of a table.
COMMON = 0.4
# The labels of a drawing stand at most this far outside it (points), and have at most so many characters.
LABEL, LABEL_CHARS, NAME_CHARS = 24.0, 24, 40
# Pages of more fills or rulings are drawings.
MOST_FILLS, MOST_RULINGS = 200, 80


def sidebars(lines: Sequence[Line], rulings: Sequence[Rect], fills: Sequence[Rect]) -> list[Rect]:
    """The boxes that have other text beside them; apart from one another."""
    found: list[Rect] = []
    candidates = _candidates(rulings, fills)
    if not candidates:
        return []
    tables = grids(rulings)
    inside = {box: [line for line in lines if holds(box, line)] for box in candidates}
    boxes = [box for box in candidates if len(inside[box]) >= LINES and not _crossed(box, lines)]
    held = {id(line) for box in boxes for line in inside[box]}
    for box in sorted(boxes, key=lambda box: -box.area):
        beside = [line for line in lines if _is_beside(box, line)]
        if (
            beside
            and not any(_overlap(box, other) for other in found)
            and not any(_is_cell(box, grid) for grid in tables)
            and not _shares_rows(inside[box], [line for line in beside if id(line) not in held])
        ):
            found.append(box)
    return found


def charts_beside_text(lines: Sequence[Line], drawings: Sequence[Rect]) -> list[Rect]:
    """Drawings with their labels that have a column of text beside them; apart from one another."""
    found: list[Rect] = []
    for drawing in drawings:
        box = _with_labels(drawing, lines)
        texts = [line for line in lines if line.chars > LABEL_CHARS and not _within(line.rect, box)]
        if (
            sum(_is_beside(box, line) for line in texts) >= LINES
            and not any(line.rect.overlaps(box) for line in texts)
            and not any(box.overlaps(other) for other in found)
        ):
            found.append(box)
    return found


def _with_labels(drawing: Rect, lines: Sequence[Line]) -> Rect:
    """The drawing with the short lines around it, and those that name the bars whose values stand in it."""
    near = Rect(drawing.x0 - LABEL, drawing.y0 - LABEL, drawing.x1 + LABEL, drawing.y1 + LABEL)
    labels = [line for line in lines if line.chars <= LABEL_CHARS and _within(line.rect, near)]
    baselines = [line.baseline for line in labels]
    names = [
        line
        for line in lines
        if line.chars <= NAME_CHARS
        and -line.rect.overlap_x(drawing) < LABEL
        and any(abs(line.baseline - other) < 0.3 * line.size for other in baselines)
    ]
    box = drawing
    for line in (*labels, *names):
        box = box.union(line.rect)
    return box


def _candidates(rulings: Sequence[Rect], fills: Sequence[Rect]) -> list[Rect]:
    grounds = [fill for fill in fills if fill.width >= WIDTH] if len(fills) <= MOST_FILLS else []
    apart = [
        fill for fill in grounds if not any(fill is not other and _touch(fill, other) for other in fills)
    ]
    return [*dict.fromkeys([*apart, *(_frames(rulings) if len(rulings) <= MOST_RULINGS else ())])]


def _frames(rulings: Iterable[Rect]) -> list[Rect]:
    """Rectangles of four rulings."""
    flat = [r for r in rulings if r.width >= WIDTH and r.width > r.height]
    tall = [r for r in rulings if r.height > TOUCH and r.height > r.width]
    frames = []
    for n, top in enumerate(flat):
        for bottom in flat[n + 1 :]:
            box = Rect(
                min(top.x0, bottom.x0), min(top.y0, bottom.y0), max(top.x1, bottom.x1), max(top.y1, bottom.y1)
            )
            if abs(top.x0 - bottom.x0) > TOUCH or abs(top.x1 - bottom.x1) > TOUCH or box.height < 2 * TOUCH:
                continue
            if all(_covered(x, box, tall) for x in (box.x0, box.x1)) and not _is_ruled(box, flat):
                frames.append(box)
    return frames


def _is_ruled(box: Rect, flat: Sequence[Rect]) -> bool:
    """Whether rulings part the box into rows: it may be a column of a table."""
    return any(
        box.y0 + TOUCH < r.y0 < box.y1 - TOUCH
        and min(r.x1, box.x1) - max(r.x0, box.x0) > box.width - 2 * TOUCH
        for r in flat
    )


def _covered(x: float, box: Rect, tall: Sequence[Rect]) -> bool:
    """Whether upright rulings close the box at ``x``, in one piece or several."""
    height = sum(
        min(r.y1, box.y1) - max(r.y0, box.y0)
        for r in tall
        if abs((r.x0 + r.x1) / 2 - x) <= TOUCH and r.y1 > box.y0 and r.y0 < box.y1
    )
    return height >= box.height - 2 * TOUCH


def _touch(a: Rect, b: Rect) -> bool:
    """Whether two grounds meet at an edge or lie within one another's seam: cells, stripes, shadows."""
    return a.overlap_x(b) > -TOUCH and a.overlap_y(b) > -TOUCH and not (_within(a, b) or _within(b, a))


def _within(a: Rect, b: Rect) -> bool:
    return b.x0 <= a.x0 and a.x1 <= b.x1 and b.y0 <= a.y0 and a.y1 <= b.y1


def holds(box: Rect, line: Line) -> bool:
    """Whether the line stands in the box."""
    return box.contains((line.x0 + line.x1) / 2, (line.y0 + line.y1) / 2) and line.chars > 0


def _crossed(box: Rect, lines: Sequence[Line]) -> bool:
    """Whether a line runs over the box's left or right edge."""
    return any(
        box.y0 < (line.y0 + line.y1) / 2 < box.y1
        and any(line.x0 < x - TOUCH and line.x1 > x + TOUCH for x in (box.x0, box.x1))
        for line in lines
    )


def _is_beside(box: Rect, line: Line) -> bool:
    middle = (line.y0 + line.y1) / 2
    return box.y0 < middle < box.y1 and (line.x1 <= box.x0 + TOUCH or line.x0 >= box.x1 - TOUCH)


def _overlap(a: Rect, b: Rect) -> bool:
    return a.overlap_x(b) > TOUCH and a.overlap_y(b) > TOUCH


def _is_cell(box: Rect, grid: Grid) -> bool:
    """Whether the box is a part of a larger grid."""
    return grid.rect.area > 1.2 * box.area and _within(
        Rect(box.x0 + TOUCH, box.y0 + TOUCH, box.x1 - TOUCH, box.y1 - TOUCH), grid.rect
    )


def _shares_rows(inside: Sequence[Line], beside: Sequence[Line]) -> bool:
    """Whether lines of the box stand on baselines of what is beside it, as a shaded column's do."""
    baselines = sorted(line.baseline for line in beside)
    shared = sum(any(abs(line.baseline - other) < 0.1 * line.size for other in baselines) for line in inside)
    return shared >= COMMON * len(inside)
