"""What a block of text is besides prose: code, formula, caption, footnote."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from pdf.layout.lines import is_math_font
from pdf.layout.page_layout import Block, PageLayout

# Share of the characters set in a typewriter face that makes a block code, of math faces a formula.
CODE_SHARE = 0.9
MATH_SHARE = 0.4
# Lines of one listing are at most this far apart (ems).
LISTING_LEADING = 1.5
FORMULA_WORDS = 30
# A displayed equation's number stands this far behind it (ems); a longer word is not a formula's.
NUMBER_GAP = 2.0
SYMBOL_CHARS = 3
CAPTION_LINES = 12
# A footnote is set smaller than the body by this share, and stands in this part of the page.
FOOTNOTE_SIZE = 0.93
FOOTNOTE_FROM = 0.5

_FIGURES = (
    r"fig(?:ure|\.)?|table|tab\.|abb(?:ildung|\.)|tabelle|tableau|"
    r"figura|tabla|рис(?:унок|\.)|таблица|الشكل|شكل|الجدول|جدول|図|表|图|圖|그림|표"
)
_NUMBER = (
    r"\s*[A-Z]?[\d٠-٩۰-۹]+(?:[.\-–][\d٠-٩]+)*[a-z]?\s*"
    r"(?:[.:：|–—\-)]|[A-Z\u0400-\u04ff\u0600-\u06ff\u3000-\u9fff]|$)"
)
_TABLE_OR_FIGURE = re.compile(rf"^(?:{_FIGURES}){_NUMBER}", re.IGNORECASE)
_CAPTION = re.compile(
    rf"^(?:{_FIGURES}|chart|exhibit|scheme|plate|box|algorithm|listing){_NUMBER}", re.IGNORECASE
)
_CAPTION_CASE = re.compile(r"^\S+\s*\S+\s+[a-z]")
_MATH_SIGN = re.compile(r"[=≈≤≥∑∫∏√±×÷∂∇∈∞→⇒∀∃]")
_RELATION = re.compile(r"[=≈≤≥≡∝<>]")
_EQUATION_NUMBER = re.compile(r"^\(\d+(?:\.\d+)*[a-z]?\)$")
_LETTERS = re.compile(r"[^\W\d_]+")
_NOTE = re.compile(
    r"^(?:[*†‡§¶#]{1,3}|\(?\d{1,3}[).]?|\([a-z]\)|[a-z]\)|[¹²³⁰-⁹]+)(?:\s|(?=[A-Z]))|^(?:notes?|source)\b[:.]?",
    re.IGNORECASE,
)


def classify_blocks(page_layouts: Sequence[PageLayout]) -> None:
    """Names captions, footnotes, code and formulas among the prose and list blocks."""
    body = _body_size(page_layouts)
    for page_layout in page_layouts:
        for block in page_layout.blocks:
            if block.kind not in ("prose", "list"):
                continue
            if _is_code(block):
                block.kind = "code"
            elif is_caption(block):
                block.kind = "caption"
            elif _is_footnote(block, page_layout, body):
                block.kind = "footnote"
            elif _is_formula(block):
                block.kind = "formula"
        page_layout.blocks = _whole_listings(page_layout.blocks)


def _body_size(page_layouts: Sequence[PageLayout]) -> float:
    weight: defaultdict[float, int] = defaultdict(int)
    for page_layout in page_layouts:
        for block in page_layout.blocks:
            if block.kind in ("prose", "list"):
                for line in block.lines:
                    weight[line.size] += line.chars
    return max(weight, key=weight.__getitem__, default=10.0)


def _is_code(block: Block) -> bool:
    if not block.lines[0].style.mono:
        return False
    mono = sum(len(word.text) for line in block.lines for word in line.words if word.style.mono)
    return mono >= CODE_SHARE * sum(len(word.text) for line in block.lines for word in line.words)


def is_caption(block: Block) -> bool:
    """Whether it begins as captions do: ``Table 2. …``; not as a sentence about one: ``Table 2 shows …``."""
    if len(block.lines) > CAPTION_LINES:
        return False
    text = block.lines[0].text
    return bool(_CAPTION.match(text)) and not _CAPTION_CASE.match(text)


def names_table_or_figure(block: Block) -> bool:
    """Whether it is the caption of a table or figure: set bold or large it would pass for a heading."""
    return is_caption(block) and bool(_TABLE_OR_FIGURE.match(block.lines[0].text))


def _is_footnote(block: Block, page_layout: PageLayout, body: float) -> bool:
    line = block.lines[0]
    return (
        line.size <= FOOTNOTE_SIZE * body
        and line.y0 > FOOTNOTE_FROM * page_layout.height
        and (bool(_NOTE.match(line.text)) or line.words[0].style.size < 0.8 * line.size)
    )


def _is_formula(block: Block) -> bool:
    if sum([len(line.words) for line in block.lines]) > FORMULA_WORDS:
        return False
    if _is_numbered_equation(block):
        return True
    if not _MATH_SIGN.search(block.text):
        return False
    words = [word for line in block.lines for word in line.words]
    return sum(is_math_font(word.style.font) for word in words) >= MATH_SHARE * len(words)


def _is_numbered_equation(block: Block) -> bool:
    """Whether it is one line with an equals sign or its like, no long word, its number far behind."""
    line = block.lines[0]
    *equation, number = line.words
    if len(block.lines) > 1 or not equation or not _EQUATION_NUMBER.match(number.text):
        return False
    return (
        number.x0 - equation[-1].x1 >= NUMBER_GAP * line.size
        and any(_RELATION.search(word.text) for word in equation)
        and not any(len(run) > SYMBOL_CHARS for word in equation for run in _LETTERS.findall(word.text))
    )


def _whole_listings(blocks: list[Block]) -> list[Block]:
    """Pieces of one listing, parted at its short lines, made one again."""
    out: list[Block] = []
    for block in blocks:
        if block.kind == "code" and out and out[-1].kind == "code":
            last, line = out[-1].lines[-1], block.lines[0]
            if 0 < line.baseline - last.baseline < LISTING_LEADING * line.size:
                out[-1].lines.extend(block.lines)
                continue
        out.append(block)
    return out
