"""`manage.py evaluate retrieval QUESTIONS.jsonl --pdfs DIR`: page-level recall, and an ablation."""

from __future__ import annotations

import statistics
import sys
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeVar
from uuid import UUID

import msgspec
import numpy as np
from django.contrib.auth.models import User
from django.core.management.base import CommandError, OutputWrapper
from numpy.typing import NDArray

from documents.management.commands.ingest import ingest_file
from documents.models import Document
from retrieval.index.full_text import open_index
from retrieval.query.plan import plan_search
from retrieval.query.question_terms import analyze_query
from retrieval.query.scope import Scope
from retrieval.ranking.features import unit_meanings
from retrieval.ranking.hits import best_order
from retrieval.ranking.rerankers import (
    NEAREST_DEPTH,
    UNIT_MEANING,
    WEIGHTS,
    feature_rows,
    scored_candidates,
)
from retrieval.results import Hit, SearchOptions, StrategyName, Trace
from retrieval.search import RERANKED, find, packs_for, search, summary_of

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


# `manage.py evaluate weights general=QUESTIONS.jsonl filings=… languages=… languages=…`

NAMES = (*WEIGHTS, "unit meaning")
CURRENT = np.array([*WEIGHTS.values(), UNIT_MEANING])

ROUNDS = 1500
STEP = 0.02
SHARPNESS = 4.0
"""A right page that leads by 1 is four e-folds ahead, as with the weights in the code."""
PULL = 0.02
"""Regularisation towards the weights in the code: some features occur in few questions."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """A question's candidates: their features (candidates × ``NAMES``), pages, and which are right."""

    features: NDArray[np.float64]
    pages: tuple[tuple[UUID, int], ...]
    right: NDArray[np.bool_]


def named_files(arguments: Sequence[str]) -> dict[str, list[KnownQuestion]]:
    found: dict[str, list[KnownQuestion]] = {}
    for argument in arguments:
        name, _, path = argument.rpartition("=")
        found.setdefault(name or Path(path).stem, []).extend(read_lines(Path(path), KnownQuestion))
    return found


def rankings_of(questions: Sequence[KnownQuestion]) -> list[Ranking]:
    owner = evaluation_user()
    rows = Document.objects.filter(owner=owner, deleted_at=None).values_list("original_name", "pk")
    library = {Path(name).stem: pk for name, pk in rows}
    missing = {known.doc_name for known in questions} - library.keys()
    if missing:
        raise CommandError(
            f"Not ingested by `manage.py evaluate retrieval`: {', '.join(sorted(missing)[:5])}"
        )
    scopes = {name: Scope(owner, document_ids=(library[name],)) for name in library}
    return [ranking_of(known, scopes[known.doc_name], library) for known in questions]


def ranking_of(known: KnownQuestion, scope: Scope, library: Mapping[str, UUID]) -> Ranking:
    """Return the candidates that a search ranks for the whole question, in fused order; () without any."""
    sql, summary, trace = scope.compiled(), summary_of(scope), Trace(frozenset())
    read = partial(analyze_query, languages=summary.languages, packs=packs_for(summary))
    plan = plan_search(read(known.question), trace, None, read)
    nothing = Ranking(np.zeros((0, len(NAMES))), (), np.zeros(0, np.bool_))
    if sql is None or plan.own.is_empty:
        return nothing
    index = open_index(sql, summary, [named.question for named in plan.questions], names=True)
    found = find(plan, sql, index, SearchOptions(), trace)
    keys = {key for key, _ in found.fused[:RERANKED]} & found.candidates.keys()
    named = plan.asked[0]
    weighed = scored_candidates(named, found, keys)
    if not weighed:
        return nothing
    candidates = [found.candidates[item.key] for item in weighed]
    near = np.maximum(unit_meanings(named.question.text, candidates), 0.0)
    on_page = found.on_pages
    pages = tuple(
        (of.document_id, on_page.get(item.key) or of.pages[best_order(item.evidence)[0]])
        for of, item in zip(candidates, weighed, strict=True)
    )
    right = known.right_pages(library)
    return Ranking(
        np.column_stack([feature_rows(weighed), near]), pages, np.array([page in right for page in pages])
    )


