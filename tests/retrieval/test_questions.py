"""Questions: what is looked for, and what the lexicon adds."""

from __future__ import annotations

import pytest

from domains import pack_names
from retrieval.query.question_terms import (
    MAX_CHARACTERS,
    MAX_WORDS,
    WRITTEN_WEIGHT,
    analyze_query,
    concepts,
    concepts_in,
)
from text.terms import terms_of


def test_own_words_count_more_than_words_that_tell_how_to_answer() -> None:
    weights = analyze_query("Please answer: what was the goodwill?").weights
    assert weights["goodwil"] == 1
    assert "answer" not in weights


def test_words_that_tell_how_to_answer_count_where_there_are_no_others() -> None:
    assert analyze_query("What are the answers?").weights == {"answer": 1}


def test_capital_expenditure_is_also_purchases_of_property_plant_and_equipment() -> None:
    question = analyze_query("What was the capex?", packs=["finance"])
    added = question.packs["finance"]
    assert tuple(terms_of("purchases of property plant and equipment")) in added.phrases
    assert added.weights["equip"] == WRITTEN_WEIGHT
    assert "equip" not in question.weights_for(["contracts"])
    assert "equip" not in question.said


def test_every_concept_can_be_called_by_each_of_its_names() -> None:
    for pack in pack_names():
        for concept in concepts(pack):
            for name in concept.asked:
                assert concept in concepts_in(["what", *name, "then"])


def test_the_words_in_quotation_marks_are_kept_as_they_are() -> None:
    assert analyze_query('who said "Net Working Capital" first?').quoted == ("Net Working Capital",)


def test_a_page_pasted_into_the_box_is_cut() -> None:
    assert len(analyze_query("it " * 10_000).text.split()) == MAX_WORDS


@pytest.mark.parametrize("text", ["x" * 100_000, "word-" * 20_000, "longer " * 20_000])
def test_what_is_looked_up_has_a_limit_however_few_spaces_are_typed(text: str) -> None:
    assert len(analyze_query(text).text) <= MAX_CHARACTERS


def test_control_characters_are_spaces() -> None:
    assert analyze_query("net\x00income\x1b").text == "net income"


@pytest.mark.parametrize(
    ("text", "pages"),
    [
        ("What is drawn in page 17?", (17,)),
        ("the figures of slides 3-5", (3, 4, 5)),
        ("Was steht auf Seite 12?", (12,)),
        ("¿Qué dice la página 7?", (7,)),
        ("第12页说了什么", (12,)),
        ("12ページの図", (12,)),
        ("The home page of 2019", ()),
    ],
)
def test_a_question_names_pages(text: str, pages: tuple[int, ...]) -> None:
    assert analyze_query(text).pages == pages


@pytest.mark.parametrize(
    ("asked", "written"),
    [
        ("What does Figure 3 show?", "Figure 3: The pump."),
        ("What does figure 3 show?", "Fig. 3. The pump."),
        ("Was zeigt Abbildung 4?", "Abbildung 4 – Die Pumpe"),
        ("What is required by Section 5.1?", "Section 5.1 Notices"),
        ("after step 2", "Step 2: Open the valve."),
    ],
)
def test_a_place_is_known_by_its_word_and_number(asked: str, written: str) -> None:
    (place,) = analyze_query(asked).places
    assert place.match(written)
    assert not place.search(
        written.replace("3", "13").replace("4", "40").replace("5.1", "5.12").replace("2", "21")
    )


def test_words_for_the_document_itself_are_not_looked_for() -> None:
    assert "report" not in analyze_query("According to this report, who pays?").weights
    assert "agreement" in " ".join(analyze_query("What is the term of the agreement?").weights)
