"""Read the words of a page, with their type, from MuPDF's words and spans; decode symbol fonts and markers.

Sources of the symbol fonts: Adobe's encodings of Symbol and ZapfDingbats (PDF 32000-1, D.5 and D.6); for
Microsoft's fonts the proposal to encode their symbols in Unicode (L2/11-052). A symbol that few fonts have
is replaced by a similar, older one.
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

# Fonts with a wrong ascent give boxes many lines tall; boxes taller than this (ems) are recomputed from the
# baseline, with this ascent and descent (ems).
TALLEST_BOX = 1.9
ASCENT, DESCENT = 0.9, 0.25
# A line at a greater slant (the sine of its angle to the page's edges) has a direction of its own.
SKEW = 0.08
# A line printed again at most this far away (points, or as a share of its height) is the shadow of the first.
SHADOW, SHADOW_SHARE = 1.2, 0.08
# A word that begins at most this far before or after the end of the last one (ems) goes on with it.
OVERHANG, SEAM = 0.12, 0.04
SOFT_HYPHEN = "\u00ad"
# A letter for which the font has no Unicode value.
UNDECODABLE = "\ufffd"
# NUL and lone surrogates: PostgreSQL rejects the former, UTF-8 the latter.
_UNSTORABLE = dict.fromkeys([0, *range(0xD800, 0xE000)])
# Characters that MuPDF's spans may contain and its words do not.
_NOT_IN_WORDS = dict.fromkeys([*range(0x21), *range(0x7F, 0xA1)])
# Bold and monospaced fonts by name, because many, such as TeX's, do not set the flag.
_BOLD_NAME = re.compile(
    r"bold|black|heavy|demi|rom\w*-medi|(?:^|\+)(?:cm|ec|sf|la)[a-z]{0,2}bx", re.IGNORECASE
)
_MONO_NAME = re.compile(
    r"mono(?!type)|nimbusmon|monotype\.?com|courier|consol|typewriter|menlo|monaco|andale|letter ?gothic|"
    r"cascadia|(?:source|fira) ?code|(?:^|\+)(?:cm|ec|sf|la|lm|n?tx)[a-z]{0,3}tt[a-z]{0,2}\d*$",
    re.IGNORECASE,
)
# LaTeX draws slanted lines and round corners with the signs of these fonts; none is a letter.
_DRAWING_FONT = re.compile(r"(?:^|\+)l?(?:circlew?|inew?)\d+$", re.IGNORECASE)


class Style(msgspec.Struct, frozen=True, array_like=True, gc=False, cache_hash=True):
    """The type in which a word is set. ``size`` is in points of page space."""

    size: float
    font: str = ""
    bold: bool = False
    italic: bool = False
    mono: bool = False
    color: int = 0


class RawWord(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One word: characters without white space between them.

    It is a struct because a page has hundreds, and a named tuple takes three times as long to create.

    Attributes:
        x0, y0, x1, y1: its box in page space.
        text: its characters in logical order.
        style: the type of its first character.
        baseline: y of its baseline (x for text that runs up or down), in page space.
        line: number shared by words drawn as one line; it grows in drawing order.
        turn: direction of the text, degrees clockwise: 0 rightwards, 90 downwards; rarely between.
        tag: index of its structure element in its page's ``elements``, or -1.
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


class ScanContent(msgspec.Struct, frozen=True):
    """The words recognised on a page, and the pictures in its scan; all in page space."""

    words: list[RawWord]
    pictures: list[Rect] = []


# x0, y0, x1, y1, text, number of the text block, of the line in the block, of the word in the line.
MuPDFWord = tuple[float, float, float, float, str, int, int, int]
# Number of the text block, of the line in the block.
LineKey = tuple[int, int]


def read_words(
    words: list[MuPDFWord],
    blocks: list[dict[str, Any]],
    hidden_text: HiddenText,
    frame: PageFrame,
    rebuilt: Mapping[LineKey, Sequence[RawWord]],
) -> tuple[list[RawWord], int]:
    """Return MuPDF's visible words with the type of their first character, and the number of hidden words.

    ``blocks`` are MuPDF's, whose spans have the types. A line in ``rebuilt`` gets these words instead.
    """
    text_blocks = [block["lines"] for block in blocks if block["type"] == 0]
    out: list[RawWord] = []
    drawn: dict[str, list[tuple[float, float]]] = {}
    hidden = 0
    printed = "".join([word[4] for word in words])
    plain, undecoded = printed.isprintable(), UNDECODABLE in printed
    dotted = "..." in printed  # as leaders are, set apart or not
    starts = [n for n, word in enumerate(words) if word[7] == 0]
    for number, (start, end) in enumerate(pairwise([*starts, len(words)])):
        line = words[start:end]
        x0, y0, _, y1, text, block, row, _ = line[0]
        if (block, row) in rebuilt:
            turn, made = 0, [replace(word, line=number) for word in rebuilt[block, row]]
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
        elif _is_shadow(drawn[text], x0, y0, max(SHADOW, SHADOW_SHARE * (y1 - y0))):
            continue
        turn, style, baseline, runs = _type_of(text_blocks, block, row)
        if not runs and _DRAWING_FONT.search(style.font):
            continue
        if plain and not runs and y1 - y0 <= TALLEST_BOX * style.size and not symbols_of(style.font):
            made = [
                RawWord(x0, y0, x1, y1, text, style, baseline, number, turn)
                for x0, y0, x1, y1, text, _, _, _ in line
            ]
        else:
            made = _mixed_line(line, runs or [_Run(math.inf, style, baseline)], number, turn, plain)
        if undecoded:
            made = _without_zeros(made)
        if hidden_text and hidden_text.touches(key := (block, row)):
            seen = [word for word in made if not hidden_text.covers(key, word.x0, word.y0, word.x1, word.y1)]
            hidden += len(made) - len(seen)
            made = seen
        if out and made and _goes_on(out[-1], made[0]):
            made = _joined(out.pop(), made)
        out += _apart_from_leaders(made) if dotted else made
    return _clipped(out, blocks, frame), hidden


def _goes_on(last: RawWord, word: RawWord) -> bool:
    """Return whether the first word of a line goes on with the last one before.

    MuPDF ends a line where a rule is drawn, as some programs underline each syllable by itself.
    """
    return (
        -OVERHANG * word.style.size <= word.x0 - last.x1 <= SEAM * word.style.size
        and abs(word.baseline - last.baseline) <= SEAM * word.style.size
        and last.turn == word.turn == 0
        and last.style == word.style
        and not (last.text[-1].isdigit() and word.text[0].isdigit())
    )


def _joined(last: RawWord, words: list[RawWord]) -> list[RawWord]:
    """Return the words of a line that goes on with the ``last`` word of the one before, as its words."""
    whole = replace(words[0], x0=last.x0, text=last.text + words[0].text, line=last.line)
    return [whole, *(replace(word, line=last.line) for word in words[1:])]


# A value that leaders touch, after at least three of their dots, or after the last of dots set apart.
_TOUCHED = re.compile(r"(.*\.{3}|\.)([$€£¥(-]?\d[\d.,]*[%)]?)")
_WIDTHS = pymupdf.Font("helv")


def _apart_from_leaders(words: list[RawWord]) -> list[RawWord]:
    """Return the words of a line, in two where leaders touch a value; usual widths of letters tell where."""
    out: list[RawWord] = []
    for word in words:
        parts = _TOUCHED.fullmatch(word.text) if "." in word.text and not word.turn else None
        if parts and (len(parts[1]) > 1 or (out and out[-1].text == ".")):
            share = _WIDTHS.text_length(parts[1]) / _WIDTHS.text_length(word.text)
            x = word.x0 + share * (word.x1 - word.x0)
            out += [replace(word, x1=x, text=parts[1]), replace(word, x0=x, text=parts[2])]
        else:
            out.append(word)
    return out


# At least so many letters of a line have a zero byte after them.
MOST_LETTERS = 0.8


def _without_zeros(words: list[RawWord]) -> list[RawWord]:
    """Return the words of a line without the zero bytes between their letters, where nearly all have one.

    A font of one byte per letter was given text of two; MuPDF reads each zero as an undecodable letter.
    """
    text = "".join([word.text for word in words])
    letters = len(text) - text.count(UNDECODABLE)
    doubled = any(UNDECODABLE * 2 in word.text for word in words)
    if letters < 2 or doubled or len(text) - letters < MOST_LETTERS * letters:
        return words
    kept = [(word, word.text.replace(UNDECODABLE, "")) for word in words]
    return [replace(word, text=text) for word, text in kept if text]


def _mixed_line(
    line: list[MuPDFWord], runs: Sequence[_Run], number: int, turn: int, plain: bool
) -> list[RawWord]:
    """Return the words of a line with several types, too tall boxes or a symbol font.

    Unless the page is ``plain``, its words have characters that must be replaced or removed.
    """
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
            else:  # the alternative text of a picture has no baseline
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
    """Return the symbols of the line's symbol fonts by private use code: a word may contain one."""
    fonts = {run.style.font for run in runs}
    return {code: sign for font in fonts for code, sign in symbols_of(font).items() if code >= PRIVATE}


