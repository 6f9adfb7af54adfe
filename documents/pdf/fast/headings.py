"""Headings and their levels, from the document's own type, numbering and outline."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from documents.pdf.fast.blocks import Block
from documents.pdf.fast.lists import is_bullet
from documents.pdf.fast.sheets import Sheet
from documents.pdf.structure import OutlineEntry

# A heading is set this much larger than the body, or bold, and is no longer than this.
LARGER = 1.1
HEADING_LINES = 4
HEADING_CHARS = 220
BOLD_CHARS = 140
DEEPEST = 6

_NUMBERING = re.compile(
    r"^(?:(?:chapter|part|item|section|appendix|annex|article)\s+)?([A-Z]?\d{0,2}(?:\.\d{1,3}){0,5})\.?[\s\u3000]",
    re.I,
)
_NAMED = re.compile(
    r"^(?:chapter|part|item|section|appendix|annex|article|note|глава|раздел|第.{1,4}[章节節])\s*[\divxlc一二三四五六七八九十]",
    re.I,
)
_SENTENCE_END = tuple(".;,:。；，؛،!")
_WORDS = re.compile(r"\W+")

StyleKey = tuple[float, bool, bool]


def name_headings(sheets: Sequence[Sheet], outline: Iterable[OutlineEntry] = ()) -> None:
    """Gives the kind ``heading`` and a level to the blocks that head what follows."""
    blocks = [block for sheet in sheets for block in sheet.blocks]
    body, body_bold = _body_type(blocks)
    titles = {(entry.page, _plain(entry.title)): entry.level for entry in outline}
    found: list[Block] = []
    for sheet in sheets:
        for i, block in enumerate(sheet.blocks):
            following = sheet.blocks[i + 1] if i + 1 < len(sheet.blocks) else None
            told = titles.get((sheet.raw.number, _plain(block.text))) if titles else None
            if _is_heading(block, following, body, body_bold, told is not None):
                block.kind, block.marker, block.level = "heading", "", told
                found.append(block)
    _set_levels(found)


def _body_type(blocks: Iterable[Block]) -> tuple[float, bool]:
    """Size and weight of the type that most of the running text is set in."""
    weight: Counter[tuple[float, bool]] = Counter()
    for block in blocks:
        if block.table is None:
            for line in block.lines:
                weight[round(line.size * 2) / 2, line.style.bold] += line.chars
    return weight.most_common(1)[0][0] if weight else (10.0, False)


def _is_heading(
    block: Block, following: Block | None, body: float, body_bold: bool, in_outline: bool
) -> bool:
    if block.table is not None or len(block.lines) > HEADING_LINES:
        return False
    text = block.text
    if len(text) > HEADING_CHARS or not any(map(str.isalpha, text)) or block.lines[0].sideways:
        return False
    if in_outline:
        return not is_bullet(block.marker)
    if text.endswith(_SENTENCE_END) and not (_NAMED.match(text) and len(text) < BOLD_CHARS):
        return False
    numbered = bool(_number_of(text) or _NAMED.match(text))
    if block.kind == "list" and not numbered:
        return False
    size = max(line.size for line in block.lines)
    if size >= LARGER * body:
        return len(text) <= BOLD_CHARS or numbered
    if size < 0.9 * body or len(text) > BOLD_CHARS:
        return False
    if _wholly(block, "bold") and not body_bold:
        return True
    if _is_capitals(text) and len(block.lines) <= 2 and len(text) > 3:
        return following is None or following.kind != "table"
    return numbered and _wholly(block, "italic") and len(block.lines) <= 2


def _wholly(block: Block, trait: str) -> bool:
    return all(
        getattr(word[5], trait) for line in block.lines for word in line.words if word[4][:1].isalnum()
    )


def _is_capitals(text: str) -> bool:
    letters = [c for c in text if c.isalpha()]
    return len(letters) >= 4 and all(c.isupper() for c in letters) and any(len(w) > 3 for w in text.split())


def _number_of(text: str) -> str:
    """The section number that the text begins with, or ''."""
    match = _NUMBERING.match(text)
    number = match.group(1) if match else ""
    return number if any(map(str.isdigit, number)) else ""


def _plain(text: str) -> str:
    return _WORDS.sub("", text).casefold()


def _set_levels(found: Sequence[Block]) -> None:
    """Levels by rank of type; the numbering deepens them, the outline has the last word."""
    ranks = _ranks(found)
    base: int | None = None
    for block in found:
        key = _style_key(block)
        level = ranks[key]
        number = _number_of(block.text)
        depth = number.count(".") if number else 0
        if number:
            if base is None:
                base = level - depth
            level = max(1, base) + depth
        block.level = min(DEEPEST, block.level if block.level is not None else max(1, level))


def _style_key(block: Block) -> StyleKey:
    style = block.lines[0].style
    return round(style.size * 2) / 2, style.bold, _is_capitals(block.text)


def _ranks(found: Iterable[Block]) -> dict[StyleKey, int]:
    keys = sorted({_style_key(block) for block in found}, reverse=True)
    return {key: min(DEEPEST, rank) for rank, key in enumerate(keys, 1)}
