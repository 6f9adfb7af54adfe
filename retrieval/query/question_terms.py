"""A query as weighted terms with synonyms of its documents' fields, and the places that it names.

Places are pages, and numbered figures, tables and sections (Figure 3, Table II).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import chain
from typing import NamedTuple

from domains import pack_data, pack_names
from text.languages import language_data
from text.numbers import YEAR, number_words, whole_number
from text.terms import compounds_in, folded, folded_accents, likely_language, run_together, terms_of

# Synonyms of a field: words of questions and words of documents (``domains/<pack>/synonyms.txt``).
#
# An unindented line lists names used in questions, separated by commas; the indented lines below it list
# phrases of documents, separated by semicolons. No line is about a single document.

LONGEST_NAME = 5  # terms
UNSPACED = "\u3000"
"""Scripts without spaces between words begin here."""

Phrase = tuple[str, ...]


class Concept(NamedTuple):
    """``asked``: phrases that name it in questions; ``written``: phrases of documents. Phrases are terms."""

    asked: tuple[Phrase, ...]
    written: tuple[Phrase, ...]


@cache
def asking_words(language: str) -> frozenset[str]:
    """Return the terms of words that only say how to answer; none for a language without a list."""
    words = tomllib.loads(language_data(language, "answers.toml")).get("words", {})
    listed = (*words.get("asking", ()), *words.get("asking_search", ()))
    return frozenset(terms_of(" ".join(listed), language))


@cache
def _number_questions(language: str) -> re.Pattern[str]:
    data = tomllib.loads(language_data(language, "answers.toml") or language_data("en", "answers.toml"))
    phrases = [*data["kinds"]["count"], *data["kinds"]["amount"], *chain(*data["computations"].values())]
    spaced = "|".join(
        rf"\b{re.escape(some)}\b" if some[0] < UNSPACED else re.escape(some) for some in phrases
    )
    return re.compile(spaced)


def wants_number(text: str, language: str) -> bool:
    """Return whether a count, an amount or what is computed from them answers the question."""
    return bool(_number_questions(language).search(text.casefold()))


@cache
def concepts(pack: str) -> tuple[Concept, ...]:
    return tuple(_read(pack))


def concepts_in(terms: Sequence[str], packs: Collection[str] | None = None) -> list[Concept]:
    """Return the concepts of the packs (all by default) that the terms name, by any name as consecutive
    terms.
    """
    sizes = range(1, LONGEST_NAME + 1)
    runs = {tuple(terms[at : at + size]) for size in sizes for at in range(len(terms) - size + 1)}
    chosen = pack_names() if packs is None else packs
    return [concept for pack in chosen for concept in concepts(pack) if not runs.isdisjoint(concept.asked)]


def _read(pack: str) -> Iterator[Concept]:
    asked, written = "", ""
    for line in [*pack_data(pack, "synonyms.txt").splitlines(), ""]:
        if line.startswith(" "):
            written += line
            continue
        if written:
            yield Concept(_synonym_phrases(asked, ","), _synonym_phrases(written, ";"))
        asked, written = line, ""


def _synonym_phrases(text: str, separator: str) -> tuple[Phrase, ...]:
    return tuple(phrase for part in text.split(separator) if (phrase := tuple(terms_of(part))))


WRITTEN_WEIGHT = 0.5
KANA_PAIR = 0.3
"""Weight of a pair of characters with hiragana in it: mostly an ending or a particle beside a word."""
HIRAGANA = re.compile("[ぁ-ゟ]")
MAX_WORDS = 400
MAX_CHARACTERS = 4_000
"""Words and characters of a question that are read; longer ones are whole pages pasted into the box."""
MOST_OPERATORS = 8
"""Quotations, excluded words and beginnings of words that are read, of each: each costs a condition."""
ASKED_AROUND = 2
"""Telling terms beside its quotations, from which a text is a question about them."""
MOST_LANGUAGES = 6
"""Languages of a scope in which a question's words are analysed, those of most documents first."""

