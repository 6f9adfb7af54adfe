"""Classify blocks: code, formulas, captions, footnotes; headings, with their levels and sections.

Headings are found by the document's type sizes, numbering and outline. Levels follow the rank of type,
numbering, and the nesting of series such as chapters, parts and items.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise, zip_longest
from typing import NamedTuple

from pdf.extract.words import Style, comes_next, is_bullet, marker_of
from pdf.layout.lines import COLUMN_GAP, is_math_font, is_numbered_equation, looks_like_code
from pdf.layout.page_layout import Block, PageLayout
from pdf.layout.paragraphs import is_code, whole_listings, without_listed_tables
from pdf.structure import OutlineEntry, section_type

# A document with a larger share is monospaced as a whole: the font does not mark code.
TYPED_SHARE = 0.7
# Minimum share of characters in math fonts of a formula.
MATH_SHARE = 0.4
FORMULA_WORDS = 30
CAPTION_LINES = 12
# Footnotes: maximum size relative to the body, minimum place on the page (share of its height).
FOOTNOTE_SIZE = 0.93
FOOTNOTE_FROM = 0.5

_FIGURES = (
    r"fig(?:ure|\.)?|table|tab\.|abb(?:ildung|\.)|tabelle|tableau|"
    r"figura|tabla|рис(?:унок|\.)|таблица|الشكل|شكل|الجدول|جدول|図|表|图|圖|그림|표"
)
_NUMBER = (
    r"\s*(?:[A-Z]?[\d٠-٩۰-۹]+(?:[.\-–][\d٠-٩]+)*[a-z]?|\b(?-i:[IVX]+)\b)\s*"
    r"(?:[.:：|–—\-)]|[A-Z\u0400-\u04ff\u0600-\u06ff\u3000-\u9fff]|$)"
)
_TABLE_OR_FIGURE = re.compile(rf"^(?:{_FIGURES}){_NUMBER}", re.IGNORECASE)
_CAPTION = re.compile(
    rf"^(?:{_FIGURES}|chart|exhibit|scheme|plate|box|algorithm|listing){_NUMBER}", re.IGNORECASE
)
_CAPTION_CASE = re.compile(r"^\S+\s*\S+\s+[a-z]")
_MATH_SIGN = re.compile(r"[=≈≤≥∑∫∏√±×÷∂∇∈∞→⇒∀∃]")
_NOTE = re.compile(
    r"^(?:[*†‡§¶#]{1,3}|\(?\d{1,3}[).]?|\([a-z]\)|[a-z]\)|[¹²³⁰-⁹]+)(?:\s|(?=[A-Z]))|^(?:notes?|source)\b[:.]?",
    re.IGNORECASE,
)


def classify_blocks(page_layouts: Sequence[PageLayout]) -> None:
    """Set the kind of captions, footnotes, code and formulas among the prose and list blocks."""
    texts = [b for sheet in page_layouts for b in sheet.blocks if b.kind in ("prose", "list")]
    body, is_typed = _body_size(texts), _are_typed(texts)
    for page_layout in page_layouts:
        if not is_typed:
            page_layout.blocks = without_listed_tables(page_layout.blocks)
        for block in page_layout.blocks:
            if block.kind not in ("prose", "list"):
                continue
            if is_code(block) and not (is_typed and not looks_like_code(block.lines)):
                block.kind = "code"
            elif is_caption(block):
                block.kind = "caption"
            elif _is_footnote(block, page_layout, body):
                block.kind = "footnote"
            elif _is_formula(block):
                block.kind = "formula"
        page_layout.blocks = whole_listings(page_layout.blocks)


def _body_size(texts: Sequence[Block]) -> float:
    weight: defaultdict[float, int] = defaultdict(int)
    for line in (line for block in texts for line in block.lines):
        weight[line.size] += line.chars
    return max(weight, key=weight.__getitem__, default=10.0)


def _are_typed(texts: Sequence[Block]) -> bool:
    """Return whether the document as a whole is monospaced, as transcripts are, and not a listing."""
    typed = [block for block in texts if is_code(block)]
    plain = [block for block in typed if not looks_like_code(block.lines)]
    groups = (texts, typed, plain)
    every, most, rest = (sum(line.chars for block in group for line in block.lines) for group in groups)
    return most > TYPED_SHARE * every and rest > TYPED_SHARE * most


def is_caption(block: Block) -> bool:
    """Return whether a block is a caption: ``Table 2. …``; not a sentence about one: ``Table 2 shows …``."""
    if len(block.lines) > CAPTION_LINES:
        return False
    text = block.lines[0].text
    return bool(_CAPTION.match(text)) and not _CAPTION_CASE.match(text)


def names_table_or_figure(block: Block) -> bool:
    """Return whether it is the caption of a table or figure, which may look like a heading."""
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
    if len(block.lines) == 1 and is_numbered_equation(block.lines):
        return True
    if not _MATH_SIGN.search(block.text):
        return False
    words = [word for line in block.lines for word in line.words]
    return sum(is_math_font(word.style.font) for word in words) >= MATH_SHARE * len(words)


# --- Headings ---

DEEPEST = 6

_NUMBERING = re.compile(
    r"^(?:(?:chapter|part|item|section|appendix|annex|article)\s+)?([A-Z]?\d{0,2}(?:\.\d{1,3}){0,5})\.?[\s\u3000]",
    re.I,
)
_SERIES = re.compile(
    r"^(?:(chapter|part|item|section|appendix|annex|article|note|глава|раздел)\s*[\divxlc]"
    r"|第.{1,4}([章节節])\s*[\divxlc一二三四五六七八九十]?)",
    re.I,
)

# The nesting of series, outermost first.
_OUTERMOST_FIRST = (
    *("part", "раздел", "appendix", "annex", "chapter", "глава", "章", "article", "section"),
    *("节", "節", "item", "note"),
)

# Size, bold, in capitals: greater is higher up.
StyleKey = tuple[float, bool, bool]


def section_number(text: str) -> str:
    """Return the number that the text begins with (``2.1``), or ''."""
    match = _NUMBERING.match(text)
    number = match.group(1) if match else ""
    return number if any(map(str.isdigit, number)) else ""


def series_of(text: str) -> str:
    """Return the series of a heading: ``item`` of ``Item 7A. …``; or ''."""
    match = _SERIES.match(text)
    return next(filter(None, match.groups()), "").casefold() if match else ""


def is_capitals(text: str) -> bool:
    if not text.isupper():  # decides most texts
        return False
    letters = [c for c in text if c.isalpha()]
    return len(letters) >= 4 and all(c.isupper() for c in letters) and any(len(w) > 3 for w in text.split())


def set_levels(headings: Sequence[Block]) -> None:
    """Set the level of each heading, 1 to 6; levels of the outline are kept."""
    series = [series_of(heading.text) for heading in headings]
    levels = _below_series(_by_type(headings), series)
    dense = {level: rank for rank, level in enumerate(sorted(set(levels)), 1)}
    for heading, level in zip(headings, levels, strict=True):
        if heading.level is None:
            heading.level = min(DEEPEST, dense[level])


def _below_series(levels: Sequence[int], series: Sequence[str]) -> list[int]:
    """Return the levels, with those between two members of a series deeper than the series."""
    around = _series_around(series)
    of_series = _levels_of_series(series, around, levels)
    highest: dict[str, int] = {}
    for level, enclosing, own in zip(levels, around, series, strict=True):
        if enclosing and not own:
            highest[enclosing[-1]] = min(level, highest.get(enclosing[-1], level))
    found = []
    for level, own, enclosing in zip(levels, series, around, strict=True):
        if own:
            level = of_series[own]
        elif enclosing:
            level = max(level, of_series[enclosing[-1]] + 1 + level - highest[enclosing[-1]])
        found.append(level)
    return found


def _by_type(headings: Sequence[Block]) -> list[int]:
    """Return levels by rank of type and numbering; levels of the outline override."""
    ranks = _ranks(headings)
    base: int | None = None
    levels = []
    for heading in headings:
        level = ranks[_style_key(heading)]
        number = section_number(heading.text)
        if number and not series_of(heading.text):
            depth = number.count(".")
            if base is None:
                base = level - depth
            level = max(1, base) + depth
        levels.append(max(1, level) if heading.level is None else heading.level)
    return levels


def _style_key(block: Block) -> StyleKey:
    style = block.lines[0].style
    return round(style.size * 2) / 2, style.bold, is_capitals(block.text)


def _ranks(headings: Iterable[Block]) -> dict[StyleKey, int]:
    keys = sorted({_style_key(heading) for heading in headings}, reverse=True)
    return {key: rank for rank, key in enumerate(keys, 1)}


def _series_around(series: Sequence[str]) -> list[list[str]]:
    """Return, for each heading, the series around it, outermost first: it is between two of their members."""
    order = _in_order(series)
    begin = {name: series.index(name) for name in order}
    end = {name: len(series) - 1 - series[::-1].index(name) for name in order}
    return [
        [name for name in order[: order.index(own) if own else None] if begin[name] < place < end[name]]
        for place, own in enumerate(series)
    ]


def _in_order(series: Sequence[str]) -> list[str]:
    return sorted(set(filter(None, series)), key=_OUTERMOST_FIRST.index)


def _levels_of_series(
    series: Sequence[str], around: Sequence[Sequence[str]], by_type: Sequence[int]
) -> dict[str, int]:
    """Return one level for all members of a series, below the series around it."""
    levels: dict[str, int] = {}
    for name in _in_order(series):
        members = [place for place, own in enumerate(series) if own == name]
        outer = [levels[other] + 1 for place in members for other in around[place]]
        levels[name] = max([min(by_type[place] for place in members), *outer])
    return levels


# Headings: minimum size relative to the body, unless bold, and maximum lines.
LARGER = 1.1
# Minimum size of other headings relative to the body, and of bold ones with numbers such as ``2.1.3``.
SMALLEST, SMALL_SUBSECTION = 0.9, 0.7
HEADING_LINES = 4
HEADING_CHARS = 220
BOLD_CHARS = 140
# Numbers with this many dots begin a section heading where they are in another font than the text.
SUBSECTION_DOTS = 2
# Type with this share of the running text is not that of headings, however large.
RUNNING_SHARE = 0.2
# Capitals do not mark headings where this share and number of the short blocks are in capitals.
SHOUTED_SHARE, SHOUTED = 0.35, 8
# A colour is usual with this share of the text, or in a block of more lines than this.
COLOR_SHARE, COLOR_LINES = 0.1, 2

_ADDRESS = re.compile(r"@|://|www\.")
_NAMED = re.compile(
    r"^(?:chapter|part|item|section|appendix|annex|article|note|глава|раздел|第.{1,4}[章节節])\s*[\divxlc一二三四五六七八九十]",
    re.I,
)
_LETTERED = re.compile(r"^(?:[IVX]{1,5}|[A-Z])\.\s+[^\W\d_]")
_SENTENCE_END = tuple(".;,:。；，؛،!")
# The dot of an abbreviation does not end a sentence: ``3.3 H.E.S.S.``
_INITIALS = re.compile(r"(?:\b\w\.){3,}$")
_WORDS = re.compile(r"\W+")


class Body(NamedTuple):
    """The type of the running text: most common size and weight, largest size, whether capitals are usual.

    ``colors``: those of blocks of several lines, or of a large share of the text; ``font``: the most common.
    """

    size: float
    bold: bool
    largest: float
    capitals: bool
    colors: frozenset[int]
    font: str


def mark_headings(page_layouts: Sequence[PageLayout], outline: Iterable[OutlineEntry] = ()) -> None:
    """Set the kind ``heading`` and a level of headings.

    A paragraph by sound tags is not one, unless it is larger, where the tags mark most of the headings.
    """
    body = _body(
        [block for page_layout in page_layouts for block in page_layout.blocks if block.table is None]
    )
    titles = {(entry.page, _plain(entry.title)): entry.level for entry in outline}
    found: list[Block] = []
    denied: list[Block] = []
    for page_layout in page_layouts:
        entries = page_layout.contents_entries()
        before: Block | None = None
        for block, following in zip_longest(page_layout.blocks, page_layout.blocks[1:]):
            above, before = before, block
            level = _level_in_outline(block.text, page_layout.raw.number, titles) if titles else None
            if block.kind == "heading" and block.tag_role:
                block.level = level or block.level
                found.append(block)
            elif level is None and (
                _is_formula(block)
                or any(field.contains(*block.rect.center) for field in page_layout.fields)
                or (_is_in_listing(above, block, following) and not _is_larger(block, body))
            ):
                continue
            elif block not in entries and _is_heading(block, following, body, level is not None):
                doubtful = block.tag_role == "P" and level is None and not _is_larger(block, body)
                (denied if doubtful else found).append(block)
                block.level = level
    if len(denied) > sum(bool(block.tag_role) for block in found):  # its headings are tagged as paragraphs
        both = {*found, *denied}
        found = [block for page_layout in page_layouts for block in page_layout.blocks if block in both]
    for block in found:
        block.kind, block.marker = "heading", ""
    set_levels(found)


def _level_in_outline(text: str, page: int, titles: Mapping[tuple[int, str], int]) -> int | None:
    """Return the level of the outline's entry for this page and text; outlines may omit the numbers."""
    number, _, title = text.partition(" ")
    level = titles.get((page, _plain(text)))
    return titles.get((page, _plain(title))) if level is None and marker_of(number) else level