def _clipped(words: list[RawWord], blocks: list[dict[str, Any]], frame: PageFrame) -> list[RawWord]:
    """Return the words, their boxes clipped to the page."""
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


def _is_shadow(places: list[tuple[float, float]], x: float, y: float, distance: float) -> bool:
    """Return whether a line that begins with the same word was drawn within the distance; else add the place.

    Some programs print a line twice, slightly shifted, to look bold or raised.
    """
    for a, b in places:
        if abs(y - b) < distance and abs(x - a) < distance:
            return True
    places.append((x, y))
    return False


class _Run(msgspec.Struct, frozen=True, gc=False):
    """A run of a line's visible characters in one type; it ends before character ``end``.

    The ``end`` of the last run is infinity.
    """

    end: float
    style: Style
    baseline: float


_NO_TYPE = Style(10.0), 0.0


def _type_of(
    blocks: list[list[dict[str, Any]]], block: int, number: int
) -> tuple[int, Style, float, list[_Run]]:
    """Return the turn of a line, type and baseline of its first character, and its runs.

    There are no runs where the whole line has one type and baseline.
    """
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
    if types.count(types[0]) < len(types):  # many programs draw each word as a span of the same type
        end = 0
        for span, (style, baseline) in zip(spans, types, strict=True):
            end += _visible(span["text"])
            runs.append(_Run(end, style, baseline))
        runs[-1] = _Run(math.inf, style, baseline)
    return turn, *types[0], runs


