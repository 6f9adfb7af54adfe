"""Read the words of a page with their type from MuPDF's words and spans; decode symbol fonts; list markers.

Sources of the symbol fonts: Adobe's encodings of Symbol and ZapfDingbats (PDF 32000-1, D.5 and D.6); for
Microsoft's fonts the proposal that brought their signs to Unicode (L2/11-052). A sign that few fonts have is
replaced by its older likeness.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

import msgspec
import pymupdf
from msgspec.structs import replace

from pdf.extract.visibility import HiddenText
from pdf.geometry import PageFrame, Rect

# Fonts that lie about their ascent give boxes many lines tall: those above so many ems are drawn anew.
TALLEST_BOX = 1.9
ASCENT, DESCENT = 0.9, 0.25
# A line at a greater slant (the sine of its angle to the page's edges) runs in a direction of its own.
SKEW = 0.08
# A line printed again at most this far away (points) is the shadow of the first.
SHADOW = 1.2
SOFT_HYPHEN = "\u00ad"
# A letter whose meaning the font does not say.
UNDECODABLE = "\ufffd"
# NUL and lone surrogates: PostgreSQL refuses the one, UTF-8 the other.
_UNSTORABLE = dict.fromkeys([0, *range(0xD800, 0xE000)])
# What a span of MuPDF's may hold and its words do not.
_NOT_IN_WORDS = dict.fromkeys([*range(0x21), *range(0x7F, 0xA1)])
# Bold and typewriter faces by name, for many of TeX's and others do not say that they are.
_BOLD_NAME = re.compile(r"bold|black|heavy|demi|(?:^|\+)(?:cm|ec|sf|la)[a-z]{0,2}bx", re.IGNORECASE)
_MONO_NAME = re.compile(
    r"mono(?!type)|courier|consol|typewriter|menlo|monaco|(?:^|\+)(?:cm|ec|sf|la|lm|n?tx)[a-z]{0,3}tt[a-z]{0,2}\d*$",
    re.IGNORECASE,
)


class Style(msgspec.Struct, frozen=True, array_like=True, gc=False, cache_hash=True):
    """The type a word is set in. ``size`` in points of page space."""

    size: float
    font: str = ""
    bold: bool = False
    italic: bool = False
    mono: bool = False
    color: int = 0


class RawWord(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Characters without white space between them.

    A struct, because a page has hundreds: it is made three times faster than a named tuple.

    Attributes:
        x0, y0, x1, y1: its box in page space.
        text: its characters in logical order.
        style: the type of its first character.
        baseline: y of the line it stands on (x for text that runs up or down), in page space.
        line: words drawn as one line share this number; it grows in the order of drawing.
        turn: direction the text runs in, degrees clockwise: 0 rightwards, 90 downwards; seldom between.
        tag: number of the structure element it belongs to in its page's ``elements``, or -1.
    """

    x0: float
    y0: float
    x1: float
    y1: float
    text: str
    style: Style
    baseline: float
    line: int
    turn: int = 0
    tag: int = -1

    @property
    def rect(self) -> Rect:
        return Rect(self.x0, self.y0, self.x1, self.y1)


# x0, y0, x1, y1, text, number of the text block, of the line in it, of the word in that.
MuPDFWord = tuple[float, float, float, float, str, int, int, int]
# Number of the text block, of the line in it.
LineKey = tuple[int, int]


