"""Measures retrieval on questions whose right pages are known (FinanceBench's format)."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from uuid import UUID

import msgspec
from django.contrib.auth.models import User

from retrieval.results import Hit, SearchOptions, StrategyName
from retrieval.scope import Scope
from retrieval.search import search

Breadth = Literal["document", "library"]
DEPTH = 40  # hits asked for, so that twenty pages come together


class Evidence(msgspec.Struct, frozen=True):
    """``evidence_page_num`` counts from 0, as FinanceBench does."""

    evidence_page_num: int
    doc_name: str = ""


class KnownQuestion(msgspec.Struct, frozen=True):
    """One line of the questions file; what else it holds is not read.

    ``sources`` says of what kind the answer's place is: text, a table, a chart, a figure, the layout.
    """

    question: str
    doc_name: str
    evidence: tuple[Evidence, ...]
    sources: tuple[str, ...] = ()

    def right_pages(self, library: Mapping[str, UUID]) -> set[tuple[UUID, int]]:
        """Documents and page numbers from 1; what is not in the library is left out."""
        pages = ((found.doc_name or self.doc_name, found.evidence_page_num + 1) for found in self.evidence)
        return {(library[stem], page) for stem, page in pages if stem in library}


class Scores(msgspec.Struct, frozen=True):
    """Shares of questions whose first right page is among the first k; mean reciprocal rank; median ms."""

    questions: int
    recall_1: float = msgspec.field(name="R@1")
    recall_5: float = msgspec.field(name="R@5")
    recall_10: float = msgspec.field(name="R@10")
    recall_20: float = msgspec.field(name="R@20")
    mean_reciprocal_rank: float = msgspec.field(name="MRR")
    milliseconds: float = msgspec.field(name="ms")


@dataclass(frozen=True, slots=True)
class Outcome:
    """``rank`` of the first right page, from 1; 0 when it did not come."""

    question: KnownQuestion
    rank: int
    milliseconds: float


def read_questions(path: Path) -> list[KnownQuestion]:
    """Raises OSError, msgspec.DecodeError."""
    lines = path.read_bytes().splitlines()
    return [msgspec.json.decode(line, type=KnownQuestion) for line in lines if line.strip()]


def evaluate(
    questions: Sequence[KnownQuestion],
    user: User,
    library: Mapping[str, UUID],
    breadth: Breadth,
    off: frozenset[StrategyName] = frozenset(),
) -> list[Outcome]:
    """Asks each question of its own document, or of the whole library (documents by file stem)."""
    everything = Scope(user, document_ids=tuple(library.values()))
    outcomes = []
    for known in questions:
        own = (library[known.doc_name],) if known.doc_name in library else ()
        scope = Scope(user, document_ids=own) if breadth == "document" else everything
        result = search(known.question, scope, SearchOptions(limit=DEPTH, off=off))
        right = known.right_pages(library)
        pages = ranked_pages(result.hits)
        rank = next((at for at, page in enumerate(pages, 1) if page in right), 0)
        outcomes.append(Outcome(known, rank, result.milliseconds))
    return outcomes


def ranked_pages(hits: Sequence[Hit]) -> list[tuple[UUID, int]]:
    """Pages by the best hit on them. A hit's words stand on one page: the one it opens at."""
    return list(dict.fromkeys((hit.document_id, hit.page) for hit in hits))


def scores_of(outcomes: Sequence[Outcome]) -> Scores:
    ranks = [outcome.rank for outcome in outcomes]
    count = len(ranks) or 1

    def recall(depth: int) -> float:
        return round(sum(0 < rank <= depth for rank in ranks) / count, 4)

    return Scores(
        questions=len(ranks),
        recall_1=recall(1),
        recall_5=recall(5),
        recall_10=recall(10),
        recall_20=recall(20),
        mean_reciprocal_rank=round(sum(1 / rank for rank in ranks if rank) / count, 4),
        milliseconds=round(statistics.median(o.milliseconds for o in outcomes) if outcomes else 0.0, 2),
    )
