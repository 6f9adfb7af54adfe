"""Values that belong to another name or to another unit on the page."""

from __future__ import annotations

import pytest

from citing.batch import Case, check
from citing.comparison.values.respective import is_paired_otherwise

LOSSES = (
    "As of June 30, 2023, we had federal, state, and foreign operating loss carryforwards of $509 million,"
    " $1.2 billion, and $2.3 billion, respectively."
)
GROWTH = "Sales of ferries grew by 5% and 7% in 2022 and 2021, respectively."
ADAPTER = """Technical data
| | Adapter |
| --- | --- |
| Length | 179 mm |
| Weight | Approx. 0.7 kg (1.5 lbs.) |
"""


@pytest.mark.parametrize(
    ("claim", "page", "otherwise"),
    [
        ("State operating loss carryforwards were $2.3 billion.", LOSSES, True),
        ("State operating loss carryforwards were $1.2 billion.", LOSSES, False),
        ("We had federal and state carryforwards of $509 million and $1.2 billion.", LOSSES, False),
        ("Federal, state and foreign carryforwards came to $2.3 billion at most.", LOSSES, False),
        ("Sales of ferries grew by 7% in 2022.", GROWTH, True),
        ("Sales of ferries grew by 5% in 2022.", GROWTH, False),
        ("Sales grew by 7%.", "Sales grew by 5% and 7%, respectively, as did fares.", False),
    ],
)
def test_a_name_has_the_value_at_its_place_of_the_other_list(claim: str, page: str, otherwise: bool) -> None:
    assert is_paired_otherwise(claim, page, "en") is otherwise
    if otherwise:
        assert not check(Case(claim=claim, passage=page)).verified


def test_a_number_with_another_unit_is_another_value() -> None:
    claim = "The weight of the adapter is approximately {}."
    said = {
        size: check(Case(claim=claim.format(size), passage=ADAPTER)).verified for size in ("0.7 kg", "1.5 kg")
    }
    assert said == {"0.7 kg": True, "1.5 kg": False}
