"""Rows of tables are complete: no shading, ruling or white gutter separates values from their labels."""

from __future__ import annotations

import pymupdf
import pytest

from pdf.extract.words import RawWord, Style, is_contents_line
from pdf.layout.lines import Line
from pdf.layout.page_layout import TableCell
from pdf.tables.rows import tables_of
from tests.pdf.layout_drawing import LEFT, OTHER, PROSE, Drawing, justified
from tests.pdf.tables.test_tables import STATEMENT, cells, draw_statement, rows_of

OFFICERS = [
    ("Robert A. Hale-Jones", "56", "Chief Executive Officer of the Company"),
    ("Joan P. Whitfield", "43", "President and Chief Operating Officer"),
    ("Dennis R. Moore", "49", "Chief Financial Officer and Treasurer"),
    ("Claire Naughton", "48", "Chief People Officer of the Company"),
    ("Christopher Walther", "53", "Chief Legal Officer and Secretary"),
    ("Laura M. Simmons", "61", "Controller and Chief Accounting Officer"),
]
SUBSIDIARIES = [
    ("Acme Industrial and Drinking Water LLC", "Limited Liability Company", "Ohio"),
    ("Acme Lake Water", "Corporation", "Illinois"),
    ("Blue River", "Limited Liability Company", "Delaware"),
    ("Canada Water", "Corporation", "Ontario"),
    ("Delta Services Inc.", "Corporation", "Delaware"),
    ("Eastern Water", "Limited Liability Company", "Delaware"),
    ("Forest Lake", "Corporation", "Ohio"),
    ("Green Valley Water", "Limited Liability Company", "Delaware"),
]


def test_rulings_over_the_values_alone_leave_the_rows_their_heads() -> None:
    drawing = Drawing()
    below = draw_statement(drawing)
    for y in (189, 204, 246, below - 10):
        drawing.rule(330, y, 505, y)
    for x in (335, 415):
        drawing.rule(x, 189, x, below - 10)
    assert [cells(row)[0] for row in rows_of(drawing.units())] == [head for head, *_ in STATEMENT]


def test_shaded_groups_and_the_heads_between_them_are_one_table() -> None:
    drawing = Drawing()
    for x, year in ((380, "2023"), (480, "2022")):
        drawing.text(x, 190, year)
    y = 204.0
    for name in ("By product", "By region", "By customer"):
        drawing.text(LEFT, y, name)
        below = draw_statement(drawing, y + 14)
        for x in (320, 410):  # the seams between shaded cells
            drawing.rule(x, y + 4, x, below - 10)
        for edge in (y + 4, below - 24, below - 10):
            drawing.rule(LEFT, edge, 505, edge)
        y = below
    rows = rows_of(drawing.units())
    assert {row.index for row in rows} == {0}
    assert [row.cells[0].text for row in rows].count("Total") == 3
    assert [row.cells[0].text for row in rows if len(row.cells) == 1 and not row.header] == [
        "By product",
        "By region",
        "By customer",
    ]


def test_columns_ruled_with_no_ruling_between_the_rows_have_a_row_for_each_baseline() -> None:
    drawing = Drawing()
    below = draw_statement(drawing)
    for y in (188, below - 8):
        drawing.rule(66, y, 510, y)
    for x in (66, 300, 410, 510):
        drawing.rule(x, 188, x, below - 8)
    assert [cells(row)[1] for row in rows_of(drawing.units())] == ["$ 351", "1,685", "302", "(47)", "2,291"]


def test_two_grids_ruled_at_the_same_heights_are_one_table() -> None:
    drawing = Drawing()
    for n, (name, *values) in enumerate(
        [("North", "14", "1", "3", "2.5"), ("South", "1", "(5)", "2", "(4)")]
    ):
        drawing.text(75, 212 + 40 * n, name)
        drawing.text(75, 224 + 40 * n, "America")
        for x, value in zip((210, 310, 390, 440), values, strict=True):
            drawing.text(x, 224 + 40 * n, value)
    for x0, x1 in ((70, 360), (380, 480)):
        for y in (200, 240, 280):
            drawing.rule(x0, y, x1, y)
    for x in (70, 170, 270, 360, 380, 430, 480):
        drawing.rule(x, 200, x, 280)
    rows = rows_of(drawing.units())
    assert [cells(row) for row in rows] == [
        ["North America", "14", "1", "3", "2.5"],
        ["South America", "1", "(5)", "2", "(4)"],
    ]