QUOTED = re.compile(r"[\"“„«]([^\"“”„«»]{2,300})[\"”“»]")
LISTED = re.compile(r"\[\s*[\"“„«][^\[\]]*[\"”“»]\s*\]")
"""A list of quoted values shows how to answer (``["Page 1", "Page 2"]``) and quotes nothing."""
EXCLUDED = re.compile(r"(?<!\S)-(?:\"([^\"]{2,300})\"|([^\W\d_][\w-]*))")
PREFIX = re.compile(r"(?<!\S)([^\W_]{2,60})\*(?!\S)")
# "According to this report": the kind of document.
WORKS = r"(?:report|document|paper|text|article|slides?|deck|presentation|brochure|manual|guide|file|pdf)"
ITSELF = r"(?:this|the|that)\s+(?:(?:whole|entire|given|slide)\s+)?"
THIS_DOCUMENT = re.compile(
    rf"\b(?:according to|based on|in|of|from|as per|by)\s+{ITSELF}"
    rf"{WORKS}(?=\s*[,.?!;:]|\s*$)|^(?:in|according to|based on)\s+(?:this|the)\s+{WORKS}\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class PackTerms:
    """What one pack adds to a question: terms with weights, and the phrases they come from."""

    weights: Mapping[str, float]
    phrases: tuple[Phrase, ...]


@dataclass(frozen=True)
class QueryTerms:
    """What to look for.

    Attributes:
        text: as typed, without control characters and operators, at most ``MAX_WORDS`` words and
            ``MAX_CHARACTERS``.
        weights: terms and how much each matters, 1 for the person's own words.
        groups: the same terms word by word: a word has other stems in other languages.
        said: all terms of the text.
        quoted: what the person put in quotation marks, to be found word for word.
        quoted_terms: the same as terms, in each language.
        names: terms that may name a document, run together as file names do (``bestbuy``).
        excluded: phrases of terms that no chunk may hold (``-word``).
        prefixes: beginnings of words of which a chunk must hold each (``comput*``).
        places: places that it names by a word and a number: ``Figure 3``, ``Step 4``.
        pages: numbers of the pages that it names; negative from the end.
        wants_number: whether a count or an amount answers it.
        compounds: terms of the parts that its words may be made of (``Zahlungsfrist``), in languages that
            write them as one; they count where the documents have all parts of a word.
        packs: by the pack's name what it adds, for documents that are of its field.
    """

    text: str
    weights: dict[str, float]
    groups: tuple[tuple[str, ...], ...] = ()
    said: frozenset[str] = frozenset()
    quoted: tuple[str, ...] = ()
    quoted_terms: tuple[Phrase, ...] = ()
    names: frozenset[str] = frozenset()
    excluded: tuple[Phrase, ...] = ()
    prefixes: tuple[str, ...] = ()
    places: tuple[Place, ...] = ()
    pages: tuple[int, ...] = ()
    wants_number: bool = False
    compounds: tuple[Phrase, ...] = ()
    packs: Mapping[str, PackTerms] = field(default_factory=dict)

    @cached_property
    def every_term(self) -> frozenset[str]:
        """Return the question's own terms, those of packs, and parts of compounds."""
        return frozenset(
            chain(self.weights, *self.compounds, *(added.weights for added in self.packs.values()))
        )

    def with_parts(self, known: Callable[[Phrase], bool]) -> QueryTerms:
        """Return the terms with the parts of compounds whose parts are all ``known`` words."""
        parts = chain.from_iterable(parts for parts in self.compounds if known(parts))
        return replace(self, weights={**dict.fromkeys(parts, WRITTEN_WEIGHT), **self.weights})

    @property
    def asks_more(self) -> bool:
        """Return whether the text around the quotations is a question, not a word or two."""
        return len(self.weights.keys() - set(chain.from_iterable(self.quoted_terms))) >= ASKED_AROUND

    @property
    def is_empty(self) -> bool:
        """Return whether it has nothing to search for."""
        return not self.weights and not self.prefixes

    def weights_for(self, fields: Collection[str]) -> dict[str, float]:
        """Return the weights for documents of these fields."""
        weights = dict(self.weights)
        for name, added in self.packs.items():
            if name in fields:
                for term, weight in added.weights.items():
                    weights[term] = max(weights.get(term, 0.0), weight)
        return weights

    def phrases_for(self, fields: Collection[str]) -> tuple[Phrase, ...]:
        """Return the phrases that documents of these fields use for what is asked."""
        added = (self.packs[name].phrases for name in self.packs if name in fields)
        return tuple(dict.fromkeys(chain.from_iterable(added)))


def analyze_query(text: str, languages: Sequence[str] = ("en",), packs: Iterable[str] = ()) -> QueryTerms:
    """Read a question. ``languages`` are those of the documents asked, ``packs`` their fields."""
    text = readable(text)
    asked_of = tuple(dict.fromkeys(language or "en" for language in languages))[:MOST_LANGUAGES] or ("en",)
    language = likely_language(text, dict.fromkeys([*asked_of, "en"]))
    excluded = _distinct(match[1] or match[2] for match in EXCLUDED.finditer(text))
    prefixes = _distinct(folded_accents(folded(match[1])) for match in PREFIX.finditer(text))
    body = readable(PREFIX.sub(r"\1", EXCLUDED.sub(" ", text)))
    groups = word_groups(body, language, asked_of)
    telling = word_groups(THIS_DOCUMENT.sub(" ", body), language, asked_of) or groups
    telling = [group for group in telling if asking_words(language).isdisjoint(group)] or groups
    quoted = _distinct(QUOTED.findall(LISTED.sub(" ", body)))
    return QueryTerms(
        text=body,
        weights=weights_of(telling),
        groups=tuple(dict.fromkeys(telling)),
        said=frozenset(chain.from_iterable(groups)),
        quoted=quoted,
        quoted_terms=_phrases(quoted, asked_of),
        names=frozenset(run_together(body)),
        excluded=_phrases(excluded, asked_of),
        prefixes=prefixes,
        places=places_in(body, language, asked_of),
        pages=pages_in(body, language),
        wants_number=wants_number(body, language),
        compounds=tuple(compounds_in(body, language)) if language in asked_of else (),
        packs=_packs(terms_of(body), packs),
    )


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))[:MOST_OPERATORS]


