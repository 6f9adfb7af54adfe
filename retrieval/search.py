"""Search: a query in, ranked hits out; and similar chunks."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Literal, cast
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, transaction

from documents.models import RetrievalChunk
from retrieval.index.full_text import EXACT_UP_TO, ScopeIndex, open_index
from retrieval.index.postgres import phrase
from retrieval.index.vectors import active_space, embedder_of
from retrieval.models import KEPT_CHARACTERS, IndexedDocument, SearchQuery
from retrieval.provider_calls import LanguageModel, ProviderError, configured_language_model
from retrieval.query.plan import Filters, Plan, field_words, misspelt_field, plan_search
from retrieval.query.question_terms import QueryTerms, analyze_query, readable
from retrieval.query.scope import EMPTY, Scope, ScopeSql, ScopeSummary, read_summary
from retrieval.query.spelling import respelt
from retrieval.ranking.candidate_lists import (
    NAMED_PAGES,
    NAMED_PLACES,
    KeywordSearch,
    NamedQuestion,
    RankedList,
    chunks_at_places,
    chunks_on_pages,
    fuse,
    interleave,
    stated_place,
    vector_lists,
)
from retrieval.ranking.features import (
    Candidate,
    FeatureExtractor,
    TermFeatures,
    has_quoted,
    read_candidates,
)
from retrieval.ranking.hits import Excerpts, FoundCandidates, hits_of, read_facets
from retrieval.ranking.rerankers import (
    Reranker,
    by_model,
    configured_reranker,
    rank_by_evidence,
)
from retrieval.results import FullTextLevel, SearchOptions, SearchRecord, SearchResult, StrategyName, Trace
from text.terms import terms_of

logger = logging.getLogger(__name__)

Configured = Literal["configured"]

NOTHING_ASKED = "Enter what you are looking for."
NOTHING_BUT_FIELDS = "The first passage of each document with these filters. Add words to search in them."
UNKNOWN_FIELD = (
    "There is no such filter. The filters are author, year, page, tag, language, section and type."
)
NO_PHRASE = "No passage contains the quoted words together. Nearest:"
NOTHING_TELLING = "These words are too common. Add a more specific term."
NOTHING_INDEXED = "There is nothing to search here yet."
NOTHING_FOUND = "Nothing found. Try other words, or fewer filters."
NOTHING_CLOSE = "No passage contains these words. Nearest in meaning:"
NOTHING_MATCHES = "No document matches these filters. Remove or widen one."
BEING_PREPARED = "Your documents are being prepared for search. Try again in a minute."

RERANKED = 40
"""Candidates that are weighed; those after them keep their fused order, on whatever page they are shown."""


@dataclass(frozen=True, slots=True)
class PlannedSearch:
    """A search that needs no language model any more, so that another process can run it."""

    query: str
    asked: str
    fields: Filters
    scope: Scope
    options: SearchOptions
    trace: Trace
    summary: ScopeSummary
    plan: Plan
    start: float


def search(
    query: str,
    scope: Scope,
    options: SearchOptions | None = None,
    *,
    language_model: LanguageModel | Configured | None = "configured",
    reranker: Reranker | Configured | None = "configured",
) -> SearchResult:
    """Return the chunks in ``scope`` about ``query``, best first, and the report of all strategies.

    The language model and the reranker are those of the settings; None searches without. It raises nothing
    for user input: an empty or hopeless query gives a result without hits and a ``message``. A provider that
    fails disables only its own strategy, which is reported in ``strategies``.
    """
    planned = planned_search(query, scope, options, language_model)
    return planned if isinstance(planned, SearchResult) else finish_search(planned, reranker)


def planned_search(
    query: str,
    scope: Scope,
    options: SearchOptions | None = None,
    language_model: LanguageModel | Configured | None = "configured",
) -> PlannedSearch | SearchResult:
    """Return the search with its plan; a result where there is nothing to plan."""
    start = time.perf_counter()
    options = options or SearchOptions()
    trace = Trace(options.off.union(cast(list[StrategyName], settings.SEARCH_OFF)))
    if language_model == "configured":
        try:
            language_model = configured_language_model()
        except ProviderError as error:
            language_model, trace.no_model = None, error.message
    asked, fields = field_words(readable(query))
    if not asked and not fields:
        return SearchResult(query, message=NOTHING_ASKED)
    scope = fields.narrow(scope)
    summary = summary_of(scope)
    if not asked:
        return replace(first_passages(query, scope, options, summary), filters=fields.describe())
    read = partial(analyze_query, languages=summary.languages, packs=packs_for(summary))
    question = read(asked)
    if question.is_empty:
        return SearchResult(query, message=NOTHING_TELLING)
    plan = plan_search(question, trace, language_model, read)
    return PlannedSearch(query, asked, fields, scope, options, trace, summary, plan, start)


def finish_search(
    planned: PlannedSearch, reranker: Reranker | Configured | None = "configured"
) -> SearchResult:
    """Return the result of a planned search; see ``search``."""
    options, trace, scope = planned.options, planned.trace, planned.scope
    if reranker == "configured":
        reranker = configured_reranker() if "rerank" not in trace.off else None
    result = search_planned(planned.query, planned.plan, scope, options, trace, reranker, planned.summary)
    if options.spelling and (sql := scope.compiled()):
        result = replace(result, respelt=respelt(planned.asked, sql, planned.summary))
    is_misspelt = misspelt_field(planned.asked) and result.message != NOTHING_INDEXED
    result = replace(
        result,
        message=UNKNOWN_FIELD if is_misspelt else result.message,
        filters={**result.filters, **planned.fields.describe()},
        strategies=trace.reports(),
        derived=planned.plan.derived,
        milliseconds=round((time.perf_counter() - planned.start) * 1000, 2),
    )
    if options.record:
        keep_in_history(scope, result, options.record)
    return result


def first_passages(query: str, scope: Scope, options: SearchOptions, summary: ScopeSummary) -> SearchResult:
    """Return the first passage in scope of each document, by title: what a search by filters alone finds."""
    sql = scope.compiled()
    if sql is None or not summary.chunks:
        return SearchResult(query, message=BEING_PREPARED if summary.preparing else NOTHING_MATCHES)
    firsts = scope.chunks().order_by("document_id", "index").distinct("document_id").values("pk")
    chunks = RetrievalChunk.objects.filter(pk__in=firsts).order_by("document__title", "document_id")
    keys = list(chunks.values_list("pk", flat=True)[options.offset : options.offset + options.limit])
    index = ScopeIndex.empty(summary)
    candidates = read_candidates(sql, keys)
    plan = Plan((NamedQuestion("question", like("", "en")),), "", Filters(), ())
    listed: RankedList[UUID] = RankedList("filters", [(key, 1.0) for key in keys])
    found = FoundCandidates([listed], [], candidates, weighed(plan, candidates, index), index.rarity)
    hits = hits_of([(key, 0.0) for key in keys], found, Excerpts({}, compressed=False))
    return SearchResult(query, hits=hits, total=chunks.count(), message=NOTHING_BUT_FIELDS)


def packs_for(summary: ScopeSummary) -> list[str]:
    """Return the packs that the settings allow and that some document in scope belongs to."""
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
    """Search the documents that the question's filters leave; all of the scope if these hold nothing.

    A place that the question states ("in the methods section") is a list of its own (``stated_place``).
    ``summary``: that of the scope, if known.
    """
    if filters := plan.filters.of_documents():
        narrowed = _search_scope(query, plan, filters.narrow(scope), options, trace, reranker)
        if narrowed.hits:
            return replace(narrowed, filters=filters.describe())
        trace.steps["self_query"].reason = "nothing matched its filters, so they were ignored"
    if options.phrases and plan.own.quoted:
        return _search_phrases(query, plan, scope, options, trace, reranker, summary)
    return _search_scope(query, plan, scope, options, trace, reranker, summary)


def _search_phrases(
    query: str,
    plan: Plan,
    scope: Scope,
    options: SearchOptions,
    trace: Trace,
    reranker: Reranker | None,
    summary: ScopeSummary | None,
) -> SearchResult:
    """Return passages with the quoted words; if there are few and the question asks for more, others follow.

    A question may quote a heading or label to say where to look; then the answer is below or beside it.
    """
    whole = replace(options, offset=0, limit=options.offset + options.limit)
    exact = _search_scope(query, plan, scope, whole, trace, reranker, summary)
    if exact.total >= whole.limit or (exact.total and not plan.own.asks_more):
        return replace(exact, hits=exact.hits[options.offset :])
    others = _search_scope(query, plan, scope, replace(whole, phrases=False), trace, reranker, summary)
    best = max((hit.score for hit in others.hits), default=0.0)
    hits = {hit.chunk_id: hit for hit in others.hits}
    first = {hit.chunk_id: replace(hit, score=round(hit.score + best, 5)) for hit in exact.hits}
    hits = {**first, **hits, **first}
    message = NO_PHRASE if others.hits and not exact.hits else others.message
    return replace(others, hits=tuple(hits.values())[options.offset : whole.limit], message=message)


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
            sql = sql.with_words(" | ".join(map(phrase, written))) if written else sql
    index = _read_index(plan, sql, summary, trace)
    if trace.wants("keyword"):
        plan = plan.with_parts(index.holds)
    stated = plan.filters.of_chunks()
    small = stated and summary.chunks <= EXACT_UP_TO  # in a large scope every chunk would be compared
    found = find(plan, sql, index, options, trace, stated.narrow(scope).compiled() if small else None)
    ranked = rank(plan, found, trace, reranker)
    if options.phrases and plan.own.quoted:  # the rest has a low rank, and matched the phrases in the index
        read, phrases = found.candidates, plan.own.quoted
        ranked = [
            item
            for item in ranked
            if item[0] not in read or has_quoted(phrases, read[item[0]], summary.languages)
        ]
    shown = ranked[options.offset : options.offset + options.limit]
    if options.excerpts:
        with trace.step("compression") as step:
            compressed = trace.wants("compression")
            phrases = () if plan.own.asks_more else plan.own.quoted
            weights = marking_weights(plan, found)
            hits = hits_of(shown, found, Excerpts(weights, compressed, phrases, plan.own.prefixes))
            step.added = len(hits) if compressed else 0
    else:
        hits = hits_of(shown, found)
    facets = read_facets(sql, [key for key, _ in ranked]) if options.facets else ()
    message = (NOTHING_CLOSE if only_near(trace, found) else "") if hits else NOTHING_FOUND
    return SearchResult(
        query, hits=hits, total=len(ranked), facets=facets, message=message, preparing=summary.preparing
    )


def only_near(trace: Trace, found: FoundCandidates) -> bool:
    """Return whether no passage has a word of the query, so that the results are only similar in meaning.

    The text of a model does not count: it matches something for any nonsense.
    """
    keyword = trace.steps.get("keyword")
    own = ("question", NAMED_PAGES, NAMED_PLACES)
    searched = keyword is not None and keyword.ran
    return searched and not any(ranked.items for ranked in found.lists if ranked.name in own)


def with_operators(scope: ScopeSql, question: QueryTerms) -> ScopeSql:
    """Return the scope without chunks that have an excluded word, and only those that have each prefix."""
    for prefix in question.prefixes:
        scope = scope.with_beginning(prefix)
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
    plan: Plan,
    scope: ScopeSql,
    index: ScopeIndex,
    options: SearchOptions,
    trace: Trace,
    stated: ScopeSql | None = None,
) -> FoundCandidates:
    """Run the lists, fuse them, and read the first candidates. ``stated``: the place of the question."""
    lists: list[RankedList[UUID]] = []
    languages, understanding = frozenset[str](), 0.0
    if trace.wants("keyword"):
        with trace.step("keyword") as step:
            level = options.fts_level or cast(FullTextLevel, settings.SEARCH_FTS_LEVEL)
            for of in plan.questions:
                ranked = KeywordSearch(scope, index, of.question, trace.wants("context"))
                lists.append(RankedList(of.name, ranked.ranked(level, options.keyword_limit), of.weight))
            step.added = len(chunks_in(lists))
            if stated:
                lists.append(stated_place(stated, index, plan.own, options.keyword_limit))
    if trace.wants("vector"):
        with trace.step("vector") as step:
            space = index.summary.space or active_space()
            engine = embedder_of(space)
            languages, understanding = engine.languages, engine.understanding
            by_meaning = vector_lists(
                plan.meanings,
                space,
                engine,
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
    if index.summary.documents > 1:  # facets are not displayed
        on_pages = {
            key: page for key, found in candidates.items() if (page := found.first_of(plan.own.pages))
        }
    evidence = weighed(plan, candidates, index)
    return FoundCandidates(
        lists, fused, candidates, evidence, index.rarity, on_pages, languages, understanding
    )


def weighed(
    plan: Plan, candidates: Mapping[UUID, Candidate], index: ScopeIndex
) -> dict[UUID, dict[str, TermFeatures]]:
    """Return the features of each candidate, by the name of the question or part."""
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
    """Return the fused order; its head is ranked again by evidence, and by a model if there is one."""
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
        step.ran = True  # at least by features
    return [*ranked, *rest]


def moved(before: Sequence[tuple[UUID, float]], after: Sequence[tuple[UUID, float]]) -> int:
    return sum(old[0] != new[0] for old, new in zip(before, after, strict=True))


def marking_weights(plan: Plan, found: FoundCandidates) -> dict[str, float]:
    """Return the weight of each term for the choice of a snippet."""
    weights = plan.own.weights_for(plan.own.packs)
    return {term: weight * found.rarity.get(term, 0.0) for term, weight in weights.items()}


# More like this: passages similar to a chunk.

MOST_TERMS = 40
GONE = "That passage no longer exists."


def more_like(chunk_id: UUID, scope: Scope, limit: int = 10) -> SearchResult:
    """Return passages in ``scope`` like the chunk, without it. The chunk must be in scope."""
    start = time.perf_counter()
    chunk = RetrievalChunk.objects.filter(document__in=scope.documents(), pk=chunk_id).first()
    if chunk is None:
        return SearchResult("", message=GONE)
    language = (
        IndexedDocument.objects.filter(document=chunk.document_id).values_list("language", flat=True).first()
    )
    plan = Plan((NamedQuestion("question", like(chunk.content, language or "en")),), "", Filters(), ())
    trace = Trace(frozenset({"context"}))  # the document's names would only find the document itself
    result = search_planned(chunk.content, plan, scope, SearchOptions(limit=limit + 1), trace, None)
    others = tuple(hit for hit in result.hits if hit.chunk_id != chunk_id)[:limit]
    milliseconds = round((time.perf_counter() - start) * 1000, 2)
    return replace(result, hits=others, strategies=trace.reports(), milliseconds=milliseconds)


def like(text: str, language: str) -> QueryTerms:
    """Return the text as a question: its most frequent terms, each counting 1."""
    text = readable(text)
    terms = [term for term, _ in Counter(terms_of(text, language)).most_common(MOST_TERMS)]
    groups = tuple((term,) for term in terms)
    return QueryTerms(text, dict.fromkeys(terms, 1.0), groups, said=frozenset(terms))


def keep_in_history(scope: Scope, result: SearchResult, record: SearchRecord) -> None:
    """Store a search for its user; a failure to store it does not fail the search."""
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
