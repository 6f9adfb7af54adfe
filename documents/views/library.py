"""The library page, the bin, the page of background jobs, and actions on one or several documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import PurePath
from tempfile import SpooledTemporaryFile
from typing import IO
from uuid import UUID
from zipfile import ZIP_STORED, ZipFile

import msgspec
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.paginator import Paginator
from django.db import IntegrityError, transaction
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from documents.access import UnknownUser, add_to_collection, given_by, share_with
from documents.api.common.callers import rated
from documents.files.uploads import Converter, UploadRefused, accepted, store_address, store_upload
from documents.files.url_fetch import FetchRefused
from documents.ingestion import pipeline
from documents.ingestion.parser import local_file
from documents.library import (
    CARDS_A_PAGE,
    LibraryView,
    delete_document,
    for_cards,
    move_to_trash,
    restore_from_trash,
    sidebar_of,
)
from documents.models import Collection, Document, EventKind, Job, Share, Tag
from documents.models.document import DocumentQuerySet
from documents.models.library import COLOURS, colour_for, uuid_or_none
from documents.models.security import record
from documents.papers.bibliography import csl_json, record_of
from documents.views.document_actions import change_shares, changed, new_card, refusal, uuid_or_404
from text.numbers import whole_number

MOST_SELECTED = 500
MOST_EXPORTED = 2 << 30  # bytes of one ZIP
SPOOLED = 32 << 20  # bytes in memory, before a ZIP is written to disk
BIN_PAGE = 50
POLLED_AT_ONCE = 100
LAYOUT_SECONDS = 365 * 24 * 3600


@require_safe
def library(request: HttpRequest) -> HttpResponse:
    view = LibraryView.from_query(request.GET, as_list=request.COOKIES.get("library") == "list")
    sidebar = sidebar_of(request.user)
    context = {
        "identifies": settings.IDENTIFY,
        "section": "library",
        "view": view,
        "page": view.page(request.user, sidebar, request.GET.get("page")),
        "sidebar": sidebar,
        "heading": sidebar.name_of(view),
        "formats": accepted(),
        "largest": settings.UPLOAD_MAX_BYTES,
        "office": [format.label for format in accepted() if format.converter == Converter.OFFICE],
    }
    response = render(request, "library/library.html", context)
    if "as" in request.GET:
        layout = "list" if view.as_list else "grid"
        response.set_cookie("library", layout, max_age=LAYOUT_SECONDS, samesite="Lax")
    return response


@require_safe
def further(request: HttpRequest) -> HttpResponse:
    """Return the cards after the first ``start``, requested as the library is scrolled.

    The page counts its cards, so that none is repeated or skipped when documents come or go meanwhile.
    """
    first = whole_number(request.GET.get("start", "")) or 0
    documents, more = LibraryView.from_query(request.GET).further(request.user, first)
    following = (first + len(documents)) // CARDS_A_PAGE + 1 if more else None
    return render(request, "library/_further.html", {"documents": documents, "next": following})


@rated("upload")
@require_POST
def upload(request: HttpRequest) -> HttpResponse:
    """Store one file. Return its card (201), or the reason of a refusal as text (422)."""
    file = request.FILES.get("file")
    if file is None:
        return refusal(_("No file was uploaded."))
    try:
        document = store_upload(request.user, file, file.name or "")
    except UploadRefused as refused:
        return _refused(refused)
    return new_card(request, document)


def _refused(refused: UploadRefused) -> HttpResponse:
    """Return the reason as text; for a duplicate also the address of the existing document."""
    response = refusal(refused.message)
    if refused.existing:
        response.headers["X-Existing"] = reverse("document", args=[refused.existing.pk])
    return response


@rated("upload")
@require_POST
def upload_address(request: HttpRequest) -> HttpResponse:
    """Queue the URL of a PDF for a worker to fetch. Return its card, or the reason of a refusal."""
    try:
        document = store_address(request.user, request.POST.get("url", "").strip()[:2000])
    except FetchRefused as refused:
        return refusal(refused.message)
    return new_card(request, document)


@require_safe
def cards(request: HttpRequest) -> HttpResponse:
    """Return the present cards of ``?id=…&id=…``, polled while documents are processed.

    When one is finished, the page updates its counts.
    """
    ids = [value for value in request.GET.getlist("id")[:POLLED_AT_ONCE] if uuid_or_none(value)]
    documents = for_cards(Document.objects.visible_to(request.user).filter(pk__in=ids), request.user)
    response = render(request, "library/_cards.html", {"documents": documents, "answered": True})
    busy = all(document.is_working or document.fetching for document in documents)  # type: ignore[attr-defined]
    return response if busy else changed(response)


JOBS_A_PAGE = 50


@require_safe
def jobs(request: HttpRequest) -> HttpResponse:
    """Show the user's jobs, newest first. htmx polls the list alone while one is unfinished."""
    rows = Job.objects.visible_to(request.user).select_related("document")
    page = Paginator(rows, JOBS_A_PAGE).get_page(request.GET.get("page"))
    unfinished = any(job.finished_at is None for job in page.object_list)
    template = "library/_jobs.html" if request.headers.get("HX-Request") else "library/jobs.html"
    return render(request, template, {"page": page, "unfinished": unfinished})


