"""Crops of a page: whole lines, with their column headers."""

from __future__ import annotations

import pytest
from PIL import Image, ImageDraw

from documents.files.page_pictures import FOLD, MARGIN, Highlight, crop_around, cropped
from pdf.geometry import PageFrame, Rect

FRAME = PageFrame(600, 800)
HEAD_COLOUR, INK = (10, 20, 200), (0, 0, 0)


def page(lines: range) -> Image.Image:
    """A page of 600 × 800 pixels, one a point, with lines 8 points high."""
    image = Image.new("RGB", (600, 800), "white")
    draw = ImageDraw.Draw(image)
    for y in lines:
        draw.rectangle((50, y, 550, y + 8), fill=INK)
    return image


def at(x0: float, y0: float, x1: float, y1: float) -> Rect:
    return Rect(x0 / 600, y0 / 800, x1 / 600, y1 / 800)


@pytest.mark.parametrize("start", range(100, 114))
def test_no_line_is_cut_in_half(start: int) -> None:
    image = page(range(start, 780, 14))
    lit_line = next(y for y in range(start, 780, 14) if y > 400)
    crop = crop_around(image, FRAME, at(100, lit_line, 200, lit_line + 8))
    edges = [crop.crop((0, y, crop.width, y + 1)) for y in (0, crop.height - 1)]
    assert [edge.getextrema() for edge in edges] == [((255, 255),) * 3] * 2
    assert abs(crop.height - (8 + 2 * MARGIN)) <= 14


def test_a_head_far_above_is_folded_down_to_its_column() -> None:
    image = page(range(300, 780, 14))
    ImageDraw.Draw(image).rectangle((400, 100, 440, 108), fill=HEAD_COLOUR)
    crop = crop_around(image, FRAME, at(405, 608, 435, 616), [at(400, 100, 440, 108)])
    colours = {colour: count for count, colour in crop.getcolors(10_000) or ()}
    assert colours[HEAD_COLOUR] == 41 * 9
    assert crop.height < 8 + 2 * MARGIN + 20 + 2 * FOLD


def test_a_head_right_above_is_simply_shown() -> None:
    image = page(range(600, 680, 14))
    ImageDraw.Draw(image).rectangle((400, 545, 440, 553), fill=HEAD_COLOUR)
    crop = crop_around(image, FRAME, at(405, 600, 435, 608), [at(400, 545, 440, 553)])
    assert crop.getpixel((crop.width // 2, crop.height - 5)) is not None
    assert HEAD_COLOUR in {colour for _, colour in crop.getcolors(10_000) or ()}
    assert (185, 179, 166) not in {colour for _, colour in crop.getcolors(10_000) or ()}  # no fold


def test_a_head_beside_or_within_the_surroundings_changes_nothing() -> None:
    image = page(range(300, 780, 14))
    lit = at(405, 608, 435, 616)
    plain = crop_around(image, FRAME, lit)
    assert crop_around(image, FRAME, lit, [at(50, 608, 120, 616), at(400, 594, 440, 602)]).size == plain.size


def cut(*beside: Highlight) -> Image.Image:
    image = page(range(300, 780, 14))
    ImageDraw.Draw(image).rectangle((72, 608, 120, 616), fill=HEAD_COLOUR)
    return cropped(image, FRAME, [Highlight([(330, 608, 350, 616)], INK), *beside])


@pytest.mark.parametrize("headers", [True, False])
def test_a_rows_head_and_the_rest_of_a_line_are_in_the_crop_where_there_is_room(headers: bool) -> None:
    headed = cut(Highlight([(72, 608, 121, 617)], INK, framed=False, headers=headers))
    seen = [HEAD_COLOUR in {colour for _, colour in crop.getcolors(10_000) or ()} for crop in (cut(), headed)]
    assert (seen, cut().size) == ([False, True], headed.size)


def test_a_crop_at_the_begin_of_a_long_line_shows_more_of_it_and_less_margin() -> None:
    image = page(range(0))
    ImageDraw.Draw(image).rectangle((370, 608, 380, 616), fill=HEAD_COLOUR)
    words = Highlight([(90, 608, 150, 616)], INK)
    line = Highlight([(72, 608, 520, 616)], INK, framed=False)
    alone, in_line = (cropped(image, FRAME, layers) for layers in ([words], [words, line]))
    seen = [
        HEAD_COLOUR in {colour for _, colour in crop.getcolors(10_000) or ()} for crop in (alone, in_line)
    ]
    assert (seen, alone.size) == ([False, True], in_line.size)


def test_the_lines_of_a_passage_above_its_cited_words_are_not_taken_for_heads() -> None:
    passage = Highlight([(72, y, 520, y + 8) for y in range(300, 617, 14)], INK, framed=False)
    assert cut(passage).size == cut().size


def test_words_at_the_edge_of_the_page_are_cut_out_within_it() -> None:
    assert crop_around(page(range(0)), FRAME, at(0, 0, 20, 8)).size == (360, 44)