def _body(blocks: Sequence[Block]) -> Body:
    weight: Counter[tuple[float, bool]] = Counter()
    running: Counter[float] = Counter()
    colors: Counter[int] = Counter()
    fonts: Counter[str] = Counter()
    for style, chars in _chars_by_type(blocks).items():
        fonts[style.font] += chars
        weight[_half_points(style.size), style.bold] += chars
        colors[style.color] += chars
    for style, chars in _chars_by_type([block for block in blocks if len(block.lines) > 1]).items():
        running[_half_points(style.size)] += chars
    usual = {color for color, chars in colors.items() if chars >= COLOR_SHARE * colors.total()}
    usual |= {line.style.color for block in blocks if len(block.lines) > COLOR_LINES for line in block.lines}
    size, bold = weight.most_common(1)[0][0] if weight else (10.0, False)
    least = RUNNING_SHARE * running.total()
    largest = max((other for other, chars in running.items() if chars >= least), default=size)
    font = fonts.most_common(1)[0][0] if fonts else ""
    return Body(size, bold, max(size, largest), _shouts(blocks), frozenset(usual), font)


def _chars_by_type(blocks: Sequence[Block]) -> dict[Style, int]:
    chars: defaultdict[Style, int] = defaultdict(int)
    for block in blocks:
        for line in block.lines:
            chars[line.style] += line.chars
    return chars


