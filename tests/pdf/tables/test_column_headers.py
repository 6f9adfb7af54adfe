"""Which columns the heads of a table cover; a wrong one gives a value another year."""

from __future__ import annotations

from collections.abc import Sequence

import pymupdf
import pytest

from pdf.structure import TableRow
from tests.pdf.layout_drawing import LEFT, Drawing

NAMES = ("Sales to customers", "Cost of products sold", "Selling expenses", "Net earnings")
PITCH = 12
SIX = (307, 377, 447, 517, 587, 657)
Placed = tuple[float, str]


def heads_of(head: Sequence[Sequence[Placed]], rights: Sequence[float]) -> tuple[str, ...]:
    """The heads of the value columns: numbers flush right at ``rights``, heads centred as placed."""
    drawing = Drawing(width=842)
    for n, row in enumerate(head):
        for middle, text in row:
            x = middle - pymupdf.get_text_length(text, "helv", 10) / 2
            drawing.text(x, 150 + PITCH * n, text)
    for n, name in enumerate(NAMES):
        y = 150 + PITCH * (len(head) + n)
        drawing.text(LEFT, y, name)
        for column, right in enumerate(rights):
            value = f"{(n + 2) * 1111 + column * 7:,}"
            drawing.text(right - pymupdf.get_text_length(value, "helv", 10), y, value)
    rows: list[TableRow] = [unit.table for unit in drawing.units() if unit.table is not None]
    row = rows[-1]
    return tuple(row.head_rows[cell.column] for cell in row.cells[1:])


def test_years_in_the_gutters_between_amounts_and_shares_head_both() -> None:
    rights = (400, 480, 560, 640, 720)
    found = heads_of(
        [
            [(547, "SECOND QUARTER")],
            [(426, "2023"), (586, "2022"), (707, "Percent")],
            [(387, "Amount"), (467, "Share"), (547, "Amount"), (627, "Share"), (707, "Change")],
        ],
        rights,
    )
    quarter = "SECOND QUARTER"
    assert found == (
        f"{quarter} 2023 Amount",
        f"{quarter} 2023 Share",
        f"{quarter} 2022 Amount",
        f"{quarter} 2022 Share",
        f"{quarter} Percent Change",
    )


def test_two_heads_share_out_six_years() -> None:
    years = list(zip(SIX, ("2018", "2017", "2016") * 2, strict=True))
    found = heads_of([[(377, "Net sales"), (587, "Operating income")], years], (320, 390, 460, 530, 600, 670))
    assert found == tuple(
        f"{head} {year}" for head in ("Net sales", "Operating income") for year in ("2018", "2017", "2016")
    )


def test_a_head_over_some_columns_leaves_the_others_alone() -> None:
    found = heads_of(
        [
            [(517, "% Change")],
            [(307, "2022"), (377, "2021"), (447, "Reported"), (517, "Currency"), (587, "Adjusted")],
        ],
        (320, 390, 460, 530, 600),
    )
    assert found[:2] == ("2022", "2021")
    assert found[3] == "% Change Currency"


@pytest.mark.parametrize("column", [1, 2])
def test_a_head_of_several_lines_is_that_of_its_own_column(column: int) -> None:
    middles = (307, 407, 507)
    rest = [(x, f"Part {n}") for n, x in enumerate(middles) if n != column]
    broken = ["Weighted", "average", "price"]
    head = [[(middles[column], word)] for word in broken[:-1]]
    found = heads_of([*head, sorted([*rest, (middles[column], broken[-1])])], (322, 422, 522))
    expected = [f"Part {n}" for n in range(3)]
    expected[column] = " ".join(broken)
    assert list(found) == expected


def test_heads_that_stand_beside_their_values_head_them_in_their_order() -> None:
    found = heads_of([[(380, "2023"), (470, "2022"), (560, "2021")]], (425, 515, 605))
    assert found == ("2023", "2022", "2021")


def test_a_year_is_not_the_first_line_of_the_head_below_it() -> None:
    found = heads_of(
        [
            [(377, "October 29, 2022"), (587, "October 30, 2021")],
            list(zip(SIX, ("Gross", "Accum.", "Net") * 2, strict=True)),
        ],
        (320, 390, 460, 530, 600, 670),
    )
    assert found == tuple(
        f"{date} {head}"
        for date in ("October 29, 2022", "October 30, 2021")
        for head in ("Gross", "Accum.", "Net")
    )


