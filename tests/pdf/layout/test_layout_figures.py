"""Figures: charts that are drawn, told from what rules, frames and shades a text."""

from __future__ import annotations

from collections.abc import Callable

import pymupdf
import pytest

from pdf.geometry import Rect
from pdf.structure import Figure
from tests.pdf.layout_drawing import LEFT, OTHER, PROSE, Drawing, justified, texts
from tests.pdf.layout_invariants import check

BLUE = (0.1, 0.3, 0.8)
PLOT = Rect(120, 220, 420, 400)
CAPTION = "Figure 1: Revenue by year"


@pytest.fixture
def drawing() -> Drawing:
    """A page that begins with a paragraph."""
    drawn = Drawing()
    drawn.lines(justified(PROSE, 430))
    return drawn


def figures(drawing: Drawing) -> list[Figure]:
    pages = drawing.read()
    check(pages)
    return [figure for page in pages for figure in page.figures]


def axes(drawing: Drawing) -> None:
    drawing.rule(PLOT.x0, PLOT.y0, PLOT.x0, PLOT.y1)
    drawing.rule(PLOT.x0, PLOT.y1, PLOT.x1, PLOT.y1)


def bars(drawing: Drawing, heights: tuple[float, ...] = (60, 110, 90, 170)) -> None:
    for n, height in enumerate(heights):
        x = PLOT.x0 + 20 + 70 * n
        drawing.page.draw_rect((x, PLOT.y1 - height, x + 40, PLOT.y1), color=None, fill=BLUE)
        drawing.text(x + 8, PLOT.y1 + 12, str(2030 + n), size=8)


def line_chart(drawing: Drawing) -> None:
    axes(drawing)
    drawing.page.draw_polyline([(120, 380), (200, 300), (280, 340), (420, 230)], color=BLUE)


def assert_around_the_plot(figure: Figure) -> None:
    assert tuple(figure.rect) == pytest.approx(tuple(PLOT), abs=20)


def test_a_line_chart_is_a_figure_with_its_caption(drawing: Drawing) -> None:
    line_chart(drawing)
    drawing.text(LEFT, 440, CAPTION, size=9)
    (figure,) = figures(drawing)
    assert_around_the_plot(figure)
    assert figure.caption == CAPTION


def test_bars_are_a_figure_whose_labels_belong_to_it_and_stand_in_one_unit_each(drawing: Drawing) -> None:
    axes(drawing)
    bars(drawing)
    drawing.text(LEFT, 440, CAPTION, size=9)
    (figure,) = figures(drawing)
    assert_around_the_plot(figure)
    assert figure.rect.y1 > PLOT.y1 + 8, "the years below the axis are a part of the chart"
    assert figure.caption == CAPTION
    (page,) = drawing.read()
    assert [sum(year in unit.text.split() for unit in page.units) for year in ("2030", "2033")] == [1, 1]


def test_a_pie_is_a_figure(drawing: Drawing) -> None:
    drawing.page.draw_circle((270, 310), 90, fill=BLUE)
    for x, y in ((270, 220), (333, 373), (180, 310)):
        drawing.rule(270, 310, x, y)
    (figure,) = figures(drawing)
    assert tuple(figure.rect) == pytest.approx((180, 220, 360, 400), abs=3)


def test_boxes_with_arrows_between_them_are_one_figure(drawing: Drawing) -> None:
    for n, step in enumerate(("Collect", "Review", "Publish")):
        x = 100 + 120 * n
        drawing.page.draw_rect((x, 300, x + 80, 350))
        drawing.text(x + 14, 328, step)
        if n:
            drawing.rule(x - 40, 325, x, 325)
            drawing.page.draw_polyline([(x - 8, 321), (x, 325), (x - 8, 329)], fill=BLUE)
    (figure,) = figures(drawing)
    assert tuple(figure.rect) == pytest.approx((100, 300, 420, 350), abs=3)


