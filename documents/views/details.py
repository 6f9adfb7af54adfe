"""A document's details, and its tables as files."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from documents.access import end_way, ways_to
from documents.formats import PDF, accepted, named_as
from documents.models import Collection, Document, Tag
from documents.office import office_is_there
from documents.scholarly.papers import fetch_failure
from documents.tables import as_csv, as_markdown, tables_of
from documents.views.asking import to_details


@require_safe
@login_required
def details(request: HttpRequest, pk: UUID) -> HttpResponse:
    document = get_object_or_404(Document.objects.visible_to(request.user).select_related("owner"), pk=pk)
    is_owner = document.owner_id == request.user.pk
    collections = document.collections.filter(pk__in=Collection.objects.visible_to(request.user))
    context = {
        "section": "library",
        "document": document,
        "is_owner": is_owner,
        "may_edit": Document.objects.editable_by(request.user).filter(pk=pk).exists(),
        "tags": document.tags.filter(owner=request.user),  # type: ignore[misc]
        "all_tags": Tag.objects.visible_to(request.user),
        "collections": collections,
        "all_collections": Collection.objects.editable_by(request.user),
        "ways": [way for way in ways_to(document) if way.can_be_ended] if is_owner else (),
        "tables": tables_of(document)[:200],
        "fetch_failure": fetch_failure(document) if is_owner else "",
        "seconds": document.stage_seconds.items(),
        "format": named_as(str(document.original.name)) or PDF,
        "formats": accepted(office_is_there()),
    }
    return render(request, "library/details.html", context)


@require_POST
@login_required
def end_access(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Ends one ``way`` to the document. Only its owner can."""
    document = get_object_or_404(Document, pk=pk, owner=request.user, deleted_at=None)
    if not end_way(document, request.POST.get("way", "")):
        raise Http404
    messages.success(request, _("Access ended."))
    return to_details(pk)


@require_safe
@login_required
def table(request: HttpRequest, pk: UUID, index: int) -> HttpResponse:
    """One table as CSV, or as Markdown with ``?as=markdown``."""
    document = get_object_or_404(Document.objects.visible_to(request.user), pk=pk)
    found = tables_of(document, index)
    if not found:
        raise Http404
    if request.GET.get("as") == "markdown":
        return HttpResponse(as_markdown(found[0]), content_type="text/plain; charset=utf-8")
    return HttpResponse(
        as_csv(found[0]),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="table-{index + 1}.csv"'},
    )
