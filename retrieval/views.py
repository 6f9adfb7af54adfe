"""The search page and its request, similar passages, and the search history."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from documents.files.page_pictures import STRONG, Highlight, PictureFailed, page_picture
from documents.ingestion.recognition import pages_left
from documents.labels import labels_in_library
from documents.models import CitationUnit, Collection, Document, Page, RetrievalChunk
from documents.models.document import language_name
from documents.models.library import uuid_or_none
from retrieval.embeddings.registry import CHOICES, DEFAULT_MODELS, EmbeddingChoice
from retrieval.embeddings.weights import fetched_percent
from retrieval.index.backfill import move_into, share_embedded
from retrieval.index.vectors import active_space
from retrieval.models import EmbeddingSpace, SavedSearch, SearchQuery
from retrieval.provider_calls import ProviderError
from retrieval.query.scope import Scope
from retrieval.results import (
    FULL_TEXT_LEVELS,
    Facet,
    Hit,
    RagConfig,
    SearchOptions,
    SearchRecord,
    SearchResult,
    cleared_switches,
)
from retrieval.search import NOTHING_INDEXED, more_like, search
from text.languages import base_language
from text.numbers import whole_number

# --- The request of the search page, parsed from its URL, and the data it shows ---

AS_SET_UP = RagConfig()
HITS_A_PAGE = 10
LAST_PAGE = 10
LONGEST_QUERY = 4000  # characters; more would not fit a URL
MOST_HITS = 200  # best passages of a saved search, whose documents are its documents


TEXTS = ("tag", "author", "type", "section", "language")
MOST_NUMBER = 99_999  # a year or a page
NUMBERS = ("year", "year_from", "year_to", "page_from", "page_to")


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """The parameters of the URL, under their names. Invalid ones are ignored."""

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
    config: RagConfig = AS_SET_UP

    @classmethod
    def from_query(cls, query: QueryDict) -> SearchRequest:
        return cls(
            q=query.get("q", "").replace("\x00", " ").strip()[:LONGEST_QUERY],
            document=tuple(pk for text in query.getlist("document") if (pk := uuid_or_none(text))),
            collection=uuid_or_none(query.get("collection", "")),
            **{name: _texts(query, name) for name in TEXTS},
            **{name: _number(query.get(name, "")) for name in NUMBERS},
            page=min(max(_number(query.get("page", "")) or 1, 1), LAST_PAGE),
            config=config_in(query),
        )

    @property
    def filters(self) -> dict[str, object]:
        """Return the filters that are set, by the names of their parameters."""
        names = (field.name for field in fields(self) if field.name not in ("q", "page", "config"))
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
    """A hit, its document (for the thumbnail), and the snippet's ``unit``, at which the reader opens.

    Attributes:
        title: it tells the document apart from others of its name.
        place: printed page and lines on it; of an imported block ``slide 4``, ``sheet Q2, row 7``.
        copies: the same passage in documents with the same text.
    """

    hit: Hit
    document: Document
    title: str
    unit: UUID
    place: str = ""
    copies: tuple[ShownHit, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchPage:
    """The data of the template.

    Attributes:
        page: a Django Page of the hits' numbers, for its links.
        pages_left: pages in scope that await OCR, so that they were not searched.
    """

    request: SearchRequest
    result: SearchResult
    hits: tuple[ShownHit, ...]
    facets: tuple[Facet, ...]
    page: object
    pages_left: int = 0

    @property
    def is_of_empty_library(self) -> bool:
        return self.result.message == NOTHING_INDEXED and not self.request.filters


def search_page(request: SearchRequest, user: User) -> SearchPage:
    """Search as the URL says; store the first page in the user's history."""
    usual = SearchOptions(
        limit=HITS_A_PAGE,
        offset=HITS_A_PAGE * (request.page - 1),
        facets=True,
        spelling=request.page == 1,
        record=SearchRecord("page") if request.q and request.page == 1 else None,
    )
    scope = request.scope(user)
    result = search(request.q, scope, request.config.options(usual))
    paginator = Paginator(range(min(result.total, HITS_A_PAGE * LAST_PAGE)), HITS_A_PAGE)
    return SearchPage(
        request,
        result,
        shown_hits(result, user),
        result.facets,
        paginator.get_page(request.page),
        pages_left(scope.documents()),
    )


