"""Tables: which words stand in one, its rows, cells and heads; and what only looks like one."""

from __future__ import annotations

from collections.abc import Sequence

import pymupdf

from pdf.structure import ParsedUnit, TableRow
from tests.pdf.layout_drawing import LEFT, OTHER, PROSE, Drawing, justified, right_to_left, texts

STATEMENT = [
    ("Cash and cash equivalents", "351", "1,339"),
    ("Merchandise inventories", "1,685", "1,301"),
    ("Other current assets", "302", "253"),
    ("Allowance for losses", "(47)", "(12)"),
    ("Total", "2,291", "2,881"),
]


def draw_statement(drawing: Drawing, y: float = 200, rows: Sequence[tuple[str, ...]] = STATEMENT) -> float:
    """Row heads at the left margin, numbers flush right at 400 and 500, dollar signs in the first row."""
    for n, (head, *values) in enumerate(rows):
        drawing.text(LEFT, y + 14 * n, head)
        for right, value in zip((400, 500), values, strict=True):
            drawing.text(right - pymupdf.get_text_length(value, "helv", 10), y + 14 * n, value)
            if n == 0:
                drawing.text(right - 60, y, "$")
    return y + 14 * len(rows)


def rows_of(units: Sequence[ParsedUnit]) -> list[TableRow]:
    return [unit.table for unit in units if unit.table is not None]


def cells(row: TableRow) -> list[str]:
    return [cell.text for cell in row.cells]


def test_an_unruled_statement_is_a_table_with_a_unit_per_row() -> None:
    drawing = Drawing()
    drawing.lines(justified(PROSE, 430))
    below = draw_statement(drawing)
    drawing.lines(justified(OTHER, 430), y=below + 20)
    units = drawing.units()
    assert [unit.type for unit in units] == ["prose", *["table"] * 5, "prose"]
    assert cells(rows_of(units)[3]) == ["Allowance for losses", "(47)", "(12)"]
    assert [row.row for row in rows_of(units)] == [0, 1, 2, 3, 4]
    assert {row.index for row in rows_of(units)} == {0}


def test_a_dollar_sign_in_a_column_of_its_own_belongs_to_its_number() -> None:
    drawing = Drawing()
    draw_statement(drawing)
    assert cells(rows_of(drawing.units())[0]) == ["Cash and cash equivalents", "$ 351", "$ 1,339"]


def test_a_dollar_sign_right_behind_a_percentage_belongs_to_the_number_after_it() -> None:
    drawing = Drawing()
    for n, (name, share, amount) in enumerate(
        [("Net sales", "24.3 %", "7,548"), ("Other", "35.5 %", "4,858")]
    ):
        drawing.text(LEFT, 200 + 14 * n, name)
        drawing.text(300, 200 + 14 * n, f"{share} $")
        drawing.text(400, 200 + 14 * n, amount)
        drawing.text(460, 200 + 14 * n, amount)
    assert [cells(row)[1:3] for row in rows_of(drawing.units())] == [
        ["24.3 %", "$ 7,548"],
        ["35.5 %", "$ 4,858"],
    ]


def test_a_percent_sign_set_to_its_column_s_edge_belongs_to_its_number() -> None:
    drawing = Drawing()
    for n, (head, amount, share) in enumerate(
        [
            ("Tax at the statutory rate", "1,585", "21.0"),
            ("Deductions", "(170)", "(2.3)"),
            ("Tax", "1,235", "16.4"),
        ]
    ):
        for right, text in ((300, amount), (400, share)):
            drawing.text(right - pymupdf.get_text_length(text, "helv", 10), 200 + 14 * n, text)
        drawing.text(LEFT, 200 + 14 * n, head)
        if n != 1:
            drawing.text(427, 200 + 14 * n, "%")
    assert [cells(row)[2] for row in rows_of(drawing.units())] == ["21.0 %", "(2.3)", "16.4 %"]


def test_a_currency_sign_behind_each_number_stays_with_it() -> None:
    drawing = Drawing()
    for n, (name, *amounts) in enumerate(
        [("Umsatz", "31.657 £", "30.109 £"), ("Kosten", "24.004 £", "9.117 £")]
    ):
        drawing.text(LEFT, 200 + 14 * n, name)
        for x, amount in zip((300, 380), amounts, strict=True):
            drawing.text(x, 200 + 14 * n, amount)
    assert [cells(row)[1:] for row in rows_of(drawing.units())] == [
        ["31.657 £", "30.109 £"],
        ["24.004 £", "9.117 £"],
    ]


