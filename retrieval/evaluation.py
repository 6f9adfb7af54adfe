"""Measures retrieval on questions whose right pages are known (FinanceBench's format)."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec
from django.contrib.auth.models import AbstractBaseUser, User

from documents.models import Document
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
    """One line of the questions file; what else it holds is not read."""

    question: str
    doc_name: str
    evidence: tuple[Evidence, ...]

    @property
    def right_pages(self) -> set[tuple[str, int]]:
        """File stem and page number from 1."""
        return {(found.doc_name or self.doc_name, found.evidence_page_num + 1) for found in self.evidence}


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
    user: User | AbstractBaseUser,
    breadth: Breadth,
    off: frozenset[StrategyName] = frozenset(),
    on_question: Callable[[Outcome], None] | None = None,
) -> list[Outcome]:
    """Asks each question of its own document, or of all the user's documents."""
    stems = {document_id: Path(name).stem for document_id, name in _names(user)}
    ids = {stem: document_id for document_id, stem in stems.items()}
    outcomes = []
    for known in questions:
        document_id = ids.get(known.doc_name)
        only = () if document_id is None else (document_id,)
        scope = Scope(user, document_ids=only if breadth == "document" else None)  # type: ignore[arg-type]
        result = search(known.question, scope, SearchOptions(limit=DEPTH, off=off))
        pages = ranked_pages(result.hits, stems)
        rank = next((at for at, page in enumerate(pages, 1) if page in known.right_pages), 0)
        outcomes.append(Outcome(known, rank, result.milliseconds))
        if on_question:
            on_question(outcomes[-1])
    return outcomes


def _names(user: User | AbstractBaseUser) -> Iterable[tuple[object, str]]:
    return Document.objects.visible_to(user).values_list("pk", "original_name")  # type: ignore[arg-type]


def ranked_pages(hits: Sequence[Hit], stems: dict) -> list[tuple[str, int]]:
    """Pages by the best hit that covers them; of one hit, the page it opens at comes first."""
    pages: dict[tuple[str, int], None] = {}
    for hit in hits:
        pages.setdefault((stems[hit.document_id], hit.page))
    return list(pages)


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
