"""Analyse what a question asks for, in any language with a folder with ``answers.toml``."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain, takewhile
from typing import Any, Literal, NamedTuple, get_args

from django.utils.translation import get_language

from retrieval.query.question_terms import pages_in
from text.languages import base_language, language_data, languages_with
from text.numbers import YEAR_DIGITS, YEAR_NOT_AMOUNT, number_words
from text.terms import stop_words, terms_of

AnswerKind = Literal[
    "who", "when", "where", "count", "amount", "share", "money", "frequency",
    "why", "how", "list", "define", "compare", "yes_no",
]  # fmt: skip
Computation = Literal["growth", "ratio", "difference", "sum"]
Topic = Literal["summary", "about", "findings", "risks", "obligations", "steps"]
PlaceKind = Literal["page", "figure", "table", "section", "requirement"]
KINDS: tuple[AnswerKind, ...] = get_args(AnswerKind)
COMPUTATIONS: tuple[Computation, ...] = get_args(Computation)
TOPICS: tuple[Topic, ...] = get_args(Topic)
PLACES: tuple[PlaceKind, ...] = get_args(PlaceKind)

DATA = "answers.toml"
SHORT_YEAR = re.compile(r"\b(?:FY|CY)\s?'?(\d{2})\b", re.I)
YEAR_SPAN = re.compile(
    rf"({YEAR_DIGITS})\s*(?:-|–|to|through|bis|à|a|until)\s*(?:FY\s*)?({YEAR_DIGITS})", re.I
)
_LETTER = "A-Za-zÀ-ÖØ-öø-ÿĀ-ɏΑ-ώЀ-ӿ"
WORD = re.compile(
    rf"\d[\d.,]*\d(?![{_LETTER}\d-])|[{_LETTER}\d](?:[{_LETTER}\d&./’'-]*[{_LETTER}\d])?|[^\W_{_LETTER}\d]+"
)
SENTENCE_START = re.compile(r"(?:^|[.!?:;]\s*|\n\s*|[\"“„«(`'‘¿¡]\s*)$")
PERIOD = re.compile(rf"(?:[fc]y\W?'?\d*)?(?:[qh][1-4]\W?\d*|[1-4][qh]\d*)?|{YEAR_DIGITS}(?:[-/–]\d+)?", re.I)
FEW_LETTERS = 5  # maximum letters of a name that is searched as a whole word
LEAST_INITIALS = 3  # of an abbreviation that may be written out
ROMAN = re.compile(r"[IVX]+")
NUMERAL_AFTER = re.compile(r" [IVX]{2,}(?!\w)")  # part of the name before it: "Wave IV"
NO_NAMES = frozenset({"usd", "eur", "gbp", "jpy", "cny", "chf", "us", "i", "ok"})
COMPANY_FORMS = frozenset({
    "inc", "incorporated", "ltd", "limited", "llc", "llp", "plc", "corp", "corporation", "co", "company",
    "gmbh", "ag", "kg", "se", "sa", "srl", "bv", "nv", "ab", "oy",
})  # fmt: skip
"""Suffixes of companies' names, which a document may leave out."""
POSSESSIVE = re.compile(r"['’]s?$")
ALL_NOUNS_CAPITALISED = frozenset({"de"})
NUMBERED = re.compile(r"(?<![\w.,$€£¥])\d{1,3}(?:\.\d{1,3}){2,4}(?![\w%]|[.,]\d)")
NUMBER = r"(?P<{}>[A-Z]?\d+(?:\.\d+)*[a-z]?(?:\([a-z\d]{{1,3}}\))*|[IVXLC]+)(?![A-Za-z\d])"
MOST_BESIDE_TOPIC = 1  # content terms beside those of the topic; with more, the question is specific
MOST_DEFINED = 4  # terms of a question that asks for a definition; longer ones ask for a fact
MOST_COUNTED = 4  # words of what a question counts
LONGEST_SPAN = 15  # years between two joined by a dash
_SCRIPTS = {
    "ja": "[\u3040-\u30ff]", "ko": "[\uac00-\ud7af]", "zh": "[\u4e00-\u9fff]", "ar": "[\u0600-\u06ff]",
    "he": "[\u0590-\u05ff]", "hi": "[\u0900-\u097f]", "el": "[\u0370-\u03ff]",
}  # fmt: skip
_LETTERS = {"tr": "ığş", "pl": "łąęśźż", "sv": "å", "de": "ß", "es": "¿¡ñ", "pt": "ãõ"}
"""Letters that tell a language from others with the same short words."""
_UNSPACED_PHRASE = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]{3}")
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")


