"""Recognises the words of a page from its picture, with rapidocr's detector and recogniser (PP-OCRv4).

The recogniser forgets spaces in long Latin lines, and its time grows with the
width of what it is shown; so a line is cut at its white gaps, and each word is
recognised alone: 98 % of the words of a printed page come out right instead of
57 %, each with a box of its own (Best Buy 10-K 2020, 120 dpi).

Runs in a confined reader, with more address space than reading takes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import cv2
import numpy as np
import pymupdf
from numpy.typing import NDArray

from documents.pdf.fast.raw import RawWord, Style
from documents.pdf.geometry import PageFrame, Rect, normalized

# Finer pictures cost more and are not read better; larger ones than this take too much memory.
DOTS_PER_INCH = 120
MOST_PIXELS = 2400
# A gap between words is wider than this share of the line's height; letters stand closer.
WORD_GAP = 0.2
DIGIT_GAP = 0.26
# A row of pixels with more ink than this share of its width is a rule.
RULE_SHARE = 0.75
# Height of the detector's lines over the size of the type.
LINE_OVER_SIZE = 1.3
# How far letters reach above and below their baseline, in type sizes.
ASCENT, DESCENT = 0.9, 0.25
# What is recognised with less confidence is left out (0..1).
LEAST_CONFIDENCE = 0.5
# The page stands upright when its longest lines are recognised this well.
UPRIGHT_CONFIDENCE, SAMPLE = 0.75, 3
# A page of fewer lines is not turned about.
FEW_LINES = 3
# Widest piece shown at once, in line heights.
WIDEST = 20.0
# Lines of nearly the page's usual size are given that size (share).
SAME_SIZE = 0.2

Image = NDArray[np.uint8]
Quad = NDArray[np.float32]


class _Word(NamedTuple):
    """In pixels of the picture; ``line`` numbers the line from the top, ``foot`` is its baseline."""

    rect: Rect
    text: str
    line: int
    height: float
    foot: float


class Recogniser:
    """Detector and recogniser, loaded once: a second, 160 MB."""

    def __init__(self) -> None:
        from rapidocr_onnxruntime import RapidOCR  # slow to import, and most files need none

        engine = RapidOCR(intra_op_num_threads=1, inter_op_num_threads=1, rec_batch_num=1)
        engine.text_rec.rec_image_shape = [3, 48, 64]  # words are narrow; 320 would be padded
        self._detector, self._recogniser = engine.text_det, engine.text_rec
        self._sorted, self._cut = engine.sorted_boxes, engine.get_crop_img_list

    def words(self, page: pymupdf.Page, frame: PageFrame, known: Sequence[RawWord] = ()) -> list[RawWord]:
        """What the page's picture shows beside the words known already, in page space."""
        best: tuple[float, PageFrame, Image, list[Quad]] | None = None
        turns = [0]
        for turn in turns:
            shown = PageFrame(frame.width, frame.height, (frame.rotation + turn) % 360)
            image = _picture(page, shown)
            if image is None:
                return []
            _paint_over(image, [shown.to_display(word.rect) for word in known])
            lines = self._lines(image)
            legibility = self._legibility(image, lines)
            if best is None or legibility > best[0]:
                best = legibility, shown, image, lines
            if turn == 0 and legibility < UPRIGHT_CONFIDENCE and len(lines) >= FEW_LINES:
                turns += [90, 270] if _mostly_tall(lines) else [180]
        assert best
        _, shown, image, lines = best
        found = [word for number, quad in enumerate(lines) for word in self._read(image, number, quad)]
        return _placed(found, shown, image.shape[1], image.shape[0])

    def _legibility(self, image: Image, lines: Sequence[Quad]) -> float:
        """Mean confidence in the longest lines, as upright as the picture shows them."""
        if _mostly_tall(lines):
            return 0.0
        longest = sorted(lines, key=lambda quad: -_size(quad)[0])[:SAMPLE]
        crops = self._cut(image, longest)
        return sum(self._recognised(crop[:, : 6 * crop.shape[0]])[1] for crop in crops) / len(crops)

    def _lines(self, image: Image) -> list[Quad]:
        quads, _ = self._detector(image)
        return list(self._sorted(quads)) if quads is not None and len(quads) else []

    def _read(self, image: Image, number: int, quad: Quad) -> Iterator[_Word]:
        if _is_tall(quad):
            return
        (crop,) = self._cut(image, [quad])
        height, width = crop.shape[:2]
        margin = max(2, height // 8)
        ink = _ink(cv2.cvtColor(crop, cv2.COLOR_BGR2GRAY))
        foot = _baseline(ink) / height
        read: list[tuple[int, int, str]] = []
        for start, end in word_spans(ink):
            text, confidence = self._recognised(crop[:, max(0, start - margin) : end + margin])
            text = text.strip()
            if not text or confidence < LEAST_CONFIDENCE:
                continue
            if read and _is_one_number(read[-1][2], text, (start - read[-1][1]) / height):
                first, _, before = read.pop()
                start, text = first, before + text
            read.append((start, end, text))
        for start, end, text in read:
            rect = _along(quad, start / width, end / width)
            yield _Word(rect, text, number, height, rect.y0 + foot * rect.height)

    def _recognised(self, piece: Image) -> tuple[str, float]:
        ((text, confidence),) = self._recogniser([piece])[0]
        return text, float(confidence)


def word_spans(ink: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """First and last column (exclusive) of each word in the ink of one line of text."""
    letters = ink[ink.mean(axis=1) < RULE_SHARE]  # without a rule that runs along the line
    columns = letters.any(axis=0).nonzero()[0]
    if not columns.size:
        return []
    least, most = max(2.0, WORD_GAP * ink.shape[0]), WIDEST * ink.shape[0]
    spans = [[int(columns[0]), int(columns[0]) + 1]]
    for column in columns[1:].tolist():
        if column - spans[-1][1] >= least or column - spans[-1][0] > most:
            spans.append([column, column + 1])
        spans[-1][1] = column + 1
    return [(start, end) for start, end in spans]


def _ink(line: Image) -> NDArray[np.bool_]:
    """Where a grey picture of a line has letters, dark on light or light on dark."""
    _, black = cv2.threshold(line, 0, 255, cv2.THRESH_BINARY + cv2.THRESH_OTSU)
    dark = black == 0
    return ~dark if dark.mean() > 0.5 else dark


def _baseline(ink: NDArray[np.bool_]) -> int:
    """The row most letters stand on: below it there are only descenders."""
    rows = ink.sum(axis=1)
    rows[ink.mean(axis=1) >= RULE_SHARE] = 0
    dense = (rows >= 0.4 * rows.max()).nonzero()[0]
    return int(dense[-1]) + 1


def _is_one_number(before: str, after: str, gap: float) -> bool:
    """Whether two pieces are digits of one number: a 1 has much white beside it. ``gap`` in line heights."""
    return gap < DIGIT_GAP and before[-1] in "0123456789,." and after[0].isdigit()


def _picture(page: pymupdf.Page, shown: PageFrame) -> Image | None:
    """The page as ``shown`` turns it, blue green red; None where it has no area."""
    scale = min(DOTS_PER_INCH / 72, MOST_PIXELS / max(shown.width, shown.height))
    before = page.rotation
    page.set_rotation(shown.rotation)
    try:
        pixmap = page.get_pixmap(matrix=pymupdf.Matrix(scale, scale), alpha=False, colorspace=pymupdf.csRGB)
    finally:
        page.set_rotation(before)
    if min(pixmap.width, pixmap.height) < 8:
        return None
    pixels = np.frombuffer(pixmap.samples, np.uint8).reshape(pixmap.height, pixmap.width, 3)
    return np.ascontiguousarray(pixels[:, :, ::-1])


def _paint_over(image: Image, places: Sequence[Rect]) -> None:
    """Hides those places (display fractions) from the detector."""
    height, width = image.shape[:2]
    for x0, y0, x1, y1 in places:
        corner = max(0, int(x0 * width)), max(0, int(y0 * height))
        cv2.rectangle(image, corner, (int(x1 * width), int(y1 * height)), (255, 255, 255), cv2.FILLED)


def _size(quad: Quad) -> tuple[float, float]:
    """Width and height of a line."""
    width = max(np.linalg.norm(quad[0] - quad[1]), np.linalg.norm(quad[2] - quad[3]))
    height = max(np.linalg.norm(quad[0] - quad[3]), np.linalg.norm(quad[1] - quad[2]))
    return float(width), float(height)


def _is_tall(quad: Quad) -> bool:
    """As rapidocr decides to turn a line: it then runs up or down."""
    width, height = _size(quad)
    return height >= 1.5 * width


def _mostly_tall(quads: Sequence[Quad]) -> bool:
    return sum(_is_tall(quad) for quad in quads) * 2 >= len(quads)


def _along(quad: Quad, start: float, end: float) -> Rect:
    """The box around a stretch (0..1) of a line, which may slope."""
    top, bottom = quad[1] - quad[0], quad[2] - quad[3]
    corners = np.array([edge for at in (start, end) for edge in (quad[0] + at * top, quad[3] + at * bottom)])
    return normalized(*corners.min(axis=0).tolist(), *corners.max(axis=0).tolist())


def _placed(found: Sequence[_Word], shown: PageFrame, width: int, height: int) -> list[RawWord]:
    """From pixels to page space, with a type size that does not waver from line to line."""
    if not found:
        return []
    scale = shown.display_size[1] / height
    usual = float(np.median([word.height for word in found]))
    turn = -shown.rotation % 360
    words = []
    for word in found:
        line_height = usual if abs(word.height - usual) <= SAME_SIZE * usual else word.height
        size = line_height / LINE_OVER_SIZE
        x0, x1 = word.rect.x0 / width, word.rect.x1 / width
        top, foot, bottom = (
            y / height for y in (word.foot - ASCENT * size, word.foot, word.foot + DESCENT * size)
        )
        rect = shown.from_display(Rect(x0, max(0.0, top), x1, min(1.0, bottom)))
        on_line = shown.from_display(Rect(x0, foot, x1, foot))
        baseline = on_line.y0 if turn in (0, 180) else on_line.x0
        style = Style(round(size * scale, 1), "OCR")
        words.append(RawWord(*rect, word.text, style, baseline, word.line, turn))
    return words
