"""The library page, the page of background jobs, and actions on collections, tags and shares."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from documents.files.formats import Converter, accepted
from documents.files.uploads import UploadRefused, store_address, store_upload
from documents.files.url_fetch import FetchRefused
from documents.library import LibraryView, for_cards, shelf_of
from documents.models import Collection, Document, Job, Share, Tag
from documents.models.library import COLOURS, colour_for
from documents.views.document_actions import change_shares, changed, is_uuid, new_card, refusal

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
        "page": view.page(request.user, shelf, request.GET.get("page")),
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


NAME_LENGTHS = {Collection: 120, Tag: 60}


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def collections(request: HttpRequest) -> HttpResponse:
    """All collections and tags; a POST makes a ``collection`` or a ``tag`` of that name."""
    if request.method == "POST":
        kind: type[Collection] | type[Tag] = Tag if request.POST.get("kind") == "tag" else Collection
        name = request.POST.get("name", "").strip()[: NAME_LENGTHS[kind]]
        if name:
            new = {"colour": request.POST["colour"]} if _is_colour(request) else {"colour": colour_for(name)}
            kind.objects.get_or_create(owner=request.user, name=name, defaults=new)
        return redirect("collections")
    context = {"section": "library", "shelf": shelf_of(request.user)}
    return render(request, "library/collections.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def collection(request: HttpRequest, pk: UUID) -> HttpResponse:
    """One collection of one's own: name, colour, with whom it is shared. A POST changes name and colour."""
    row = get_object_or_404(Collection, pk=pk, owner=request.user)
    if request.method == "POST":
        return _change(request, row)
    context = {
        "section": "library",
        "row": row,
        "number": row.documents.filter(deleted_at=None).count(),
        "shares": row.shares.select_related("user", "group"),
        "colours": COLOURS,
    }
    return render(request, "library/collection.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def tag(request: HttpRequest, pk: UUID) -> HttpResponse:
    """One tag: name and colour. A POST changes them."""
    row = get_object_or_404(Tag.objects.visible_to(request.user), pk=pk)
    if request.method == "POST":
        return _change(request, row)
    number = row.documents.filter(deleted_at=None).count()
    context = {"section": "library", "row": row, "number": number, "colours": COLOURS}
    return render(request, "library/tag.html", context)


@require_POST
@login_required
def delete_collection(request: HttpRequest, pk: UUID) -> HttpResponse:
    """The documents in it stay."""
    return _delete(request, get_object_or_404(Collection, pk=pk, owner=request.user))


@require_POST
@login_required
def delete_tag(request: HttpRequest, pk: UUID) -> HttpResponse:
    return _delete(request, get_object_or_404(Tag.objects.visible_to(request.user), pk=pk))


@require_POST
@login_required
def share_collection(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Gives the collection, with what is and will be in it; or takes it back."""
    row = get_object_or_404(Collection, pk=pk, owner=request.user)
    change_shares(request, request.user, row)
    return redirect("collection", pk)


@require_safe
@login_required
def shares(request: HttpRequest) -> HttpResponse:
    """What was given to others, and what others gave."""
    parts = ("document", "collection", "user", "group", "document__owner", "collection__owner")
    present = Share.objects.exclude(document__deleted_at__isnull=False).select_related(*parts)
    own = Share.objects.visible_to(request.user).values("pk")
    context = {
        "section": "library",
        "given": present.filter(pk__in=own).order_by("-created_at"),
        "received": present.given_to(request.user).exclude(pk__in=own).order_by("-created_at"),  # type: ignore[arg-type]
    }
    return render(request, "library/shares.html", context)


@require_POST
@login_required
def take_back(request: HttpRequest, pk: UUID) -> HttpResponse:
    get_object_or_404(Share.objects.visible_to(request.user), pk=pk).delete()
    return redirect("shares")


def _change(request: HttpRequest, row: Collection | Tag) -> HttpResponse:
    row.name = request.POST.get("name", "").strip()[: NAME_LENGTHS[type(row)]] or row.name
    row.colour = request.POST["colour"] if _is_colour(request) else row.colour
    try:
        with transaction.atomic():
            row.save()
    except IntegrityError:
        messages.error(request, _("You have one of this name already."))
        return redirect(request.path)
    messages.success(request, _("Saved."))
    return redirect("collections")


def _delete(request: HttpRequest, row: Collection | Tag) -> HttpResponse:
    row.delete()
    messages.success(request, _("Deleted “%(name)s”. The documents stay.") % {"name": row.name})
    return redirect("collections")


def _is_colour(request: HttpRequest) -> bool:
    return request.POST.get("colour") in COLOURS
