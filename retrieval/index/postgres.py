"""PostgreSQL's full-text values (tsvector, tsquery) from our own terms, and prepared queries."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from typing import Any, TypeVar
from zlib import crc32

from django.db import connections, router
from django.db.backends.base.base import BaseDatabaseWrapper

from documents.models import RetrievalChunk
from pdf.gc_control import cleared_with_memory
from text.terms import WORDS_REMEMBERED, forget_words

Value = TypeVar("Value")
WEIGHTS = {"A": 3, "B": 2, "C": 1, "D": 0}
MOST_POSITIONS = 255  # of one lexeme
LAST_POSITION = 16_383
LONGEST_LEXEME = 2_000  # bytes; PostgreSQL takes 2,046
FIELD_GAP = 10
"""Positions between two fields, so that no phrase reaches from one into the next."""


def tsvector(fields: Iterable[tuple[str, Sequence[str]]]) -> bytes:
    """Return a tsvector for COPY BINARY. ``fields``: weight 'A' to 'D', and its terms in order."""
    places: dict[str, list[int]] = {}
    of_term = places.setdefault
    start = 0
    for weight, terms in fields:
        mark = WEIGHTS[weight] << 14
        end = min(start + len(terms), LAST_POSITION)
        for position, term in enumerate(terms[: end - start], start + 1):
            of_term(term, []).append(position | mark)
        for term in terms[end - start :]:  # after the last position that PostgreSQL stores
            found = of_term(term, [])
            if not found or found[-1] & LAST_POSITION < LAST_POSITION:
                found.append(LAST_POSITION | mark)
        start = min(end + FIELD_GAP, LAST_POSITION)
    parts = [struct.pack(">i", len(places))]
    add = parts.append
    for term, marks in places.items():
        add(_LEXEMES[term])
        if len(marks) == 1:  # as most have
            add(b"\0\1" + marks[0].to_bytes(2, "big"))
        else:
            kept = marks[:MOST_POSITIONS]
            add(_PLACES[len(kept)](len(kept), *kept))
    return b"".join(parts)


class _Remembered(dict[str, Value]):
    """What a function returns for each term."""

    def __init__(self, function: Callable[[str], Value]) -> None:
        self.function = function
        cleared_with_memory(self.clear)

    def __missing__(self, term: str) -> Value:
        if len(self) >= WORDS_REMEMBERED:
            self.clear()
        self[term] = value = self.function(term)
        return value


_LEXEMES = _Remembered(lambda term: term.encode()[:LONGEST_LEXEME] + b"\0")
_PLACES = [struct.Struct(f">H{count}H").pack for count in range(MOST_POSITIONS + 1)]


def lexeme(term: str, *, prefix: bool = False) -> str:
    """Return one operand of a tsquery."""
    quoted = term.replace("\\", "\\\\").replace("'", "''")
    return f"'{quoted}'" + (":*" if prefix else "")


def beginning_of_word(beginning: str) -> str:
    """Return a tsquery for stems of words that begin so: longer ones, and shorter ones that may be theirs.

    ``hallucinat``: of "hallucination" the stem is "hallucin".
    """
    shorter = (beginning[:length] for length in range(max(3, len(beginning) // 2), len(beginning)))
    return " | ".join([lexeme(beginning, prefix=True), *map(lexeme, shorter)])


def any_of(terms: Iterable[str]) -> str:
    """Return a tsquery that matches any of the terms; '' without terms."""
    operands = " | ".join(map(lexeme, terms))
    return f"({operands})" if operands else ""


def phrase(terms: Sequence[str]) -> str:
    """Return a tsquery for adjacent terms in this order."""
    return f"({' <-> '.join(map(lexeme, terms))})"


def at_least(count: int, groups: Sequence[Sequence[str]]) -> str:
    """Return a tsquery that matches if ``count`` of the groups have a term."""
    chosen = (" & ".join(map(any_of, some)) for some in combinations(groups, count))
    return " | ".join(f"({part})" for part in chosen)


# Rows of queries that every search makes.


def reader() -> BaseDatabaseWrapper:
    """Return the connection for the search's reads: the primary's or a replica's."""
    return connections[router.db_for_read(RetrievalChunk)]


def read_rows(query: str, params: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Return the rows of a query that is prepared unless its filters vary; bytes stay bytes."""
    with reader().prepared_cursor() as cursor:  # type: ignore[attr-defined]  # our own backend's
        cursor.execute(query, params)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows


# Terms as search stores them; the analysis itself is ``text.terms``.

cleared_with_memory(forget_words)


def _number(term: str) -> int:
    number = crc32(term.encode())
    return number - (1 << 32) if number >= 1 << 31 else number


term_number = _Remembered(_number).__getitem__
"""Return the term's signed CRC-32. A collision only makes the ranking a little less exact."""
