"""Classify the text beside a vertical gutter: prose, list, short lines, margin note or table cells.

A gutter separates columns only where both sides are independent texts. Headings in the margin are read
before the text beside them.
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from pdf.extract.words import is_bullet
from pdf.layout.lines import SAME_BASELINE, Line, ends_sentence, goes_on, rows_of
from pdf.tables.cells import MARKER_GAP, is_value

# Minimum rows on each side of a gutter between columns.
COLUMN_ROWS = 3
# Minimum share of its column that a full row covers.
FULL_ROW = 0.7
# Maximum gap between words of a full row (ems): wider gaps separate cells.
RUNNING_GAP = 1.6
# Minimum share of full rows in a column of prose.
PROSE_ROWS = 0.5
# Columns of prose: minimum characters of most runs, maximum difference of their starts (ems), shares filled.
LONG_RUN, COLUMN_INDENT = 15, 2.0
FULL_RUN, FULL_RUNS = 0.85, 0.7
# Minimum share of rows with a bullet in a list.
LIST_ROWS = 0.6
# Columns of which one is not prose: minimum ratio of widths, maximum share of common baselines.
LIKE_WIDTH = 0.6
APART = 0.5
# Minimum share of common baselines of columns of one table.
COMMON = 0.8
# Maximum share of common baselines of a narrow side, as a list of links beside a text.
FAR_APART = 0.35
# Maximum share of rows that are only values in a column of text.
VALUE_SHARE = 0.25
# Maximum characters of a cell with a digit that is a value.
VALUE_CHARS = 16
# A stack of short lines: minimum rows, characters; maximum leading (ems).
STACK_ROWS = 5
STACK_CHARS = 12
STACK_LEADING = 1.6
# Maximum gap within a stack of few rows (ems).
STACK_HOLE = 6.0
# A note in the margin: minimum lines, and share of them that begin with a small letter.
NOTE_ROWS = 4
NOTE_SHARE = 0.7
# A side this many times longer than the other may be prose beside a box of few rows.
LONGER = 3
# Maximum lines far beside a column of prose, as a share of its rows: a sidebar.
ASIDE = 0.25
# A text beside which another is independent: minimum share of lines that go on with the sentence above,
# minimum number and share of the other texts that begin within its sentences; share of lines far away (ems).
RUNNING_LINES, BROKEN, BROKEN_SHARE, RUNNING_BESIDE, SIDE_GAP = 0.6, 2, 0.34, 0.3, 5.0
# An index: share of lines that end in page numbers, minimum initials, share of initials in order.
INDEX_ENTRIES, INITIALS, INDEX_ORDER = 0.6, 2, 0.9
_INDEX_ENTRY = re.compile(r"[^\W\d]{2}.*\s[\d٠-٩۰-۹]{1,4}(?:\s?[-–,]\s?[\d٠-٩۰-۹]{1,4})*$")


def text_rows(lines: list[Line]) -> list[list[Line]]:
    """Return the rows of a side that have text."""
    return [row for row in rows_of(lines) if any(line.chars for line in row)]


def are_texts_apart(left: list[list[Line]], right: list[list[Line]]) -> bool:
    """Return whether the two sides are columns, each read from top to bottom."""
    sides = (left, right)
    if min(map(len, sides)) < COLUMN_ROWS:
        return False
    if _is_note_beside(left, right) or _is_note_beside(right, left) or _are_index_columns(left, right):
        return True
    if (
        _are_headings_beside(left, right)
        or _breaks_into(left, right, True)
        or _breaks_into(right, left, False)
    ):
        return True
    prose = [_is_prose(rows) for rows in sides]
    stacked = [full or is_stack_of_short_lines(rows) for full, rows in zip(prose, sides, strict=True)]
    if all(prose) or (all(stacked) and not any(prose) and not _is_read_across(left, right)):
        return True
    return (any(prose) or all(stacked)) and _are_independent(left, right, any(prose))


def _is_prose(rows: list[list[Line]]) -> bool:
    """Return whether the rows are prose: columns, a list, or a column with a few lines far beside it."""
    if fills_one_column(rows) or reads_as_list(rows) or has_several_columns(rows):
        return True
    reach = sorted(line.x1 for row in rows for line in row)[len(rows) // 2]
    column = [[line for line in row if line.x0 < reach] for row in rows]
    aside = [line for row in rows for line in row if line.x0 >= reach]
    column = [row for row in column if row]
    if not aside or len(column) < STACK_ROWS or len(aside) > ASIDE * len(column):
        return False
    apart = _common_baselines([[line] for line in aside], column) <= FAR_APART
    return apart and fills_one_column(column)


def _is_read_across(left: list[list[Line]], right: list[list[Line]]) -> bool:
    """Return whether two stacks of short lines are columns of one table with common baselines.

    Then only one of them has values, unlike two lists of names with numbers, or one repeats its texts,
    unlike a list.
    """
    if _common_baselines(left, right) < COMMON:
        return False
    valued = [[row for row in rows if any(is_value(line.text) for line in row)] for rows in (left, right)]
    held = [len(some) >= VALUE_SHARE * len(rows) for some, rows in zip(valued, (left, right), strict=True)]
    if not any(held):
        return _repeats(left) or _repeats(right)
    return not all(held) or any(sum(is_value(row[0].text) for row in rows) > len(rows) / 2 for rows in valued)


def _common_baselines(left: list[list[Line]], right: list[list[Line]]) -> float:
    """Return the share of the rows of the shorter side that are on baselines of the other."""
    few, many = sorted((left, right), key=len)
    places = sorted(row[0].baseline for row in many)
    return sum(_has_near(places, row[0].baseline, 0.1 * row[0].size) for row in few) / len(few)


def _has_near(places: list[float], place: float, distance: float) -> bool:
    i = bisect_left(places, place - distance)
    return i < len(places) and places[i] <= place + distance


def _repeats(rows: list[list[Line]]) -> bool:
    """Return whether most texts are repeated."""
    counts = Counter([line.text for row in rows for line in row])
    return sum([count for count in counts.values() if count > 2]) > counts.total() / 2


def _are_independent(left: list[list[Line]], right: list[list[Line]], prose: bool) -> bool:
    """Return whether two sides are independent: few common baselines, few values.

    Sides of different width are, where one is ``prose`` and hardly a row of the other is on its baselines.
    """
    alike = _are_alike_in_width(left, right)
    few, many = sorted((len(left), len(right)))
    if not (alike or prose) or few < (COLUMN_ROWS if prose and many >= LONGER * few else STACK_ROWS):
        return False
    return (
        _common_baselines(left, right) < (APART if alike else FAR_APART)
        and max(_value_share(left), _value_share(right)) < VALUE_SHARE
    )


def _are_alike_in_width(left: list[list[Line]], right: list[list[Line]]) -> bool:
    widths = [max(row[-1].x1 for row in rows) - min(row[0].x0 for row in rows) for rows in (left, right)]
    return min(widths) >= LIKE_WIDTH * max(widths)


def _value_share(rows: list[list[Line]]) -> float:
    """Return the share of the rows that are only values: numbers, amounts, dashes, ``down 3 %``."""
    return sum(all(map(_is_like_value, row)) for row in rows) / len(rows)


def _is_like_value(line: Line) -> bool:
    return is_value(line.text) or (line.chars <= VALUE_CHARS and any(map(str.isdigit, line.text)))


def fills_one_column(rows: list[list[Line]]) -> bool:
    """Return whether words fill the common width in most rows."""
    x0 = min(row[0].x0 for row in rows)
    x1 = max(row[-1].x1 for row in rows)
    full = sum(1 for row in rows if row[-1].x1 - row[0].x0 >= FULL_ROW * (x1 - x0) and _wordy(row))
    return full >= PROSE_ROWS * len(rows)


def has_several_columns(rows: list[list[Line]]) -> bool:
    """Return whether the rows are several columns of prose: runs with common starts and full widths."""
    lines = [line for row in rows for line in row if line.chars]
    if sum([line.chars >= LONG_RUN for line in lines]) < FULL_RUNS * len(lines):
        return False
    columns: list[list[Line]] = []
    for line in sorted(lines, key=lambda line: line.x0):
        if columns and line.x0 - columns[-1][0].x0 <= COLUMN_INDENT * line.size:
            columns[-1].append(line)
        else:
            columns.append([line])
    wide = [column for column in columns if len(column) >= STACK_ROWS]
    return (
        len(wide) > 1
        and sum(map(len, wide)) >= FULL_RUNS * len(lines)
        and all(map(_is_filled, wide))
        and all(max(line.x1 for line in a) < b[0].x0 for a, b in itertools.pairwise(wide))
    )


def _is_filled(column: list[Line]) -> bool:
    """Return whether most lines with one start reach the end of the longest."""
    reach = FULL_RUN * (max(line.x1 for line in column) - column[0].x0)
    return sum([line.x1 - column[0].x0 >= reach for line in column]) >= FULL_RUNS * len(column)


def reads_as_list(rows: list[list[Line]]) -> bool:
    """Return whether most rows open with a bullet."""
    return sum(map(_opens_with_bullet, rows)) >= LIST_ROWS * len(rows)


def _opens_with_bullet(row: list[Line]) -> bool:
    """Return whether the row is a bullet and a near text; a box far from it belongs to the text before."""
    mark = row[0]
    if not is_bullet(mark.words[0].text):
        return False
    return len(mark.words) > 1 or (len(row) > 1 and row[1].x0 - mark.x1 < MARKER_GAP * mark.size)


def _is_note_beside(note: list[list[Line]], text: list[list[Line]]) -> bool:
    """Return whether one side is a note in the margin beside a column of text."""
    if not runs_on(note):
        return False
    top, bottom = 2 * note[0][0].y0, 2 * note[-1][0].y1
    beside = [row for row in text if top <= row[0].y0 + row[0].y1 <= bottom]
    return len(beside) >= COLUMN_ROWS and fills_one_column(beside)


def _are_headings_beside(heads: list[list[Line]], text: list[list[Line]]) -> bool:
    """Return whether the left side has headings, most of several lines, beside a column of prose."""
    lines = [line for row in heads for line in row]
    if any(row[0].text.strip("._ …").isdecimal() or not row[0].text.strip("._ …") for row in text):
        return False  # leaders and pages
    groups = _groups(lines)
    wrapped = sum(len(group) > 1 for group in groups)
    return (
        2 * wrapped > len(groups)
        and all(len(row) == 1 for row in heads)
        and fills_one_column(text)
        and _value_share(heads) == 0
        and bool(with_margin_headings(lines, [line for row in text for line in row]))
    )


def _breaks_into(text: list[list[Line]], other: list[list[Line]], left: bool) -> bool:
    """Return whether texts of the other side begin within sentences of this one, unlike cells of its rows.

    ``left``: the text is the left side. Values are left out, as they may be beside the last line of a label.
    Far from the text, as an address is from notes, one is enough.
    """
    lines = [row[-1 if left else 0] for row in text]
    beside = [row[0 if left else -1] for row in other if not all(is_value(line.text) for line in row)]
    (_, end), (start, _) = sorted(
        (min(x.x0 for x in side), max(x.x1 for x in side)) for side in (lines, beside or lines)
    )
    far = start - end >= SIDE_GAP * lines[0].size and all(len(row) == 1 for row in (*text, *other))
    # words after a break may have a capital, as nouns in German
    in_sentences = far and ends_sentence(lines[-1]) and sum(map(ends_sentence, lines)) > 1
    sentences = [
        (a.baseline, b.baseline)
        for a, b in pairwise(lines)
        if a.chars >= LONG_RUN and goes_on(a, b, in_sentences)
    ]
    if not sentences or len(sentences) < RUNNING_BESIDE * (len(lines) - 1):
        return False
    begun = [
        line.baseline - SAME_BASELINE * line.size
        for above, line in zip([None, *beside], beside, strict=False)
        if not (above and goes_on(above, line)) and line.y1 > lines[0].y0 and line.y0 < lines[-1].y1
    ]
    broken = sum(any(start < y <= end for start, end in sentences) for y in begun)
    if broken and far:
        return True
    running = len(sentences) >= RUNNING_LINES * (len(lines) - 1)
    return running and broken >= max(BROKEN, BROKEN_SHARE * len(begun))


def _are_index_columns(left: list[list[Line]], right: list[list[Line]]) -> bool:
    """Return whether both sides have entries of an index, on common baselines or not.

    Most lines are words and page numbers, and the entries of a column are in alphabetical order. The right
    side may be several columns.
    """
    if not all(map(_are_index_entries, (left, right))):
        return False
    first = min(row[0].x0 for row in left)
    entries = [row[0].text for row in left if row[0].x0 - first < row[0].size and len(row[0].text) > 1]
    initials = [text[0].casefold() for text in entries if text[0].isalpha()]
    in_order = sum(a <= b for a, b in pairwise(initials))
    return len(set(initials)) >= INITIALS and in_order >= INDEX_ORDER * (len(initials) - 1)


def _are_index_entries(rows: list[list[Line]]) -> bool:
    texts = [line.text for row in rows for line in row]
    entries = sum([text[-1:].isdecimal() and bool(_INDEX_ENTRY.search(text)) for text in texts])
    return entries >= INDEX_ENTRIES * len(texts)


def runs_on(rows: list[list[Line]]) -> bool:
    """Return whether short lines are running text, as those of a note in the margin.

    They are close, and most begin with a small letter; false in scripts without small letters.
    """
    if len(rows) < NOTE_ROWS:
        return False
    pitches = [b[0].baseline - a[0].baseline for a, b in itertools.pairwise(rows)]
    small = sum(1 for row in rows[1:] if row[0].text[:1].islower())
    return small >= NOTE_SHARE * (len(rows) - 1) and all(
        pitch <= STACK_LEADING * row[0].size for pitch, row in zip(pitches, rows, strict=False)
    )


def is_stack_of_short_lines(rows: list[list[Line]]) -> bool:
    """Return whether short lines are stacked closely, as in a list: no values, no empty rows."""
    if len(rows) < STACK_ROWS:
        return False
    pitches = [b[0].baseline - a[0].baseline for a, b in itertools.pairwise(rows)]
    holes = sum(1 for pitch, row in zip(pitches, rows, strict=False) if pitch > STACK_HOLE * row[0].size)
    if holes * STACK_ROWS >= len(rows):
        return False
    tight = sum(1 for pitch, row in zip(pitches, rows, strict=False) if pitch <= STACK_LEADING * row[0].size)
    return (
        tight >= 0.5 * len(pitches)
        and sum(line.chars for row in rows for line in row) >= STACK_CHARS * len(rows)
        and _value_share(rows) < VALUE_SHARE
    )


def _wordy(row: list[Line]) -> bool:
    """Return whether a row has several running words, or as many characters in scripts without spaces."""
    if any(b.x0 - a.x1 > RUNNING_GAP * a.size for a, b in itertools.pairwise(row)):
        return False
    chars = sum(line.chars for line in row)
    return chars >= 20 or (chars >= 8 and not row[0].text.isascii() and " " not in row[0].text)


# Headings in the margin: minimum number, maximum lines of each, maximum share of characters.
HEADS, HEAD_LINES, HEAD_CHARS = 2, 5, 0.3
# Maximum leading of a head, and distance of its first line from that of the text (ems).
HEAD_LEADING, LEVEL = 1.6, 1.0
# Gap before a new part of the text, relative to its leading; minimum share of heads at such gaps.
OPENED, ALIGNED = 1.15, 0.8


def with_margin_headings(heads: Sequence[Line], text: Sequence[Line]) -> list[list[Line]]:
    """Return heads and their texts in turn, top to bottom; empty without headings in the margin."""
    groups = _groups(heads)
    chars = sum([line.chars for line in heads])
    if (
        len(groups) < HEADS
        or max(map(len, groups)) > HEAD_LINES
        or chars > HEAD_CHARS * sum([line.chars for line in text])
    ):
        return []
    rows = rows_of(text)
    starts = [rows[0][0], *_openings(rows)]
    aligned = [any(abs(start.y0 - group[0].y0) <= LEVEL * start.size for start in starts) for group in groups]
    if sum(aligned) < ALIGNED * len(groups):
        return []
    tops = [group[0].y0 - LEVEL / 2 * group[0].size for group in groups]
    parts = [[line for line in text if (line.y0 + line.y1) / 2 < tops[0]]]
    for group, (top, bottom) in zip(groups, pairwise([*tops, float("inf")]), strict=True):
        parts += [list(group), [line for line in text if top <= (line.y0 + line.y1) / 2 < bottom]]
    return [part for part in parts if part]


def _groups(lines: Sequence[Line]) -> list[list[Line]]:
    groups: list[list[Line]] = []
    for row in rows_of(lines):
        if groups and row[0].baseline - groups[-1][-1].baseline <= HEAD_LEADING * row[0].size:
            groups[-1] += row
        else:
            groups.append(list(row))
    return groups


def _openings(rows: Sequence[Sequence[Line]]) -> list[Line]:
    """Return the lines with a larger gap above than most."""
    pitches = sorted(b[0].baseline - a[0].baseline for a, b in pairwise(rows))
    usual = pitches[len(pitches) // 2] if pitches else 0.0
    return [b[0] for a, b in pairwise(rows) if b[0].baseline - a[0].baseline > OPENED * usual]
