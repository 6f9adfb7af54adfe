"""Words that change meaning in a language (markers, opposites, synonyms), and the language of a text.

Markers come from ``meaning.toml``. Each has a category ("negation", "modality", "condition", …) and a value.
A pole is one side of a pair of opposites; those of ``[opposites]`` exclude each other, so that negating one
affirms the other.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields
from functools import cache, lru_cache

from text.languages import UNSPACED_LANGUAGES, base_language, language_data, languages_with
from text.terms import base_stem, snowball

_LEVELS = frozenset({"amount", "height", "size"})  # "5 % more", "5 % higher"
_GRADED = frozenset({"en", "de", "nl", "zh", "ja"})  # "more" is no part of "higher"
_TASHKEEL = re.compile("[\u064b-\u0652\u0670\u0640]")
_ARABIC = str.maketrans("أإآىة", "ااايه")


@dataclass(frozen=True, slots=True)
class Marker:
    """One meaning of a phrase: ``modality: may``."""

    category: str
    value: str


@dataclass(frozen=True, slots=True)
class Sense:
    """What a phrase is.

    Attributes:
        markers: every marker it can be.
        poles: (pair, side) of each pair of opposites it belongs to.
        synonyms: ids of the groups of synonyms it belongs to.
        function: whether it is a function word.
    """

    markers: tuple[Marker, ...] = ()
    poles: frozenset[tuple[str, int]] = frozenset()
    synonyms: frozenset[int] = frozenset()
    function: bool = False


@dataclass(frozen=True)
class Lexicon:
    """The words of one language.

    Attributes:
        phrases: senses by words (a tuple of one or more), as written or as stems.
        longest: number of words (characters where words are not spaced) of the longest phrase.
        first: first words of phrases of several words.
        light: verbs that only join a subject to its value ("recorded", "reached").
        company: names of the author of a report, its "we" ("the company").
        limits: "maximum", "minimum": bounds of a number some words away.
        spans: prepositions that are also comparators ("over 30 days").
        opens_instruction: words that may precede an imperative.
        without: words of lack; after another negation they mean "only with".
        only_with: prepositions of what "only" requires.
        among: prepositions of the whole that a number counts a part of.
        together: words that add up ("combined"); total: labels and words of a sum ("total", "all").
        proposing: verbs of what is not yet done ("recommended that").
        minus: words of a difference ("minus"); distributive: prepositions of what each has ("per").
        reflexive: pronouns that make a verb passive in meaning ("se").
        generic: nouns that refer to a name before ("the drug").
        neither: the second word of "neither … nor", which adds no negation.
        be_to: auxiliaries of a duty with "zu" ("ist zu wechseln").
        need: verbs of necessity ("requires").
        relative: conditions that are relative pronouns after their noun ("where").
        relatives: relative pronouns after a comma.
        period, period_end: words beside the year or the closing day of a column ("fiscal", "ended").
        counted: nouns of what a table counts, and of groups ("patients", "group").
        quarter: the name of a quarter of a year ("Q1" is the first).
        outflow: parts of labels of outgoing money, which may be printed as negative ("cost").
        alone_denied: French verbs that "ne" negates without "pas" ("ne peut").
        particle_verbs: verbs without a meaning of their own but for their particle ("nimmt … zu").
        articles: words that open a noun phrase; definite: those before a known thing.
        than_behind: words after the standard of a comparison ("より").
        enacting: auxiliaries of rules, for which the present tense may be written ("shall").
        future: auxiliaries of the future.
        of_which: relative pronouns of a counted part ("of which", "dont").
        group: words after the name of a treated group ("the placebo group").
        event: prepositions of the event that starts a period ("within 30 days of").
        copula: forms of "to be" in the third person.
        timely: prepositions of time, which are interchangeable.
        participle: endings of active participles after a comma ("ing").
        otherwise: words that open the statement of the other case ("otherwise").
        compared: words before the amount of a comparison ("compared with").
        year_before: the year before the one that was said ("a year earlier").
        changes: the direction of a comparison with it ("more than": "up").
        saying: reporting verbs at the end of a sentence ("the company said"); them: "of them".
        respectively: words that pair two lists in order.
        reporting, doubting: verbs that report or deny what follows ("claimed", "denied").
        excess, so_as: "too" small "to"; unreal: "would"; rare: "rarely"; either: "either"; per: "per";
        outside: "outside"; no_more: "plus" after "ne"; one_of: "之一" after a superlative.
        consent: what a permission may require ("approval").
        privative: adjectives without which a noun means something else ("former", "fake").
        unrealised: verbs of what may not happen, or ends ("versprach", "拒绝").
        not_had: verbs whose object was missed, or is only planned ("lacked", "expected").
        bygone: words of a past state ("used to"); urging: words of a reminder ("make sure that").
        each: words that make an amount one per item ("each of").
        plus: words of an amount added to another ("LIBOR plus 2 %").
        away: words after a distance from another amount ("short of" the target).
        transparent: nouns that mean what they are of ("series of", "city of").
        not_prefix: negating prefixes before a hyphen ("non").
        shares: nouns of a part in percent ("proportion").
        save_that: words before an exception that is a statement ("except that").
        results: names of a profit or loss ("Ergebnis"); spent: "used", of cash.
        tabled: words between the names of a cell and its value ("contains", "taken at").
        between: prepositions of a range ("between"); future_endings: of verbs in rules ("presentarán").
        bracketed: words that name the amounts a table prints in brackets ("in parentheses").
        starts, ends: prepositions of the first and the last value of a change ("from", "to").
        turning: prepositions of which none means another ("to", "by", "over"); not "in", "at", "of".
    """

    language: str
    phrases: dict[tuple[str, ...], Sense]
    longest: int
    first: frozenset[str]
    prepositions: frozenset[str]
    pronouns: frozenset[str]
    passive: frozenset[str]
    agent: frozenset[str]
    less: frozenset[str]
    breaks: frozenset[str]
    complement: frozenset[str]
    than: frozenset[str]
    genitive: frozenset[str]
    have: frozenset[str]
    change: frozenset[str]
    postfix: frozenset[str]
    light: frozenset[str]
    company: frozenset[str]
    limits: frozenset[str]
    spans: frozenset[str]
    opens_instruction: frozenset[str]
    without: frozenset[str]
    only_with: frozenset[str]
    than_behind: frozenset[str]
    enacting: frozenset[str]
    future: frozenset[str]
    of_which: frozenset[str]
    group: frozenset[str]
    event: frozenset[str]
    timely: frozenset[str]
    copula: frozenset[str]
    starts: frozenset[str]
    ends: frozenset[str]
    turning: frozenset[str]
    shares: frozenset[str]
    not_prefix: frozenset[str]
    privative: frozenset[str]
    bracketed: frozenset[str]
    between: frozenset[str]
    future_endings: frozenset[str]
    save_that: frozenset[str]
    results: frozenset[str]
    spent: frozenset[str]
    tabled: frozenset[str]
    bygone: frozenset[str]
    unrealised: frozenset[str]
    not_had: frozenset[str]
    urging: frozenset[str]
    plus: frozenset[str]
    away: frozenset[str]
    each: frozenset[str]
    transparent: frozenset[str]
    consent: frozenset[str]
    reporting: frozenset[str]
    doubting: frozenset[str]
    excess: frozenset[str]
    so_as: frozenset[str]
    unreal: frozenset[str]
    rare: frozenset[str]
    either: frozenset[str]
    per: frozenset[str]
    outside: frozenset[str]
    no_more: frozenset[str]
    one_of: frozenset[str]
    relative: frozenset[str]
    relatives: frozenset[str]
    among: frozenset[str]
    reflexive: frozenset[str]
    generic: frozenset[str]
    neither: frozenset[str]
    be_to: frozenset[str]
    together: frozenset[str]
    participle: frozenset[str]
    saying: frozenset[str]
    otherwise: frozenset[str]
    compared: frozenset[str]
    year_before: frozenset[str]
    them: frozenset[str]
    respectively: frozenset[str]
    minus: frozenset[str]
    proposing: frozenset[str]
    distributive: frozenset[str]
    total: frozenset[str]
    need: frozenset[str]
    period: frozenset[str]
    period_end: frozenset[str]
    counted: frozenset[str]
    quarter: frozenset[str]
    outflow: frozenset[str]
    alone_denied: frozenset[str]
    particle_verbs: frozenset[str]
    articles: frozenset[str]
    definite: frozenset[str]
    final_particles: dict[str, str] = field(default_factory=dict)
    changes: dict[str, str] = field(default_factory=dict)

    def is_phrase(self, word: str) -> bool:
        """Return whether a condition is a preposition: "only with", "without", "except for"."""
        last = word.split()[-1]
        return last in self.prepositions or last in self.without or last in self.only_with

    def sense(self, words: tuple[str, ...], stems: tuple[str, ...]) -> Sense | None:
        """Return the sense of the words as written, else of their stems."""
        written = self.phrases.get(words)
        stemmed = self.phrases.get(("~", *stems))
        if written and stemmed:
            return _merged(written, stemmed)
        return written or stemmed


def known_language(language: str) -> bool:
    """Return whether the language has a ``meaning.toml``."""
    return base_language(language) in languages_with("meaning.toml")


def plain_word(word: str, language: str) -> str:
    """Return a word in lower case, Arabic without vowel signs and with one form of alef."""
    word = unicodedata.normalize("NFKC", word).lower().replace("’", "'")
    return _TASHKEEL.sub("", word).translate(_ARABIC) if language == "ar" else word


@lru_cache(maxsize=65536)
def stem(word: str, language: str) -> str:
    """Return the Snowball stem of a plain word; the word itself in a language without a stemmer."""
    if language == "ar":
        return _arabic_stem(word)
    found = base_stem(snowball(language)(word), language)
    endings, stems = _doers(language)
    if plain_letters(word).removeprefix(plain_letters(found)) in endings and (not stems or found in stems):
        found += "+doer"
    return plain_letters(found) if language in ("fr", "es", "it", "pt", "de") else found


@lru_cache(maxsize=65536)
def root(word: str, language: str) -> str:
    """Strip an ending of ``endings`` from a word: the same for "publish" and "publication"."""
    word = (
        _SEPARABLE.sub(r"\1\2", word.replace("ï", "i").replace("ë", "e"))
        if language in ("de", "nl")
        else word
    )
    for ending in _endings(language):
        if word.endswith(ending) and len(word) - len(ending) >= LEAST_ROOT:
            word = word[: -len(ending)]
            break
    else:
        return ""
    return plain_letters(word)


LEAST_ROOT = 4  # letters
# Participles and infinitives: "aufgenommen", "aufzunehmen", "gewechselt".
_SEPARABLE = re.compile(
    r"^(ab|an|auf|aus|ein|mit|nach|vor|zu|zurück|weg|los|fest|her|hin|um|durch|über|unter|af|op|uit|in|terug)?"
    r"(?:ge|zu|te)(\w{3,}(?:t|en|n|d))$"
)


@cache
def _doers(language: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return endings of agent nouns, which the stemmer removes ("insurer" is not "insured"), and stems.

    Where the ending is ambiguous, as German "er" is, only these stems form agent nouns with it.
    """
    data = tomllib.loads(language_data(language, "meaning.toml"))
    return _words(data, "doers", language), _words(data, "doing", language)


