"""Where one table ends and the next begins: heads set anew, other columns, the end of a page."""

from __future__ import annotations

from collections.abc import Sequence

from tests.pdf.layout_drawing import LEFT, PROSE, Drawing, justified
from tests.pdf.tables.test_tables import cells, draw_statement, rows_of


def draw_dated_statement(drawing: Drawing, y: float, years: Sequence[str]) -> float:
    """The statement, with a year over each column of values."""
    for right, year in zip((400, 500), years, strict=True):
        drawing.text(right - 22, y, year)
    return draw_statement(drawing, y=y + 14)


def test_a_second_set_of_heads_begins_a_second_table() -> None:
    drawing = Drawing()
    below = draw_dated_statement(drawing, 172, ("2023", "2022"))
    drawing.text(LEFT, below + 6, "Of these, abroad")
    draw_dated_statement(drawing, below + 20, ("2021", "2020"))
    units = drawing.units()
    assert [unit.type for unit in units] == [*["table"] * 6, "prose", *["table"] * 6]
    rows = rows_of(units)
    assert [row.index for row in rows] == [0] * 6 + [1] * 6
    assert rows[3].head_rows[1:] == ("2023", "2022")
    assert rows[-1].head_rows[1:] == ("2021", "2020")


def test_tables_of_other_columns_one_under_the_other_are_two() -> None:
    """A head of the lower table reaches over both columns of values of the upper one."""
    drawing = Drawing()
    below = draw_dated_statement(drawing, 172, ("2023", "2022"))
    for x, head in ((LEFT, "Quarter"), (230, "Opened"), (300, "Closed"), (370, "Stores open at the end")):
        drawing.text(x, below + 10, head)
    for n, quarter in enumerate(("First quarter", "Second quarter", "Third quarter")):
        for x, value in ((LEFT, quarter), (240, f"{n + 3}"), (310, f"{n}"), (410, f"1,30{n}")):
            drawing.text(x, below + 24 + 14 * n, value)
    rows = rows_of(drawing.units())
    assert [row.index for row in rows] == [0] * 6 + [1] * 4
    assert cells(rows[4]) == ["Allowance for losses", "(47)", "(12)"]
    assert rows[-1].head_rows == ("Quarter", "Opened", "Closed", "Stores open at the end")


def test_the_head_of_a_group_of_rows_is_no_head_of_columns() -> None:
    drawing = Drawing()
    drawing.text(LEFT, 200, "Operating activities")
    for right, year in ((400, "2023"), (500, "2022")):
        drawing.text(right - 22, 186, year)
    below = draw_statement(drawing, y=214)
    drawing.text(LEFT, below, "Investing activities")
    draw_statement(drawing, y=below + 14)
    rows = rows_of(drawing.units())
    assert {row.index for row in rows} == {0}
    assert [row.row for row in rows if row.header] == [0]
    assert rows[-1].head_rows[1:] == ("2023", "2022")


def test_a_table_goes_on_over_the_page_break() -> None:
    drawing = Drawing()
    many = [(f"Item {n}", f"{n * 31}", f"{n * 17}") for n in range(1, 40)]
    for right, year in ((400, "2023"), (500, "2022")):
        drawing.text(right - 22, 86, year)
    draw_statement(drawing, y=100, rows=many)
    drawing.new_page()
    draw_statement(drawing, y=100, rows=many[:5])
    pages = drawing.read()
    first, second = (rows_of(page.units) for page in pages)
    assert second[0].index == first[0].index
    assert second[0].row == first[-1].row + 1
    assert second[0].head_rows == first[-1].head_rows
    assert pages[1].units[0].continues


def test_a_table_with_heads_of_its_own_on_the_next_page_is_another() -> None:
    drawing = Drawing()
    draw_dated_statement(drawing, 172, ("2023", "2022"))
    drawing.new_page()
    draw_dated_statement(drawing, 90, ("2021", "2020"))
    first, second = (rows_of(page.units) for page in drawing.read())
    assert {row.index for row in first} == {0} and {row.index for row in second} == {1}
    assert second[-1].head_rows[1:] == ("2021", "2020")


def test_the_same_heads_printed_again_on_the_next_page_continue_the_table() -> None:
    drawing = Drawing()
    draw_dated_statement(drawing, 172, ("2023", "2022"))
    drawing.new_page()
    draw_dated_statement(drawing, 90, ("2023", "2022"))
    first, second = (rows_of(page.units) for page in drawing.read())
    assert {row.index for row in [*first, *second]} == {0}
    assert second[0].header and second[-1].row == 11


HEADS = ((LEFT, "No."), (110, "Duty"), (400, "Coast"), (460, "Since"))
DUTY = "Keep the lamp burning from dusk to dawn, trim its wick each"


def draw_duties(drawing: Drawing, y: float, first: int) -> float:
    """Three rows under heads of their own, the second with a text of two lines."""
    for x, head in HEADS:
        drawing.text(x, y, head, font="hebo")
    for n in range(first, first + 3):
        y += 22
        for x, cell in ((LEFT, f"{n}.1"), (110, DUTY), (402, "x"), (462, f"19{n + 10}")):
            drawing.text(x, y, cell)
        y += 12
        drawing.text(110, y, f"hour, and enter keeper {n}")
    return y + 22


def test_heads_that_each_page_repeats_at_its_top_stay_with_their_table() -> None:
    """No running head, though they stand at one place on all pages: cells of the first row are under them."""
    drawing = Drawing()
    for page in range(4):
        if page:
            drawing.new_page()
        drawing.text(LEFT, 40, "Rules for lighthouses", size=8)
        draw_duties(drawing, 70, 3 * page + 1)
        drawing.text(290, 810, str(page + 1), size=8)
    pages = drawing.read()
    assert [[piece.text for piece in page.furniture] for page in pages] == [
        ["Rules for lighthouses", str(number)] for number in range(1, 5)
    ]
    rows = rows_of([unit for page in pages for unit in page.units])
    assert {row.index for row in rows} == {0}
    assert {row.head_rows for row in rows if not row.header} == {("No.", "Duty", "Coast", "Since")}


def test_a_running_head_of_three_parts_over_prose_is_no_head_of_columns() -> None:
    drawing = Drawing()
    for page in range(4):
        if page:
            drawing.new_page()
        for x, part in ((LEFT, "Lighthouses"), (250, "Rules"), (460, "Edition 3")):
            drawing.text(x, 50, part, size=8)
        drawing.lines(justified(f"Part {'ABCD'[page]}. {PROSE}", 430))
    assert all(len(page.furniture) == 3 for page in drawing.read())


def test_prose_at_the_top_of_a_page_is_no_cell_of_the_table_before_it() -> None:
    drawing = Drawing()
    drawing.lines(justified(PROSE, 430), y=640)
    draw_duties(drawing, 720, 1)
    drawing.new_page()
    drawing.lines(justified(f"and so {PROSE}", 430))
    assert drawing.units()[-1].type == "prose"