def test_two_charts_apart_are_two_figures_each_with_its_own_caption(drawing: Drawing) -> None:
    line_chart(drawing)
    drawing.text(LEFT, 430, CAPTION, size=9)
    drawing.page.draw_circle((270, 580), 60)
    drawing.text(230, 670, "Figure 2: The whole", size=9)
    assert [figure.caption for figure in figures(drawing)] == [CAPTION, "Figure 2: The whole"]


def test_a_chart_on_a_turned_page_lies_where_it_is_drawn(drawing: Drawing) -> None:
    line_chart(drawing)
    drawing.page.set_rotation(90)
    (figure,) = figures(drawing)
    assert_around_the_plot(figure)


def test_a_chart_on_a_cropped_page_is_measured_from_the_crop(drawing: Drawing) -> None:
    line_chart(drawing)
    drawing.page.set_cropbox(pymupdf.Rect(50, 60, 560, 800))
    (figure,) = figures(drawing)
    assert tuple(figure.rect) == pytest.approx((70, 160, 370, 340), abs=3)


def ruled_and_shaded_table(drawing: Drawing) -> None:
    for row in range(4):
        for column in range(3):
            cell = pymupdf.Rect(80 + 120 * column, 240 + 24 * row, 200 + 120 * column, 264 + 24 * row)
            drawing.page.draw_rect(cell, fill=(0.9, 0.9, 1) if row % 2 else None)
            drawing.text(cell.x0 + 6, cell.y1 - 8, f"{row * 3 + column},400")


def underlines(drawing: Drawing) -> None:
    for n in range(5):
        drawing.text(LEFT, 260 + 20 * n, "underlined words")
        drawing.rule(LEFT, 262 + 20 * n, LEFT + 60 + 10 * n, 262 + 20 * n)


def page_frame(drawing: Drawing) -> None:
    drawing.page.draw_rect((30, 30, 565, 812), radius=0.05)


def rounded_box_of_prose(drawing: Drawing) -> None:
    drawing.page.draw_rect((60, 240, 520, 320), radius=0.1, fill=(0.9, 0.95, 1))
    drawing.lines(justified(PROSE, 430), y=260)


def highlighted_lines(drawing: Drawing) -> None:
    for n, words in enumerate(("a short line", "a line that is far longer", "a middling line", "end")):
        width = pymupdf.get_text_length(words, "helv", 10)
        drawing.page.draw_rect((LEFT, 251 + 16 * n, LEFT + width, 263 + 16 * n), color=None, fill=(1, 1, 0))
        drawing.text(LEFT, 260 + 16 * n, words)


def shaded_column_heads(drawing: Drawing) -> None:
    for column in range(4):
        drawing.page.draw_rect(
            (80 + 90 * column, 240, 160 + 90 * column, 400), color=None, fill=(0.9, 0.9, 1)
        )


@pytest.mark.parametrize(
    "draw",
    [
        ruled_and_shaded_table,
        underlines,
        page_frame,
        rounded_box_of_prose,
        highlighted_lines,
        shaded_column_heads,
    ],
)
def test_what_rules_frames_or_shades_a_text_is_no_figure(
    draw: Callable[[Drawing], None], drawing: Drawing
) -> None:
    draw(drawing)
    assert figures(drawing) == []


def test_numbers_along_the_axes_of_charts_beside_one_another_are_no_table(drawing: Drawing) -> None:
    for left in (110, 270, 430):
        drawing.rule(left, 220, left, 330)
        drawing.rule(left, 330, left + 120, 330)
        drawing.page.draw_polyline([(left, 320), (left + 50, 270), (left + 120, 225)], color=BLUE)
        for n in range(5):
            drawing.text(left - 16, 330 - 25 * n, str(20 * n), size=8)
            drawing.text(left + 5 + 25 * n, 342, str(2030 + n), size=7)
    units = [unit for page in drawing.read() for unit in page.units]
    assert any("60 60 60" in unit.text for unit in units)
    assert not [unit.text for unit in units if unit.type == "table"]