class NamedPlace(NamedTuple):
    """A numbered place that a question names: page 12, table II, requirement 2.1.1."""

    kind: PlaceKind
    number: str


class QuestionWord(NamedTuple):
    """A word as it is written, with its stems. ``is_name``: a page that answers must hold it."""

    text: str
    terms: tuple[str, ...]
    is_name: bool


@dataclass(frozen=True, slots=True)
class QuestionFeatures:
    """A question, analysed.

    Attributes:
        language: ISO 639-1 code of the language it is asked in.
        kinds: what kind of answer it wants.
        words: its content words, without remarks on the form of the answer.
        terms: their stems, without words that only ask unless there are no others.
        years: the years it names, those between two joined by a dash included.
        places: the places it names.
        aggregates: the statistics it asks for (average, maximum, total), each with its word.
        computation: what must be computed from values; '' if nothing.
        topic: the topic of a question on the whole document; '' for a specific question.
    """

    text: str
    language: str
    kinds: frozenset[AnswerKind]
    words: tuple[QuestionWord, ...]
    terms: tuple[str, ...]
    years: frozenset[str]
    places: tuple[NamedPlace, ...]
    aggregates: tuple[tuple[str, str], ...]
    computation: Computation | Literal[""]
    topic: Topic | Literal[""]

    @property
    def names(self) -> tuple[str, ...]:
        """Return abbreviations, numbers, years and, unless all nouns have capitals, capitalised words."""
        return tuple(word.text for word in self.words if word.is_name)

    @property
    def asked_years(self) -> frozenset[int]:
        """Return its years: “2018” and “FY2018”; “FY18” has no century."""
        return frozenset(int(year[-4:]) for year in self.years if year[-4:].isdigit())

    @property
    def wants_number(self) -> bool:
        return bool(self.kinds & {"count", "amount", "share", "money"}) or bool(self.computation)

    @property
    def date_asked(self) -> str:
        """Return what it asks for by name, "year" for "in which year"; '' for "when", also of a condition."""
        asked = _pattern(words_of(self.language, "kinds")["when"][1:]).search(self.text.casefold())
        return asked[0].split()[-1] if asked else ""

    @property
    def is_open(self) -> bool:
        """Return whether it asks who, when, how much, …; not a question for yes or no."""
        closed = _pattern(words_of(self.language, "kinds")["yes_no"]).match(self.text.strip().casefold())
        return not closed and bool(self.kinds - {"yes_no", "compare"})

    @property
    def must_be_seen(self) -> bool:
        """Return whether a picture or the number of things answers it, which no line says."""
        lowered = self.text.casefold()
        in_figure = "count" in self.kinds and _pattern(place_words(self.language, "figure")).search(lowered)
        return bool(in_figure or phrases_in(self.language, "seen").search(lowered))

    @property
    def is_definition(self) -> bool:
        """Return whether it asks for a definition, or for a role's holder: “What is salvage value?”."""
        defines = self.kinds & {"define", "who"}
        return bool(defines) and len(self.terms) <= MOST_DEFINED and not self.years


@cache
def words_of(language: str, table: str) -> dict[str, tuple[str, ...]]:
    """Return a table of the language's ``answers.toml``; of English if the language has no folder."""
    data = language_data(language, DATA) or language_data("en", DATA)
    read: dict[str, Any] = tomllib.loads(data).get(table, {})
    return {key: tuple(value) if isinstance(value, list) else (value,) for key, value in read.items()}