def test_a_sign_keeps_to_its_number_where_it_stands_under_another_column() -> None:
    drawing = Drawing()
    for n, row in enumerate([("Wide", "1,151", "2,262", "3,373"), ("Total", "4,484", "5,595", "6,606")]):
        for x, text in zip((LEFT, 250, 330, 410), row, strict=True):
            drawing.text(x, 214 + 14 * n, text)
    for x, text in ((LEFT, "Narrow"), (262, "$"), (328, "7,717"), (410, "8,828")):
        drawing.text(x, 200, text)
    row = rows_of(drawing.units())[0]
    assert [(cell.column, cell.text) for cell in row.cells] == [(0, "Narrow"), (2, "$ 7,717"), (3, "8,828")]


def test_the_text_of_a_row_is_its_cells_between_tabs() -> None:
    drawing = Drawing()
    draw_statement(drawing)
    unit = drawing.units()[-1]
    assert unit.text == "Total\t2,291\t2,881"
    page = drawing.read()[0]
    for cell in page.units[-1].table.cells:  # type: ignore[union-attr]
        assert page.text[cell.char_start : cell.char_end] == cell.text


def test_heads_over_the_values_are_known_to_each_row() -> None:
    drawing = Drawing()
    drawing.text(350, 172, "Year ended in June")
    for right, year in ((400, "2023"), (500, "2022")):
        drawing.text(right - 22, 186, year)
    draw_statement(drawing)
    rows = rows_of(drawing.units())
    assert [row.header for row in rows] == [True, True, *[False] * 5]
    assert [head.split()[-1] for head in rows[2].head_rows[1:]] == ["2023", "2022"]


def test_a_head_whose_words_each_stand_over_one_column_heads_both() -> None:
    """`Year ended June 30,` runs over two columns; no word of it crosses from one to the other."""
    drawing = Drawing()
    head = "Year ended June 30,"
    drawing.text(370, 186, head)
    for right, year in ((400, "2022"), (450, "2023")):
        drawing.text(right - 25, 200, year)
        for n, (name, *values) in enumerate(STATEMENT):
            value = values[right == 450]
            drawing.text(LEFT, 214 + 14 * n, name)
            drawing.text(right - pymupdf.get_text_length(value, "helv", 10), 214 + 14 * n, value)
    rows = rows_of(drawing.units())
    assert cells(rows[0]) == [head]
    assert rows[-1].head_rows[1:] == (f"{head} 2022", f"{head} 2023")


def test_small_heads_over_larger_rows_belong_to_the_table() -> None:
    drawing = Drawing()
    drawing.text(LEFT, 172, "(in millions)", size=7)
    for right, year in ((400, "2023"), (500, "2022")):
        drawing.text(right - 30, 172, year, size=7, font="hebo")
    drawing.text(LEFT, 186, "Current assets:")
    draw_statement(drawing)
    rows = rows_of(drawing.units())
    assert len(rows) == 7 and rows[0].header
    assert rows[2].head_rows[1:] == ("2023", "2022")


def test_heads_centred_over_sign_and_number_stand_in_step_with_them() -> None:
    drawing = Drawing()
    drawing.text(LEFT, 186, "(in millions)")
    for right, year in ((320, "2023"), (420, "2022"), (520, "2021")):
        drawing.text(right - 60, 186, year)
    rows = [(f"Item {n}", f"{n}9.5", f"{n}3.1", f"{n}7.2") for n in range(1, 4)]
    for n, (head, *values) in enumerate(rows):
        drawing.text(LEFT, 200 + 14 * n, head)
        for right, value in zip((320, 420, 520), values, strict=True):
            drawing.text(right - pymupdf.get_text_length(value, "helv", 10), 200 + 14 * n, value)
    found = rows_of(drawing.units())
    assert [cells(row) for row in found[1:]] == [list(row) for row in rows]
    assert found[1].head_rows == ("(in millions)", "2023", "2022", "2021")


def test_dates_side_by_side_are_a_table() -> None:
    drawing = Drawing()
    rows = [
        ("Record date", "Payable date"),
        ("March 20, 2020", "April 6, 2020"),
        ("May 8, 2020", "June 1, 2020"),
    ]
    for n, row in enumerate(rows):
        for x, text in zip((LEFT, 300), row, strict=True):
            drawing.text(x, 200 + 14 * n, text)
    assert [cells(row) for row in rows_of(drawing.units())] == [list(row) for row in rows]


