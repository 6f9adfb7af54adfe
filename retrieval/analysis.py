"""Text to terms: one analysis for what is indexed and what is asked.

A term is a stem, a number, or a compound kept whole. Exact terms survive:
``10-K`` and ``10k`` are one term, ``p < 0.001`` and ``p<0.001`` another,
``1,577.00`` is ``1577``, ``long-term`` is findable as one word and as two,
``FY2018`` and ``FY18`` also as ``2018``. Chinese, Japanese and Korean, which set no spaces,
are cut into pairs of characters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence, Set
from itertools import chain
from typing import NamedTuple
from zlib import crc32

from Stemmer import Stemmer

from documents.pdf.collecting import forgotten_with_each
from retrieval.words import word_list

COMPOUND = re.compile(r"[^\W_]+(?:[-‐‑–&.,'’/<>=≤≥+:]+[^\W_]+)*")
BREAK = "\x01"
"""Between texts that travel as one; it stands in none of them."""
PART = re.compile(r"[^\W_]+")
NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
AROUND_AMOUNTS = "$€£¥()[]%,.;:*"
JOINING_MARKS = re.compile(r"[-‐‑–.,'’/:]")
POSSESSIVE = re.compile(r"['’]s?$|['’]s(?=[^\w])")
SHORT_FISCAL_YEAR = re.compile(r"(?:[qh][1-4])?[fc]y(\d\d)")
YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
QUARTER = re.compile(r"[qh][1-4](?!\d)")
RELATIONS = "<>=≤≥"
SPACED_RELATION = re.compile(r"(?<=\w)\s*([<>=≤≥])\s*(?=[\d.])")
IDEOGRAPHS = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]+")

WORDS_REMEMBERED = 100_000

FUNCTION_WORDS = frozenset(word_list("function"))

_stem = Stemmer("english", 0).stemWord  # what was analysed is remembered here, not once more there


class Token(NamedTuple):
    """A compound as it stands in the text, and the terms it is found by."""

    start: int
    end: int
    terms: tuple[str, ...]


def terms_of(text: str) -> list[str]:
    """All terms of the text, in order; function words are left out."""
    return list(chain.from_iterable(map(_terms_between_spaces.__getitem__, _folded(text).split())))


def terms_of_each(texts: Sequence[str]) -> list[list[str]]:
    """``terms_of`` of many short texts, folded together."""
    parts = _folded(BREAK.join(texts)).split(BREAK) if texts else []
    known = _terms_between_spaces.__getitem__
    return [list(chain.from_iterable(map(known, part.split()))) for part in parts]


def tokens_of(text: str, wanted: Set[str]) -> list[Token]:
    """The tokens that hold a wanted term, with their place in ``text``; for marking words."""
    words = text.split()
    telling = {word for word in set(words) if not wanted.isdisjoint(_terms_between_spaces[_folded(word)])}
    tokens: list[Token] = []
    end = 0
    for word in words:
        start = text.index(word, end)
        end = start + len(word)
        if word in telling:
            compounds = COMPOUND.finditer(text, start, end)
            found = [Token(*match.span(), tuple(terms_of(match[0]))) for match in compounds]
            tokens += [token for token in found if not wanted.isdisjoint(token.terms)]
    return tokens


def run_together(text: str, longest: int = 3) -> list[str]:
    """Neighbouring words written as one, as in file names and handles: 'Best Buy' → 'bestbuy'."""
    words = PART.findall(text.lower())
    return [
        "".join(words[at : at + size])
        for size in range(2, longest + 1)
        for at in range(len(words) - size + 1)
        if not all(word.isdigit() for word in words[at : at + size])
    ]


def term_number(term: str) -> int:
    """The term as a signed 32-bit number (CRC-32): a collision costs a little rank, nothing else."""
    number = crc32(term.encode())
    return number - (1 << 32) if number >= 1 << 31 else number


def _folded(text: str) -> str:
    if not text.isascii() and not unicodedata.is_normalized("NFKC", text):
        text = unicodedata.normalize("NFKC", text)
    text = text.lower()
    return SPACED_RELATION.sub(r"\1", text) if any(map(text.__contains__, RELATIONS)) else text


class _TermsBetweenSpaces(dict[str, tuple[str, ...]]):
    """Terms of a stretch of folded text without a space: mostly one compound and its punctuation.

    Cutting at spaces and looking up what was cut before is several times as fast as
    matching compounds in the text.
    """

    def __missing__(self, word: str) -> tuple[str, ...]:
        if len(self) >= WORDS_REMEMBERED:
            self.clear()
        bare = word.strip(AROUND_AMOUNTS)
        terms: tuple[str, ...]
        if NUMBER.fullmatch(bare):  # as most words are that were not seen before
            terms = (_number(bare),)
        elif bare.isascii() and bare.isalpha():  # and as most others are
            terms = () if bare in FUNCTION_WORDS else (_stem(bare),)
        else:
            found = (dict.fromkeys(_analyse(compound)) for compound in COMPOUND.findall(word))
            terms = tuple(chain.from_iterable(found))
        self[word] = terms
        return terms


_terms_between_spaces = _TermsBetweenSpaces()
forgotten_with_each(_terms_between_spaces.clear)


def _analyse(compound: str) -> Iterator[str]:
    if compound in FUNCTION_WORDS:
        return
    if NUMBER.fullmatch(compound):
        yield _number(compound)
    elif IDEOGRAPHS.search(compound):
        yield from _pairs(compound)
    elif compound.isalpha():
        yield _stem(compound)
    else:
        yield from _analyse_mixed(compound)


def _analyse_mixed(compound: str) -> Iterator[str]:
    """Words with a mark or digit inside: the whole, and each part that says something by itself."""
    compound = POSSESSIVE.sub("", compound)
    whole = JOINING_MARKS.sub("", compound)
    yield _stem(whole) if whole.isalpha() else whole
    parts = PART.findall(compound)
    for part in parts:
        if len(parts) > 1 and len(part) > 1 and part not in FUNCTION_WORDS and not part.isdigit():
            yield _stem(part)
        yield from _periods(part)
    for number in NUMBER.findall(compound):
        if len(number) > 2:
            yield _number(number)


def _periods(part: str) -> Iterator[str]:
    """``fy18`` is also ``2018``; ``fy2023q1`` also ``2023`` and ``q1``."""
    if short := SHORT_FISCAL_YEAR.fullmatch(part):
        yield f"20{short[1]}"
    elif year := YEAR.search(part):
        yield year[0]
        if quarter := QUARTER.search(part):
            yield quarter[0]


def _number(text: str) -> str:
    text = text.replace(",", "")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _pairs(text: str) -> Iterator[str]:
    for run in IDEOGRAPHS.findall(text):
        yield from (run[at : at + 2] for at in range(max(1, len(run) - 1)))
    for rest in PART.findall(IDEOGRAPHS.sub(" ", text)):
        yield _stem(rest)