def word_groups(text: str, language: str, languages: Sequence[str]) -> list[tuple[str, ...]]:
    """Return, for each word, its forms in the languages of the documents.

    Function words are those of ``language``, the question's own.
    """
    groups: list[tuple[str, ...]] = []
    for word in folded(text).split():
        if not terms_of(word, language):
            continue
        forms = [terms for code in languages if (terms := terms_of(word, code))] or [terms_of(word, language)]
        if writings := writings_of_year(forms[0]):
            groups.append(writings)
            forms = [[term for term in form if term not in writings] for form in forms]
        if len({len(terms) for terms in forms}) == 1:
            groups += [tuple(dict.fromkeys(form)) for form in zip(*forms, strict=True)]
        else:
            groups.append(tuple(dict.fromkeys(chain.from_iterable(forms))))
    return groups


def writings_of_year(terms: Sequence[str]) -> tuple[str, ...]:
    """Return the terms of a word that mean the same year: fy18, 2018."""
    years = [term for term in terms if YEAR.fullmatch(term)]
    return tuple(term for term in terms if years[0][2:] in term) if len(years) == 1 else ()


def weights_of(groups: Iterable[tuple[str, ...]]) -> dict[str, float]:
    """Return the weight of each term: 1, divided among the forms of one year (FY2018, 2018)."""
    weights: dict[str, float] = {}
    for group in groups:
        share = 1 / len(group) if any(map(YEAR.fullmatch, group)) else 1.0
        for term in group:
            weight = share * KANA_PAIR if HIRAGANA.search(term) and len(term) == 2 else share
            weights[term] = max(weight, weights.get(term, 0.0))
    return weights


def _phrases(texts: Iterable[str], languages: Sequence[str]) -> tuple[Phrase, ...]:
    found = (tuple(terms_of(text, language)) for text in texts for language in languages)
    return tuple(dict.fromkeys(filter(None, found)))


def _packs(terms: Sequence[str], packs: Iterable[str]) -> dict[str, PackTerms]:
    """Return the terms that each pack adds: those of the documents' phrases count half."""
    added = {}
    for pack in packs:
        written = [phrase for concept in concepts_in(terms, (pack,)) for phrase in concept.written]
        if written:
            weights = dict.fromkeys(chain.from_iterable(written), WRITTEN_WEIGHT)
            added[pack] = PackTerms(weights, tuple(dict.fromkeys(written)))
    return added


