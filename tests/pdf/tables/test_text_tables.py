"""Tables whose cells are texts, boxes beside a text, rows that stripes or rulings part."""

from __future__ import annotations

from collections.abc import Sequence

import pymupdf
import pytest

from pdf.structure import Cell, ParsedUnit
from tests.pdf.layout_drawing import OTHER, PROSE, Drawing, justified, texts

OLD = (
    "Members pay the yearly fee before the end of March.",
    "The hall is open to members from eight in the morning until ten at night on all days.",
    "Boats may be borrowed for one day.",
    "Keys are kept by the warden, who lends them against a signature in the book.",
)
NEW = (
    "Members pay the yearly fee before the end of June, or in two halves in March and September.",
    "The hall is open to members at all hours.",
    "Boats may be borrowed for three days, and longer where nobody else has asked for them in writing.",
    "Keys are handed out to members when they join.",
)
GAP = 8.0
FLUSH = "the committee heard the evidence of eleven witnesse"


def draw_rows(
    drawing: Drawing, columns: Sequence[Sequence[str]], xs: Sequence[float], width: float, y: float = 200
) -> list[float]:
    """Rows of wrapped cells; returns the upper edge of each row and the lower edge of the last."""
    edges = []
    for row in zip(*columns, strict=True):
        edges.append(y - 10 - GAP / 2)
        ends = [drawing.lines(justified(cell, width), x=x, y=y) for x, cell in zip(xs, row, strict=True)]
        y = max(ends) + GAP
    return [*edges, y - 10 - GAP / 2]


def rows_of_table(units: Sequence[ParsedUnit]) -> list[list[str]]:
    return [[cell.text for cell in unit.table.cells] for unit in units if unit.table]


def test_old_and_new_text_beside_one_another_are_rows() -> None:
    drawing = Drawing()
    drawing.lines(justified(PROSE, 450))
    draw_rows(drawing, (OLD, NEW), (72, 310), 200)
    assert rows_of_table(drawing.units()) == [list(row) for row in zip(OLD, NEW, strict=True)]


def test_cells_centred_on_their_row_are_of_one_row() -> None:
    drawing = Drawing()
    y = 200.0
    for name, text in zip(("Fee", "Hall", "Boats", "Keys"), NEW, strict=True):
        lines = justified(text, 200)
        drawing.text(72, y + 6 * (len(lines) - 1), name)
        y = drawing.lines(lines, x=200, y=y) + GAP
    assert rows_of_table(drawing.units()) == [
        [name, text] for name, text in zip(("Fee", "Hall", "Boats", "Keys"), NEW, strict=True)
    ]


def test_heads_of_another_font_stand_higher_than_those_beside_them() -> None:
    drawing = Drawing()
    drawing.lines(justified(PROSE, 450))
    for x, y, head in ((72, 176, "No."), (110, 171, "Rule before"), (310, 176, "Rule after")):
        drawing.text(x, y, head)
    numbers = [f"1.{n}" for n in range(1, 8)]
    columns = (numbers, [*OLD, *NEW[:3]], [*NEW, *OLD[:3]])
    draw_rows(drawing, columns, (72, 110, 310), 180)
    assert rows_of_table(drawing.units())[0] == ["No.", "Rule before", "Rule after"]


@pytest.mark.parametrize(
    ("first", "is_head"), [(("Rule before", "Rule after"), True), ((OLD[3], NEW[3]), False)]
)
def test_a_first_row_with_a_sentence_is_no_head_of_rows_in_the_same_type(
    first: tuple[str, str], is_head: bool
) -> None:
    drawing = Drawing()
    drawing.lines(justified(PROSE, 450))
    columns = [[head, *rows] for head, rows in zip(first, (OLD[:3], NEW[:3]), strict=True)]
    draw_rows(drawing, columns, (72, 310), 200)
    assert [unit.table.header for unit in drawing.units() if unit.table] == [is_head, False, False, False]