@cache
def _endings(language: str) -> tuple[str, ...]:
    data = tomllib.loads(language_data(language, "meaning.toml"))
    return tuple(sorted(_words(data, "endings", language), key=len, reverse=True))


def plain_letters(word: str) -> str:
    """Return a word without accents."""
    return "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c))


def _arabic_stem(word: str) -> str:
    """Stem lightly (Larkey's light10): strip article, prefixes and the most common endings."""
    for prefix in ("وبال", "وكال", "فبال", "وال", "بال", "كال", "فال", "ولل", "لل", "ال", "و", "ف"):
        if word.startswith(prefix) and len(word) - len(prefix) >= 3:
            word = word[len(prefix) :]
            break
    for prefix in ("ب", "ل", "ك"):
        if word.startswith(prefix) and len(word) >= 5:
            word = word[1:]
            break
    for suffix in ("هما", "ها", "ان", "ات", "ون", "ين", "يه", "هم", "ه", "ي", "ا", "ت"):
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            return word[: -len(suffix)]
    return word


# The sets of words that ``meaning.toml`` holds under the names of the lexicon's fields.
_WORD_SETS = [f.name for f in fields(Lexicon) if f.name != "first" and "frozenset" in str(f.type)]


@cache
def lexicon(language: str) -> Lexicon:
    """Return the language's words of meaning; empty for a language without data."""
    data = tomllib.loads(language_data(language, "meaning.toml"))
    phrases: dict[tuple[str, ...], Sense] = {}
    for key, sense in _entries(data, language):
        phrases[key] = _merged(phrases[key], sense) if key in phrases else sense
    several = [key for key in phrases if len(key) > (2 if key[0] == "~" else 1)]
    return Lexicon(
        language,
        phrases,
        max((len(key) - (key[0] == "~") for key in phrases), default=1),
        frozenset(key[1] if key[0] == "~" else key[0] for key in several),
        **{name: _words(data, name, language) for name in _WORD_SETS},
        final_particles=dict(pair.split("=") for pair in data.get("final_particles", "").split()),
        changes=dict(pair.split("=") for pair in data.get("changes", "").split("|") if pair),
    )


