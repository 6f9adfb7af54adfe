"""Terms of a text by its language: what is indexed and what is looked up.

A term is a stem without accents, a number, a compound kept whole, or a pair of characters of a script
that sets no spaces. Exact terms survive: ``10-K`` and ``10k`` are one term, ``p < 0.001`` and
``p<0.001`` another, ``1,577.00`` is ``1577``, ``long-term`` is found as one word and as two, ``FY2018``
and ``FY18`` also as ``2018``. Stems are Snowball's (PyStemmer), of irregular forms those of their base
(``text/languages/<code>/irregular.txt``); stop words stand in ``stopwords.txt`` beside it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from functools import cache
from itertools import chain
from typing import NamedTuple

from Stemmer import Stemmer

from text.languages import base_language, language_data, languages_with
from text.numbers import YEAR, mark_of_language, plain_digits

COMPOUND = re.compile(r"[^\W_]+(?:[-‐‑–&.,'’/<>=≤≥+:]+[^\W_]+)*")
PART = re.compile(r"[^\W_]+")
NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
NUMBER_WITH_COMMA = re.compile(r"\d{1,3}(?:\.\d{3})+(?:,\d+)?|\d+,\d+")
AROUND_AMOUNTS = "$€£¥()[]%,.;:*"
JOINING_MARKS = re.compile(r"[-‐‑–.,'’/:]")
POSSESSIVE = re.compile(r"['’]s?$|['’]s(?=[^\w])")
ELISION = re.compile(r"^(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu|dell|all|dall|nell|sull|un|quest)['’](?=\w)")
SHORT_FISCAL_YEAR = re.compile(r"(?:[qh][1-4])?[fc]y(\d\d)")
QUARTER = re.compile(r"[qh][1-4](?!\d)")
RELATIONS = "<>=≤≥"
SPACED_RELATION = re.compile(r"(?<=\w)\s*([<>=≤≥])\s*(?=[\d.])")
BREAK = "\x01"
"""Between texts that are analysed in one go; no text holds it."""

# Scripts written without spaces: kana, Han, Hangul (whose words take endings that no stemmer here
# knows), Thai, Lao, Burmese, Khmer.
UNSPACED = re.compile(
    r"[\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af"
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff々〆ー]+"
)
ACCENTED_SCRIPTS_END = "\u0700"
"""Latin, Greek, Cyrillic, Hebrew and Arabic stand below; the marks of scripts above are letters."""
NO_DECOMPOSITION = str.maketrans(
    {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i", "ـ": ""}
)
DIGITS = str.maketrans(
    {
        chr(zero + digit): str(digit)
        for zero in (0x660, 0x6F0, 0x966, 0x9E6, 0xE50)  # Arabic, Persian, Devanagari, Bengali, Thai
        for digit in range(10)
    }
)
OTHER_DIGIT = re.compile("[{}]".format("".join(map(chr, DIGITS))))
LONGEST_TERM = 200
"""Characters; no language has a word of that length, and PostgreSQL takes lexemes of up to 2 KB."""
WORDS_REMEMBERED = 100_000

SNOWBALL = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek",
    "en": "english", "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian",
    "fi": "finnish", "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian",
    "hy": "armenian", "id": "indonesian", "it": "italian", "lt": "lithuanian", "ne": "nepali",
    "nl": "dutch", "no": "norwegian", "pl": "polish", "pt": "portuguese", "ro": "romanian",
    "ru": "russian", "sr": "serbian", "sv": "swedish", "ta": "tamil", "tr": "turkish",
    "yi": "yiddish",
}  # fmt: skip
DEFAULT_LANGUAGE = "en"


class IndexedToken(NamedTuple):
    """A compound as it stands in the text, and the terms it is found by."""

    start: int
    end: int
    terms: tuple[str, ...]


@cache
def stop_words(language: str) -> frozenset[str]:
    """Function words of a language, folded; empty where there is no list."""
    lines = language_data(language, "stopwords.txt").splitlines()
    words = " ".join(line for line in lines if not line.startswith("#")).split()
    return frozenset(chain.from_iterable((word, folded_accents(word)) for word in map(folded, words)))


def likely_language(text: str, languages: Iterable[str]) -> str:
    """Return the one of ``languages`` with most function words in the text; the earlier of equals.

    For questions, which are too short for statistics of letters.
    """
    words = PART.findall(folded(text))
    candidates = list(languages)
    counts = [sum(word in stop_words(code) for word in words) for code in candidates]
    most = max(counts, default=0)
    return candidates[counts.index(most)] if candidates else DEFAULT_LANGUAGE


def terms_of(text: str, language: str = DEFAULT_LANGUAGE) -> list[str]:
    """Return all terms of the text, in order; function words are left out."""
    known = analyzer(language).between_spaces.__getitem__
    return list(chain.from_iterable(map(known, folded(text).split())))


def terms_of_each(texts: Sequence[str], language: str = DEFAULT_LANGUAGE) -> list[list[str]]:
    """Return ``terms_of`` of many short texts, folded together."""
    parts = folded(BREAK.join(texts)).split(BREAK) if texts else []
    known = analyzer(language).between_spaces.__getitem__
    return [list(chain.from_iterable(map(known, part.split()))) for part in parts]


def tokens_of(text: str, wanted: Set[str], language: str = DEFAULT_LANGUAGE) -> list[IndexedToken]:
    """Return the tokens that hold a wanted term, with their place in ``text``; for marking words."""
    known = analyzer(language).as_written
    telling = (word for word in set(text.split()) if not wanted.isdisjoint(known[word]))
    spans = sorted(chain.from_iterable(_spans_of(word, text) for word in telling))
    return list(chain.from_iterable(_wanted_in(text, *span, wanted, language) for span in spans))


def _spans_of(word: str, text: str) -> Iterator[tuple[int, int]]:
    """Yield where the word stands between spaces or ends of the text."""
    start = text.find(word)
    while start >= 0:
        end = start + len(word)
        if not text[start - 1 : start].strip() and not text[end : end + 1].strip():
            yield start, end
        start = text.find(word, end)


def _wanted_in(text: str, start: int, end: int, wanted: Set[str], language: str) -> Iterator[IndexedToken]:
    """Tokens of one stretch without a space; of an unspaced script those pairs that are wanted."""
    for match in COMPOUND.finditer(text, start, end):
        if UNSPACED.search(match[0]):
            yield from _wanted_pairs(match, wanted, language)
        elif not wanted.isdisjoint(terms := tuple(terms_of(match[0], language))):
            yield IndexedToken(*match.span(), terms)


def _wanted_pairs(compound: re.Match[str], wanted: Set[str], language: str) -> Iterator[IndexedToken]:
    """Neighbouring wanted pairs are joined, so that a word is marked as one."""
    start, end = 0, 0
    terms: list[str] = []
    text, shift = compound[0], compound.start()
    for at in range(len(text)):
        pair = tuple(terms_of(text[at : at + 2], language))
        if wanted.isdisjoint(pair):
            continue
        if terms and at > end:
            yield IndexedToken(start + shift, end + shift, tuple(terms))
            terms = []
        start, end, terms = (start if terms else at), min(at + 2, len(text)), [*terms, *pair]
    if terms:
        yield IndexedToken(start + shift, end + shift, tuple(terms))


COMPOUND_LINKS = {
    "de": ("", "s", "es", "n", "en", "e", "er"), "nl": ("", "s", "e", "en", "er"),
    "sv": ("", "s", "e", "o"), "da": ("", "s", "e"), "no": ("", "s", "e"),
}  # fmt: skip
"""Languages that write compounds as one word, and the letters they put between the two parts."""
LEAST_PART = 4  # letters


def compounds_in(text: str, language: str) -> list[tuple[str, ...]]:
    """Return every way to read a word of the text as a compound of two: the terms of both parts.

    Which of them are words is told by the documents: 'Zahlungsfrist' is found as 'Zahlung' and 'Frist'.
    """
    links = COMPOUND_LINKS.get(base_language(language), ())
    words = dict.fromkeys(word for word in PART.findall(folded(text)) if word.isalpha()) if links else ()
    found = []
    for word in words:
        for at in range(LEAST_PART, len(word) - LEAST_PART + 1):
            for link in links:
                first = word[:at].removesuffix(link)
                if word[:at] == first + link and len(first) >= LEAST_PART:
                    found.append((*terms_of(first, language), *terms_of(word[at:], language)))
    return [parts for parts in dict.fromkeys(found) if len(parts) > 1]


def run_together(text: str, longest: int = 3) -> list[str]:
    """Neighbouring words written as one, as in file names and handles: 'Best Buy' → 'bestbuy'."""
    words = PART.findall(text.lower())
    return [
        "".join(words[at : at + size])
        for size in range(2, longest + 1)
        for at in range(len(words) - size + 1)
        if not all(word.isdigit() for word in words[at : at + size])
    ]


def one_line(text: str) -> str:
    """Return the text with each run of white space as one space."""
    return " ".join(text.split())


def folded(text: str) -> str:
    """Return the text in NFKC and lower case, with ASCII digits and no space around a relation."""
    if not text.isascii():
        if not unicodedata.is_normalized("NFKC", text):
            text = unicodedata.normalize("NFKC", text)
        if OTHER_DIGIT.search(text):
            text = text.translate(DIGITS)
    text = text.lower()
    return SPACED_RELATION.sub(r"\1", text) if any(map(text.__contains__, RELATIONS)) else text


def folded_accents(term: str) -> str:
    """Return the term without accents and vowel points, in scripts where these are marks on a letter."""
    if term.isascii() or (max(term) >= ACCENTED_SCRIPTS_END and UNSPACED.search(term)):
        return term
    letters = unicodedata.normalize("NFD", term.translate(NO_DECOMPOSITION))
    kept = (char for char in letters if char >= ACCENTED_SCRIPTS_END or not unicodedata.combining(char))
    return unicodedata.normalize("NFC", "".join(kept))


@cache
def snowball(language: str) -> Callable[[str], str]:
    """Return the function that gives a word's Snowball stem; the word itself where there is no stemmer."""
    return Stemmer(SNOWBALL[language], 0).stemWord if language in SNOWBALL else str