def test_a_date_in_the_middle_of_two_columns_heads_both_and_is_no_value() -> None:
    rights = (330, 375, 460, 505)
    dates = [(340, "December 31, 2023"), (470, "December 31, 2022")]
    kinds = list(zip((318, 363, 448, 493), ("Total", "Level 2") * 2, strict=True))
    assert heads_of([dates, kinds], rights) == (
        "December 31, 2023 Total",
        "December 31, 2023 Level 2",
        "December 31, 2022 Total",
        "December 31, 2022 Level 2",
    )


@pytest.mark.parametrize("last", ["2026-2030", "2026-30", "2026/27", "ACE05"])
def test_years_and_names_with_digits_are_heads(last: str) -> None:
    assert heads_of([[(307, "2024"), (377, "2025"), (447, last)]], (320, 390, 460)) == ("2024", "2025", last)


def test_words_that_only_spaces_part_are_heads_each_where_each_is_set_to_its_column() -> None:
    heads = [(310, "Weekly"), (347, "Monthly"), (384, "Yearly")]
    assert heads_of([heads], (322, 359, 396)) == ("Weekly", "Monthly", "Yearly")


def test_words_over_columns_that_they_are_not_set_to_head_all_of_them() -> None:
    heads = [(325, "Whole"), (352, "year"), (376, "net")]
    assert set(heads_of([heads], (322, 359, 396))) == {"Whole year net"}


def test_a_date_heads_the_values_below_an_empty_line_or_the_title_of_their_rows() -> None:
    for title, gap in (("", 2 * PITCH), ("Fees paid until March:", 2 * PITCH)):
        drawing = Drawing()
        drawing.text(420, 150, "2014-2023")
        drawing.text(LEFT, 150 + PITCH, title)
        for n, name in enumerate(NAMES):
            drawing.text(LEFT, 150 + gap + PITCH * n, name)
            drawing.text(430, 150 + gap + PITCH * n, f"{(n + 2) * 1111:,}")
        rows = [unit.table for unit in drawing.units() if unit.table is not None]
        assert [row.head_rows[1] for row in rows[-4:]] == 4 * ["2014-2023"]


def test_a_number_sign_is_a_head() -> None:
    drawing = Drawing()
    cells = (
        ("Level", "Requirement", "#"),
        ("2", "Check the token", "1.5.1"),
        ("3", "Check the date", "1.5.2"),
    )
    for n, row in enumerate(cells):
        for x, text in zip((LEFT, 130, 330), row, strict=True):
            drawing.text(x + 4, 114 + 20 * n, text)
    for y in range(100, 161, 20):
        drawing.rule(LEFT, y, 400, y)
    for x in (LEFT, 130, 330, 400):
        drawing.rule(x, 100, x, 160)
    rows = [unit.table for unit in drawing.units() if unit.table is not None]
    assert [row.header for row in rows] == [True, False, False]
    assert rows[1].head_rows == ("Level", "Requirement", "#")


def test_of_two_captions_a_table_has_the_nearest() -> None:
    drawing = Drawing()
    for top, caption in ((120, "Table 1: Fees by month."), (220, "Table 2: Costs by month.")):
        for n, row in enumerate((("Month", "Sum"), ("March", "4,711"), ("April", "4,200"), ("May", "3,900"))):
            drawing.text(LEFT, top + PITCH * n, row[0])
            drawing.text(250, top + PITCH * n, row[1])
        drawing.text(LEFT, top + 5 * PITCH, caption)
        drawing.text(
            LEFT, top + 6.5 * PITCH, "Both sums are in thousands of the usual currency.", font="tiit"
        )
    rows = [unit.table for unit in drawing.units() if unit.table is not None]
    assert {row.caption for row in rows if row.index == 1} == {"Table 2: Costs by month."}


THREE = ("Asked", "Told", "Share")
GROUPED = ("Town", *(f"{group} {head}" for group in ("Adults", "Children") for head in THREE))


