"""Headings, told by the document's own type, numbering and outline."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from documents.pdf.fast.blocks import Block
from documents.pdf.fast.cells import COLUMN_GAP
from documents.pdf.fast.kinds import names_table_or_figure
from documents.pdf.fast.levels import is_capitals, section_number, set_levels
from documents.pdf.fast.lists import is_bullet
from documents.pdf.fast.sheets import Sheet
from documents.pdf.fast.words import Style
from documents.pdf.structure import OutlineEntry

# A heading is set this much larger than the body, or bold, and is no longer than this.
LARGER = 1.1
HEADING_LINES = 4
HEADING_CHARS = 220
BOLD_CHARS = 140
# Type that holds this share of the running text is no type of headings, however large.
RUNNING_SHARE = 0.2
# Capitals tell nothing where this share of the short blocks, and so many of them, are set in them.
SHOUTED_SHARE, SHOUTED = 0.35, 8
# A colour is usual when so much of the text is set in it, or a block of more lines than this.
COLOR_SHARE, COLOR_LINES = 0.1, 2

_ADDRESS = re.compile(r"@|://|www\.")
_NAMED = re.compile(
    r"^(?:chapter|part|item|section|appendix|annex|article|note|глава|раздел|第.{1,4}[章节節])\s*[\divxlc一二三四五六七八九十]",
    re.I,
)
_SENTENCE_END = tuple(".;,:。；，؛،!")
# The dot of an abbreviation ends no sentence: ``3.3 H.E.S.S.``
_INITIALS = re.compile(r"(?:\b\w\.){3,}$")
_WORDS = re.compile(r"\W+")


class Body(NamedTuple):
    """The type of the running text: commonest size and weight, largest size, whether capitals are usual.

    ``colors`` are those that text of several lines is set in, or a good part of all.
    """

    size: float
    bold: bool
    largest: float
    capitals: bool
    colors: frozenset[int]


def name_headings(sheets: Sequence[Sheet], outline: Iterable[OutlineEntry] = ()) -> None:
    """Gives the kind ``heading`` and a level to the blocks that head what follows.

    What sound tags call a paragraph is none, unless it is set larger, where they name most of the headings.
    """
    body = _body([block for sheet in sheets for block in sheet.blocks if block.table is None])
    titles = {(entry.page, _plain(entry.title)): entry.level for entry in outline}
    found: list[Block] = []
    denied: list[Block] = []
    for sheet in sheets:
        for i, block in enumerate(sheet.blocks):
            following = sheet.blocks[i + 1] if i + 1 < len(sheet.blocks) else None
            told = titles.get((sheet.raw.number, _plain(block.text))) if titles else None
            if block.kind == "heading" and block.told:
                block.level = told or block.level
                found.append(block)
            elif _is_heading(block, following, body, told is not None):
                doubtful = block.told == "P" and told is None and not _is_larger(block, body)
                (denied if doubtful else found).append(block)
                block.level = told
    if len(denied) > sum(bool(block.told) for block in found):  # its headings are tagged as paragraphs
        both = {*found, *denied}
        found = [block for sheet in sheets for block in sheet.blocks if block in both]
    for block in found:
        block.kind, block.marker = "heading", ""
    set_levels(found)


def _body(blocks: Sequence[Block]) -> Body:
    weight: Counter[tuple[float, bool]] = Counter()
    running: Counter[float] = Counter()
    colors: Counter[int] = Counter()
    for style, chars in _chars_by_type(blocks).items():
        weight[_half_points(style.size), style.bold] += chars
        colors[style.color] += chars
    for style, chars in _chars_by_type([block for block in blocks if len(block.lines) > 1]).items():
        running[_half_points(style.size)] += chars
    usual = {color for color, chars in colors.items() if chars >= COLOR_SHARE * colors.total()}
    usual |= {line.style.color for block in blocks if len(block.lines) > COLOR_LINES for line in block.lines}
    size, bold = weight.most_common(1)[0][0] if weight else (10.0, False)
    least = RUNNING_SHARE * running.total()
    largest = max((other for other, chars in running.items() if chars >= least), default=size)
    return Body(size, bold, max(size, largest), _shouts(blocks), frozenset(usual))


def _chars_by_type(blocks: Sequence[Block]) -> dict[Style, int]:
    chars: defaultdict[Style, int] = defaultdict(int)
    for block in blocks:
        for line in block.lines:
            chars[line.style] += line.chars
    return chars


def _half_points(size: float) -> float:
    return round(size * 2) / 2


def _shouts(blocks: Sequence[Block]) -> bool:
    """Whether capitals are how this document writes, as forms do."""
    short = [block.text for block in blocks if len(block.lines) <= 2]
    shouted = sum(map(is_capitals, short))
    return shouted >= SHOUTED and shouted >= SHOUTED_SHARE * len(short)


def _is_heading(block: Block, following: Block | None, body: Body, in_outline: bool) -> bool:
    if block.table is not None or len(block.lines) > HEADING_LINES:
        return False
    text = block.text
    if len(text) > HEADING_CHARS or not any(map(str.isalpha, text)) or block.lines[0].sideways:
        return False
    if in_outline:
        return not is_bullet(block.marker)
    bold = not body.bold and _wholly(block, "bold")
    introduces = bold and text.endswith(":") and len(block.lines) == 1
    if (
        text.endswith(_SENTENCE_END)
        and not _INITIALS.search(text)
        and not introduces
        and not (_NAMED.match(text) and len(text) < BOLD_CHARS)
    ):
        return False
    if names_table_or_figure(block) or _heads_columns(block, following):
        return False
    numbered = bool(section_number(text) or _NAMED.match(text))
    if block.kind == "list" and not numbered:
        return False
    if _is_larger(block, body):
        return len(text) <= BOLD_CHARS or numbered
    if max(line.size for line in block.lines) < 0.9 * body.size or len(text) > BOLD_CHARS:
        return False
    if bold or _is_tinted(block, following, body):
        return True
    if is_capitals(text) and not body.capitals and len(block.lines) <= 2 and len(text) > 3:
        return following is None or following.kind != "table"
    return numbered and _wholly(block, "italic") and len(block.lines) <= 2


def _is_larger(block: Block, body: Body) -> bool:
    return max(line.size for line in block.lines) >= LARGER * body.largest


def _is_tinted(block: Block, following: Block | None, body: Body) -> bool:
    """Whether a line over a text stands out by its colour alone, as headings of word processors do.

    Links are coloured too, but stand in lines, or hold an address.
    """
    style = block.lines[0].style
    if style.color in body.colors or style.size < body.size or len(block.lines) > COLOR_LINES:
        return False
    if following is None or following.table is not None or following.lines[0].style.color not in body.colors:
        return False
    words = [word for line in block.lines for word in line.words]
    return all(word.style.color == style.color for word in words) and not _ADDRESS.search(block.text)


def _heads_columns(block: Block, following: Block | None) -> bool:
    """Whether wide gaps part the words of a single line above a table: the heads of its columns."""
    if following is None or following.table is None or len(block.lines) > 1:
        return False
    line = block.lines[0]
    return any(b.x0 - a.x1 > COLUMN_GAP * line.size for a, b in pairwise(line.words))


def _wholly(block: Block, trait: str) -> bool:
    """Whether all words have the trait, and there are any: signs alone (``"a":``, ``#!``) tell nothing."""
    told = (
        getattr(word.style, trait) for line in block.lines for word in line.words if word.text[:1].isalnum()
    )
    return next(told, False) and all(told)


def _plain(text: str) -> str:
    return _WORDS.sub("", text).casefold()