NAME_LENGTHS = {Collection: 120, Tag: 60}


@require_http_methods(["GET", "HEAD", "POST"])
def collections(request: HttpRequest) -> HttpResponse:
    """Show all collections and tags; a POST creates a ``collection`` or a ``tag`` of that name."""
    if request.method == "POST":
        kind: type[Collection] | type[Tag] = Tag if request.POST.get("kind") == "tag" else Collection
        name = request.POST.get("name", "").strip()[: NAME_LENGTHS[kind]]
        if name:
            new = {"colour": request.POST["colour"]} if _is_colour(request) else {"colour": colour_for(name)}
            kind.objects.get_or_create(owner=request.user, name=name, defaults=new)
        return redirect("collections")
    context = {"section": "library", "sidebar": sidebar_of(request.user)}
    return render(request, "library/collections.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def collection(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Show one of the user's collections: name, colour, shares. A POST changes name and colour."""
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
def tag(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Show one tag: name and colour. A POST changes them."""
    row = get_object_or_404(Tag.objects.visible_to(request.user), pk=pk)
    if request.method == "POST":
        return _change(request, row)
    number = row.documents.filter(deleted_at=None).count()
    context = {"section": "library", "row": row, "number": number, "colours": COLOURS}
    return render(request, "library/tag.html", context)


@require_POST
def delete_collection(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Delete the collection; its documents stay."""
    return _delete_row(request, get_object_or_404(Collection, pk=pk, owner=request.user))


@require_POST
def delete_tag(request: HttpRequest, pk: UUID) -> HttpResponse:
    return _delete_row(request, get_object_or_404(Tag.objects.visible_to(request.user), pk=pk))


@require_POST
def share_collection(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Share the collection with its present and future documents, or revoke the share."""
    row = get_object_or_404(Collection, pk=pk, owner=request.user)
    change_shares(request, request.user, row)
    return redirect("collection", pk)


@require_safe
def shares(request: HttpRequest) -> HttpResponse:
    """Show the shares that the user gave and received."""
    parts = ("document", "collection", "user", "group", "document__owner", "collection__owner")
    present = Share.objects.exclude(document__deleted_at__isnull=False).select_related(*parts)
    own = Share.objects.visible_to(request.user).values("pk")
    context = {
        "section": "library",
        "given": present.filter(pk__in=own).order_by("-created_at"),
        "others": given_by(request.user),
        "received": present.given_to(request.user).exclude(pk__in=own).order_by("-created_at"),  # type: ignore[arg-type]
    }
    return render(request, "library/shares.html", context)


@require_POST
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
        messages.error(request, _("You already have one with this name."))
        return redirect(request.path)
    messages.success(request, _("Saved."))
    return redirect("collections")


def _delete_row(request: HttpRequest, row: Collection | Tag) -> HttpResponse:
    row.delete()
    messages.success(request, _("Deleted “%(name)s”. The documents stay.") % {"name": row.name})
    return redirect("collections")


def _is_colour(request: HttpRequest) -> bool:
    return request.POST.get("colour") in COLOURS


# --- Several documents at once, and the bin ---


class ActionRefused(Exception):
    """The action cannot be done; the message is for the user."""


def chosen_ids(request: HttpRequest) -> list[UUID]:
    return [uuid_or_404(text) for text in request.POST.getlist("document")[:MOST_SELECTED]]


def _tag(user: User, documents: DocumentQuerySet, name: str) -> Sequence[Document]:
    rows = list(documents.visible_to(user))
    tag, _made = Tag.objects.get_or_create(
        owner=user, name=name[:60], defaults={"colour": colour_for(name[:60])}
    )
    tag.documents.add(*rows)
    return rows


def _collect(user: User, documents: DocumentQuerySet, name: str) -> Sequence[Document]:
    rows = list(documents.editable_by(user))
    found = Collection.objects.editable_by(user).filter(name=name[:120]).first()
    collection = found or Collection.objects.create(owner=user, name=name[:120])
    for row in rows:
        add_to_collection(row, collection, user)
    return rows


def _share(user: User, documents: DocumentQuerySet, name: str) -> Sequence[Document]:
    rows = list(documents.filter(owner=user, deleted_at=None))
    try:
        for row in rows:
            share_with(user, row, name, can_write=False)
    except UnknownUser:
        raise ActionRefused(
            _("There is no user “%(name)s”, and you are not in a group with that name.") % {"name": name}
        ) from None
    return rows


def _retry(user: User, documents: DocumentQuerySet, name: str) -> Sequence[Document]:
    rows = [row for row in documents.editable_by(user) if row.is_readable and not row.is_working]
    for row in rows:
        pipeline.ingest_again(row)
    return rows


def _delete(user: User, documents: DocumentQuerySet, name: str) -> Sequence[Document]:
    rows = list(documents.filter(owner=user, deleted_at=None))
    for row in rows:
        move_to_trash(row)
    return rows


def _restore(user: User, documents: DocumentQuerySet, name: str) -> Sequence[Document]:
    rows = documents.filter(owner=user).exclude(deleted_at=None)
    return [row for row in rows if restore_from_trash(row)]


ACTIONS: dict[str, Callable[[User, DocumentQuerySet, str], Sequence[Document]]] = {
    "tag": _tag,
    "collect": _collect,
    "share": _share,
    "retry": _retry,
    "delete": _delete,
    "restore": _restore,
}
NAMED = ("tag", "collect", "share")


@require_POST
def act(request: HttpRequest, action: str) -> HttpResponse:
    """Apply the action to each ``document`` where the user may; ``name``: tag, collection or user."""
    name = request.POST.get("name", "").strip().replace("\x00", "")
    if action not in ACTIONS:
        raise Http404
    if action in NAMED and not name:
        return refusal(_("Enter a name."))
    ids = chosen_ids(request)
    try:
        done = ACTIONS[action](request.user, Document.objects.filter(pk__in=ids), name)
    except ActionRefused as refused:
        return refusal(str(refused))
    context = {
        "deleted": done if action == "delete" else (),
        "documents": for_cards(Document.objects.visible_to(request.user), request.user).filter(pk__in=ids),
        "sentence": sentence(action, name, len(done), len(ids)),
    }
    return changed(render(request, "library/_selected.html", context))


def sentence(action: str, name: str, done: int, asked: int) -> str:
    """Return a sentence on the outcome, and on the documents that could not be changed."""
    template = {
        "tag": _("Tagged “%(name)s”: %(count)s."),
        "collect": _("Added to “%(name)s”: %(count)s."),
        "share": _("Shared with %(name)s: %(count)s."),
        "retry": _("Re-processing %(count)s."),
        "delete": _("Moved to the bin: %(count)s."),
        "restore": _("Restored: %(count)s."),
    }[action]
    count = ngettext("%(n)s document", "%(n)s documents", done) % {"n": done}
    left = (
        _(" %(n)s could not be changed: you may not edit them, or they are still being read.")
        % {"n": asked - done}
        if done < asked
        else ""
    )
    return template % {"name": name, "count": count} + left


@require_safe
def export(request: HttpRequest) -> HttpResponse | FileResponse:
    """Return a ZIP of the chosen documents' files, and their references as CSL-JSON, for Zotero."""
    ids = [uuid_or_404(text) for text in request.GET.getlist("document")[:MOST_SELECTED]]
    rows = list(Document.objects.visible_to(request.user).filter(pk__in=ids).order_by("title", "pk"))
    if not rows:
        raise Http404
    if sum(row.size for row in rows) > MOST_EXPORTED:
        return refusal(_("These files are too large for one ZIP. Select fewer."))
    record(EventKind.EXPORTED, f"{len(rows)} documents as zip")
    return FileResponse(zipped(rows), as_attachment=True, filename="pincite-documents.zip")


def zipped(rows: Sequence[Document]) -> IO[bytes]:
    """Return an open file at its start; files of one name are numbered."""
    whole: IO[bytes] = SpooledTemporaryFile(SPOOLED)  # noqa: SIM115  (the response closes it)
    names: Counter[str] = Counter()
    with ZipFile(whole, "w", ZIP_STORED) as archive:
        for row in rows:
            if kept := row.original or row.file:
                name = slugify(PurePath(row.title).name)[:100] or "document"
                names[name] += 1
                numbered = f"{name}-{names[name]}" if names[name] > 1 else name
                with local_file(kept) as path:
                    archive.write(path, f"{numbered}{PurePath(kept.name).suffix}")
        references = [csl_json(record_of(row), str(row.pk)) for row in rows]
        archive.writestr("references.json", msgspec.json.format(msgspec.json.encode(references)))
    whole.seek(0)
    return whole


@require_http_methods(["GET", "HEAD", "POST"])
def trash(request: HttpRequest) -> HttpResponse:
    """Show the user's deleted documents; a POST restores the chosen ones or deletes them (``forever``)."""
    binned = Document.objects.in_bin_of(request.user)
    if request.method == "POST":
        _change_bin(request, binned)
        return redirect("bin")
    page = Paginator(binned.order_by("-deleted_at", "pk"), BIN_PAGE).get_page(request.GET.get("page"))
    kept = timedelta(days=settings.BIN_DAYS)
    rows = [(row, row.deleted_at + kept) for row in page if row.deleted_at]
    context = {"section": "library", "page": page, "rows": rows, "days": settings.BIN_DAYS}
    return render(request, "library/bin.html", context)


def _change_bin(request: HttpRequest, binned: DocumentQuerySet) -> None:
    everything = "all" in request.POST
    rows = list(binned if everything else binned.filter(pk__in=chosen_ids(request)))
    if "forever" in request.POST:
        for row in rows:
            delete_document(row)
        done = len(rows)
        message = ngettext("Deleted %(n)s document for good.", "Deleted %(n)s documents for good.", done)
    else:
        done = sum(restore_from_trash(row) for row in rows)
        message = ngettext("Restored %(n)s document.", "Restored %(n)s documents.", done)
        if done < len(rows):
            messages.error(request, _("A file that you have uploaded again stays in the bin."))
    if done:
        messages.success(request, message % {"n": done})
