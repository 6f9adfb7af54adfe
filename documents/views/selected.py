"""Actions on several documents at once, and the bin."""

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
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.core.paginator import Paginator
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from documents.access import UnknownUser, add_to_collection, share_with
from documents.ingestion import pipeline
from documents.ingestion.parser import local_file
from documents.library import delete_document, for_cards, move_to_trash, restore_from_trash
from documents.models import Collection, Document, EventKind, Tag
from documents.models.document import DocumentQuerySet
from documents.models.library import colour_for
from documents.models.security import record
from documents.papers.bibliography import csl_json, record_of
from documents.views.document_actions import changed, refusal, uuid_or_404

MOST_SELECTED = 500
MOST_EXPORTED = 2 << 30  # bytes of one ZIP
SPOOLED = 32 << 20  # bytes in memory, before a ZIP is written to disk
BIN_PAGE = 50


class Refused(Exception):
    """The action cannot be done; the message is for people."""


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
        raise Refused(_("There is no user called “%(name)s”.") % {"name": name}) from None
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
@login_required
def act(request: HttpRequest, action: str) -> HttpResponse:
    """Does the action with each ``document`` that the user may do it with; ``name`` is its object."""
    assert request.user.is_authenticated
    name = request.POST.get("name", "").strip().replace("\x00", "")
    if action not in ACTIONS:
        raise Http404
    if action in NAMED and not name:
        return refusal(_("Type a name."))
    ids = chosen_ids(request)
    try:
        done = ACTIONS[action](request.user, Document.objects.filter(pk__in=ids), name)
    except Refused as refused:
        return refusal(str(refused))
    context = {
        "deleted": done if action == "delete" else (),
        "documents": for_cards(Document.objects.visible_to(request.user), request.user).filter(pk__in=ids),
        "sentence": sentence(action, name, len(done), len(ids)),
    }
    return changed(render(request, "library/_selected.html", context))


def sentence(action: str, name: str, done: int, asked: int) -> str:
    """What happened, and to how many of the documents it did not."""
    said = {
        "tag": _("Tagged “%(name)s”: %(count)s."),
        "collect": _("Added to “%(name)s”: %(count)s."),
        "share": _("Shared with %(name)s: %(count)s."),
        "retry": _("Re-processing %(count)s."),
        "delete": _("Moved to the bin: %(count)s."),
        "restore": _("Restored: %(count)s."),
    }[action]
    count = ngettext("%(n)s document", "%(n)s documents", done) % {"n": done}
    left = _(" %(n)s could not be changed by you, or not now.") % {"n": asked - done} if done < asked else ""
    return said % {"name": name, "count": count} + left


@require_safe
@login_required
def export(request: HttpRequest) -> HttpResponse | FileResponse:
    """A ZIP of the chosen documents' files, and of their references as CSL-JSON, which Zotero imports."""
    ids = [uuid_or_404(text) for text in request.GET.getlist("document")[:MOST_SELECTED]]
    rows = list(Document.objects.visible_to(request.user).filter(pk__in=ids).order_by("title", "pk"))
    if not rows:
        raise Http404
    if sum(row.size for row in rows) > MOST_EXPORTED:
        return refusal(_("These files are too large for one ZIP. Select fewer."))
    record(EventKind.EXPORTED, f"{len(rows)} documents as zip")
    return FileResponse(zipped(rows), as_attachment=True, filename="pincite-documents.zip")


def zipped(rows: Sequence[Document]) -> IO[bytes]:
    """An open file at its start; files of one name are numbered."""
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
@login_required
def trash(request: HttpRequest) -> HttpResponse:
    """The user's deleted documents; a POST restores the chosen ones or deletes them (``forever``)."""
    binned = Document.objects.filter(owner=request.user).exclude(deleted_at=None)
    if request.method == "POST":
        _empty(request, binned)
        return redirect("bin")
    page = Paginator(binned.order_by("-deleted_at", "pk"), BIN_PAGE).get_page(request.GET.get("page"))
    kept = timedelta(days=settings.BIN_DAYS)
    rows = [(row, row.deleted_at + kept) for row in page if row.deleted_at]
    context = {"section": "library", "page": page, "rows": rows, "days": settings.BIN_DAYS}
    return render(request, "library/bin.html", context)


def _empty(request: HttpRequest, binned: DocumentQuerySet) -> None:
    everything = "all" in request.POST
    rows = list(binned if everything else binned.filter(pk__in=chosen_ids(request)))
    if "forever" in request.POST:
        for row in rows:
            delete_document(row)
        done = len(rows)
        said = ngettext("Deleted %(n)s document for good.", "Deleted %(n)s documents for good.", done)
    else:
        done = sum(restore_from_trash(row) for row in rows)
        said = ngettext("Restored %(n)s document.", "Restored %(n)s documents.", done)
        if done < len(rows):
            messages.error(request, _("A file that was uploaded again meanwhile stays in the bin."))
    if done:
        messages.success(request, said % {"n": done})
