"""What in a candidate speaks of the question: unit by unit, term by term."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from retrieval.candidates import Candidate
from retrieval.lexicon import Phrase
from retrieval.questions import Question

LENGTH_PIVOT = 30  # terms; a longer unit must match more to count as much
WRITTEN_SHARE = 0.5
ROW_LABEL_BONUS = 1.5


@dataclass(frozen=True, slots=True)
class Evidence:
    """How a candidate meets a question; every number is in 0..1 but ``unit_scores``.

    Attributes:
        coverage: share of the question's own telling terms that stand in it, weighed by rarity.
        phrases: share of the written phrases that stand in it word for word.
        quoted: share of what the person put in quotation marks that stands in it.
        unit_scores: for each unit of the candidate, how much it says by itself.
    """

    coverage: float
    phrases: float
    quoted: float
    unit_scores: tuple[float, ...]

    @property
    def best_unit(self) -> float:
        return max(self.unit_scores, default=0.0)


def weigh_evidence(question: Question, candidate: Candidate, rarity: Mapping[str, float]) -> Evidence:
    """``rarity``: idf of the question's terms in scope; terms that stand nowhere are absent."""
    said = [question.weights.keys() & terms for terms in candidate.terms]
    present = set[str]().union(*said)
    text = candidate.text.casefold() if question.quoted else ""
    return Evidence(
        coverage=covered(question, present, rarity),
        phrases=phrases_in(candidate, question, present),
        quoted=share(words.casefold() in text for words in question.quoted),
        unit_scores=unit_scores(question, candidate.terms, said, rarity),
    )


def phrases_in(candidate: Candidate, question: Question, present: Set[str]) -> float:
    """The share of the written phrases that stand in one unit of it, word beside word.

    ``present``: those of the question's terms that stand in the candidate at all.
    """
    likely = [phrase for phrase in question.phrases if present >= set(phrase)]
    if not likely:
        return 0.0
    whole = f" {' | '.join(map(' '.join, candidate.terms))} "
    return sum(f" {' '.join(phrase)} " in whole for phrase in likely) / len(question.phrases)


def covered(question: Question, present: Set[str], rarity: Mapping[str, float]) -> float:
    own = {term: rarity[term] for term in question.own_terms if term in rarity}
    total = sum(own.values())
    return sum(value for term, value in own.items() if term in present) / total if total else 0.0


def share(found: Iterable[bool]) -> float:
    marks = list(found)
    return sum(marks) / len(marks) if marks else 0.0


def unit_scores(
    question: Question, units: Sequence[list[str]], said: Sequence[Set[str]], rarity: Mapping[str, float]
) -> tuple[float, ...]:
    """Of each unit Σ weight · idf of the question's terms in it; length counts against it, a label for it.

    ``units``: the terms of each; ``said``: those of them that the question has.
    """
    worth = {term: weight * rarity.get(term, 0.0) for term, weight in question.weights.items()}
    return tuple(
        sum(map(worth.__getitem__, own)) * _form(question, terms) if own else 0.0
        for terms, own in zip(units, said, strict=True)
    )


def _form(question: Question, terms: list[str]) -> float:
    """What a unit's length, and the label it begins with, make of what it says."""
    phrases = question.phrases_from(terms[0])
    labelled = phrases and any(begins_with(terms, phrase) for phrase in phrases)
    form = ROW_LABEL_BONUS if labelled else 1.0
    excess = len(terms) - LENGTH_PIVOT
    return form / (1 + excess / (4 * LENGTH_PIVOT)) if excess > 0 else form


def begins_with(terms: list[str], phrase: Phrase) -> bool:
    return tuple(terms[: len(phrase)]) == phrase
