"""Rows that rulings close in are rows, however long their cells and whatever stands in these."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pymupdf

from chat.answers.prompt import row_with_heads
from tests.pdf.layout_drawing import LEFT, OTHER, PROSE, Drawing, justified
from tests.pdf.tables.test_tables import cells, draw_statement, rows_of

COLUMNS = (LEFT, 170.0, 300.0, 500.0)


def ruled(drawing: Drawing, rows: list[tuple[list[str], ...]], y: float = 100.0) -> float:
    """A table with rulings on all sides of its cells, each of which is a list of lines; its lower end."""
    top = y
    drawing.rule(COLUMNS[0], y, COLUMNS[-1], y)
    for row in rows:
        for x, lines in zip(COLUMNS, row, strict=False):
            drawing.lines(lines, x + 4, y + 12)
        y += 12 * max(map(len, row)) + 8
        drawing.rule(COLUMNS[0], y, COLUMNS[-1], y)
    for x in COLUMNS:
        drawing.rule(x, top, x, y)
    return y


def test_a_cell_that_holds_most_of_the_words_leaves_its_table_a_table() -> None:
    drawing = Drawing()
    long = justified(f"{PROSE} {OTHER} {PROSE}", 150)
    assert len(long) > 14
    ruled(
        drawing,
        [
            (["Key"], ["What it does"], ["Remarks"]),
            (["Press"], ["Opens"], ["Any time."]),
            (["Hold"], ["Shuts"], long),
        ],
    )
    assert [cells(row)[:2] for row in rows_of(drawing.units())] == [
        ["Key", "What it does"],
        ["Press", "Opens"],
        ["Hold", "Shuts"],
    ]


def test_values_stacked_beside_one_text_are_of_its_ruled_row() -> None:
    drawing = Drawing()
    stacked = ["< 5 %", "for half a cycle", "", "40 %", "for five cycles"]
    ruled(
        drawing,
        [
            (["Test"], ["Level"], ["Remarks"]),
            (["Voltage dips", "and short", "interruptions"], stacked, justified(PROSE, 190)),
            (["Surges on", "the supply", "lines"], stacked, justified(OTHER, 190)),
        ],
    )
    assert [cells(row)[0] for row in rows_of(drawing.units())] == [
        "Test",
        "Voltage dips and short interruptions",
        "Surges on the supply lines",
    ]


def test_one_ruled_row_of_several_cells_is_the_rest_of_a_table() -> None:
    drawing = Drawing()
    below = ruled(drawing, [(["7.2"], ["Required"], justified(PROSE, 190))])
    drawing.lines(justified(OTHER, 430), y=below + 30)
    (row,) = rows_of(drawing.units())
    assert cells(row)[:2] == ["7.2", "Required"]


def test_boxes_of_a_drawing_in_one_row_are_no_table() -> None:
    drawing = Drawing()
    for x0, x1, word in ((72, 200, "Input"), (200, 350, "Weight"), (350, 500, "Output")):
        for y in (100, 340):
            drawing.rule(x0, y, x1, y)
        for x in (x0, x1):
            drawing.rule(x, 100, x, 340)
        drawing.text(x0 + 10, 120, word)
        drawing.text(x0 + 50, 250, "scale")
        drawing.text(x0 + 90, 320, "core")
    assert rows_of(drawing.units()) == []


def test_columns_of_prose_that_a_table_interrupts_are_no_rows() -> None:
    drawing = Drawing()
    left, right = justified(f"{PROSE} {OTHER}", 210), justified(f"{OTHER} {PROSE}", 210)
    count = min(len(left), len(right))
    y = TOP = 80.0
    for _ in range(3):
        drawing.lines(left[:count], y=y)
        drawing.lines(right[:count], x=310, y=y)
        y += 12 * count + 14
    assert y > TOP
    assert {unit.type for unit in drawing.units()} == {"prose"}


def test_a_title_beside_texts_on_its_baselines_makes_no_rows_with_them() -> None:
    drawing = Drawing()
    small = ["Department", "of Records", "and Archives", "2021", "2022"]
    for n, word in enumerate(("Supplement", "to the guide", "for the years", "2021 and 2022", "Office")):
        drawing.text(LEFT, 100 + 24 * n, small[n], 7)
        drawing.text(140, 100 + 24 * n, word, 20)
        drawing.text(330, 100 + 24 * n, f"Changes of section {n}", 9)
    assert rows_of(drawing.units()) == []


def test_numbered_notes_between_a_table_and_a_ruling_are_no_row_of_it() -> None:
    drawing = Drawing()
    below = draw_statement(drawing)
    edges = (189, 203, 217, 231, 245, 259)
    for y in edges:
        drawing.rule(66, y, 510, y)
    y = below + 4
    for n in (1, 2):
        drawing.text(LEFT, y, f"({n})", 8)
        y = drawing.lines(justified(PROSE, 400, 8), 90, y, leading=10, size=8) + 4
    drawing.rule(66, y, 510, y)
    cells = [cell.text for row in rows_of(drawing.units()) for cell in row.cells]
    assert len(cells) > len(edges) and not any("committee" in text for text in cells)


def test_a_cell_of_several_paragraphs_ends_the_last_row() -> None:
    drawing = Drawing()
    y = 100.0
    for name in ("case", "decimal", "confirm", "language", "width"):
        drawing.text(LEFT, y, name.upper())
        y = drawing.lines(justified(OTHER[:130], 220), x=260, y=y) + 10
    y = drawing.lines(["Choose none to print nothing at", "all, on any machine."], x=260, y=y - 5)
    drawing.lines(justified(PROSE, 430), y=y + 30)
    last = rows_of(drawing.units())[-1]
    assert cells(last)[0] == "WIDTH"
    assert cells(last)[1].endswith("on any machine.")


def test_a_title_between_heads_and_rows_leaves_the_heads_in_the_table() -> None:
    drawing = Drawing()
    columns = (LEFT, 220, 320, 420)
    for x, head in zip(columns, ("Method", "Source", "Format", "Task"), strict=True):
        drawing.text(x, 100, head)
    drawing.text(190, 125, "Methods of refinement after the fact")
    for n in range(5):
        for x, word in zip(columns, (f"Refine {n}", "Human", "Words", "Reading"), strict=True):
            drawing.text(x, 149 + 12 * n, word)
    assert cells(rows_of(drawing.units())[0]) == ["Method", "Source", "Format", "Task"]


def test_labels_and_what_they_say_are_rows() -> None:
    drawing = Drawing()
    for n, (label, said) in enumerate(
        [("Date:", "Friday, 13 March"), ("Place:", "Town hall, room 21"), ("Chair:", "A. Mbeki")]
    ):
        drawing.text(LEFT, 100 + 14 * n, label)
        drawing.text(180, 100 + 14 * n, said)
    drawing.lines(justified(PROSE, 430), y=190)
    assert [cells(row) for row in rows_of(drawing.units())] == [
        ["Date:", "Friday, 13 March"],
        ["Place:", "Town hall, room 21"],
        ["Chair:", "A. Mbeki"],
    ]


def test_one_upright_ruling_in_a_frame_leaves_the_values_their_rows() -> None:
    drawing = Drawing()
    names = ("Wheat", "Barley", "Oats", "Rye", "Maize")
    for y in (90, 112, 210):
        drawing.rule(72, y, 500, y)
    for x in (72, 200, 500):
        drawing.rule(x, 90, x, 210)
    for x, head in zip((76, 260, 340, 420), ("Crop", "1901", "1902", "1903"), strict=True):
        drawing.text(x, 105, head)
    for n, name in enumerate(names):
        for x, text in zip((76, 260, 340, 420), (name, f"{n}.1", f"{n}.4", f"{n}.7"), strict=True):
            drawing.text(x, 128 + 16 * n, text)
    assert [cells(row) for row in rows_of(drawing.units())][-5:] == [
        [name, f"{n}.1", f"{n}.4", f"{n}.7"] for n, name in enumerate(names)
    ]


def test_an_open_frame_with_one_upright_ruling_leaves_its_signs_and_values_in_their_rows() -> None:
    drawing = Drawing()
    for y in (112, 202, 220):
        drawing.rule(72, y, 500, y)
    drawing.rule(330, 112, 330, 220)
    names = ("Wheat at the beginning", "Barley", "Oats", "Rye", "Maize", "Millet", "ALL AT THE END")
    rows = [
        [name, *(f"{n}{year}1" for year in range(3, 6))]
        if n % 6
        else [name, *(f"$ {n}7{y}" for y in (1, 2, 3))]
        for n, name in enumerate(names)
    ]
    for n, (name, *values) in enumerate(rows):
        first, second, third = (value.removeprefix("$ ") for value in values)
        pieces = [(76, name), (281, first), (381, second), (430, third)]
        if values[0] != first:
            pieces = [*pieces[:2], (256, "$"), (345, "$"), (381, f"{second}  $"), (430, third)]
        for x, piece in pieces:
            drawing.text(x, 123 + 15 * n, piece)
    assert [cells(row) for row in rows_of(drawing.units())][-7:] == rows


def test_rulings_between_groups_of_rows_leave_them_one_table_with_one_head() -> None:
    drawing = Drawing()
    xs = (76, 180, 300, 420)
    groups = {"Boats": ("Rowing", "Sailing", "Motor"), "Berths": ("Quay", "Buoy"), "Hall": ("Large", "Small")}
    for x, head in zip(xs, ("What", "Kind", "Keeper", "Remarks"), strict=True):
        drawing.text(x, 105, head)
    for y in (90, 112):
        drawing.rule(72, y, 520, y)
    y = 128.0
    for group, kinds in groups.items():
        drawing.text(xs[0], y, group)
        for kind in kinds:
            drawing.rule(176, y - 12, 520, y - 12)
            for x, text in zip(xs[1:], (kind, "The warden", f"Ask in {group.lower()}"), strict=True):
                drawing.text(x, y, text)
            y += 18
    drawing.rule(72, y - 12, 520, y - 12)
    rows = rows_of(drawing.units())
    assert {row.index for row in rows} == {0}
    assert [row.header for row in rows] == [True, *[False] * 7]
    assert cells(rows[5]) == ["Buoy", "The warden", "Ask in berths"]


def test_rows_of_texts_above_the_first_value_are_no_heads() -> None:
    drawing = Drawing()
    names = ("Owner", "Builder", "Colour", "Rig", "Timber", "Home port")
    rows = [(["Property"], ["First boat"], ["Second boat"])]
    rows += [([name], ["As it was"], ["Not known"]) for name in names]
    ruled(drawing, [*rows, (["Length"], ["7.2"], ["9.4"])])
    assert [row.header for row in rows_of(drawing.units())] == [True, *[False] * 7]


def test_rows_of_texts_above_a_note_over_all_columns_are_no_heads() -> None:
    drawing = Drawing()
    for n, row in enumerate(
        (
            ("Immunity",),
            ("Test", "Level", "Guidance"),
            ("Radio", "Low", "Keep off"),
            ("Field", "Low", "Stay near"),
        )
    ):
        for x, text in zip(COLUMNS, row, strict=False):
            drawing.text(x + 4, 112 + 20 * n, text)
    drawing.text(LEFT + 4, 192, "Note: these rules may not hold in all places.")
    for y in range(100, 201, 20):
        drawing.rule(COLUMNS[0], y, COLUMNS[-1], y)
    for x in COLUMNS[1:-1]:
        drawing.rule(x, 120, x, 180)
    for x in (COLUMNS[0], COLUMNS[-1]):
        drawing.rule(x, 100, x, 200)
    rows = [unit.table for unit in drawing.units() if unit.table is not None]
    assert [row.header for row in rows] == [True, True, False, False, False]
    assert rows[2].head_rows == ("Immunity Test", "Level", "Guidance")


def test_a_table_of_values_between_rules_over_two_columns_of_prose_is_one() -> None:
    drawing = Drawing()
    heads = ["Fees", "Costs", "Tax", "Rent", "Gains", "Loss"]
    places = (130, 190, 250, 330, 400, 470)
    for y in (90, 106, 170):
        drawing.rule(LEFT, y, 523, y)
    for n, name in enumerate(("Mill", "Yard", "Shop", "Farm")):
        drawing.text(LEFT, 120 + 14 * n, name)
        for k, x in enumerate(places):
            drawing.text(x, 120 + 14 * n, f"{40 + 7 * n + k}.{k}")
    for x, head in zip(places, heads, strict=True):
        drawing.text(x, 101, head)
    drawing.lines(justified(PROSE, 210), y=210)
    drawing.lines(justified(OTHER, 210), x=313, y=210)
    rows = [unit.table for unit in drawing.units() if unit.table is not None]
    assert len({row.index for row in rows}) == 1
    assert [len(row.cells) for row in rows] == [6, 7, 7, 7, 7]
    assert rows[1].head_rows == ("", *heads)


def test_heads_ruled_alone_head_the_values_below_them() -> None:
    drawing = Drawing()
    table = (("Name", "Fees", "Costs", "Tax"), ("", "net", "gross", "net"))
    for y in (90, 108, 126):
        drawing.rule(LEFT, y, 450, y)
    for n in range(8):
        row = table[n] if n < 2 else (f"Mill {'ABCDEF'[n - 2]}", f"{n}.5", f"{n}1.2", f"{n}7.1")
        for x, text in zip((LEFT, 200, 290, 380), row, strict=True):
            drawing.text(x, 103 + 18 * n, text)
    rows = [unit.table for unit in drawing.units() if unit.table is not None]
    assert len({row.index for row in rows}) == 1
    assert rows[-1].head_rows[1:] == ("Fees net", "Costs gross", "Tax net")


def test_a_head_in_other_type_that_no_rule_parts_from_the_first_row_is_a_row() -> None:
    drawing = Drawing()
    rows = (("Paper jam", "Open the lid"), ("No power", "Look for the cable"), ("Noise", "Call the shop"))
    drawing.text(LEFT, 103, "Problem", font="hebo")
    drawing.text(250, 103, "What to do", font="hebo")
    y = 114.0
    for problem, remedy in (*rows, ("Smell", "Let it cool"), ("Smoke", "Pull the plug")):
        drawing.text(LEFT, y, problem)
        drawing.text(250, y, remedy)
        drawing.text(250, y + 12, "and wait until the lamp is lit.")
        drawing.rule(LEFT, y + 16, 450, y + 16)
        y += 30
    found = [unit.table for unit in drawing.units() if unit.table is not None]
    assert [cell.text for cell in found[0].cells] == ["Problem", "What to do"]
    assert found[0].header
    assert found[1].head_rows == ("Problem", "What to do")


def test_lines_of_prose_spread_over_a_column_are_no_rows() -> None:
    drawing = Drawing()
    for y, gaps, line in (
        (100, (20, 20, 20, 20), "Instruction: Assume you are an"),
        (112, (11, 11, 25, 11), "entity instance annotator. Given a"),
    ):
        x = LEFT
        for word, gap in zip(line.split(), (*gaps, 0), strict=False):
            drawing.text(x, y, word)
            x += pymupdf.get_text_length(word, "helv", 10) + gap
    assert [unit.type for unit in drawing.units() if unit.type == "table"] == []


def test_a_line_that_reaches_beyond_its_grid_belongs_to_the_last_cell() -> None:
    drawing = Drawing()
    ruled(drawing, [(["Fold"], ["Please"], ["Tape"]), (["Here"], ["do not"], ["There"])])
    drawing.text(310, 112, "_ " * 60)
    (page,) = drawing.read()
    assert not page.failure
    assert max(cell.column for row in rows_of(page.units) for cell in row.cells) == 2


def test_rulings_far_apart_whose_rows_stand_between_two_of_them_lose_no_page() -> None:
    drawing = Drawing()
    for y in (100, 112, 730):
        drawing.rule(LEFT, y, 500, y)
    for n in range(30):
        for x in COLUMNS[:3]:
            drawing.text(x, 140 + 18 * n, f"Name {n}")
    (page,) = drawing.read()
    assert not page.failure
    assert page.text.count("Name 7") == 3


def test_broken_texts_between_two_rules_only_are_one_row_each() -> None:
    """Each line of the texts stands on a baseline of the others, and begins the first column."""
    drawing = Drawing()
    for y in (90, 108, 320):
        drawing.rule(LEFT, y, 535, y)
    for x, head in ((LEFT, "Sentence"), (250, "Before"), (340, "Reason")):
        drawing.text(x, 102, head)
    y = 122.0
    for n in (1, 2, 3):
        sentence = justified(f"Case {n}: {PROSE[:130]}", 165)
        reason = justified(f"Rule {n}: {OTHER[:170]}", 190)
        drawing.lines(sentence, x=LEFT, y=y)
        drawing.lines(["person", "x"], x=250, y=y)
        y = drawing.lines(reason, x=340, y=y) + 6
    rows = [unit.table for unit in drawing.units() if unit.table]
    assert [len(row.cells) for row in rows] == [3] * 4
    assert [row.cells[0].text[:6] for row in rows[1:]] == ["Case 1", "Case 2", "Case 3"]
    assert rows[1].cells[0].text == f"Case 1: {PROSE[:130]}".strip()
    assert rows[1].cells[1].text == "person x"


def test_texts_of_one_line_each_between_two_rules_stay_rows() -> None:
    drawing = Drawing()
    for y in (90, 108, 200):
        drawing.rule(LEFT, y, 535, y)
    for x, head in ((LEFT, "Town"), (250, "What it is known for")):
        drawing.text(x, 102, head)
    known = [
        "the gates of its old harbour",
        "a lighthouse on the white cliffs above the sea",
        "cobbled streets",
        "boats that are drawn up on the open beach",
        "its pier",
        "orchards and hop gardens",
    ]
    for n, text in enumerate(known):
        drawing.text(LEFT, 122 + 12 * n, ("Rye", "Dover", "Deal", "Hastings", "Hythe", "Ashford")[n])
        drawing.text(250, 122 + 12 * n, text)
    assert sum(unit.type == "table" for unit in drawing.units()) == 7


def test_upright_rulings_of_a_pen_broader_than_they_are_long_part_columns() -> None:
    page = Drawing()
    height, edges = 20.0, (72.0, 123.0, 174.0, 225.0)
    rows = [
        ["Rye bread", "1.20 a loaf", "baked daily"],
        ["Milk, fresh", "0.90 a litre", "from Risør"],
        ["Butter", "2.40 a pack", "salted only"],
        ["Eggs, large", "3.10 a dozen", "free range"],
    ]
    for n, row in enumerate(rows):
        middle = 100 + height * n
        page.rule(edges[0], middle - height / 2, edges[-1], middle - height / 2)
        for x in edges:
            page.page.draw_line((x, middle), (x + 0.5, middle), width=height)
        for x, text in zip(edges, row, strict=False):
            page.text(x + 2, middle + 3, text, size=8)
    page.rule(edges[0], 90 + height * len(rows), edges[-1], 90 + height * len(rows))
    assert [cells(row) for row in rows_of(page.units())] == rows


def borders(drawing: Drawing, y: float, thickness: float = 0.5) -> None:
    """Draw the borders of two cells side by side, each on its own, as word processors do."""
    for x0, x1 in pairwise((LEFT, 200.0, 500.0)):
        drawing.page.draw_rect((x0, y, x1, y + thickness), color=None, fill=(0, 0, 0))


def test_borders_drawn_cell_by_cell_show_the_columns() -> None:
    drawing = Drawing()
    drawing.lines(["Table 7: Parameters"], y=110)
    drawing.lines(["PARAMETER"], LEFT + 4, 130)
    drawing.lines(["DESCRIPTION"], 204, 130)
    borders(drawing, 134, 4.0)
    drawing.lines(["ROOT_OF_ENTITY"], LEFT + 4, 150)
    end = drawing.lines(justified(PROSE, 280), 204, 150)
    borders(drawing, end - 6)
    drawing.lines(justified(OTHER, 430), y=end + 30)
    head, row = rows_of(drawing.units())
    assert cells(head) == ["PARAMETER", "DESCRIPTION"]
    assert cells(row) == ["ROOT_OF_ENTITY", PROSE]


def test_text_across_the_joints_of_borders_is_no_row() -> None:
    drawing = Drawing()
    borders(drawing, 100)
    drawing.lines(justified(PROSE, 430), y=120)
    borders(drawing, 200)
    assert rows_of(drawing.units()) == []


def latex_table(drawing: Drawing, rows: Sequence[tuple[str, str]], frame: bool) -> None:
    """Rows as LaTeX draws them: an upright ruling of one piece for each, one rule below the head."""
    xs = (72, 320) if frame else (180,)
    for n, (name, text) in enumerate(rows):
        for x in xs:
            drawing.page.draw_rect((x, 220 + 14 * n, x + 0.4, 234 + 14 * n), color=None, fill=(0, 0, 0))
        drawing.text(76, 230 + 14 * n, name)
        drawing.text(186, 230 + 14 * n, text)
    for y in (220, 234, 220 + 14 * len(rows)) if frame else (234,):
        drawing.rule(72, y, 320, y)


NAMES = [("name", "description"), ("sslclient", "of clients"), ("sslserver", "of servers")]
NAMES += [("any", "whatever the purpose"), ("timestampsign", "of time stamps")]


def test_upright_rulings_drawn_row_by_row_show_the_rows() -> None:
    drawing = Drawing()
    drawing.lines(justified(OTHER, 430))
    latex_table(drawing, NAMES, frame=False)
    assert [tuple(cells(row)) for row in rows_of(drawing.units())] == NAMES


def test_a_frame_drawn_line_by_line_around_a_text_is_no_table() -> None:
    drawing = Drawing()
    drawing.lines(justified(OTHER, 430))
    latex_table(drawing, [(line, "") for line in justified(PROSE, 240)], frame=True)
    assert rows_of(drawing.units()) == []


def rows_of_texts(drawing: Drawing) -> list[list[tuple[int, int, int, str]]]:
    """Column, columns, rows and text of each cell."""
    return [
        [(cell.column, cell.span, cell.rows, cell.text) for cell in unit.table.cells]
        for unit in drawing.units()
        if unit.table is not None
    ]


def framed(drawing: Drawing, rows: Sequence[Sequence[str]]) -> None:
    """A frame around the rows, with upright rulings in its first row only and a rule below each row."""
    for n, row in enumerate(rows):
        for x, text in zip((84, 224, 304), row, strict=False):
            drawing.text(x, 114 + 20 * n, text)
    for n in range(len(rows) + 1):
        drawing.rule(80, 100 + 20 * n, 400, 100 + 20 * n)
    for x in (80, 400):
        drawing.rule(x, 100, x, 100 + 20 * len(rows))
    for x in (220, 300):
        drawing.rule(x, 100, x, 120)


def test_rows_without_inner_uprights_take_the_columns_of_the_head() -> None:
    drawing = Drawing()
    framed(drawing, [("Country", "Home", "Abroad"), ("Austria", "92.9", "7.1"), ("Norway", "41.2", "51.0")])
    assert [[cell[3] for cell in row] for row in rows_of_texts(drawing)] == [
        ["Country", "Home", "Abroad"],
        ["Austria", "92.9", "7.1"],
        ["Norway", "41.2", "51.0"],
    ]


def test_a_text_across_the_columns_of_the_head_stays_one_cell_that_spans_them() -> None:
    drawing = Drawing()
    text = "All of these harbours were closed during the winter of that year."
    framed(drawing, [("Country", "Home", "Abroad"), (text,), ("Norway", "41.2", "51.0")])
    assert rows_of_texts(drawing)[1] == [(0, 3, 1, text)]


def test_a_cell_over_two_rows_says_so() -> None:
    drawing = Drawing()
    for x, y, text in (
        (84, 114, "Group"),
        (224, 114, "Sample"),
        (84, 144, "Blood pressure"),
        (224, 134, "1728"),
        (224, 154, "1729"),
    ):
        drawing.text(x, y, text)
    for x in (80, 220, 400):
        drawing.rule(x, 100, x, 160)
    for y in (100, 120, 160):
        drawing.rule(80, y, 400, y)
    drawing.rule(220, 140, 400, 140)
    assert rows_of_texts(drawing) == [
        [(0, 1, 1, "Group"), (1, 1, 1, "Sample")],
        [(0, 1, 2, "Blood pressure"), (1, 1, 1, "1728")],
        [(1, 1, 1, "1729")],
    ]


def test_a_grid_on_a_page_without_words_is_no_error() -> None:
    drawing = Drawing()
    framed(drawing, [("", "", ""), ("", "", "")])
    (page,) = drawing.read()
    assert page.units == () and page.failure == ""


def test_cells_over_several_rows_are_known_to_each_of_them() -> None:
    drawing = Drawing()
    for y, start in ((100, 0), (120, 0), (140, 1), (160, 0)):
        drawing.rule(COLUMNS[start], y, COLUMNS[-1], y)
    for x in COLUMNS:
        drawing.rule(x, 100, x, 160)
    for n, row in enumerate(
        [("Test", "Group", "Sample"), ("Pressure", "Men", "1728"), ("", "Women", "1729")]
    ):
        for x, text in zip(COLUMNS, row, strict=False):
            drawing.text(x + 4, 114 + 20 * n, text)
    _, men, women = rows_of(drawing.units())
    assert (men.spanning, women.spanning) == ((), ((0, "Pressure"),))
    assert row_with_heads(women) == "Pressure | Group: Women | Sample: 1729"
