"""One question in, the right units out."""

from __future__ import annotations

import time
from collections.abc import Sequence, Set
from dataclasses import replace
from typing import cast

from django.conf import settings

from retrieval.candidates import PassageKey, read_candidates
from retrieval.evidence import Weigher
from retrieval.facets import read_facets
from retrieval.history import record_search
from retrieval.keyword_index import ScopeIndex, open_index
from retrieval.lists import NamedQuestion, keyword_lists, terms_wanted, vector_lists
from retrieval.plans import Plan, plan_search
from retrieval.presenting import Found, hits_of
from retrieval.providers.language import LanguageModel
from retrieval.providers.rerankers import Reranker
from retrieval.questions import understand
from retrieval.results import FullTextLevel, SearchOptions, SearchResult, StrategyName
from retrieval.scope import Scope, ScopeSql
from retrieval.spaces import active_space, embedder_of
from retrieval.strategies.fusion import RankedList, fuse, interleave
from retrieval.strategies.rerank import Weighed, by_features, by_model
from retrieval.trace import Trace

NOTHING_ASKED = "Type what you are looking for."
NOTHING_TELLING = "Those words stand everywhere. Add a word that says what you are looking for."
NOTHING_INDEXED = "There is nothing to search here yet."
NOTHING_FOUND = "Nothing found. Try other words, or fewer filters."

RERANKED = 20
"""Candidates that are weighed; those after them keep their fused order, on whatever page they are shown."""


def search(
    query: str,
    scope: Scope,
    options: SearchOptions | None = None,
    *,
    language_model: LanguageModel | None = None,
    reranker: Reranker | None = None,
) -> SearchResult:
    """The chunks in ``scope`` that speak of ``query``, best first, and what was done to find them.

    Never raises for what a person typed: an empty or hopeless query gives a
    result without hits and a ``message``. A provider that fails costs its own
    strategy, which says so in ``strategies``.
    """
    start = time.perf_counter()
    options = options or SearchOptions()
    question, trace = (
        understand(query),
        Trace(options.off.union(cast(list[StrategyName], settings.SEARCH_OFF))),
    )
    if not question.weights:
        return SearchResult(query, message=NOTHING_TELLING if question.text else NOTHING_ASKED)
    plan = plan_search(question, trace, language_model)
    result = search_planned(query, plan, scope, options, trace, reranker)
    result = replace(
        result,
        strategies=trace.reports(),
        derived=plan.derived,
        milliseconds=round((time.perf_counter() - start) * 1000, 2),
    )
    if options.record:
        record_search(scope, result)
    return result


def search_planned(
    query: str, plan: Plan, scope: Scope, options: SearchOptions, trace: Trace, reranker: Reranker | None
) -> SearchResult:
    """Searches with the filters of the question; without them when they leave nothing."""
    if plan.filters:
        narrowed = _search_scope(query, plan, plan.filters.narrow(scope), options, trace, reranker)
        if narrowed.hits:
            return replace(narrowed, filters=plan.filters.describe())
        trace.steps["self_query"].reason = "its filters left nothing, so they were dropped"
    return _search_scope(query, plan, scope, options, trace, reranker)


def _search_scope(
    query: str, plan: Plan, scope: Scope, options: SearchOptions, trace: Trace, reranker: Reranker | None
) -> SearchResult:
    sql = scope.compiled()
    index = _read_index(plan, sql, trace) if sql else None
    if sql is None or index is None or not index.passage_count:
        return SearchResult(query, message=NOTHING_INDEXED)
    found = find(plan, sql, index, options, trace)
    ranked = rank(plan, found, trace, reranker)
    shown = ranked[options.offset : options.offset + options.limit]
    with trace.step("compression") as step:
        compressed = trace.wants("compression")
        hits = hits_of(shown, found, sql, marking_weights(plan, found), compressed=compressed)
        step.added = len(hits) if compressed else 0
    facets = read_facets(sql, [key for key, _ in ranked]) if options.facets else ()
    message = "" if hits else NOTHING_FOUND
    return SearchResult(query, hits=hits, total=len(ranked), facets=facets, message=message)


