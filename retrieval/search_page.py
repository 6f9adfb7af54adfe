"""What a person asked the search page for, read from its URL; and what the page shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TypeVar
from uuid import UUID

from django.contrib.auth.models import User
from django.core.paginator import Paginator
from django.http import QueryDict

from documents.models import Document
from documents.recognition import pages_left
from retrieval.facets import Facet
from retrieval.providers.rerankers import configured_reranker
from retrieval.results import Hit, SearchOptions, SearchResult
from retrieval.scope import Scope
from retrieval.search import search

HITS_A_PAGE = 10
LAST_PAGE = 10
LONGEST_QUERY = 4000  # characters; more would not fit a URL
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """The URL's parameters; the names are theirs. What makes no sense is left out."""

    q: str = ""
    document: tuple[UUID, ...] = ()
    collection: UUID | None = None
    tag: tuple[str, ...] = ()
    author: tuple[str, ...] = ()
    year: int | None = None
    year_from: int | None = None
    year_to: int | None = None
    type: tuple[str, ...] = ()
    section: tuple[str, ...] = ()
    language: tuple[str, ...] = ()
    page_from: int | None = None
    page_to: int | None = None
    page: int = 1

    @classmethod
    def from_query(cls, query: QueryDict) -> SearchRequest:
        return cls(
            q=query.get("q", "").replace("\x00", " ").strip()[:LONGEST_QUERY],
            document=tuple(_read(UUID, text) for text in query.getlist("document") if _read(UUID, text)),
            collection=_read(UUID, query.get("collection", "")),
            tag=_texts(query, "tag"),
            author=_texts(query, "author"),
            year=_number(query.get("year", "")),
            year_from=_number(query.get("year_from", "")),
            year_to=_number(query.get("year_to", "")),
            type=_texts(query, "type"),
            section=_texts(query, "section"),
            language=_texts(query, "language"),
            page_from=_number(query.get("page_from", "")),
            page_to=_number(query.get("page_to", "")),
            page=min(max(_number(query.get("page", "")) or 1, 1), LAST_PAGE),
        )

    @property
    def filters(self) -> dict[str, object]:
        """The filters that are set, by the names of their parameters."""
        names = (field.name for field in fields(self) if field.name not in ("q", "page"))
        return {name: value for name in names if (value := getattr(self, name))}

    def scope(self, user: User) -> Scope:
        return Scope(
            user,
            document_ids=self.document or None,
            collection_id=self.collection,
            tags=self.tag,
            authors=self.author,
            year_from=self.year or self.year_from,
            year_to=self.year or self.year_to,
            languages=self.language,
            chunk_types=self.type,
            section_types=self.section,
            page_from=self.page_from,
            page_to=self.page_to,
        )


@dataclass(frozen=True, slots=True)
class ShownHit:
    """A hit and its document (for its thumbnail); ``unit``, where the reader opens, is the snippet's."""

    hit: Hit
    document: Document
    unit: UUID


@dataclass(frozen=True, slots=True)
class SearchPage:
    """All that the template needs.

    Attributes:
        page: a Django Page of the hits' numbers, for its links.
        pages_left: pages in scope that are still to be read, and could not be searched.
    """

    request: SearchRequest
    result: SearchResult
    hits: tuple[ShownHit, ...]
    facets: tuple[Facet, ...]
    page: object
    pages_left: int = 0

    @property
    def only_near(self) -> bool:
        """Whether no passage has a word of the query, and what is shown is only near to it in meaning."""
        by_words = [report for report in self.result.strategies if report.name == "keyword" and report.ran]
        return bool(self.hits) and bool(by_words) and not any(report.added for report in by_words)


def search_page(request: SearchRequest, user: User) -> SearchPage:
    """Searches as the URL says, and keeps the search in the user's history (its first page only)."""
    options = SearchOptions(
        limit=HITS_A_PAGE,
        offset=HITS_A_PAGE * (request.page - 1),
        facets=True,
        record=bool(request.q) and request.page == 1,
    )
    scope = request.scope(user)
    result = search(request.q, scope, options, reranker=configured_reranker())
    paginator = Paginator(range(min(result.total, HITS_A_PAGE * LAST_PAGE)), HITS_A_PAGE)
    return SearchPage(
        request,
        result,
        shown_hits(result, user),
        result.facets,
        paginator.get_page(request.page),
        pages_left(scope.documents()),
    )


def shown_hits(result: SearchResult, user: User) -> tuple[ShownHit, ...]:
    documents = Document.objects.visible_to(user).in_bulk([hit.document_id for hit in result.hits])
    return tuple(
        ShownHit(hit, documents[hit.document_id], hit.snippet_unit_id)
        for hit in result.hits
        if hit.document_id in documents
    )


def _texts(query: QueryDict, name: str) -> tuple[str, ...]:
    return tuple(text.replace("\x00", "")[:200] for text in query.getlist(name) if text.strip())


def _number(text: str) -> int | None:
    number = _read(int, text)
    return number if number is not None and 0 < number < 100_000 else None


def _read(kind: Callable[[str], Value], text: str) -> Value | None:
    try:
        return kind(text)
    except ValueError:
        return None
