"""Terms of a question match those of the text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.index.postgres import term_number
from text.languages import languages_with
from text.terms import (
    likely_language,
    run_together,
    stop_words,
    terms_of,
    terms_of_each,
    tokens_of,
)


@pytest.mark.parametrize(
    ("asked", "written"),
    [
        ("10-K", "Form 10-K"),
        ("10k", "Form 10-K"),
        ("p<0.001", "significant (p < 0.001)"),
        ("1,577", "$1577.00"),
        ("long-term", "Long-term debt"),
        ("long term", "long-term debt"),
        ("FY2018", "FY18"),
        ("2018", "FY2018"),
        ("q1", "PEPSICO_2023Q1_EARNINGS"),
        ("8-K", "AMCOR_2022_8K_dated-2022-07-01"),
        ("PP&E", "Purchases of PP&E"),
        ("acquired", "acquisitions acquire acquiring"),
        ("Pfizer's", "Pfizer"),
        ("ﬁnance", "finance"),
        ("東京", "東京都"),
        ("KEYNOTE-189", "the KEYNOTE-189 trial"),
        ("المالية", "القوائم المالية"),
    ],
)
def test_what_is_asked_meets_what_is_written(asked: str, written: str) -> None:
    assert set(terms_of(asked)) & set(terms_of(written))


def test_numbers_differ_when_they_differ() -> None:
    assert set(terms_of("1,577")).isdisjoint(terms_of("1,578"))
    assert set(terms_of("0.001")).isdisjoint(terms_of("0.01"))


def test_many_texts_at_once_give_what_each_gives() -> None:
    texts = ["Net income", "", "p < 0.001", "Ünïcode ﬁnance", "of the"]
    assert terms_of_each(texts) == [terms_of(text) for text in texts]


def test_function_words_are_no_terms() -> None:
    assert terms_of("What is the of and") == []


def test_tokens_stand_where_they_say() -> None:
    text = "Net income (in millions): $ 1,577.00"
    assert [text[token.start : token.end] for token in tokens_of(text, {"1577"})] == ["1,577.00"]


def test_names_run_together_as_in_file_names() -> None:
    assert {"bestbuy", "footlocker", "americanwaterworks"} <= {
        *run_together("Best Buy"),
        *run_together("Foot Locker Inc."),
        *run_together("American Water Works"),
    }


@given(st.text(max_size=300))
def test_no_text_is_too_strange(text: str) -> None:
    for term in terms_of(text):
        assert term
        assert -(2**31) <= term_number(term) < 2**31
    for token in tokens_of(text, set(terms_of(text))):
        assert 0 <= token.start < token.end <= len(text)


@pytest.mark.parametrize("written", ["$1,577.00", "(1,577)", "1577%", "1,577;", "[1577.0]*", "€1,577,"])
def test_signs_around_an_amount_do_not_change_it(written: str) -> None:
    assert terms_of(written) == ["1577"]


@pytest.mark.parametrize(
    ("language", "asked", "written"),
    [
        ("de", "Kündigungsfristen", "die Kündigungsfrist beträgt drei Monate"),
        ("es", "contraseñas", "la contraseña del usuario"),
        ("fr", "remboursements", "le remboursement des frais"),
        ("fr", "énergie", "l'énergie solaire"),
        ("it", "pazienti", "il paziente ricoverato"),
        ("pt", "edifícios", "o edifício foi construído"),
        ("ru", "договора", "стороны подписали договор"),
        ("pl", "umowy", "umowa najmu"),
        ("ar", "المستخدمين", "على المستخدم أن"),
        ("el", "ασφάλειας", "ασφάλεια δεδομένων"),
        ("zh", "期限", "合同的期限为三年"),
        ("ja", "電圧", "定格電圧は百ボルト"),
        ("ko", "계약", "계약의 기간"),
        ("th", "สัญญา", "ระยะเวลาของสัญญา"),
        ("de", "1577", "1.577,00 €"),
        ("de", "0,045", "p = 0.045"),
        ("en", "0.045", "p = 0,045"),
        ("ar", "1577", "١٥٧٧"),
    ],
)
def test_words_meet_in_the_language_of_their_document(language: str, asked: str, written: str) -> None:
    assert set(terms_of(asked, language)) & set(terms_of(written, language))


@pytest.mark.parametrize(
    ("language", "typed", "written"),
    [("es", "contrasena", "contraseña"), ("de", "Prufung", "Prüfung"), ("fr", "energie", "énergie")],
)
def test_a_word_typed_without_its_accents_is_found(language: str, typed: str, written: str) -> None:
    assert set(terms_of(typed, language)) & set(terms_of(written, language))


def test_function_words_are_those_of_the_language() -> None:
    assert terms_of("die Maschine", "de") == terms_of("Maschine", "de")
    assert "die" in terms_of("die casting", "en")


@pytest.mark.parametrize("code", sorted(languages_with("stopwords.txt")))
def test_each_language_knows_its_function_words(code: str) -> None:
    assert len(stop_words(code)) >= 40


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Wie lange ist die Frist für den Widerspruch?", "de"),
        ("¿Cuál es el plazo para la entrega?", "es"),
        ("How long is the term of the lease?", "en"),
        ("Quelle est la durée du bail ?", "fr"),
    ],
)
def test_the_language_of_a_question_is_told_by_its_function_words(text: str, language: str) -> None:
    assert likely_language(text, ["fr", "en", "es", "de"]) == language


def test_a_marked_word_of_a_script_without_spaces_is_whole() -> None:
    text = "合同的期限为三年"
    marked = tokens_of(text, set(terms_of("期限", "zh")), "zh")
    assert [text[token.start : token.end] for token in marked] == ["期限"]


@pytest.mark.parametrize(
    ("one", "other", "language"),
    [
        ("wrote", "writes", "en"),
        ("children", "child", "en"),
        ("licence", "licenses", "en"),
        ("organisations", "organization", "en"),
        ("colour-blind", "color", "en"),
        ("abgeschlossen", "abschließen", "de"),
        ("reçut", "recevoir", "fr"),
    ],
)
def test_other_forms_of_a_word_have_its_terms(one: str, other: str, language: str) -> None:
    assert set(terms_of(one, language)) & set(terms_of(other, language))
