"""Find running heads and feet, page numbers, line numbers and watermarks over the whole document.

Rows are removed from the top and the bottom of each page as long as they are at the same place on other
pages with the same words (digits ignored), or are only a page number.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate, chain, islice, pairwise
from operator import attrgetter
from typing import NamedTuple

from pdf.extract.words import is_contents_line
from pdf.layout.lines import Line, rows_of
from pdf.layout.page_layout import PageLayout
from pdf.tables.cells import is_value

# Maximum distance of furniture from the page's edge, as a share of the page's height.
MARGIN = 0.15
# Maximum rows of furniture at each edge.
ROWS = 4
# Rows are at the same place within this distance (points).
SAME_PLACE = 4.0
# Repeated words are furniture on this many pages, or on this share of them.
PAGES = 3
SHARE = 0.6
# Minimum distance of body text from furniture (ems).
CLEARANCE = 0.6
# Lines of an edge that are examined.
NEAR = 16
# Maximum distance of the rulings above and below the heads of a table (ems).
HEAD_RULE = 1.5
# Minimum column heads in a row, and maximum distance of the end of the table's first row (ems).
HEADS, HEAD_REACH = 3, 12.0
# Maximum numbers of a row beside its words: page number and number of pages.
NUMBERS = 2
# Sheets of two pages: minimum ratio of width to height.
SHEET_SHAPE = 1.15
# Line numbers: minimum count on a page, maximum share of values beside them, characters of a speaker's
# name (``Q.``), numbers that may be the first; minimum count where they go on from page to page. Numbers of
# lines of text: minimum count on a page; minimum share of lines beside them that begin with a small letter,
# and mean of their characters.
LINE_NUMBERS, VALUED, SPEAKER, STARTS, GOING_ON = 10, 0.1, 3, 5, 5
LINES_OF_TEXT, SMALL_LETTERS, TEXT_CHARS = 15, 0.4, 12
# Distances of line numbers, in lines, where not each line has one, and their minimum count.
STEPS, EVERY_FEW = (5, 10), 3
# Minimum characters of a line of prose right below a running head, which has less.
PROSE_CHARS = 40
# Maximum distance of a notice up the side of the page from its edge, as a share of the page's width.
SIDE = 0.12
# Maximum characters in a row with a page number.
BESIDE_NUMBER = 100
# Minimum size of headings numbered through the pages ("Step 15"), relative to the page's text.
HEADING_SIZE = 1.2

_LETTER = re.compile(r"[^\W\d_]")
_WORD = re.compile(r"[^\W\d_]{2}")
_DIGITS = re.compile(r"[\d٠-٩۰-۹]+")
_PAGE_NUMBER = re.compile(
    r"^[\W_]*(?:(?:page|p\.|seite|página|страница|стр\.|第|-)\s*)?"
    r"(?:[\d٠-٩۰-۹]{1,4}|[ivxlc]{1,7})(?:\s*(?:of|/|von|de|из|-)\s*[\d٠-٩۰-۹]{1,4})?\s*(?:页|頁|ページ)?[\W_]*$",
    re.IGNORECASE,
)

_TOP, _BOTTOM = attrgetter("y0"), attrgetter("y1")

Place = tuple[str, int]


def separate_furniture(page_layouts: Sequence[PageLayout]) -> None:
    """Move furniture from each sheet's lines to its head and foot."""
    _separate_watermarks(page_layouts)
    _separate_line_numbers(page_layouts)
    for top in (True, False):
        edges = [_edge_rows(page_layout, top) for page_layout in page_layouts]
        marginal = [
            [row for row in rows if _in_margin(row, page_layout, top)]
            for page_layout, rows in zip(page_layouts, edges, strict=True)
        ]
        signs = _Signs(
            _repeated(marginal),
            _repeated_texts(marginal),
            _numbered(marginal),
            _offsets(page_layouts, edges),
            _repeated_words(page_layouts, edges),
        )
        for page_layout, rows in zip(page_layouts, edges, strict=True):
            _peel(page_layout, rows, signs, top)


def _separate_watermarks(page_layouts: Sequence[PageLayout]) -> None:
    """Move watermarks and notices up the side of the page to its foot: the same at one place on several."""
    turned = [(sheet, [line for line in sheet.lines if _is_mark(line, sheet)]) for sheet in page_layouts]
    places = Counter(place for _, found in turned for place in {*map(_place, found)})
    for sheet, found in turned:
        marks = [line for line in found if places[_place(line)] >= PAGES]
        if marks:
            gone = set(map(id, marks))
            sheet.lines = [line for line in sheet.lines if id(line) not in gone]
            sheet.foot += marks


