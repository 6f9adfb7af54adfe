"""A claim that says one cell by the names of its row, its groups and its column."""

import pytest

from citing.batch import Case, check
from citing.comparison.words.rivals import amounts_exchanged_in_brackets

TABLE = """Results (in millions)
| | 2023 | 2022 |
| --- | --- | --- |
| Net revenue | | |
| Snacks North America | 5,583 | 4,839 |
| Total | 17,846 | 16,200 |
| Operating profit | | |
| Snacks North America | 1,599 | 1,296 |
| Total | 2,629 | 5,267 |
"""


@pytest.mark.parametrize(
    ("claim", "verified"),
    [
        ("Total operating profit was 2,629 million in 2023.", True),
        ("Total operating profit was 17,846 million in 2023.", False),
        ("Total operating profit was 5,267 million in 2023.", False),
        ("Total operating profit exceeded 2,629 million in 2023.", False),
        ("Net revenue of Snacks North America amounted to 4,839 million in 2022.", True),
        ("Net revenue of Snacks North America amounted to 1,296 million in 2022.", False),
    ],
)
def test_a_cell_is_named_by_its_group_too(claim: str, verified: bool) -> None:
    assert check(Case(claim=claim, passage=TABLE)).verified is verified


def test_amounts_in_brackets_belong_to_the_name_before_them() -> None:
    page = "Majorities of Republicans (71%) and Democrats (53%) say there are plenty of jobs."
    exchanged = "Majorities of Democrats (71%) and Republicans (53%) say there are plenty of jobs."
    assert check(Case(claim=page, passage=page)).verified
    assert amounts_exchanged_in_brackets(exchanged, page)
    assert not check(Case(claim=exchanged, passage=page)).verified


def test_a_list_of_foreign_names_does_not_tell_the_language_of_a_row() -> None:
    names = "".join(f"| Sul {n} S. de R.L. de C.V. e Filhos | Panama |\n" for n in range(12))
    table = (
        f"| Entity Name | Place of Formation |\n| --- | --- |\n{names}| Example Finance Ltd. | Bermuda |\n"
    )
    claim = "The place of formation of Example Finance Ltd. is Bermuda."
    assert check(Case(claim=claim, passage=table)).verified


def test_a_long_word_and_a_long_cell_end_in_time() -> None:
    """Expressions with two ways to read a stretch would take hours here."""
    assert not amounts_exchanged_in_brackets("A (71%) and B (53%)", "x" * 200_000)
    cell = f"1{'-' * 5000}words"
    table = f"| Item | 2023 |\n| --- | --- |\n| Snacks | 2.2 |\n| Drinks | {cell} |"
    assert not check(Case(claim="Snacks were 2.5 in 2023.", passage=table)).verified
