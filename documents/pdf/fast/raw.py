"""What stands on a page before anything is made of it: words with their type, rulings, fills, pictures.

One MuPDF text page gives all of it: its words, its spans and, with
``TEXT_COLLECT_VECTORS``, its line art, so that the page's content is interpreted
once. All rectangles are in page space.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pymupdf

from documents.pdf.fast.boxes import page_frame, with_sound_boxes
from documents.pdf.geometry import PageFrame, Rect
from documents.pdf.visibility import HiddenText, hidden_text, words_outside_crop

_FLAGS = (pymupdf.TEXTFLAGS_WORDS | pymupdf.TEXT_COLLECT_VECTORS) & ~pymupdf.TEXT_PRESERVE_LIGATURES

# A ruling is a drawn line or a rectangle this thin (points).
RULING_THICKNESS = 2.5
# Fonts that lie about their ascent give boxes many lines tall: those above so many ems are drawn anew.
TALLEST_BOX = 1.9
ASCENT, DESCENT = 0.9, 0.25
# NUL and lone surrogates: PostgreSQL refuses the one, UTF-8 the other.
_UNSTORABLE = dict.fromkeys([0, *range(0xD800, 0xE000)])
# What a span of MuPDF's may hold and its words do not.
_NOT_IN_WORDS = dict.fromkeys([*range(0x21), *range(0x7F, 0xA1)])

_WHITE = 0xFFFFFF
_UNKNOWN_LINE: dict[str, Any] = {"wmode": 0, "dir": (1.0, 0.0), "spans": []}

_BOLD_NAMES = ("bold", "black", "heavy", "semibold", "demi")


class Style(NamedTuple):
    """The type a word is set in. ``size`` in points of page space."""

    size: float
    font: str = ""
    bold: bool = False
    italic: bool = False
    mono: bool = False
    color: int = 0


class RawWord(NamedTuple):
    """Characters without white space between them.

    Attributes:
        x0, y0, x1, y1: its box in page space.
        text: its characters in logical order.
        style: the type of its first character.
        baseline: y of the line it stands on (x for text that runs up or down), in page space.
        line: words drawn as one line share this number; it grows in the order of drawing.
        turn: direction the text runs in: 0 rightwards, 90 downwards, 180 leftwards, 270 upwards.
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


@dataclass(slots=True)
class RawPage:
    """One page before layout. Words in the order of drawing; all rectangles in page space.

    Attributes:
        rulings: drawn lines and thin rectangles.
        fills: filled rectangles that are not thin, the page's white background left out.
        images: where pictures stand.
        ocr: the words were recognised from the picture of the page.
        hidden_words: words that were left out because nobody can see them.
        failure: why the page could not be read, or ''.
    """

    number: int
    frame: PageFrame
    label: str = ""
    words: list[RawWord] = field(default_factory=list)
    rulings: list[Rect] = field(default_factory=list)
    fills: list[Rect] = field(default_factory=list)
    images: list[Rect] = field(default_factory=list)
    ocr: bool = False
    hidden_words: int = 0
    failure: str = ""

    @property
    def turn(self) -> int:
        """The direction most of the text runs in, in degrees clockwise."""
        turns = Counter(word.turn for word in self.words)
        return turns.most_common(1)[0][0] if turns else self.frame.rotation * -1 % 360


def read_raw(page: pymupdf.Page) -> RawPage:
    """Everything that stands on the page. Raises what PyMuPDF raises on damaged pages."""
    page = with_sound_boxes(page)
    # Clipped by nothing: what lies off the page shall be counted as hidden.
    textpage = page.get_textpage(clip=pymupdf.INFINITE_RECT(), flags=_FLAGS)
    blocks = textpage.extractDICT()["blocks"]
    raw = RawPage(number=page.number + 1, frame=page_frame(page), label=page.get_label() or "")
    hidden = hidden_text(page, blocks, raw.frame)
    raw.words, raw.hidden_words = _words(textpage.extractWORDS(), blocks, hidden, raw.frame)
    raw.hidden_words += words_outside_crop(page, raw.frame)
    raw.rulings, raw.fills = _line_art(blocks, raw.frame)
    if page.get_images():
        raw.images = [Rect(*info["bbox"]) for info in page.get_image_info()]
    return raw