def test_titles_of_axes_below_their_numbers_make_no_table_of_them(drawing: Drawing) -> None:
    for left, name in ((110, "Berths let"), (270, "Boats moored"), (430, "Days at sea")):
        drawing.rule(left, 220, left, 330)
        drawing.rule(left, 330, left + 120, 330)
        drawing.page.draw_polyline([(left, 320), (left + 50, 270), (left + 120, 225)], color=BLUE)
        for n in range(4):
            drawing.text(left + 5 + 30 * n, 342, str(2**n), size=7)
        drawing.text(left + 30, 351, name, size=8)
    units = [unit for page in drawing.read() for unit in page.units]
    assert any("Boats moored" in unit.text for unit in units)
    assert not [unit.text for unit in units if unit.type == "table"]


def test_names_and_values_of_lying_bars_are_a_table(drawing: Drawing) -> None:
    names = ("Harbour dues", "Berth rents", "Pilotage", "Storage", "Towage")
    for n, (name, value) in enumerate(zip(names, (310, 170, 240, 90, 130), strict=True)):
        y = 220 + 24 * n
        drawing.text(100, y + 11, name)
        drawing.page.draw_rect((200, y, 200 + value, y + 14), color=None, fill=BLUE)
        drawing.text(206, y + 11, f"{value}")
        drawing.text(520, y + 11, f"{value - 7}")
    rows = [unit for page in drawing.read() for unit in page.units if unit.table]
    assert [row.table.cells[0].text for row in rows if row.table] == list(names)


def test_a_table_in_one_frame_with_a_chart_is_a_table(drawing: Drawing) -> None:
    years = [
        (str(2020 + n), *values)
        for n, values in enumerate(
            [
                ("16.1", "27.0"),
                ("19.4", "27.4"),
                ("27.2", "34.0"),
                ("21.6", "36.8"),
                ("29.7", "33.5"),
                ("12.5", "40"),
            ]
        )
    ]
    for x in (100, 440):
        drawing.rule(x, 200, x, 520)
    for y in (200, 520):
        drawing.rule(100, y, 440, y)
    for n, row in enumerate(years):
        for x, text in zip((120, 230, 340), row, strict=True):
            drawing.text(x, 220 + 14 * n, text)
    drawing.page.draw_polyline([(104, 500), (200, 420), (300, 460), (436, 380)], color=BLUE)
    rows = [unit.table for page in drawing.read() for unit in page.units if unit.table]
    assert [tuple(cell.text for cell in row.cells) for row in rows] == years


@pytest.mark.parametrize("width", [110, 170])
def test_a_text_beside_a_chart_is_read_past_it(width: float) -> None:
    page = Drawing()
    left = LEFT + width + 60
    page.lines(justified(f"{PROSE} {OTHER} {PROSE}", width), y=100, leading=14)
    page.text(left, 153, "% of all berths let in the first week of each year", size=7)
    page.rule(left + 60, 151, left + 60, 300)
    page.page.draw_polyline([(left, 290), (left + 60, 170), (left + 200, 210)], color=BLUE)
    for n in range(5):
        page.text(left + 8 + 44 * n, 184 + 14 * (n % 3), str(40 + n))
        page.text(left + 8 + 44 * n, 296, str(2030 + n))
    units = page.units()
    assert not [unit.text for unit in units if unit.type == "table"]
    assert f"{PROSE} {OTHER} {PROSE}" in " ".join(unit.text for unit in units if len(unit.text) > 60)


def test_numbers_on_a_picture_are_no_cells_of_the_text_beside_it() -> None:
    drawing = Drawing()
    picture = pymupdf.Pixmap(pymupdf.csGRAY, pymupdf.IRect(0, 0, 200, 120))
    picture.clear_with(200)
    drawing.page.insert_image((340, 90, 540, 210), pixmap=picture)
    lines = justified(f"{PROSE} {OTHER}", 250)
    drawing.lines(lines, y=100)
    for n, x in enumerate((360, 420, 520)):
        drawing.lines(["1", "2", "3"], x, 100 + 12 * n)
    drawing.lines(["Figure 2: The window"], 340, 230)
    assert f"{PROSE} {OTHER}" in texts(drawing.units())


