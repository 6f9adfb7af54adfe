"""From the lines of a page to its blocks in reading order."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from documents.pdf.fast.blocks import Block, reads_leftwards
from documents.pdf.fast.cells import Row, is_value
from documents.pdf.fast.columns import regions
from documents.pdf.fast.headrows import with_head_above
from documents.pdf.fast.lines import Line, merged, rows_of
from documents.pdf.fast.lists import is_bullet, marker_of
from documents.pdf.fast.mirroring import mirrored_row, turned_back
from documents.pdf.fast.paragraphs import paragraphs
from documents.pdf.fast.ruled import with_ruled_tables
from documents.pdf.fast.sidebars import charts_beside_text, holds, sidebars
from documents.pdf.fast.tablerows import table_blocks
from documents.pdf.fast.tables import EDGE, bands
from documents.pdf.fast.texttables import Inset
from documents.pdf.geometry import Rect

# Texts of one row stand at least so far apart (ems).
APART = 5.0
_WORD = re.compile(r"[^\W\d_]{3}")
_NUMBERED = re.compile(r"^\w+\s+(?:\d+[a-z]?|[ivxlc]+)\W*$", re.IGNORECASE)


def blocks_in_order(
    lines: Sequence[Line],
    rulings: Sequence[Rect],
    fills: Sequence[Rect] = (),
    drawings: Sequence[Rect] = (),
) -> list[Block]:
    """The page's blocks as they are read; what runs sideways comes last."""
    rtl = reads_leftwards(lines)
    placed = with_ruled_tables(_with_sidebars(lines, rulings, fills, drawings), rulings, fills)
    sideways = [line for line in placed if line.sideways]
    upright = [line for line in placed if not line.sideways] if sideways else placed
    blocks: list[Block] = []
    for region in regions(upright, rtl):
        column = region_blocks(region, rtl)
        column[0].opens_column = True
        blocks += column
    return blocks + sideways_blocks(sideways)


def _with_sidebars(
    lines: Sequence[Line], rulings: Sequence[Rect], fills: Sequence[Rect], drawings: Sequence[Rect]
) -> list[Line]:
    """The lines, those in boxes and charts beside other text replaced by one Inset for each."""
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
    """Whether it lies in the box and is none of its edges."""
    x, y = rect.center
    near_edge = min(abs(x - box.x0), abs(x - box.x1)) < 2.0 or min(abs(y - box.y0), abs(y - box.y1)) < 2.0
    return box.contains(x, y) and not near_edge


def sideways_blocks(lines: Sequence[Line]) -> list[Block]:
    """Lines that run up, down or upside down: those drawn one after the other and near make one block."""
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
    """Tables and paragraphs of one column, top to bottom. ``rtl``: its page is read leftwards."""
    found = sorted([line for line in lines if isinstance(line, Inset)], key=lambda inset: inset.y0)
    rest = [line for line in lines if not isinstance(line, Inset)] if found else lines
    aside = [inset for inset in found if any(_is_beside(inset, line) for line in rest)]
    blocks: list[Block] = []
    for inset in found:
        if inset in aside:
            continue
        above = [line for line in rest if (line.y0 + line.y1) / 2 < inset.y0]
        rest = [line for line in rest if (line.y0 + line.y1) / 2 >= inset.y0]
        table, above = with_head_above(inset.blocks, above)
        blocks += running_blocks(above, rtl)
        blocks += table
    blocks += running_blocks(rest, rtl)
    for inset in aside:
        blocks = _put_beside(inset, blocks, rtl)
    return blocks


def _is_beside(inset: Line, line: Line) -> bool:
    """Whether a line stands beside a box or a table, at its height."""
    return inset.y0 < (line.y0 + line.y1) / 2 < inset.y1 and (line.x1 <= inset.x0 or line.x0 >= inset.x1)


def _put_beside(inset: Inset, blocks: list[Block], rtl: bool) -> list[Block]:
    """The blocks with those of a box beside some of them: behind these, or before where it precedes them."""
    level = [n for n, block in enumerate(blocks) if any(_is_beside(inset, line) for line in block.lines)]
    if not level:
        return [*blocks, *inset.blocks]
    first = blocks[level[0]].rect
    precedes = inset.x0 > first.x0 if rtl else inset.x0 < first.x0
    place = level[0] if precedes else level[-1] + 1
    return [*blocks[:place], *inset.blocks, *blocks[place:]]


def running_blocks(lines: Sequence[Line], rtl: bool = False) -> list[Block]:
    """Unruled tables and paragraphs of one column, top to bottom."""
    rows = rows_of(lines)
    rtl = reads_leftwards(lines, rtl)
    cells = [Row(mirrored_row(row) if rtl else row) for row in rows]
    blocks: list[Block] = []
    done = 0
    for start, end in [*bands(cells), (len(rows), len(rows))]:
        blocks += _prose(rows[done:start], rtl)
        if end > start:
            table = table_blocks(cells[start:end])
            blocks += turned_back(table) if rtl else table
        done = end
    return blocks


def _prose(rows: Sequence[list[Line]], rtl: bool) -> list[Block]:
    """Paragraphs of rows that hold no table; what stands between two of them may be read another way."""
    rtl = reads_leftwards([line for row in rows for line in row], rtl)
    return paragraphs([merged(part, rtl) for part in texts_apart(rows, rtl)], rtl)


def texts_apart(rows: Sequence[Sequence[Line]], rtl: bool) -> list[Sequence[Line]]:
    """The rows, parted at gaps so wide that what stands on either side is a text of its own.

    Where the next row or the one before is parted at the same places, it is a name and what belongs to it.
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
    beside = row[i + 1 : i + 2]  # a label of few letters, as ``By:``, and what it says
    return line.text.endswith(":") and bool(beside) and beside[0].x0 - line.x1 < line.size


def _recurs(row: Sequence[Line], i: int, beside: Sequence[Sequence[Line]]) -> bool:
    return any(
        abs(other[0].x0 - row[0].x0) <= EDGE and any(abs(line.x0 - row[i].x0) <= EDGE for line in other[1:])
        for other in beside
    )


def is_text(line: Line) -> bool:
    """Whether it holds a word, and is no value, no marker and no number of a section, as ``Item 1A.``."""
    text = line.text
    return bool(_WORD.search(text)) and not (is_value(text) or marker_of(text) or _NUMBERED.match(text))
