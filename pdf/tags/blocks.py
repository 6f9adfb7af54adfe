"""The blocks of a page as its author's tags say, where these are sound.

Geometry has found blocks and their order; the tags settle which lines are one
paragraph, what is a heading, an item, a caption, and which cells make a row. What
they say nothing of, or nothing credible, stays as it was.
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

# Share of the characters that must stand in units.
TAGGED_SHARE = 0.7
# From this share of the tagged characters in units that are too large on, no unit is believed.
COARSE_SHARE = 0.4
# From this share of the units that tear what runs on, and so many, no unit is believed.
TORN_SHARE, TORN = 0.15, 3
# Within a unit no line is so far below the one before (ems), and so much further than usual.
WIDEST_PITCH, OPENED = 1.5, 1.35
# Type within a unit differs by no more than this, where whole lines are set in it.
SIZES = 1.3
# Items and ends of paragraphs in a unit from which on it is several.
SEVERAL = 3
# A line ends before the edge when it leaves so much of its unit's width empty.
SHORT_LINE = 0.12
_ENDS = (".", "!", "?", ":", "。", "؟")
_GOES_ON = tuple(".,:;!?。，؛،")


def is_coarse(lines: Sequence[Line]) -> bool:
    """Whether the lines of one unit are plainly several paragraphs."""
    if len(lines) < 2:
        return False
    if max(line.size for line in lines) > SIZES * min(line.size for line in lines if line.chars):
        return True
    return _has_gap(lines) or _ends_often(lines) or _items(lines) >= SEVERAL


def _has_gap(lines: Sequence[Line]) -> bool:
    steps = [(b.baseline - a.baseline, max(a.size, b.size)) for a, b in pairwise(lines) if _below(a, b)]
    if not steps:
        return False
    usual = median(pitch for pitch, _ in steps)
    return any(pitch > WIDEST_PITCH * em and pitch > OPENED * usual for pitch, em in steps) or (
        usual > 2 * WIDEST_PITCH * steps[0][1]
    )


def _below(a: Line, b: Line) -> bool:
    return b.baseline - a.baseline > SAME_BASELINE * b.size and min(a.x1, b.x1) > max(a.x0, b.x0)


def _ends_often(lines: Sequence[Line]) -> bool:
    """Whether sentences end, again and again, in lines that leave room."""
    left, right = min(line.x0 for line in lines), max(line.x1 for line in lines)
    room = SHORT_LINE * (right - left)
    ends = [
        line
        for line in lines[:-1]
        if line.text.endswith(_ENDS) and (line.x0 - left if line.rtl else right - line.x1) > room
    ]
    return len(ends) >= SEVERAL


def _items(lines: Sequence[Line]) -> int:
    return sum(len(line.words) > 1 and is_bullet(marker_of(line.words[0].text)) for line in lines)


def are_sound(units: Mapping[int, Sequence[Line]], untagged: int) -> bool:
    """Whether a page's units can be believed.

    ``units`` are their lines in the author's order, ``untagged`` the number of characters in none.
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
    """Whether one unit goes on with the other: in the same line, or with a small letter in the next."""
    if abs(last.baseline - line.baseline) <= SAME_BASELINE * line.size:
        return 0 <= line.x0 - last.x1 < 0.5 * line.size
    pitch = line.baseline - last.baseline
    near = 0 < pitch < WIDEST_PITCH * line.size and last.style == line.style
    return near and line.words[0].text[0].islower() and not last.text.endswith(_GOES_ON)


# The author's order is followed where at most this share of neighbours stand the other way round on the page.
DISORDER = 0.2
_DEEPEST_ITEM = 6


@dataclass(slots=True, eq=False)
class _Group:
    """Lines that make one block, or the blocks of one table."""

    unit: int
    opens_column: bool = False
    lines: list[Line] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)


def group_by_tags(blocks: Sequence[Block], elements: Sequence[Element]) -> list[Block]:
    """The blocks, those that sound tags see otherwise made anew; every word stays in exactly one."""
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
    return [block for n, group in enumerate(groups) for block in _made(group, owners, opens_page=n == 0)]


def _pieces(block: Block, owners: Owners) -> Iterator[tuple[int, Line]]:
    """The block's lines, parted where the unit changes."""
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
    """Whether it is a table's or a picture's, which need no unit of their own."""
    tag = line.words[0].tag
    return 0 <= tag < len(owners.apart) and owners.apart[tag]


def _rows(lines: Sequence[Line]) -> list[Line]:
    """The lines, those next to one another on one baseline made one."""
    rows: list[list[Line]] = []
    for line in lines:
        if rows and abs(rows[-1][-1].baseline - line.baseline) <= SAME_BASELINE * line.size:
            rows[-1].append(line)
        else:
            rows.append([line])
    return [merged(row, any(line.rtl for line in row)) for row in rows]


def _groups(blocks: Sequence[Block], owners: Owners, coarse: set[int]) -> list[_Group]:
    """The lines by unit, in the order in which geometry comes to the first of each."""
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
    """The groups in the author's order, unless it leads to and fro over the page.

    The untagged stay behind those that geometry has them behind.
    """
    numbers = [group.unit for group in groups if group.unit >= 0]
    turned = sum(a > b for a, b in pairwise(numbers))
    if turned == 0 or turned > max(1, DISORDER * len(numbers)):
        return groups
    last, keys = -1, []
    for place, group in enumerate(groups):
        last = group.unit if group.unit >= 0 else last
        keys.append((last, place))
    return [groups[place] for _, place in sorted(keys)]


def _made(group: _Group, owners: Owners, opens_page: bool) -> list[Block]:
    if not group.lines:
        return group.blocks
    lines = _rows(group.lines)
    if group.blocks:  # no unit to be believed: what geometry made of it, with the words it has
        (old,) = group.blocks
        kept = (
            old
            if sum(map(len, (line.words for line in old.lines))) == sum(len(line.words) for line in lines)
            else block_of(lines)
        )
        kept.opens_column = group.opens_column
        return [kept]
    role = owners.role[group.unit]
    if opens_page and role == "LI" and lines[0].text[0].islower():
        role = "P"  # it goes on with the item of the page before
    block = _block_of_role(lines, role, owners.depth[group.unit])
    block.opens_column = group.opens_column
    return [block]


def _block_of_role(lines: list[Line], role: str, depth: int) -> Block:
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
