"""Order the lines of a page and make its blocks; boxes are read separately.

Boxes are an infobox beside a text, cards side by side, a note on a grey ground. Shaded cells and columns of
tables are not boxes: they touch one another, are in a grid, or share baselines with the text beside them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from operator import attrgetter

from pdf.extract.words import is_bullet, marker_of
from pdf.geometry import Rect
from pdf.layout.columns import regions
from pdf.layout.gutters import runs_on, text_rows
from pdf.layout.lines import CELL_GAP, Line, goes_on, merged, rows_of
from pdf.layout.page_layout import Block, Inset, column_is_right_to_left
from pdf.layout.paragraphs import CLOSED, LEADING_SLACK, LOOSEST_LEADING, paragraphs
from pdf.tables.aligned import EDGE, aligned_rows
from pdf.tables.cells import is_value, row_of
from pdf.tables.column_headers import with_header_above_rule
from pdf.tables.grid import RuledGrid, grids
from pdf.tables.rows import LABEL, mirrored_row, table_blocks, turned_back, without_scales
from pdf.tables.ruled import with_ruled_tables
from pdf.tables.spanning_labels import span_groups

# Minimum lines and width (points) of a box, minimum lines of a text beside a chart.
BOX_LINES, WIDTH, LINES = 2, 60.0, 3
# Edges within this distance (points) touch; rulings within it make a corner.
TOUCH = 3.0
# From this share of lines on baselines of the text beside it on, a box is part of a table.
COMMON = 0.4
# Maximum characters of the labels of a drawing, and of names on their lines.
LABEL_CHARS, NAME_CHARS = 24, 40
# Minimum characters of lines of a narrow column beside a drawing.
NARROW_CHARS = 12
# Pages of more fills or rulings are drawings.
MOST_FILLS, MOST_RULINGS = 200, 80


def sidebars(lines: Sequence[Line], rulings: Sequence[Rect], fills: Sequence[Rect]) -> list[Rect]:
    """Return the disjoint boxes that have other text beside them."""
    found: list[Rect] = []
    candidates = _candidates(rulings, fills)
    inside = {box: [line for line in lines if holds(box, line)] for box in candidates}
    boxes = [box for box in candidates if _holds_lines(inside[box]) and not _crossed(box, lines)]
    tables = grids(rulings) if boxes else []
    held = {id(line) for box in boxes for line in inside[box]}
    for box in sorted(boxes, key=lambda box: -box.area):
        beside = [line for line in lines if _is_beside_box(box, line)]
        if (
            beside
            and not any(_overlap(box, other) for other in found)
            and not any(_is_cell(box, grid) for grid in tables)
            and (
                runs_on(text_rows(inside[box]))
                or not _shares_rows(inside[box], [line for line in beside if id(line) not in held])
            )
        ):
            found.append(box)
    return found


def _holds_lines(lines: Sequence[Line]) -> bool:
    """Return whether the lines are a text of several lines, not the cells of one row."""
    baselines = [line.baseline for line in lines]
    return len(lines) >= BOX_LINES and max(baselines) - min(baselines) > lines[0].size / 2


def charts_beside_text(lines: Sequence[Line], drawings: Sequence[Rect]) -> list[Rect]:
    """Return the disjoint drawings, with labels, that have a text beside them, or on one side."""
    found: list[Rect] = []
    for drawing in drawings:
        box = _with_labels(drawing, lines)
        others = [line for line in lines if not _within(line.rect, box)]
        texts = [line for line in others if line.chars > LABEL_CHARS]
        box = _without_edges(box, texts)
        if (
            _are_apart(drawing, box, lines, others)
            and not any(line.rect.overlaps(box) for line in texts)
            and not any(box.overlaps(other) for other in found)
        ):
            found.append(box)
    return found


def _are_apart(drawing: Rect, box: Rect, lines: Sequence[Line], others: Sequence[Line]) -> bool:
    """Return whether text is beside the box, or fills a column of its own on one side of it."""
    texts = [line for line in others if line.chars > NARROW_CHARS]
    if sum(_is_beside_box(box, line) for line in texts) >= LINES:
        return True
    aside = [line for line in texts if line.chars > LABEL_CHARS and _is_aside(box, line)]
    if len(aside) < LINES:
        return False
    column = [line for line in texts if line.chars > LABEL_CHARS and not _is_aside(box, line)]
    left, right = (
        max((line.x1 for line in column), default=box.x1),
        min((line.x0 for line in column), default=box.x0),
    )
    if any(line.x0 < left and line.x1 > right for line in aside):
        return False
    around = [line for line in lines if holds(box, line) and not holds(drawing, line)]
    return not (around and _shares_rows(around, [line for line in others if _is_beside_box(box, line)]))


def _without_edges(box: Rect, texts: Sequence[Line]) -> Rect:
    """Return the box without the lines on its upper or lower edge: a title, a source."""
    over = [line for line in texts if line.rect.overlaps(box)]
    top = max([line.y1 for line in over if line.y0 < box.y0], default=box.y0)
    bottom = min([line.y0 for line in over if line.y1 > box.y1], default=box.y1)
    return Rect(box.x0, top, box.x1, max(top, bottom))


def _with_labels(drawing: Rect, lines: Sequence[Line]) -> Rect:
    """Return the drawing with the short lines around it, and the names of the bars in it."""
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
    """Return the rectangles of four rulings."""
    flat = [r for r in rulings if r.width >= WIDTH and r.width > r.height]
    tall = [r for r in rulings if r.height > TOUCH and r.height > r.width]
    frames: list[Rect] = []
    if len(tall) < 2:
        return frames
    for n, top in enumerate(flat):
        for bottom in flat[n + 1 :]:
            if abs(top.x0 - bottom.x0) > TOUCH or abs(top.x1 - bottom.x1) > TOUCH:
                continue
            box = top.union(bottom)
            if box.height < 2 * TOUCH:
                continue
            if not _is_ruled(box, flat) and all(_covered(x, box, tall) for x in (box.x0, box.x1)):
                frames.append(box)
    return frames


def _is_ruled(box: Rect, flat: Sequence[Rect]) -> bool:
    """Return whether rulings divide the box into rows: it may be a column of a table."""
    return any(
        box.y0 + TOUCH < r.y0 < box.y1 - TOUCH
        and min(r.x1, box.x1) - max(r.x0, box.x0) > box.width - 2 * TOUCH
        for r in flat
    )


def _covered(x: float, box: Rect, tall: Sequence[Rect]) -> bool:
    """Return whether vertical rulings close the box at ``x``, in one piece or several."""
    height = sum(
        min(r.y1, box.y1) - max(r.y0, box.y0)
        for r in tall
        if abs((r.x0 + r.x1) / 2 - x) <= TOUCH and r.y1 > box.y0 and r.y0 < box.y1
    )
    return height >= box.height - 2 * TOUCH


def _touch(a: Rect, b: Rect) -> bool:
    """Return whether two shaded areas touch: cells, stripes, shadows."""
    near = b.x0 - a.x1 < TOUCH and a.x0 - b.x1 < TOUCH and b.y0 - a.y1 < TOUCH and a.y0 - b.y1 < TOUCH
    return near and not (_within(a, b) or _within(b, a))


def _within(a: Rect, b: Rect) -> bool:
    return b.x0 <= a.x0 and a.x1 <= b.x1 and b.y0 <= a.y0 and a.y1 <= b.y1


def holds(box: Rect, line: Line) -> bool:
    """Return whether the line is in the box."""
    return box.contains((line.x0 + line.x1) / 2, (line.y0 + line.y1) / 2) and line.chars > 0


def _crossed(box: Rect, lines: Sequence[Line]) -> bool:
    """Return whether a line crosses the left or right edge of the box."""
    return any(
        box.y0 < (line.y0 + line.y1) / 2 < box.y1
        and any(line.x0 < x - TOUCH and line.x1 > x + TOUCH for x in (box.x0, box.x1))
        for line in lines
    )


def _is_beside_box(box: Rect, line: Line) -> bool:
    middle = (line.y0 + line.y1) / 2
    return box.y0 < middle < box.y1 and (line.x1 <= box.x0 + TOUCH or line.x0 >= box.x1 - TOUCH)


def _is_aside(box: Rect, line: Line) -> bool:
    return line.x1 <= box.x0 + TOUCH or line.x0 >= box.x1 - TOUCH


def _overlap(a: Rect, b: Rect) -> bool:
    return a.overlap_x(b) > TOUCH and a.overlap_y(b) > TOUCH


def _is_cell(box: Rect, grid: RuledGrid) -> bool:
    """Return whether the box is a cell of a larger grid."""
    return grid.rect.area > 1.2 * box.area and _within(
        Rect(box.x0 + TOUCH, box.y0 + TOUCH, box.x1 - TOUCH, box.y1 - TOUCH), grid.rect
    )


def _shares_rows(inside: Sequence[Line], beside: Sequence[Line]) -> bool:
    """Return whether lines of the box share baselines with the text beside it, as a shaded column's do."""
    baselines = sorted(line.baseline for line in beside)
    shared = sum(any(abs(line.baseline - other) < 0.1 * line.size for other in baselines) for line in inside)
    return shared >= COMMON * len(inside)