def _words(
    words: list[tuple[float, float, float, float, str, int, int, int]],
    blocks: list[dict[str, Any]],
    hidden_text: HiddenText,
    frame: PageFrame,
) -> tuple[list[RawWord], int]:
    text_blocks = (block for block in blocks if block["type"] == 0)
    lines = {(b, n): line for b, block in enumerate(text_blocks) for n, line in enumerate(block["lines"])}
    seen: set[tuple[str, int, int]] = set()
    out: list[RawWord] = []
    styles: Iterator[tuple[Style, float]] = iter(())
    current, number, turn, hidden = (-1, -1), -1, 0, 0
    for x0, y0, x1, y1, text, block_number, line_number, _ in words:
        if current != (block_number, line_number):
            current = (block_number, line_number)
            number += 1
            line = lines.get(current, _UNKNOWN_LINE)
            turn = _turn(line)
            styles = _character_styles(line, turn)
        style, baseline = next(styles)
        if y1 - y0 > TALLEST_BOX * style.size and turn in (0, 180):
            y0, y1 = baseline - ASCENT * style.size, baseline + DESCENT * style.size
        for _ in range(len(text) - 1):
            next(styles, None)
        if hidden_text.covers(current, x0, y0, x1, y1):
            hidden += 1
            continue
        if x0 < 0 or y0 < 0 or x1 > frame.width or y1 > frame.height:
            x0, y0, x1, y1 = max(x0, 0.0), max(y0, 0.0), min(x1, frame.width), min(y1, frame.height)
        if not text.isprintable():
            text = _printable(text)
        # Shadow print: the same word again within a point of itself.
        places = (text, round(x0), round(y0)), (text, round(x0 + 0.5), round(y0 + 0.5))
        if not text or places[0] in seen:
            continue
        seen.update(places)
        out.append(RawWord(x0, y0, x1, y1, text, style, baseline, number, turn))
    return out, hidden


def _printable(text: str) -> str:
    """The text without what a database refuses; a soft hyphen stays, for it may end a line."""
    return "".join(c for c in text.translate(_UNSTORABLE) if c.isprintable() or c == "\u00ad")


def _character_styles(line: dict[str, Any], turn: int) -> Iterator[tuple[Style, float]]:
    """The style and baseline of each visible character of the line."""
    upright = turn in (0, 180)
    told = Style(10.0), line["bbox"][3] if "bbox" in line else 0.0
    for span in line["spans"]:
        told = _style(span), span["origin"][1] if upright else span["origin"][0]
        for _ in span["text"].translate(_NOT_IN_WORDS):
            yield told
    while True:
        yield told


def _style(span: dict[str, Any]) -> Style:
    flags, font = span["flags"], span["font"]
    bold = bool(flags & pymupdf.TEXT_FONT_BOLD) or any(name in font.lower() for name in _BOLD_NAMES)
    italic, mono = bool(flags & pymupdf.TEXT_FONT_ITALIC), bool(flags & pymupdf.TEXT_FONT_MONOSPACED)
    return Style(span["size"], font, bold, italic, mono, span["color"])


def _turn(line: dict[str, Any]) -> int:
    if line["wmode"] == 1:
        return 90
    x, y = line["dir"]
    if abs(x) >= abs(y):
        return 0 if x >= 0 else 180
    return 90 if y > 0 else 270


def _line_art(blocks: list[dict[str, Any]], frame: PageFrame) -> tuple[list[Rect], list[Rect]]:
    """Rulings (the edges of drawn boxes too) and fills; white ones are background."""
    rulings, fills = [], []
    whole_page = 0.9 * frame.width * frame.height
    for block in blocks:
        if block["type"] != 3 or block["alpha"] == 0 or block["color"] == _WHITE:
            continue
        rect = Rect(*block["bbox"])
        if rect.width <= RULING_THICKNESS or rect.height <= RULING_THICKNESS:
            rulings.append(rect)
        elif block["stroked"]:
            if block["isrect"]:
                rulings += _edges(rect)
        elif rect.area < whole_page:
            fills.append(rect)
    return rulings, fills


def _edges(rect: Rect) -> list[Rect]:
    x0, y0, x1, y1 = rect
    return [Rect(x0, y0, x1, y0), Rect(x0, y1, x1, y1), Rect(x0, y0, x0, y1), Rect(x1, y0, x1, y1)]
