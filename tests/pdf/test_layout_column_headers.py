"""Which columns the heads of a table count for: a wrong one says that a value is of another year."""

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
