"""Paragraphs of one column, from its lines.

A new paragraph begins where the type changes, the leading opens, the first line
is indented, a list marker stands, or where the line before ended although the
next word would still have fitted: that line was broken on purpose.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from documents.pdf.fast.blocks import Block
from documents.pdf.fast.lines import Line
from documents.pdf.fast.lists import is_bullet, marker_of

# Leading that exceeds the column's own by this share opens a paragraph.
LEADING_SLACK = 1.18
# Type sizes that differ by less than this share are the same.
SIZE_SLACK = 1.08
# An indent is at least this deep (ems), and a common left edge no further off than this.
INDENT = 0.6
SAME_EDGE = 0.35


@dataclass(frozen=True, slots=True)
class Column:
    """What is common to the lines of a column: its edges and its leading by type size."""

    x0: float
    x1: float
    leading: dict[int, float]

    def leading_of(self, line: Line) -> float:
        return self.leading.get(round(line.size * 2), 1.25 * line.size)


def column_of(lines: Sequence[Line]) -> Column:
    """Measures a column. Leading is the commonest distance of baselines of one type size."""
    pitches: dict[int, Counter[int]] = {}
    for above, below in itertools.pairwise(lines):
        pitch = below.baseline - above.baseline
        if _same_size(above, below) and 0.8 * above.size < pitch < 2.2 * above.size:
            pitches.setdefault(round(above.size * 2), Counter())[round(pitch * 4)] += 1
    leading = {size: _tightest_common(counts) / 4 for size, counts in pitches.items()}
    return Column(min(line.x0 for line in lines), max(line.x1 for line in lines), leading)


def _tightest_common(counts: Counter[int]) -> float:
    """The smallest pitch that is not rare: paragraphs may be many and short."""
    most = max(counts.values())
    return min(pitch for pitch, count in counts.items() if count >= max(1, 0.34 * most))


def paragraphs(lines: Sequence[Line], leading: dict[int, float] | None = None) -> list[Block]:
    """The column's lines as prose and list blocks, top to bottom."""
    if not lines:
        return []
    column = column_of(lines)
    if leading:
        column = Column(column.x0, column.x1, {**column.leading, **leading})
    groups: list[list[Line]] = []
    for i, line in enumerate(lines):
        following = lines[i + 1] if i + 1 < len(lines) else None
        if groups and not _begins(line, groups[-1], following, column):
            groups[-1].append(line)
        else:
            groups.append([line])
    return [_block(group) for group in groups]


def _block(lines: list[Line]) -> Block:
    marker = marker_of(lines[0].words[0][4]) if len(lines[0].words) > 1 or len(lines) > 1 else ""
    if marker and (is_bullet(marker) or lines[0].words[0][4] == marker):
        return Block("list", lines, marker=marker, level=0)
    return Block("prose", lines)


def _begins(line: Line, block: list[Line], following: Line | None, column: Column) -> bool:
    """Whether the line begins a paragraph after the lines of ``block``."""
    last = block[-1]
    if not _same_size(last, line) or (last.style.bold != line.style.bold and _wholly(last) and _wholly(line)):
        return True
    pitch = line.baseline - last.baseline
    leading = block[1].baseline - block[0].baseline if len(block) > 1 else column.leading_of(line)
    if (
        pitch > LEADING_SLACK * max(leading, column.leading_of(line) if len(block) == 1 else 0)
        or pitch < 0.5 * line.size
    ):
        return True
    if _opens_item(line, last):
        return True
    if _centered(last, column) and _centered(line, column):
        return False
    if _indented(line, block, following):
        return True
    return _ended_on_purpose(last, line, block, column)


def _same_size(a: Line, b: Line) -> bool:
    return max(a.size, b.size) <= SIZE_SLACK * min(a.size, b.size)


def _wholly(line: Line) -> bool:
    """Whether the whole line is set in one weight."""
    bold = line.style.bold
    return all(word[5].bold == bold for word in line.words)


def _opens_item(line: Line, last: Line) -> bool:
    word = line.words[0][4]
    marker = marker_of(word)
    if not marker or len(line.words) == 1:
        return False
    if is_bullet(marker) and marker not in "-–—*o·":
        return True
    # a number may stand at a line's start by chance: then the line before is full
    return last.text[-1:] in ".;:,!?" or line.x0 < last.x0 - INDENT * line.size


def _centered(line: Line, column: Column) -> bool:
    left, right = line.x0 - column.x0, column.x1 - line.x1
    return left > line.size and abs(left - right) < line.size


def _indented(line: Line, block: list[Line], following: Line | None) -> bool:
    last = block[-1]
    em = line.size
    deeper = line.x0 - last.x0
    if deeper > INDENT * em:
        # deeper than the line before: a first-line indent, unless a hanging indent begins here
        if len(block) > 1:
            return True
        if marker_of(last.words[0][4]):
            return False
        return following is not None and following.x0 < line.x0 - INDENT * em
    # shallower: back out of a hanging indent
    return deeper < -INDENT * em and len(block) > 1


def _ended_on_purpose(last: Line, line: Line, block: list[Line], column: Column) -> bool:
    """Whether the first word of ``line`` would have fitted behind ``last``."""
    margin = column.x1
    first = line.words[0]
    needed = first[2] - first[0] + 0.35 * line.size
    room = margin - last.x1
    if line.rtl:
        room = last.x0 - column.x0
    return room > needed + 0.5 * line.size and room > 0.06 * (column.x1 - column.x0)