def read_words(
    words: list[MuPDFWord],
    blocks: list[dict[str, Any]],
    hidden_text: HiddenText,
    frame: PageFrame,
    made_anew: Mapping[LineKey, Sequence[RawWord]],
) -> tuple[list[RawWord], int]:
    """MuPDF's words with the type of their first character, which only its spans know; and how many hide.

    Lines that are in ``made_anew`` have these words instead.
    """
    text_blocks = [block["lines"] for block in blocks if block["type"] == 0]
    out: list[RawWord] = []
    drawn: dict[str, list[tuple[float, float]]] = {}
    hidden = 0
    plain = "".join([word[4] for word in words]).isprintable()
    starts = [n for n, word in enumerate(words) if word[7] == 0]
    for number, (start, end) in enumerate(pairwise([*starts, len(words)])):
        line = words[start:end]
        x0, y0, _, y1, text, block, row, _ = line[0]
        if (block, row) in made_anew:
            turn, made = 0, [replace(word, line=number) for word in made_anew[block, row]]
            if hidden_text and hidden_text.touches(key := (block, row)):
                seen = [
                    word for word in made if not hidden_text.covers(key, word.x0, word.y0, word.x1, word.y1)
                ]
                hidden += len(made) - len(seen)
                made = seen
            out += made
            continue
        if text not in drawn:
            drawn[text] = [(x0, y0)]
        elif _is_shadow(drawn[text], x0, y0):
            continue
        turn, style, baseline, runs = _type_of(text_blocks, block, row)
        if plain and not runs and y1 - y0 <= TALLEST_BOX * style.size and not symbols_of(style.font):
            made = [
                RawWord(x0, y0, x1, y1, text, style, baseline, number, turn)
                for x0, y0, x1, y1, text, _, _, _ in line
            ]
        else:
            made = _mixed_line(line, runs or [_Run(math.inf, style, baseline)], number, turn, plain)
        if hidden_text and hidden_text.touches(key := (block, row)):
            seen = [word for word in made if not hidden_text.covers(key, word.x0, word.y0, word.x1, word.y1)]
            hidden += len(made) - len(seen)
            made = seen
        out += made
    return _within(out, blocks, frame), hidden


def _mixed_line(
    line: list[MuPDFWord], runs: Sequence[_Run], number: int, turn: int, plain: bool
) -> list[RawWord]:
    """The words of a line in several types, or with boxes or, where not ``plain``, characters to look at."""
    out: list[RawWord] = []
    following = iter(runs)
    run, at = next(following), 0
    signs = {} if plain else _private_signs(runs)
    for x0, y0, x1, y1, text, _, _, _ in line:
        while at >= run.end:
            run = next(following)
        at += len(text)
        baseline = run.baseline
        if y1 - y0 > TALLEST_BOX * run.style.size and turn in (0, 180):
            size = run.style.size
            if y0 <= baseline <= y1:
                y0, y1 = max(y0, baseline - ASCENT * size), min(y1, baseline + DESCENT * size)
            else:  # the text that stands for a picture has no baseline
                baseline = y1
        if symbols := symbols_of(run.style.font):
            text = text.translate(symbols)
        if not plain:
            if out and out[-1].text.endswith(SOFT_HYPHEN):
                out[-1] = replace(out[-1], text=f"{out[-1].text[:-1]}-")
            text = text if text.isprintable() else _printable(text.translate(signs))
        if text:
            out.append(RawWord(x0, y0, x1, y1, text, run.style, baseline, number, turn))
    return out


def _private_signs(runs: Sequence[_Run]) -> dict[int, str]:
    """The signs of the line's symbol fonts by their private numbers: one may stand within a word."""
    fonts = {run.style.font for run in runs}
    return {code: sign for font in fonts for code, sign in symbols_of(font).items() if code >= PRIVATE}


def _within(words: list[RawWord], blocks: list[dict[str, Any]], frame: PageFrame) -> list[RawWord]:
    """The words, their boxes cut to the page."""
    width, height = frame.width, frame.height
    boxes = [block["bbox"] for block in blocks if block["type"] == 0]
    if all(x0 >= 0 and y0 >= 0 and x1 <= width and y1 <= height for x0, y0, x1, y1 in boxes):
        return words
    return [
        replace(
            word, x0=max(word.x0, 0.0), y0=max(word.y0, 0.0), x1=min(word.x1, width), y1=min(word.y1, height)
        )
        for word in words
    ]


def _is_shadow(places: list[tuple[float, float]], x: float, y: float) -> bool:
    """Whether a line that begins with the same word begins there already; notes the place if not.

    Lines are printed twice, a little apart, to look bold or raised.
    """
    for a, b in places:
        if abs(y - b) < SHADOW and abs(x - a) < SHADOW:
            return True
    places.append((x, y))
    return False


class _Run(msgspec.Struct, frozen=True, gc=False):
    """Characters of a line set in one type: its visible ones up to ``end``, which the last run has not."""

    end: float
    style: Style
    baseline: float


_NO_TYPE = Style(10.0), 0.0


