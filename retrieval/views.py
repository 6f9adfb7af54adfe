"""The search page, passages like another, and one's own search history."""

from __future__ import annotations

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from documents.models import CitationUnit, Page, RetrievalChunk
from documents.pictures import STRONG, Highlight, PictureFailed, page_picture
from retrieval.history import names_in_filters
from retrieval.models import SearchQuery
from retrieval.scope import Scope
from retrieval.search_page import SearchRequest, search_page, shown_hits
from retrieval.similar import more_like

SEARCHES_A_PAGE = 50
FRESH_SECONDS = 3600


@require_safe
@login_required
def search_view(request: HttpRequest) -> HttpResponse:
    """Results for ``?q=``; without it, the box and the latest searches."""
    asked = SearchRequest.from_query(request.GET)
    context: dict[str, object] = {"section": "search", "asked": asked}
    if asked.q:
        context["shown"] = search_page(asked, request.user)
    else:
        context["recent"] = SearchQuery.objects.visible_to(request.user).latest_of_each()[:8]
    return render(request, "retrieval/search.html", context)


@require_safe
@login_required
def similar(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Passages like the chunk, as a fragment."""
    get_object_or_404(RetrievalChunk.objects.visible_to(request.user), pk=pk)
    result = more_like(pk, Scope(request.user), limit=5)
    context = {"result": result, "hits": shown_hits(result, request.user)}
    return render(request, "retrieval/_similar.html", context)


@require_safe
@login_required
def picture(request: HttpRequest, pk: UUID) -> HttpResponse:
    """The page of a unit, with the unit lit."""
    unit = get_object_or_404(CitationUnit.objects.visible_to(request.user).select_related("document"), pk=pk)
    page = get_object_or_404(Page, document=unit.document_id, number=unit.page_number)
    try:
        png = page_picture(page, [Highlight(unit.rects or [unit.bbox], STRONG)], dpi=72)
    except PictureFailed:
        raise Http404 from None
    headers = {"Cache-Control": f"private, max-age={FRESH_SECONDS}"}
    return HttpResponse(png, content_type="image/png", headers=headers)


@require_safe
@login_required
def history(request: HttpRequest) -> HttpResponse:
    searches = Paginator(SearchQuery.objects.visible_to(request.user), SEARCHES_A_PAGE)
    page = searches.get_page(request.GET.get("page"))
    context = {"section": "search", "page": page, "names": names_in_filters(page, request.user)}
    return render(request, "retrieval/history.html", context)


@require_POST
@login_required
def forget(request: HttpRequest, pk: UUID) -> HttpResponse:
    get_object_or_404(SearchQuery.objects.visible_to(request.user), pk=pk).delete()
    return redirect("search-history")


@require_POST
@login_required
def forget_all(request: HttpRequest) -> HttpResponse:
    SearchQuery.objects.visible_to(request.user).delete()
    return redirect("search-history")