def test_a_cell_has_the_rectangle_of_its_words() -> None:
    drawing = Drawing()
    draw_statement(drawing)
    total = rows_of(drawing.units())[-1].cells[1]
    assert total.rect is not None
    assert abs(total.rect.x1 - 400) < 1.5 and total.rect.y0 < 256 < total.rect.y1


def test_the_title_above_is_the_table_s_caption() -> None:
    drawing = Drawing()
    drawing.lines(justified(PROSE, 430))
    drawing.text(LEFT, 180, "Consolidated balance sheets", size=13, font="hebo")
    draw_statement(drawing, y=210)
    assert rows_of(drawing.units())[0].caption == "Consolidated balance sheets"


def draw_grid(drawing: Drawing, xs: Sequence[float], ys: Sequence[float]) -> None:
    for x in xs:
        drawing.rule(x, ys[0], x, ys[-1])
    for y in ys:
        drawing.rule(xs[0], y, xs[-1], y)


def test_a_ruled_table_of_prose_has_the_cells_its_rulings_make() -> None:
    drawing = Drawing()
    xs, ys = (72, 172, 342, 520), (100, 120, 190, 260)
    draw_grid(drawing, xs, ys)
    drawing.text(80, 113, "Measure")
    drawing.text(180, 113, "Definition")
    drawing.text(350, 113, "Use")
    for row, name in enumerate(("Free cash flow", "Net debt")):
        drawing.text(80, 135 + 70 * row, name)
        drawing.lines(
            justified("Cash from operations less what was spent on plant and equipment", 150),
            180,
            135 + 70 * row,
        )
        drawing.lines(
            justified("Shows what is left for owners and for lenders of the firm", 160), 350, 135 + 70 * row
        )
    rows = rows_of(drawing.units())
    assert cells(rows[1]) == [
        "Free cash flow",
        "Cash from operations less what was spent on plant and equipment",
        "Shows what is left for owners and for lenders of the firm",
    ]
    assert [row.header for row in rows] == [True, False, False]
    assert rows[2].head_rows == ("Measure", "Definition", "Use")


def test_each_visual_line_of_a_row_has_a_rectangle() -> None:
    drawing = Drawing()
    draw_grid(drawing, (72, 172, 342), (100, 150, 200, 250))
    for row in range(3):
        drawing.text(80, 113 + 50 * row, "Item")
        drawing.lines(["first line of it", "second line of it"], 180, 113 + 50 * row)
    unit = drawing.units()[0]
    assert len(unit.rects) == 2
    assert unit.rects[0].x0 < 90 and unit.rects[1].x0 > 170


def test_rulings_between_the_rows_make_a_table_of_words() -> None:
    drawing = Drawing()
    rows = [
        ("Shops", "Books, tools and cloth"),
        ("Travel", "Trains and night boats"),
        ("Home", "Rent and heat"),
    ]
    for n, (head, text) in enumerate(rows):
        drawing.rule(72, 100 + 24 * n, 500, 100 + 24 * n)
        drawing.text(80, 116 + 24 * n, head)
        drawing.text(220, 116 + 24 * n, text)
    drawing.rule(72, 172, 500, 172)
    found = rows_of(drawing.units())
    assert [cells(row) for row in found] == [list(row) for row in rows]


def draw_hairlined(drawing: Drawing, y: float, rows: Sequence[Sequence[str]]) -> float:
    """Rows of words with a hairline under each, the first bold: its heads. Returns the baseline below."""
    for n, row in enumerate(rows):
        for x, cell in zip((LEFT, 200, 400), row, strict=False):
            drawing.text(x, y, cell, font="helv" if n else "hebo")
        drawing.rule(LEFT, y + 5, 520, y + 5)
        y += 18
    return y


VERDICTS = [
    ("Verdict", "What it means", "What you see"),
    ("exact", "The words stand on the page.", "a plain number"),
    ("partial", "Part of the claim stands there.", "a dotted number"),
    ("moved", "They stand in another passage.", "an arrow"),
]
KEYS = [("Key", "Action"), ("j", "next citation"), ("k", "previous citation"), ("a", "ask a question")]


def test_the_heads_above_the_first_ruling_belong_to_the_table() -> None:
    drawing = Drawing()
    drawing.lines(justified(PROSE, 430))
    drawing.text(LEFT, 182, "Table 1. The verdicts of a citation", font="hebo")
    draw_hairlined(drawing, 200, VERDICTS)
    units = drawing.units()
    assert [unit.type for unit in units] == ["prose", "caption", *["table"] * 4]
    rows = rows_of(units)
    assert rows[0].header and cells(rows[0]) == list(VERDICTS[0])
    assert rows[2].head_rows == VERDICTS[0] and not rows[2].header
    assert rows[2].caption == "Table 1. The verdicts of a citation"