def phrases_in(language: str, key: str) -> re.Pattern[str]:
    """Return a pattern for the phrases under ``key`` in the language's table ``words``, in lower case."""
    return _pattern(words_of(language, "words")[key])


def message(language: str, key: str) -> str:
    """Return a fixed sentence of the answer: in the question's language, else in the interface's."""
    known = language in languages_with(DATA)
    return words_of(language if known else base_language(get_language() or "en"), "says")[key][0]


def place_words(language: str, kind: PlaceKind) -> tuple[str, ...]:
    """Return the names of a kind of place, in the language and in English."""
    return tuple(
        {**dict.fromkeys(words_of(language, "places")[kind]), **dict.fromkeys(words_of("en", "places")[kind])}
    )


@cache
def names_of_places(language: str) -> frozenset[str]:
    """Return the names of all kinds of places, slides included."""
    spoken = (words_of(code, "places").values() for code in (language, "en"))
    return frozenset(chain.from_iterable(chain.from_iterable(spoken)))


def analyse(text: str, documents: Sequence[str] = ()) -> QuestionFeatures:
    """Analyse a question; its terms are stemmed for the documents' ``languages``."""
    spoken = [base_language(code) for code in documents if code]
    language = language_of(text, spoken)
    stems = spoken[0] if spoken and language not in spoken else language
    asked = without_remark(text, language)
    lowered = asked.casefold()
    places = tuple(places_in(text, language))
    numbers = frozenset(part for place in places for part in re.split(r"[()]+", place.number.lower()))
    numbers |= _number_words_of(numbers, language)
    named = _question_phrases(language).sub(blank, text)
    terms = tuple(term for term in dict.fromkeys(terms_of(named, stems)) if term not in stop_words(language))
    instruction_terms = _instruction_terms(language) | numbers
    content_terms = tuple(
        term for term in terms if term not in instruction_terms and not YEAR_NOT_AMOUNT.fullmatch(term)
    )
    return QuestionFeatures(
        text=text,
        language=language,
        kinds=frozenset(kind for kind in KINDS if _has_phrase(language, "kinds", kind, lowered)),
        words=tuple(words_in(_question_phrases(language).sub(blank, asked), language, stems, numbers)),
        terms=content_terms or terms,
        years=years_in(text),
        places=places,
        aggregates=tuple(aggregates_in(text, language).items()),
        computation=next(
            (name for name in COMPUTATIONS if _has_phrase(language, "computations", name, lowered)), ""
        ),
        topic="" if places else topic_of(lowered, language, content_terms),
    )


def _number_words_of(numbers: Set[str], language: str) -> frozenset[str]:
    """Return the words for numbers of places: "three" of "page three"."""
    words = number_words(language)
    spelt = chain(words.cardinals.items(), words.ordinals.items())
    return frozenset(word for word, value in spelt if str(value) in numbers)


def blank(match: re.Match[str]) -> str:
    """Return the matched phrase as spaces, but keep the word that its ``*`` stands for; no word moves."""
    if not match.lastindex:
        return " " * len(match[0])
    start, end = (place - match.start() for place in match.span(match.lastindex))
    return match[0][start:end].rjust(end).ljust(len(match[0]))


@lru_cache(maxsize=64)
def counted_terms(question: QuestionFeatures, language: str) -> frozenset[str]:
    """Return the terms of the counted thing, up to a function word: “How many RAG studies are …”."""
    lowered, stops = question.text.casefold(), stop_words(question.language)
    phrases = words_of(question.language, "kinds")["count"]
    ends = [at + len(phrase) for phrase in phrases if (at := lowered.find(phrase)) >= 0]
    if not ends:
        return frozenset()
    words = re.findall(r"[\w-]+", lowered[min(ends) :])[:MOST_COUNTED]
    counted = takewhile(lambda word: word not in stops, words)
    return frozenset(terms_of(" ".join(counted), language))