def test_names_with_their_ages_are_not_cut_off_from_the_positions_beside_them() -> None:
    drawing = Drawing()
    for n, row in enumerate([("Name", "Age", "Position"), *OFFICERS]):
        for x, text in zip((LEFT, 190, 230), row, strict=True):
            drawing.text(x, 200 + 14 * n, text)
    assert [cells(row) for row in rows_of(drawing.units())][1:] == [list(row) for row in OFFICERS]


def test_what_repeats_down_a_column_belongs_to_the_names_beside_it() -> None:
    drawing = Drawing()
    for n, row in enumerate(SUBSIDIARIES):
        for x, text in zip((LEFT, 280, 460), row, strict=True):
            drawing.text(x, 200 + 12 * n, text)
    assert [cells(row) for row in rows_of(drawing.units())] == [list(row) for row in SUBSIDIARIES]


def test_two_lists_of_names_side_by_side_are_read_one_after_the_other() -> None:
    left = [f"{name} fever virus" for name in ("Ebola", "Lassa", "Dengue", "Rift Valley", "Yellow", "Sabia")]
    right = [f"{name} disease agent" for name in ("Lumpy", "Mouth", "Blue tongue", "Swine", "Fowl", "Sheep")]
    drawing = Drawing()
    for n, (a, b) in enumerate(zip(left, right, strict=True)):
        drawing.text(LEFT, 200 + 12 * n, a)
        drawing.text(320, 200 + 12 * n, b)
    assert " ".join(unit.text for unit in drawing.units()) == " ".join(left + right)


def test_values_set_a_little_lower_than_their_heads_are_in_their_row() -> None:
    drawing = Drawing()
    for n, (head, *values) in enumerate(STATEMENT):
        drawing.text(LEFT, 200 + 14 * n, head)
        for right, value in zip((400, 500), values, strict=True):
            drawing.text(right - pymupdf.get_text_length(value, "helv", 10), 203.7 + 14 * n, value)
    assert [cells(row) for row in rows_of(drawing.units())] == [list(row) for row in STATEMENT]


def test_values_centred_beside_a_broken_label_are_in_its_row() -> None:
    drawing = Drawing()
    y = 120.0
    labels = (("Grain kept dry in the", "northern stores"), ("Wool sent to the mills", "before the frost"))
    for n, (label, values) in enumerate(zip(labels, (("41", "58"), ("37", "62")), strict=True)):
        drawing.lines(label, y=y)
        for x, value in zip((300, 400), values, strict=True):
            drawing.text(x, y + 6, value)
        y += 24 + 8 * (n + 1)
    for x, text in ((72, "Salt"), (300, "12"), (400, "88")):
        drawing.text(x, y, text)
    assert [cells(row) for row in rows_of(drawing.units())] == [
        ["Grain kept dry in the northern stores", "41", "58"],
        ["Wool sent to the mills before the frost", "37", "62"],
        ["Salt", "12", "88"],
    ]


def test_a_label_centred_between_two_rows_of_values_joins_them_not() -> None:
    drawing = Drawing()
    for n, name in enumerate(("Rye", "Oats", "Barley")):
        y = 120.0 + 30 * n
        drawing.text(72, y + 6, name)
        for below, year, values in ((0, "1901", ("41", "58")), (12, "1902", ("37", "62"))):
            for x, text in zip((160, 300, 400), (year, *values), strict=True):
                drawing.text(x, y + below, text)
    rows = [cells(row) for row in rows_of(drawing.units())]
    assert [row[-2:] for row in rows if "41" in row or "37" in row] == [["41", "58"], ["37", "62"]] * 3


def test_numbers_with_decimals_that_stand_half_an_em_apart_are_cells() -> None:
    rows = [
        ("Random", "53.2(0.4)", "43.0(3.3)", "38.0(1.5)"),
        ("By sentence", "57.6(2.3)", "49.6(1.2)", "42.9(1.3)"),
        ("By prompt and length", "57.2(0.6)", "48.0(0.8)", "43.5(1.4)"),
    ]
    drawing = Drawing()
    for n, (name, *values) in enumerate(rows):
        x = 180.0
        drawing.text(x - 8 - pymupdf.get_text_length(name, "helv", 10), 200 + 12 * n, name)
        for value in values:
            drawing.text(x, 200 + 12 * n, value)
            x += pymupdf.get_text_length(value, "helv", 10) + 5
    assert [tuple(cells(row)) for row in rows_of(drawing.units())] == rows


SCHOLARS = (
    ("Ada Byron", "36", "Chief Engineer and Vice President of Engines, Looms and Tables."),
    ("Mary Anning", "47", "Keeper of Fossils and Director of the Collections at the Coast."),
    ("Emmy Noether", "53", "Professor and Senior Adviser for Symmetry and Invariants of all."),
)