@cache
def _irregular(language: str) -> tuple[dict[str, str], tuple[str, ...]]:
    """Stems of irregular forms and those of their base ("nahm": "nehm"), and the prefixes verbs may have."""
    found: dict[str, str] = {}
    prefixes: tuple[str, ...] = ()
    stem = snowball(language)
    for line in language_data(language, "irregular.txt").splitlines():
        if line.startswith("prefixes:"):
            prefixes = tuple(sorted(line.split()[1:], key=len, reverse=True))
        elif line and not line.startswith("#"):
            base, *forms = map(stem, line.split())
            found |= {form: base for form in forms if form != base}
    return found, prefixes


def base_stem(found: str, language: str) -> str:
    """Return the stem of an irregular form's base: that of "aufnehmen" for "aufnahm"; else the stem."""
    forms, prefixes = _irregular(language)
    if found in forms:
        return forms[found]
    rests = ((p, found.removeprefix(p)) for p in prefixes if found.startswith(p))
    return next((p + forms[rest] for p, rest in rests if rest in forms), found)


class Analyzer:
    """The analysis of one language. Words met before are remembered: most of a text has been."""

    def __init__(self, language: str) -> None:
        self.stop_words = stop_words(language)
        self.language = language
        self.decimal_mark = mark_of_language(language) or ","
        self._snowball = snowball(language)
        self.between_spaces = _TermsBetweenSpaces(self)
        self.as_written = _TermsAsWritten(self.between_spaces)

    def stems(self, word: str) -> tuple[str, ...]:
        """Return the stem without accents; for an accented word also that of the word typed without them."""
        stem = self._stem(word)
        if word.isascii():
            return (stem,)
        bare = folded_accents(word)
        return tuple(dict.fromkeys((folded_accents(stem), folded_accents(self._stem(bare)))))

    def _stem(self, word: str) -> str:
        return base_stem(self._snowball(word), self.language)

    def analyse(self, compound: str) -> Iterator[str]:
        """Terms of one compound of folded text."""
        if compound in self.stop_words:
            return
        if number := self.number(compound):
            yield number
        elif UNSPACED.search(compound):
            yield from self._pairs(compound)
        elif compound.isalpha():
            yield from self.stems(compound)
        else:
            yield from self._analyse_mixed(compound)

    def number(self, text: str) -> str:
        """Return the number with a decimal point and no zeros behind it; '' for what is none."""
        with_comma = self.decimal_mark == "," and NUMBER_WITH_COMMA.fullmatch(text)
        if not with_comma and not NUMBER.fullmatch(text):
            return ""
        digits = plain_digits(text, self.decimal_mark)
        return digits.rstrip("0").rstrip(".") if "." in digits else digits

    def _analyse_mixed(self, compound: str) -> Iterator[str]:
        """Yield words with a mark or digit inside: the whole, and each part that is a word."""
        compound = ELISION.sub("", POSSESSIVE.sub("", compound))
        if compound in self.stop_words:
            return
        whole = JOINING_MARKS.sub("", compound)
        yield from self.stems(whole) if whole.isalpha() else (whole,)
        parts = PART.findall(compound)
        for part in parts:
            if len(parts) > 1 and len(part) > 1 and part not in self.stop_words and not part.isdigit():
                yield from self.stems(part)
            yield from _periods(part)
        for number in NUMBER.findall(compound):
            if len(number) > 2:
                yield self.number(number)

    def _pairs(self, compound: str) -> Iterator[str]:
        for run in UNSPACED.findall(compound):
            pairs = (run[at : at + 2] for at in range(max(1, len(run) - 1)))
            yield from (pair for pair in pairs if pair not in self.stop_words)
        for rest in PART.findall(UNSPACED.sub(" ", compound)):
            yield from self.analyse(rest)