def _type_of(
    blocks: list[list[dict[str, Any]]], block: int, number: int
) -> tuple[int, Style, float, list[_Run]]:
    """Direction of one line, type and baseline of its first character; its runs where there are several."""
    if block >= len(blocks) or number >= len(blocks[block]):
        return 0, *_NO_TYPE, []
    line = blocks[block][number]
    spans = line["spans"]
    turn = _turn(line)
    axis = 0 if turn % 180 else 1
    if len(spans) == 1:
        (span,) = spans
        return turn, _style(span), span["origin"][axis], []
    types = [(_style(span), span["origin"][axis]) for span in spans] or [_NO_TYPE]
    runs: list[_Run] = []
    if types.count(types[0]) < len(types):  # many programs draw a line word by word
        end = 0
        for span, (style, baseline) in zip(spans, types, strict=True):
            end += _visible(span["text"])
            runs.append(_Run(end, style, baseline))
        runs[-1] = _Run(math.inf, style, baseline)
    return turn, *types[0], runs


def _visible(text: str) -> int:
    """How many characters of a span stand in words."""
    if text.isprintable():  # as nearly all, and five times faster
        return len(text) - text.count(" ")
    return len(text.translate(_NOT_IN_WORDS))


def _printable(text: str) -> str:
    """The text without what a database refuses. A soft hyphen that is drawn is a hyphen; a last one stays.

    Of private use alone is a bullet or an icon, and goes; within a word it is a letter nobody can name.
    """
    if len(text) > 1:
        text = "".join(UNDECODABLE if is_private(c) else c for c in text)
    kept = "".join(c for c in text.translate(_UNSTORABLE) if c.isprintable() or c == SOFT_HYPHEN)
    stem, last = (kept[:-1], kept[-1]) if len(kept) > 1 else (kept, "")
    return stem.replace(SOFT_HYPHEN, "-") + last


def is_private(character: str) -> bool:
    return "\ue000" <= character <= "\uf8ff" or character >= "\U000f0000"


def _style(span: dict[str, Any]) -> Style:
    return style_of(span["size"], span["font"], span["flags"], span["color"])


@lru_cache(maxsize=4096)
def style_of(size: float, font: str, flags: int, color: int) -> Style:
    """One object per type, so that types compare by identity."""
    bold = bool(flags & pymupdf.TEXT_FONT_BOLD) or bool(_BOLD_NAME.search(font))
    mono = bool(flags & pymupdf.TEXT_FONT_MONOSPACED) or bool(_MONO_NAME.search(font))
    return Style(size, font, bold, bool(flags & pymupdf.TEXT_FONT_ITALIC), mono, color)


def _turn(line: dict[str, Any]) -> int:
    if line["wmode"] == 1:
        return 90
    x, y = line["dir"]
    if x == 1:
        return 0
    if min(abs(x), abs(y)) > SKEW:
        return round(math.degrees(math.atan2(y, x))) % 360
    if abs(x) >= abs(y):
        return 0 if x >= 0 else 180
    return 90 if y > 0 else 270


# Han, kana, CJK punctuation and full-width forms; Hangul has spaces and is left alone.
_UNSPACED = "\u2e80-\u312f\u3190-\u9fff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef"
_AT_UNSPACED = re.compile(f"([{_UNSPACED}])")
_UNSPACED_ONLY = re.compile(f"[{_UNSPACED}]")


_NARROWER = 0.45  # than a letter: a full stop has 0.28 em in most fonts, letters 0.5 on average


def breaks_anywhere(text: str) -> bool:
    """Whether the text begins in a script that puts no spaces between words."""
    return bool(_UNSPACED_ONLY.match(text))


def is_unspaced(text: str) -> bool:
    """Whether any of the text is in such a script."""
    return not text.isascii() and bool(_UNSPACED_ONLY.search(text))