def test_prose_between_two_tables_ruled_alike_parts_them() -> None:
    drawing = Drawing()
    y = draw_hairlined(drawing, 100, VERDICTS)
    y = drawing.lines(justified(PROSE, 440), y=y + 10)
    draw_hairlined(drawing, y + 10, KEYS)
    units = drawing.units()
    assert [unit.type for unit in units] == [*["table"] * 4, "prose", *["table"] * 4]
    assert [row.index for row in rows_of(units)] == [0] * 4 + [1] * 4
    assert cells(rows_of(units)[4]) == ["Key", "Action"]


def test_a_right_to_left_table_has_its_row_heads_on_the_right() -> None:
    drawing = Drawing()
    rows = [
        ("מכירות בשוק המקומי", "351", "1,339"),
        ("הוצאות", "685", "301"),
        ("סך הכול", "291", "881"),
    ]
    for n, (head, *values) in enumerate(rows):
        right_to_left(drawing.page, 520, 200 + 34 * n, head)
        if n < 2:
            right_to_left(drawing.page, 520, 213 + 34 * n, "ובשווקים אחרים")
        for right, value in zip((250, 150), values, strict=True):
            right_to_left(drawing.page, right, 200 + 34 * n, value, width=60)
    found = rows_of(drawing.units())
    assert [cells(row) for row in found] == [
        ["1,339", "351", "מכירות בשוק המקומי ובשווקים אחרים"],
        ["301", "685", "הוצאות ובשווקים אחרים"],
        ["881", "291", "סך הכול"],
    ]
    assert [cell.header for cell in found[2].cells] == [False, False, True]


def test_a_numbered_list_is_no_table() -> None:
    drawing = Drawing()
    for n, text in enumerate(("to approve the accounts;", "to pay a dividend;", "to thank the auditors.")):
        drawing.text(72, 100 + 14 * n, f"{n + 1}.")
        drawing.text(110, 100 + 14 * n, text)
    assert [unit.type for unit in drawing.units()] == ["list", "list", "list"]


def test_two_columns_of_prose_are_no_table() -> None:
    drawing = Drawing()
    drawing.lines(justified(PROSE, 210), x=LEFT)
    drawing.lines(justified(OTHER, 210), x=310)
    assert texts(drawing.units()) == [PROSE, OTHER]


def test_a_frame_round_prose_is_no_table() -> None:
    drawing = Drawing()
    draw_grid(drawing, (60, 540), (70, 400))
    drawing.lines(justified(PROSE, 430))
    assert [unit.type for unit in drawing.units()] == ["prose"]


def test_the_boxes_of_a_form_are_units_not_a_table() -> None:
    drawing = Drawing()
    edges = [
        (72, 520),
        (72, 300, 520),
        (72, 180, 400, 520),
        (72, 250, 520),
        (72, 440, 520),
        (72, 140, 360, 520),
    ]
    for n, xs in enumerate(edges):
        y = 100 + 30 * n
        draw_grid(drawing, xs, (y, y + 30))
        for k, x in enumerate(xs[:-1]):
            drawing.text(x + 4, y + 12, f"{n}{'abc'[k]} Field", size=8)
    assert {unit.type for unit in drawing.units()} <= {"prose", "list", "heading"}
    assert len(drawing.units()) == sum(len(xs) - 1 for xs in edges)


def test_white_rulings_between_coloured_cells_part_a_table() -> None:
    drawing = Drawing()
    page = drawing.page
    for row in range(4):
        y = 100 + 40 * row
        for x0, x1, fill in ((72, 120, (0.6, 0.6, 0.6)), (120, 360, (1, 1, 1)), (360, 400, (0, 0.7, 0.9))):
            page.draw_rect((x0, y, x1, y + 40), color=None, fill=fill)
    for y in (100, 140, 180, 220, 260):
        page.draw_rect((72, y - 0.5, 400, y + 0.5), color=None, fill=(1, 1, 1))
    for x in (72, 120, 360, 400):
        page.draw_rect((x - 0.5, 100, x + 0.5, 260), color=None, fill=(1, 1, 1))
    for row in range(4):
        y = 114 + 40 * row
        drawing.text(80, y, f"5.{row}")
        drawing.lines(["Verify that the application is", "not open to such a thing."], x=126, y=y)
        drawing.text(375, y, "V")
    cells = [[cell.text for cell in unit.table.cells] for unit in drawing.units() if unit.table]
    assert cells == [
        [f"5.{row}", "Verify that the application is not open to such a thing.", "V"] for row in range(4)
    ]


