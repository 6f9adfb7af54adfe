"""The library page and the page of background jobs."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from documents.files.formats import Converter, accepted
from documents.files.uploads import UploadRefused, store_address, store_upload
from documents.files.url_fetch import FetchRefused
from documents.library.document_list import LibraryView, for_cards, shelf_of
from documents.models import Document, Job
from documents.views.document_actions import changed, is_uuid, new_card, refusal

CARDS_A_PAGE = 48
POLLED_AT_ONCE = 100
LAYOUT_SECONDS = 365 * 24 * 3600


@require_safe
@login_required
def library(request: HttpRequest) -> HttpResponse:
    view = LibraryView.from_query(request.GET, as_list=request.COOKIES.get("library") == "list")
    shelf = shelf_of(request.user)
    context = {
        "section": "library",
        "view": view,
        "page": Paginator(view.documents(request.user), CARDS_A_PAGE).get_page(request.GET.get("page")),
        "shelf": shelf,
        "heading": shelf.name_of(view),
        "formats": accepted(),
        "office": [format.label for format in accepted() if format.maker == Converter.OFFICE],
    }
    response = render(request, "library/library.html", context)
    if "as" in request.GET:
        layout = "list" if view.as_list else "grid"
        response.set_cookie("library", layout, max_age=LAYOUT_SECONDS, samesite="Lax")
    return response


@require_POST
@login_required
def upload(request: HttpRequest) -> HttpResponse:
    """Takes one file; answers its card (201), or the reason it was refused as text (422)."""
    file = request.FILES.get("file")
    if file is None:
        return refusal(_("No file was sent."))
    try:
        document = store_upload(request.user, file, file.name or "")
    except UploadRefused as refused:
        return _refused(refused)
    return new_card(request, document)


def _refused(refused: UploadRefused) -> HttpResponse:
    """The reason as text; of a duplicate also where the document is that is there already."""
    response = refusal(refused.message)
    if refused.existing:
        response.headers["X-Existing"] = reverse("document", args=[refused.existing.pk])
    return response


@require_POST
@login_required
def upload_address(request: HttpRequest) -> HttpResponse:
    """Puts the address of a PDF in the queue; a worker fetches it. Answers the card, or why not."""
    try:
        document = store_address(request.user, request.POST.get("url", "").strip()[:2000])
    except FetchRefused as refused:
        return refusal(refused.message)
    return new_card(request, document)


@require_safe
@login_required
def cards(request: HttpRequest) -> HttpResponse:
    """The cards of ``?id=…&id=…`` as they stand now: what the library asks while documents are read.

    Where one has come to its end the page is told that its numbers may be others now.
    """
    ids = [value for value in request.GET.getlist("id")[:POLLED_AT_ONCE] if is_uuid(value)]
    documents = for_cards(Document.objects.visible_to(request.user).filter(pk__in=ids), request.user)
    response = render(request, "library/_cards.html", {"documents": documents})
    busy = all(document.is_working or document.fetching for document in documents)  # type: ignore[attr-defined]
    return response if busy else changed(response)


JOBS_A_PAGE = 50


@require_safe
@login_required
def jobs(request: HttpRequest) -> HttpResponse:
    """The user's jobs, newest first. The list alone is asked for again while one is unfinished."""
    rows = Job.objects.visible_to(request.user).select_related("document")
    page = Paginator(rows, JOBS_A_PAGE).get_page(request.GET.get("page"))
    unfinished = any(job.finished_at is None for job in page.object_list)
    template = "library/_jobs.html" if request.headers.get("HX-Request") else "library/jobs.html"
    return render(request, template, {"page": page, "unfinished": unfinished})