def draw_groups(drawing: Drawing, groups: Sequence[str], ruled: bool) -> None:
    """Heads over three columns each, heads of these, and three towns; a rule after heads and towns if so."""
    ends = (220, 280, 340, 410, 470, 530)
    for middle, group in zip((265, 455), groups, strict=True):
        drawing.text(middle - pymupdf.get_text_length(group, "hebo", 10) / 2, 100, group, font="hebo")
    for row, cells in enumerate([THREE * 2, *[(f"{n}01", f"{n}7", f"{n}0%") * 2 for n in (1, 2, 3)]]):
        y = 114 + 20 * row
        for x1, cell in zip(ends, cells, strict=True):
            drawing.text(x1 - pymupdf.get_text_length(cell, "helv", 10), y, cell)
        drawing.text(LEFT, y, ("Town", "Ashford", "Dover", "Rye")[row], font="helv" if row else "hebo")
    for y in (88, 119, 139, 159, 179) if ruled else ():
        drawing.rule(LEFT, y, 535, y)


@pytest.mark.parametrize("ruled", [False, True])
def test_heads_over_three_columns_each_count_for_all_of_them(ruled: bool) -> None:
    """Though a head of one column stands right below, over the one in the middle."""
    drawing = Drawing()
    draw_groups(drawing, ("Adults", "Children"), ruled)
    rows = [unit.table for unit in drawing.units() if unit.table]
    assert [row.header for row in rows] == [True, True, False, False, False]
    assert {row.head_rows for row in rows if not row.header} == {GROUPED}


def test_a_first_line_that_recurs_in_each_group_belongs_to_the_head_below_it() -> None:
    drawing = Drawing()
    draw_groups(drawing, ("Were", "Were"), ruled=False)
    heads = next(unit.table.head_rows for unit in drawing.units() if unit.table and not unit.table.header)
    assert heads == ("Town", "Asked", "Were Told", "Share", "Asked", "Were Told", "Share")


RIGHTS = (400, 480, 560)
YEARS = ("2023", "2022", "2021")


def draw_row(
    drawing: Drawing, y: float, label: str, cells: Sequence[str], rights: Sequence[float] = RIGHTS
) -> None:
    """A label and cells that end at ``rights``."""
    drawing.text(LEFT, y, label)
    for right, cell in zip(rights, cells, strict=False):
        drawing.text(right - pymupdf.get_text_length(cell, "helv", 10), y, cell)


def draw_sums(drawing: Drawing, y: float) -> None:
    for n, name in enumerate(NAMES):
        draw_row(drawing, y + PITCH * n, name, [f"{(n + 2) * 1111 + k:,}" for k in range(3)])


def rows_below(drawing: Drawing, y: float) -> list[TableRow]:
    """The rows that begin below ``y``."""
    return [unit.table for unit in drawing.units() if unit.table is not None and unit.bbox.y0 > y]


def under_another_table(between: str) -> list[TableRow]:
    """The rows of a table without heads, below one with years and ``between``."""
    drawing = Drawing()
    draw_row(drawing, 100, "", YEARS)
    draw_sums(drawing, 112)
    drawing.text(LEFT, 190, between, size=14, font="hebo")
    draw_sums(drawing, 220)
    return rows_below(drawing, 200)


def test_a_table_without_heads_has_the_years_of_the_line_above_it_with_their_boxes() -> None:
    rows = under_another_table("Outside the country")
    assert {row.head_rows for row in rows} == {("", *YEARS)}
    assert 0 < rows[0].head_confidence < 1
    assert rows[0].head_rects[0] is None
    assert [round(rect.x1) for rect in rows[0].head_rects if rect] == list(RIGHTS)
    assert all(rect.y1 < 112 for rect in rows[0].head_rects if rect)


def test_a_sentence_above_a_table_ends_what_stands_over_its_columns() -> None:
    rows = under_another_table("The sums below are those of the shops abroad:")
    assert {row.head_rows for row in rows} == {()}


def test_years_within_a_sentence_head_no_columns() -> None:
    drawing = Drawing()
    drawing.text(300, 100, "Paid in 2023, 2022 and 2021, in thousands")
    draw_sums(drawing, 130)
    assert {row.head_rows for row in rows_below(drawing, 110)} == {()}


def test_years_beside_the_columns_of_a_table_are_not_its_heads() -> None:
    drawing = Drawing(width=900)
    draw_row(drawing, 100, "", YEARS, (700, 780, 860))
    drawing.text(LEFT, 118, "Outside the country", font="hebo")
    draw_sums(drawing, 140)
    assert {row.head_rows for row in rows_below(drawing, 125)} == {()}