def test_texts_in_the_last_column_that_open_in_bold_type_stay_with_their_rows() -> None:
    """Their first lines are set bold, all others are not; the last row's text ends the table."""
    drawing = Drawing()
    for x, head in ((LEFT, "Name"), (170, "Age"), (220, "Office")):
        drawing.text(x, 80, head, font="hebo")
    y = 100.0
    for name, age, office in SCHOLARS:
        drawing.text(LEFT, y, name)
        drawing.text(170, y, age)
        drawing.text(220, y, office, size=9, font="hebo")
        x = 220 + pymupdf.get_text_length(office + " ", "hebo", 9)
        drawing.text(x, y, "She", size=9)
        y = drawing.lines(
            justified(f"joined in her youth. {PROSE} {PROSE} {OTHER}", 300, 9),
            x=220,
            y=y + 11,
            leading=11,
            size=9,
        )
    rows = rows_of(drawing.units())
    assert [row.cells[0].text for row in rows] == ["Name", *(name for name, _, _ in SCHOLARS)]
    assert all(row.cells[2].text.endswith("before any further payment was made.") for row in rows[1:])
    assert {row.index for row in rows} == {0}


def test_a_text_below_each_row_in_its_last_column_is_a_cell_of_it() -> None:
    drawing = Drawing()
    y = 100.0
    for name, age, office in SCHOLARS:
        for x, cell in ((LEFT, name), (170, age), (220, office)):
            drawing.text(x, y, cell)
        y = drawing.lines(justified(f"{name} joined in her youth. {PROSE}", 300), x=220, y=y + 24) + 14
    rows = rows_of(drawing.units())
    assert [row.cells[0].text for row in rows] == [name for name, _, _ in SCHOLARS]
    assert [row.cells[3].text for row in rows] == [
        f"{name} joined in her youth. {PROSE}" for name, _, _ in SCHOLARS
    ]


def test_leaders_before_values_with_decimals_leave_their_rows_in_the_table() -> None:
    drawing = Drawing()
    for x, year in ((330, "2031"), (410, "2030")):
        drawing.text(x, 100, year)
    rows = (
        ("Notes", "241.1", "75.3"),
        ("Operating leases", "185.2", "39.5"),
        ("Purchases", "419.8", "341.3"),
    )
    for n, (name, *values) in enumerate(rows):
        dots = "." * int((310 - LEFT - 5.6 * len(name)) / 2.78)
        drawing.text(LEFT, 116 + 14 * n, f"{name}{dots}")
        for x, value in zip((330, 410), values, strict=True):
            drawing.text(x, 116 + 14 * n, value)
    units = drawing.units()
    assert [unit.type for unit in units] == ["table"] * 4
    assert [unit.text.split("\t")[1:] for unit in units[1:]] == [list(values) for _, *values in rows]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("2.1 Methods ........ 12", True),
        ("2.1 Methods . . . . . . . 12", True),
        ("Preface …… iv", True),
        ("12 ........ الفصل الأول", True),
        ("2015 ........ $ 1,449 $ 43,866", False),
        ("Leases ........ 185.2 39.5", False),
        ("Rate ........ ** ** 1%", False),
        ("Cash ........ (2) —", False),
        ("And so on ....", False),
    ],
)
def test_lines_of_contents_have_their_number_right_behind_the_leaders(text: str, told: bool) -> None:
    assert is_contents_line(text) is told


def test_a_row_shaded_in_two_pieces_is_one_row() -> None:
    drawing = Drawing()
    places = (LEFT, 230, 290, 350, 410, 470)
    for x0, x1 in ((70, 338), (342, 530)):
        drawing.page.draw_rect((x0, 147, x1, 160), color=None, fill=(0.8, 0.9, 1))
    for n in range(5):
        cells = (f"Measure {'ABCDE'[n]}", *(f"{n + 1},{n}{k}2" for k in range(5)))
        for x, cell in zip(places, cells, strict=True):
            drawing.text(x, 112 + 15 * n, cell)
    units = drawing.units()
    assert [unit.type for unit in units] == ["table"] * 5
    assert all(unit.text.count("\t") == 5 for unit in units)