def test_rows_of_a_name_and_what_it_means_are_a_table_of_words() -> None:
    drawing = Drawing()
    pairs = [
        ("EPS", "earnings per share"),
        ("BLA", "Biologics License Application"),
        ("CDC", "a public agency"),
    ]
    pairs += [("Biogen", "Biogen Inc."), ("EU", "European Union"), ("R&D", "research and development")]
    for n, (name, meaning) in enumerate(pairs):
        drawing.text(72, 100 + 20 * n, name)
        drawing.text(240, 100 + 20 * n, meaning)
    assert [unit.text for unit in drawing.units()] == ["\t".join(pair) for pair in pairs]


def centred(drawing: Drawing, axis: float, y: float, text: str) -> None:
    drawing.text(axis - pymupdf.get_text_length(text, "helv", 10) / 2, y, text)


def test_heads_centred_over_words_make_a_table_of_two_rows() -> None:
    drawing = Drawing()
    for n, row in enumerate(
        [
            ("Title of each class", "Symbol", "Exchange"),
            ("Common stock of no par value", "FL", "New York"),
        ]
    ):
        for axis, text in zip((150, 330, 480), row, strict=True):
            centred(drawing, axis, 200 + 14 * n, text)
    assert [cells(row)[1] for row in rows_of(drawing.units())] == ["Symbol", "FL"]


def test_a_larger_line_over_a_table_s_values_is_a_title_not_a_head() -> None:
    drawing = Drawing()
    drawing.text(400, 186, "Balances", size=13)
    draw_statement(drawing)
    assert [unit.type for unit in drawing.units()] == ["prose", *["table"] * len(STATEMENT)]


def test_a_line_of_prose_below_a_table_that_a_dash_parts_is_no_row() -> None:
    drawing = Drawing()
    y = draw_statement(drawing)
    prose = "Note: the figures above were taken from the accounts of the group"
    drawing.text(LEFT, y, prose)
    x = LEFT + pymupdf.get_text_length(prose, "helv", 10) + 4
    drawing.text(x, y, "-")
    drawing.text(x + 8, y, "they are not audited")
    units = drawing.units()
    assert len(rows_of(units)) == len(STATEMENT)
    assert units[-1].text == f"{prose} - they are not audited"


def test_negative_values_below_one_another_are_no_list_beside_the_row_heads() -> None:
    drawing = Drawing()
    heads = ["Knowledge of other cultures", "Competence in a language", "Acquaintance of others", "Training"]
    for n, head in enumerate([*heads, "Exchange of visitors"]):
        drawing.text(LEFT, 200 + 16 * n, head)
        for x in (300, 380, 460):
            drawing.text(x, 200 + 16 * n, f"-0.{n}51")
    assert [cells(row)[1] for row in rows_of(drawing.units())] == [f"-0.{n}51" for n in range(5)]


def test_a_lone_row_of_values_at_the_head_of_a_page_is_a_table() -> None:
    drawing = Drawing()
    for x, text in (
        (72, "2.9.3"),
        (110, "Verify that the algorithms were approved"),
        (380, "12"),
        (430, "327"),
    ):
        drawing.text(x, 90, text)
    drawing.text(480, 90, "5.1.7")
    drawing.text(110, 104, "by a body that is known.")
    drawing.lines(justified(PROSE, 400), y=150)
    units = drawing.units()
    assert [unit.type for unit in units] == ["table", "prose"]
    assert cells(rows_of(units)[0])[1] == "Verify that the algorithms were approved by a body that is known."


def test_the_last_row_of_a_table_keeps_all_lines_of_its_cells() -> None:
    drawing = Drawing()
    for n in range(3):
        y = 200 + 60 * n
        for x, text in ((72, f"{n + 1}.1"), (110, "Verify that each and every"), (390, "28"), (450, "7")):
            drawing.text(x, y, text)
        drawing.text(325, y, "OS")
        drawing.text(314, y + 12, "assisted")
        drawing.lines(["one of the secrets is kept", "in a place of its own"], x=110, y=y + 17, leading=17)
    rows = rows_of(drawing.units())
    wanted = "Verify that each and every one of the secrets is kept in a place of its own"
    assert [cells(row)[1:3] for row in rows] == [[wanted, "OS assisted"]] * 3