def _words(data: dict[str, str], name: str, language: str) -> frozenset[str]:
    return frozenset(
        plain_word(w, language) for w in (part.strip() for part in data.get(name, "").split("|")) if w
    )


def _entries(data: dict[str, dict[str, str]], language: str) -> Iterator[tuple[tuple[str, ...], Sense]]:
    for words in _phrases(str(data.get("function", "")), language):
        yield words, Sense(function=True)
    for category, values in data.get("markers", {}).items():
        for value, listed in values.items():  # type: ignore[attr-defined]
            for words in _phrases(listed, language):
                yield words, Sense(markers=(Marker(category, value),))
    for words in _phrases(str(data.get("light", "")), language) if language in UNSPACED_LANGUAGES else ():
        yield words, Sense()
    for table in ("poles", "opposites"):
        for pair, sides in data.get(table, {}).items():
            for side, listed in enumerate(sides):
                poles = (
                    {(pair, side), ("level", side)}
                    if pair in _LEVELS and language in _GRADED
                    else {(pair, side)}
                )
                for words in _phrases(listed, language):
                    yield _stemmed(words, language), Sense(poles=frozenset(poles))
    for number, listed in enumerate(str(data.get("synonyms", {}).get("groups", "")).split(";")):
        for words in _phrases(listed, language):
            yield _stemmed(words, language), Sense(synonyms=frozenset({number}))