def test_a_row_that_repeats_the_heads_begins_another_table() -> None:
    heads = ("Feature", "Sample", "Setting")
    said = [
        heads,
        ("Plain", "R", "on"),
        ("Hooked letters",),
        heads,
        ("Left", "T", "on"),
        ("Right", "T", "on"),
    ]
    rows = [
        [TableCell(n, [line_of(text, 72.0 + 150 * n, 100.0 + 18 * y)]) for n, text in enumerate(row)]
        for y, row in enumerate(said)
    ]
    blocks = tables_of(rows, 3)
    assert [block.kind for block in blocks] == ["table", "table", "prose", "table", "table", "table"]
    assert blocks[2].text == "Hooked letters"
    assert blocks[0].table is blocks[1].table is not blocks[3].table is blocks[5].table
    assert [block.header for block in blocks] == [True, False, False, True, False, False]


def line_of(text: str, x: float, y: float) -> Line:
    return Line([RawWord(x, y - 8, x + 5 * len(text), y + 2, text, Style(10.0), y, 0)])


def test_tables_side_by_side_are_read_from_left_to_right() -> None:
    drawing = Drawing()
    for x, y, name in ((72, 121, "Left"), (330, 120, "Right")):
        for n in range(5):
            drawing.rule(x, y + 20 * n, x + 200, y + 20 * n)
        for across in (x, x + 120, x + 200):
            drawing.rule(across, y, across, y + 80)
        for n in range(4):
            drawing.text(x + 4, y + 14 + 20 * n, f"{name} {'ABCD'[n]}")
            drawing.text(x + 150, y + 14 + 20 * n, f"{n + 3}{n} %")
    assert [unit.text[:4] for unit in drawing.units()] == ["Left"] * 4 + ["Righ"] * 4


def rows_of_words(gap: float) -> list[list[str]]:
    """The cells of three rows, the second of which has two lines; rows are ``gap`` points apart."""
    drawing = Drawing()
    y = 100.0
    for lines in (
        [("K1", "Early", "Transparent", "0.4")],
        [
            ("K2", "Cenomanian to", "Even reflections of", "0.8"),
            ("", "Turonian", "small amplitude, parallel", ""),
        ],
        [("K3", "Late", "Irregular", "0.5")],
    ):
        for line in lines:
            for x, cell in zip((LEFT, 150, 260, 420), line, strict=True):
                drawing.text(x, y, cell)
            y += 12
        y += gap
    return [[cell.text for cell in unit.table.cells] for unit in drawing.units() if unit.table]


def test_lines_without_a_label_nearer_than_the_rows_go_on_with_the_row_above() -> None:
    assert rows_of_words(gap=5)[1] == [
        "K2",
        "Cenomanian to Turonian",
        "Even reflections of small amplitude, parallel",
        "0.8",
    ]


def test_at_the_leading_of_the_rows_a_text_goes_on_where_its_word_had_no_room_above() -> None:
    assert rows_of_words(gap=0)[1] == [
        "K2",
        "Cenomanian to Turonian",
        "Even reflections of small amplitude, parallel",
        "0.8",
    ]


def test_a_band_of_heads_closes_the_grid_of_the_uprights_below_it() -> None:
    drawing = Drawing()
    drawing.page.draw_rect(pymupdf.Rect(60, 100, 510, 120), fill=(0.8, 0.8, 0.9), color=None)
    for x in (60, 210, 360, 510):
        drawing.rule(x, 120, x, 220)
    drawing.rule(60, 220, 510, 220)
    for x, head, items in (
        (66, "Fees", ("First loan", "Second loan", "Savings fund", "Bursaries")),
        (216, "Living", ("First loan", "Bursaries")),
        (366, "Other", ("A programme abroad", "A computer", "Travel")),
    ):
        drawing.text(x, 114, head)
        for n, item in enumerate(items):
            drawing.text(x, 136 + 16 * n, item)
    rows = [unit.table for unit in drawing.units() if unit.table]
    assert [len(row.cells) for row in rows] == [3, 3]
    assert rows[1].head_rows == ("Fees", "Living", "Other")


def test_leaders_that_touch_the_only_values_of_rows_are_beside_them() -> None:
    drawing = Drawing()
    rows = [("Wages", "1,204,332.50"), ("Rent", "88,000.00"), ("Repairs", "411.20"), ("Other", "2,045.00")]
    for n, (name, value) in enumerate(rows):
        left, start = LEFT + Drawing.width_of(f"{name} "), 370 - Drawing.width_of(value)
        dots = "." * int((start - left) / Drawing.width_of("."))
        drawing.text(LEFT, 100 + 15 * n, name)
        drawing.text(start - Drawing.width_of(dots), 100 + 15 * n, dots)
        drawing.text(start, 100 + 15 * n, value)
    units = drawing.units()
    assert [unit.text.split("\t")[1:] for unit in units] == [[value] for _, value in rows]
