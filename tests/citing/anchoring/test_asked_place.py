"""Of several equal values, the one of which question and claim speak is lit."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Iterator

import pytest

from citing.anchoring.asked_place import asked_span
from citing.claims import Claim
from citing.verdict import verify
from pdf.api import parse_file
from tests.citing.test_verdict import unit
from tests.conftest import CORPUS
from text.sentences import sentence_spans
from text.terms import terms_of
from text.values import values_in

PROPERTY = (
    "There was an offer that was rejected at £2,300,000. There was a price reduction on 20th December to "
    "£2,400,000. The Selling Agent has reported that the Property is now under offer at £2,400,000 as of 9th "
    "February 2024."
)
UNDER_OFFER = "Property is now under offer at £2,400,000 as of 9th February 2024"
REDUCED = "price reduction on 20th December to £2,400,000"


@pytest.mark.parametrize(
    ("question", "claim", "quote", "lit"),
    [
        (
            "At what price is the property under offer as of 9 February 2024?",
            "It is £2,400,000.",
            "",
            UNDER_OFFER,
        ),
        (
            "At what price is the property under offer as of 9 February 2024?",
            "£2,400,000",
            "£2,400,000",
            UNDER_OFFER,
        ),
        ("To what was it reduced on 20 December?", "It is £2,400,000.", "", "£2,400,000"),
        # The claim itself says which one.
        ("What is it under offer at?", "The price was reduced to £2,400,000.", "", REDUCED),
        ("", "It is £2,400,000.", "", "£2,400,000"),
    ],
)
def test_the_specifications_example(question: str, claim: str, quote: str, lit: str) -> None:
    assert verify(Claim(claim, quote, question), unit(PROPERTY)).quote == lit


@pytest.mark.parametrize(
    ("text", "question", "lit"),
    [
        (
            "In group A 45% improved. In group B 45% dropped out.",
            "How many dropped out in group B?",
            "group B 45% dropped",
        ),
        (
            "The deposit is 500 euros, and the fee for cleaning is 500 euros, due on arrival.",
            "How much is the fee for cleaning?",
            "fee for cleaning is 500 euros",
        ),
        (
            "Die Kaution beträgt 500 Euro. Für die Reinigung werden 500 Euro berechnet.",
            "Was kostet die Reinigung?",
            "Reinigung werden 500",
        ),
        (
            "The lease began in 2019. The roof was repaired in 2019.",
            "When was the roof repaired?",
            "roof was repaired in 2019",
        ),
    ],
)
def test_the_words_of_the_question_choose(text: str, question: str, lit: str) -> None:
    value = values_in(text)[-1].text
    first = text.index(value)
    span = asked_span(text, "de" if "Die " in text else "en", value, question, (first, first + len(value)))
    assert span and text[slice(*span)] == lit


def test_what_is_lit_ends_with_its_last_letter() -> None:
    text = "The farm was let for 500 euros. It is under offer at 500 euros in May"
    span = asked_span(text, "en", "500 euros", "What is it under offer at in May?", (21, 30))
    assert span and text[slice(*span)] == "offer at 500 euros in May"
    span = asked_span(f"{text}.", "en", "500 euros", "What is it under offer at in May?", (21, 30))
    assert span and text[slice(*span)] == "offer at 500 euros in May"


def test_equal_values_without_number_take_no_longer_than_other_claims() -> None:
    fees = "The fee of May is 5 euros and " * 1500
    start = time.thread_time()
    found = verify(Claim("5 euros", "5 euros", "What is the fee of May?"), unit(fees))
    assert found.verdict != "unsupported" and time.thread_time() - start < 4


def test_one_value_and_a_question_of_something_else_keep_the_place() -> None:
    text = "The fee is 500 euros. The deposit is 700 euros."
    assert asked_span(text, "en", "500 euros", "What is the deposit?", (11, 20)) is None
    twice = "The fee is 500 euros. The deposit is 500 euros."
    assert asked_span(twice, "en", "500 euros", "How tall is the tower?", (11, 20)) is None
    assert asked_span(twice, "en", "500 euros and 600 euros", "What is the deposit?", (11, 20)) is None


# --- Real pages ---


def cases(limit: int) -> Iterator[tuple[str, str, str, tuple[int, int]]]:
    """Passage, value, question and the sentence meant; the question has words of that sentence alone."""
    chance = random.Random(7)
    files = sorted((CORPUS / "general" / "pdfs").glob("*.pdf")) + sorted((CORPUS / "layout").glob("*.pdf"))
    chance.shuffle(files)
    made = 0
    for file in files:
        for page in parse_file(file).pages[:40]:
            for found in page.units:
                if found.type != "prose" or not 60 < len(found.text) < 3000:
                    continue
                for case in repeated(found.text, chance):
                    yield case
                    made += 1
                    if made >= limit:
                        return


def repeated(text: str, chance: random.Random) -> Iterator[tuple[str, str, str, tuple[int, int]]]:
    sentences = list(sentence_spans(text, "en"))
    holding: dict[str, list[tuple[int, int]]] = {}
    for value in values_in(text):
        span = next((s for s in sentences if s.start <= value.start < s.end), None)
        if span and span not in holding.setdefault(value.text, []):
            holding[value.text].append(span)
    for value, spans in holding.items():
        if len(spans) < 2 or len(re.findall(rf"(?<!\d){re.escape(value)}(?!\d)", text)) != len(spans):
            continue
        meant = chance.choice(spans)
        others = {term for span in spans if span is not meant for term in terms_of(text[slice(*span)])}
        own = [word for word in re.findall(r"[^\W\d_]{4,}", text[slice(*meant)]) if terms_of(word)]
        telling = [word for word in own if not set(terms_of(word)) & others]
        if len(telling) >= 3:
            yield text, value, f"What about {' '.join(chance.sample(telling, 3))}?", tuple(meant)
            return


@pytest.mark.slow
@pytest.mark.skipif(not CORPUS.exists(), reason="the corpus is not on this machine")
def test_on_real_pages_the_right_one_of_equal_values_is_lit() -> None:
    right, asked = 0, list(cases(200))
    for text, value, question, meant in asked:
        found = verify(Claim(value, value, question), unit(text))
        right += meant[0] <= found.char_start - found.unit.char_start < meant[1]
    assert len(asked) >= 100
    assert right >= 0.98 * len(asked), f"{right} of {len(asked)}"