def readable(text: str) -> str:
    """Return the text without control characters, with single spaces, cut at the limits."""
    text = " ".join(text.split(maxsplit=MAX_WORDS)[:MAX_WORDS])[:MAX_CHARACTERS]
    text = "".join(char if char.isprintable() else " " for char in text)
    return " ".join(text.split()[:MAX_WORDS])


# --- Places that a question names: pages, numbered figures, tables and sections ---


NUMBER = r"(?:[A-Z]\.?)?\d{1,3}(?:\.\d{1,3}){0,3}[a-z]?"
# "Figure 3", "Abbildung 3", "Section 5.1", "Table II", "Appendix B", in any language.
PLACE = re.compile(
    rf"(?<![\w.])([^\W\d_]{{2,20}})(?:\.?\s*({NUMBER})|\.?\s+([IVX]{{2,5}}|[B-HVX]))(?![\w%]|[.,]\d)"
)
BEGINS = 3  # characters: "Fig. 3" is "Figure 3"
NUMBERED = ("figure", "table", "section", "requirement")
"""Kinds of places in ``text/languages/*/answers.toml`` that an ordinal may stand before."""

# Words for pages in the languages of ``text``.
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
    """Return places named by a word and a number, without pages, years and amounts.

    ``language`` is the question's, ``languages`` those of the documents asked.
    """
    named = chain(_numbered(NAMED_PAGES.sub(" ", text), language), _ordinals(text, language))
    return tuple(_place(word, number, languages) for word, number in dict.fromkeys(named))


def pages_in(text: str, language: str) -> tuple[int, ...]:
    """Return the pages from 1; negative numbers count from the end, the last is -1."""
    pages: dict[int, None] = {}
    for match in NAMED_PAGES.finditer(text):
        for first, last in PAGE_SPAN.findall(next(filter(None, match.groups()))):
            begin, end = whole_number(first), whole_number(last or first)
            if begin is None or end is None:
                continue
            pages |= dict.fromkeys(range(begin, min(max(begin, end), begin + MOST_PAGES) + 1))
    lowered = text.lower()
    pages |= {page: None for pattern, page in FROM_THE_END if pattern.search(lowered)}
    words = number_words(language)
    counted = _word_pattern(language, ("page", "slide"), tuple(words.ordinals))
    pages |= {words.ordinals[word]: None for word, _ in _matches(counted, lowered)}
    numbered = _word_pattern(language, ("page", "slide"), tuple(words.cardinals), before=False)
    pages |= {int(words.cardinals[word]): None for _, word in _matches(numbered, lowered)}
    return tuple(page for page in pages if page)


def _numbered(text: str, language: str) -> Iterator[tuple[str, str]]:
    """Yield a letter after a name or kind of place: 'Annex B', 'section C', but not 'plan B'."""
    for word, number, letter in PLACE.findall(text):
        known = word.lower() in _called(language, NUMBERED)
        is_apart = known or f"{word}{number or letter}" not in text  # not "top2"
        if known or (
            is_apart and terms_of(word) and not (word.islower() and (len(word) < BEGINS or len(letter) == 1))
        ):
            yield word, number or letter


def _ordinals(text: str, language: str) -> Iterator[tuple[str, str]]:
    """'The first figure' is Figure 1."""
    places = number_words(language).ordinals
    pattern = _word_pattern(language, NUMBERED, tuple(places))
    for ordinal, word in _matches(pattern, text.lower()):
        yield word, str(places[ordinal])


def _matches(pattern: re.Pattern[str] | None, text: str) -> Iterable[tuple[str, str]]:
    return pattern.findall(text) if pattern else ()


@cache
def _word_pattern(
    language: str, kinds: tuple[str, ...], numbers: tuple[str, ...], before: bool = True
) -> re.Pattern[str] | None:
    """Return a pattern for a number word before a kind of place ("second page") or after it ("page two").

    None for a language without such words, or without spaces.
    """
    words = _called(language, kinds)
    if not words or not numbers:
        return None
    counted, called = (
        "|".join(map(re.escape, sorted(some, key=len, reverse=True))) for some in (numbers, words)
    )
    pair = (counted, called) if before else (called, counted)
    return re.compile(r"\b({})\s+({})\b".format(*pair))


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
    """Return the names of places of these kinds."""
    words = tomllib.loads(language_data(language, "answers.toml")).get("places", {})
    return frozenset(word for kind in kinds for word in words.get(kind, ()) if word.isalpha())