def test_as_many_years_as_columns_head_them_though_they_are_set_to_the_left_of_the_values() -> None:
    drawing = Drawing()
    draw_row(drawing, 100, "", YEARS, (362, 442, 522))
    drawing.text(LEFT, 118, "Outside the country", font="hebo")
    draw_sums(drawing, 140)
    assert {row.head_rows for row in rows_below(drawing, 125)} == {("", *YEARS)}


def test_own_heads_of_a_table_are_sure() -> None:
    drawing = Drawing()
    draw_row(drawing, 100, "", YEARS)
    draw_sums(drawing, 112)
    rows = rows_below(drawing, 104)
    assert {row.head_rows for row in rows} == {("", *YEARS)}
    assert {(row.head_confidence, row.head_rects) for row in rows} == {(1.0, ())}


@pytest.mark.parametrize("change", ["23/22", "%", "(1)"])
def test_a_line_of_years_is_a_head_though_shares_or_notes_stand_beside_them(change: str) -> None:
    drawing = Drawing()
    drawing.text(420, 100, "Year ended June 30,")
    draw_row(drawing, 112, "(in millions)", ("2023", "2022", change))
    draw_sums(drawing, 124)
    rows = rows_below(drawing, 80)
    assert [row.header for row in rows] == [True, True, False, False, False, False]
    assert [head.split()[-1] for head in rows[-1].head_rows[1:]] == ["2023", "2022", change]


def test_a_header_cell_says_which_columns_it_stands_over() -> None:
    drawing = Drawing()
    draw_groups(drawing, ("Adults", "Children"), ruled=False)
    head = next(unit.table for unit in drawing.units() if unit.table)
    assert [cell.headed_columns for cell in head.cells] == [(1, 2, 3), (4, 5, 6)]


def gridded(drawing: Drawing, top: float) -> None:
    """Three ruled rows of four columns without a head in the grid."""
    xs = (72, 172, 252, 332, 412)
    for n in range(3):
        for x, text in zip(xs, (f"Port {n}", f"{n}20", f"{n}31", f"{n}42"), strict=False):
            drawing.text(x + 4, top + 14 + 20 * n, text)
    for n in range(4):
        drawing.rule(72, top + 20 * n, 412, top + 20 * n)
    for x in xs:
        drawing.rule(x, top, x, top + 60)


def test_heads_in_two_lines_above_a_grid_head_its_columns() -> None:
    drawing = Drawing()
    gridded(drawing, 200)
    for x, y, text in (
        (76, 196, "Harbour"),
        (176, 184, "Boats"),
        (176, 196, "in May"),
        (270, 172, "Landed by crew"),
        (256, 196, "old"),
        (336, 196, "new"),
    ):
        drawing.text(x, y, text)
    rows = [unit.table for unit in drawing.units() if unit.table]
    assert [row.header for row in rows] == [True, True, False, False, False]
    assert rows[2].head_rows == ("Harbour", "Boats in May", "Landed by crew old", "Landed by crew new")
    assert (rows[0].cells[0].column, rows[0].cells[0].span) == (2, 2)


def test_prose_above_a_grid_is_no_head() -> None:
    drawing = Drawing()
    gridded(drawing, 200)
    drawing.text(72, 184, "The boats of each harbour are counted in the table that follows below,")
    drawing.text(72, 196, "for each of the months.")
    units = drawing.units()
    assert units[0].type == "prose" and sum(unit.table is not None for unit in units) == 3


def test_years_and_a_percent_sign_below_a_group_head_are_heads() -> None:
    drawing = Drawing()
    drawing.text(330, 100, "CHANGE")
    for n, row in enumerate(
        [("Ministry", "2036", "2037", "Amount", "%")]
        + [(f"Office {n}", f"{n}42.066", f"{n}97.841", f"{n}5.775", f"{n},7") for n in range(1, 5)]
    ):
        for x, text in zip((72, 180, 250, 320, 390), row, strict=True):
            drawing.text(x, 114 + 14 * n, text)
    rows = [unit.table for unit in drawing.units() if unit.table]
    assert [row.header for row in rows[:3]] == [True, True, False]
    assert rows[2].head_rows[:3] == ("Ministry", "2036", "2037")