def _half_points(size: float) -> float:
    return round(size * 2) / 2


def _shouts(blocks: Sequence[Block]) -> bool:
    """Return whether capitals are usual in this document, as in forms."""
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
    numbered = bool(section_number(text) or _NAMED.match(text) or _is_lettered(block, following))
    if block.kind == "list" and not numbered:
        return False
    if _is_larger(block, body):
        return len(text) <= BOLD_CHARS or numbered
    least = SMALL_SUBSECTION if bold and section_number(text).count(".") >= SUBSECTION_DOTS else SMALLEST
    if _size(block) < least * body.size or len(text) > BOLD_CHARS:
        return False
    if bold or _is_tinted(block, following, body):
        return True
    if is_capitals(text) and not body.capitals and len(block.lines) <= 2 and len(text) > 3:
        return following is None or following.kind != "table"
    if not numbered or len(block.lines) > 2:
        return False
    return _wholly(block, "italic") or (
        # the weight of a font without a name is unknown
        section_number(text).count(".") >= SUBSECTION_DOTS
        and not any(
            word.style.mono or word.style.font == body.font for line in block.lines for word in line.words
        )
    )


def _is_in_listing(above: Block | None, block: Block, following: Block | None) -> bool:
    """Return whether it is a line of a program beside others: listings may be set in bold type."""
    if not is_code(block) or not looks_like_code(block.lines):
        return False
    return any(other is not None and is_code(other) for other in (above, following))