@cache
def _question_phrases(language: str) -> re.Pattern[str]:
    """Return a pattern for phrases that only ask: of several words, “how often”, or a verb before all others.

    “share” alone is content.
    """
    kinds = words_of(language, "kinds")
    phrases = chain.from_iterable(kinds.values())
    several = tuple(dict.fromkeys(some for some in phrases if " " in some or _UNSPACED_PHRASE.match(some)))
    pattern = _pattern(several).pattern.replace(r"\w+", r"(\w+)") if several else r"(?!)"
    verbs = _pattern((*(word for word in kinds["define"] if " " not in word), kinds["compare"][0])).pattern
    return re.compile(rf"\A\W*(?:{verbs})|{pattern}", re.I)


@cache
def _instruction_terms(language: str) -> frozenset[str]:
    """Return terms that only tell how to answer, or nothing."""
    return frozenset(terms_of(" ".join(_asking_words(language)), language))


def _asking_words(language: str) -> tuple[str, ...]:
    words = words_of(language, "words")
    return words["asking"] + words["asking_answers"]


def language_of(text: str, documents: Sequence[str] = ()) -> str:
    """Return the language of a short text by its script, else by its most common words, else English.

    Any language with function words is known. Of equals, English comes first, then those of ``documents``,
    then those whose questions are understood.
    """
    for code, script in _SCRIPTS.items():
        if len(re.findall(script, text)) * 3 >= sum(map(str.isalpha, text)) > 0:
            return code
    words = [word.casefold() for word in re.findall(r"[^\W\d_]+", text) if not word.isupper()]
    understood = languages_with(DATA)
    order = ("en", *documents, *sorted(understood), *sorted(languages_with("stopwords.txt")))
    votes = {
        code: sum(word in _common(code) for word in words) + 0.5 * bool({*_LETTERS.get(code, "")} & {*text})
        for code in dict.fromkeys(order)
    }
    best = max(votes, key=votes.__getitem__)
    return best if votes[best] else "en"


@cache
def opening_words(language: str) -> frozenset[str]:
    """Return the first words of phrases that ask for a person, a time, a place, a count, a reason, …"""
    kinds = ("who", "when", "where", "count", "amount", "why", "how", "list", "define")
    phrases = chain.from_iterable(words_of(language, "kinds")[kind] for kind in kinds)
    return frozenset(phrase.split()[0] for phrase in phrases)


@cache
def _common(language: str) -> frozenset[str]:
    """Return words that identify a language: its stop words, and the words that open its questions.

    Phrases for "when" and "where" are left out: their nouns ("land", "year") are words of other languages.
    """
    if language not in languages_with(DATA):
        return stop_words(language)
    kinds = words_of(language, "kinds").items()
    phrases = (phrase for kind, listed in kinds if kind not in ("when", "where") for phrase in listed)
    return frozenset((*stop_words(language), *_asking_words(language), *" ".join(phrases).split()))


def _has_phrase(language: str, table: str, key: str, lowered: str) -> bool:
    return bool(_pattern(words_of(language, table)[key]).search(lowered))


def aggregates_in(text: str, language: str) -> dict[str, str]:
    """Return the statistics that a text names (average, maximum), each with its word."""
    words = words_of(language, "aggregates").items()
    found = {name: _pattern(phrases).search(text.casefold()) for name, phrases in words}
    return {name: match[0] for name, match in found.items() if match}


@cache
def _pattern(phrases: tuple[str, ...]) -> re.Pattern[str]:
    """Match any of the phrases; as whole words in scripts with spaces."""
    parts = (
        re.escape(phrase) if _UNSPACED.search(phrase) else rf"(?<!\w){spaced(phrase)}(?!\w)"
        for phrase in sorted(phrases, key=len, reverse=True)
    )
    return re.compile("|".join(parts))


