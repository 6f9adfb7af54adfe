"""What people call things, and what documents of a field call them (``domains/<pack>/synonyms.txt``).

A line at the margin names what is asked, separated by commas; the indented lines under it are how
documents write it, phrases separated by semicolons. No line says anything of one document.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from domains import pack_data, pack_names
from retrieval.analysis import terms_of
from text.languages import language_data

LONGEST_NAME = 5  # terms

Phrase = tuple[str, ...]


class Concept(NamedTuple):
    """``asked``: phrases that call it; ``written``: phrases that documents use. Phrases are terms."""

    asked: tuple[Phrase, ...]
    written: tuple[Phrase, ...]


@cache
def asking_words(language: str) -> frozenset[str]:
    """Terms of words that only tell how to answer, in a language; none where it has no list."""
    lines = language_data(language, "asking.txt").splitlines()
    words = " ".join(line for line in lines if not line.startswith("#"))
    return frozenset(terms_of(words, language))


ASKING_WORDS = asking_words("en")


@cache
def concepts(pack: str) -> tuple[Concept, ...]:
    return tuple(_read(pack))


def concepts_in(terms: Sequence[str], packs: Collection[str] | None = None) -> list[Concept]:
    """Concepts of the packs (all by default) that the terms call, by any name as consecutive terms."""
    sizes = range(1, LONGEST_NAME + 1)
    said = {tuple(terms[at : at + size]) for size in sizes for at in range(len(terms) - size + 1)}
    chosen = pack_names() if packs is None else packs
    return [concept for pack in chosen for concept in concepts(pack) if not said.isdisjoint(concept.asked)]


def _read(pack: str) -> Iterator[Concept]:
    asked, written = "", ""
    for line in [*pack_data(pack, "synonyms.txt").splitlines(), ""]:
        if line.startswith(" "):
            written += line
            continue
        if written:
            yield Concept(_phrases(asked, ","), _phrases(written, ";"))
        asked, written = line, ""


def _phrases(text: str, separator: str) -> tuple[Phrase, ...]:
    return tuple(phrase for part in text.split(separator) if (phrase := tuple(terms_of(part))))
