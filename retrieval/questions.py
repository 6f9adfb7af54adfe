"""A person's words as weighted terms: what keyword search looks for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from retrieval.analysis import run_together, terms_of
from retrieval.lexicon import ASKING_WORDS, Concept, Phrase, concepts_in

WRITTEN_WEIGHT = 0.5
MAX_WORDS = 400
MAX_CHARACTERS = 4_000
"""Words and characters of a question that are read; longer ones are whole pages pasted into the box."""


@dataclass(frozen=True)
class Question:
    """What to look for.

    Attributes:
        text: as typed, without control characters, at most ``MAX_WORDS`` words and ``MAX_CHARACTERS``.
        weights: terms and how much each matters, 1 for the person's own words.
        said: the terms of the text itself, without what the lexicon added.
        phrases: the written phrases of the concepts the question calls.
        quoted: what the person put in quotation marks, to be found word for word.
        names: terms that may name a document, run together as file names do (``bestbuy``).
    """

    text: str
    weights: dict[str, float]
    said: frozenset[str] = frozenset()
    phrases: tuple[Phrase, ...] = ()
    quoted: tuple[str, ...] = ()
    names: frozenset[str] = frozenset()

    @cached_property
    def _phrases_by_first(self) -> dict[str, list[Phrase]]:
        grouped: dict[str, list[Phrase]] = {}
        for phrase in self.phrases:
            grouped.setdefault(phrase[0], []).append(phrase)
        return grouped

    def phrases_from(self, term: str) -> list[Phrase]:
        """The written phrases that begin with the term."""
        return self._phrases_by_first.get(term, [])

    @cached_property
    def own_terms(self) -> list[str]:
        """The person's own telling terms."""
        return [term for term, weight in self.weights.items() if weight >= 1]


def understand(text: str) -> Question:
    """Reads a question. ``weights`` is empty when nothing in it can be looked for."""
    text = readable(text)
    terms = terms_of(text)
    concepts = concepts_in(terms)
    return Question(
        text=text,
        weights=weights_of(terms, concepts),
        said=frozenset(terms),
        phrases=tuple(dict.fromkeys(phrase for concept in concepts for phrase in concept.written)),
        quoted=tuple(re.findall(r"[\"“]([^\"“”]{3,300})[\"”]", text)),
        names=frozenset(run_together(text)),
    )


def readable(text: str) -> str:
    """Without NUL and other control characters, spaces in a row made one; what is too long is cut."""
    text = " ".join(text.split(maxsplit=MAX_WORDS)[:MAX_WORDS])[:MAX_CHARACTERS]
    text = "".join(char if char.isprintable() else " " for char in text)
    return " ".join(text.split()[:MAX_WORDS])


def weights_of(terms: Sequence[str], concepts: Sequence[Concept]) -> dict[str, float]:
    """Own words count 1, written phrases half.

    Words that only tell how to answer are left out: they are among the commonest
    of all, and cost more than they tell. Where there are no others, they count.
    """
    weights = dict.fromkeys((term for term in terms if term not in ASKING_WORDS), 1.0)
    for concept in concepts:
        for phrase in concept.written:
            for term in phrase:
                weights[term] = max(weights.get(term, 0.0), WRITTEN_WEIGHT)
    return weights or dict.fromkeys(terms, 1.0)
