"""Regroup the blocks of a page by its structure tags, where these are sound.

The layout has found blocks and their order from the geometry; the tags decide
which lines are one paragraph, which block is a heading, a list item or a caption,
and which cells make a row. Blocks without tags, or with unsound ones, stay as they
were. A unit is a structure element that becomes one block.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from statistics import median

from pdf.extract.words import is_bullet, marker_of
from pdf.layout.lines import SAME_BASELINE, Line, merged
from pdf.layout.page_layout import Block
from pdf.layout.paragraphs import block_of
from pdf.tags.elements import BLOCKS, Element, Owners, heading_level
from pdf.tags.tables import tables_by_tags

# Least share of the characters of a page that must be in units.
TAGGED_SHARE = 0.7
# With more than this share of the tagged characters in units that are too large, the tags are rejected.
COARSE_SHARE = 0.4
# With this share of the units torn from the one before, and at least this number, the tags are rejected.
TORN_SHARE, TORN = 0.15, 3
# A pitch above both limits separates paragraphs: in ems, and relative to the unit's median pitch.
WIDEST_PITCH, OPENED = 1.5, 1.35
# Largest ratio of the type sizes of whole lines of one unit.
SIZES = 1.3
# A unit with this number of list items, or of ends of paragraphs, holds several paragraphs.
SEVERAL = 3
# A line ends before the edge when it leaves this share of its unit's width empty.
SHORT_LINE = 0.12
_ENDS = (".", "!", "?", ":", "。", "؟")
_ENDS_OR_PAUSES = tuple(".,:;!?。，؛،")


def is_coarse(lines: Sequence[Line]) -> bool:
    """Return whether the lines of one unit are clearly several paragraphs."""
    if len(lines) < 2:
        return False
    if max(line.size for line in lines) > SIZES * min(line.size for line in lines if line.chars):
        return True
    return _has_gap(lines) or _ends_often(lines) or _items(lines) >= SEVERAL


def _has_gap(lines: Sequence[Line]) -> bool:
    """Return whether a pitch of the lines is much wider than the median, or the median itself is too wide."""
    pitches = [(b.baseline - a.baseline, max(a.size, b.size)) for a, b in pairwise(lines) if _below(a, b)]
    if not pitches:
        return False
    usual = median(pitch for pitch, _ in pitches)
    return any(pitch > WIDEST_PITCH * em and pitch > OPENED * usual for pitch, em in pitches) or (
        usual > 2 * WIDEST_PITCH * pitches[0][1]
    )


def _below(a: Line, b: Line) -> bool:
    return b.baseline - a.baseline > SAME_BASELINE * b.size and min(a.x1, b.x1) > max(a.x0, b.x0)


def _ends_often(lines: Sequence[Line]) -> bool:
    """Return whether several lines before the last are short and end a sentence."""
    left, right = min(line.x0 for line in lines), max(line.x1 for line in lines)
    room = SHORT_LINE * (right - left)
    ends = [
        line
        for line in lines[:-1]
        if line.text.endswith(_ENDS) and (line.x0 - left if line.rtl else right - line.x1) > room
    ]
    return len(ends) >= SEVERAL


def _items(lines: Sequence[Line]) -> int:
    """Return the number of lines that begin with a bullet."""
    return sum(len(line.words) > 1 and is_bullet(marker_of(line.words[0].text)) for line in lines)


def are_sound(units: Mapping[int, Sequence[Line]], untagged: int) -> bool:
    """Return whether the units of a page are sound.

    ``units`` holds the lines of each unit in the order of the structure tree, ``untagged``
    is the number of characters in no unit.
    """
    chars = {unit: sum(line.chars for line in lines) for unit, lines in units.items()}
    tagged = sum(chars.values())
    if tagged < TAGGED_SHARE * (tagged + untagged):
        return False
    coarse = sum(chars[unit] for unit, lines in units.items() if is_coarse(lines))
    if coarse > COARSE_SHARE * tagged:
        return False
    torn = sum(_is_torn(a[-1], b[0]) for a, b in pairwise(units.values()))
    return torn < max(TORN, TORN_SHARE * len(units))


def _is_torn(last: Line, line: Line) -> bool:
    """Return whether a unit ends in mid-sentence: the next continues its line, or begins in lower case."""
    if abs(last.baseline - line.baseline) <= SAME_BASELINE * line.size:
        return 0 <= line.x0 - last.x1 < 0.5 * line.size
    pitch = line.baseline - last.baseline
    near = 0 < pitch < WIDEST_PITCH * line.size and last.style == line.style
    return near and line.words[0].text[0].islower() and not last.text.endswith(_ENDS_OR_PAUSES)


# The order of the tree is used where at most this share of neighbours is in reverse order on the page.
DISORDER = 0.2
_DEEPEST_ITEM = 6


@dataclass(slots=True, eq=False)
class _Group:
    """The lines of one block, or the blocks of one table. ``unit``: the number of an element, or -1."""

    unit: int
    opens_column: bool = False
    lines: list[Line] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)


def group_by_tags(blocks: Sequence[Block], elements: Sequence[Element]) -> list[Block]:
    """Return the blocks regrouped by the tags, or unchanged where the tags are not sound.

    Every word stays in exactly one block.
    """
    owners = Owners(elements)
    units: dict[int, list[Line]] = {}
    untagged = 0
    for block in blocks:
        for unit, line in _pieces(block, owners):
            if unit >= 0:
                units.setdefault(unit, []).append(line)
            elif not _is_table_or_figure(line, owners):
                untagged += line.chars
    units = {unit: _rows(units[unit]) for unit in sorted(units)}
    if not units or not are_sound(units, untagged):
        return list(blocks)
    blocks = tables_by_tags(blocks, owners)
    coarse = {unit for unit, lines in units.items() if is_coarse(lines)}
    groups = _ordered(_groups(blocks, owners, coarse))
    return [block for n, group in enumerate(groups) for block in _blocks_of(group, owners, opens_page=n == 0)]


def _pieces(block: Block, owners: Owners) -> Iterator[tuple[int, Line]]:
    """Yield the block's lines with the numbers of their units, split where the unit changes."""
    for line in block.lines:
        if line.sideways:
            yield -1, line
            continue
        tags = {word.tag for word in line.words}
        if len(tags) == 1:
            yield _unit(tags.pop(), owners), line
            continue
        for unit, words in groupby(line.words, key=lambda word: _unit(word.tag, owners)):
            yield unit, Line(list(words))