# Minimum gap between the texts of one row (ems).
APART = 5.0
# Maximum difference of the starts of lines of one paragraph (ems).
START = 0.3
# Boxes side by side are level within this share of the height of the lower one.
LEVEL = 0.2
_WORD = re.compile(r"[^\W\d_]{3}")
_NUMBERED = re.compile(r"^\w+\s+(?:\d+[a-z]?|[ivxlc]+)\W*$", re.IGNORECASE)


def blocks_in_order(
    lines: Sequence[Line],
    rulings: Sequence[Rect],
    fills: Sequence[Rect] = (),
    drawings: Sequence[Rect] = (),
) -> list[Block]:
    """Return the page's blocks in reading order; rotated text is last."""
    rtl = column_is_right_to_left(lines)
    placed = with_ruled_tables(_with_sidebars(lines, rulings, fills, drawings), rulings, fills)
    sideways = [line for line in placed if line.sideways]
    upright = [line for line in placed if not line.sideways] if sideways else placed
    blocks: list[Block] = []
    for region in regions(upright, rtl, [rect for rect in rulings if rect.x1 - rect.x0 > rect.y1 - rect.y0]):
        column = region_blocks(region, rtl)
        column[0].opens_column = True
        if above := next((block for block in blocks if _runs_into(block, column[0])), None):
            above.lines += column.pop(0).lines
        blocks += column
    blocks = without_scales(blocks, drawings)
    span_groups(blocks, rulings)
    return blocks + sideways_blocks(sideways)