def documents_found(saved: SavedSearch) -> set[UUID]:
    """Return the documents of the best passages of a saved search, run with its user's rights."""
    asked = SearchRequest.from_query(QueryDict(saved.query))
    options = asked.config.options(SearchOptions(limit=MOST_HITS, phrases=True, excerpts=False))
    return {hit.document_id for hit in search(asked.q, asked.scope(saved.user), options).hits}


def config_in(query: QueryDict) -> RagConfig:
    """Return the search settings of the URL; those of the server without the settings panel."""
    level = query.get("fts_level", "")
    return RagConfig(
        fts_level=level if level in FULL_TEXT_LEVELS else None,
        **(cleared_switches(query.getlist("use")) if "search_panel" in query else {}),
    )


def shown_hits(result: SearchResult, user: User) -> tuple[ShownHit, ...]:
    """Return the hits that the user may see; one in several documents with the same text is shown once."""
    documents = Document.objects.visible_to(user).in_bulk([hit.document_id for hit in result.hits])
    titles = labels_in_library(documents.values())
    rows: dict[UUID, Any] = CitationUnit.objects.with_printed_page().in_bulk(
        [hit.snippet_unit_id for hit in result.hits]
    )
    places = {
        key: unit.printed_place(unit.page_label or "", unit.page_first_line or 0)
        for key, unit in rows.items()
    }
    alike: dict[tuple[object, ...], list[ShownHit]] = {}
    for hit in result.hits:
        if document := documents.get(hit.document_id):
            place = places.get(hit.snippet_unit_id, "")
            shown = ShownHit(hit, document, titles[document.pk], hit.snippet_unit_id, place)
            alike.setdefault((document.text_digest or document.pk, hit.page, hit.index), []).append(shown)
    return tuple(replace(first, copies=tuple(others)) for first, *others in alike.values())


def _texts(query: QueryDict, name: str) -> tuple[str, ...]:
    return tuple(text.replace("\x00", "")[:200] for text in query.getlist(name) if text.strip())


def _number(text: str) -> int | None:
    return whole_number(text, MOST_NUMBER, least=1)


SEARCHES_A_PAGE = 50
FRESH_SECONDS = 3600


@require_safe
def search_view(request: HttpRequest) -> HttpResponse:
    """Show the results for ``?q=``; without it, the search box and the latest searches."""
    asked = SearchRequest.from_query(request.GET)
    collection = Collection.objects.visible_to(request.user).filter(pk=asked.collection).first()
    context: dict[str, object] = {"section": "search", "asked": asked, "collection": collection}
    if asked.q:
        context["shown"] = search_page(asked, request.user)
        context["address"] = kept_address(request.GET)
    else:
        context["saved"] = SavedSearch.objects.visible_to(request.user)
        context["recent"] = SearchQuery.objects.visible_to(request.user).latest_of_each()[:8]
    return render(request, "retrieval/search.html", context)


def kept_address(query: QueryDict) -> str:
    """Return the query string of a search without the page of its results."""
    kept = query.copy()
    kept.pop("page", None)
    return kept.urlencode()[:LONGEST_QUERY]


@require_POST
def save_search(request: HttpRequest) -> HttpResponse:
    """Save the search ``query`` (a query string) under ``name``, replacing one of the same name."""
    query = QueryDict(request.POST.get("query", "")[:LONGEST_QUERY])
    asked = SearchRequest.from_query(query)
    name = request.POST.get("name", "").replace("\x00", "").strip()[:120] or asked.q[:120]
    if not asked.q:
        raise Http404
    SavedSearch.objects.update_or_create(
        user=request.user, name=name, defaults={"query": kept_address(query)}
    )
    messages.success(request, _("Saved as “%(name)s”. It is listed on the search page.") % {"name": name})
    return redirect(f"{reverse('search')}?{kept_address(query)}")


@require_POST
def forget_saved(request: HttpRequest, pk: UUID) -> HttpResponse:
    get_object_or_404(SavedSearch.objects.visible_to(request.user), pk=pk).delete()
    return redirect("search")