def _unit(tag: int, owners: Owners) -> int:
    return owners.unit[tag] if 0 <= tag < len(owners.unit) else -1


def _is_table_or_figure(line: Line, owners: Owners) -> bool:
    """Return whether a line is in a tagged table, figure or form, and so needs no unit."""
    tag = line.words[0].tag
    return 0 <= tag < len(owners.apart) and owners.apart[tag]


def _rows(lines: Sequence[Line]) -> list[Line]:
    """Return the lines, consecutive ones on one baseline merged."""
    rows: list[list[Line]] = []
    for line in lines:
        if rows and abs(rows[-1][-1].baseline - line.baseline) <= SAME_BASELINE * line.size:
            rows[-1].append(line)
        else:
            rows.append([line])
    return [merged(row, any(line.rtl for line in row)) for row in rows]


def _groups(blocks: Sequence[Block], owners: Owners, coarse: set[int]) -> list[_Group]:
    """Group the lines by unit, in the order of each unit's first line in the layout.

    ``coarse`` units, and lines in no unit, stay in their blocks.
    """
    groups: dict[tuple[int, int], _Group] = {}
    for number, block in enumerate(blocks):
        if block.table is not None:
            tag = next((word.tag for line in block.lines for word in line.words if word.tag >= 0), -1)
            group = groups.setdefault((-2, id(block.table)), _Group(tag, block.opens_column))
            group.blocks.append(block)
            continue
        for n, (unit, line) in enumerate(_pieces(block, owners)):
            key = (unit, number if unit < 0 or unit in coarse else -1)
            group = groups.setdefault(key, _Group(unit, block.opens_column and n == 0))
            group.lines.append(line)
            if unit < 0 or unit in coarse:
                group.blocks = [block]
    return list(groups.values())


def _ordered(groups: list[_Group]) -> list[_Group]:
    """Return the groups in the order of the tree, unless that differs much from the order on the page.

    A group without a unit stays after the group that it follows in the layout.
    """
    numbers = [group.unit for group in groups if group.unit >= 0]
    reversals = sum(a > b for a, b in pairwise(numbers))
    if reversals == 0 or reversals > max(1, DISORDER * len(numbers)):
        return groups
    last, keys = -1, []
    for place, group in enumerate(groups):
        last = group.unit if group.unit >= 0 else last
        keys.append((last, place))
    return [groups[place] for _, place in sorted(keys)]


def _blocks_of(group: _Group, owners: Owners, opens_page: bool) -> list[Block]:
    """Return the block of a group, typed by its tag, or the group's own blocks where no tag applies."""
    if not group.lines:
        return group.blocks
    lines = _rows(group.lines)
    if group.blocks:  # no sound unit: keep the layout's block, with the words left in it
        (from_layout,) = group.blocks
        words_in_layout = sum(map(len, (line.words for line in from_layout.lines)))
        block = from_layout if words_in_layout == sum(len(line.words) for line in lines) else block_of(lines)
        block.opens_column = group.opens_column
        return [block]
    role = owners.role[group.unit]
    if opens_page and role == "LI" and lines[0].text[0].islower():
        role = "P"  # continues an item of the previous page
    block = _block_of_role(lines, role, owners.depth[group.unit])
    block.opens_column = group.opens_column
    return [block]


def _block_of_role(lines: list[Line], role: str, depth: int) -> Block:
    """Return the lines as a block of the type of ``role``; ``depth`` counts the list items around it."""
    kind = BLOCKS[role]
    if kind == "prose":
        block = block_of(lines)
        block.tag_role = role
        return block
    block = Block(kind, lines, tag_role=role)
    if kind == "heading":
        block.level = heading_level(role)
    elif kind == "list":
        block.marker = marker_of(lines[0].words[0].text)
        block.level = min(_DEEPEST_ITEM, max(0, depth - 1))
    return block
