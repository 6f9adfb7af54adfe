"""Recognise the words of a page from its picture, with rapidocr's detector and recogniser (PP-OCRv6).

The models (Latin with its diacritics, Greek, Chinese, Japanese) are part of rapidocr's wheel. A line is
recognised as a whole. The recogniser's time steps give the position of each character, and the white columns
at a recognised space separate two words; so each word has its own box.

Pages of which these models recognise little are read by Tesseract, which MuPDF includes, if languages are
configured for it.

This runs in a sandboxed reader with a larger address space than parsing needs.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import cv2
import numpy as np
import pymupdf
from numpy.typing import NDArray

from pdf.extract.figures import pictures_in
from pdf.extract.page_content import read_page
from pdf.extract.words import RawWord, ScanContent, Style
from pdf.geometry import PageFrame, Rect, bounding_box, normalized
from pdf.sandbox.confinement import TESSDATA

# Higher resolutions are slower, not better (words found, 16 pages of 5 documents in four languages:
# 100, 120 and 150 dpi within .005). Pictures with a longer side (pixels) take too much memory.
DOTS_PER_INCH = 100
MOST_PIXELS = 2400
# Height to which lines are scaled for recognition, and their largest width (pixels).
LINE_HEIGHT, LONGEST_LINE = 48, 3200
# A row of pixels with more ink than this share of its width is a rule.
RULE_SHARE = 0.75
# Height of the detector's lines over the size of the type.
LINE_OVER_SIZE = 1.3
# Extent of letters above and below their baseline, in type sizes.
ASCENT, DESCENT = 0.9, 0.25
# Words recognised with less confidence are omitted (0..1).
LEAST_CONFIDENCE = 0.5
# The page is upright when its SAMPLE longest lines are recognised with this mean confidence.
UPRIGHT_CONFIDENCE, SAMPLE = 0.75, 3
# A page with fewer lines is not tried in other orientations.
FEW_LINES = 3
# A picture with less contrast (0..255) shows no words.
LEAST_CONTRAST = 40
# A page is in a script that the models do not know if less than LEAST_READ of its lines (share of their
# length) is recognised with READ_CONFIDENCE and enough letters (number times height of the line over its
# width); Tesseract gets a picture of TESSERACT_DPI.
LEAST_READ, READ_CONFIDENCE, LETTERS_FILL, TESSERACT_DPI = 0.5, 0.75, 0.6, 200
# Least share of letters in Tesseract's text of an upright page (measured on Arabic, Hindi and Tamil: .98;
# upside down .06 to .90).
UPRIGHT_LETTERS = 0.95
# Margin kept around the marks of a picture (pixels).
MARGIN = 16
# Lines whose height differs from the page's median by at most this share get the median.
SAME_SIZE = 0.2

Image = NDArray[np.uint8]
Quad = NDArray[np.float32]


class _Word(NamedTuple):
    """A word in pixels of the picture; ``line`` numbers its line from the top, ``foot`` is its baseline."""

    rect: Rect
    text: str
    line: int
    height: float
    foot: float


class _Seen(NamedTuple):
    """A character of a line, the position of its center (0..1 of the line), and its confidence (0..1)."""

    character: str
    at: float
    confidence: float


class _Line:
    """A line: its picture, its quadrilateral in the page's picture, and its characters, recognised lazily."""

    def __init__(self, picture: Image, quad: Quad, recognise: Callable[[Image], list[_Seen]]) -> None:
        self.picture, self.quad, self._recognise = picture, quad, recognise

    @cached_property
    def seen(self) -> list[_Seen]:
        return self._recognise(self.picture)

    def words(self, number: int) -> Iterator[_Word]:
        """Yield the words of the line, which gets this ``number``; none if the line runs up or down."""
        if _is_tall(self.quad):
            return
        height, width = self.picture.shape[:2]
        ink = _ink(cv2.cvtColor(self.picture, cv2.COLOR_BGR2GRAY).astype(np.uint8))
        foot = _baseline(ink) / height
        for text, start, end in words_in(self.seen, ink):
            rect = _along(self.quad, start / width, end / width)
            yield _Word(rect, text, number, height, rect.y0 + foot * rect.height)