def _is_mark(line: Line, sheet: PageLayout) -> bool:
    """Return whether a line is slanted, or runs up or down beside the text."""
    if not line.sideways:
        return False
    return line.words[0].turn % 90 != 0 or line.x1 < SIDE * sheet.width or line.x0 > (1 - SIDE) * sheet.width


def _separate_line_numbers(page_layouts: Sequence[PageLayout]) -> None:
    """Move line numbers, as of a transcript or a draft, to the foot of the page.

    They count from 1 at the same places on several pages, beside texts that differ and are not values; or
    from any number, beside lines of running text; the more certain where they go on from page to page.
    """
    numbered = [(sheet, _counted(sheet)) for sheet in page_layouts]
    places = Counter(place for _, found in numbered for place in {*map(_place, found)})
    beside = {id(sheet): _beside_numbers(sheet, found) for sheet, found in numbered if found}
    texts = Counter(text for lines in beside.values() for text in {line.text for line in lines})
    counted = [[int(line.text) for line in found] for _, found in numbered]
    joined = {n for n, (a, b) in enumerate(pairwise(counted)) if a and b and b[0] == a[-1] + 1}
    long = [found for _, found in numbered if len(found) >= LINES_OF_TEXT]
    for n, (sheet, found) in enumerate(numbered):
        others = beside.get(id(sheet), [])
        steps = len(found) > 1 and counted[n][1] - counted[n][0] > 1
        goes_on = steps or not joined.isdisjoint((n - 1, n))
        like_others = any(found and abs(found[0].x1 - other[0].x1) < SAME_PLACE for other in long)
        running = (goes_on or like_others) and _is_running_text(others)
        alike = found if running else [line for line in found if places[_place(line)] >= PAGES]
        same = 0 if goes_on else sum(texts[line.text] > 1 for line in others)
        values = sum(is_value(line.text) for line in others)
        least = EVERY_FEW if steps else GOING_ON
        if len(alike) < (least if running else LINE_NUMBERS) or max(2 * same, values / VALUED) > len(others):
            continue
        if alike[0].text != "1" and not running:
            continue
        gone = set(map(id, alike))
        sheet.lines = [line for line in sheet.lines if id(line) not in gone]
        sheet.line_numbers = alike
        sheet.foot += alike


def _counted(sheet: PageLayout) -> list[Line]:
    """Return the lines that are only consecutive numbers, one below the other, left of all text."""
    numbers = [line for line in sheet.lines if len(line.text) <= 4 and line.text.isdecimal()]
    if len(numbers) < EVERY_FEW:
        return []
    numbers.sort(key=_TOP)
    ones = [n for n, line in enumerate(numbers) if line.text == "1"]
    starts = {*range(min(STARTS, len(numbers))), *ones[:STARTS]}
    found = max((_run_from(numbers[start:]) for start in sorted(starts)), key=len)
    found = found if len(found) >= GOING_ON else []
    found = max(found, _every_few(numbers, sheet), key=len)
    return found if found and _stand_aside(found, sheet) else []


def _every_few(numbers: Sequence[Line], sheet: PageLayout) -> list[Line]:
    """Return numbers at each fifth or tenth line of text, aligned at their right edge; [] without these."""
    step = int(numbers[1].text) - int(numbers[0].text)
    found = [line for line in numbers if abs(line.x1 - numbers[0].x1) < SAME_PLACE]
    steps = [int(b.text) - int(a.text) for a, b in pairwise(found)]
    levels = sorted({round(line.baseline) for line in sheet.lines if not line.text.isdecimal()})
    between = [
        sum(a.baseline < level + SAME_PLACE / 2 < b.baseline for level in levels) for a, b in pairwise(found)
    ]
    is_counted = step in STEPS and set(steps) == {step} and between.count(step) == len(between)
    return found if is_counted and len(found) >= EVERY_FEW else []


def _run_from(numbers: Sequence[Line]) -> list[Line]:
    """Return the numbers that count on from the first, one below the other, aligned at one edge."""
    first, *others = numbers
    found = [first]
    for line in others:
        if int(line.text) == int(first.text) + len(found) and (
            min(abs(line.x0 - found[-1].x0), abs(line.x1 - found[-1].x1)) < SAME_PLACE
        ):
            found.append(line)
    return found


