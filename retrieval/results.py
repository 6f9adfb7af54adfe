"""Types of a search: its settings (``RagConfig``: depth, strategies, filters), its results and its trace."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args
from uuid import UUID

import msgspec

from retrieval.provider_calls import ProviderError
from retrieval.query.scope import Scope

StrategyName = Literal[
    "self_query",
    "decomposition",
    "multi_query",
    "hyde",
    "keyword",
    "vector",
    "context",
    "rerank",
    "compression",
]
STRATEGIES: tuple[StrategyName, ...] = get_args(StrategyName)
FullTextLevel = Literal["document", "chunk", "unit"]


@dataclass(frozen=True, slots=True)
class SearchRecord:
    """How a search is kept in the history.

    Attributes:
        source: where it was made.
        query_type: 'follow_up' is a question that rests on an earlier one of its conversation.
        id: of the row, None for a new one; an answer's search has the answer's id.
        parent: the search that the question rests on.
    """

    source: Literal["page", "api", "chat"] = "page"
    query_type: Literal["search", "question", "follow_up"] = "search"
    id: UUID | None = None
    parent: UUID | None = None


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """How to search. ``off`` switches strategies off; the rest run where they can.

    Attributes:
        limit, offset: the hits wanted.
        keyword_limit, vector_limit: chunks of each ranked list that are fused.
        threshold: cosine similarity that a passage found by its meaning needs.
        fts_level: what keyword search ranks; None takes the setting ``SEARCH_FTS_LEVEL``.
        off: strategies that must not run.
        phrases: only passages with the quoted words, where there are any.
        facets: count how the passages divide by document, year, author, …
        excerpts: give each hit its snippet and its compressed passage; without, both are empty.
        spelling: offer near spellings of words that no passage has.
        record: how to keep the search in the user's history; None keeps it out.
    """

    limit: int = 10
    offset: int = 0
    keyword_limit: int = 60
    vector_limit: int = 60
    threshold: float = 0.1
    fts_level: FullTextLevel | None = None
    off: frozenset[StrategyName] = frozenset()
    phrases: bool = True
    facets: bool = False
    excerpts: bool = True
    spelling: bool = False
    record: SearchRecord | None = None


@dataclass(frozen=True, slots=True)
class ListRank:
    """A chunk's place in one fused list: ``rank`` from 1, ``score`` in the list's own units."""

    list: str
    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Snippet:
    """A stretch of a text, from ``start`` on; ``marks`` are the [start, end) of matched words in it."""

    text: str
    marks: tuple[tuple[int, int], ...] = ()
    start: int = 0

    @property
    def pieces(self) -> list[tuple[str, bool]]:
        """Return the text in order as (piece, whether it is marked)."""
        pieces, at = [], 0
        for start, end in self.marks:
            pieces += [(self.text[at:start], False), (self.text[start:end], True)]
            at = end
        return [piece for piece in [*pieces, (self.text[at:], False)] if piece[0]]


@dataclass(frozen=True, slots=True)
class Hit:
    """One chunk that speaks of the query.

    Attributes:
        unit_ids: units of the chunk on ``page``, in reading order.
        best_unit_ids: units of the chunk that speak of the query, best first; never empty.
        passage_unit_ids: all units of the chunk, in reading order: what to show a model, so that rows
            keep their table.
        page: page of the best unit, from 1.
        score: comparable within one result only; higher is better.
        why: the chunk's rank in each list it stood in.
        snippet_unit_id: the unit of the snippet's first marked word.
        passage: the sentences of the chunk that matter, when compression ran; else all of it.
    """

    chunk_id: UUID
    document_id: UUID
    document_title: str
    index: int
    page: int
    page_start: int
    page_end: int
    unit_ids: tuple[UUID, ...]
    best_unit_ids: tuple[UUID, ...]
    passage_unit_ids: tuple[UUID, ...]
    score: float
    why: tuple[ListRank, ...]
    snippet: Snippet
    snippet_unit_id: UUID
    passage: str
    context_header: str
    section_path: tuple[str, ...]
    chunk_type: str


@dataclass(frozen=True, slots=True)
class StrategyReport:
    """Report of one strategy; ``reason``: why it did not run, or what went wrong.

    ``added`` counts the chunks it brought that no list before it had (for
    rerank: the chunks whose place it changed).
    """

    name: StrategyName
    ran: bool
    milliseconds: float = 0.0
    added: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class DerivedQuery:
    """A query derived from the user's; ``by`` is the strategy."""

    text: str
    by: StrategyName


@dataclass(frozen=True, slots=True)
class FacetValue:
    """``value`` goes into the URL, ``label`` is displayed, ``count`` is the number of chunks."""

    value: str
    label: str
    count: int