def _runs_into(above: Block, below: Block) -> bool:
    """Return whether a paragraph continues right below in another width, as after a picture beside it."""
    if above.table or below.table or below.kind != "prose" or len(above.lines) + len(below.lines) < 3:
        return False
    last, line = above.lines[-1], below.lines[0]
    pitch = line.baseline - last.baseline
    if not 0 < pitch < LOOSEST_LEADING * line.size or last.style != line.style:
        return False
    edge = line.x1 - last.x1 if line.rtl else line.x0 - last.x0
    if abs(edge) > START * line.size or last.text.endswith(CLOSED) or not line.text[0].islower():
        return False
    pitches = [b.baseline - a.baseline for lines in (above.lines, below.lines) for a, b in pairwise(lines)]
    return pitch < LEADING_SLACK * min(pitches)


def _with_sidebars(
    lines: Sequence[Line], rulings: Sequence[Rect], fills: Sequence[Rect], drawings: Sequence[Rect]
) -> list[Line]:
    """Return the lines, with one Inset in place of each box or chart beside other text."""
    rest = list(lines)
    upright = [line for line in lines if not line.sideways]
    charts = charts_beside_text(upright, drawings) if drawings else []
    boxes = [box for box in sidebars(upright, rulings, fills) if not any(map(box.overlaps, charts))]
    for box in [*charts, *boxes]:
        inside = [line for line in rest if not line.sideways and holds(box, line)]
        if not inside:
            continue
        within = [
            [rect for rect in rects if rect != box and _lies_in(rect, box)] for rects in (rulings, fills)
        ]
        taken = set(map(id, inside))
        rest = [line for line in rest if id(line) not in taken]
        rest.append(Inset(box, blocks_in_order(inside, *within)))
    return rest


