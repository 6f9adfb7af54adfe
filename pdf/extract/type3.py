"""Measure Type 3 fonts by their glyphs, and join the words that their nominal size tears apart.

The size of a Type 3 font is a factor of its own matrix: Ghostscript sets bitmap fonts of 12 points at 0.24.
MuPDF separates words and lines by this nominal size, so that every kern ends a word.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from pdf.extract.words import RawWord
from pdf.geometry import Rect

_NAME = "Type3"
# A nominal size is right if the boxes of the glyphs are between these multiples of it: the box of nearly any
# font is 1 to 1.3 em high, and its capitals alone are 0.65 em.
LOWEST, HIGHEST = 0.5, 1.9
# Average advance of letters and digits (ems): 0.42 to 0.53 in Times, Helvetica and Computer Modern.
ADVANCE = 0.46
# A narrower gap is within a word, a wider one separates lines (ems), as in MuPDF's own reading.
WORD_GAP, LINE_GAP = 0.15, 1.0
# Maximum overlap of two parts of a word (ems), and maximum difference of their baselines (ems).
KERN, LEVEL = 0.3, 0.05


def _spans(blocks: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for block in blocks:
        if block["type"] == 0:
            for line in block["lines"]:
                if line["dir"] == (1.0, 0.0):
                    yield from line["spans"]


def with_glyph_sizes(blocks: Sequence[dict[str, Any]]) -> frozenset[str]:
    """Set the size of each span of a Type 3 font by its glyphs; return the fonts whose size was wrong.

    ``blocks`` are MuPDF's, with boxes in points.
    """
    spans = [span for span in _spans(blocks) if span["font"].startswith(_NAME)]
    wrong = [span for span in spans if not _is_sound(span)]
    fonts = frozenset(span["font"] for span in wrong)
    for font in fonts:
        own = [span for span in spans if span["font"] == font]
        ratio = _em(own) / own[0]["size"]
        for span in own:
            span["size"] *= ratio
    return fonts


def _is_sound(span: dict[str, Any]) -> bool:
    height = span["bbox"][3] - span["bbox"][1]
    return bool(LOWEST * span["size"] <= height <= HIGHEST * span["size"])


def _em(spans: Sequence[dict[str, Any]]) -> float:
    """Return the size of a font in points, at the nominal size of its first span."""
    size = spans[0]["size"]
    letters = advance = 0.0
    for span in spans:
        if (text := span["text"].strip()).isalnum():
            letters += len(text) * span["size"] / size
            advance += span["bbox"][2] - span["bbox"][0]
    if letters:
        return advance / letters / ADVANCE
    return max(size * (span["bbox"][3] - span["bbox"][1]) / span["size"] for span in spans)


def join_torn(words: Sequence[RawWord], fonts: frozenset[str]) -> list[RawWord]:
    """Return the words, those of the ``fonts`` separated into words and lines by their true size."""
    out: list[RawWord] = []
    right = 0.0
    for word in words:
        before = out[-1] if out else word
        em = word.style.size
        gap = word.x0 - right
        if (
            out
            and {word.style.font, before.style.font} <= fonts
            and before.turn == word.turn == 0
            and abs(word.baseline - before.baseline) <= LEVEL * em
            and -KERN * em <= gap <= LINE_GAP * em
        ):
            if gap < WORD_GAP * em:
                box = Rect(*before.rect).union(word.rect)
                out[-1] = replace(
                    before, x0=box.x0, y0=box.y0, x1=box.x1, y1=box.y1, text=before.text + word.text
                )
            else:
                out.append(replace(word, line=before.line))
        else:
            out.append(word)
        right = word.x1
    return out
