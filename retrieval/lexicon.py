"""What people call things, and what documents call them (``retrieval/words``).

General knowledge of fields whose questions and pages use different words. No
line says anything of one document.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from retrieval.analysis import terms_of
from retrieval.words import lines_of, word_list

FIELDS = ("finance", "papers", "contracts")
LONGEST_NAME = 5  # terms

Phrase = tuple[str, ...]


class Concept(NamedTuple):
    """``asked``: phrases that call it; ``written``: phrases that documents use. Phrases are terms."""

    asked: tuple[Phrase, ...]
    written: tuple[Phrase, ...]


ASKING_WORDS = frozenset(terms_of(" ".join(word_list("asking"))))


@cache
def concepts() -> tuple[Concept, ...]:
    return tuple(concept for field in FIELDS for concept in _read(field))


def concepts_in(terms: Sequence[str]) -> list[Concept]:
    """Concepts that the terms call, by any of their names as consecutive terms."""
    sizes = range(1, LONGEST_NAME + 1)
    said = {tuple(terms[at : at + size]) for size in sizes for at in range(len(terms) - size + 1)}
    return [concept for concept in concepts() if not said.isdisjoint(concept.asked)]


def _read(field: str) -> Iterator[Concept]:
    asked, written = "", ""
    for line in [*lines_of(field), ""]:
        if line.startswith(" "):
            written += line
            continue
        if written:
            yield Concept(_phrases(asked, ","), _phrases(written, ";"))
        asked, written = line, ""


def _phrases(text: str, separator: str) -> tuple[Phrase, ...]:
    return tuple(phrase for part in text.split(separator) if (phrase := tuple(terms_of(part))))
