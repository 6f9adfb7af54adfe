"""How one question is searched: depth, strategies and filters, set for a conversation or a question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, get_args
from uuid import UUID

import msgspec

from retrieval.query.scope import Scope
from retrieval.results import FullTextLevel, SearchOptions, StrategyName

SWITCHES: tuple[StrategyName, ...] = (
    "multi_query",
    "hyde",
    "self_query",
    "decomposition",
    "rerank",
    "compression",
)
"""Strategies that a question may switch on or off."""
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
        """The part of ``scope`` that meets the filters, too."""
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
    """None leaves a value to the conversation, then to the server."""

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
        """From the JSON of ``stored()``; a value of another kind raises msgspec.ValidationError."""
        return msgspec.convert(stored, cls, strict=False)

    def stored(self) -> dict[str, Any]:
        """What is set, as JSON."""
        found: dict[str, Any] = msgspec.to_builtins(self)
        return {name: value for name, value in found.items() if value not in ({}, None)}

    def over(self, general: RagConfig) -> RagConfig:
        """This with what it leaves open taken from ``general``, filter by filter."""
        return RagConfig.read({**general.stored(), **self.stored(), "filters": self._filters_over(general)})

    def _filters_over(self, general: RagConfig) -> dict[str, Any]:
        return {**general.stored().get("filters", {}), **self.stored().get("filters", {})}

    def options(self, usual: SearchOptions) -> SearchOptions:
        """``usual`` with what is set here."""
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
