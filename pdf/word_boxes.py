"""Pack word boxes to about 7 bytes a word, so that a million pages fit on a disk.

``structure.Word`` values are packed, and unpacked as arrays. Boxes are stored
in steps of 1/65535 of the page, which is 0.01 pt on A4.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from pdf.geometry import Rect
from pdf.structure import Word

STEPS = 65535


class WordBoxes(msgspec.Struct, frozen=True):
    """The words of one page, in the order of its text.

    Attributes:
        spans: (n, 2) int32, character range in the page's text.
        boxes: (n, 4) float32, x0 y0 x1 y1 in page space.
    """

    spans: NDArray[np.int32]
    boxes: NDArray[np.float32]

    def between(self, char_start: int, char_end: int) -> list[Rect]:
        """Return the boxes of the words that share a character with the range."""
        hit = (self.spans[:, 0] < char_end) & (self.spans[:, 1] > char_start)
        return [Rect(*box) for box in self.boxes[hit].tolist()]

    @property
    def words(self) -> list[Word]:
        rows = zip(self.spans.tolist(), self.boxes.tolist(), strict=True)
        return [Word(*span, *box) for span, box in rows]

    def __len__(self) -> int:
        return len(self.spans)


def pack(words: Sequence[Word], width: float, height: float) -> bytes:
    """Pack the words of a page of ``width`` × ``height`` (page space). Boxes are clamped to the page."""
    if not words:
        return b""
    starts = np.array([word.char_start for word in words], np.int64)
    lengths = np.array([word.char_end for word in words], np.int64) - starts
    corners = [(word.x0, word.y0, word.x1, word.y1) for word in words]
    boxes = np.array(corners, np.float64) / [width, height, width, height]
    columns = [
        np.diff(starts, prepend=0).astype("<i4"),  # differences compress better than positions
        lengths.astype("<u4"),
        *np.rint(boxes.clip(0, 1) * STEPS).astype("<u2").T,
    ]
    return zlib.compress(b"".join(column.tobytes() for column in columns), level=6)


def unpack(packed: bytes, width: float, height: float) -> WordBoxes:
    """Unpack the result of ``pack``, given the page's width and height."""
    if not packed:
        return WordBoxes(np.empty((0, 2), np.int32), np.empty((0, 4), np.float32))
    raw = zlib.decompress(packed)
    count = len(raw) // 16
    starts = np.cumsum(np.frombuffer(raw, "<i4", count))
    lengths = np.frombuffer(raw, "<u4", count, offset=4 * count)
    steps = np.frombuffer(raw, "<u2", 4 * count, offset=8 * count).reshape(4, count).T
    size = np.array([width, height, width, height], np.float32)
    boxes = (steps.astype(np.float32) / np.float32(STEPS) * size).astype(np.float32)
    return WordBoxes(np.stack([starts, starts + lengths], axis=1).astype(np.int32), boxes)