def test_a_heading_between_two_tables_of_texts_is_in_neither() -> None:
    drawing = Drawing()
    *_, end = draw_rows(drawing, (OLD, NEW), (72, 310), 200, y=100)
    drawing.text(72, end + 20, "Rules of the library", size=14)
    draw_rows(drawing, (NEW, OLD), (72, 310), 200, y=end + 44)
    units = drawing.units()
    assert len(rows_of_table(units)) == 8
    (heading,) = [unit for unit in units if not unit.table]
    assert heading.text == "Rules of the library"


def test_columns_of_prose_with_spaced_paragraphs_are_no_table() -> None:
    drawing = Drawing()
    long = f"{PROSE} {OTHER}"
    for x, paragraphs in ((72, (PROSE, long, OTHER, PROSE)), (310, (long, PROSE, PROSE, OTHER))):
        y = 100.0
        for paragraph in paragraphs:
            y = drawing.lines(justified(paragraph, 210), x=x, y=y) + 6
    units = drawing.units()
    assert not rows_of_table(units)
    assert texts(units) == [PROSE, long, OTHER, PROSE, long, PROSE, PROSE, OTHER]


def test_columns_of_prose_that_happen_to_stand_level_are_no_table_below_headings() -> None:
    drawing = Drawing()
    for x, name in ((72, "Units"), (310, "Chunks")):
        drawing.text(x, 100, name, size=13)
        y = 124.0
        for paragraph in (PROSE, OTHER, PROSE):
            lines = justified(paragraph, 210)[:3]
            y = drawing.lines(lines, x=x, y=y) + 9
    units = drawing.units()
    assert not rows_of_table(units)
    assert [unit.text for unit in units if unit.type == "heading"] == ["Units", "Chunks"]


def test_entries_of_two_columns_about_common_heights_are_no_rows() -> None:
    drawing = Drawing()
    lines = justified(f"{PROSE} {OTHER}", 200)
    y = 80.0
    for n, (left, right) in enumerate([(6, 6), (2, 4), (6, 4), (5, 5), (5, 3), (5, 7), (5, 5)]):
        tall = 12 * max(left, right)
        for x, count in ((72, left), (310, right)):
            lower = (tall - 12 * count) / 2 if right > left else 0
            drawing.lines(lines[n : n + count], x=x, y=y + lower)
        y += tall + 9
    assert {unit.type for unit in drawing.units()} == {"prose"}


def test_what_stands_in_a_box_beside_a_text_is_read_by_itself() -> None:
    drawing = Drawing()
    drawing.page.draw_rect((355, 80, 540, 190), color=None, fill=(0.92, 0.92, 0.92))
    facts = [
        ("Founded", "1881"),
        ("Seat", "Bergen"),
        ("Boats", "41"),
        ("Members", "1,204"),
        ("Colours", "red"),
    ]
    for row, (label, value) in enumerate(facts):
        drawing.text(362, 96.5 + 19 * row, label)
        drawing.text(450, 96.5 + 19 * row, value)
    drawing.lines(justified(f"{PROSE} {OTHER}", 260))
    units = drawing.units()
    assert rows_of_table(units) == [list(fact) for fact in facts]
    assert [unit.text for unit in units if not unit.table] == [f"{PROSE} {OTHER}"]


def test_a_paragraph_that_runs_on_under_a_box_beside_it_is_one() -> None:
    drawing = Drawing()
    drawing.page.draw_rect((370, 80, 530, 190), color=(0.6, 0.6, 0.6), width=0.75)
    for row, (label, value) in enumerate([("Founded", "1881"), ("Seat", "Bergen"), ("Boats", "41")] * 2):
        drawing.text(378, 96.5 + 16 * row, label)
        drawing.text(450, 96.5 + 16 * row, value)
    first = justified(PROSE, 270)
    y = drawing.lines(first) + 8
    text = f"{OTHER} {PROSE}"
    beside = justified(text, 270)
    count = sum(y + 12 * n < 202 for n in range(len(beside)))
    assert 2 < count < len(beside) - 1, "the box ends within the paragraph, whose next line keeps clear of it"
    y = drawing.lines(beside[:count], y=y)
    below = justified(" ".join(beside[count:]), 450)
    y = drawing.lines(below, y=y) + 8
    drawing.lines(justified(PROSE, 450), y=y)
    assert [unit.text for unit in drawing.units() if not unit.table] == [PROSE, text, PROSE]


