"""Stems, and the words that change what a sentence says."""

from __future__ import annotations

from text.semantics import known_language, lexicon, plain_word, split_words, stem


def test_forms_of_a_word_have_one_stem() -> None:
    assert stem("increases", "en") == stem("increased", "en")
    assert stem("nahm", "de") == stem("nehmen", "de")


def test_words_with_meanings_are_known_in_the_languages_with_data() -> None:
    assert known_language("en") and known_language("de") and not known_language("xx")
    assert lexicon("en").articles and lexicon("de").articles


def test_words_are_split_and_compared_without_accents_of_their_script() -> None:
    assert split_words("The dose was 5 mg.")[:3] == ["The", "dose", "was"]
    assert plain_word("Café", "en") == plain_word("café", "en")
