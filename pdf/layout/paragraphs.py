"""Group the lines of one column into paragraphs; make listings of programs whole.

A new paragraph begins where the type changes, the leading grows, a line is
indented or begins with a list marker, or where the line before ends although the
next word would have fitted: that line was broken deliberately.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, islice, pairwise
from operator import attrgetter

from pdf.extract.words import breaks_anywhere, comes_next, is_bullet, is_contents_line, marker_of
from pdf.geometry import Rect
from pdf.layout.lines import Line, is_numbered_equation, merged, rows_of
from pdf.layout.page_layout import Block, column_is_right_to_left, ends_apart
from text.units import units_by_symbol

# A pitch above this multiple of the column's leading begins a paragraph.
LEADING_SLACK = 1.18
# Largest leading within a paragraph (ems).
LOOSEST_LEADING = 2.2
# Text is double-spaced where lines of at least LONG_LINE characters are at most so far apart (ems) and
# none are closer.
DOUBLE_LEADING, LONG_LINE = 2.6, 45
# Type sizes that differ by less than this share are the same.
SIZE_SLACK = 1.08
# Smallest indent, and largest distance of line ends that count as equal (ems).
INDENT = 0.6
EVEN_EDGE = 2.0
# Largest distance of the starts of items of one list (ems).
SAME_START = 0.3
# This number of lines with one start but different centers is aligned to an edge there, not centered.
EDGE_LINES = 3
# Least number of lines of a block that is narrower than its column.
NARROW_LINES = 4
# Width of a space, with some slack, and the leading assumed for a type size with a single line (ems).
SPACE = 0.5
USUAL_LEADING = 1.25
# Largest leading within a title (ems).
TITLE_LEADING = 1.45
# A line that ends in mid-sentence before lower case was broken deliberately only if it leaves more than
# this share of the column empty.
UNFINISHED_ROOM = 0.3
# Lines this far above or below a box beside the text may still be shortened by it (ems).
BOX_MARGIN = 2.0
# Largest size of a footnote's number, as a share of the size of its text.
NOTE_MARK = 0.8
# In mid-sentence, after the first line of a paragraph, a line leaves at most this share of the column empty.
RAGGED_ROOM = 0.15
# A line of at least OPEN_CHARS characters that ends in a word of at most SHORT_WORD small letters goes on.
OPEN_CHARS, SHORT_WORD = 30, 2
HYPHENS = "-\u2010\u00ad"
_DECIMAL = re.compile(r"\d+[.,]\d+$")
_PERCENT = ("%", "‰")
CLOSED = (*".:;?!。：；？！؟)]”\"'", "…")
SENTENCE_ENDS = (".", ":", ";", "?", "!", ",")
# Chinese and Japanese lines may break between almost any two characters; longest run without a break (ems).
UNBREAKABLE = 2.2


@dataclass(frozen=True, slots=True)
class Column:
    """The measures of a column, in points.

    Edges are measured in reading direction: ``start`` is the left edge, or the
    negated right edge of a right-to-left column, so that text always runs towards
    greater numbers. ``leading`` is by size class; ``body`` and ``bold`` are the size
    and weight of most of the text.
    """

    start: float
    end: float
    rtl: bool
    leading: dict[int, float]
    body: float
    bold: bool
    lines: Sequence[Line] = ()

    def leading_of(self, line: Line) -> float:
        return self.leading.get(_size_class(line), USUAL_LEADING * line.size)

    def is_title_type(self, line: Line) -> bool:
        """Return whether the line is set larger than the column's body, or bold where the body is not."""
        return line.size > SIZE_SLACK * self.body or (line.style.bold and not self.bold)

    def starts(self, line: Line) -> float:
        return -line.x1 if self.rtl else line.x0

    def ends(self, line: Line) -> float:
        return -line.x0 if self.rtl else line.x1

    def is_edge(self, line: Line) -> bool:
        """Return whether ``EDGE_LINES`` lines with other centers begin where this one does."""
        edge, middle, em = attrgetter("x1" if self.rtl else "x0"), line.x0 + line.x1, line.size
        start, near = edge(line), SAME_START * em
        aligned = (
            other
            for other in self.lines
            if abs(edge(other) - start) < near and abs(other.x0 + other.x1 - middle) > em
        )
        return sum(1 for _ in islice(aligned, EDGE_LINES)) == EDGE_LINES


