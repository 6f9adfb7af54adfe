"""Search: one query in, the ranked hits out; similar chunks; the history of searches."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import asdict, replace
from functools import partial
from typing import Literal, cast
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import User
from django.db import DatabaseError, transaction

from documents.models import Collection, Document, RetrievalChunk
from retrieval.index.full_text import EMPTY, EXACT_UP_TO, ScopeIndex, ScopeSummary, open_index, read_summary
from retrieval.index.postgres import lexeme, phrase
from retrieval.index.vectors import active_space, embedder_of
from retrieval.models import IndexedDocument, SearchQuery
from retrieval.provider_calls import LanguageModel, ProviderError, configured_language_model
from retrieval.query.plan import Plan, plan_search
from retrieval.query.question_terms import QueryTerms, analyze_query, readable
from retrieval.query.scope import Scope, ScopeSql
from retrieval.query.self_query import Filters, field_words
from retrieval.ranking.candidate_lists import (
    NAMED_PAGES,
    NAMED_PLACES,
    NamedQuestion,
    chunks_at_places,
    chunks_on_pages,
    keyword_lists,
    vector_lists,
)
from retrieval.ranking.candidates import Candidate, read_candidates
from retrieval.ranking.facets import read_facets
from retrieval.ranking.features import FeatureExtractor, TermFeatures
from retrieval.ranking.fusion import RankedList, fuse, interleave
from retrieval.ranking.hits import Excerpts, FoundCandidates, hits_of
from retrieval.ranking.rerankers import (
    Reranker,
    ScoredCandidate,
    by_features,
    by_model,
    by_nearest_unit,
    configured_reranker,
)
from retrieval.results import FullTextLevel, SearchOptions, SearchRecord, SearchResult, StrategyName, Trace
from text.terms import terms_of

# Search history: what a user searched for, kept for that user alone.

logger = logging.getLogger(__name__)
Configured = Literal["configured"]
KEPT_CHARACTERS = 2000


def record_search(scope: Scope, result: SearchResult, record: SearchRecord) -> None:
    """Keeps the search; one that cannot be kept was still answered."""
    if not scope.user.is_authenticated:
        return
    try:
        with transaction.atomic():
            values = {
                "user": scope.user,
                "source": record.source,
                "query_type": record.query_type,
                "parent": SearchQuery.objects.visible_to(scope.user).filter(pk=record.parent).first()
                if record.parent
                else None,
                "query": result.query.replace("\x00", "")[:KEPT_CHARACTERS],
                "derived": [asdict(query) for query in result.derived],
                "filters": {**scope.describe(), **result.filters},
                "strategies": [asdict(report) for report in result.strategies],
                "hit_count": result.total,
                "milliseconds": result.milliseconds,
            }
            row = SearchQuery(**values) if record.id is None else SearchQuery(pk=record.id, **values)
            SearchQuery.objects.bulk_create(  # one statement, where update_or_create has six
                [row], update_conflicts=True, unique_fields=["id"], update_fields=[*values]
            )
    except DatabaseError:
        logger.exception("a search could not be kept in the history")


def names_in_filters(searches: Iterable[SearchQuery], user: User) -> dict[str, str]:
    """What these searches were kept to, by id: documents and collections the user may see, in two queries."""
    kept = [search.filters for search in searches]
    documents = {pk for filters in kept for pk in filters.get("document_ids", "").split(", ") if pk}
    collections = {filters["collection_id"] for filters in kept if "collection_id" in filters}
    named = [
        *Document.objects.visible_to(user).filter(pk__in=documents).values_list("pk", "title"),
        *Collection.objects.visible_to(user).filter(pk__in=collections).values_list("pk", "name"),
    ]
    return {str(pk): name for pk, name in named}


NOTHING_ASKED = "Type what you are looking for."
NOTHING_BUT_FIELDS = "Add words to look for: author, year and page only say where."
NO_PHRASE = "No passage has the quoted words together. Nearest:"
NOTHING_TELLING = "These words are too common. Add a more specific term."
NOTHING_INDEXED = "There is nothing to search here yet."
NOTHING_FOUND = "Nothing found. Try other words, or fewer filters."
NOTHING_CLOSE = "No passage has these words. Nearest in meaning:"
NOTHING_MATCHES = "No document matches these filters."
BEING_PREPARED = "Your documents are being prepared for search. Try again in a minute."

RERANKED = 40
"""Candidates that are weighed; those after them keep their fused order, on whatever page they are shown."""


def search(
    query: str,
    scope: Scope,
    options: SearchOptions | None = None,
    *,
    language_model: LanguageModel | Configured | None = "configured",
    reranker: Reranker | Configured | None = "configured",
) -> SearchResult:
    """The chunks in ``scope`` that speak of ``query``, best first, and what was done to find them.

    The language model and the reranker are those of the settings; None does without.

    Never raises for what a person typed: an empty or hopeless query gives a
    result without hits and a ``message``. A provider that fails costs its own
    strategy, which says so in ``strategies``.
    """
    start = time.perf_counter()
    options = options or SearchOptions()
    trace = Trace(options.off.union(cast(list[StrategyName], settings.SEARCH_OFF)))
    if language_model == "configured":
        try:
            language_model = configured_language_model()
        except ProviderError as error:
            language_model, trace.no_model = None, error.message
    if reranker == "configured":
        reranker = configured_reranker() if "rerank" not in trace.off else None
    asked, fields = field_words(readable(query))
    if not asked:
        return SearchResult(query, message=NOTHING_BUT_FIELDS if fields else NOTHING_ASKED)
    scope = fields.narrow(scope)
    summary = summary_of(scope)
    read = partial(analyze_query, languages=summary.languages, packs=packs_for(summary))
    question = read(asked)
    if question.is_empty:
        return SearchResult(query, message=NOTHING_TELLING)
    plan = plan_search(question, trace, language_model, read)
    result = search_planned(query, plan, scope, options, trace, reranker, summary)
    result = replace(
        result,
        filters={**result.filters, **fields.describe()},
        strategies=trace.reports(),
        derived=plan.derived,
        milliseconds=round((time.perf_counter() - start) * 1000, 2),
    )
    if options.record:
        record_search(scope, result, options.record)
    return result


def packs_for(summary: ScopeSummary) -> list[str]:
    """Packs that the settings allow and some document in scope is of."""
    return sorted(summary.fields & set(settings.PACKS))


def summary_of(scope: Scope) -> ScopeSummary:
    sql = scope.compiled()
    return read_summary(sql) if sql else EMPTY


def search_planned(
    query: str,
    plan: Plan,
    scope: Scope,
    options: SearchOptions,
    trace: Trace,
    reranker: Reranker | None,
    summary: ScopeSummary | None = None,
) -> SearchResult:
    """Searches with the filters of the question; without them when they leave nothing.

    In a large scope those that tell chunks apart do not filter: every chunk there would be compared, and
    ranking weighs pages and tables anyway. ``summary``: that of the scope, where it is known.
    """
    small = summary is None or summary.chunks <= EXACT_UP_TO
    if filters := plan.filters if small else plan.filters.of_documents():
        narrowed = _search_scope(query, plan, filters.narrow(scope), options, trace, reranker)
        if narrowed.hits:
            return replace(narrowed, filters=filters.describe())
        trace.steps["self_query"].reason = "its filters left nothing, so they were dropped"
    found = _search_scope(query, plan, scope, options, trace, reranker, summary)
    if options.phrases and plan.own.quoted and not found.hits:
        loose = replace(options, phrases=False)
        found = _search_scope(query, plan, scope, loose, trace, reranker, summary)
        return replace(found, message=NO_PHRASE if found.hits else found.message)
    return found


def _search_scope(
    query: str,
    plan: Plan,
    scope: Scope,
    options: SearchOptions,
    trace: Trace,
    reranker: Reranker | None,
    summary: ScopeSummary | None = None,
) -> SearchResult:
    sql = scope.compiled()
    summary = summary or summary_of(scope)
    if sql is None or not summary.chunks:
        empty = NOTHING_MATCHES if scope.describe().keys() - {"document_ids"} else NOTHING_INDEXED
        message = BEING_PREPARED if summary.preparing else empty
        return SearchResult(query, message=message, preparing=summary.preparing)
    sql = with_operators(sql, plan.own)
    if options.phrases:
        for quoted in plan.own.quoted:
            written = analyze_query(f'"{quoted}"', summary.languages).quoted_terms
            sql = sql.holding(" | ".join(map(phrase, written))) if written else sql
    index = _read_index(plan, sql, summary, trace)
    if trace.wants("keyword"):
        plan = plan.with_parts(index.holds)
    found = find(plan, sql, index, options, trace)
    ranked = rank(plan, found, trace, reranker)
    shown = ranked[options.offset : options.offset + options.limit]
    if options.excerpts:
        with trace.step("compression") as step:
            compressed = trace.wants("compression")
            hits = hits_of(shown, found, Excerpts(marking_weights(plan, found), compressed))
            step.added = len(hits) if compressed else 0
    else:
        hits = hits_of(shown, found)
    facets = read_facets(sql, [key for key, _ in ranked]) if options.facets else ()
    message = (NOTHING_CLOSE if only_near(trace, found) else "") if hits else NOTHING_FOUND
    return SearchResult(
        query, hits=hits, total=len(ranked), facets=facets, message=message, preparing=summary.preparing
    )


def only_near(trace: Trace, found: FoundCandidates) -> bool:
    """Whether no passage has a word of the query, so that what was found is only near to it in meaning.

    What a model wrote in its place does not count: it finds something for any nonsense.
    """
    keyword = trace.steps.get("keyword")
    own = ("question", NAMED_PAGES, NAMED_PLACES)
    searched = keyword is not None and keyword.ran
    return searched and not any(ranked.items for ranked in found.lists if ranked.name in own)


def with_operators(scope: ScopeSql, question: QueryTerms) -> ScopeSql:
    """The scope without chunks that hold an excluded word, and with those alone that hold each prefix."""
    for prefix in question.prefixes:
        scope = scope.holding(lexeme(prefix, prefix=True))
    if question.excluded:
        scope = scope.without(" | ".join(map(phrase, question.excluded)))
    return scope


def _read_index(plan: Plan, scope: ScopeSql, summary: ScopeSummary, trace: Trace) -> ScopeIndex:
    if not trace.wants("keyword"):
        return ScopeIndex.empty(summary)
    with trace.step("keyword"):
        questions = [named.question for named in plan.questions]
        return open_index(scope, summary, questions, names=trace.wants("context"))


def find(
    plan: Plan, scope: ScopeSql, index: ScopeIndex, options: SearchOptions, trace: Trace
) -> FoundCandidates:
    """Runs the lists, fuses them, and reads the head of what they brought."""
    lists: list[RankedList[UUID]] = []
    if trace.wants("keyword"):
        with trace.step("keyword") as step:
            level = options.fts_level or cast(FullTextLevel, settings.SEARCH_FTS_LEVEL)
            lists = keyword_lists(
                plan.questions,
                scope,
                index,
                level=level,
                names=trace.wants("context"),
                limit=options.keyword_limit,
            )
            step.added = len(chunks_in(lists))
    if trace.wants("vector"):
        with trace.step("vector") as step:
            space = index.summary.space or active_space()
            by_meaning = vector_lists(
                plan.meanings,
                space,
                embedder_of(space),
                scope,
                index.summary.chunks,
                options.vector_limit,
                options.threshold,
            )
            step.added = len(chunks_in(by_meaning) - chunks_in(lists))
            lists = [*lists, *by_meaning]
    on_pages: Mapping[UUID, int] = {}
    if plan.own.pages and index.summary.documents == 1:
        on_pages = chunks_on_pages(scope, plan.own.pages)
        lists = [*lists, RankedList(NAMED_PAGES, [(key, 1.0) for key in on_pages])]
    if plan.own.places and index.summary.chunks <= EXACT_UP_TO:
        at_places = chunks_at_places(scope, plan.own.places)
        lists = [*lists, RankedList(NAMED_PLACES, [(key, 1.0) for key in at_places])]
    fused = fuse(lists)
    depth = max(RERANKED, options.offset + options.limit)
    candidates = read_candidates(scope, [key for key, _ in fused[:depth]])
    if index.summary.documents > 1:  # whose labels nobody reads
        on_pages = {
            key: page for key, found in candidates.items() if (page := found.first_of(plan.own.pages))
        }
    return FoundCandidates(lists, fused, candidates, weighed(plan, candidates, index), index.rarity, on_pages)


def weighed(
    plan: Plan, candidates: Mapping[UUID, Candidate], index: ScopeIndex
) -> dict[UUID, dict[str, TermFeatures]]:
    """What speaks for each candidate, by the name of the question or part."""
    weighers: dict[tuple[str, frozenset[str]], FeatureExtractor] = {}
    evidence: dict[UUID, dict[str, TermFeatures]] = {}
    for key, candidate in candidates.items():
        evidence[key] = {}
        for named in plan.asked:
            of = (named.name, candidate.fields)
            if of not in weighers:
                weighers[of] = FeatureExtractor(named.question, index.rarity, candidate.fields)
            evidence[key][named.name] = weighers[of].weigh(candidate)
    return evidence


def chunks_in(lists: list[RankedList[UUID]]) -> set[UUID]:
    return {key for ranked in lists for key, _ in ranked.items}


def rank(
    plan: Plan, found: FoundCandidates, trace: Trace, reranker: Reranker | None
) -> list[tuple[UUID, float]]:
    """The fused order, its head weighed again by evidence, and by a model where there is one."""
    head = [entry for entry in found.fused[:RERANKED] if entry[0] in found.candidates]
    rest = found.fused[RERANKED:]
    if not trace.wants("rerank"):
        return [*head, *rest]
    with trace.step("rerank") as step:
        keys = {key for key, _ in head}
        meaning = trace.wants("vector")
        ranked = interleave([rank_by_evidence(named, found, keys, meaning) for named in plan.asked])
        step.added = moved(head, ranked)
    if reranker is not None:
        with trace.step("rerank") as step:
            ranked = by_model(plan.text, ranked, found.candidates, reranker)
            step.added = moved(head, ranked)
        step.ran = True  # by features at least
    return [*ranked, *rest]


def rank_by_evidence(
    named: NamedQuestion, found: FoundCandidates, keys: Set[UUID], meaning: bool
) -> list[tuple[UUID, float]]:
    """Those of the candidates that lists of this question or part brought, by what in them speaks of it.

    ``meaning``: whether the best are read once more for the unit nearest in meaning.
    """
    lists = [ranked for ranked in found.lists if belongs(ranked, named)]
    keyword, near = shares(lists, named.name), spread(lists, f"meaning of {named.name}")
    ranked = by_features(
        [
            ScoredCandidate(
                key,
                fused,
                keyword.get(key, 0.0),
                near.get(key, 0.0),
                key in found.on_pages,
                found.evidence[key][named.name],
            )
            for key, fused in fuse(lists)
            if key in keys
        ]
    )
    return by_nearest_unit(named.question.text, ranked, found.candidates) if meaning else ranked


def belongs(ranked: RankedList[UUID], named: NamedQuestion) -> bool:
    """A part has its own lists; the whole question has all but those of parts."""
    if named.name == "question":
        return "part" not in ranked.name
    return ranked.name in (named.name, f"meaning of {named.name}")


def shares(lists: Sequence[RankedList[UUID]], name: str) -> dict[UUID, float]:
    """Each chunk's score in the list of that name, as a share of the best."""
    items = next((ranked.items for ranked in lists if ranked.name == name), ())
    return {key: score / items[0][1] for key, score in items}