def _visible(text: str) -> int:
    """Return how many characters of a span are part of words."""
    if text.isprintable():  # usual, and five times faster
        return len(text) - text.count(" ")
    return len(text.translate(_NOT_IN_WORDS))


def _printable(text: str) -> str:
    """Return the text without characters that the database rejects.

    Soft hyphens become hyphens, except at the end. A word that is one private use character is a bullet or
    an icon and is removed; within a longer word such a character is an undecodable letter.
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
    """Return the type of a span of MuPDF's; equal types are usually one object, which compares faster."""
    bold = bool(flags & pymupdf.TEXT_FONT_BOLD) or bool(_BOLD_NAME.search(font))
    mono = bool(flags & pymupdf.TEXT_FONT_MONOSPACED) or bool(_MONO_NAME.search(font))
    return Style(size, font, bold, bool(flags & pymupdf.TEXT_FONT_ITALIC), mono, color)


def _turn(line: dict[str, Any]) -> int:
    """Return the direction of a line in degrees clockwise; small slants are ignored."""
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


# Han, kana, CJK punctuation and full-width forms; Hangul is written with spaces and is not included.
_UNSPACED = "\u2e80-\u312f\u3190-\u9fff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef"
_AT_UNSPACED = re.compile(f"([{_UNSPACED}])")
_UNSPACED_ONLY = re.compile(f"[{_UNSPACED}]")


_NARROWER = 0.45  # share by which a full stop (0.28 em in most fonts) is narrower than a letter (0.5 em)


def breaks_anywhere(text: str) -> bool:
    """Return whether the text begins in a script without spaces between words."""
    return bool(_UNSPACED_ONLY.match(text))


def is_unspaced(text: str) -> bool:
    """Return whether any of the text is in a script without spaces between words."""
    return not text.isascii() and bool(_UNSPACED_ONLY.search(text))


def pieces(text: str, start: float, end: float) -> Iterator[tuple[str, float, float]]:
    """Yield each character of an unspaced script, and each run between them, with its start and end.

    ``start`` and ``end`` are the text's own, along the line. MuPDF gives a whole
    clause as one word. Characters of these scripts have one width, twice that of
    others, so that positions can be computed from the clause's box; full stops, as
    in the leaders of a table of contents, are narrower.
    """
    found: list[str] = _AT_UNSPACED.split(text)  # a run, a character, a run, ...; runs may be empty
    unit = (end - start) / (len(text) + len(found) // 2 - _NARROWER * text.count("."))
    at = start
    for n, piece in enumerate(found):
        if piece:
            piece_end = at + (2 if n % 2 else len(piece) - _NARROWER * piece.count(".")) * unit
            yield piece, at, piece_end
            at = piece_end


# First code of symbol fonts' glyphs in the private use area.
PRIVATE = 0xF000
_SUBSET = re.compile(r"^[A-Z]{6}\+")


def _numbered(first: int, characters: str) -> dict[int, str]:
    """Map consecutive codes from ``first`` on to the characters; a space skips a code."""
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
    # part of the font's name, its symbols by code, whether text codes below 0x100 are symbols as well
    ("wingdings2", _WINGDINGS_2, True),
    ("wingdings3", _WINGDINGS_3, True),
    ("wingdings", _WINGDINGS, True),
    ("webdings", _WEBDINGS, True),
    ("zapfdingbats", _DINGBATS, True),
    ("monotypesorts", _DINGBATS, True),
    # LibreOffice prints Wingdings in OpenSymbol, with the codes of Wingdings, and the round bullet of Symbol.
    ("opensymbol", {**_WINGDINGS, 0xB7: "•"}, False),
    ("symbolmt", _SYMBOL, False),
    ("symbol", _SYMBOL, False),
)
# Fonts with ``symbol`` or the like in their names whose characters have their Unicode values.
_UNICODE_FONTS = ("segoe", "notosans", "applesymbol", "mathsymbol")