def _read_index(plan: Plan, scope: ScopeSql, trace: Trace) -> ScopeIndex:
    if not trace.wants("keyword"):
        return open_index(scope, ())
    with trace.step("keyword"):
        return open_index(scope, terms_wanted(plan.questions, names=trace.wants("context")))


def find(plan: Plan, scope: ScopeSql, index: ScopeIndex, options: SearchOptions, trace: Trace) -> Found:
    """Runs the lists, fuses them, and reads the head of what they brought."""
    lists: list[RankedList[PassageKey]] = []
    if trace.wants("keyword"):
        with trace.step("keyword") as step:
            level = options.fts_level or cast(FullTextLevel, settings.SEARCH_FTS_LEVEL)
            lists = keyword_lists(plan.questions, scope, index, level=level, names=trace.wants("context"))
            step.added = len(passages_in(lists))
    if trace.wants("vector"):
        with trace.step("vector") as step:
            space = index.space or active_space()
            by_meaning = vector_lists(plan.meanings, space, embedder_of(space), scope, index.chunk_count)
            step.added = len(passages_in(by_meaning) - passages_in(lists))
            lists = [*lists, *by_meaning]
    fused = fuse(lists)
    depth = max(RERANKED, options.offset + options.limit)
    candidates = read_candidates(scope, [key for key, _ in fused[:depth]])
    weighers = {named.name: Weigher(named.question, index.rarity) for named in plan.asked}
    evidence = {
        key: {name: weigher.weigh(candidate) for name, weigher in weighers.items()}
        for key, candidate in candidates.items()
    }
    return Found(lists, fused, candidates, evidence, index.rarity)


def passages_in(lists: list[RankedList[PassageKey]]) -> set[PassageKey]:
    return {key for ranked in lists for key, _ in ranked.items}


def rank(plan: Plan, found: Found, trace: Trace, reranker: Reranker | None) -> list[tuple[PassageKey, float]]:
    """The fused order, its head weighed again by evidence, and by a model where there is one."""
    head = [entry for entry in found.fused[:RERANKED] if entry[0] in found.candidates]
    rest = found.fused[RERANKED:]
    if not trace.wants("rerank"):
        return [*head, *rest]
    with trace.step("rerank") as step:
        keys = {key for key, _ in head}
        ranked = interleave([rank_by_evidence(named, found, keys) for named in plan.asked])
        step.added = moved(head, ranked)
    if reranker is not None:
        with trace.step("rerank") as step:
            ranked = by_model(plan.text, ranked, found.candidates, reranker)
            step.added = moved(head, ranked)
        step.ran = True  # by features at least
    return [*ranked, *rest]


def rank_by_evidence(
    named: NamedQuestion, found: Found, keys: Set[PassageKey]
) -> list[tuple[PassageKey, float]]:
    """Those of the candidates that lists of this question or part brought, by what in them speaks of it."""
    lists = [ranked for ranked in found.lists if belongs(ranked, named)]
    keyword = keyword_shares(lists, named.name)
    return by_features(
        [
            Weighed(key, fused, keyword.get(key, 0.0), found.evidence[key][named.name])
            for key, fused in fuse(lists)
            if key in keys
        ]
    )


def belongs(ranked: RankedList[PassageKey], named: NamedQuestion) -> bool:
    """A part has its own lists; the whole question has all but those of parts."""
    if named.name == "question":
        return "part" not in ranked.name
    return ranked.name in (named.name, f"meaning of {named.name}")


def keyword_shares(lists: Sequence[RankedList[PassageKey]], name: str) -> dict[PassageKey, float]:
    """Each passage's score in the list of that name, as a share of the best."""
    items = next((ranked.items for ranked in lists if ranked.name == name), ())
    return {key: score / items[0][1] for key, score in items}


def moved(before: Sequence[tuple[PassageKey, float]], after: Sequence[tuple[PassageKey, float]]) -> int:
    return sum(old[0] != new[0] for old, new in zip(before, after, strict=True))


def marking_weights(plan: Plan, found: Found) -> dict[str, float]:
    """How much a term's mark says in a snippet."""
    return {term: weight * found.rarity.get(term, 0.0) for term, weight in plan.own.weights.items()}
