"""What a question asks for, in any language that has a folder with ``answers.toml``."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cache
from itertools import chain, pairwise
from typing import Any, Literal, NamedTuple, cast, get_args

from text.languages import base_language, language_data, languages_with
from text.terms import stop_words, terms_of

AnswerKind = Literal[
    "who", "when", "where", "count", "amount", "why", "how", "list", "define", "compare", "yes_no"
]
KINDS: tuple[AnswerKind, ...] = get_args(AnswerKind)
Computation = Literal["growth", "ratio", "difference", "sum"]
Topic = Literal["summary", "about", "findings", "risks", "obligations", "steps"]
PlaceKind = Literal["page", "slide", "figure", "table", "section", "requirement"]

DATA = "answers.toml"
YEAR = re.compile(r"(?<![\d.,])(?:19|20)\d{2}(?![\d%]|[.,]\d)")
SHORT_YEAR = re.compile(r"\b(?:FY|CY)\s?'?(\d{2})\b", re.I)
YEAR_SPAN = re.compile(
    r"((?:19|20)\d{2})\s*(?:-|–|to|through|bis|à|a|until)\s*(?:FY\s*)?((?:19|20)\d{2})", re.I
)
QUOTED = re.compile(r"[\"“”„«»「『]([^\"“”„«»「」『』]{2,80})[\"“”«»」』]")
_LETTER = "A-Za-zÀ-ÖØ-öø-ÿĀ-ɏΑ-ώЀ-ӿ"
NAME = re.compile(rf"\d[\d.,]*\d|[{_LETTER}\d](?:[{_LETTER}\d&./’'-]*[{_LETTER}\d])?")
SENTENCE_START = re.compile(r"(?:^|[.!?:;]\s*|\n\s*|[\"“„«(`'‘]\s*)$")
PERIOD = re.compile(r"(?:[fc]y\W?'?\d*)?(?:[qh][1-4]\W?\d*|[1-4][qh]\d*)?|(?:19|20)\d\d(?:[-/–]\d+)?", re.I)
ROMAN = re.compile(r"[IVX]+")
NO_NAMES = frozenset({"usd", "eur", "gbp", "jpy", "cny", "chf", "us", "i", "ok"})
POSSESSIVE = re.compile(r"['’]s?$")
ALL_NOUNS_CAPITALISED = frozenset({"de"})
NUMBERED = re.compile(r"(?<![\w.,$€£¥])\d{1,3}(?:\.\d{1,3}){1,4}(?![\w%]|[.,]\d)")
NUMBER = r"(?P<{}>[A-Z]?\d+(?:\.\d+)*[a-z]?|[IVXLC]+)(?![A-Za-z\d])"
PAGE_SPAN = re.compile(r"\s*(?:-|–|to|bis|à|a)\s*(\d{1,4})\b")
MOST_BESIDE_TOPIC = 1  # telling terms beside those that name the topic; more ask for something particular
LONGEST_SPAN = 15  # years between two joined by a dash; pages likewise
_SCRIPTS: tuple[tuple[str, str], ...] = (
    ("ja", "[\u3040-\u30ff]"),
    ("ko", "[\uac00-\ud7af]"),
    ("zh", "[\u4e00-\u9fff]"),
    ("ar", "[\u0600-\u06ff]"),
    ("ru", "[\u0400-\u04ff]"),
)
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")


class NamedPlace(NamedTuple):
    """A numbered place that a question names: page 12, table II, requirement 2.1.1."""

    kind: PlaceKind
    number: str


@dataclass(frozen=True, slots=True)
class QuestionFeatures:
    """A question, analysed.

    Attributes:
        language: ISO 639-1 code of the language it is asked in.
        kinds: what kind of answer it wants.
        terms: its telling terms (stems); words that only ask are left out unless there are no others.
        years: the years it names, those between two joined by a dash included.
        pairs: neighbouring terms; only those inside quotation marks where there are any.
        names: words that a page which answers must hold: capitalised ones inside it (in languages that
            capitalise names only), abbreviations, numbers and years; not those in remarks on the form.
        words: its telling words as they are written, each with its terms.
        places: the places it names.
        computation: what must be computed from values; '' when nothing.
        topic: what of the whole document it asks for; '' when it asks for something particular.
    """

    text: str
    language: str
    kinds: frozenset[AnswerKind]
    terms: tuple[str, ...]
    years: frozenset[str]
    pairs: frozenset[tuple[str, str]]
    names: tuple[str, ...]
    words: tuple[tuple[str, tuple[str, ...]], ...]
    places: tuple[NamedPlace, ...]
    computation: Computation | Literal[""]
    topic: Topic | Literal[""]

    @property
    def wants_number(self) -> bool:
        return bool(self.kinds & {"count", "amount"}) or bool(self.computation)


@cache
def words_of(language: str, table: str) -> dict[str, tuple[str, ...]]:
    """A table of the language's ``answers.toml``; English where the language has no folder."""
    data = language_data(language, DATA) or language_data("en", DATA)
    read: dict[str, Any] = tomllib.loads(data).get(table, {})
    return {key: tuple(value) if isinstance(value, list) else (value,) for key, value in read.items()}


