"""Running heads, feet and page numbers, found over the whole document.

Rows are peeled off the top and the bottom of each page as long as they stand at
the same place on other pages with the same words (digits aside), or hold
nothing but a page number.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from documents.pdf.fast.lines import Line, rows_of
from documents.pdf.fast.sheets import Sheet

# Furniture stands within this share of the page's height from its edge.
MARGIN = 0.15
# At most so many rows at each edge.
ROWS = 4
# Rows stand at one place when they are at most this far apart (points).
SAME_PLACE = 4.0
# Repeated words are furniture from so many pages on, or on this share of them.
PAGES = 3
SHARE = 0.5
# Body text keeps this distance (line heights) from a page number that nothing else tells apart.
CLEARANCE = 0.8
# At most so many characters stand in a row with a page number.
BESIDE_NUMBER = 100

_DIGITS = re.compile(r"[\d٠-٩۰-۹]+")
_PAGE_NUMBER = re.compile(
    r"^[\W_]*(?:(?:page|p\.|seite|página|страница|стр\.|第|-)\s*)?"
    r"(?:[\d٠-٩۰-۹]{1,4}|[ivxlc]{1,7})(?:\s*(?:of|/|von|de|из|-)\s*[\d٠-٩۰-۹]{1,4})?\s*(?:页|頁|ページ)?[\W_]*$",
    re.IGNORECASE,
)

Place = tuple[str, int]


def set_furniture_aside(sheets: Sequence[Sheet]) -> None:
    """Moves the lines that are furniture from each sheet's lines to its head and foot."""
    edges = [(_edge_rows(sheet, top=True), _edge_rows(sheet, top=False)) for sheet in sheets]
    for top in (True, False):
        rows_by_sheet = [pair[0] if top else pair[1] for pair in edges]
        repeated = _repeated(rows_by_sheet)
        numbered = _numbered(rows_by_sheet)
        for sheet, rows in zip(sheets, rows_by_sheet, strict=True):
            _peel(sheet, rows, repeated, numbered, top)


def _edge_rows(sheet: Sheet, top: bool) -> list[list[Line]]:
    """The outermost rows of one edge, the outermost first."""
    limit = MARGIN * sheet.height
    near = [
        line
        for line in sheet.lines
        if not line.sideways and (line.y1 < limit if top else line.y0 > sheet.height - limit)
    ]
    rows = rows_of(near)
    return (rows if top else rows[::-1])[:ROWS]


def _places(row: list[Line]) -> list[Place]:
    """What and where each line of a row is; twice, so that a place on a border finds its like."""
    return [
        (_DIGITS.sub("#", line.text).casefold(), round(line.y1 / SAME_PLACE) + step)
        for line in row
        for step in (0, 1)
    ]


def _repeated(pages: Sequence[Sequence[list[Line]]]) -> set[Place]:
    counts: Counter[Place] = Counter()
    for rows in pages:
        counts.update({place for row in rows for place in _places(row)})
    needed = max(2, min(PAGES, round(SHARE * len(pages))))
    return {place for place, count in counts.items() if count >= needed}


def _numbered(pages: Sequence[Sequence[list[Line]]]) -> set[int]:
    """Heights at which page numbers stand, on several pages or on the only one."""
    counts: Counter[int] = Counter()
    for rows in pages:
        counts.update({height for row in rows[:2] for height in _number_heights(row)})
    needed = min(2, len(pages))
    return {height for height, count in counts.items() if count >= needed}


def _number_heights(row: list[Line]) -> list[int]:
    """Where the row's page number stands; twice, as places do. Few words stand beside one."""
    if len(row) > 3 or sum(line.chars for line in row) > BESIDE_NUMBER:
        return []
    ends = {id(line): line for line in (row[0], row[-1]) if is_page_number(line.text)}
    return [round(line.y1 / SAME_PLACE) + step for line in ends.values() for step in (0, 1)]


def is_page_number(text: str) -> bool:
    return len(text) <= 24 and bool(_PAGE_NUMBER.match(text))


def _peel(sheet: Sheet, rows: list[list[Line]], repeated: set[Place], numbered: set[int], top: bool) -> None:
    taken: list[Line] = []
    for i, row in enumerate(rows):
        if not (_is_repeated(row, repeated) or _is_numbered(row, numbered, rows[i + 1 : i + 2], sheet, top)):
            break
        taken += row
    if taken and len(taken) < len(sheet.lines):
        gone = set(map(id, taken))
        sheet.lines = [line for line in sheet.lines if id(line) not in gone]
        edge = sheet.head if top else sheet.foot
        edge += [line for row in rows_of(taken) for line in row]


def _is_repeated(row: list[Line], repeated: set[Place]) -> bool:
    """Whether at least half of the row's characters come back on other pages."""
    same = sum(line.chars for line in row if any(place in repeated for place in _places([line])))
    return 2 * same >= sum(line.chars for line in row)


def _is_numbered(
    row: list[Line], numbered: set[int], inner: list[list[Line]], sheet: Sheet, top: bool
) -> bool:
    """Whether a page number stands in the row, alone or with a short running title, clear of the text."""
    if not any(height in numbered for height in _number_heights(row)):
        return False
    edge = row[0]
    rest = inner[0] if inner else _nearest(sheet, edge, top)
    if not rest:
        return True
    gap = min(line.y0 for line in rest) - edge.y1 if top else edge.y0 - max(line.y1 for line in rest)
    return gap > CLEARANCE * edge.size


def _nearest(sheet: Sheet, edge: Line, top: bool) -> list[Line]:
    """The line of the page that is next to the edge's."""
    if top:
        inner = [line for line in sheet.lines if line.y0 > edge.y1 - 1]
        return [min(inner, key=lambda line: line.y0)] if inner else []
    inner = [line for line in sheet.lines if line.y1 < edge.y0 + 1]
    return [max(inner, key=lambda line: line.y1)] if inner else []