def column_of(lines: Sequence[Line], rtl: bool) -> Column:
    """Measure a column. The leading of a type size is the smallest common distance of its baselines."""
    pitches: dict[int, Counter[int]] = {}
    double: dict[int, Counter[int]] = {}
    for above, below in pairwise(lines):
        pitch = below.baseline - above.baseline
        if _same_size(above, below) and 0.8 * above.size < pitch < DOUBLE_LEADING * above.size:
            if pitch < LOOSEST_LEADING * above.size:
                pitches.setdefault(_size_class(above), Counter())[round(pitch * 4)] += 1
            elif above.chars >= LONG_LINE:
                double.setdefault(_size_class(above), Counter())[round(pitch * 4)] += 1
    leading = {size: _tightest_common(counts) / 4 for size, counts in (double | pitches).items()}
    x0, x1 = min([line.x0 for line in lines]), max([line.x1 for line in lines])
    weight: defaultdict[tuple[float, bool], int] = defaultdict(int)
    for line in lines:
        weight[line.style.size, line.style.bold] += line.chars
    body, bold = max(weight, key=weight.__getitem__)
    return Column(-x1 if rtl else x0, -x0 if rtl else x1, rtl, leading, body, bold, lines)


def _size_class(line: Line) -> int:
    return round(line.size * 2)


def _tightest_common(counts: Counter[int]) -> float:
    """Return the smallest pitch that is not rare; short paragraphs may make a larger one the most common."""
    most = max(counts.values())
    return min(pitch for pitch, count in counts.items() if count >= max(1, 0.34 * most))


def paragraphs(lines: Sequence[Line], rtl: bool | None = None, boxes: Sequence[Rect] = ()) -> list[Block]:
    """Return the column's lines as prose and list blocks, top to bottom.

    ``rtl``: the column is read from right to left; None infers it from the lines. ``boxes``: figures
    in the column, beside which lines end early.
    """
    if not lines:
        return []
    column = column_of(lines, column_is_right_to_left(lines) if rtl is None else rtl)
    margins = _margins(lines, column)
    for box in boxes:
        margins = _narrowed_by_box(box, lines, margins, column)
    groups: list[list[Line]] = [[lines[0]]]
    for i in range(1, len(lines)):
        following = lines[i + 1] if i + 1 < len(lines) else None
        if _begins_paragraph(lines[i], groups[-1], following, column, margins[i - 1]):
            groups.append([lines[i]])
        else:
            groups[-1].append(lines[i])
    return [block_of(group) for group in groups]


def _margins(lines: Sequence[Line], column: Column) -> list[float]:
    """Return the right margin of each line, in reading direction.

    It is the column's edge, or that of a narrower block whose lines end together.
    """
    margins: list[float] = []
    stack: list[Line] = []
    for line in [*lines, None]:
        if stack and (line is None or _opens_leading(stack[-1], line, column)):
            ends = [column.ends(other) for other in stack]
            end = max(ends)
            together = sum([at > end - EVEN_EDGE * other.size for at, other in zip(ends, stack, strict=True)])
            narrow = len(stack) >= NARROW_LINES and together >= 0.6 * (len(stack) - 1)
            margins += [end if narrow else column.end] * len(stack)
            stack = []
        if line is not None:
            stack.append(line)
    return margins


def _narrowed_by_box(
    box: Rect, lines: Sequence[Line], margins: Sequence[float], column: Column
) -> list[float]:
    """Return the margins, reduced for lines beside a box, or just above or below, to where they end."""
    start = -box.x1 if column.rtl else box.x0
    near = [
        box.y0 - BOX_MARGIN * line.size < (line.y0 + line.y1) / 2 < box.y1 + BOX_MARGIN * line.size
        and column.ends(line) <= start
        for line in lines
    ]
    end = max(
        [column.ends(line) for line, is_near in zip(lines, near, strict=True) if is_near], default=start
    )
    return [min(margin, end) if is_near else margin for margin, is_near in zip(margins, near, strict=True)]