@cache
def every_words(language: str, key: str) -> tuple[str, ...]:
    """Return the language's phrases under ``key``, longest first; English ones if it has none."""
    found = words_of(language, "every") or words_of("en", "every")
    return tuple(sorted(found[key], key=len, reverse=True))


@cache
def any_of(language: str, key: str) -> str:
    return rf"(?:{'|'.join(map(re.escape, every_words(language, key)))})\b"


@cache
def articles(language: str) -> str:
    return rf"(?:{'|'.join(map(re.escape, words_of(language, 'words')['article']))})"


def without_owner(text: str, language: str) -> str:
    """Leave out "the company", "in the latest fiscal year", "main": one document need not say them."""
    owner = rf"(?:{articles(language)}|{any_of(language, 'each')})\s+{any_of(language, 'nouns')}"
    beside = rf"\b(?:{owner}|{any_of(language, 'newest')}|{any_of(language, 'rank')})"
    return " ".join(re.sub(beside, " ", text, flags=re.I).split())


def topic_of(lowered: str, language: str, content_terms: Sequence[str]) -> Topic | Literal[""]:
    """Return the topic of a question on the whole document; '' for specific questions."""
    for topic in TOPICS:
        if match := _pattern(words_of(language, "whole")[topic]).search(lowered):
            beside = set(content_terms) - set(terms_of(match[0], language))
            return topic if len(beside) <= MOST_BESIDE_TOPIC or _UNSPACED.search(lowered) else ""
    return ""


def without_remark(text: str, language: str) -> str:
    """Return the question without a final remark on the form of the answer ("round to two decimals")."""
    remark = _pattern(words_of(language, "words")["form"]).search(text.lower())
    return text[: remark.start()] if remark else text


def words_in(text: str, language: str, stems: str, places: frozenset[str]) -> Iterator[QuestionWord]:
    """Return the content words, each once. ``places``: numbers of the places the question names."""
    seen: set[str] = set()
    for match in WORD.finditer(text):
        word = POSSESSIVE.sub("", match[0])
        terms = tuple(terms_of(word, stems))
        known = word in seen or places.issuperset(word.lower().split("-"))
        if len(word) > 1 and not known and not set(terms) <= _instruction_terms(language):
            seen.add(word)
            starts = bool(SENTENCE_START.search(text[: match.start()]))
            named = is_name(word, language, starts=starts)
            numeral = NUMERAL_AFTER.match(text, match.end()) if named else None
            yield QuestionWord(word + (numeral[0] if numeral else ""), terms, named)


def is_name(word: str, language: str, *, starts: bool) -> bool:
    """Return whether capitals or digits make the word a name. ``starts``: it begins a sentence."""
    lowered = word.casefold()
    called = NO_NAMES | COMPANY_FORMS | names_of_places(language)
    if {lowered, lowered.removesuffix("s")} & called:
        return False
    if PERIOD.fullmatch(word) or ROMAN.fullmatch(word):
        return bool(YEAR_NOT_AMOUNT.fullmatch(word))
    if any(map(str.isdigit, word)):
        return sum(map(str.isdigit, word)) > 2 or not word.isdigit()
    if not (terms := set(terms_of(word, language))) or terms & _instruction_terms(language):
        return False
    capitals = sum(map(str.isupper, word))
    return capitals > 1 or (word[0].isupper() and not starts and language not in ALL_NOUNS_CAPITALISED)


def asks_something(question: QuestionFeatures) -> bool:
    """Return whether a question names a place, or has a word other than greetings."""
    return bool(question.places) or any(
        len(term) > 2 or any(map(str.isdigit, term)) or not term.isascii()
        for word in question.words
        for term in word.terms
    )


def spaced(phrase: str) -> str:
    """Return a pattern for the phrase; ``*`` is one word."""
    return re.escape(phrase).replace(r"\*", r"\w+")


