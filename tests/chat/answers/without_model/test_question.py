"""What a question asks for, in several languages."""

from __future__ import annotations

import tomllib

import pytest

from chat.answers.without_model.question import KINDS, NamedPlace, analyse, asks_something, language_of
from text.languages import language_data, languages_with


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("How long is the warranty?", "en"),
        ("Wie lange ist die Garantie?", "de"),
        ("Quelle est la durée de la garantie ?", "fr"),
        ("¿Cuánto dura la garantía?", "es"),
        ("Quanto dura la garanzia?", "it"),
        ("Hoe lang is de garantie?", "nl"),
        ("Qual é a duração da garantia?", "pt"),
        ("保修期是多久？", "zh"),
        ("保証期間はどのくらいですか？", "ja"),
        ("ما هي مدة الضمان؟", "ar"),
        ("Сколько длится гарантия?", "ru"),
        ("Garanti süresi ne kadar?", "tr"),
        ("Jak długo trwa gwarancja?", "pl"),
        ("Hur lång är garantin?", "sv"),
        ("Kuinka pitkä takuu on?", "fi"),
        ("Який термін гарантії?", "uk"),
        ("Ποια είναι η διάρκεια της εγγύησης;", "el"),
        ("NIE", "en"),
        ("Was bedeutet HTTP?", "de"),
        ("Is land depreciated?", "en"),
        ("zxcv qwer", "en"),
    ],
)
def test_the_language_of_a_question_is_seen(question: str, language: str) -> None:
    assert language_of(question) == language


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Who signed the lease?", "who"),
        ("When does the lease end?", "when"),
        ("How many valves are there?", "count"),
        ("Is smoking allowed?", "yes_no"),
        ("Wie viele Ventile gibt es?", "count"),
        ("Pourquoi le projet a-t-il échoué ?", "why"),
        ("¿Dónde está la válvula?", "where"),
        ("哪一年签署的？", "when"),
        ("誰が署名しましたか？", "who"),
        ("Почему проект остановлен?", "why"),
    ],
)
def test_the_kind_of_a_question_is_seen(question: str, kind: str) -> None:
    assert kind in analyse(question).kinds


@pytest.mark.parametrize(
    ("question", "places"),
    [
        ("What does page 12 show?", [NamedPlace("page", "12")]),
        ("Which methods are in Table II?", [NamedPlace("table", "II")]),
        ("Was zeigt Abb. 3 auf Seite 7?", [NamedPlace("page", "7"), NamedPlace("figure", "3")]),
        ("図3には何がありますか", [NamedPlace("figure", "3")]),
        ("12ページには何がありますか", [NamedPlace("page", "12")]),
        (
            "What is on pages 4-6?",
            [NamedPlace("page", "4"), NamedPlace("page", "5"), NamedPlace("page", "6")],
        ),
        ("What is on page three?", [NamedPlace("page", "3")]),
        ("What does the second slide show?", [NamedPlace("page", "2")]),
        ("Was steht auf der dritten Seite?", [NamedPlace("page", "3")]),
        ("Which valve has unit-8, and what are the top2 reasons?", []),
        ("What does 4.1.2 require?", [NamedPlace("requirement", "4.1.2")]),
        ("Is 3.5 percent enough?", []),
    ],
)
def test_places_that_a_question_names_are_read(question: str, places: list[NamedPlace]) -> None:
    assert list(analyse(question).places) == places


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("Summarise this document", "summary"),
        ("What is this document about?", "about"),
        ("What is this presentation about?", "about"),
        ("What are these slides about?", "about"),
        ("What is the main finding?", "findings"),
        ("What are the main risks?", "risks"),
        ("Fasse dieses Dokument zusammen", "summary"),
        ("この文書を要約してください", "summary"),
        ("What are the main risks of hot surfaces near the outlet valve?", ""),
        ("How long is the warranty?", ""),
    ],
)
def test_questions_on_the_whole_document_are_told_from_particular_ones(question: str, topic: str) -> None:
    assert analyse(question).topic == topic


def test_names_and_years_that_must_be_in_the_document_are_read() -> None:
    assert analyse("How many people did Globex employ in 2019?").names == ("Globex", "2019")
    assert analyse("Wie hoch ist die Miete in Berlin?").names == ()
    assert analyse("Is a 100-litre drum sold on 45th Street (pages 51-53)?").names == (
        "100-litre",
        "45th",
        "Street",
    )
    assert analyse("PBKDF2 の反復回数は JavaScript で何回ですか").names == ("PBKDF2", "JavaScript")


def test_spans_of_years_are_read_whole() -> None:
    assert analyse("How did sales change from 2016 to 2018?").years == {"2016", "2017", "2018"}
    assert analyse("What was FY19 revenue?").years == {"2019"}


def test_every_language_has_all_tables_and_keys_of_english() -> None:
    def shape(code: str) -> dict[str, set[str]]:
        tables = tomllib.loads(language_data(code, "answers.toml"))
        return {table: set(rows) for table, rows in tables.items()}

    codes, english = languages_with("answers.toml"), shape("en")
    every = english.pop("every")  # questions to every document are read in some languages only
    assert set(KINDS) == english["kinds"]
    shapes = {code: shape(code) for code in codes}
    assert {found.pop("every") == every for found in shapes.values() if "every" in found} == {True}
    assert shapes == dict.fromkeys(codes, english)
    assert codes >= {"en", "de", "fr", "es", "it", "pt", "nl", "zh", "ja", "ar", "ru", "tr", "pl", "sv"}


def test_the_word_within_a_phrase_that_asks_is_content() -> None:
    asked = analyse("What does Optlist mean in Silo?")
    assert asked.terms == ("optlist", "silo") and [word.text for word in asked.words] == ["Optlist", "Silo"]
    assert analyse("What does F6 do?").terms == ("f6",) and asks_something(analyse("What does F6 do?"))


@pytest.mark.parametrize(
    ("question", "is_seen"),
    [
        ("What color is the lid in the picture?", True),
        ("How many pages show a map?", True),
        ("How many figures are in the appendix?", True),
        ("How many boats are in Figure 3?", True),
        ("Welche Farbe hat der Deckel?", True),
        ("How many boats were sold?", False),
    ],
)
def test_what_must_be_seen_or_counted_is_told_from_what_a_line_says(question: str, is_seen: bool) -> None:
    assert analyse(question).must_be_seen == is_seen