def _opens_leading(last: Line, line: Line, column: Column) -> bool:
    return not _same_size(last, line) or line.baseline - last.baseline > LEADING_SLACK * column.leading_of(
        line
    )


def block_of(lines: list[Line]) -> Block:
    """Return the lines as a list item where they begin with a marker, else as prose."""
    marker = marker_of(lines[0].words[0].text) if len(lines[0].words) > 1 or len(lines) > 1 else ""
    if marker and _is_quantity_or_section(lines[0]):
        marker = ""
    if marker and (is_bullet(marker) or lines[0].words[0].text == marker):
        return Block("list", lines, marker=marker, level=0)
    return Block("prose", lines)


def _begins_paragraph(
    line: Line, block: list[Line], following: Line | None, column: Column, margin: float
) -> bool:
    """Return whether the line begins a paragraph after the lines of ``block``."""
    last = block[-1]
    if not (_same_size(last, line) or _shares_size(last, line)) or (
        last.style.bold != line.style.bold and _one_weight(last, line)
    ):
        return True
    pitch = line.baseline - last.baseline
    larger = last if last.size > line.size else line
    leading = block[1].baseline - block[0].baseline if len(block) > 1 else column.leading_of(larger)
    if pitch < 0.5 * line.size or (_opens_note(line) and _opens_note(block[0])):
        return True
    if pitch > LEADING_SLACK * leading and not (
        len(block) == 1
        and _evenly_spaced(line, following, pitch)
        and not _ended_on_purpose(last, line, column, margin)
    ):
        return True
    if _opens_item(line, block, column) or is_contents_line(last.text):
        return True
    if ends_apart([last]) and is_contents_line(line.text):
        return True
    if is_numbered_equation([last]) or is_numbered_equation([line]):
        return True
    indented = column.starts(last) > column.starts(line) + INDENT * line.size and (
        following is not None and abs(column.starts(following) - column.starts(line)) < SAME_START * line.size
    )
    if not (indented or marker_of(block[0].words[0].text)) and _centered(last, line, column):
        return pitch > TITLE_LEADING * line.size
    if _continues_title(block, line, following, pitch, column):
        return False
    if _ended_on_purpose(last, line, column, margin, len(block) > 1):
        return True
    return not _is_unfinished(last, line) and _indented(line, block, following, column)


def _evenly_spaced(line: Line, following: Line | None, pitch: float) -> bool:
    """Return whether the next line has the same pitch: a paragraph with more leading than its column."""
    if following is None or pitch > LOOSEST_LEADING * line.size or not _same_size(line, following):
        return False
    return abs(following.baseline - line.baseline - pitch) < 0.05 * pitch


def _same_size(a: Line, b: Line) -> bool:
    return a.size == b.size or max(a.size, b.size) <= SIZE_SLACK * min(a.size, b.size)


def _shares_size(a: Line, b: Line) -> bool:
    """Return whether a word of one line has the size of the other, as in a line mostly of smaller code."""
    return any(
        len(word.text) > 2 and max(size, word.style.size) <= SIZE_SLACK * min(size, word.style.size)
        for line, size in ((a, b.size), (b, a.size))
        for word in line.words
    )


def _one_weight(*lines: Line) -> bool:
    """Return whether each line is set in one weight throughout."""
    return all(
        word.style is line.style or word.style.bold == line.style.bold
        for line in lines
        for word in line.words
    )