def _is_lettered(block: Block, following: Block | None) -> bool:
    """Return whether it begins with a letter or a Roman number (``IV.``), and no list continues below it."""
    if not _LETTERED.match(block.text) or len(block.lines) > 2:
        return False
    return following is None or not comes_next(following.marker, block.marker)


def _is_larger(block: Block, body: Body) -> bool:
    return max(line.size for line in block.lines) >= LARGER * body.largest


def _size(block: Block) -> float:
    """Return the type size; of small capitals that of the first letters."""
    sizes = [line.size for line in block.lines]
    if is_capitals(block.text):
        sizes += [word.style.size for line in block.lines for word in line.words]
    return max(sizes)


def _is_tinted(block: Block, following: Block | None, body: Body) -> bool:
    """Return whether a line above a text is marked only by its colour, as headings of word processors are.

    Links are coloured too, but are within lines, or have an address.
    """
    style = block.lines[0].style
    if style.color in body.colors or style.size < body.size or len(block.lines) > COLOR_LINES:
        return False
    if following is None or following.table is not None or following.lines[0].style.color not in body.colors:
        return False
    words = [word for line in block.lines for word in line.words]
    return all(word.style.color == style.color for word in words) and not _ADDRESS.search(block.text)


def _heads_columns(block: Block, following: Block | None) -> bool:
    """Return whether a single line above a table has wide gaps: the heads of its columns."""
    if following is None or following.table is None or len(block.lines) > 1:
        return False
    line = block.lines[0]
    return any(b.x0 - a.x1 > COLUMN_GAP * line.size for a, b in pairwise(line.words))


def _wholly(block: Block, trait: str) -> bool:
    """Return whether all words have the trait; signs without letters (``#!``) are ignored."""
    traits = (
        getattr(word.style, trait) for line in block.lines for word in line.words if word.text[:1].isalnum()
    )
    return next(traits, False) and all(traits)


def _plain(text: str) -> str:
    return _WORDS.sub("", text).casefold()


def assign_sections(page_layouts: Sequence[PageLayout]) -> None:
    """Set the section path of each block, outermost heading first, and the kind of its section."""
    open_: list[Block] = []
    path: tuple[str, ...] = ()
    kind = ""
    for page_layout in page_layouts:
        for block in page_layout.blocks:
            if block.kind == "heading":
                level = block.level or 1
                open_ = [heading for heading in open_ if (heading.level or 1) < level]
                path = tuple(heading.text for heading in open_)
            block.section_path = path
            if block.kind == "heading":
                open_.append(block)
                path = (*path, block.text)
                kind = next(filter(None, (section_type(title) for title in reversed(path))), "")
            block.section_type = kind
