"""Judge each reading of lines as a table by one score, and say how sure each table is.

The score is the chance that rows read by their baselines are a table, not prose, a drawing or a form. It
decides on them. The confidence in other tables is how often their kind was right.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from pdf.extract.words import marker_of
from pdf.layout.page_layout import Block, TableCell
from pdf.tables.cells import is_value_cell

# A line of this share of the widest of its column fills it.
FULL = 0.7
# Pitches within this share of the usual one are regular; cells begin level within this and end level within
# that (ems).
REGULAR, LEVEL, LEVEL_END = 0.25, 0.4, 1.4
# Wider gaps (ems) and longer labels and markers (characters) count as these.
WIDEST, LONGEST, MARKER = 4.0, 30, 8
# A lone row of a label of so many characters and so many values is a table, as the end of one.
LABEL, LONE_VALUES = 12, 3
# Cells are set to one place within this (points).
EDGE = 2.0
# Pairs of words: minimum share of cells set to one place, maximum share of first ones that fill their column.
SET, LABELS = 0.85, 0.5
# Less likely readings are no tables.
LEAST = 0.5
# The weights are those of a logistic regression on 2,617 readings that the finders proposed: on 974 pages of
# the corpora, in the documents of ICDAR 2013, on the drawn pages of the tests. Right is what rules for each
# kind of table had accepted; maps, axes of charts and labels of drawings among these, seen by eye, are wrong.
BASELINES = {
    "any": -10.91,
    "columns": 1.46,
    "two columns": -2.27,
    "one row": -4.17,
    "row of values": 5.17,
    "row of texts": 8.96,
    "filled": 4.74,
    "values": 4.83,
    "first label": 1.52,
    "markers": 0.93,
    "named pairs": 2.21,
    "pairs of words": 1.55,
    "gap": 0.81,
    "pitch": 1.89,
    "tall": -0.94,
    "largest row": -4.01,
    "level": 1.80,
    "ends level": -1.45,
    "words": -0.05,
}

# Of other tables, by what separates their rows, the share that was right in the 28 documents of ICDAR and on
# the 85 pages with a truth, by Laplace's rule: 55 of 56, 14 of 14. Their finders' rules choose between
# readings, which a score of one reading cannot; a regression on their tables told no wrong one from a right.
RIGHT = {"rulings": 56 / 58, "spaces": 15 / 16, "tags": 1.0}


def confidence(rows: Sequence[Block]) -> float:
    """Return the chance (0..1) that the rows of one table are one; 1 for a table of the author's tags."""
    assert rows[0].table is not None
    if known := RIGHT.get(rows[0].table.parted_by):
        return known
    found = evidence(rows)
    score = sum([weight * found[name] for name, weight in BASELINES.items()])
    return 1 / (1 + math.exp(-score))


