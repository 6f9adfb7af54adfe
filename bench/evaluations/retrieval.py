"""`manage.py evaluate retrieval QUESTIONS.jsonl --pdfs DIR`: page-level recall, and an ablation."""

from __future__ import annotations

import statistics
import sys
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar
from uuid import UUID

import msgspec
from django.contrib.auth.models import User
from django.core.management.base import CommandError, OutputWrapper

from documents.management.commands.ingest import ingest_file
from retrieval.query.scope import Scope
from retrieval.results import Hit, SearchOptions, StrategyName
from retrieval.search import search

# Measures retrieval on questions whose right pages are known (FinanceBench's format).

Breadth = Literal["document", "library"]
Row = TypeVar("Row", bound=msgspec.Struct)
DEPTH = 40  # hits, enough for twenty pages


class RightPage(msgspec.Struct, frozen=True):
    """``evidence_page_num`` counts from 0, as FinanceBench does."""

    evidence_page_num: int
    doc_name: str = ""


class KnownQuestion(msgspec.Struct, frozen=True):
    """One line of the questions file; what else it holds is not read.

    ``sources`` says of what kind the answer's place is: text, a table, a chart, a figure, the layout.
    """

    question: str
    doc_name: str
    evidence: tuple[RightPage, ...]
    sources: tuple[str, ...] = ()

    def right_pages(self, library: Mapping[str, UUID]) -> set[tuple[UUID, int]]:
        """Return documents and page numbers from 1, without documents that are not in the library."""
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
class QuestionRank:
    """``rank`` of the first right page, from 1; 0 if it was not found."""

    question: KnownQuestion
    rank: int
    milliseconds: float


def read_lines(path: Path, kind: type[Row]) -> list[Row]:
    """Read a file with one JSON object per line. Raises CommandError."""
    try:
        lines = path.read_bytes().splitlines()
        return [msgspec.json.decode(line, type=kind) for line in lines if line.strip()]
    except (OSError, msgspec.MsgspecError) as error:
        raise CommandError(f"{path}: {error}") from None


def add_question_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("questions", type=Path, metavar="QUESTIONS.jsonl")
    parser.add_argument("--pdfs", type=Path, required=True, help="folder with <doc_name>.pdf")
    parser.add_argument("--scope", choices=["document", "library"], default="document")


def evaluate(
    questions: Sequence[KnownQuestion],
    user: User,
    library: Mapping[str, UUID],
    breadth: Breadth,
    off: frozenset[StrategyName] = frozenset(),
) -> list[QuestionRank]:
    """Ask each question of its own document, or of the whole library (documents by file stem)."""
    everything = Scope(user, document_ids=tuple(library.values()))
    outcomes = []
    for known in questions:
        own = (library[known.doc_name],) if known.doc_name in library else ()
        scope = Scope(user, document_ids=own) if breadth == "document" else everything
        result = search(known.question, scope, SearchOptions(limit=DEPTH, off=off))
        right = known.right_pages(library)
        pages = ranked_pages(result.hits)
        rank = next((at for at, page in enumerate(pages, 1) if page in right), 0)
        outcomes.append(QuestionRank(known, rank, result.milliseconds))
    return outcomes


def ranked_pages(hits: Sequence[Hit]) -> list[tuple[UUID, int]]:
    """Return the pages by their best hit. A hit counts for the page where it opens."""
    return list(dict.fromkeys((hit.document_id, hit.page) for hit in hits))


def scores_of(outcomes: Sequence[QuestionRank]) -> Scores:
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


EVALUATION_USER = "evaluation"
ABLATED: tuple[StrategyName, ...] = ("keyword", "vector", "context", "multi_query", "self_query", "rerank")
"""What runs without a language model; the others are off already. Without a model, ``multi_query`` is the
words of packs (``domains``)."""


class RetrievalEvaluation:
    name = "retrieval"
    help = "Page-level recall of the questions' right pages (FinanceBench's format)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_question_arguments(parser)
        parser.add_argument("--json", action="store_true", help="one line of JSON, no ablation")
        parser.add_argument(
            "--each", action="store_true", help="the rank of each question's first right page"
        )

    def run(self, out: OutputWrapper, **options: Any) -> None:
        questions = read_lines(options["questions"], KnownQuestion)
        user = evaluation_user()
        library = ingest_folder(user, wanted_files(options["pdfs"], questions, options["scope"]))
        outcomes = evaluate(questions, user, library, options["scope"])
        if options["json"]:
            out.write(msgspec.json.encode(scores_of(outcomes)).decode())
            return
        if options["each"]:
            for outcome in outcomes:
                out.write(line_of(outcome))
        out.write(row("", None))
        out.write(row("all strategies", scores_of(outcomes)))
        for source, of_source in by_source(outcomes):
            out.write(row(source[:20], scores_of(of_source)))
        for strategy in ABLATED:
            off = frozenset({strategy})
            out.write(
                row(
                    "without packs" if strategy == "multi_query" else f"without {strategy}",
                    scores_of(evaluate(questions, user, library, options["scope"], off)),
                )
            )


def by_source(outcomes: Sequence[QuestionRank]) -> list[tuple[str, list[QuestionRank]]]:
    """Return the outcomes by the kind of evidence, if the questions have it."""
    sources = sorted({source for outcome in outcomes for source in outcome.question.sources})
    return [
        (source, [outcome for outcome in outcomes if source in outcome.question.sources])
        for source in sources
    ]


def evaluation_user() -> User:
    """Return the owner of evaluation documents; nobody can log in as this user."""
    user, new = User.objects.get_or_create(username=EVALUATION_USER)
    if new:
        user.set_unusable_password()
        user.save()
    return user


def wanted_files(folder: Path, questions: list[KnownQuestion], breadth: str) -> list[Path]:
    """Return all PDF files of the folder for the library, else only those of the questions."""
    if breadth == "library":
        return sorted(folder.glob("*.pdf"))
    return [folder / f"{stem}.pdf" for stem in sorted({known.doc_name for known in questions})]


def ingest_folder(user: User, files: list[Path]) -> dict[str, UUID]:
    """Return the user's documents by file stem; ingest files that are missing or incomplete.

    Unreadable files are skipped, and the questions about them count as failed.
    """
    library: dict[str, UUID] = {}
    for number, path in enumerate(files, 1):
        say(f"{number}/{len(files)} {path.name}")
        line = ingest_file(user, path)
        if line.document:
            library[path.stem] = UUID(line.document)
        if line.failure:
            say(f"{path.name}: {line.failure}\n")
    say("")
    return library


def say(text: str) -> None:
    """Print progress to standard error; measurements are parsed from standard output."""
    sys.stderr.write(f"\r\x1b[K{text}")
    sys.stderr.flush()


def row(name: str, scores: Scores | None) -> str:
    head = ("questions", "R@1", "R@5", "R@10", "R@20", "MRR", "ms")
    values = head if scores is None else msgspec.structs.astuple(scores)
    return f"{name:<22}" + "".join(f"{value:>10}" for value in values)


def line_of(outcome: QuestionRank) -> str:
    return f"{outcome.rank:>4}  {outcome.question.doc_name}  {outcome.question.question[:120]}"