def _lies_in(rect: Rect, box: Rect) -> bool:
    """Return whether it is inside the box and not one of its edges."""
    x, y = rect.center
    near_edge = min(abs(x - box.x0), abs(x - box.x1)) < 2.0 or min(abs(y - box.y0), abs(y - box.y1)) < 2.0
    return box.contains(x, y) and not near_edge


def sideways_blocks(lines: Sequence[Line]) -> list[Block]:
    """Return the blocks of rotated lines: consecutively drawn near lines make one."""
    blocks: list[Block] = []
    for line in lines:
        if blocks:
            last = blocks[-1].lines[-1]
            near = max(-line.rect.overlap_x(last.rect), -line.rect.overlap_y(last.rect))
            if last.words[0].turn == line.words[0].turn and near < 1.5 * line.size:
                blocks[-1].lines.append(line)
                continue
        blocks.append(Block("prose", [line]))
    return blocks


def region_blocks(lines: Sequence[Line], rtl: bool = False) -> list[Block]:
    """Return tables and paragraphs of one column, top to bottom. ``rtl``: a right-to-left page."""
    found = _in_turn([line for line in lines if isinstance(line, Inset)], rtl)
    rest = [line for line in lines if not isinstance(line, Inset)] if found else lines
    aside = [inset for inset in found if any(_is_beside(inset, line) for line in rest)]
    blocks: list[Block] = []
    for inset in found:
        if inset in aside:
            continue
        above = [line for line in rest if (line.y0 + line.y1) / 2 < inset.y0]
        rest = [line for line in rest if (line.y0 + line.y1) / 2 >= inset.y0]
        table, above = with_header_above_rule(inset.blocks, above)
        blocks += running_blocks(above, rtl)
        blocks += table
    blocks += running_blocks(rest, rtl, [inset.rect for inset in aside])
    for inset in aside:
        blocks = _put_beside(inset, blocks, rtl)
    return blocks


def _in_turn(insets: Iterable[Inset], rtl: bool) -> list[Inset]:
    """Return tables and boxes from top to bottom, level ones from left to right."""
    out: list[Inset] = []
    for inset in sorted(insets, key=attrgetter("y0")):
        place = len(out)
        while place and _is_level(out[place - 1], inset) and (out[place - 1].x0 > inset.x0) is not rtl:
            place -= 1
        out.insert(place, inset)
    return out


def _is_level(one: Inset, other: Inset) -> bool:
    """Return whether two side by side begin at about the same height."""
    apart = one.x1 <= other.x0 or other.x1 <= one.x0
    return apart and abs(one.y0 - other.y0) < LEVEL * min(one.height, other.height)


def _is_beside(inset: Line, line: Line) -> bool:
    """Return whether a line is beside a box or a table, at its height."""
    return inset.y0 < (line.y0 + line.y1) / 2 < inset.y1 and (line.x1 <= inset.x0 or line.x0 >= inset.x1)


def _put_beside(inset: Inset, blocks: list[Block], rtl: bool) -> list[Block]:
    """Insert the blocks of a box after the blocks beside it, or before where it precedes them."""
    level = [n for n, block in enumerate(blocks) if any(_is_beside(inset, line) for line in block.lines)]
    if not level:
        return [*blocks, *inset.blocks]
    first = blocks[level[0]].rect
    precedes = inset.x0 > first.x0 if rtl else inset.x0 < first.x0
    place = level[0] if precedes else level[-1] + 1
    return [*blocks[:place], *inset.blocks, *blocks[place:]]


