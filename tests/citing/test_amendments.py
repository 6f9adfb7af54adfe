"""Clauses followed through new versions and through instruments that say what they change."""

from __future__ import annotations

import pytest

from citing.amendments import Step, consolidate, instructions
from citing.versions import VersionUnit

LEASE = [
    ("Lease", True),
    ("2. Rent", True),
    ("2.1 The rent is $1,000 per month.", False),
    ("2.2 The tenant shall pay within 30 days of the invoice.", False),
    ("3. Pets", True),
    ("The tenant may keep pets.", False),
]


def units(*texts: tuple[str, bool]) -> list[VersionUnit]:
    return [VersionUnit(str(at), 1, text, is_heading) for at, (text, is_heading) in enumerate(texts)]


def said(steps: tuple[Step, ...]) -> list[tuple[str, int, str]]:
    return [(step.kind, step.version, step.text) for step in steps]


def test_the_last_value_has_the_chain_of_its_places() -> None:
    first = units(
        ("First amendment", True),
        ("Section 2.2 is amended by replacing “30 days” with “45 days”.", False),
        ("Section 3 is deleted in its entirety.", False),
    )
    second = units(
        ("1. Section 2.1 of the Lease is amended to read as follows:", False),
        ("“The rent is $1,250 per month.”", False),
        ("2. Section 2.2 is amended by replacing “45 days” with “60 days”.", False),
    )
    rent, days, pets = map(said, consolidate([units(*LEASE), first, second]).chains)
    assert rent == [("original", 0, LEASE[2][0]), ("restated", 2, "The rent is $1,250 per month.")]
    assert [text[text.index("within") :] for _, _, text in days] == [
        "within 30 days of the invoice.",
        "within 45 days of the invoice.",
        "within 60 days of the invoice.",
    ]
    assert pets == [("original", 0, "The tenant may keep pets."), ("deleted", 1, "")]


def test_a_whole_new_version_is_compared_and_then_amended() -> None:
    revised = [(text.replace("$1,000", "$1,100"), is_heading) for text, is_heading in LEASE]
    amendment = units(("Section 2.1 is amended by replacing “$1,100” with “$1,300”.", False))
    found = consolidate([units(*LEASE), units(*revised), amendment])
    (rent,) = map(said, found.chains)
    assert [text for _, _, text in rent] == [
        f"2.1 The rent is ${n} per month." for n in ("1,000", "1,100", "1,300")
    ]
    assert [compared is None for _, compared in found.comparisons] == [False, True]


@pytest.mark.parametrize(
    ("text", "language", "kind"),
    [
        ("Clause 4 is hereby deleted.", "en", "deleted"),
        ("Ziffer 4 wird wie folgt gefasst: „Die Miete beträgt 900 €.“", "de", "restated"),
        ("Section 4 is about pets.", "en", ""),
        ("The word “may” is replaced.", "en", ""),
    ],
)
def test_only_what_names_a_clause_and_a_change_is_an_instruction(text: str, language: str, kind: str) -> None:
    found = list(instructions([VersionUnit("1", 1, text, language=language)]))
    assert [one.kind for one in found] == ([kind] if kind else [])