def _stand_aside(numbers: Sequence[Line], sheet: PageLayout) -> bool:
    """Return whether all text beside the numbers is on one side of them."""
    left, right = min(line.x0 for line in numbers), max(line.x1 for line in numbers)
    top, bottom = numbers[0].y0, numbers[-1].y1
    beside = [line for line in sheet.lines if top < line.y0 < bottom and not line.sideways]
    return all(line.x0 >= left - 1 for line in beside) or all(line.x1 <= right + 1 for line in beside)


def _beside_numbers(sheet: PageLayout, numbers: Sequence[Line]) -> list[Line]:
    """Return the texts beside the numbers, without ``Q.`` and ``A.`` before them."""
    own, top, bottom = set(map(id, numbers)), numbers[0].y0, numbers[-1].y1
    inside = [line for line in sheet.lines if top <= line.baseline <= bottom and id(line) not in own]
    return [line for line in inside if line.chars > SPEAKER]


def _is_running_text(lines: Sequence[Line]) -> bool:
    """Return whether many lines begin with a small letter, as in sentences, unlike entries."""
    small = sum(line.text[0].islower() for line in lines)
    long = sum(line.chars for line in lines) >= TEXT_CHARS * len(lines)
    return long and small >= SMALL_LETTERS * len(lines)


def _place(line: Line) -> tuple[str, int, int]:
    return line.text, round(line.x1 / SAME_PLACE), round(line.y1 / SAME_PLACE)


class _Signs(NamedTuple):
    """Evidence of furniture in one document, at one edge of its pages.

    ``recurring``: lines that are equal on several pages, digits included; ``offsets``: differences of
    printed page numbers from page indexes; ``running``: words beside such a number, with its offset.
    """

    repeated: set[Place]
    recurring: set[str]
    numbered: set[int]
    offsets: set[int]
    running: set[tuple[str, int]]


def _edge_rows(page_layout: PageLayout, top: bool) -> list[list[Line]]:
    """Return the rows of one edge and the next one, the outermost first."""
    inwards = sorted(page_layout.lines, key=_TOP if top else _BOTTOM, reverse=not top)
    rows = rows_of([*islice((line for line in inwards if not line.sideways), NEAR)])
    return (rows if top else rows[::-1])[: ROWS + 1]


def _in_margin(row: list[Line], page_layout: PageLayout, top: bool) -> bool:
    limit = MARGIN * page_layout.height
    return row[0].y1 < limit if top else row[0].y0 > page_layout.height - limit


def _places(row: list[Line]) -> list[Place]:
    """Return text and place of each line of a row; twice, so that places across a border match."""
    found = [(_DIGITS.sub("#", line.text).casefold(), round(line.y1 / SAME_PLACE)) for line in row]
    return [(words, height + step) for words, height in found for step in (0, 1)]


def _repeated(pages: Sequence[Sequence[list[Line]]]) -> set[Place]:
    """Return the places of words that are on enough pages; of the outermost rows, of the odd or even ones."""
    found: set[Place] = set()
    places = [[_places(row) for row in rows] for rows in pages]
    for some, rank in ((places, None), (places[::2], 2), (places[1::2], 2)):
        counts = Counter(place for rows in some for place in set(chain.from_iterable(rows[:rank])))
        needed = max(2, min(PAGES, math.ceil(SHARE * len(some))))
        found |= {place for place, count in counts.items() if count >= needed}
    return found


def _repeated_texts(pages: Sequence[Sequence[list[Line]]]) -> set[str]:
    counts = Counter(text for rows in pages for text in {line.text for row in rows for line in row})
    return {text for text, count in counts.items() if count > 1}


def _numbered(pages: Sequence[Sequence[list[Line]]]) -> set[int]:
    """Return heights of page numbers, on several pages or on the only one."""
    counts: Counter[int] = Counter()
    for rows in pages:
        counts.update({height for row in rows[:2] for height in _number_heights(row)})
    needed = min(2, len(pages))
    return {height for height, count in counts.items() if count >= needed}


def _number_heights(row: list[Line]) -> list[int]:
    """Return the height of the row's page number, twice (see ``_places``); few words may be beside it."""
    if len(row) > 3 or sum(line.chars for line in row) > BESIDE_NUMBER or is_contents_line(_text(row)):
        return []
    ends = {id(line): line for line in (row[0], row[-1]) if is_page_number(line.text)}
    return [round(line.y1 / SAME_PLACE) + step for line in ends.values() for step in (0, 1)]


def is_page_number(text: str) -> bool:
    return len(text) <= 24 and bool(_PAGE_NUMBER.match(text))