def _stemmed(words: tuple[str, ...], language: str) -> tuple[str, ...]:
    return words if language in UNSPACED_LANGUAGES else ("~", *(stem(word, language) for word in words))


def _phrases(listed: str, language: str) -> Iterable[tuple[str, ...]]:
    for phrase in listed.split("|"):
        for form in _contracted(phrase.strip(), language):
            plain = plain_word(form, language)
            if language in UNSPACED_LANGUAGES:
                yield tuple(plain)
            elif plain.endswith("'") and len(plain) > 1:  # an elided word precedes a letter
                yield tuple(split_words(plain + "x")[:-1])
            else:
                yield tuple(split_words(plain))


_CONTRACTED = {" de": (" d'", " du", " des"), " que": (" qu'",), " à": (" au", " aux")}


def _contracted(phrase: str, language: str) -> Iterator[str]:
    """Yield a phrase, and its French contractions: "au-delà d'", "jusqu'au"."""
    if phrase:
        yield phrase
    for ending, others in _CONTRACTED.items() if language == "fr" else ():
        if phrase.endswith(ending) and " " in phrase:
            yield from (phrase.removesuffix(ending) + other for other in others)


_LETTER = "(?:[^\\W\\d_][\u0300-\u036f\u064b-\u0652\u0670\u0640]*)"
_WORD = re.compile(
    rf"(?:[A-Z]\.){{2,}}|{_LETTER}+-(?:in|de|la|du|sur|of|to|up|by)-{_LETTER}+|n['’]t\b|['’]s\b|{_LETTER}+\d[^\W_]*|{_LETTER}{{1,7}}['’](?![st]\b)(?=[^\W\d_])|{_LETTER}+?(?=n['’]t\b)|{_LETTER}+"
    r"|[<>≤≥⩽⩾~≈=×/%]|\d+",
    re.IGNORECASE,
)


