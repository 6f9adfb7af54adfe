"""A predicate of one clause is not said of the subject of another."""

from __future__ import annotations

import pytest

from citing.batch import Case, check
from citing.budget import claim_budget
from citing.claims import VERIFIED
from citing.comparison.rivals import of_other_subject
from text.budget import OverBudget

GERA = "Das Werk in Gera wurde im Oktober geschlossen, das Werk in Posen wird bis 2025 erweitert."
ROME = "The office in Rome was sold in May; the office in Milan was let in June."


@pytest.mark.parametrize(
    ("claim", "passage", "language", "mixed"),
    [
        ("Das Werk in Posen wurde im Oktober geschlossen.", GERA, "de", True),
        ("Das Werk in Gera wurde im Oktober geschlossen.", GERA, "de", False),
        ("Das Werk in Posen wird bis 2025 erweitert.", GERA, "de", False),
        ("The office in Milan was sold in May.", ROME, "en", True),
        ("The office in Rome was sold in May.", ROME, "en", False),
        (
            "L'usine de Lille a été fermée.",
            "L'usine de Lyon a été fermée, l'usine de Lille sera agrandie.",
            "fr",
            True,
        ),
        # Both are named, or the names do not stand for each other.
        ("The office in Rome was sold in May, the office in Milan was let in June.", ROME, "en", False),
        ("The office in Milan was let in June.", ROME, "en", False),
        ("Sales in Asia grew.", "Sales in Europe fell, and sales in Asia grew.", "en", False),
        ("Sales fell.", "Sales in Europe fell, and sales in Asia grew.", "en", False),
    ],
)
def test_a_predicate_of_another_subject_is_told(claim: str, passage: str, language: str, mixed: bool) -> None:
    assert of_other_subject(claim, passage, language) is mixed


def test_such_a_claim_is_not_verified() -> None:
    false = check(Case(claim="Das Werk in Posen wurde im Oktober geschlossen.", passage=GERA, lang="de"))
    assert false.verdict == "found" and false.reason == "The passage says this of something else beside it."
    true = check(Case(claim="Im Oktober wurde das Werk in Gera geschlossen.", passage=GERA, lang="de"))
    assert true.verdict in VERIFIED


def test_clauses_without_number_end_with_the_budget() -> None:
    passage = ", ".join(f"the plant in Town{number} was closed" for number in range(3000))
    with pytest.raises(OverBudget), claim_budget():
        of_other_subject("The plant in Posen was closed.", passage, "en")