def _opens_item(line: Line, block: list[Line], column: Column) -> bool:
    """Return whether the line begins with the marker of a list item."""
    marker = marker_of(line.words[0].text)
    if not marker or len(line.words) == 1 or _is_quantity_or_section(line):
        return False
    first, last = block[0], block[-1]
    if is_bullet(marker) and marker.strip("*") and marker not in "-–—o·":
        return True
    under = abs(column.starts(line) - column.starts(first)) < SAME_START * line.size
    before = marker_of(first.words[0].text)
    if under and is_bullet(marker) and before and before in (marker, marker.removesuffix("*")):
        return True
    if under and (comes_next(marker, before) or before[:1] == marker[:1] == "["):
        return True
    if marker[0] == "[" and not marker[1:2].isdigit():  # [YOUN91] may be cited within a text
        return last.text[-1:] in ".;:"
    # a line of prose may begin with a number by chance; then the line before is full
    if last.text[-1:] in ".;:,!?":
        return True
    if len(block) == 1 and not is_bullet(marker) and column.ends(last) > column.end - EVEN_EDGE * line.size:
        return False  # the line before is further in because its paragraph begins with an indent
    return column.starts(line) < column.starts(last) - INDENT * line.size


def _opens_note(line: Line) -> bool:
    """Return whether a small number precedes the line's text, as in a footnote."""
    mark = line.words[0]
    return len(line.words) > 1 and mark.style.size < NOTE_MARK * line.size and mark.text.isdigit()


def _centered(a: Line, b: Line, column: Column) -> bool:
    """Return whether both lines are centered on one axis.

    Their centers agree, and their edges differ, or keep away from both edges of the column. Names in
    a list may have equal lengths by chance; then other lines begin at the same edge. Lines with a
    hanging indent begin away from the column's edge, but reach its end.
    """
    em = min(a.size, b.size)
    if abs(a.x0 + a.x1 - b.x0 - b.x1) > em:
        return False
    if abs(a.x0 - b.x0) <= em:
        starts, ends = min(map(column.starts, (a, b))), max(map(column.ends, (a, b)))
        if starts <= column.start + em or ends >= column.end - em:
            return False
    return not (column.is_edge(a) and column.is_edge(b))  # last, as it searches the whole column


def _continues_title(
    block: list[Line], line: Line, following: Line | None, pitch: float, column: Column
) -> bool:
    """Return whether the line continues a title of two or three lines in larger or bold type.

    Titles are broken by sense, so that a short line does not end them.
    """
    last = block[-1]
    if len(block) > 2 or pitch > TITLE_LEADING * line.size or last.text.endswith((".", ":", ";", "?", "!")):
        return False
    if not (column.is_title_type(last) and column.is_title_type(line)):
        return False
    if abs(column.starts(line) - column.starts(last)) > line.size or marker_of(line.words[0].text):
        return False
    return following is None or not column.is_title_type(following)


def _indented(line: Line, block: list[Line], following: Line | None, column: Column) -> bool:
    last = block[-1]
    em = line.size
    deeper = column.starts(line) - column.starts(last)
    if deeper > INDENT * em:
        # further in than the line before: a first-line indent, unless a hanging indent begins here
        if len(block) > 1:
            return True
        if marker_of(last.words[0].text):
            return False
        return following is not None and column.starts(following) < column.starts(line) - INDENT * em
    # further out: the end of a hanging indent
    return deeper < -INDENT * em and len(block) > 1


def _ended_on_purpose(last: Line, line: Line, column: Column, margin: float, continued: bool = False) -> bool:
    """Return whether ``last`` was broken deliberately: the first word of ``line`` would have fitted after it.

    ``continued``: ``last`` is not the first line of its paragraph; in mid-sentence its lines may be ragged.
    """
    if line.text[0].isalpha() and last.text[-1] in HYPHENS and last.text[-2:-1].isalpha():
        return False  # a word goes on
    if _ends_open(last, line):
        return False
    room = margin - column.ends(last)
    first = line.words[0]
    needed = first.x1 - first.x0 + SPACE * line.size
    if breaks_anywhere(first.text):
        needed = min(needed, UNBREAKABLE * line.size)
    if _is_unfinished(last, line):
        return room > max(needed, UNFINISHED_ROOM * (column.end - column.start))
    if continued and not last.text.endswith(CLOSED):
        return room > max(needed, RAGGED_ROOM * (column.end - column.start))
    return room > needed