def test_heads_of_many_lines_stay_with_the_values_below_them() -> None:
    drawing = Drawing()
    stacks = {
        250: ["", "", "Total", "Number", "of Shares"],
        330: ["Shares that", "were bought", "as part of", "announced", "programs"],
        430: ["Value of those", "that may yet", "be purchased", "under the", "programs"],
    }
    for axis, stack in stacks.items():
        for n, text in enumerate(stack):
            centred(drawing, axis, 100 + 11 * n, text)
    for n, month in enumerate(("July", "August", "October")):
        drawing.text(LEFT, 160 + 14 * n, month)
        for axis, value in zip(stacks, ("786", "3,446", "110,814"), strict=True):
            centred(drawing, axis, 160 + 14 * n, value)
    assert {unit.type for unit in drawing.units()} == {"table"}


def test_heads_over_many_columns_and_the_one_row_below_them_are_a_table() -> None:
    drawing = Drawing()
    places = (72, 110, 330, 380, 430)
    for n, row in enumerate(
        [("#", "Description", "L1", "L2", "Ref"), ("1.1", "Verify the tools used", "", "x", "749")]
    ):
        for x, text in zip(places, row, strict=True):
            drawing.text(x, 200 + 16 * n, text)
    assert len(rows_of(drawing.units())) == 2


def test_a_line_that_introduces_a_table_is_no_head_of_it() -> None:
    drawing = Drawing()
    drawing.text(260, 186, "These are the balances of the year:")
    draw_statement(drawing)
    assert [unit.type for unit in drawing.units()] == ["prose", *["table"] * len(STATEMENT)]


def test_a_sentence_between_two_tables_is_in_neither() -> None:
    drawing = Drawing()
    y = draw_statement(drawing)
    note = "The amounts above include those of all companies."
    drawing.text(LEFT, y + 12, note)
    draw_statement(drawing, y + 34)
    units = drawing.units()
    assert [unit.text for unit in units if unit.type != "table"] == [note]


def test_notes_below_a_table_that_begin_under_its_row_heads_are_no_rows() -> None:
    drawing = Drawing()
    y = draw_statement(drawing)
    for n, note in enumerate(("Based on the constant", "Estimated upon past")):
        drawing.text(LEFT, y + 14 * n, f"({n + 1})")
        drawing.text(LEFT + 30, y + 14 * n, note)
    assert len(rows_of(drawing.units())) == len(STATEMENT)


def test_titles_about_the_axis_of_the_whole_table_are_no_heads() -> None:
    drawing = Drawing()
    for n, title in enumerate(("The Company and Subsidiaries", "Growth in the Second Quarter")):
        centred(drawing, 286, 170 + 13 * n, title)
    draw_statement(drawing, 198)
    assert len(rows_of(drawing.units())) == len(STATEMENT)


def test_boxes_behind_their_labels_are_a_table() -> None:
    drawing = Drawing()
    rows = [("Large accelerated filer", "Accelerated filer"), ("Shell company", "Smaller reporting company")]
    box = '<p style="font-size:10px;margin:0">☐</p>'
    for n, row in enumerate(rows):
        for x, label in zip((72, 330), row, strict=True):
            drawing.text(x, 200 + 14 * n, label)
            drawing.page.insert_htmlbox(pymupdf.Rect(x + 150, 189 + 14 * n, x + 190, 205 + 14 * n), box)
    assert [cells(row) for row in rows_of(drawing.units())] == [[a, "☐", b, "☐"] for a, b in rows]


def test_a_tall_table_of_words_between_three_rulings_is_one() -> None:
    drawing = Drawing()
    places = (72, 160, 250, 390)
    for y in (100, 120, 480):
        drawing.rule(70, y, 525, y)
    for x, head in zip(places, ("Reference", "Design", "Form and dose", "Outcome"), strict=True):
        drawing.text(x, 114, head)
    dose, outcome = (
        ["oral, a tenth each day,", "increasing to a half"],
        ["most were in good health", "by the end of it"],
    )
    for n in range(8):
        y = 150 + 40 * n
        drawing.text(72, y, f"Study {n}")
        drawing.text(160, y, "prospective")
        drawing.lines(dose, x=250, y=y)
        drawing.lines(outcome, x=390, y=y)
        if n in (2, 5):
            drawing.text(72, y - 14, "The effect of the regimen on the health of those who took part in it")
    assert {unit.type for unit in drawing.units()} == {"table"}
