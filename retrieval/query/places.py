"""Places that a question names: pages, and what is called by a word and a number (Figure 3, Table II)."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import chain
from typing import NamedTuple

from text.languages import language_data
from text.numbers import number_words
from text.terms import folded_accents, terms_of

NUMBER = r"(?:[A-Z]\.?)?\d{1,3}(?:\.\d{1,3}){0,3}[a-z]?"
# "Figure 3", "Abbildung 3", "Section 5.1", "Table II", "Appendix B", in any language.
PLACE = re.compile(
    rf"(?<![\w.])([^\W\d_]{{2,20}})(?:\.?\s*({NUMBER})|\.?\s+([IVX]{{2,5}}|[B-HVX]))(?![\w%]|[.,]\d)"
)
BEGINS = 3  # characters: "Fig. 3" is "Figure 3"
NUMBERED = ("figure", "table", "section", "requirement")
"""Kinds of places in ``text/languages/*/answers.toml`` that an ordinal may stand before."""

# What a document's pages are called in the languages of ``text``.
PAGE_WORDS = (
    r"pages?|slides?|seiten?|folien?|páginas?|pagina|pagine|diapositivas?|strona|stronie|strony|sida|sidan|side"
    r"|siden|bladzijde|sivu|sivulla|oldal|sayfa|страниц\w*|сторінк\w*|σελίδα\w*|صفحة|الصفحة|صفحه|halaman"
)
THROUGH = r"-|–|to|bis|a|à|through"
NAMED_PAGES = re.compile(
    rf"\b(?:{PAGE_WORDS}|pp?\.)\s*(\d{{1,4}}(?:\s*(?:{THROUGH}|,|and|&|und|y|et|e)\s*\d{{1,4}})*)"
    r"|第?\s*(\d{1,4})\s*(?:页|頁|ページ)|(\d{1,4})\s*(?:쪽|페이지)",
    re.IGNORECASE,
)
PAGE_SPAN = re.compile(rf"(\d+)(?:\s*(?:{THROUGH})\s*(\d+))?", re.IGNORECASE)
SECOND_LAST = r"second[\s-](?:to[\s-])?last|penultimate|vorletzten?|penúltima"
FROM_THE_END = (
    (re.compile(rf"\b(?:{SECOND_LAST})\s+(?:{PAGE_WORDS})"), -2),
    (re.compile(rf"(?<!second )(?<!to )\b(?:last|final|letzten?|última|dernière)\s+(?:{PAGE_WORDS})"), -1),
)
MOST_PAGES = 20


class Place(NamedTuple):
    """``written``: how a unit writes it. ``terms``: for its word and for its number the forms indexed."""

    written: re.Pattern[str]
    terms: tuple[tuple[str, ...], tuple[str, ...]]


def places_in(text: str, language: str, languages: Sequence[str]) -> tuple[Place, ...]:
    """Places called by a word and a number; a page is none, nor a year or an amount.

    ``language`` is the question's, ``languages`` those of the documents asked.
    """
    named = chain(_numbered(NAMED_PAGES.sub(" ", text), language), _ordinals(text, language))
    return tuple(_place(word, number, languages) for word, number in dict.fromkeys(named))


def pages_in(text: str, language: str) -> tuple[int, ...]:
    """Pages from 1; those counted from the end are negative, the last is -1."""
    pages: dict[int, None] = {}
    for match in NAMED_PAGES.finditer(text):
        for first, last in PAGE_SPAN.findall(next(filter(None, match.groups()))):
            begin, end = int(first), int(last or first)
            pages |= dict.fromkeys(range(begin, min(max(begin, end), begin + MOST_PAGES) + 1))
    lowered = text.lower()
    pages |= {page: None for pattern, page in FROM_THE_END if pattern.search(lowered)}
    counted = _ordinal_pattern(language, ("page", "slide"))
    pages |= {number_words(language).ordinals[word]: None for word, _ in _matches(counted, lowered)}
    return tuple(page for page in pages if page)


def _numbered(text: str, language: str) -> Iterator[tuple[str, str]]:
    """A letter counts behind a name or what places are called: 'Annex B', 'section C', but not 'plan B'."""
    for word, number, letter in PLACE.findall(text):
        known = word.lower() in _called(language, NUMBERED)
        if known or (terms_of(word) and not (word.islower() and (len(word) < BEGINS or len(letter) == 1))):
            yield word, number or letter


def _ordinals(text: str, language: str) -> Iterator[tuple[str, str]]:
    """'The first figure' is Figure 1."""
    places = number_words(language).ordinals
    for ordinal, word in _matches(_ordinal_pattern(language, NUMBERED), text.lower()):
        yield word, str(places[ordinal])


def _matches(pattern: re.Pattern[str] | None, text: str) -> Iterable[tuple[str, str]]:
    return pattern.findall(text) if pattern else ()


@cache
def _ordinal_pattern(language: str, kinds: tuple[str, ...]) -> re.Pattern[str] | None:
    """An ordinal and the place it stands before, in a language that sets spaces."""
    words = _called(language, kinds)
    ordinals = list(number_words(language).ordinals)
    if not words or not ordinals:
        return None
    before, after = (
        "|".join(map(re.escape, sorted(some, key=len, reverse=True))) for some in (ordinals, words)
    )
    return re.compile(rf"\b({before})\s+({after})\b")


def _place(word: str, number: str, languages: Sequence[str]) -> Place:
    written = rf"(?<!\w){re.escape(word[:BEGINS])}\w*\.?\s*{re.escape(number)}(?![\w]|[.,]\d)"
    begins = folded_accents(word[:BEGINS].lower())
    words = chain((begins,), *(terms_of(word, code) for code in languages))
    numbers = chain.from_iterable(terms_of(number, code) or [number.lower()] for code in languages)
    return Place(
        re.compile(written, re.IGNORECASE), (tuple(dict.fromkeys(words)), tuple(dict.fromkeys(numbers)))
    )


@cache
def _called(language: str, kinds: tuple[str, ...]) -> frozenset[str]:
    """What places of these kinds are called."""
    words = tomllib.loads(language_data(language, "answers.toml")).get("places", {})
    return frozenset(word for kind in kinds for word in words.get(kind, ()) if word.isalpha())
