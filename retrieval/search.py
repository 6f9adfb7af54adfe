"""One question in, the right units out."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from uuid import UUID

from django.conf import settings

from retrieval.candidates import Candidate, PassageKey, passages_of_chunks, read_candidates
from retrieval.evidence import Evidence, weigh_evidence
from retrieval.history import record_search
from retrieval.keyword_index import ScopeIndex, open_index
from retrieval.lists import keyword_lists, vector_lists
from retrieval.plans import Plan, plan_search
from retrieval.presenting import hits_of, ranks_in
from retrieval.providers.language import LanguageModel
from retrieval.providers.rerankers import Reranker
from retrieval.questions import Question, understand
from retrieval.results import SearchOptions, SearchResult
from retrieval.scope import Scope
from retrieval.spaces import active_space, embedder_of
from retrieval.strategies.fusion import RankedList, fuse
from retrieval.strategies.rerank import Weighed, by_features, by_model
from retrieval.trace import Trace

NOTHING_ASKED = "Type what you are looking for."
NOTHING_TELLING = "Those words stand everywhere. Add a word that says what you are looking for."
NOTHING_INDEXED = "There is nothing to search here yet."
NOTHING_FOUND = "Nothing found. Try other words, or fewer filters."

RERANKED = 40
"""Candidates whose text is read and weighed; those after them keep their fused order."""


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
    question, trace = understand(query), Trace(options.off)
    if not question.weights:
        return SearchResult(query, message=NOTHING_TELLING if question.text else NOTHING_ASKED)
    plan = plan_search(question, trace, language_model)
    result = _search_planned(query, plan, scope, options, trace, reranker)
    result = replace(
        result,
        strategies=trace.reports(),
        derived=plan.derived,
        milliseconds=round((time.perf_counter() - start) * 1000, 2),
    )
    if options.record:
        record_search(scope, result)
    return result


def _search_planned(
    query: str, plan: Plan, scope: Scope, options: SearchOptions, trace: Trace, reranker: Reranker | None
) -> SearchResult:
    """Searches with the filters of the question; without them when they leave nothing."""
    if plan.filters:
        narrowed = _search_scope(query, plan, plan.filters.narrow(scope), options, trace, reranker)
        if narrowed.hits:
            return replace(narrowed, filters=plan.filters.describe())
        trace.steps["self_query"].reason = "its filters left nothing, so they were dropped"
    return _search_scope(query, plan, scope, options, trace, reranker)


@dataclass(slots=True)
class Found:
    """What the lists brought: passages by fused rank, with their text."""

    lists: list[RankedList[PassageKey]] = field(default_factory=list)
    candidates: dict[PassageKey, Candidate] = field(default_factory=dict)
    rarity: dict[str, float] = field(default_factory=dict)
    fused: list[tuple[PassageKey, float]] = field(default_factory=list)


def _search_scope(
    query: str, plan: Plan, scope: Scope, options: SearchOptions, trace: Trace, reranker: Reranker | None
) -> SearchResult:
    index = open_index(scope)
    if not index.passage_count:
        return SearchResult(query, message=NOTHING_INDEXED)
    found = find(plan, scope, index, options, trace)
    evidence = {
        key: strongest_evidence(plan, found.candidates[key], found.rarity)
        for key, _ in found.fused[:RERANKED]
    }
    ranked = rank(query, found, evidence, trace, reranker)
    shown = ranked[options.offset : options.offset + options.limit]
    for key, _ in shown:
        if key not in evidence:
            evidence[key] = strongest_evidence(plan, found.candidates[key], found.rarity)
    marked = marking_weights(plan.questions[0].question, found.rarity)
    with trace.step("compression") as step:
        compressed = trace.wants("compression")
        hits = hits_of(
            shown, found.candidates, evidence, ranks_in(found.lists), marked, scope, compressed=compressed
        )
        step.added = len(hits)
    message = "" if hits else NOTHING_FOUND
    return SearchResult(query, hits=hits, total=len(ranked), message=message)


def find(plan: Plan, scope: Scope, index: ScopeIndex, options: SearchOptions, trace: Trace) -> Found:
    """Runs the lists, reads what they brought, and fuses them."""
    found, by_meaning = Found(), list[RankedList[UUID]]()
    if trace.wants("keyword"):
        with trace.step("keyword") as step:
            level = options.fts_level or settings.SEARCH_FTS_LEVEL
            words = keyword_lists(plan.questions, scope, index, level=level, names=trace.wants("context"))
            found.lists, found.rarity = words.lists, dict(words.rarity)
            step.added = len({key for ranked in words.lists for key, _ in ranked.items})
    if trace.wants("vector"):
        with trace.step("vector"):
            by_meaning = _vector_lists(plan, scope, index)
    _read(found, by_meaning, scope, trace)
    found.fused = [entry for entry in fuse(found.lists) if entry[0] in found.candidates]
    return found


def _vector_lists(plan: Plan, scope: Scope, index: ScopeIndex) -> list[RankedList[UUID]]:
    space = active_space()
    texts = [(f"meaning of {named.name}", named.question.text, named.weight) for named in plan.questions]
    if plan.invented:
        texts.append(("meaning of an invented answer", plan.invented, 1.0))
    return vector_lists(texts, space, embedder_of(space), scope, index.chunk_count)


def _read(found: Found, by_meaning: list[RankedList[UUID]], scope: Scope, trace: Trace) -> None:
    """Reads all candidates at once, and turns the lists of chunks into lists of passages."""
    keys = list(dict.fromkeys(key for ranked in found.lists for key, _ in ranked.items))
    chunks = list(dict.fromkeys(chunk for ranked in by_meaning for chunk, _ in ranked.items))
    found.candidates = read_candidates(scope, keys, chunks)
    passage_of = passages_of_chunks(list(found.candidates.values()))
    for ranked in by_meaning:
        passages: dict[PassageKey, float] = {}
        for chunk, score in ranked.items:
            if chunk in passage_of:
                passages.setdefault(passage_of[chunk], score)
        found.lists.append(RankedList(ranked.name, list(passages.items()), ranked.weight))
        trace.steps["vector"].added += len(passages.keys() - set(keys))


def rank(
    query: str,
    found: Found,
    evidence: dict[PassageKey, Evidence],
    trace: Trace,
    reranker: Reranker | None,
) -> list[tuple[PassageKey, float]]:
    """The fused order, its head weighed again by evidence and by a model where there is one."""
    if not trace.wants("rerank"):
        return found.fused
    head, tail = found.fused[:RERANKED], found.fused[RERANKED:]
    with trace.step("rerank") as step:
        ranked = by_features([Weighed(key, fused, evidence[key]) for key, fused in head])
        if reranker is not None:
            with trace.step("rerank"):
                ranked = by_model(query, ranked, found.candidates, reranker)
            step.ran = True
        step.added = sum(before[0] != after[0] for before, after in zip(head, ranked, strict=True))
    return [*ranked, *tail]


def strongest_evidence(plan: Plan, candidate: Candidate, rarity: dict[str, float]) -> Evidence:
    """Against the question or the part of it that the candidate meets best."""
    weighed = (weigh_evidence(question, candidate, rarity) for question in plan.parts)
    return max(weighed, key=lambda evidence: evidence.coverage + evidence.phrases)


def marking_weights(question: Question, rarity: dict[str, float]) -> dict[str, float]:
    """How much a term's mark says in a snippet."""
    return {term: weight * rarity.get(term, 0.0) for term, weight in question.weights.items()}
