"""PostgreSQL's full-text values (tsvector, tsquery) from our own terms, and prepared queries."""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any
from zlib import crc32

from django.db import connections, router
from django.db.backends.base.base import BaseDatabaseWrapper

from documents.models import RetrievalChunk
from pdf.gc_control import cleared_with_memory
from text.terms import WORDS_REMEMBERED, forget_words

WEIGHTS = {"A": 3, "B": 2, "C": 1, "D": 0}
MOST_POSITIONS = 255  # of one lexeme
LAST_POSITION = 16_383
LONGEST_LEXEME = 2_000  # bytes; PostgreSQL takes 2,046
FIELD_GAP = 10
"""Positions between two fields, so that no phrase reaches from one into the next."""


def tsvector(fields: Iterable[tuple[str, Sequence[str]]]) -> bytes:
    """Return a tsvector for COPY BINARY. ``fields``: weight 'A' to 'D', and its terms in order."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    start = 0
    for weight, terms in fields:
        mark = WEIGHTS[weight] << 14
        end = min(start + len(terms), LAST_POSITION)
        for position, term in enumerate(terms[: end - start], start + 1):
            places[term].append(position | mark)
        for term in terms[end - start :]:  # after the last position that PostgreSQL stores
            found = places[term]
            if not found or found[-1] & LAST_POSITION < LAST_POSITION:
                found.append(LAST_POSITION | mark)
        start = min(end + FIELD_GAP, LAST_POSITION)
    parts = [struct.pack(">i", len(places))]
    for term, marks in places.items():
        kept = marks[:MOST_POSITIONS]
        parts += _LEXEMES[term], _PLACES[len(kept)](len(kept), *kept)
    return b"".join(parts)


class _Lexemes(dict[str, bytes]):
    """A cache of terms in the binary format of a tsvector."""

    def __missing__(self, term: str) -> bytes:
        if len(self) >= WORDS_REMEMBERED:
            self.clear()
        self[term] = written = term.encode()[:LONGEST_LEXEME] + b"\0"
        return written


_LEXEMES = _Lexemes()
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

__all__ = ["term_number"]

cleared_with_memory(forget_words)
cleared_with_memory(_LEXEMES.clear)


def term_number(term: str) -> int:
    """Return the term as a signed 32-bit number (CRC-32). A collision only makes the ranking a little less
    exact.
    """
    number = crc32(term.encode())
    return number - (1 << 32) if number >= 1 << 31 else number