@dataclass(frozen=True, slots=True)
class Facet:
    """``name`` is the URL parameter it sets. Most frequent values first."""

    name: str
    values: tuple[FacetValue, ...]


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The result of a search. ``message``: for people, why nothing was found.

    ``respelt``: the query with near spellings of words that no passage has; '' if there are none.
    ``preparing``: documents in scope that are indexed again after an upgrade, and not found until then.
    """

    query: str
    hits: tuple[Hit, ...] = ()
    total: int = 0
    strategies: tuple[StrategyReport, ...] = ()
    derived: tuple[DerivedQuery, ...] = ()
    filters: dict[str, str] = field(default_factory=dict)
    facets: tuple[Facet, ...] = ()
    milliseconds: float = 0.0
    message: str = ""
    respelt: str = ""
    preparing: int = 0


# Keeps what each strategy of one search did.


@dataclass(slots=True)
class Step:
    """A running strategy. ``reason`` is set if it could not do its work."""

    ran: bool = True
    added: int = 0
    reason: str = ""
    milliseconds: float = 0.0


@dataclass(slots=True)
class Trace:
    """Reports of all strategies; ``no_model``: why there is no language model."""

    off: frozenset[StrategyName] = frozenset()
    no_model: str = "no language model is configured"
    steps: dict[StrategyName, Step] = field(default_factory=dict)

    def wants(self, name: StrategyName) -> bool:
        """Return whether the strategy is switched on; note it in the report when it is not."""
        if name in self.off:
            self.skip(name, "switched off")
        return name not in self.off

    def skip(self, name: StrategyName, reason: str) -> None:
        self.steps[name] = Step(ran=False, reason=reason)

    @contextmanager
    def step(self, name: StrategyName) -> Iterator[Step]:
        """Time the strategy; store a provider's error as the reason and continue."""
        step = self.steps.setdefault(name, Step())
        start = time.perf_counter()
        try:
            yield step
        except ProviderError as error:
            step.ran, step.reason = False, error.message
        finally:
            step.milliseconds += (time.perf_counter() - start) * 1000

    def reports(self) -> tuple[StrategyReport, ...]:
        return tuple(
            StrategyReport(name, step.ran, round(step.milliseconds, 2), step.added, step.reason)
            for name in STRATEGIES
            if (step := self.steps.get(name))
        )


SWITCHES: tuple[StrategyName, ...] = (
    "multi_query",
    "hyde",
    "self_query",
    "decomposition",
    "rerank",
    "compression",
)
"""Strategies that a question may switch on or off."""


def cleared_switches(used: Collection[str]) -> dict[str, bool]:
    """Return False for each switch cleared in the settings panel, where compression is off by default."""
    return {name: False for name in SWITCHES if name != "compression" and name not in used}


MOST_CHUNKS = 100
LONGEST_LIST = 200
FULL_TEXT_LEVELS: tuple[FullTextLevel, ...] = get_args(FullTextLevel)


class SearchFilters(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Filters of a question; names and meanings are those of ``Scope``."""

    documents: tuple[UUID, ...] = ()
    collection: UUID | None = None
    tags: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    sections: tuple[str, ...] = ()
    section_types: tuple[str, ...] = ()
    chunk_types: tuple[str, ...] = ()
    year_from: int | None = None
    year_to: int | None = None
    page_from: int | None = None
    page_to: int | None = None

    def narrow(self, scope: Scope) -> Scope:
        """Return ``scope`` restricted by the filters."""
        set_here = {name: value for name, value in msgspec.structs.asdict(self).items() if value}
        documents = set_here.pop("documents", None)
        collection = set_here.pop("collection", None)
        if collection and scope.collection_id not in (None, collection):
            members = set(
                Scope(scope.user, collection_id=collection).documents().values_list("pk", flat=True)
            )
            documents = tuple(pk for pk in documents if pk in members) if documents else tuple(members)
        elif collection:
            set_here["collection_id"] = collection
        if documents is not None:
            outer = scope.document_ids
            set_here["document_ids"] = tuple(pk for pk in documents if outer is None or pk in outer)
        return replace(scope, **set_here)


class RagConfig(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Settings of a search. None takes the conversation's value, else the server's."""

    vector_limit: int | None = None
    keyword_limit: int | None = None
    top_k: int | None = None
    threshold: float | None = None
    rerank: bool | None = None
    multi_query: bool | None = None
    hyde: bool | None = None
    self_query: bool | None = None
    decomposition: bool | None = None
    compression: bool | None = None
    fts_level: FullTextLevel | None = None
    filters: SearchFilters = SearchFilters()

    @classmethod
    def read(cls, stored: Mapping[str, Any]) -> RagConfig:
        """Return the settings from the JSON of ``stored()``. Raises msgspec.ValidationError for invalid
        types.
        """
        return msgspec.convert(stored, cls, strict=False)

    def stored(self) -> dict[str, Any]:
        """Return the settings that are set, as JSON."""
        found: dict[str, Any] = msgspec.to_builtins(self)
        return {name: value for name, value in found.items() if value not in ({}, None)}

    def over(self, general: RagConfig) -> RagConfig:
        """Return these settings, completed by those of ``general``, filter by filter."""
        return RagConfig.read({**general.stored(), **self.stored(), "filters": self._filters_over(general)})

    def _filters_over(self, general: RagConfig) -> dict[str, Any]:
        return {**general.stored().get("filters", {}), **self.stored().get("filters", {})}

    def options(self, usual: SearchOptions) -> SearchOptions:
        """Return ``usual`` with these settings."""
        switched = {name: getattr(self, name) for name in SWITCHES}
        off = usual.off - {name for name, on in switched.items() if on}
        return replace(
            usual,
            limit=self.top_k or usual.limit,
            keyword_limit=self.keyword_limit or usual.keyword_limit,
            vector_limit=self.vector_limit or usual.vector_limit,
            threshold=usual.threshold if self.threshold is None else self.threshold,
            fts_level=self.fts_level or usual.fts_level,
            off=off | {name for name, on in switched.items() if on is False},
        )
