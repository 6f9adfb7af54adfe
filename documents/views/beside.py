"""What stands beside the pages in the reader: contents, pages, figures, and what was read on a page."""

from __future__ import annotations

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from documents.figures import figures_of
from documents.models import CitationUnit, Document

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
