"""Amounts in brackets belong to the names before them."""

from __future__ import annotations

import pytest

from citing.batch import Case, check
from citing.claims import VERIFIED

PAGE = "Republicans (71%) were more often of this opinion than Democrats (53%)."


@pytest.mark.parametrize(
    ("claim", "verified"),
    [
        ("Republicans (53%) were more often of this opinion than Democrats (71%).", False),
        ("Republicans (71%) were more often of this opinion than Democrats (53%).", True),
    ],
)
def test_amounts_in_brackets_exchanged_are_not_verified(claim: str, verified: bool) -> None:
    assert (check(Case(claim=claim, passage=PAGE, lang="en")).verdict in VERIFIED) is verified
