"""Lines of one cell, ranges, typed columns, and listings that are no tables."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest

from pdf.structure import ParsedUnit, TableRow
from tests.pdf.layout_drawing import LEFT, OTHER, PROSE, Drawing, justified

TYPED = 6.0  # the width of a letter of Courier at 10 points


def tables(units: Sequence[ParsedUnit]) -> list[list[str]]:
    return [[cell.text for cell in unit.table.cells] for unit in units if unit.table]


def right(drawing: Drawing, x: float, y: float, text: str) -> None:
    drawing.text(x - drawing.width_of(text), y, text)


@pytest.mark.parametrize("joint", ["-", "to"])
def test_the_ends_of_a_range_and_its_dash_are_one_value(joint: str) -> None:
    drawing = Drawing()
    rows = [("Interest rate", ("1.9 %", "2.5 %"), ("0.9 %", "2.6 %")), ("Volatility", ("36 %",), ("38 %",))]
    rows += [("Dividend yield", ("2.9 %",), ("3.0 %",)), ("Expected life", ("7.4",), ("6.0",))]
    for x, year in ((400, "2020"), (500, "2018")):
        right(drawing, x, 200, year)
    for n, (label, *values) in enumerate(rows):
        drawing.text(LEFT, 214 + 14 * n, label)
        for x, ends in zip((400, 500), values, strict=True):
            right(drawing, x, 214 + 14 * n, ends[-1])
            if len(ends) > 1:
                middle = x - drawing.width_of(ends[-1]) - 9
                right(drawing, middle, 214 + 14 * n, joint)
                right(drawing, middle - drawing.width_of(joint) - 9, 214 + 14 * n, ends[0])
    assert tables(drawing.units())[1] == ["Interest rate", f"1.9 % {joint} 2.5 %", f"0.9 % {joint} 2.6 %"]


def test_a_dash_for_nothing_between_two_values_stays_a_value() -> None:
    drawing = Drawing()
    for x, year in ((300, "2020"), (330, "2019"), (360, "2018")):
        right(drawing, x, 200, year)
    for n, (label, *values) in enumerate(
        [("Fees", "4", "-", "7"), ("Rents", "11", "12", "15"), ("Tolls", "3", "-", "9")]
    ):
        drawing.text(LEFT, 214 + 14 * n, label)
        for x, value in zip((300, 330, 360), values, strict=True):
            right(drawing, x, 214 + 14 * n, value)
    assert tables(drawing.units())[1] == ["Fees", "4", "-", "7"]


def test_heads_set_apart_over_narrow_columns_each_head_one() -> None:
    drawing = Drawing()
    for x, head in ((310, "treated"), (420, "observed")):
        drawing.text(x, 200, head)
    for x, head in ((216, "interval"), (294, "asthma"), (338, "IBD"), (404, "asthma"), (448, "IBD")):
        drawing.text(x, 212, head)
    for n, values in enumerate([(0, 0, 1, 0), (1, 0, 0, 1), (1, 1, 2, 0), (2, 1, 3, 2)]):
        drawing.text(220, 226 + 12 * n, f"({n}, {n + 5}]")
        for x, value in zip((308, 344, 418, 454), values, strict=True):
            drawing.text(x, 226 + 12 * n, str(value))
    assert tables(drawing.units())[1] == ["interval", "asthma", "IBD", "asthma", "IBD"]


def test_typed_heads_end_where_their_values_do() -> None:
    drawing = Drawing()
    drawing.text(LEFT + TYPED * 6, 200, "Alzheimer Other dementias Other diagnoses", font="cour")
    rows = [("None", "126", "79", "104"), ("<10", "15", "8", "5"), ("10-20", "30", "33", "47")]
    for n, (label, *values) in enumerate([*rows, (">20", "27", "44", "20")]):
        drawing.text(LEFT, 212 + 12 * n, label, font="cour")
        for end, value in zip((15, 31, 47), values, strict=True):
            drawing.text(LEFT + TYPED * (end - len(value)), 212 + 12 * n, value, font="cour")
    assert tables(drawing.units())[0] == ["Alzheimer", "Other dementias", "Other diagnoses"]


def test_texts_that_hang_in_below_others_are_their_next_lines() -> None:
    drawing = Drawing()
    head = ("Reference", "Study design", "Subjects", "Form and dose")
    rows = [
        (
            ("Nabhan", "Randomized", "12 (6 in each", "Oral: 0.3 increasing to"),
            ("et al.", "trial", "group)", "0.6 mg"),
        ),
        (("Kim et al.", "Retrospective", "9", "Oral: 2 mg"),),
        (("Piippo", "Prospective,", "23", "Gel: 0.1 mg increasing"), ("et al.", "open", "", "to 1.5 mg")),
        (("Doerr et al.", "Prospective", "75", "Oral"),),
        (("Paterson", "Cross-", "14", "Oral: 1 mg increasing"), ("et al.", "sectional", "", "to 30 mg")),
    ]
    xs, y = (72, 160, 250, 340), 200.0
    for x, text in zip(xs, head, strict=True):
        drawing.text(x, y, text)
    y += 16
    for lines in rows:
        for n, line in enumerate(lines):
            for x, text in zip(xs, line, strict=True):
                drawing.text(x + 9 * n, y, text)
            y += 12
    found = tables(drawing.units())
    assert found[1] == [
        "Nabhan et al.",
        "Randomized trial",
        "12 (6 in each group)",
        "Oral: 0.3 increasing to 0.6 mg",
    ]
    assert [row[0] for row in found[1:]] == [
        "Nabhan et al.",
        "Kim et al.",
        "Piippo et al.",
        "Doerr et al.",
        "Paterson et al.",
    ]


def test_short_texts_centred_below_longer_ones_are_rows() -> None:
    drawing = Drawing()
    rows = [("Method", "Source", "Unit", "Stage"), ("DenseX [30]", "FactoidWiki", "Proposition", "Inference")]
    rows += [
        ("EAR [31]", "Dataset", "Sentence", "Tuning"),
        ("Filter-rerank", "Synthesized", "Sentence pair", "Inference"),
    ]
    for n, row in enumerate([*rows, ("TIGER [39]", "Dataset", "Item", "Training")]):
        for x, text in zip((110, 220, 330, 440), row, strict=True):
            drawing.text(x - drawing.width_of(text) / 2, 200 + 12 * n, text)
    assert tables(drawing.units()) == [*map(list, rows), ["TIGER [39]", "Dataset", "Item", "Training"]]


def draw_labels(drawing: Drawing, labels: Sequence[Sequence[str]], beside: int, pitch: float) -> None:
    """Rows of values, each beside one line of its label."""
    y = 200.0
    for n, lines in enumerate(labels):
        for k, line in enumerate(lines):
            drawing.text(LEFT, y + 11 * k, line)
        for x in (350, 430, 510):
            right(drawing, x, y + 11 * min(beside, len(lines) - 1), f"{n + 4}.{x % 7}")
        y += 11 * (len(lines) - 1) + pitch


LABELS = (
    ("Revenue",),
    ("Gross Margin",),
    ("Operating Margin",),
    ("Net Income", "Attributable to Owners"),
    ("Tax Rate",),
)


@pytest.mark.parametrize("beside", [0, 1])
def test_a_label_goes_on_in_the_line_that_is_nearer_than_rows_are(beside: int) -> None:
    drawing = Drawing()
    draw_labels(drawing, LABELS, beside, 18)
    assert [row[0] for row in tables(drawing.units())] == [" ".join(label) for label in LABELS]


def test_the_head_of_a_group_of_rows_is_not_part_of_a_label() -> None:
    drawing = Drawing()
    draw_labels(drawing, (*LABELS[:3], ("Per share:", "Dividends"), ("Earnings",)), 1, 18)
    found = [row[0] for row in tables(drawing.units())]
    assert found[3:] == ["Per share:", "Dividends", "Earnings"]


def test_a_label_of_two_lines_beside_centred_values_ends_the_table_with_both() -> None:
    drawing = Drawing()
    draw_labels(drawing, LABELS[:3], 0, 18)
    drawing.text(LEFT, 254 - 6.5, "Average", font="hebo")
    drawing.text(LEFT, 254 + 6.5, "(without tests)")
    for x in (350, 430, 510):
        right(drawing, x, 254, f"7.{x % 7}")
    assert tables(drawing.units())[-1][0] == "Average (without tests)"


def test_a_ruled_row_of_heads_belongs_to_the_values_below_it() -> None:
    drawing = Drawing()
    edges, head = ((175, 235, 295, 366), (371, 431, 492, 563)), ("Q1 2023", "Q1 2022", "Change")
    for group, xs in zip(("GAAP", "Adjusted"), edges, strict=True):
        drawing.text((xs[0] + xs[-1] - drawing.width_of(group)) / 2, 480, group, font="hebo")
        for y in (483, 498):
            for x0, x1 in pairwise(xs):  # each cell has a border of its own
                drawing.page.draw_rect((x0, y, x1, y + 0.5), color=None, fill=(0, 0.4, 0.7))
        for (x0, x1), text in zip(pairwise(xs), head, strict=True):
            drawing.text((x0 + x1 - drawing.width_of(text)) / 2, 494, text, font="hebo")
    for n, label in enumerate(("Gross margin", "Tax rate", "Operating margin", "Net income")):
        drawing.text(60, 511 + 15 * n, label)
        for k, (x0, x1) in enumerate(pair for xs in edges for pair in pairwise(xs)):
            value = f"{(n + 2) * 11 + k}.{n}%"
            drawing.text((x0 + x1 - drawing.width_of(value)) / 2, 511 + 15 * n, value)
    rows: list[TableRow] = [unit.table for unit in drawing.units() if unit.table]
    assert {row.index for row in rows} == {0}
    assert [cell.text for cell in rows[1].cells] == [*head, *head]


def test_keys_in_a_typed_column_are_the_rows_of_a_table() -> None:
    drawing = Drawing()
    keys = (
        ("C-b", "move back one character"),
        ("C-f", "move forward one character"),
        ("C-a", "move to the start"),
    )
    keys += (("C-e", "move to the end of the line"), ("M-f", "move forward a word"))
    drawing.text(LEFT, 180, "Cursor motion", 13, "hebo")
    for n, (key, text) in enumerate(keys):
        drawing.text(LEFT, 200 + 12 * n, key, font="cour")
        drawing.text(LEFT + 90, 200 + 12 * n, text)
    units = drawing.units()
    assert tables(units) == [list(pair) for pair in keys]
    assert not any(unit.table.header for unit in units if unit.table)


CODE = (
    ("... = ...", "[& ...] \\\\", "% (1.1)"),
    ("... = ... +", "[& ...] \\\\*", "% (1.2)"),
    ("+ ...", "[& ...] \\\\", "% (1.3)"),
    ("... = ...", "[& ...]", "% (1.4)"),
)


@pytest.mark.parametrize("numbered", [False, True])
def test_an_aligned_program_is_no_table(numbered: bool) -> None:
    drawing = Drawing()
    drawing.lines(justified(PROSE, 430))
    for n, row in enumerate(CODE):
        for x, text in zip((100, 190, 260), row, strict=True):
            drawing.text(x, 200 + 12 * n, text, font="cour")
        if numbered:
            drawing.text(80, 200 + 12 * n, str(n + 1), 6)
    assert tables(drawing.units()) == []


@pytest.mark.parametrize("first", [0, 4])
def test_chapters_between_entries_with_leaders_are_contents(first: int) -> None:
    drawing = Drawing()
    drawing.text(LEFT, 100, "Contents", 14, "hebo")
    y = 130.0
    entries = [("5.1 Mathematics", 4, True), ("5.2 Chemistry", 5, True), ("6 New commands", 7, False)]
    entries += [
        ("6.1 Examples", 8, True),
        ("7 Replacements for others", 15, False),
        ("8 Afterword", 16, False),
    ]
    entries = entries[first:] + entries[:first]
    for title, page, leaders in entries:
        font = "helv" if leaders else "hebo"
        drawing.text(LEFT, y, title, font=font)
        if leaders:
            start = LEFT + drawing.width_of(title) + 8
            drawing.text(start, y, ". " * int((490 - start) / 5.6))
        right(drawing, 510, y, str(page + 20 * (page < entries[0][1])))
        y += 13 if leaders else 22
    assert tables(drawing.units()) == []


def test_leaders_of_other_signs_end_before_a_note_in_a_column_of_its_own() -> None:
    drawing = Drawing()
    rows = [("Revenue", "_" * 20, "(1)"), ("Materials", "- " * 16 + "-", "(2)"), ("Wages", "_" * 23, "(3)")]
    for n, (label, leaders, note) in enumerate([*rows, ("Interest", "_" * 22, "(4)")]):
        drawing.text(LEFT, 200 + 14 * n, f"{label} {leaders} {note}")
        for x, value in ((380, f"1,28{n}.4"), (460, f"1,20{n}.9")):
            right(drawing, x, 200 + 14 * n, value)
    assert [row[1:] for row in tables(drawing.units())] == [
        [f"({n + 1})", f"1,28{n}.4", f"1,20{n}.9"] for n in range(4)
    ]


def test_a_head_over_two_heads_in_one_ruled_cell_covers_both() -> None:
    drawing = Drawing()
    xs = (72, 170, 250, 330, 410, 500)
    for y in (180, 222, *(222 + 16 * n for n in range(1, 6))):
        drawing.rule(72, y, 500, y)
    for x in xs:  # the head is one cell
        drawing.rule(x, 222, x, 302)
    for x in (72, 500):
        drawing.rule(x, 180, x, 222)
    for x, head in zip(xs, ("Station", "Date", "Nitrate", "Phosphate", "Samples"), strict=False):
        drawing.text(x + 5, 216, head, font="hebo")
    drawing.text(292, 196, "Content (mg/l)", font="hebo")
    for n, name in enumerate(("Harbour", "New pier", "Estuary", "Bridge", "Mill")):
        for x, cell in zip(xs, (name, f"0{n + 1}/02", f"{n}.8", f"0.1{n}", "24"), strict=False):
            drawing.text(x + 5, 234 + 16 * n, cell)
    rows: list[TableRow] = [unit.table for unit in drawing.units() if unit.table]
    heads = [rows[-1].head_rows[cell.column] for cell in rows[-1].cells]
    assert heads == ["Station", "Date", "Content (mg/l) Nitrate", "Content (mg/l) Phosphate", "Samples"]


def test_rows_of_the_type_and_distance_of_those_above_begin_no_other_table() -> None:
    drawing = Drawing()
    rows = [
        ("Code", "Format", "Example"),
        ("0", "dd-mmm-yyyy HH:MM", "07-Sep-2000 15:38"),
        ("1", "dd-mmm-yyyy", "07-Sep-2000"),
    ]
    rows += [
        ("2", "mm/dd", "09/07"),
        ("3", "mm", "09"),
        ("4", "mmmyy", "Sep00"),
        ("5", "HH:MM", "15:38"),
        ("6", "SS", "45"),
    ]
    rows += [
        ("7", "QQ-YY", "Q3-00"),
        ("8", "QQ", "Q3"),
        ("9", "dd/mm", "07/09"),
        ("10", "mmm.dd,yyyy", "Sep.07,2000"),
        ("11", "yy", "00"),
    ]
    for n, row in enumerate(rows):
        for x, text in zip((LEFT, 160, 330), row, strict=True):
            drawing.text(x, 200 + 12 * n, text, font="helv" if n else "hebo")
    found: list[TableRow] = [unit.table for unit in drawing.units() if unit.table]
    assert {row.index for row in found} == {0}
    assert [row.header for row in found] == [True] + [False] * 12


def test_measured_values_are_no_heads() -> None:
    drawing = Drawing()
    rows = [
        ("Unit", "Value"),
        ("ns", "47 600 000.0 ns"),
        ("ms", "47.6 ms"),
        ("s", "0.046 s"),
        ("h", "0.013 h"),
    ]
    for n in range(7):
        drawing.rule(LEFT, 188 + 20 * n, 330, 188 + 20 * n)
    for n, (unit, value) in enumerate([*rows, ("A", "38")]):
        drawing.text(LEFT + 4, 202 + 20 * n, unit)
        drawing.text(200, 202 + 20 * n, value)
    found: list[TableRow] = [unit.table for unit in drawing.units() if unit.table]
    assert [row.header for row in found] == [True] + [False] * 5


def test_the_end_of_contents_on_a_page_of_its_own_is_no_table() -> None:
    drawing = Drawing()
    for n, title in enumerate(
        ("2.2 Tables", "2.3 Glossaries", "2.4 Goals", "2.5 Models", "3 Thanks", "4 Code")
    ):
        y = 120 + 14 * n
        drawing.text(110 if "." in title else 90, y, title)
        start = 110 + drawing.width_of(title) + 14
        if "." in title:
            drawing.text(start, y, ". " * int((470 - start) / 5.6))
        right(drawing, 500, y, str(n // 2 + 2))
    assert tables(drawing.units()) == []


def test_days_and_years_below_months_are_heads() -> None:
    drawing = Drawing()
    for x, year in ((330, "2023"), (420, "2022"), (510, "2021")):
        for n, text in enumerate(("January", f"{int(year) - 1995},", year)):
            right(drawing, x, 190 + 12 * n, text)
    for n, label in enumerate(("Net sales", "Gross profit", "New stores")):
        drawing.text(LEFT, 226 + 14 * n, label)
        for x in (330, 420, 510):
            right(drawing, x, 226 + 14 * n, f"{n + 3},{x}.5")
    rows: list[TableRow] = [unit.table for unit in drawing.units() if unit.table]
    assert [rows[-1].head_rows[cell.column] for cell in rows[-1].cells[1:]] == [
        "January 28, 2023",
        "January 27, 2022",
        "January 26, 2021",
    ]


def test_a_head_that_touches_the_labels_is_over_its_values() -> None:
    drawing = Drawing()
    for x, head in ((232, "difficult to find"), (316, "available"), (390, "Refused")):
        drawing.text(x, 218, head)
    for n, label in enumerate(("Total", "Republicans", "Democrats and others")):
        right(drawing, 240, 240 + 22 * n, label)
        for x, value in ((275, 33 + n), (330, 60 - n), (400, 7)):
            drawing.text(x, 240 + 22 * n, str(value))
    rows: list[TableRow] = [unit.table for unit in drawing.units() if unit.table]
    heads = [rows[-1].head_rows[cell.column] for cell in rows[-1].cells[1:]]
    assert heads == ["difficult to find", "available", "Refused"]


def test_bold_names_of_three_columns_head_even_few_rows_of_words() -> None:
    drawing = Drawing()
    drawing.lines(justified(PROSE, 430))
    for x, head in ((173, "CPU"), (246, "Versions"), (356, "Provider")):
        drawing.text(x, 200, head, font="hebo")
    rows = (
        ("Debian", "i386/amd64", "squeeze/wheezy", "Johannes Ranke"),
        ("", "armel", "wheezy", "Johannes Ranke"),
    )
    for n, row in enumerate([*rows, ("Ubuntu", "i386/amd64", "lucid/precise/trusty", "Michael Rutter")]):
        for x, text in zip((118, 173, 246, 356), row, strict=True):
            if text:
                drawing.text(x, 213 + 13 * n, text)
    drawing.lines(justified(OTHER, 430), y=270)
    assert tables(drawing.units())[::2] == [
        ["CPU", "Versions", "Provider"],
        ["armel", "wheezy", "Johannes Ranke"],
    ]


def test_a_table_between_rules_right_below_a_grid_of_its_width_is_read_too() -> None:
    drawing = Drawing()
    xs = (72, 240, 330, 420, 510)
    for n in range(5):
        drawing.rule(72, 150 + 16 * n, 510, 150 + 16 * n)
    for x in xs:
        drawing.rule(x, 150, x, 214)
    for n, row in enumerate(
        (("Fleet", "2019", "2020", "2021"), ("Cars", "4", "5", "6"), ("Vans", "7", "8", "9"))
    ):
        for x, text in zip(xs, row, strict=False):
            drawing.text(x + 4, 162 + 16 * n, text)
    for y in (240, 256, 312):
        drawing.rule(72, y, 510, y)
    below = (
        ("Duty", "Who does it", "Since"),
        ("Keys", "the warden of the hall", "May"),
        ("Boats", "the boatman", "June"),
    )
    for n, row in enumerate((*below, ("Books", "the treasurer and her deputy", "July"))):
        for x, text in zip((76, 240, 420), row, strict=True):
            drawing.text(x, 252 + 17 * n, text)
    found: list[TableRow] = [unit.table for unit in drawing.units() if unit.table]
    assert [row.index for row in found] == [0] * 3 + [1] * 4