def test_cards_beside_one_another_are_read_one_by_one() -> None:
    drawing = Drawing()
    for x, text in ((72, PROSE), (312, OTHER)):
        drawing.page.draw_rect((x - 8, 80, x + 222, 190), color=None, fill=(0.9, 0.95, 1))
        drawing.lines(justified(text, 200), x=x, y=100)
    assert texts(drawing.units()) == [PROSE, OTHER]


def test_stripes_part_rows_whose_cells_stand_close() -> None:
    drawing = Drawing()
    y = 200.0
    for n, row in enumerate(zip(OLD, NEW, strict=True)):
        cells = [justified(cell, 200) for cell in row]
        height = 12.0 * max(map(len, cells))
        if n % 2 == 0:
            drawing.page.draw_rect((68, y - 10, 520, y - 10 + height), color=None, fill=(0.9, 0.95, 1))
        for x, lines in zip((72, 310), cells, strict=True):
            drawing.lines(lines, x=x, y=y)
        y += height
    assert rows_of_table(drawing.units()) == [list(row) for row in zip(OLD, NEW, strict=True)]


def test_text_beside_a_chart_is_no_row_of_its_labels() -> None:
    drawing = Drawing()
    text = f"{PROSE} {OTHER} {PROSE}"
    lines = justified(text, 190)
    drawing.lines(lines, y=100)
    page = drawing.page
    page.draw_line((330, 100), (330, 240))
    page.draw_line((330, 240), (520, 240))
    page.draw_polyline([(330, 200), (380, 150), (430, 180), (520, 110)], color=(0.2, 0.3, 0.8), width=2)
    for n in range(5):  # on baselines of the text
        drawing.text(308, 112 + 24 * n, str(80 - 20 * n))
        drawing.text(330 + 44 * n, 256, str(2019 + n))
    units = drawing.units()
    assert text in texts(units)
    assert not any("committee" in cell for row in rows_of_table(units) for cell in row)


def test_names_of_even_rows_beside_texts_some_of_which_are_broken_are_rows() -> None:
    drawing = Drawing()
    names = "Ada Birk, Bo Carr, Cy Dahl, Di Eklund, Ed Faber, Flo Grant, Gus Hahn, Hal Ivers, Jon Kier"
    places = [["School of Navigation, Oslo"] for _ in names.split(", ")]
    places[0] = ["Institute of Shipping and Inland Waterways,", "Department of Locks and Weirs"]
    places[5] = ["Harbour Board of the Northern Islands,", "Office of Lights and Buoys"]
    y = 120.0
    for name, lines in zip(names.split(", "), places, strict=True):
        drawing.text(72, y, name)
        y = drawing.lines(lines, x=150, y=y, leading=11) + 4
    assert rows_of_table(drawing.units()) == [
        [name, " ".join(lines)] for name, lines in zip(names.split(", "), places, strict=True)
    ]


def test_a_sentence_that_goes_on_behind_a_picture_of_a_key_is_an_item() -> None:
    drawing = Drawing()
    for n, (start, end) in enumerate((("Press", "to open the lid"), ("Press", "to shut the lid"))):
        for x, text in ((72, "\u2022"), (84, f"{start} and hold the round key"), (240, f"{end} of the box.")):
            drawing.text(x, 120 + 20 * n, text)
    units = drawing.units()
    assert [unit.type for unit in units] == ["list", "list"]
    assert units[0].text.endswith("Press and hold the round key to open the lid of the box.")