def _offsets(page_layouts: Sequence[PageLayout], edges: Sequence[Sequence[list[Line]]]) -> set[int]:
    """Return, for the two outermost rows that are only a number, its repeated offsets from the page index."""
    counts = Counter(
        offset
        for page_layout, rows in zip(page_layouts, edges, strict=True)
        for offset in {_offset(row, page_layout) for row in rows[:2]}
        if offset is not None
    )
    return {offset for offset, count in counts.items() if count >= PAGES}


def _offset(row: list[Line], page_layout: PageLayout) -> int | None:
    if len(row) > 1 or not is_page_number(row[0].text):
        return None
    digits = _DIGITS.search(row[0].text)
    return int(digits.group()) - page_layout.raw.number if digits else None


def _repeated_words(
    page_layouts: Sequence[PageLayout], edges: Sequence[Sequence[list[Line]]]
) -> set[tuple[str, int]]:
    counts: Counter[tuple[str, int]] = Counter()
    for page_layout, rows in zip(page_layouts, edges, strict=True):
        counts.update(_words_and_offsets(rows[0], page_layout) if rows else ())
    return {found for found, count in counts.items() if count >= PAGES}


def _words_and_offsets(row: list[Line], page_layout: PageLayout) -> set[tuple[str, int]]:
    """Return the words of a row that begins or ends with a number, with that number's offset."""
    text = _text(row)
    if len(text) > BESIDE_NUMBER or is_contents_line(text):
        return set()
    words = _DIGITS.sub("#", text).casefold()
    ends = {text.split()[0], text.split()[-1]} if text.strip() else set()
    return {(words, int(end) - page_layout.raw.number) for end in ends if len(end) <= 4 and end.isdecimal()}


def _peel(page_layout: PageLayout, rows: list[list[Line]], signs: _Signs, top: bool) -> None:
    count = 0
    while count < min(ROWS, len(rows)) and _is_furniture(rows[count], count, page_layout, signs, top):
        if top and (
            (count and _heads_table(rows[count], page_layout))
            or _heads_columns(rows[count], page_layout, signs)
        ):
            break
        count += 1
    while count and not (
        _is_clear_of_text(rows[count - 1], rows[count : count + 1], top)
        or _is_sure(rows[count - 1], rows[count : count + 1], page_layout, signs)
    ):
        count -= 1
    taken = [line for row in rows[:count] for line in row]
    if taken and len(taken) < len(page_layout.lines):
        gone = set(map(id, taken))
        page_layout.lines = [line for line in page_layout.lines if id(line) not in gone]
        edge = page_layout.head if top else page_layout.foot
        edge += [line for row in rows_of(taken) for line in row]


def _heads_table(row: list[Line], page_layout: PageLayout) -> bool:
    """Return whether the row is between two rulings: repeated heads of a table across pages."""
    if len(row) < 2:
        return False
    x0, y0, x1, y1 = row[0].x0, row[0].y0, row[-1].x1, max(line.y1 for line in row)
    reach = HEAD_RULE * row[0].size
    wide = [ruling for ruling in page_layout.rulings if ruling.x0 <= x0 and x1 <= ruling.x1]
    above = any(y0 - reach < ruling.y0 <= y0 + 1 for ruling in wide)
    return above and any(y1 - 1 <= ruling.y0 < y1 + reach for ruling in wide)


def _heads_columns(row: list[Line], page_layout: PageLayout, signs: _Signs) -> bool:
    """Return whether a row of body text has a cell below most cells of this row: it has column heads."""
    if len(row) < HEADS:
        return False
    reach = row[0].y1 + HEAD_REACH * row[0].size
    upright = [line for line in page_layout.lines if not line.sideways]
    below = [line for line in upright if row[0].y1 < (line.y0 + line.y1) / 2 < reach]
    return any(
        _cells_under(row, other) >= max(HEADS, (len(row) - 1) / 2) and not _is_repeated(other, signs.repeated)
        for other in rows_of(below)
    )


def _cells_under(heads: list[Line], row: list[Line]) -> int:
    """Return how many heads have a line of the row below them that is below no other head."""
    under = [[head for head in heads if head.x0 < line.x1 and line.x0 < head.x1] for line in row]
    return len({id(found[0]) for found in under if len(found) == 1})