@require_safe
def similar(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Return passages like the chunk as a fragment."""
    get_object_or_404(RetrievalChunk.objects.visible_to(request.user), pk=pk)
    result = more_like(pk, Scope(request.user), limit=5)
    context = {"result": result, "hits": shown_hits(result, request.user)}
    return render(request, "retrieval/_similar.html", context)


@require_safe
def picture(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Show the page of a unit, with the unit highlighted."""
    unit = get_object_or_404(CitationUnit.objects.visible_to(request.user).select_related("document"), pk=pk)
    page = get_object_or_404(Page, document=unit.document_id, number=unit.page_number)
    try:
        png = page_picture(page, [Highlight(unit.rects or [unit.bbox], STRONG)], dpi=72)
    except PictureFailed:
        raise Http404 from None
    headers = {"Cache-Control": f"private, max-age={FRESH_SECONDS}"}
    return HttpResponse(png, content_type="image/png", headers=headers)


@require_safe
def history(request: HttpRequest) -> HttpResponse:
    kept = SearchQuery.objects.visible_to(request.user).select_related("parent")
    searches = Paginator(kept, SEARCHES_A_PAGE)
    page = searches.get_page(request.GET.get("page"))
    context = {"section": "search", "page": page, "names": names_in_filters(page, request.user)}
    return render(request, "retrieval/history.html", context)


def names_in_filters(searches: Iterable[SearchQuery], user: User) -> dict[str, str]:
    """Return names of visible documents and collections in these searches' filters, by id. Two queries."""
    kept = [search.filters for search in searches]
    documents = {pk for filters in kept for pk in filters.get("document_ids", "").split(", ") if pk}
    collections = {filters["collection_id"] for filters in kept if "collection_id" in filters}
    named = [
        *Document.objects.visible_to(user).filter(pk__in=documents).values_list("pk", "title"),
        *Collection.objects.visible_to(user).filter(pk__in=collections).values_list("pk", "name"),
    ]
    return {str(pk): name for pk, name in named}


@require_POST
def forget(request: HttpRequest, pk: UUID) -> HttpResponse:
    get_object_or_404(SearchQuery.objects.visible_to(request.user), pk=pk).delete()
    return redirect("search-history")


@require_POST
def forget_all(request: HttpRequest) -> HttpResponse:
    SearchQuery.objects.visible_to(request.user).delete()
    return redirect("search-history")


# --- Embedding models on the providers page: the active one, and moving to another ---


@dataclass(frozen=True, slots=True)
class SpaceCard:
    """An embedding provider with its active, chosen or default model.

    Attributes:
        share: of chunks that are embedded by the model that the library moves to.
        fetched: per cent of the model that this machine has fetched, while it does.
    """

    choice: EmbeddingChoice
    model: str
    active: bool
    wanted: bool
    failure: str
    share: float
    fetched: int | None = None

    @property
    def percent(self) -> int:
        return int(100 * self.share)


def space_cards() -> list[SpaceCard]:
    with suppress(ProviderError):
        active_space()  # creates the settings' space before the first document
    shown = {space.provider: space for space in EmbeddingSpace.objects.order_by("active", "wanted")}
    return [
        SpaceCard(
            choice,
            space.model if space else DEFAULT_MODELS[choice.provider],
            bool(space and space.active),
            bool(space and space.wanted),
            space.failure if space else "",
            share_embedded(space) if space and space.wanted else 0.0,
            fetched_percent() if choice.provider == "e5" else None,
        )
        for choice in CHOICES
        for space in [shown.get(choice.provider)]
    ]


def spaces_context() -> dict[str, object]:
    found = space_cards()
    moving = next((card for card in found if card.wanted), None)
    answering = next((card for card in found if card.active), None)
    foreign = main_foreign_language() if answering and answering.choice.provider == "wordllama" else ""
    return {"spaces": found, "moving": moving, "answering": answering, "foreign": foreign}


def main_foreign_language() -> str:
    """Return the name of the most frequent language but English; '' unless most documents are not English.

    Documents whose language is unknown do not count.
    """
    spoken = Document.objects.filter(deleted_at=None).exclude(language="").order_by()
    counts = Counter[str]()
    for code, documents in spoken.values_list("language").annotate(Count("pk")):
        counts[base_language(code)] += documents
    english = counts.pop("en", 0)
    return language_name(counts.most_common(1)[0][0]) if counts.total() > english else ""


def spaces(request: HttpRequest) -> HttpResponse:
    """Show the list as a fragment. POST requests of administrators move the library to ``provider:model``."""
    refusal = ""
    if request.method == "POST":
        if not request.user.is_staff:
            raise PermissionDenied
        provider, model = request.POST.get("provider", ""), request.POST.get("model", "").strip()
        try:
            move_into(f"{provider}:{model}")
        except ProviderError as error:
            refusal = error.message
    return render(request, "retrieval/_spaces.html", {**spaces_context(), "refusal": refusal})