def test_numbered_steps_of_a_text_are_no_rows() -> None:
    drawing = Drawing()
    y = 100.0
    for n, step in enumerate((*OLD, *NEW), 1):
        drawing.text(72, y, str(n))
        y = drawing.lines(justified(step, 220), x=100, y=y) + GAP
    assert not rows_of_table(drawing.units())


def test_a_text_over_all_columns_belongs_to_the_row_that_it_stands_below() -> None:
    drawing = Drawing()
    xs = (72, 160, 280, 420)
    for x, head in zip(xs, ("Date", "Place", "Ship", "Damage"), strict=True):
        drawing.text(x, 100, head)
    y = 120.0
    ships = (("2 May 1901", "Bergen", "Aurora", "slight"), ("9 June 1903", "Turku", "Freja", "heavy"))
    rows = [*ships, ("1 July 1904", "Riga", "Saga", "none")]
    for row, text in zip(rows, (PROSE, OTHER, PROSE), strict=True):
        for x, cell in zip(xs, row, strict=True):
            drawing.text(x, y, cell)
        y = drawing.lines(justified(text, 450), y=y + 16) + 8
    drawing.text(72, y + 30, "Slight: repaired in port.")
    units = drawing.units()
    assert rows_of_table(units) == [
        ["Date", "Place", "Ship", "Damage"],
        *([*row, text] for row, text in zip(rows, (PROSE, OTHER, PROSE), strict=True)),
    ]
    assert units[-1].text == "Slight: repaired in port."
    assert [unit.table.header for unit in units if unit.table] == [True, False, False, False]


def test_paragraphs_that_begin_on_one_height_in_both_columns_are_no_rows() -> None:
    drawing = Drawing()
    y = 100.0
    for _ in range(6):
        ends = [drawing.lines([FLUSH] * lines, x=x, y=y) for x, lines in ((72, 6), (325, 5))]
        y = max(ends) + 8
    assert not rows_of_table(drawing.units())


def test_a_numbered_heading_in_bold_ends_a_table_of_texts() -> None:
    drawing = Drawing()
    y = 90.0
    for name in ("maps_name", "region_names", "tree_id", "data_ids"):
        drawing.text(100, y, name)
        y = drawing.lines(justified(PROSE, 300), 190, y) + 6
    drawing.text(120, y + 20, "1.9.", font="hebo")
    drawing.text(190, y + 20, "Using it in parallel", font="hebo")
    drawing.lines(justified(OTHER, 300), 190, y + 44)
    units = drawing.units()
    assert len([unit for unit in units if unit.type == "table"]) == 4
    assert ("heading", "1.9. Using it in parallel") in [(unit.type, unit.text) for unit in units]
    assert OTHER in [unit.text for unit in units if unit.type == "prose"]


def test_references_with_labels_in_brackets_are_a_list() -> None:
    drawing = Drawing()
    y = 90.0
    for n in range(1, 6):
        drawing.text(72, y, f"[R{n}]")
        y = drawing.lines(justified(PROSE[:150], 380), 120, y) + 6
    assert {unit.type for unit in drawing.units()} == {"list"}


def test_a_work_cited_at_the_start_of_a_line_does_not_part_its_paragraph() -> None:
    drawing = Drawing()
    first, second, *rest = justified(f"{PROSE} {OTHER}", 430)
    drawing.text(90, 90, first)
    drawing.lines(["[YOUN91] " + second.split(" ", 1)[1], *rest], y=102)
    assert len(drawing.units()) == 1