def split_words(text: str) -> list[str]:
    """Return the words of a spaced language in lower case; clitics (``l'``, ``'s``, ``n't``) apart."""
    return [match[0] for match in word_matches(text)]


def word_matches(text: str) -> Iterator[re.Match[str]]:
    """Yield matches of words and of signs that carry meaning."""
    return _WORD.finditer(text)


def _merged(one: Sense, other: Sense) -> Sense:
    return Sense(
        tuple(dict.fromkeys(one.markers + other.markers)),
        one.poles | other.poles,
        one.synonyms | other.synonyms,
        one.function or other.function,
    )


# --- The language of a short text, by its script and its commonest words ---


_KANA = re.compile("[ぁ-んァ-ヴ]")
_HAN = re.compile("[一-鿿]")
_ARABIC_LETTERS = re.compile("[\u0621-\u064a]")
_OTHER_SCRIPT = re.compile("[\u0370-\u1fff\uac00-\ud7af]")
_LETTERS = re.compile(r"[^\W\d_]+")
SURE = 2  # more of its words than of any other language's


@cache
def _common_words() -> dict[str, frozenset[str]]:
    """Function words of each spaced language."""
    return {
        code: frozenset(
            key[0] for key, sense in lexicon(code).phrases.items() if sense.function and len(key) == 1
        )
        for code in sorted(languages_with("meaning.toml") - UNSPACED_LANGUAGES - {"ar"})
    }


@lru_cache(maxsize=4096)
def _counted(text: str) -> dict[str, int]:
    """Return how many function words of each spaced language a text has, each counted once."""
    words = set(_LETTERS.findall(text.lower()))
    return {code: sum(word in common for word in words) for code, common in _common_words().items()}


def may_be_in(text: str, language: str) -> bool:
    """Return whether a text has function words of the language, and of no other one more."""
    own = _counted(text).get(language, 0)
    return bool(own) and own == max(_counted(text).values())


@lru_cache(maxsize=4096)
def detected_language(text: str, default: str = "") -> str:
    """Return the ISO 639-1 code of the text's language, else ``default`` (BCP 47)."""
    if _KANA.search(text):
        return "ja"
    if _HAN.search(text):
        return "ja" if base_language(default) == "ja" else "zh"
    if _ARABIC_LETTERS.search(text):
        return "ar" if base_language(default) in ("", "ar") else base_language(default)
    default = base_language(default)
    if _OTHER_SCRIPT.search(text):
        return default
    counts = _counted(text)
    if default and default not in counts:
        return default
    best = max(counts, key=lambda code: (counts[code], code == default, code == "en"))
    if counts[best] >= counts.get(default, 0) + SURE or not default:
        return best if counts[best] else default or "en"
    return default
