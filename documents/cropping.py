"""What is cut out of a page's picture: whole lines around the lit words, and the heads of their columns."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from PIL import Image, ImageDraw

from documents.pdf.geometry import PageFrame, Rect, bounding_box

MARGIN = 36.0  # points around the lit words
LEAST = 0.6  # of the page's width: what stands beside the words tells what they are about
REACH = 7.0  # points that an edge is moved, at most, to lie between two lines
HEAD_MARGIN = 4.0  # points around heads that stand further above
FOLD = 10.0  # points between these and what is cut out; no fold is made for less
FOLD_LINE = "#b9b3a6"

Box = tuple[int, int, int, int]


def pixels(fractions: Rect, image: Image.Image) -> Box:
    """Left, top, right, bottom of a rectangle in fractions of the page as it is displayed."""
    return (
        round(fractions.x0 * image.width),
        round(fractions.y0 * image.height),
        round(fractions.x1 * image.width),
        round(fractions.y1 * image.height),
    )


def cut_out(image: Image.Image, frame: PageFrame, lit: Rect, heads: Iterable[Rect] = ()) -> Image.Image:
    """The surroundings of ``lit``, most of the page wide; heads that stand above them folded down to them.

    ``lit`` and ``heads`` are fractions of the page as it is displayed.
    """
    left, top, right, bottom = _around(image, frame, lit)
    above = [head for head in heads if head.y1 <= lit.y0 and pixels(head, image)[1] < top]
    if not above:
        return image.crop((left, top, right, bottom))
    point = image.height / frame.display_size[1]
    _, start, _, end = pixels(bounding_box(above), image)
    start = _between_lines(image, left, right, round(start - HEAD_MARGIN * point), HEAD_MARGIN * point)
    end = _between_lines(image, left, right, round(end + HEAD_MARGIN * point), HEAD_MARGIN * point)
    fold = round(FOLD * point)
    if top - end < fold:
        return image.crop((left, start, right, bottom))
    folded = Image.new("RGB", (right - left, end - start + fold + bottom - top), "white")
    folded.paste(image.crop((left, start, right, end)))
    folded.paste(image.crop((left, top, right, bottom)), (0, end - start + fold))
    middle, dash = end - start + fold // 2, max(2, round(3 * point))
    draw = ImageDraw.Draw(folded)
    for x in range(0, folded.width, 2 * dash):
        draw.line((x, middle, x + dash, middle), fill=FOLD_LINE, width=max(1, round(point / 2)))
    return folded


def _around(image: Image.Image, frame: PageFrame, lit: Rect) -> Box:
    """The lit words with a margin, most of the page's width, and no half lines."""
    across, down = (MARGIN / side for side in frame.display_size)
    missing = max(0.0, LEAST - (lit.width + 2 * across)) / 2
    left, right = lit.x0 - across - missing, lit.x1 + across + missing
    shift = max(0.0, -left) - max(0.0, right - 1)
    wanted = Rect(left + shift, lit.y0 - down, right + shift, lit.y1 + down)
    x0, y0, x1, y1 = pixels(wanted, image)
    x0, x1 = max(0, x0), min(image.width, x1)
    reach = REACH * image.height / frame.display_size[1]
    return x0, _between_lines(image, x0, x1, y0, reach), x1, _between_lines(image, x0, x1, y1, reach)


def _between_lines(image: Image.Image, left: int, right: int, y: int, reach: float) -> int:
    """The whitest row of pixels near ``y``; of several the nearest."""
    if not 0 < y < image.height:
        return min(max(y, 0), image.height)
    first, last = max(0, y - round(reach)), min(image.height, y + round(reach) + 1)
    rows = np.asarray(image.crop((left, first, right, last)).convert("L")).mean(axis=1)
    whitest = np.flatnonzero(rows >= rows.max() - 1)
    return first + int(whitest[np.abs(whitest - (y - first)).argmin()])