def _is_sure(row: list[Line], inner: Sequence[list[Line]], page_layout: PageLayout, signs: _Signs) -> bool:
    """Return whether other pages have the same words, however near the text.

    The words are beside their page number, or the row is not over the text, as a running head at the margin,
    or it is one line over a line of prose.
    """
    if len(inner) and all(line.text in signs.recurring and _LETTER.search(line.text) for line in row):
        left, right = min(line.x0 for line in inner[0]), max(line.x1 for line in inner[0])
        over_prose = len(row) == len(inner[0]) == 1 and row[0].chars < PROSE_CHARS <= inner[0][0].chars
        over_prose &= not inner[0][0].style.bold
        repeated = _is_repeated(row, signs.repeated) and not _is_repeated(inner[0], signs.repeated)
        if row[-1].x1 <= left or row[0].x0 >= (left + right) / 2 or (over_prose and repeated):
            return True
    return not signs.running.isdisjoint(_words_and_offsets(row, page_layout))


def _is_furniture(row: list[Line], rank: int, page_layout: PageLayout, signs: _Signs, top: bool) -> bool:
    if _in_margin(row, page_layout, top):
        if _is_repeated(row, signs.repeated):
            return not _is_numbered_heading(row, page_layout, signs)
        return not signs.numbered.isdisjoint(_number_heights(row))
    if rank > 1:
        return False
    if _offset(row, page_layout) in signs.offsets:
        return True
    return not rank and not signs.running.isdisjoint(_words_and_offsets(row, page_layout))


def _is_numbered_heading(row: list[Line], page_layout: PageLayout, signs: _Signs) -> bool:
    """Return whether it is a line in larger type than the page's text, with other numbers on each page."""
    line = row[0]
    return (
        len(row) == 1
        and line.text not in signs.recurring
        and _WORD.search(line.text) is not None
        and not is_page_number(line.text)
        and line.size >= HEADING_SIZE * _text_size(page_layout)
    )


def _text_size(page_layout: PageLayout) -> float:
    """Return the median type size of the page's characters, in points."""
    lines = sorted(page_layout.lines, key=attrgetter("size"))
    ends = list(accumulate(line.chars for line in lines))
    return lines[bisect_left(ends, ends[-1] / 2)].size


def _is_repeated(row: list[Line], repeated: set[Place]) -> bool:
    """Return whether at least half of the row's characters are repeated on other pages.

    Several numbers in a row do not count: they are values of a table.
    """
    if is_contents_line(_text(row)):
        return False
    words = row if len(row) <= NUMBERS else [line for line in row if _LETTER.search(line.text)]
    same = sum(line.chars for line in words if any(place in repeated for place in _places([line])))
    return 2 * same >= sum(line.chars for line in row)


def _text(row: list[Line]) -> str:
    return " ".join(line.text for line in row)


def _is_clear_of_text(row: list[Line], inner: list[list[Line]], top: bool) -> bool:
    """Return whether body text keeps its distance; it does not from the title of a table on each page."""
    if not inner:
        return True
    if top:
        gap = min(line.y0 for line in inner[0]) - max(line.y1 for line in row)
    else:
        gap = min(line.y0 for line in row) - max(line.y1 for line in inner[0])
    return gap > CLEARANCE * row[0].size


def find_folds(page_layouts: Sequence[PageLayout]) -> None:
    """Set the fold of each sheet that has two pages.

    Their consecutive numbers are at the sheet's edge, one in each half. Where several sheets of one size have
    them, others of that size have two pages too.
    """
    wide = [sheet for sheet in page_layouts if sheet.width >= SHEET_SHAPE * sheet.height]
    numbered = [sheet for sheet in wide if _is_numbered_twice(sheet)]
    sizes = Counter(_size(sheet) for sheet in numbered)
    alike = {size for size, count in sizes.items() if count >= PAGES}
    for sheet in wide:
        if sheet in numbered or _size(sheet) in alike:
            sheet.fold = sheet.width / 2


def _size(sheet: PageLayout) -> tuple[int, int]:
    return round(sheet.width), round(sheet.height)


def _is_numbered_twice(sheet: PageLayout) -> bool:
    edges, fold = (*sheet.head, *sheet.foot), sheet.width / 2
    left = {number for line in edges if line.x1 < fold for number in _numbers(line)}
    right = {number for line in edges if line.x0 > fold for number in _numbers(line)}
    return any(number + 1 in right for number in left)


def _numbers(line: Line) -> set[int]:
    """Return the numbers at the start and the end of the line."""
    ends = {line.words[0].text, line.words[-1].text}
    return {int(end) for end in ends if len(end) <= 4 and end.isdecimal()}
