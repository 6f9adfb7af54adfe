"""What in a candidate speaks of the question: unit by unit, term by term."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from retrieval.analysis import terms_of_each
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
    unit_terms = terms_of_each(candidate.contents)
    present = {term for terms in unit_terms for term in terms}
    whole = f" {' '.join(term for terms in unit_terms for term in [*terms, '|'])} "
    text = candidate.text.casefold() if question.quoted else ""
    return Evidence(
        coverage=covered(question, present, rarity),
        phrases=share(f" {' '.join(phrase)} " in whole for phrase in question.phrases),
        quoted=share(words.casefold() in text for words in question.quoted),
        unit_scores=tuple(unit_score(question, terms, rarity) for terms in unit_terms),
    )


def covered(question: Question, present: set[str], rarity: Mapping[str, float]) -> float:
    own = {term: rarity[term] for term in question.own_terms if term in rarity}
    total = sum(own.values())
    return sum(value for term, value in own.items() if term in present) / total if total else 0.0


def share(found: Iterable[bool]) -> float:
    marks = list(found)
    return sum(marks) / len(marks) if marks else 0.0


def unit_score(question: Question, terms: list[str], rarity: Mapping[str, float]) -> float:
    """Σ weight · idf of the question's terms in the unit, pivoted by length; a row's label counts more."""
    if not terms:
        return 0.0
    score = sum(
        question.weights[term] * rarity.get(term, 0.0) for term in set(terms) & question.weights.keys()
    )
    if score and any(begins_with(terms, phrase) for phrase in question.phrases_from(terms[0])):
        score *= ROW_LABEL_BONUS
    return score / (1 + max(0, len(terms) - LENGTH_PIVOT) / (4 * LENGTH_PIVOT))


def begins_with(terms: list[str], phrase: Phrase) -> bool:
    return tuple(terms[: len(phrase)]) == phrase