def running_blocks(lines: Sequence[Line], rtl: bool = False, boxes: Sequence[Rect] = ()) -> list[Block]:
    """Return unruled tables and paragraphs of one column, top to bottom. ``boxes`` are beside some lines."""
    rows = rows_of(lines)
    rtl = column_is_right_to_left(lines, rtl)
    cells = [row_of(mirrored_row(row) if rtl else row) for row in rows]
    blocks: list[Block] = []
    done = 0
    for start, end in [*aligned_rows(cells), (len(rows), len(rows))]:
        blocks += _prose(rows[done:start], rtl, boxes)
        if end > start:
            table = table_blocks(cells[start:end])
            blocks += turned_back(table) if rtl else table
        done = end
    return blocks


def _prose(rows: Sequence[list[Line]], rtl: bool, boxes: Sequence[Rect]) -> list[Block]:
    """Return the paragraphs of rows without a table."""
    rtl = column_is_right_to_left([line for row in rows for line in row], rtl)
    notes = [] if rtl else _notes_within(rows)
    kept = [row[1:] if row[0] in notes else row for row in rows] if notes else rows
    blocks = paragraphs([merged(part, rtl) for part in texts_apart(kept, rtl)], rtl, boxes)
    for note in notes:
        place = next((n for n, block in enumerate(blocks) if block.rect.y1 > note.baseline), len(blocks))
        blocks.insert(place, Block("prose", [note]))
    return blocks


def _notes_within(rows: Sequence[Sequence[Line]]) -> list[Line]:
    """Return the texts in the left margin beside a sentence that goes on: a name, not the label of a text."""
    found: list[Line] = []
    for above, row in pairwise(rows):
        if len(row) > 1 and (len(above) == 1 or above[0] in found):
            note, line, last = row[0], row[1], above[-1]
            aside = note.x1 < last.x0 and line.x0 - note.x1 > CELL_GAP * note.size
            if aside and is_text(note) and goes_on(last, line):
                found.append(note)
    return found


def texts_apart(rows: Sequence[Sequence[Line]], rtl: bool) -> list[Sequence[Line]]:
    """Split the rows at gaps wide enough for two independent texts.

    Where the next row or the one before has the same gaps, it is a pair of label and text, and not split.
    """
    out: list[Sequence[Line]] = []
    for n, row in enumerate(rows):
        if len(row) == 1:
            out.append(row)
            continue
        beside = [*rows[max(0, n - 1) : n], *rows[n + 1 : n + 2]]
        ends = [i for i in range(1, len(row)) if _parts(row, i, rtl) and not _recurs(row, i, beside)]
        parts = [row[start:end] for start, end in pairwise([0, *ends, len(row)])]
        out += reversed(parts) if rtl else parts
    return out


def _parts(row: Sequence[Line], i: int, rtl: bool) -> bool:
    last, line = row[i - 1], row[i]
    if line.x0 - last.x1 <= APART * line.size or not is_text(last):
        return False
    if is_text(line) or (is_bullet(line.text) and not rtl):
        return True
    beside = row[i + 1 : i + 2]  # a label of few letters, as ``By:``, and its text
    return line.text.endswith(":") and bool(beside) and beside[0].x0 - line.x1 < line.size


def _recurs(row: Sequence[Line], i: int, beside: Sequence[Sequence[Line]]) -> bool:
    return any(
        abs(other[0].x0 - row[0].x0) <= EDGE and any(abs(line.x0 - row[i].x0) <= EDGE for line in other[1:])
        for other in beside
    )


def is_text(line: Line) -> bool:
    """Return whether it has a word and is not a value, a marker or a section number as ``Item 1A.``."""
    text = line.text
    return bool(_WORD.search(text)) and not (is_value(text) or marker_of(text) or _NUMBERED.match(text))