def evidence(rows: Sequence[Block]) -> dict[str, float]:
    """Return the evidence that the rows are a table, and that they are not, most of it as shares."""
    assert rows[0].table is not None
    body = [row for row in rows if not row.header] or list(rows)
    several = [row for row in rows if len(row.cells) > 1]
    columns: dict[int, list[TableCell]] = {}
    for cell in (cell for row in body for cell in row.cells if cell.span == 1):
        columns.setdefault(cell.column, []).append(cell)
    width, em = rows[0].table.columns, body[0].lines[0].size
    first = columns.pop(0, [])
    others = [cell for cells in columns.values() for cell in cells]
    gaps = [b.rect.x0 - a.rect.x1 for row in several for a, b in pairwise(row.cells)]
    counts = [sum([len(cell.lines) for cell in row.cells]) for row in rows]
    label = sum([line.chars for line in first[0].lines]) if first else 0
    level = _share(list(map(_begins_level, several)))
    are_pairs = width == 2 and all(_alignment(cells) >= SET for cells in (first, *columns.values()) if cells)
    return {
        "any": 1.0,
        "columns": math.log(max(1, width)),
        "two columns": float(width == 2),
        "one row": float(len(several) < 2),
        "row of values": float(len(several) == 1 and _is_row_of_values(several[0])),
        "row of texts": float(len(several) == 1 and len(first) == 1 and _is_row_of_texts(several[0])),
        "filled": (len(first) + len(others)) / (max(1, width) * len(body)),
        "values": _share([is_value_cell(cell.lines) for cell in others]),
        "first label": min(LONGEST, label) / LONGEST,
        "markers": _share(list(map(_is_marker, first))),
        "named pairs": (width == 2) * _share([cell.lines[-1].text.endswith((":", "：")) for cell in first]),
        "pairs of words": (are_pairs and _fullness(first) < LABELS) * math.log(max(1, len(several))),
        "gap": min(WIDEST, median(gaps) / em) if gaps else 0.0,
        "pitch": _regularity([b.lines[0].baseline - a.lines[0].baseline for a, b in pairwise(body)]),
        "tall": _share([_tallest(row) > 1 for row in rows]),
        "largest row": max(counts) / sum(counts),
        "level": level if level == 1 else max(level, _share(list(map(_is_centred, several)))),
        "ends level": _share([_ends_level(row) for row in several if _tallest(row) > 2]),
        "words": sum([len(line.words) for row in rows for line in row.lines])
        / sum(len(row.cells) for row in rows),
    }


def _share(found: Sequence[bool], none: float = 0.0) -> float:
    return sum(found) / len(found) if found else none


def _regularity(pitches: Sequence[float]) -> float:
    usual = median(pitches) if pitches else 0.0
    return _share([abs(pitch - usual) <= REGULAR * usual for pitch in pitches], 0.5)


def _alignment(cells: Sequence[TableCell]) -> float:
    """Return the share of the cells that are set to one place: left, right or centred."""
    boxes = [cell.rect for cell in cells]
    places = [box.x0 for box in boxes], [box.x1 for box in boxes], [(box.x0 + box.x1) / 2 for box in boxes]
    return max(_share(_near(xs, median(xs))) for xs in places)


def _near(places: Sequence[float], place: float) -> list[bool]:
    return [abs(x - place) <= EDGE for x in places]


def _fullness(cells: Sequence[TableCell]) -> float:
    """Return the share of the cells that fill their column, as lines of prose do and labels do not."""
    left, right = min([c.rect.x0 for c in cells], default=0.0), max([c.rect.x1 for c in cells], default=0.0)
    return _share([cell.rect.x1 - left > FULL * (right - left) for cell in cells])


def _is_row_of_values(row: Block) -> bool:
    """Return whether it may be the end of a table on the page before: a long label and several values."""
    values = [is_value_cell(cell.lines) for cell in row.cells]
    labels = [cell for cell, value in zip(row.cells[:2], values, strict=False) if not value]
    return sum(values[1:]) >= LONE_VALUES and any(
        sum([line.chars for line in cell.lines]) >= LABEL for cell in labels
    )


def _is_row_of_texts(row: Block) -> bool:
    """Return whether texts of several lines are side by side, and level, in three columns or more."""
    return len(row.cells) > 2 and min([len(cell.lines) for cell in row.cells]) > 1 and _ends_level(row)


def _tallest(row: Block) -> int:
    return max([len(cell.lines) for cell in row.cells])


def _is_marker(cell: TableCell) -> bool:
    line = cell.lines[0]
    return line.chars < MARKER and bool(marker_of(line.words[0].text))


def _are_near(places: Sequence[float], distance: float) -> bool:
    return max(places) - min(places) <= distance


def _begins_level(row: Block) -> bool:
    return _are_near([cell.lines[0].baseline for cell in row.cells], LEVEL * row.lines[0].size)


def _is_centred(row: Block) -> bool:
    return _are_near([(cell.rect.y0 + cell.rect.y1) / 2 for cell in row.cells], LEVEL * row.lines[0].size)


def _ends_level(row: Block) -> bool:
    return _are_near([cell.lines[-1].baseline for cell in row.cells], LEVEL_END * row.lines[0].size)
