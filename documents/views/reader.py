"""The reader, and what it asks for while somebody reads: highlights, passages, contents."""

from __future__ import annotations

from uuid import UUID

import msgspec
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from documents.highlights import Highlight, highlight_quote, highlight_unit
from documents.models import CitationUnit, Document, Page

QUOTE_LENGTH = 2000  # characters of ?q=


@require_safe
@login_required
def document(request: HttpRequest, pk: UUID) -> HttpResponse:
    """The reader, opened at ``?page=`` with ``?unit=`` pale and the words ``?q=`` strong."""
    shown = get_object_or_404(Document.objects.visible_to(request.user), pk=pk)
    lit = wanted_highlight(request, shown)
    context = {
        "document": shown,
        "may_edit": Document.objects.editable_by(request.user).filter(pk=pk).exists(),
        "opening": msgspec.to_builtins(lit) if lit else None,
    }
    return render(request, "reader/reader.html", context)


@require_safe
@login_required
def highlight(request: HttpRequest, pk: UUID) -> HttpResponse:
    """The same highlight as JSON, for links followed inside the reader."""
    shown = get_object_or_404(Document.objects.visible_to(request.user), pk=pk)
    return as_json(wanted_highlight(request, shown) or Highlight(page=1))


@require_safe
@login_required
def passages(request: HttpRequest, pk: UUID, number: int) -> HttpResponse:
    """The units of one page as a list, with their rectangles: what was parsed."""
    page = get_object_or_404(Page.objects.visible_to(request.user), document=pk, number=number)
    units = CitationUnit.objects.filter(document=pk, page_number=number).order_by("paragraph_index")
    return render(request, "reader/_passages.html", {"page": page, "units": units, "document_id": pk})


@require_safe
@login_required
def contents(request: HttpRequest, pk: UUID) -> HttpResponse:
    """The table of contents: the PDF's own outline, else the headings that were found."""
    shown = get_object_or_404(Document.objects.visible_to(request.user), pk=pk)
    headings = CitationUnit.objects.filter(document=pk, unit_type=CitationUnit.Type.HEADING)
    entries = shown.outline or [
        [unit.heading_level or 1, unit.content, unit.page_number]
        for unit in headings.order_by("position")[:500]
    ]
    return render(request, "reader/_contents.html", {"entries": entries})


def wanted_highlight(request: HttpRequest, shown: Document) -> Highlight | None:
    """What the query string asks to light; the page alone when it is only a page. Raises Http404."""
    quote = request.GET.get("q", "")[:QUOTE_LENGTH]
    if unit_id := request.GET.get("unit"):
        unit = _unit(shown, unit_id)
        return highlight_unit(unit, shown.pages.get(number=unit.page_number), quote)
    try:
        number = int(request.GET.get("page", ""))
    except ValueError:
        return None
    page = shown.pages.filter(number=number).first()
    return highlight_quote(page, quote) if page and quote else Highlight(page=max(number, 1))


def _unit(shown: Document, unit_id: str) -> CitationUnit:
    try:
        return shown.units.get(pk=UUID(unit_id))
    except (ValueError, CitationUnit.DoesNotExist):
        raise Http404 from None


def as_json(value: msgspec.Struct) -> HttpResponse:
    return HttpResponse(msgspec.json.encode(value), content_type="application/json")