_PARAMETERS: dict[str, Any] = {
    "Global.log_level": "error",
    "EngineConfig.onnxruntime.intra_op_num_threads": 1,
    "EngineConfig.onnxruntime.inter_op_num_threads": 1,
    "EngineConfig.onnxruntime.enable_cpu_mem_arena": False,  # it grows with each new width of a line
}


class Recogniser:
    """Detector and recogniser, loaded once. Each uses one thread: pages are recognised in parallel."""

    def __init__(self, tesseract: str = "") -> None:
        """Load the models. ``tesseract``: its languages, joined by ``+``; missing ones are ignored."""
        from rapidocr import RapidOCR  # slow to import, and most files need none
        from rapidocr.utils.process_img import get_rotate_crop_image

        engine = RapidOCR(params=_PARAMETERS)
        self._detector, recogniser = _models(engine)
        self._run = recogniser.session
        self._characters = recogniser.postprocess_op.character
        self._cut = get_rotate_crop_image
        self._tesseract = "+".join(
            name for name in tesseract.split("+") if name and Path(TESSDATA, f"{name}.traineddata").exists()
        )

    def content(self, page: pymupdf.Page, frame: PageFrame, known: Sequence[RawWord] = ()) -> ScanContent:
        """Return the words of the page's picture other than the ``known`` ones, and the pictures in it."""
        best: tuple[float, PageFrame, Image, list[_Line]] | None = None
        turns = [0]
        for turn in turns:
            shown = PageFrame(frame.width, frame.height, (frame.rotation + turn) % 360)
            image = _picture(page, shown)
            if image is None:
                return ScanContent([])
            _paint_over(image, [shown.to_display(word.rect) for word in known])
            lines = self._lines(image)
            legibility = _legibility(lines)
            if best is None or legibility > best[0]:
                best = legibility, shown, image, lines
            if turn == 0 and legibility < UPRIGHT_CONFIDENCE and len(lines) >= FEW_LINES:
                turns += [90, 270] if _mostly_tall(lines) else [180]
        assert best
        _, shown, image, lines = best
        if self._tesseract and _share_read(lines) < LEAST_READ:
            words = _upright_words(page, shown, known, self._tesseract)
        else:
            words = _placed(lines, shown, image.shape[1], image.shape[0])
        pictures = pictures_in(image[::2, ::2, ::-1], [shown.to_display(word.rect) for word in words])
        return ScanContent(words, [shown.from_display(picture) for picture in pictures])

    def words_in_pictures(
        self, page: pymupdf.Page, frame: PageFrame, places: Sequence[Rect], known: Sequence[RawWord]
    ) -> list[RawWord]:
        """Return the words of the pictures at these places (page space) other than the ``known`` ones."""
        image = _picture(page, frame)
        if image is None:
            return []
        _paint_over(image, [frame.to_display(word.rect) for word in known])
        left, top, part = _cropped(image, [frame.to_display(place) for place in places])
        if part.size == 0 or int(part.max()) - int(part.min()) < LEAST_CONTRAST:
            return []
        return _placed(self._lines(part, left, top), frame, image.shape[1], image.shape[0])

    def _lines(self, image: Image, left: int = 0, top: int = 0) -> list[_Line]:
        """Return the lines of a part of the page's picture whose upper left corner is (``left``, ``top``)."""
        rows, columns = _marked_area(image)
        part = np.ascontiguousarray(image[rows, columns])
        if not part.size:
            return []
        self._detector.limit_type, self._detector.limit_side_len = "max", max(part.shape[:2])
        boxes = self._detector(part).boxes
        if boxes is None:
            return []
        offset = np.array([left + columns.start, top + rows.start], np.float32)
        return [
            _Line(self._cut(part, quad), quad + offset, self._seen) for quad in np.asarray(boxes, np.float32)
        ]

    def _seen(self, line: Image) -> list[_Seen]:
        """Return the characters of a line (connectionist temporal classification, greedy decoding)."""
        width = min(LONGEST_LINE, max(LINE_HEIGHT // 4, round(LINE_HEIGHT * line.shape[1] / line.shape[0])))
        scaled = cv2.resize(line, (width, LINE_HEIGHT)).astype(np.float32)
        steps = self._run((scaled.transpose(2, 0, 1) / 127.5 - 1)[np.newaxis])[0]
        best = steps.argmax(axis=1)
        confidence = steps[np.arange(len(best)), best]
        begins = (best != 0) & np.append(True, best[1:] != best[:-1])
        return [
            _Seen(self._characters[best[step]], (step + 0.5) / len(best), float(confidence[step]))
            for step in begins.nonzero()[0].tolist()
        ]


def _legibility(lines: Sequence[_Line]) -> float:
    """Return the mean confidence of the longest lines; -1 where most lines run up or down."""
    if _mostly_tall(lines):
        return -1.0
    longest = sorted(lines, key=lambda line: -_size(line.quad)[0])[:SAMPLE]
    return sum(_confidence(line.seen) for line in longest) / len(longest)


def _share_read(lines: Sequence[_Line]) -> float:
    """Return the share of the length of all lines that was recognised with confidence."""
    total = sum(_size(line.quad)[0] for line in lines)
    return sum(_size(line.quad)[0] for line in lines if _is_read(line)) / total if total else 1.0


def _is_read(line: _Line) -> bool:
    """Return whether a line has confident characters that fill it: models read unknown letters as blanks."""
    letters = [one for one in line.seen if not one.character.isspace()]
    width, height = _size(line.quad)
    return len(letters) * height >= LETTERS_FILL * width and _confidence(letters) >= READ_CONFIDENCE


def _models(engine: Any) -> tuple[Any, Any]:
    """Return the two models; rapidocr's own pipeline does not give words and their lines in one pass."""
    return engine._load_det_model(), engine._load_rec_model()


def words_in(seen: Sequence[_Seen], ink: NDArray[np.bool_]) -> Iterator[tuple[str, int, int]]:
    """Yield the words of a line with these characters and this ink, each with its columns (end exclusive).

    Words are separated at the widest white gap between the last character of one and the first of the next.
    """
    words = list(_split_at_spaces(seen))
    columns = ink[ink.mean(axis=1) < RULE_SHARE].any(axis=0)  # without a rule that runs along the line
    inked = columns.nonzero()[0]
    if not words or not inked.size:
        return
    width = len(columns)
    starts, ends = [int(inked[0])], []
    for before, after in pairwise(words):
        left, right = _widest_white(columns, int(before[-1].at * width), int(after[0].at * width))
        ends.append(left)
        starts.append(right)
    ends.append(int(inked[-1]) + 1)
    for word, start, end in zip(words, starts, ends, strict=True):
        if _confidence(word) >= LEAST_CONFIDENCE and end > start:
            yield "".join(character for character, _, _ in word), start, end


def _split_at_spaces(seen: Sequence[_Seen]) -> Iterator[list[_Seen]]:
    for is_space, run in groupby(seen, key=lambda one: one.character.isspace()):
        if not is_space:
            yield list(run)


def _widest_white(columns: NDArray[np.bool_], start: int, end: int) -> tuple[int, int]:
    """Return start and end of the widest run of columns without ink; twice the middle where there is none."""
    inked = [start, *(start + columns[start:end].nonzero()[0]).tolist(), end]
    gaps = [(after - before, before + 1, after) for before, after in pairwise(inked) if after - before > 1]
    middle = (start + end) // 2
    _, left, right = max(gaps, default=(0, middle, middle))
    return left, right


def _confidence(seen: Sequence[_Seen]) -> float:
    return sum(one.confidence for one in seen) / len(seen) if seen else 0.0


def _ink(line: Image) -> NDArray[np.bool_]:
    """Return which pixels of a grey picture of a line are letters, dark on light or light on dark."""
    _, black = cv2.threshold(line, 0, 255, cv2.THRESH_BINARY + cv2.THRESH_OTSU)
    dark = black == 0
    return ~dark if dark.mean() > 0.5 else dark


def _baseline(ink: NDArray[np.bool_]) -> int:
    """Return the row of the baseline (exclusive): the last row with much ink, below which are descenders."""
    rows = ink.sum(axis=1)
    rows[ink.mean(axis=1) >= RULE_SHARE] = 0
    dense = (rows >= 0.4 * rows.max()).nonzero()[0]
    return int(dense[-1]) + 1


def _picture(page: pymupdf.Page, shown: PageFrame, dpi: int = DOTS_PER_INCH) -> Image | None:
    """Render the page with the rotation of ``shown``, in BGR; return None where it is too small."""
    scale = min(dpi / 72, MOST_PIXELS / max(shown.width, shown.height))
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
    """Paint those places (display fractions) white, so that the detector ignores them."""
    height, width = image.shape[:2]
    for x0, y0, x1, y1 in places:
        corner = max(0, int(x0 * width)), max(0, int(y0 * height))
        cv2.rectangle(image, corner, (int(x1 * width), int(y1 * height)), (255, 255, 255), cv2.FILLED)


def _marked_area(image: Image) -> tuple[slice, slice]:
    """Return rows and columns of all pixels that differ from the picture's corner, with a small margin."""
    corner = image[0, 0].astype(np.int16)
    same = cv2.inRange(image, corner - LEAST_CONTRAST, corner + LEAST_CONTRAST)
    x, y, width, height = cv2.boundingRect(cv2.bitwise_not(same))
    if not width:
        return slice(0), slice(0)
    return slice(max(0, y - MARGIN), y + height + MARGIN), slice(max(0, x - MARGIN), x + width + MARGIN)


def _cropped(image: Image, places: Sequence[Rect]) -> tuple[int, int, Image]:
    """Return the corner of the box around the places (display fractions), and its picture.

    The picture is white between the places.
    """
    blank = np.full_like(image, 255)
    for place in places:
        rows, columns = _pixels(image, place)
        blank[rows, columns] = image[rows, columns]
    rows, columns = _pixels(image, bounding_box(places))
    return columns.start, rows.start, np.ascontiguousarray(blank[rows, columns])


def _pixels(image: Image, place: Rect) -> tuple[slice, slice]:
    """Return rows and columns of a place (display fractions)."""
    height, width = image.shape[:2]
    rows = slice(max(0, int(place.y0 * height)), max(0, int(place.y1 * height)))
    return rows, slice(max(0, int(place.x0 * width)), max(0, int(place.x1 * width)))


def _size(quad: Quad) -> tuple[float, float]:
    """Return width and height of a line in pixels."""
    width = max(np.linalg.norm(quad[0] - quad[1]), np.linalg.norm(quad[2] - quad[3]))
    height = max(np.linalg.norm(quad[0] - quad[3]), np.linalg.norm(quad[1] - quad[2]))
    return float(width), float(height)


def _is_tall(quad: Quad) -> bool:
    """Return whether a line runs up or down, by the rule with which rapidocr turns lines."""
    width, height = _size(quad)
    return height >= 1.5 * width


def _mostly_tall(lines: Sequence[_Line]) -> bool:
    return sum(_is_tall(line.quad) for line in lines) * 2 >= len(lines)


def _along(quad: Quad, start: float, end: float) -> Rect:
    """Return the box around the part of a line, which may slope, from ``start`` to ``end`` (0..1)."""
    top, bottom = quad[1] - quad[0], quad[2] - quad[3]
    corners = np.array([edge for at in (start, end) for edge in (quad[0] + at * top, quad[3] + at * bottom)])
    return normalized(*corners.min(axis=0).tolist(), *corners.max(axis=0).tolist())


def _placed(lines: Sequence[_Line], shown: PageFrame, width: int, height: int) -> list[RawWord]:
    """Return the words of the lines in page space, with one type size for lines of similar height.

    ``width`` and ``height`` are those of the page's picture in pixels.
    """
    found = [word for number, line in enumerate(lines) for word in line.words(number)]
    if not found:
        return []
    usual = float(np.median([word.height for word in found]))
    words = []
    for word in found:
        line_height = usual if abs(word.height - usual) <= SAME_SIZE * usual else word.height
        size = line_height / LINE_OVER_SIZE
        x0, x1 = word.rect.x0 / width, word.rect.x1 / width
        top, foot, bottom = (
            y / height for y in (word.foot - ASCENT * size, word.foot, word.foot + DESCENT * size)
        )
        box = Rect(x0, max(0.0, top), x1, min(1.0, bottom))
        words.append(_raw_word(shown, box, foot, size / height, word.text, word.line))
    return words


def _raw_word(shown: PageFrame, box: Rect, foot: float, size: float, text: str, line: int) -> RawWord:
    """Return a word in page space; ``box``, ``foot`` (baseline) and ``size`` are in display fractions."""
    turn = -shown.rotation % 360
    on_line = shown.from_display(Rect(box.x0, foot, box.x1, foot))
    style = Style(round(size * shown.display_size[1], 1), "OCR")
    baseline = on_line.y0 if turn in (0, 180) else on_line.x0
    return RawWord(*shown.from_display(box), text, style, baseline, line, turn)


def _upright_words(
    page: pymupdf.Page, shown: PageFrame, known: Sequence[RawWord], languages: str
) -> list[RawWord]:
    """Return Tesseract's words, of the page turned upside down if that gives more letters.

    The confidence of our models does not show the orientation of letters that they do not know.
    """
    words = _tesseract_words(page, shown, known, languages)
    if _letters(words) >= UPRIGHT_LETTERS * sum(len(word.text) for word in words) > 0:
        return words
    upside_down = PageFrame(shown.width, shown.height, (shown.rotation + 180) % 360)
    return max(words, _tesseract_words(page, upside_down, known, languages), key=_letters)


def _letters(words: Sequence[RawWord]) -> int:
    """Return the number of letters and combining marks in the words."""
    return sum(unicodedata.category(character)[0] in "LM" for word in words for character in word.text)


def _tesseract_words(
    page: pymupdf.Page, shown: PageFrame, known: Sequence[RawWord], languages: str
) -> list[RawWord]:
    """Return Tesseract's words other than the ``known`` ones.

    They are read from its text layer by ``read_page``, which also orders right-to-left text.
    """
    image = _picture(page, shown, TESSERACT_DPI)
    if image is None:
        return []
    _paint_over(image, [shown.to_display(word.rect) for word in known])
    height, width = image.shape[:2]
    pixels = np.ascontiguousarray(image[:, :, ::-1]).tobytes()
    pixmap = pymupdf.Pixmap(pymupdf.csRGB, width, height, pixels, False)
    layered = pymupdf.open("pdf", pixmap.pdfocr_tobytes(language=languages, tessdata=TESSDATA))
    _end_words_with_space(layered)
    seen = read_page(layered[0])
    return [
        _raw_word(
            shown,
            seen.frame.to_display(word.rect),
            word.baseline / seen.frame.height,
            word.style.size / seen.frame.height,
            word.text,
            word.line,
        )
        for word in seen.words
    ]


def _end_words_with_space(layered: pymupdf.Document) -> None:
    """Add a space to each word of Tesseract's layer, whose gaps are too narrow for its tall letters."""
    for xref in layered[0].get_contents():
        layered.update_stream(xref, layered.xref_stream(xref).replace(b">Tj", b"0020>Tj"))