def message(language: str, key: str) -> str:
    """A sentence of the answer itself, in the question's language."""
    return words_of(language, "says")[key][0]


def analyse(text: str, documents: Sequence[str] = ()) -> QuestionFeatures:
    """The question, its terms as documents in these languages have them (its own where it is among them)."""
    language = language_of(text)
    spoken = [base_language(code) for code in documents if code]
    stems = spoken[0] if spoken and language not in spoken else language
    lowered = text.casefold()
    terms = tuple(term for term in dict.fromkeys(terms_of(text, stems)) if term not in stop_words(language))
    asking = _asking(language)
    places = tuple(places_in(text, language))
    numbers = {place.number.lower() for place in places}
    telling = tuple(
        term for term in terms if term not in asking and term not in numbers and not YEAR.fullmatch(term)
    )
    return QuestionFeatures(
        text=text,
        language=language,
        kinds=kinds_of(lowered, language),
        terms=telling or terms,
        years=years_in(text),
        pairs=pairs_in(text, stems),
        names=names_in(text, language, places),
        words=tuple(words_in(text, language, stems, numbers)),
        places=places,
        computation=next((name for name in ("growth", "ratio", "difference", "sum")
                          if _any_of(words_of(language, "computations")[name], lowered)), ""),
        topic=topic_of(lowered, language, telling) if not places else "",
    )  # fmt: skip


@cache
def _asking(language: str) -> frozenset[str]:
    """Terms that say how to answer, or nothing at all."""
    words = words_of(language, "words")
    return frozenset(terms_of(" ".join(words["asking"]), language))


def language_of(text: str) -> str:
    """The language a short text is written in: by its script, else by its commonest words, else English."""
    for code, script in _SCRIPTS:
        if len(re.findall(script, text)) * 3 >= sum(map(str.isalpha, text)) > 0:
            return code
    words = re.findall(r"[^\W\d_]+", text.casefold())
    votes = {code: sum(word in _common(code) for word in words) for code in sorted(languages_with(DATA))}
    best = max(votes, key=lambda code: (votes[code], code == "en"), default="en")
    return best if votes.get(best) else "en"


@cache
def _common(language: str) -> frozenset[str]:
    """Words that show a language: those of its questions, and its commonest."""
    kinds = (phrase for phrases in words_of(language, "kinds").values() for phrase in phrases)
    one_word = (phrase for phrase in kinds if " " not in phrase)
    words = words_of(language, "words")
    return frozenset((*stop_words(language), *words["asking"], *one_word))


def kinds_of(lowered: str, language: str) -> frozenset[AnswerKind]:
    phrases = words_of(language, "kinds")
    found: set[AnswerKind] = {kind for kind in KINDS[:-1] if _any_of(phrases[kind], lowered)}
    begins = lowered.lstrip("¿¡ \"'“„«")
    if _UNSPACED.search(lowered):
        asks = not found and any(phrase in lowered for phrase in phrases["yes_no"])
    else:
        asks = any(re.match(rf"{re.escape(phrase)}\b", begins) for phrase in phrases["yes_no"])
    return frozenset({*found, "yes_no"} if asks else found)


def _any_of(phrases: Iterable[str], lowered: str) -> bool:
    return bool(_pattern(tuple(phrases)).search(lowered))


@cache
def _pattern(phrases: tuple[str, ...]) -> re.Pattern[str]:
    """Matches any of the phrases; whole words where the script sets spaces between words."""
    parts = (
        re.escape(phrase) if _UNSPACED.search(phrase) else rf"(?<!\w){re.escape(phrase)}(?!\w)"
        for phrase in sorted(phrases, key=len, reverse=True)
    )
    return re.compile("|".join(parts))


def topic_of(lowered: str, language: str, telling: Sequence[str]) -> Topic | Literal[""]:
    """What of the whole document is asked for; '' for questions after something particular."""
    whole = words_of(language, "whole")
    for topic in cast(tuple[Topic, ...], get_args(Topic)):
        if match := _pattern(whole[topic]).search(lowered):
            beside = set(telling) - set(terms_of(match[0], language))
            return topic if len(beside) <= MOST_BESIDE_TOPIC or _UNSPACED.search(lowered) else ""
    return ""


