"""Sentences are found by the rules of their language."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from text.sentences import sentence_spans, sentences


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "See Fig. 3 and Sec. 4. It holds.", ["See Fig. 3 and Sec. 4.", "It holds."]),
        ("en", "Run it dry for max. 10 min. Then stop.", ["Run it dry for max. 10 min.", "Then stop."]),
        (
            "de",
            "Vermietet wird die Wohnung im 2. Obergeschoss links. Sie hat drei Zimmer.",
            ["Vermietet wird die Wohnung im 2. Obergeschoss links.", "Sie hat drei Zimmer."],
        ),
        (
            "de",
            "Art. 5 Abs. 2 GG gilt. Das kostet 1.840 Euro.",
            ["Art. 5 Abs. 2 GG gilt.", "Das kostet 1.840 Euro."],
        ),
        ("zh", "合同的期限为三年。第二条。", ["合同的期限为三年。", "第二条。"]),
        ("", "One. Two.", ["One.", "Two."]),
        ("en", "Table 1. The seven verdicts. They differ.", ["Table 1. The seven verdicts.", "They differ."]),
        ("en", "I am 10. She is 12.", ["I am 10.", "She is 12."]),
        ("de", "Abb. 3.2. Der Aufbau. Er ist neu.", ["Abb. 3.2. Der Aufbau.", "Er ist neu."]),
        ("en", "Table 1.", ["Table 1."]),
        ("en", "The board met Ms. Brown. She left.", ["The board met Ms. Brown.", "She left."]),
        ("de", "Das zeigt Tab. 2 deutlich. Es gilt.", ["Das zeigt Tab. 2 deutlich.", "Es gilt."]),
        ("en", "Sales of non-U.S. units fell. They rose.", ["Sales of non-U.S. units fell.", "They rose."]),
    ],
)
def test_a_sentence_ends_where_its_language_ends_it(language: str, text: str, expected: list[str]) -> None:
    assert sentences(text, language) == expected


@given(st.text(), st.sampled_from(["en", "de", "ja", "ar", "xx"]))
def test_sentences_hold_every_printed_character_once(text: str, language: str) -> None:
    spans = sentence_spans(text, language)
    assert "".join("".join(text[a:b].split()) for a, b in spans) == "".join(text.split())
    assert all(before.end <= after.start for before, after in pairwise(spans))
