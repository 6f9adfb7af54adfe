"""A document's details, its tables as files, and the panels beside its pages in the reader."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from documents.access import end_way, ways_to
from documents.contents import as_csv, as_markdown, figures_of, tables_of
from documents.files.formats import PDF, accepted, named_as
from documents.models import CitationUnit, Collection, Document, Tag
from documents.papers.acquisition import fetch_failure
from documents.views.document_actions import to_details


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
        "formats": accepted(),
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


MOST_HEADINGS = 500


@require_safe
@login_required
def contents(request: HttpRequest, pk: UUID) -> HttpResponse:
    """The table of contents: the PDF's own outline, else the headings that were found."""
    shown = get_object_or_404(Document.objects.visible_to(request.user), pk=pk)
    headings = CitationUnit.objects.filter(document=pk, unit_type=CitationUnit.Type.HEADING)
    entries = [(*entry, None) for entry in shown.outline] or [
        (unit.heading_level or 1, unit.content, unit.page_number, unit.pk)
        for unit in headings.order_by("position")[:MOST_HEADINGS]
    ]
    return render(request, "reader/_contents.html", {"entries": entries})


@require_safe
@login_required
def pages(request: HttpRequest, pk: UUID) -> HttpResponse:
    """A place for the picture of every page, of the right size; the browser draws it when it is seen."""
    shown = get_object_or_404(Document.objects.visible_to(request.user), pk=pk)
    rows = shown.pages.order_by("number").defer("text", "word_boxes", "furniture", "figures")
    return render(request, "reader/_thumbnails.html", {"pages": rows})


@require_safe
@login_required
def figures(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Figures and tables with their captions."""
    shown = get_object_or_404(Document.objects.visible_to(request.user), pk=pk)
    return render(request, "reader/_figures.html", {"figures": figures_of(shown)})


@require_safe
@login_required
def passages(request: HttpRequest, pk: UUID) -> HttpResponse:
    """The units of ``?page=`` as a list, with their rectangles: what was parsed.

    204 when that reading of the page is ``?shown`` already: what was chosen in the list stays chosen.
    """
    number = request.GET.get("page", "")
    document = get_object_or_404(Document.objects.visible_to(request.user), pk=pk)
    page = document.pages.filter(number=int(number) if number.isdecimal() else 1).first()
    if page is None and document.is_ready and document.page_count:
        raise Http404
    if page and request.GET.get("shown") == str(page.pk):
        return HttpResponse(status=204)
    listed = []
    if page:
        units = CitationUnit.objects.filter(document=pk, page_number=page.number).order_by("paragraph_index")
        listed = [(unit, page.frame.display_boxes(unit.rects)) for unit in units]
    return render(request, "reader/_passages.html", {"page": page, "units": listed})
