"""Weights of the ranking's features, fitted with and without each set of questions.

`manage.py bench weights general=QUESTIONS.jsonl filings=… languages=… languages=…`; the documents are those
that `manage.py evaluate retrieval` took in.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
from django.core.management.base import BaseCommand, CommandError
from numpy.typing import NDArray

from bench.evaluations.retrieval import KnownQuestion, evaluation_user, read_lines
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
    features_of,
)
from retrieval.results import SearchOptions, Trace
from retrieval.search import RERANKED, find, packs_for, summary_of

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
    rows = features_of(named, found, keys)
    if not rows:
        return nothing
    candidates = [found.candidates[key] for key in rows]
    near = np.maximum(unit_meanings(named.question.text, candidates), 0.0)
    on_page = found.on_pages
    pages = tuple(
        (of.document_id, on_page.get(of.key) or of.pages[best_order(found.evidence[of.key][named.name])[0]])
        for of in candidates
    )
    right = known.right_pages(library)
    features = [[row[name] for name in WEIGHTS] for row in rows.values()]
    return Ranking(np.column_stack([features, near]), pages, np.array([page in right for page in pages]))


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


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "sets", nargs="+", metavar="NAME=QUESTIONS.jsonl", help="files of the same name are one set"
    )


def run(command: BaseCommand, options: dict[str, Any]) -> int:
    """Print the scores of each set with the weights of the code, of all sets, of the others, and of it alone.

    A weight worth something beyond its set is one that the others find, too.
    """
    sets = {name: rankings_of(files) for name, files in named_files(options["sets"]).items()}
    fitted_on_all = fit(list(sets.values()))
    say = command.stdout.write
    columns = ("in the code", "of all sets", "of the others", "of it alone")
    say(f"{'R@5 R@10 MRR':<24}" + "".join(f"{column:>20}" for column in columns))
    without = {name: fit([sets[other] for other in sets if other != name] or [sets[name]]) for name in sets}
    only = {name: fit([rankings]) for name, rankings in sets.items()}
    for name, rankings in sets.items():
        weights = (CURRENT, fitted_on_all, without[name], only[name])
        label = f"{name} ({len(rankings)})"
        say(f"{label:<24}" + "".join(f"{scores(rankings, chosen):>20}" for chosen in weights))
    say(f"\n{'weight':<16}{'code':>8}{'all':>8}" + "".join(f"{'no ' + name[:9]:>14}" for name in sets))
    for at, name in enumerate(NAMES):
        fits = "".join(f"{without[of][at]:>14.2f}" for of in sets)
        say(f"{name:<16}{CURRENT[at]:>8.2f}{fitted_on_all[at]:>8.2f}{fits}")
    return 0
