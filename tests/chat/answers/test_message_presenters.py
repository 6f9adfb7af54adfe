"""What is said of an answer's claims: how many hold, now that its documents may have changed."""

from __future__ import annotations

import pytest

from chat.answers.events import CitationShown
from chat.citations.stored_citations import summary_of


def cited(number: int, verdict: str, durability: str = "same") -> CitationShown:
    return CitationShown(
        str(number), number, "d", "T", 1, "u", "", (1, 1), "", "", verdict, durability=durability
    )


@pytest.mark.parametrize(
    ("citations", "claims", "uncited", "text"),
    [
        ([], [], 0, ""),
        ([cited(1, "exact")], ["a"], 0, "1 of 1 claim verified"),
        (
            [cited(1, "exact"), cited(2, "unsupported")],
            ["a", "b"],
            1,
            "1 of 3 claims verified, 1 differs",
        ),
        ([cited(1, "computed"), cited(2, "found")], ["a", "b"], 0, "1 of 2 claims verified, 1 found"),
        ([cited(1, "found"), cited(2, "found")], ["a", "b"], 0, "0 of 2 claims verified, 2 found"),
        ([cited(1, "found"), cited(2, "partial")], ["a", "a"], 0, "0 of 1 claim verified, 1 differs"),
        ([cited(1, "exact"), cited(2, "exact", "moved")], ["a", "b"], 0, "2 of 2 claims verified"),
        ([cited(1, "exact"), cited(2, "exact", "gone")], ["a", "b"], 0, "1 of 2 claims still hold"),
        ([cited(1, "exact", "changed"), cited(2, "exact")], ["a", "a"], 0, "1 of 1 claim still holds"),
        ([cited(1, "exact", "changed"), cited(2, "unsupported")], ["a", "b"], 0, "0 of 2 claims still hold"),
    ],
)
def test_a_claim_holds_while_words_that_prove_it_stand(
    citations: list[CitationShown], claims: list[str], uncited: int, text: str
) -> None:
    assert summary_of(citations, claims, uncited).text == text


def test_what_was_verified_is_counted_as_before_when_a_document_changed() -> None:
    summary = summary_of([cited(1, "exact"), cited(2, "exact", "gone")], ["a", "b"], 0)
    assert (summary.claims, summary.verified, summary.changed) == (2, 2, 1)