def _ends_open(last: Line, line: Line) -> bool:
    """Return whether a line ends in a short word of small letters, as "to", "und", not in a unit of measure.

    After a number it is a unit, unless ``line``, the next one, begins with another number.

    Sentences and headings rarely end so, in any language.
    """
    if last.chars < OPEN_CHARS or len(last.words) < 2:
        return False
    word, before = last.words[-1].text, last.words[-2].text
    return (
        len(word) <= SHORT_WORD
        and word.isalpha()
        and word.islower()
        and (not before[-1].isdigit() or line.text[0].isdigit())
    )


def _is_unfinished(last: Line, line: Line) -> bool:
    """Return whether a sentence continues from ``last`` to ``line``, in lower case or with a quantity."""
    goes_on = line.words[0].text[0].islower() or _is_quantity(line)
    return goes_on and not last.text.endswith(SENTENCE_ENDS)


def _is_quantity(line: Line) -> bool:
    """Return whether the line begins with a decimal number and a unit, as "3.8 GeV", "0,3 %"."""
    if len(line.words) < 2 or not _DECIMAL.match(line.words[0].text):
        return False
    unit = line.words[1].text.rstrip(".,;:)")
    return unit in units_by_symbol() or unit in _PERCENT


def _is_quantity_or_section(line: Line) -> bool:
    """Return whether a line's first word is no marker: "3.8 GeV", "§ 4 Deposit"."""
    sign, number = (*(word.text for word in line.words[:2]), "")[:2]
    return _is_quantity(line) or (sign in ("§", "§§") and number[:1].isdigit())


# --- Listings of programs ---

# Minimum share of characters in a monospaced font.
CODE_SHARE = 0.9
# Maximum distance of lines of one listing (ems).
LISTING_LEADING = 1.5
# In a table that is a listing: share of rows that end as statements or have a remark, or begin with a prompt.
STATEMENTS, PROMPTS = 0.5, 0.25
_REMARK = re.compile(r"^(?:;|//|/\*|#+ )")
_PROMPT = re.compile(r"^(?:[>$%]|>>>|\w+[>$#]|In \[\d+\]:) \S")
_STATEMENT_END = (";", ",", "{", "}", "*/")
_DRAWN = re.compile(r"--+[+>]|[+\\/]--+")  # a diagram of characters


def is_code(block: Block) -> bool:
    """Return whether nearly all of the block is in a monospaced font."""
    if not block.lines[0].style.mono:
        return False
    mono = sum(len(word.text) for line in block.lines for word in line.words if word.style.mono)
    return mono >= CODE_SHARE * sum(len(word.text) for line in block.lines for word in line.words)


def whole_listings(blocks: Sequence[Block]) -> list[Block]:
    """Join the pieces of a listing that was split at its short lines."""
    out: list[Block] = []
    for block in blocks:
        if block.kind == "code" and out and out[-1].kind == "code":
            last, line = out[-1].lines[-1], block.lines[0]
            if 0 < line.baseline - last.baseline < LISTING_LEADING * line.size:
                out[-1].lines.extend(block.lines)
                continue
        out.append(block)
    return out


def without_listed_tables(blocks: Sequence[Block]) -> list[Block]:
    """Return the blocks, with a block of code for each table that is a listing with aligned remarks."""
    out: list[Block] = []
    for table, group in groupby(blocks, attrgetter("table")):
        rows = list(group)
        if table is not None and all(map(is_code, rows)) and _are_statements(rows):
            lines = rows_of([line for row in rows for line in row.lines])
            out.append(Block("code", [merged(row) for row in lines]))
        else:
            out += rows
    return out


def _are_statements(rows: Sequence[Block]) -> bool:
    if sum(bool(_PROMPT.match(row.text)) for row in rows) >= max(2, PROMPTS * len(rows)):
        return True
    found = [
        row.text.endswith(_STATEMENT_END)
        or any(_DRAWN.search(line.text) for line in row.lines)
        or any(_REMARK.match(cell.lines[0].text) for cell in row.cells[1:])
        for row in rows
    ]
    return sum(found) >= STATEMENTS * len(found)