def years_in(text: str) -> frozenset[str]:
    years = set(YEAR_NOT_AMOUNT.findall(text)) | {f"20{year}" for year in SHORT_YEAR.findall(text)}
    for first, last in YEAR_SPAN.findall(text):
        years |= {str(year) for year in range(int(first), min(int(last), int(first) + LONGEST_SPAN) + 1)}
    return frozenset(years)


def places_in(text: str, language: str) -> Iterable[NamedPlace]:
    """Return the places the question names, in the order of ``PlaceKind``; bare labels such as 2.1.1 last."""
    pages = [NamedPlace("page", str(page)) for page in pages_in(text, language) if page > 0]
    found = [
        NamedPlace(kind, match["after"] or match["before"])
        for kind in PLACES[1:]
        for match in _place_pattern(place_words(language, kind)).finditer(text)
    ]
    named = {place.number for place in (*pages, *found)}
    bare = [NamedPlace("requirement", number) for number in NUMBERED.findall(text) if number not in named]
    return dict.fromkeys([*pages, *found, *bare])


@cache
def _place_pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    """Match ``table II``, ``Tab. 3``, ``p.12``, ``第3表``, ``図3``, ``12ページ``."""
    spaced = [re.escape(word) for word in words if not _UNSPACED.search(word)]
    unspaced = [re.escape(word) for word in words if _UNSPACED.search(word)]
    after = "|".join([*(rf"(?<!\w)(?i:{word})" for word in spaced), *unspaced])
    before = rf"第?\s*(?P<before>\d+(?:\.\d+)*)\s*(?:{'|'.join(unspaced) or '$.'})"
    return re.compile(rf"(?:{after})\s*(?:(?i:no\.?|number|nr\.?)|#)?\s*{NUMBER.format('after')}|{before}")


# The names, years and captions of a question on a page.


@cache
def caption_pattern(place: NamedPlace, language: str) -> str:
    """Return a pattern for the names of a place, for Python and PostgreSQL."""
    labels = "|".join(map(re.escape, place_words(language, place.kind)))
    return rf"({labels})\s*{re.escape(place.number)}"


def holds_name(text: str, name: str) -> bool:
    return bool(_name(name).search(text))


@lru_cache(maxsize=256)
def _name(name: str) -> re.Pattern[str]:
    return re.compile(name_pattern(name), re.I)


def name_pattern(name: str) -> str:
    """Match the name with any ending; in long names, also with a mark or line end between two letters.

    Abbreviations and numerals have no ending other than the plural's; words with the initials of an
    abbreviation are it too: "CEO" is "chief executive officer".
    """
    if name.isascii() and name.isupper() and name.isalpha() and len(name) <= FEW_LETTERS:
        words = r"[a-z]+[ \n-]+(of |and |the |for )?".join(name)
        written = rf"|(^|[^A-Za-z]){words}[a-z]+" if len(name) >= LEAST_INITIALS else ""
        return rf"(^|[^A-Za-z0-9]){name}s?($|[^A-Za-z]){written}"
    if match := NUMERAL_AFTER.search(name):
        return rf"{re.escape(name[: match.start()])}\W{{0,3}}{match[0].strip()}($|[^A-Za-z])"
    letters = [letter for letter in name if letter.isalnum()]
    if len(letters) > FEW_LETTERS and not any(map(str.isdigit, letters)):
        return r"\W{0,2}".join(letters[: max(FEW_LETTERS, len(letters) - 2)])
    core = name.removesuffix("s") if len(name) > FEW_LETTERS - 2 else name
    return rf"(^|[^A-Za-z0-9]){re.escape(core)}" + (r"(?!\d)" if core[-1].isdigit() else "")


def share_of_names(question: QuestionFeatures, text: str) -> float:
    return sum(holds_name(text, name) for name in question.names) / (len(question.names) or 1)


def share_of_years(question: QuestionFeatures, text: str) -> float:
    return (
        len(question.years.intersection(YEAR_NOT_AMOUNT.findall(text))) / len(question.years)
        if question.years
        else 0.5
    )