def order(ranking: Ranking, weights: NDArray[np.float64]) -> list[int]:
    """Return the candidates in search order; the similarity of the nearest unit counts only for the best."""
    scored = ranking.features[:, :-1] @ weights[:-1]
    ranked = np.argsort(-scored, kind="stable")
    head = ranked[:NEAREST_DEPTH]
    nearer = scored[head] + ranking.features[head, -1] * weights[-1]
    return [*head[np.argsort(-nearer, kind="stable")].tolist(), *ranked[NEAREST_DEPTH:].tolist()]


def scores(rankings: Sequence[Ranking], weights: NDArray[np.float64]) -> str:
    ranks = []
    for ranking in rankings:
        right = {page for page, is_right in zip(ranking.pages, ranking.right, strict=True) if is_right}
        pages = dict.fromkeys(ranking.pages[at] for at in order(ranking, weights))
        ranks.append(next((rank for rank, page in enumerate(pages, 1) if page in right), 0))
    among = [sum(0 < rank <= depth for rank in ranks) / len(ranks) for depth in (5, 10)]
    return f"{among[0]:.3f} {among[1]:.3f} {sum(1 / rank for rank in ranks if rank) / len(ranks):.3f}"


def fit(sets: Sequence[Sequence[Ranking]]) -> NDArray[np.float64]:
    """Return the non-negative weights that rank right pages first: softmax over the candidates, by Adam.

    Each set counts the same, however many questions it has.
    """
    usable = [[item for item in rankings if item.right.any() and not item.right.all()] for rankings in sets]
    weights, mean, spread = CURRENT.copy(), np.zeros(len(NAMES)), np.zeros(len(NAMES))
    for turn in range(1, ROUNDS + 1):
        slope = PULL * (weights - CURRENT)
        for rankings in usable:
            slope += sum(slope_of(item, weights) for item in rankings) / max(1, len(rankings))
        mean, spread = 0.9 * mean + 0.1 * slope, 0.999 * spread + 0.001 * slope**2
        move = mean / (1 - 0.9**turn) / (np.sqrt(spread / (1 - 0.999**turn)) + 1e-9)
        weights = np.maximum(0.0, weights - STEP * move / (1 + 4 * turn / ROUNDS))
    return weights


def slope_of(ranking: Ranking, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the gradient of −log P(right), where P is the softmax of the candidates' scores."""
    scored = SHARPNESS * (ranking.features @ weights)
    share = np.exp(scored - scored.max())
    share /= share.sum()
    of_right = np.where(ranking.right, share, 0.0)
    of_right /= of_right.sum() or 1.0
    gradient: NDArray[np.float64] = SHARPNESS * ((share - of_right) @ ranking.features)
    return gradient


class WeightsEvaluation:
    name = "weights"
    help = "Weights of the ranking's features, fitted with and without each set of questions."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "sets", nargs="+", metavar="NAME=QUESTIONS.jsonl", help="files of the same name are one set"
        )

    def run(self, out: OutputWrapper, **options: Any) -> None:
        """For each set the scores of the code's weights, and of those fitted on all sets, the others, and it.

        A weight worth something beyond its set is one that the others find, too. The documents are those
        that ``evaluate retrieval`` took in.
        """
        sets = {name: rankings_of(files) for name, files in named_files(options["sets"]).items()}
        fitted_on_all = fit(list(sets.values()))
        say = out.write
        columns = ("in the code", "of all sets", "of the others", "of it alone")
        say(f"{'R@5 R@10 MRR':<24}" + "".join(f"{column:>20}" for column in columns))
        without = {
            name: fit([sets[other] for other in sets if other != name] or [sets[name]]) for name in sets
        }
        only = {name: fit([rankings]) for name, rankings in sets.items()}
        for name, rankings in sets.items():
            weights = (CURRENT, fitted_on_all, without[name], only[name])
            label = f"{name} ({len(rankings)})"
            say(f"{label:<24}" + "".join(f"{scores(rankings, chosen):>20}" for chosen in weights))
        say(f"\n{'weight':<16}{'code':>8}{'all':>8}" + "".join(f"{'no ' + name[:9]:>14}" for name in sets))
        for at, name in enumerate(NAMES):
            fits = "".join(f"{without[of][at]:>14.2f}" for of in sets)
            say(f"{name:<16}{CURRENT[at]:>8.2f}{fitted_on_all[at]:>8.2f}{fits}")


SUBCOMMANDS = (RetrievalEvaluation(), WeightsEvaluation())
