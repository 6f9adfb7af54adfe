"""Words of a unit follow their printed lines: kinds of pages on which they did not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.order import breaks
from tests.pdf.layout_drawing import OTHER, PROSE, Drawing, justified, texts

NOTES = (
    "* May include estimated tax, duties and fees",
    "** This is not a receipt for tax purposes",
    "*** See the statement at the end of the bill",
    "for the details of each single charge",
    "Usage of this month is charged on the next",
    "billing date. The amount may differ from it.",
)
ADDRESS = ("Service provider", "Example Cloud", "North Avenue House", "Springfield", "United States")
AUDIT = (
    "The evaluation of the reserve was complex because of the judgement needed for the assumptions. "
    "They include the rate of growth, the margin and the cost of capital, and each is sensitive to "
    "the market. We tested the controls over the review, and compared the assumptions with the past. "
)


def orderly(drawing: Drawing) -> list[str]:
    """The texts of the units, once the invariant has been checked."""
    for page in drawing.read():
        assert not breaks(page)
    return texts(drawing.units())


@pytest.mark.parametrize("size", [8, 10])
def test_notes_beside_an_address_are_read_before_it(size: float) -> None:
    drawing = Drawing()
    drawing.lines(NOTES, leading=1.25 * size, size=size)
    drawing.lines(ADDRESS, x=400, leading=1.25 * size, size=size)
    found = " ".join(orderly(drawing))
    assert "*** See the statement at the end of the bill for the details of each single charge" in found
    assert found.endswith("Service provider Example Cloud North Avenue House Springfield United States")


@pytest.mark.parametrize("width", [380, 330])
def test_headings_of_several_lines_in_the_margin_are_apart_from_the_text_beside_them(width: float) -> None:
    drawing, y = Drawing(), 90.0
    for head in (("Description of", "the matter"), ("How we", "addressed it", "in our audit")):
        drawing.lines(head, x=40, y=y)
        y = drawing.lines(justified(AUDIT * 2, width), x=150, y=y) + 14
    found = orderly(drawing)
    assert found[::2] == ["Description of the matter", "How we addressed it in our audit"]
    assert found[1] == found[3] == (AUDIT * 2).strip()


@pytest.mark.parametrize("right", [True, False])
def test_names_beside_places_set_to_the_right_or_centred_are_a_table(right: bool) -> None:
    names = [
        "Astro Limited",
        "Aviall Services Incorporated",
        "Harbour Capital",
        "BCC Leasing",
        "Insitu",
        "KLX Inc.",
    ]
    places = ["Bermuda", "Delaware", "United Kingdom", "Germany", "The Netherlands", "Washington"]
    drawing = Drawing()
    for n, (name, place) in enumerate(zip(names, places, strict=True)):
        drawing.text(72, 90 + 14 * n, name)
        width = drawing.width_of(place)
        drawing.text(500 - width if right else 450 - width / 2, 90 + 14 * n, place)
    units = drawing.units()
    assert all(unit.table for unit in units)
    assert [[cell.text for cell in unit.table.cells] for unit in units if unit.table] == [
        [name, place] for name, place in zip(names, places, strict=True)
    ]


@pytest.mark.parametrize("bold_labels", [True, False])
def test_labels_in_another_weight_than_their_values_make_a_table(bold_labels: bool) -> None:
    pairs = {"Reign": "959 to 975", "Predecessor": "Eadwig", "Born": "943", "Issue": "Edward the Martyr"}
    drawing = Drawing()
    for n, (label, value) in enumerate(pairs.items()):
        drawing.text(72, 90 + 14 * n, label, font="hebo" if bold_labels else "helv")
        drawing.text(170, 90 + 14 * n, value, font="helv" if bold_labels else "hebo")
    tables = [unit.table for unit in drawing.units()]
    assert [[cell.text for cell in row.cells] for row in tables if row] == [
        list(pair) for pair in pairs.items()
    ]


@pytest.mark.parametrize("leader", [" .", "."])
def test_a_value_that_its_leaders_touch_is_a_cell(leader: str) -> None:
    rows = [
        ("Robbery", "102.1", "25.1"),
        ("Property crime", "1,396.4", "338.7"),
        ("Larceny", "987.2", "1,257.7"),
    ]
    drawing = Drawing()
    for n, (label, total, young) in enumerate(rows):
        y = 90 + 14 * n
        end = 240 - drawing.width_of(total) - 2
        dots = 0
        while drawing.width_of(label + leader * (dots + 1)) < end - 72:
            dots += 1
        drawing.text(72, y, label + leader * dots)
        drawing.text(240 - drawing.width_of(total), y, total)
        drawing.text(320 - drawing.width_of(young), y, young)
    tables = [unit.table for unit in drawing.units() if unit.table]
    assert [[cell.text for cell in row.cells[1:]] for row in tables] == [list(row[1:]) for row in rows]


def test_labels_of_drawings_do_not_join_two_columns() -> None:
    drawing = Drawing()
    for x, text in ((60, PROSE), (320, OTHER)):
        y = drawing.lines(justified(text * 2, 220), x=x)
        for n in range(3):  # a formula of rings
            drawing.page.draw_circle((x + 60 + 25 * n, y + 40 + 15 * n), 14)
            drawing.page.draw_line((x + 60 + 25 * n, y + 40), (x + 90 + 25 * n, y + 70))
            drawing.text(x + 40 + 40 * n, y + 20 + 30 * n, f"{n + 4}", size=7)
        drawing.text(x + 20, y + 60, "HO", size=7)
        drawing.lines(justified(text, 220), x=x, y=y + 130)
    found = [text for text in orderly(drawing) if len(text) > 20]
    assert found == [(PROSE * 2).strip(), PROSE, (OTHER * 2).strip(), OTHER]


@settings(max_examples=settings.default.max_examples // 4, deadline=None)
@given(
    columns=st.integers(1, 3),
    size=st.sampled_from((7.0, 9.0, 10.5)),
    leading=st.floats(1.1, 1.5),
    gap=st.floats(1.5, 4),
    starts=st.lists(st.integers(0, 40), min_size=3, max_size=3),
    font=st.sampled_from(("helv", "tiro")),
)
def test_lines_of_prose_in_columns_are_never_mixed(
    columns: int, size: float, leading: float, gap: float, starts: list[int], font: str
) -> None:
    drawing = Drawing()
    width = (475 - gap * size * (columns - 1)) / columns
    for n in range(columns):
        x, y = 60 + n * (width + gap * size), 90.0 + starts[n]
        for line in justified(f"{PROSE} {OTHER} " * 2, width, size, font):
            drawing.text(x, y, line, size, font)
            y += leading * size
    orderly(drawing)


@pytest.mark.parametrize("rows", [4, 3])
def test_columns_whose_paragraphs_begin_level_beside_a_box_of_values_are_no_table(rows: int) -> None:
    drawing, parts = Drawing(), (f"{PROSE} {OTHER}", f"{OTHER} {PROSE}", f"{PROSE} {PROSE}")
    for x, head in ((40, "Result"), (220, "Outlook")):
        y = 100.0
        for n, part in enumerate(parts):
            if n:
                drawing.text(x, y, f"{head} {n}", 9, "hebo")
                y += 11
            for m, line in enumerate(justified(part, 160, 9)):
                drawing.text(x, y + 11 * m, line, 9)
            y += 11 * max(len(justified(text, 160, 9)) for text in parts) + 14
    for n, (label, value) in enumerate(
        (
            ("Target price", "EUR 8.00"),
            ("Share price", "EUR 7.60"),
            ("Risk class", "medium"),
            ("Advice", "Accumulate"),
        )
    ):
        if n < rows:
            drawing.text(410, 100 + 14 * n, label, 9)
            drawing.text(490, 100 + 14 * n, value, 9, "hebo")
    found = [text for text in orderly(drawing) if len(text) > 60]
    assert found == [*parts, *parts]