def spread(lists: Sequence[RankedList[UUID]], name: str) -> dict[UUID, float]:
    """Each chunk's score in the list of that name, from 0 for its least to 1 for its first."""
    ranked = next((ranked for ranked in lists if ranked.name == name), None)
    if ranked is None or not ranked.items:
        return {}
    best, least = ranked.items[0][1], ranked.least
    return {key: (score - least) / ((best - least) or 1.0) for key, score in ranked.items}


def moved(before: Sequence[tuple[UUID, float]], after: Sequence[tuple[UUID, float]]) -> int:
    return sum(old[0] != new[0] for old, new in zip(before, after, strict=True))


def marking_weights(plan: Plan, found: FoundCandidates) -> dict[str, float]:
    """How much a term's mark says in a snippet."""
    weights = plan.own.weights_for(plan.own.packs)
    return {term: weight * found.rarity.get(term, 0.0) for term, weight in weights.items()}


# More like this: passages that speak of what a chunk speaks of.

MOST_TERMS = 40
GONE = "That passage is no longer there."


def more_like(chunk_id: UUID, scope: Scope, limit: int = 10) -> SearchResult:
    """Passages in ``scope`` like the chunk, which itself is left out. The chunk must be in scope too."""
    start = time.perf_counter()
    chunk = RetrievalChunk.objects.filter(document__in=scope.documents(), pk=chunk_id).first()
    if chunk is None:
        return SearchResult("", message=GONE)
    language = (
        IndexedDocument.objects.filter(document=chunk.document_id).values_list("language", flat=True).first()
    )
    plan = Plan((NamedQuestion("question", like(chunk.content, language or "en")),), "", Filters(), ())
    trace = Trace(frozenset({"context"}))  # the document's own names would only find the document
    result = search_planned(chunk.content, plan, scope, SearchOptions(limit=limit + 1), trace, None)
    others = tuple(hit for hit in result.hits if hit.chunk_id != chunk_id)[:limit]
    milliseconds = round((time.perf_counter() - start) * 1000, 2)
    return replace(result, hits=others, strategies=trace.reports(), milliseconds=milliseconds)


def like(text: str, language: str) -> QueryTerms:
    """The text as a question: its commonest terms, each counting 1."""
    text = readable(text)
    terms = [term for term, _ in Counter(terms_of(text, language)).most_common(MOST_TERMS)]
    groups = tuple((term,) for term in terms)
    return QueryTerms(text, dict.fromkeys(terms, 1.0), groups, said=frozenset(terms))