def pairs_in(text: str, language: str) -> frozenset[tuple[str, str]]:
    quoted = [pairwise(terms_of(phrase, language)) for phrase in QUOTED.findall(text)]
    return frozenset(chain.from_iterable(quoted)) or frozenset(pairwise(terms_of(text, language)))


def names_in(text: str, language: str, places: Sequence[NamedPlace]) -> tuple[str, ...]:
    """Capitalised words inside a sentence, abbreviations, numbers and years, but for those of places."""
    of_places = {part for place in places for part in (place.number, place.number.lower())}
    return tuple(
        dict.fromkeys(
            name
            for match in NAME.finditer(without_form(text, language))
            if (name := POSSESSIVE.sub("", match[0])) not in of_places
            and is_name(name, language, starts=bool(SENTENCE_START.search(text[: match.start()])))
        )
    )


def is_name(word: str, language: str, *, starts: bool) -> bool:
    """Whether the word names something: by its capitals or digits. ``starts``: it begins a sentence."""
    lowered = word.casefold()
    if lowered in NO_NAMES or {lowered, lowered.removesuffix("s")} & _place_words(language):
        return False
    if PERIOD.fullmatch(word) or ROMAN.fullmatch(word):
        return bool(YEAR.fullmatch(word))
    if any(map(str.isdigit, word)):
        return sum(map(str.isdigit, word)) > 2 or not word.isdigit()
    if not (terms := set(terms_of(word, language))) or terms & _asking(language):
        return False
    capitals = sum(map(str.isupper, word))
    return capitals > 1 or (word[0].isupper() and not starts and language not in ALL_NOUNS_CAPITALISED)


def without_form(text: str, language: str) -> str:
    """The text without remarks on the form of the answer ("round to two decimals", "e.g. …")."""
    phrases = _pattern(words_of(language, "words")["form"])
    found = [match.start() for match in phrases.finditer(text.casefold())]
    return text[: found[0]] if found and len(text.casefold()) == len(text) else text


def words_in(text: str, language: str, stems: str, places: Set[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The telling words of a text, with their terms; ``places``: numbers of the places it names."""
    for word in dict.fromkeys(re.findall(r"[^\W_]+(?:[-'’.&][^\W_]+)*", without_form(text, language))):
        bare = POSSESSIVE.sub("", word)
        terms = tuple(terms_of(bare, stems))
        if len(bare) > 1 and bare.lower() not in places and not set(terms) <= _asking(language):
            yield bare, terms


@cache
def _place_words(language: str) -> frozenset[str]:
    return frozenset(word for words in words_of(language, "places").values() for word in words)


def years_in(text: str) -> frozenset[str]:
    years = set(YEAR.findall(text)) | {f"20{year}" for year in SHORT_YEAR.findall(text)}
    for first, last in YEAR_SPAN.findall(text):
        years |= {str(year) for year in range(int(first), min(int(last), int(first) + LONGEST_SPAN) + 1)}
    return frozenset(years)


def places_in(text: str, language: str) -> list[NamedPlace]:
    """Places the question names, in the order of ``PlaceKind``; bare labels such as 2.1.1 last."""
    found = [
        NamedPlace(kind, number)
        for kind in cast(tuple[PlaceKind, ...], get_args(PlaceKind))
        for code in dict.fromkeys((language, "en"))
        for number in _numbers_of(text, words_of(code, "places")[kind], kind)
    ]
    named = {place.number for place in found}
    bare = (NamedPlace("requirement", number) for number in NUMBERED.findall(text) if number.count(".") > 1)
    return list(dict.fromkeys([*found, *(place for place in bare if place.number not in named)]))


def _numbers_of(text: str, words: tuple[str, ...], kind: PlaceKind) -> list[str]:
    numbers: list[str] = []
    for match in _place_pattern(words).finditer(text):
        number = match["after"] or match["before"]
        numbers.append(number)
        span = PAGE_SPAN.match(text, match.end())
        if span and kind in ("page", "slide") and number.isdigit():
            last = min(int(span[1]), int(number) + LONGEST_SPAN)
            numbers += map(str, range(int(number) + 1, last + 1))
    return numbers


@cache
def _place_pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    """``table II``, ``Tab. 3``, ``p.12``, ``第3表``, ``図3``, ``12ページ``."""
    spaced = [re.escape(word) for word in words if not _UNSPACED.search(word)]
    unspaced = [re.escape(word) for word in words if _UNSPACED.search(word)]
    after = "|".join([*(rf"(?<!\w)(?i:{word})" for word in spaced), *unspaced])
    before = (
        rf"|第?\s*(?P<before>\d+(?:\.\d+)*)\s*(?:{'|'.join(unspaced)})" if unspaced else "|(?P<before>$.)"
    )
    return re.compile(rf"(?:{after})\s*(?:(?i:no\.?|number|nr\.?)|#)?\s*{NUMBER.format('after')}{before}")
