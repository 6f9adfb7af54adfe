"""The library: what is there, what is being read, and what to do with one document."""

from __future__ import annotations

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from documents.bin import put_in_bin, take_out_of_bin
from documents.ingestion import ingest_again
from documents.library import LibraryView, for_cards
from documents.models import Collection, Document, Tag
from documents.pdf.failures import FailureCode, ParseFailure
from documents.unlocking import unlock
from documents.uploads import UploadRefused, store_upload

CARDS_A_PAGE = 48
POLLED_AT_ONCE = 100


@require_safe
@login_required
def library(request: HttpRequest) -> HttpResponse:
    view = LibraryView.from_query(request.GET, as_list=request.COOKIES.get("library") == "list")
    page = Paginator(view.documents(request.user), CARDS_A_PAGE).get_page(request.GET.get("page"))
    visible = Q(documents__deleted_at=None)
    context = {
        "section": "library",
        "view": view,
        "page": page,
        "tags": Tag.objects.visible_to(request.user).annotate(number=Count("documents", filter=visible)),
        "collections": Collection.objects.visible_to(request.user).annotate(
            number=Count("documents", filter=visible, distinct=True)
        ),
    }
    return render(request, "library/library.html", context)


@require_POST
@login_required
def upload(request: HttpRequest) -> HttpResponse:
    """Takes one file; answers its card (201), or the reason it was refused as text (422)."""
    file = request.FILES.get("file")
    if file is None:
        return HttpResponse(_("No file was sent."), status=422, content_type="text/plain; charset=utf-8")
    try:
        document = store_upload(request.user, file, file.name or "")
    except UploadRefused as refused:
        return _refusal(refused)
    return render(request, "library/_card.html", {"document": document}, status=201)


def _refusal(refused: UploadRefused) -> HttpResponse:
    """The reason as text; of a duplicate also where the document is that is there already."""
    response = HttpResponse(refused.message, status=422, content_type="text/plain; charset=utf-8")
    if refused.existing:
        response.headers["X-Existing"] = reverse("document", args=[refused.existing.pk])
    return response


@require_safe
@login_required
def cards(request: HttpRequest) -> HttpResponse:
    """The cards of ``?id=…&id=…`` as they stand now: what the library asks while documents are read."""
    ids = [value for value in request.GET.getlist("id")[:POLLED_AT_ONCE] if _is_uuid(value)]
    documents = for_cards(Document.objects.visible_to(request.user).filter(pk__in=ids))
    return render(request, "library/_cards.html", {"documents": documents})


@require_POST
@login_required
def delete(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Hides the document and offers to undo it."""
    document = get_object_or_404(Document.objects.editable_by(request.user), pk=pk)
    put_in_bin(document)
    return render(request, "library/_deleted.html", {"document": document})


@require_POST
@login_required
def restore(request: HttpRequest, pk: UUID) -> HttpResponse:
    document = get_object_or_404(Document, pk=pk, owner=request.user)
    if not take_out_of_bin(document):
        return HttpResponse(
            _("The same file was uploaded again."), status=409, content_type="text/plain; charset=utf-8"
        )
    return _card(request, document)


@require_POST
@login_required
def retry(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Reads the document again, with another engine or with its password when one is given."""
    document = get_object_or_404(Document.objects.editable_by(request.user), pk=pk)
    engine = request.POST.get("engine", "")
    if password := request.POST.get("password", ""):
        try:
            unlock(document, password)
        except ParseFailure as failure:
            return _card(request, document, wrong=_why_locked(failure))
    ingest_again(document, engine if engine in ("fast", "ml", "auto") else "")
    if request.POST.get("next") == "details":
        return redirect("document-details", pk)
    return _card(request, document)


@require_POST
@login_required
def rename(request: HttpRequest, pk: UUID) -> HttpResponse:
    document = get_object_or_404(Document.objects.editable_by(request.user), pk=pk)
    title = request.POST.get("title", "").strip()[:500]
    if title:
        document.title = title
        document.save(update_fields=["title", "updated_at"])
    return _card(request, document)


def _why_locked(failure: ParseFailure) -> str:
    wrong = failure.code == FailureCode.PASSWORD_PROTECTED
    return _("That password is not right. Try again.") if wrong else failure.message


def _card(request: HttpRequest, document: Document, wrong: str = "") -> HttpResponse:
    row = for_cards(Document.objects.visible_to(request.user)).get(pk=document.pk)
    return render(request, "library/_card.html", {"document": row, "wrong": wrong})


def _is_uuid(value: str) -> bool:
    try:
        UUID(value)
    except ValueError:
        return False
    return True