@lru_cache(maxsize=1024)
def symbols_of(font: str) -> Mapping[int, str]:
    """Return a font's symbols by the character that MuPDF reads, for ``str.translate``; {} for text fonts."""
    name = re.sub(r"[\s_-]", "", _SUBSET.sub("", font)).lower()
    if any(other in name for other in _UNICODE_FONTS):
        return {}
    for part, glyphs, letters in _FONTS:
        if part in name:
            found = {PRIVATE + code: sign for code, sign in glyphs.items()}
            return found | _as_letters(glyphs) if letters else found
    return {}


def _as_letters(glyphs: Mapping[int, str]) -> dict[int, str]:
    """Return the symbols by their codes as Latin-1 characters, without the controls from 0x7F to 0x9F."""
    return {code: sign for code, sign in glyphs.items() if not 0x7F <= code < 0xA0}


# --- Markers of list items, and lines of a table of contents ---

BULLETS = "•‣⁃◦∙●○■□▪▫◆◇➢➤►▶✓✔❖★☆·–—*-o§☐☑☒❏❑\uf0b7\uf0a7\uf0d8\u2212"

_BULLET = re.compile(rf"^(?:[{re.escape(BULLETS)}]|\*{{2,4}})$")
_NUMBER = re.compile(
    r"^(?:\(?(?:\d{1,3}|[a-zA-Z]|[ivxlcIVXLC]{1,6})[.)]|\[[A-Za-z]{0,8}\d{1,4}[a-z]?\]|\d{1,3}(?:\.\d{1,3}){1,4}\.?|[①-⑳]|\(\d{1,3}\))$"
)
_SURE_BULLETS = frozenset("•‣⁃◦∙●○■□▪▫◆◇➢➤►▶❖☐☑☒❏❑\uf0b7\uf0a7\uf0d8")


@lru_cache(maxsize=65536)
def marker_of(first_word: str) -> str:
    """Return the bullet or number of a list item that the word is, or the bullet it begins with; else ''."""
    if _BULLET.match(first_word) or _NUMBER.match(first_word):
        return first_word
    if first_word[:1] in _SURE_BULLETS:
        return first_word[0]
    return ""


def is_bullet(text: str) -> bool:
    """Return whether a text is or begins with a bullet: ``-``, but not ``-0.5`` or ``other``."""
    return text[:1] in _SURE_BULLETS or bool(_BULLET.match(text))


def comes_next(marker: str, before: str) -> bool:
    """Return whether a marker is the successor of another: ``3.`` of ``2.``, ``b)`` of ``a)``."""
    a, b = before.strip("().[]"), marker.strip("().[]")
    if a.isdecimal() and b.isdecimal():
        return int(b) == int(a) + 1
    return len(a) == len(b) == 1 and ord(b) == ord(a) + 1


# Leaders at the end of a text, leaders after a page number at its start, and a page number at its end.
_LEADERS_END = re.compile(r"(?:\.{4}|(?:\. ){4}|…{2}|_{6}|·{4})[\s.…·_(\[-]*$")
_LEADERS_START = re.compile(r"^\W{0,3}[\d٠-٩۰-۹ivxlc]{1,8}\W{0,8}(?:\.{4}|(?:\. ){4}|…{2}|_{6}|·{4})", re.I)
_PAGE_END = re.compile(r"[\d٠-٩۰-۹ivxlc]{1,8}[\s.)\]-]{0,3}$", re.IGNORECASE)
_LEADERS_CHARS, _PAGE_CHARS = 16, 12  # characters searched for leaders, and for a page number


def is_contents_line(text: str) -> bool:
    """Return whether a line is an entry of a table of contents: title, leaders, a page number at one end."""
    if "..." not in text and ". ." not in text and "…" not in text and "__" not in text and "··" not in text:
        return False
    page = _PAGE_END.search(text[-_PAGE_CHARS:])
    # leaders directly before the number: in a table row, they follow the label and precede other values
    before = text[: len(text) - len(page.group())][-_LEADERS_CHARS:] if page else ""
    if _LEADERS_END.search(before):
        return True
    start = _LEADERS_START.match(text)  # followed by a title: in a table row, by values
    return start is not None and (page is None or any(map(str.isalpha, text[start.end() :])))
