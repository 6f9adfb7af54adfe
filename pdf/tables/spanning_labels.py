"""Find the groups of rows of a table without a grid: rulings across the table are between them.

The label of such a group is set once, beside its first row or in the middle of its rows, and belongs to all:
"FOLIO" beside "− 66.7 %" and "+ 84.3 %".
"""

from __future__ import annotations

from collections.abc import Sequence

from pdf.geometry import Rect
from pdf.layout.page_layout import Block, bounds_of
from pdf.tables.rulings import SNAP, joined_pieces, tracks_of

# Minimum groups of several rows with one label.
GROUPS = 2
# Maximum distance of the ends of a ruling from the edges of the table (ems).
EDGES = 1.5


def span_groups(blocks: Sequence[Block], rulings: Sequence[Rect]) -> None:
    """Let the label of each group span its rows, where all groups of the table have one or are one row."""
    flat = [((rect.y0 + rect.y1) / 2, rect.x0, rect.x1) for rect in rulings if rect.width > rect.height]
    if len(flat) < GROUPS:
        return
    pieces = [piece for track in tracks_of(flat, SNAP) for piece in joined_pieces(track, SNAP)]
    tables: dict[int, list[Block]] = {}
    for block in blocks:
        if block.table is not None and not block.header:
            tables.setdefault(id(block.table), []).append(block)
    for rows in tables.values():
        if any(cell.rows > 1 for row in rows for cell in row.cells):
            continue
        groups = _groups(rows, pieces)
        named = [group for group in groups if _has_one_label(group)]
        if len(named) >= GROUPS and all(
            group in named or len(group) == 1 or all(map(_is_labelled, group)) for group in groups
        ):
            for group in named:
                _span(group)


def _groups(rows: Sequence[Block], pieces: Sequence[tuple[float, float, float]]) -> list[list[Block]]:
    """Return the rows between rulings across the table."""
    box = bounds_of([line for row in rows for line in row.lines])
    reach = EDGES * rows[0].lines[0].size
    across = [y for y, x0, x1 in pieces if x0 <= box.x0 + reach and x1 >= box.x1 - reach]
    groups = [[rows[0]]]
    for row in rows[1:]:
        above = groups[-1][-1].rect
        if any((above.y0 + above.y1) / 2 < y < (row.rect.y0 + row.rect.y1) / 2 for y in across):
            groups.append([row])
        else:
            groups[-1].append(row)
    return groups


def _is_labelled(row: Block) -> bool:
    return row.cells[0].column == 0


def _has_one_label(group: Sequence[Block]) -> bool:
    """Return whether some of the rows have one label, of one line or several, beside other cells."""
    places = [n for n, row in enumerate(group) if _is_labelled(row)]
    return (
        0 < len(places) < len(group)
        and places[-1] - places[0] == len(places) - 1
        and all(len(group[n].cells) > 1 for n in places)
    )


def _span(group: Sequence[Block]) -> None:
    """Move the label of the rows to the first of them, and let it span all."""
    label, *further = [row.cells.pop(0) for row in group if _is_labelled(row)]
    label.lines += [line for cell in further for line in cell.lines]
    label.rows = len(group)
    group[0].cells.insert(0, label)
    for row in group:
        row.lines = [line for cell in row.cells for line in cell.lines]
