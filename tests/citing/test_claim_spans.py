"""Where claims begin and end, and which cite nothing."""

from __future__ import annotations

import pytest

from citing.claim_spans import claim_before, claims_something, plain, sentences, uncited_claims
from text.sentences import Span

MARK = "[[cite:0123456789abcdef0123456789abcdef:5]]"


def texts(text: str) -> list[str]:
    return [text[span.start : span.end] for span in sentences(text)]


def claim(content: str) -> str:
    span = claim_before(content)
    return plain(content[span.start : span.end])


def test_sentences_end_at_full_stops_but_not_at_abbreviations_or_decimals() -> None:
    assert texts("Sales of 3M Co. grew 4.5 percent in the U.S. market. Costs fell! Why? See No. 5.") == [
        "Sales of 3M Co. grew 4.5 percent in the U.S. market.",
        "Costs fell!",
        "Why?",
        "See No. 5.",
    ]


def test_bullets_headings_and_tables_are_lines_of_their_own() -> None:
    assert texts("# Result\n\n- one\n- two\n1. three\n> four") == ["Result", "one", "two", "three", "four"]


def test_code_blocks_have_no_sentences() -> None:
    assert texts("Before.\n\n```\nx = 1. y = 2.\n```\nAfter.") == ["Before.", "After."]


def test_sentences_end_as_those_of_the_language_of_the_answer_do() -> None:
    assert texts("**Er kam am 3. Mai 2020.** Dann ging er; siehe Art. 5 Abs. 2. Ende.") == [
        "**Er kam am 3. Mai 2020.**",
        "Dann ging er; siehe Art. 5 Abs. 2.",
        "Ende.",
    ]


def test_japanese_sentences_end_without_a_space() -> None:
    assert texts("売上は増えた。費用は減った。") == ["売上は増えた。", "費用は減った。"]


@pytest.mark.parametrize(
    ("content", "claimed"),
    [
        ("Costs fell. Sales grew 4 percent ", "Sales grew 4 percent"),
        (f"Sales grew 4 percent {MARK}", "Sales grew 4 percent"),
        (f"Sales grew {MARK} and costs fell", "and costs fell"),
        ("Sales grew 4 percent. ", "Sales grew 4 percent."),
        (f"Sales grew.{MARK} ", "Sales grew."),
        ("- **Sales**, 2018: (1,577) ", "Sales, 2018: (1,577)"),
        (r"- R\&D \*adjusted\*: 5 ", "R&D *adjusted*: 5"),
    ],
)
def test_a_marker_stands_for_what_was_said_before_it(content: str, claimed: str) -> None:
    assert claim(content) == claimed


def test_claims_without_citation_are_found() -> None:
    content = f"Sales grew 4 percent {MARK}. Costs fell by half. See below:\n\n# Costs of 2018\n\nIs it so?"
    cited = [Span(0, content.index("]].") + 2)]
    assert [content[s.start : s.end] for s in uncited_claims(content, cited)] == ["Costs fell by half."]


@pytest.mark.parametrize(
    ("sentence", "claims"),
    [
        ("The documents do not say.", False),
        ("What else is there to know?", False),
        ("Here are the figures for it:", False),
        ("Yes.", False),
        ("Sure, I can help with that.", False),
        ("Here is a summary of the main findings.", False),
        ("I hope this helps you with your report!", False),
        ("Please let me know if you need anything else.", False),
        ("If you have any further questions, feel free to ask.", False),
        ("Hier ist eine Zusammenfassung der Ergebnisse.", False),
        (
            "If you need a permit, apply at the town hall of the district within two weeks of your arrival.",
            True,
        ),
        ("Here are 14 wells that were closed.", True),
        ("Margin: 35%.", True),
        ("The company closed its last factory.", True),
    ],
)
def test_only_sentences_that_say_something_are_claims(sentence: str, claims: bool) -> None:
    assert claims_something(sentence) is claims


def test_the_head_of_a_table_claims_nothing() -> None:
    table = (
        "| Site | Visitors in 2019 | Visitors in 2020 |\n|---|---|---|\n| The old harbour | 1,200 | 900 |\n"
    )
    assert [table[span.start : span.end][:4] for span in uncited_claims(table, [])] == ["The "]
    quoted = "> | Site | Visitors in 2019 |\n> |:--|--:|\n"
    assert not uncited_claims(quoted, [])
