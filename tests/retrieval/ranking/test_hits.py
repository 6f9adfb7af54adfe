"""Snippets of hits and their marked words."""

from __future__ import annotations

import pytest

from retrieval.ranking.hits import marks_in, matching_sentences, snippet_of
from retrieval.results import Snippet


def test_the_telling_sentences_stay_in_their_order() -> None:
    text = "Goodwill rose. The weather was fine. It rained on Monday. Goodwill was impaired."
    assert matching_sentences(text, {"goodwil": 1.0}) == "Goodwill rose. … Goodwill was impaired."


def test_a_snippet_shows_the_densest_stretch_and_marks_its_words() -> None:
    text = "filler " * 200 + "net income attributable to Amcor rose " + "filler " * 200
    snippet = snippet_of(text, {"net": 1.0, "incom": 1.0, "amcor": 2.0}, size=120)
    assert len(snippet.text) <= 120
    assert [piece for piece, marked in snippet.pieces if marked] == ["net", "income", "Amcor"]


def test_words_that_begin_as_asked_are_shown_and_marked() -> None:
    text = "filler " * 200 + "Opérations and operating costs cooperate. " + "filler " * 200
    snippet = snippet_of(text, {}, size=120, prefixes=("operat",))
    assert [piece for piece, marked in snippet.pieces if marked] == ["Opérations", "operating"]


@pytest.mark.parametrize("before", range(280, 330))
def test_the_word_that_was_found_is_not_cut_off_at_the_end_of_the_snippet(before: int) -> None:
    text = ("ab " * 200)[:before] + " revenue, " + "of the acquired entities " * 20
    snippet = snippet_of(text, {"revenu": 1.0})
    assert [snippet.text[slice(*mark)] for mark in snippet.marks] == ["revenue"]


def test_a_snippets_pieces_are_its_text() -> None:
    snippet = Snippet("net income rose", ((4, 10),))
    assert snippet.pieces == [("net ", False), ("income", True), (" rose", False)]


def test_of_quoted_words_only_the_phrase_is_marked() -> None:
    snippet = Snippet("Gross profit rose, gross\nmargin fell.", ((0, 5), (6, 12), (19, 24), (25, 31)))
    assert marks_in(snippet, ["gross margin"]) == ((19, 24), (25, 31))
    assert marks_in(snippet, ["net debt"]) == marks_in(snippet, []) == snippet.marks