def test_a_justified_line_with_a_gap_at_a_gutter_is_no_row() -> None:
    drawing = Drawing()
    y = 90.0
    for name in ("-c", "-d", "-f", "-g"):
        drawing.text(72, y, name)
        y = drawing.lines(justified(PROSE[:170], 300), 102, y) + 8
    for n, words in enumerate(("This option allows you to start", "with a random tree instead of one")):
        x = 72.0
        for word in words.split():
            drawing.text(x, y + 12 * n, word)
            x += pymupdf.get_text_length(word, "helv", 10) + 7
    tables = [unit.text for unit in drawing.units() if unit.type == "table"]
    assert len(tables) == 4
    assert not any("option" in text for text in tables)


def test_heads_in_their_own_type_right_above_texts_are_a_row_of_their_own() -> None:
    drawing = Drawing()
    for x, head in ((72, "Name"), (150, "Age"), (200, "Post"), (310, "Since"), (360, "Posts before")):
        drawing.text(x, 100, head, font="hebo")
    y = 112.0
    for name, post in (
        ("Ada Reyes", "Head of Works"),
        ("Ben Okoro", "Keeper"),
        ("Cleo Lund", "Clerk to the Board"),
    ):
        drawing.text(72, y, name)
        drawing.text(150, y, str(40 + len(name)))
        drawing.text(200, y, post)
        drawing.text(310, y, str(2020 + len(name)))
        drawing.lines(
            ["Deputy Keeper of the Northern Light", "Assistant to the Master of Buoys", "Mate"], 360, y
        )
        y += 46
    rows = rows_of_table(drawing.units())
    assert rows[0] == ["Name", "Age", "Post", "Since", "Posts before"]
    assert [row[0] for row in rows[1:]] == ["Ada Reyes", "Ben Okoro", "Cleo Lund"]


def test_heads_close_together_above_texts_are_over_their_columns_though_one_is_empty() -> None:
    drawing = Drawing()
    for x, head in ((115.5, "Qty"), (137, "Item"), (352, "Rate"), (418, "Price"), (497, "Amount")):
        drawing.text(x, 110, head, size=9, font="hebo")
    y = 130.0
    for n, quantity in enumerate(("4", "12", "7", "30")):
        drawing.text(60, y, str(n + 1), size=9)
        drawing.text(130 - Drawing.width_of(quantity, 9), y, quantity, size=9)
        drawing.text(422, y, f"{n + 2}.50", size=9)
        drawing.text(505, y, f"{n + 2}1.50", size=9)
        item = ["Steel bolt M8 zinc", "pack of twenty", f"lot 20{n}1", "checked 04/05"][: 3 + n % 2]
        y = drawing.lines(item, 137, y, 10.8, 9) + 9
    rows = [unit for unit in drawing.units() if unit.type == "table"]
    assert rows[0].text.split("\t") == ["Qty", "Item", "Rate", "Price", "Amount"]
    assert [cell.column for cell in cells_of(rows[0])] == [1, 2, 3, 4, 5]
    assert rows[1].text.split("\t") == [
        "1",
        "4",
        "Steel bolt M8 zinc pack of twenty lot 2001",
        "2.50",
        "21.50",
    ]
    assert [cell.column for cell in cells_of(rows[1])] == [0, 1, 2, 4, 5]


def cells_of(row: ParsedUnit) -> Sequence[Cell]:
    assert row.table is not None
    return row.table.cells


def test_columns_of_prose_with_bold_headings_at_one_height_are_no_table() -> None:
    drawing, y = Drawing(), 90.0
    both = f"{PROSE} {OTHER}"
    for left, first, right, second in (
        ("", PROSE, "", OTHER),
        ("Orders", PROSE, "Shares", both),
        ("Outlook", PROSE, "Risks", both),
    ):
        below = [justified(text, 165, 8) for text in (first, second)]
        for x, head, lines in ((50, left, below[0]), (233, right, below[1])):
            drawing.text(x, y, head, 8, "hebo")
            drawing.lines(lines, x=x, y=y + 10 * bool(head), leading=10, size=8)
        y += 10 * max(map(len, below)) + (34 if left else 24)
    assert {unit.type for unit in drawing.units()} == {"prose", "heading"}