class _TermsBetweenSpaces(dict[str, tuple[str, ...]]):
    """Terms of a stretch of folded text without a space: mostly one compound and its punctuation.

    Cutting at spaces and looking up what was cut before is several times as fast as
    matching compounds in the text.
    """

    def __init__(self, analyzer: Analyzer) -> None:
        self.analyzer = analyzer

    def __missing__(self, word: str) -> tuple[str, ...]:
        if len(self) >= WORDS_REMEMBERED:
            self.clear()
        bare = word.strip(AROUND_AMOUNTS)
        terms: tuple[str, ...]
        if number := self.analyzer.number(bare):  # as most words are that were not seen before
            terms = (number[:LONGEST_TERM],)
        elif bare.isascii() and bare.isalpha():  # and as most others are
            known = bare in self.analyzer.stop_words
            terms = () if known else tuple(stem[:LONGEST_TERM] for stem in self.analyzer.stems(bare))
        else:
            found = (dict.fromkeys(self.analyzer.analyse(compound)) for compound in COMPOUND.findall(word))
            terms = tuple(term[:LONGEST_TERM] for term in chain.from_iterable(found))
        self[word] = terms
        return terms


class _TermsAsWritten(dict[str, frozenset[str]]):
    """Terms of a stretch without a space as it stands in the text, which may be several when folded."""

    def __init__(self, known: _TermsBetweenSpaces) -> None:
        self.known = known

    def __missing__(self, word: str) -> frozenset[str]:
        if len(self) >= WORDS_REMEMBERED:
            self.clear()
        self[word] = terms = frozenset(chain.from_iterable(map(self.known.__getitem__, folded(word).split())))
        return terms


_analyzers: dict[str, Analyzer] = {}


def analyzer(language: str) -> Analyzer:
    """Return the analyzer of a language code; English's where the code is empty or unknown."""
    if (found := _analyzers.get(language)) is None:
        base = {"nb": "no", "nn": "no"}.get(base_language(language), base_language(language))
        known = base in SNOWBALL or base in languages_with("stopwords.txt")
        found = _analyzers.setdefault(language, Analyzer(base if known else DEFAULT_LANGUAGE))
    return found


def forget_words() -> None:
    """Drop the words remembered by all analyzers; memory comes back between large documents."""
    for known in _analyzers.values():
        known.between_spaces.clear()
        known.as_written.clear()


def _periods(part: str) -> Iterator[str]:
    """Yield further forms: ``fy18`` is also ``2018``; ``fy2023q1`` also ``2023`` and ``q1``."""
    if short := SHORT_FISCAL_YEAR.fullmatch(part):
        yield f"20{short[1]}"
    elif year := YEAR.search(part):
        yield year[0]
        if quarter := QUARTER.search(part):
            yield quarter[0]