def test_a_photograph_in_a_long_text_is_a_figure_and_its_background_is_none() -> None:
    drawing = Drawing()
    picture = pymupdf.Pixmap(pymupdf.csGRAY, pymupdf.IRect(0, 0, 200, 120))
    picture.clear_with(200)
    drawing.page.insert_image((0, 0, 595, 842), pixmap=picture, keep_proportion=False)
    drawing.page.insert_image((340, 90, 540, 210), pixmap=picture)
    drawing.page.insert_image((72, 40, 92, 52), pixmap=picture)  # a logo
    drawing.lines(justified(f"{PROSE} {OTHER} {PROSE} {OTHER}", 250), y=100)
    (page,) = drawing.read()
    assert [figure.rect for figure in page.figures] == [pytest.approx((340, 90, 540, 210), abs=0.5)]


@pytest.mark.parametrize("rotation", [0, 90])
def test_a_cropped_picture_is_where_it_is_seen(rotation: int) -> None:
    drawing = Drawing()
    picture = pymupdf.Pixmap(pymupdf.csGRAY, pymupdf.IRect(0, 0, 300, 300))
    picture.clear_with(120)
    drawing.page.insert_image((200, 60, 700, 560), pixmap=picture)
    drawing.page.clean_contents()
    (xref,) = drawing.page.get_contents()
    drawn = drawing.document.xref_stream(xref)
    drawing.document.update_stream(xref, b"q 340 632 200 120 re W n " + drawn + b" Q")
    drawing.lines(justified(f"{PROSE} {OTHER} {PROSE} {OTHER}", 250), y=100)
    drawing.page.set_rotation(rotation)
    (page,) = drawing.read()
    assert [figure.rect for figure in page.figures] == [pytest.approx((340, 90, 540, 210), abs=0.5)]


def test_points_plotted_as_signs_leave_a_plot_a_figure(drawing: Drawing) -> None:
    drawing.page.draw_rect(PLOT, color=BLUE)
    drawing.page.draw_curve((130, 390), (270, 100), (410, 390), color=BLUE)
    for n in range(1200):
        drawing.text(140 + 7 * (n % 39), 240 + 5 * (n // 39), "m", 6, "zadb")  # a circle
    drawing.lines([CAPTION], 120, 430)
    (figure,) = figures(drawing)
    assert figure.rect.overlap_y(PLOT) > 0.9 * PLOT.height
    assert not [unit for unit in drawing.units() if unit.type == "table"]


def test_a_histogram_whose_bars_touch_is_a_figure(drawing: Drawing) -> None:
    for n, height in enumerate((10, 30, 60, 90, 130, 150, 120, 100, 70, 50, 30, 20, 12, 8)):
        x = 140 + 18 * n
        drawing.page.draw_rect((x, 390 - height, x + 18, 390), color=None, fill=BLUE)
    drawing.lines([CAPTION], 120, 430)
    (figure,) = figures(drawing)
    assert figure.rect.overlap_x(PLOT) > 200


def test_a_frame_of_points_is_a_figure_and_one_of_check_marks_is_none(drawing: Drawing) -> None:
    drawing.page.draw_rect(PLOT, color=BLUE)
    for n in range(60):
        drawing.text(140 + 37 * n % 260, 240 + 53 * n % 140, "m", 6, "zadb")  # a circle
    drawing.page.draw_rect((120, 500, 420, 680), color=BLUE)
    for n in range(60):
        drawing.text(140 + 40 * (n % 6), 520 + 15 * (n // 6), "4", 8, "zadb")  # a check mark
    (figure,) = figures(drawing)
    assert figure.rect.y1 < 450


def test_dashes_for_no_value_are_no_points_of_a_plot(drawing: Drawing) -> None:
    drawing.page.draw_rect((60, 210, 540, 700), color=BLUE)
    for row in range(36):
        drawing.text(70, 225 + 12 * row, "Intl")
        for column in range(10):
            value = "-" if (row + column) % 3 == 0 else f"{row + 7 * column}.{column}%"
            drawing.text(150 + 38 * column + row % 7, 225 + 12 * row, value)
    assert figures(drawing) == []
    assert len([unit for unit in drawing.units() if unit.type == "table"]) == 36
