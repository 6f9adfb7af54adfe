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

LANGUAGES = ("en", "de", "es")


def test_own_words_count_more_than_words_that_tell_how_to_answer() -> None:
    weights = analyze_query("Please answer: what was the goodwill?").weights
    assert weights["goodwil"] == 1
    assert "answer" not in weights


@pytest.mark.parametrize(("written", "terms"), [("FY18", {"2018", "fy18"}), ("Q4-2018", {"2018", "q42018"})])
def test_the_writings_of_one_year_count_as_one_word(written: str, terms: set[str]) -> None:
    question = analyze_query(f"goodwill in {written}", LANGUAGES)
    year = next(group for group in question.groups if "2018" in group)
    assert set(year) == terms
    assert sum(question.weights[term] for term in terms) == question.weights["goodwil"] == 1


def test_two_years_are_two_words() -> None:
    assert {("2018",), ("2019",)} <= set(analyze_query("goodwill 2018-2019").groups)


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


def test_endings_and_particles_in_kana_say_less_than_words() -> None:
    weights = analyze_query("管理者がログインする", ("ja",)).weights
    assert weights["管理"] == weights["ログ"] == 1 > weights["者が"] == weights["がロ"] > 0
    assert analyze_query("网络管理", ("zh",)).weights["网络"] == 1


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
        ("What do page 4 and 31 have in common?", (4, 31)),
        ("pages 3, 5 and 7-9", (3, 5, 7, 8, 9)),
        ("Who signed the last page?", (-1,)),
        ("What stands on the second to last page?", (-2,)),
        ("Was zeigt die dritte Folie?", (3,)),
    ],
)
def test_a_question_names_pages(text: str, pages: tuple[int, ...]) -> None:
    assert analyze_query(text, LANGUAGES).pages == pages


@pytest.mark.parametrize(
    ("asked", "written"),
    [
        ("What does Figure 3 show?", "Figure 3: The pump."),
        ("What does figure 3 show?", "Fig. 3. The pump."),
        ("Was zeigt Abbildung 4?", "Abbildung 4 – Die Pumpe"),
        ("What is required by Section 5.1?", "Section 5.1 Notices"),
        ("after step 2", "Step 2: Open the valve."),
        ("How many wells does the second table list?", "Table 2: Wells by depth"),
        ("Was zeigt die erste Abbildung?", "Abbildung 1: Der Turm"),
        ("According to table II, who won?", "TABLE II. Winners"),
        ("what appendix B requires", "Appendix B: Duties"),
        ("the duties of Annex B", "Annex B: Duties"),
        ("What is in Table A4?", "Table A4. Soils"),
    ],
)
def test_a_place_is_known_by_its_word_and_number(asked: str, written: str) -> None:
    (place,) = analyze_query(asked, LANGUAGES).places
    assert place.written.match(written)
    for of, another in (("1", "11"), ("II", "III"), ("B", "BC"), ("3", "13"), ("4", "40"), ("2", "21")):
        written = written.replace(of, another)
    assert not place.written.search(written)


@pytest.mark.parametrize("text", ["Should I pay in May?", "the results of 2018", "What did a dozen say?"])
def test_a_pronoun_a_year_and_an_article_make_no_place(text: str) -> None:
    assert not analyze_query(text).places


@pytest.mark.parametrize(
    ("text", "language", "wanted"),
    [
        ("How many bridges cross the river?", "en", True),
        ("Wie viel Prozent der Betriebe bilden aus?", "de", True),
        ("Who built the bridge?", "en", False),
        ("¿Quién construyó el puente?", "es", False),
    ],
)
def test_a_question_for_a_number_is_known(text: str, language: str, wanted: bool) -> None:
    assert analyze_query(text, (language,)).wants_number is wanted


def test_words_for_the_document_itself_are_not_looked_for() -> None:
    assert "report" not in analyze_query("According to this report, who pays?").weights
    assert "agreement" in " ".join(analyze_query("What is the term of the agreement?").weights)


def test_of_many_operators_a_few_are_read() -> None:
    asked = analyze_query(" ".join(f"-no{at} be{at}*" for at in range(90)) + ' "a b"' * 500)
    assert asked.quoted == ("a b",)
    assert (len(asked.excluded), len(asked.prefixes)) == (8, 8)