def pieces(text: str, start: float, end: float) -> Iterator[tuple[str, float, float]]:
    """Single characters of such scripts and the runs between them, each with its stretch of the line.

    MuPDF gives a whole clause as one word. Characters of these scripts are all of
    one width, two of any other's, so that the clause's box can be shared out; the
    full stops that lead to a page number are narrower.
    """
    found: list[str] = _AT_UNSPACED.split(text)  # a run, a character, a run, ...; runs may be empty
    unit = (end - start) / (len(text) + len(found) // 2 - _NARROWER * text.count("."))
    at = start
    for n, piece in enumerate(found):
        if piece:
            behind = at + (2 if n % 2 else len(piece) - _NARROWER * piece.count(".")) * unit
            yield piece, at, behind
            at = behind


# Symbol fonts number their glyphs from here on in the private use area.
PRIVATE = 0xF000
_SUBSET = re.compile(r"^[A-Z]{6}\+")


def _numbered(first: int, characters: str) -> dict[int, str]:
    """Codes from ``first`` on; a space leaves one out."""
    return {first + n: character for n, character in enumerate(characters) if character != " "}


_SYMBOL = {
    **_numbered(0x21, "!∀#∃%&∋()∗+,−./0123456789:;<=>?"),
    **_numbered(0x40, "≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_"),
    **_numbered(0x60, "‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼"),
    **_numbered(0xA0, "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵"),
    **_numbered(0xC0, "ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓"),
    **_numbered(0xE0, "◊〈®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪ 〉∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭"),
}
_DINGBATS = {
    **{code: chr(0x2700 + code - 0x20) for code in range(0x21, 0x7F)},
    **{code: chr(0x2700 + code - 0x40) for code in (*range(0xA1, 0xF0), *range(0xF1, 0xFF))},
    0x25: "☎",
    0x2A: "☛",
    0x2B: "☞",
    0x48: "★",
    0x6C: "●",
    0x6E: "■",
    0x73: "▲",
    0x74: "▼",
    0x75: "◆",
    0x77: "◗",
    **_numbered(0xA8, "♣♦♥♠①②③④⑤⑥⑦⑧⑨⑩"),
    0xD5: "→",
    0xD6: "↔",
    0xD7: "↕",
}
_WINGDINGS = {
    **_numbered(0x22, "✂✁    ☎✆✉"),
    **_numbered(0x36, "⌛       ✇✍ ✌ 👍👎☜☞☝☟✋☺😐☹💣☠⚐ ✈☼💧❄ ✞ ✠✡☪☯ॐ☸♈♉♊♋♌♍♎♏♐♑♒♓"),
    **_numbered(0x6A, "&&●❍■□□❑❒⬧⧫◆❖⬥⌧⍓⌘❀✿❝❞"),
    **_numbered(0x80, "⓪①②③④⑤⑥⑦⑧⑨⑩⓿❶❷❸❹❺❻❼❽❾❿"),
    **_numbered(0x9E, "·• ○○⊙◉◎○▪◻ ✦★✶✴✹✵ ⌖⟡⌑ ✪✰"),
    **_numbered(0xD5, "⌫⌦ ➢   ➲  ←→↑↓↖↗↙↘←➔↑↓↖↗↙↘⇦⇨⇧⇩⬄⇳⬀⬁⬃⬂▭▫✗✓☒☑"),
}
_WINGDINGS_2 = {0x4F: "✗", 0x50: "✓", 0x51: "☒", 0x52: "☑", 0x53: "☒", 0x54: "☒", 0x97: "●", 0xA3: "☐"}
_WINGDINGS_3 = {
    **_numbered(0x66, "←→↑↓↖↗↙↘↔↕"),
    **_numbered(0x70, "▲▼△▽◀▶◁▷"),
    0x7D: "▶",
    0x84: "◀",
    0xA0: "◀",
}
_WEBDINGS = {
    **_numbered(0x33, "◀▶▲▼"),
    0x61: "✓",
    0x63: "□",
    0x67: "■",
    0x6E: "●",
    0x72: "✗",
    0x73: "?",
    0x3D: "●",
}

_FONTS: tuple[tuple[str, Mapping[int, str], bool], ...] = (
    # part of the font's name, its glyphs, whether its letters are glyphs as well
    ("wingdings2", _WINGDINGS_2, True),
    ("wingdings3", _WINGDINGS_3, True),
    ("wingdings", _WINGDINGS, True),
    ("webdings", _WEBDINGS, True),
    ("zapfdingbats", _DINGBATS, True),
    ("monotypesorts", _DINGBATS, True),
    # LibreOffice prints Wingdings by it, under the codes of Wingdings; and the round bullet of Symbol.
    ("opensymbol", {**_WINGDINGS, 0xB7: "•"}, False),
    ("symbolmt", _SYMBOL, False),
    ("symbol", _SYMBOL, False),
)
# Fonts that have ``symbol`` in their names and the signs of Unicode at their own places.
_UNICODE_FONTS = ("segoe", "notosans", "applesymbol", "mathsymbol")


@lru_cache(maxsize=1024)
def symbols_of(font: str) -> Mapping[int, str]:
    """What the font prints for the characters that MuPDF reads, for ``str.translate``; {} for a text font."""
    name = re.sub(r"[\s_-]", "", _SUBSET.sub("", font)).lower()
    if any(other in name for other in _UNICODE_FONTS):
        return {}
    for part, glyphs, letters in _FONTS:
        if part in name:
            found = {PRIVATE + code: sign for code, sign in glyphs.items()}
            return found | _as_letters(glyphs) if letters else found
    return {}


def _as_letters(glyphs: Mapping[int, str]) -> dict[int, str]:
    """The same by the letters that text fonts have at these codes. Windows' own at 0x80 to 0x9F are none."""
    return {code: sign for code, sign in glyphs.items() if not 0x7F <= code < 0xA0}


# --- Words that begin the items of a list, and lines of a table of contents ---

BULLETS = "•‣⁃◦∙●○■□▪▫◆◇➢➤►▶✓✔❖★☆·–—*-o§☐☑☒❏❑\uf0b7\uf0a7\uf0d8\u2212"

_BULLET = re.compile(rf"^[{re.escape(BULLETS)}]$")
_NUMBER = re.compile(
    r"^(?:\(?(?:\d{1,3}|[a-zA-Z]|[ivxlcIVXLC]{1,6})[.)]|\[\d{1,3}\]|\d{1,3}(?:\.\d{1,3}){1,4}\.?|[①-⑳]|\(\d{1,3}\))$"
)
_SURE_BULLETS = frozenset("•‣⁃◦∙●○■□▪▫◆◇➢➤►▶❖☐☑☒❏❑\uf0b7\uf0a7\uf0d8")


@lru_cache(maxsize=65536)
def marker_of(first_word: str) -> str:
    """The bullet or number that the word is, or ''."""
    if _BULLET.match(first_word) or _NUMBER.match(first_word):
        return first_word
    if first_word[:1] in _SURE_BULLETS:
        return first_word[0]
    return ""


def is_bullet(text: str) -> bool:
    """Whether it is or begins with a bullet: ``-`` is one, ``-0.5`` and ``other`` are none."""
    return text[:1] in _SURE_BULLETS or bool(_BULLET.match(text))


def comes_next(marker: str, before: str) -> bool:
    """Whether the one number or letter counts on from the other: ``3.`` from ``2.``, ``b)`` from ``a)``."""
    a, b = before.strip("().[]"), marker.strip("().[]")
    if a.isdecimal() and b.isdecimal():
        return int(b) == int(a) + 1
    return len(a) == len(b) == 1 and ord(b) == ord(a) + 1


# Leaders as they end, and as they begin, in so many characters; and the number of a page at a line's end.
_LEADERS_END = re.compile(r"(?:\.{4}|(?:\. ){4}|…{2}|_{6}|·{4})[\s.…·_(\[-]*$")
_LEADERS_START = re.compile(r"^\W{0,3}[\d٠-٩۰-۹ivxlc]{1,8}\W{0,8}(?:\.{4}|(?:\. ){4}|…{2}|_{6}|·{4})", re.I)
_PAGE_END = re.compile(r"[\d٠-٩۰-۹ivxlc]{1,8}[\s.)\]-]{0,3}$", re.IGNORECASE)
_LEADERS_CHARS, _PAGE_CHARS = 16, 12


def is_contents_line(text: str) -> bool:
    """An entry of a table of contents: a title, leaders, a page number at one end."""
    if "..." not in text and ". ." not in text and "…" not in text and "__" not in text and "··" not in text:
        return False
    page = _PAGE_END.search(text[-_PAGE_CHARS:])
    if page is None:
        return _LEADERS_START.search(text) is not None
    # right before the number: one with decimals may end a row of values whose name leaders follow
    before = text[: len(text) - len(page.group())][-_LEADERS_CHARS:]
    return _LEADERS_END.search(before) is not None or _LEADERS_START.search(text) is not None
