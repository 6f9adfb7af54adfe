"""The reader, opened at a place, and what it asks for while somebody reads."""

from __future__ import annotations

from uuid import UUID

import msgspec
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.views.decorators.http import require_safe

from chat.marks import marks_on
from chat.models import Citation
from chat.places import Highlight, Place, highlight_of, highlights_at
from chat.views.pages import as_uuid
from documents.figures import table_areas
from documents.models import Document
from documents.recognition import want_pages

QUOTE_LENGTH = 2000  # characters of ?q=
SOONEST, LATEST = 2, 15  # seconds until the reader asks anew how far a document is: the older, the later
READ_AHEAD = 8 << 20  # bytes; a longer file is read in parts from the beginning, as its pages are shown


@require_safe
@login_required
def document(request: HttpRequest, pk: UUID) -> HttpResponse:
    """The reader, at ``?citation=``, or at ``?page=`` with ``?unit=`` pale and the words ``?q=`` strong."""
    shown = get_object_or_404(Document.objects.visible_to(request.user), pk=pk)
    want_pages(shown, page_asked_for(request))
    context = state_of(request, shown) | {
        "opening": msgspec.to_builtins(lit_at(request, shown)) or None,
        "read_ahead": shown.size <= READ_AHEAD,
    }
    return render(request, "reader/reader.html", context)


@require_safe
@login_required
def state(request: HttpRequest, pk: UUID) -> HttpResponse:
    """How far the document is read, or why it could not be: nothing once it is, which htmx tells the page.

    ``?unseen``: the reader was opened before there was a PDF to show. ``?page``: what it shows now.
    """
    shown = get_object_or_404(Document.objects.visible_to(request.user), pk=pk)
    if "page" in request.GET:
        want_pages(shown, page_asked_for(request))
    response = render(request, "reader/_state.html", state_of(request, shown))
    if "unseen" in request.GET and shown.file:
        response["HX-Refresh"] = "true"
    elif shown.is_ready:
        response["HX-Trigger"] = "documentready"
    return response


def page_asked_for(request: HttpRequest) -> int:
    number = request.GET.get("page", "")
    return int(number) if number.isascii() and number.isdigit() and len(number) < 9 else 1


def state_of(request: HttpRequest, document: Document) -> dict[str, object]:
    editable = Document.objects.editable_by(request.user).filter(pk=document.pk)
    failed = document.status == Document.Status.FAILED
    waited = (timezone.now() - (document.started_at or document.created_at)).total_seconds()
    return {
        "document": document,
        "failed": failed,
        "may_edit": failed and editable.exists(),
        "look_again": SOONEST if document.is_recognising else round(min(max(waited / 10, SOONEST), LATEST)),
    }


@require_safe
@login_required
def highlight(request: HttpRequest, pk: UUID) -> HttpResponse:
    """The same highlights as JSON, for links followed inside the reader."""
    shown = get_object_or_404(Document.objects.visible_to(request.user), pk=pk)
    lit = lit_at(request, shown)
    return HttpResponse(msgspec.json.encode(lit), content_type="application/json")


@require_safe
@login_required
def pins(request: HttpRequest, pk: UUID) -> HttpResponse:
    """What stands on the pages themselves: marks of answers and notes, and buttons that copy a table."""
    shown = get_object_or_404(Document.objects.visible_to(request.user), pk=pk)
    context = {"document": shown, "marks": marks_on(shown, request.user), "tables": table_areas(shown)}
    return render(request, "reader/_pins.html", context)


def lit_at(request: HttpRequest, document: Document) -> list[Highlight]:
    """What the link lights: the words of its citation, where that is one of the reader's own."""
    if asked := as_uuid(request.GET.get("citation", "")):
        cited = Citation.objects.visible_to(request.user).filter(document=document, pk=asked)
        for citation in cited.exclude(durability=Citation.Durability.GONE):
            return [highlight_of(citation)]
    return highlights_at(document, place_of(request))


def place_of(request: HttpRequest) -> Place:
    """What the query string asks for; what cannot be read is not asked for."""
    asked = request.GET
    return Place(
        page=whole_number(asked.get("page", "")),
        unit=as_uuid(asked.get("unit", "")),
        quote=asked.get("q", "")[:QUOTE_LENGTH].strip(),
    )


def whole_number(text: str) -> int | None:
    return int(text) if text.isdecimal() and len(text) < 8 else None