def ruled_groups(*rules: tuple[float, float]) -> tuple[str, ...]:
    """The heads of six columns under "Adults", which is centred over none of their groups."""
    drawing = Drawing(width=842)
    drawing.text(360, 100, "Adults")
    for x0, x1 in rules:
        drawing.rule(x0, 103, x1, 103)
    draw_row(drawing, 116, "", ("1 a", "1 b", "1 c", "1 d"), (320, 400, 480, 560))
    for n, name in enumerate(NAMES):
        draw_row(drawing, 132 + PITCH * n, name, [f"{n + k + 11}" for k in range(4)], (320, 400, 480, 560))
    return next(unit.table.head_rows for unit in drawing.units() if unit.table and not unit.table.header)[1:]


def test_a_ruling_of_its_own_below_a_head_shows_its_columns() -> None:
    assert ruled_groups((290, 480)) == ("Adults 1 a", "Adults 1 b", "Adults 1 c", "1 d")


def test_a_ruling_below_the_labels_too_shows_the_extent_of_no_head() -> None:
    assert ruled_groups((LEFT, 562)) == ruled_groups()


def test_a_part_of_a_table_has_all_rows_of_heads_of_the_part_above() -> None:
    drawing = Drawing()
    drawing.text(440, 88, "Sales")
    draw_row(drawing, 100, "", ("Amount", "Share", "Rank"))
    draw_sums(drawing, 112)
    drawing.text(LEFT, 190, "Outside the country", size=14, font="hebo")
    draw_sums(drawing, 220)
    assert {row.head_rows[1:] for row in rows_below(drawing, 200)} == {
        row.head_rows[1:] for row in rows_below(drawing, 105) if row.head_rows
    }


def test_heads_that_repeat_the_lowest_line_above_belong_to_its_groups_too() -> None:
    drawing = Drawing()
    drawing.text(368, 88, "In the year 2023 at home, in all of its shops")
    draw_row(drawing, 100, "", ("Amount", "Share", "Rank"))
    draw_sums(drawing, 112)
    drawing.text(LEFT, 190, "Outside the country", size=14, font="hebo")
    draw_row(drawing, 208, "", ("Amount", "Share", "Rank"))
    draw_sums(drawing, 220)
    first, second = (
        {row.head_rows[1:] for row in rows_below(drawing, y) if row.head_rows} for y in (50, 205)
    )
    assert first == second
    assert any("2023" in head for heads in second for head in heads)


def test_a_title_centred_on_the_table_heads_rows_and_no_column() -> None:
    drawing = Drawing()
    draw_row(drawing, 100, "Name", ("2023", "2022", "2021"))
    title, middle = "Shops in the towns of the north, the east and the south", (LEFT + RIGHTS[-1]) / 2
    drawing.text(middle - pymupdf.get_text_length(title, "helv", 10) / 2, 124, title)
    draw_sums(drawing, 144)
    for y in (88, 104, 190):
        drawing.rule(LEFT, y, RIGHTS[-1], y)
    rows = [unit.table for unit in drawing.units() if unit.table]
    assert [(cell.column, cell.span, cell.header) for cell in rows[1].cells] == [(0, 4, False)]
    assert rows[2].head_rows == ("Name", "2023", "2022", "2021")


def test_the_first_line_of_a_wrapped_head_of_words_is_a_head() -> None:
    drawing = Drawing()
    drawing.text(400, 100, "Name of the market on")
    for y, cells in (
        (111, ("Class of shares", "Symbol", "which they are sold")),
        (135, ("Common shares", "FL", "New York")),
        (150, ("Preferred shares", "FLP", "Boston")),
    ):
        for x, cell in zip((LEFT, 280, 400), cells, strict=True):
            drawing.text(x, y, cell)
    rows = [unit.table for unit in drawing.units() if unit.table]
    assert [row.header for row in rows] == [True, True, False, False]
    assert rows[-1].head_rows == ("Class of shares", "Symbol", "Name of the market on which they are sold")


def test_a_head_in_a_group_is_over_no_column_of_another_group() -> None:
    rights = (250, 310, 370, 430, 490, 550, 610, 670, 730, 790)
    middles = tuple(right - 12 for right in rights)
    lowest = [
        (x, text) for x, text in zip(middles, ("2023", "2022", "Total", "Work", "Rest") * 2, strict=True)
    ]
    found = heads_of(
        [
            [(middles[2], "SECOND QUARTER"), (middles[7], "SIX MONTHS")],
            [(middles[3] - 12, "Percent Change"), (middles[8] - 12, "Percent Change")],
            lowest,
        ],
        rights,
    )
    assert [head.count("Percent Change") for head in found] == [0, 0, 1, 1, 1] * 2
