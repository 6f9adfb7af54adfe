"""A sentence that says several things lights a place for each of them."""

from __future__ import annotations

import pytest

from citing.anchoring.clauses import clauses_with_values, place_of_values
from citing.claims import Claim
from citing.verdict import verify
from tests.citing.test_verdict import unit

PROPERTY = (
    "There was an offer that was rejected at £2,300,000. There was a price reduction on 20th December to "
    "£2,400,000. The Selling Agent has reported that the Property is now under offer at £2,400,000 as of 9th "
    "February 2024."
)
TRIAL = (
    "The study enrolled 4744 patients. The primary outcome occurred in 386 of 2373 patients (16.3%) in the "
    "dapagliflozin group and in 502 of 2371 patients (21.2%) in the placebo group."
)
PUMP = "Das Filter wird alle 12 Monate gewechselt. Die Pumpe läuft mit 6 V. Das Rohr misst 40 mm."


@pytest.mark.parametrize(
    ("claim", "page", "lit"),
    [
        (
            "An offer of £2,300,000 was rejected, the price was reduced to £2,400,000, and it is now under "
            "offer at £2,400,000.",
            PROPERTY,
            ["offer that was rejected at £2,300,000", "to £2,400,000", "offer at £2,400,000"],
        ),
        (
            "The outcome occurred in 386 patients (16.3%) on dapagliflozin and 502 (21.2%) on placebo.",
            TRIAL,
            ["386 of 2373 patients (16.3%)", "502 of 2371 patients (21.2%)"],
        ),
        ("Die Pumpe läuft mit 6 V, und das Rohr misst 40 mm.", PUMP, ["6 V", "40 mm"]),
    ],
)
def test_each_clause_has_its_place(claim: str, page: str, lit: list[str]) -> None:
    found = verify(Claim(claim), unit(page))
    places = found.quote.split(" … ")
    assert len(places) == len(lit)
    assert all(words in place for words, place in zip(lit, places, strict=True))
    assert found.char_start <= page.index(lit[0]) < page.index(lit[-1]) < found.char_end


def test_words_of_one_place_stay_one() -> None:
    found = verify(Claim("The pump runs at 6 V and draws 2 A."), unit("The pump runs at 6 V and draws 2 A."))
    assert found.verdict == "exact"
    assert " … " not in found.quote


@pytest.mark.parametrize(
    ("sentence", "clauses"),
    [
        (
            "The price fell to £2, and rent rose to £3.",
            ["The price fell to £2", "rent rose to £3"],
        ),
        ("In May, sales were 1,000 tonnes; costs, 7 %.", ["In May, sales were 1,000 tonnes", "costs, 7 %"]),
        ("It costs 5 euros.", []),
        ("Between 5 and 7 mm.", ["Between 5", "7 mm"]),
        ("Nothing.", []),
    ],
)
def test_clauses_have_values(sentence: str, clauses: list[str]) -> None:
    assert clauses_with_values(sentence) == clauses


def test_values_are_placed_only_if_each_is_printed_once() -> None:
    text = "A has 5 kg and 7 m. B has 9 kg."
    span = place_of_values("5 kg, 9 kg", text)
    assert span and text[slice(*span)].startswith("5") and "9" in text[slice(*span)]
    assert place_of_values("5 kg", f"{text} C has 5 kg.") is None
    assert place_of_values("no value", text) is None
