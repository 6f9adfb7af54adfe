"""The reader: its page, highlights, margin annotations, and the card of a citation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated, Literal
from urllib.parse import parse_qs
from uuid import UUID

import msgspec
from csp.decorators import csp_replace
from django.contrib.auth.models import User
from django.db.models import Q
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from chat.answers.runner import store_cited
from chat.citations.stored_citations import (
    LinkHighlight,
    LinkTarget,
    highlight_of,
    highlights_at,
    printed_place,
    shown_citations,
)
from chat.citations.stored_pages import StoredPages
from chat.models import Annotation, Citation, Conversation, Note, ReadingPlace, TourEnd
from citing.anchoring.page_text import highlight_rects
from citing.anchoring.word_search import (
    MOST_MATCHES,
    PART_SECONDS,
    InvalidPattern,
    WordQuery,
    counts_by_page,
    matches_on,
)
from citing.claims import CONTRADICTED
from documents.contents import table_areas
from documents.ingestion.recognition import prioritise_pages
from documents.models import CitationUnit, Document
from documents.models.library import uuid_or_none
from pdf.geometry import Box
from text.numbers import whole_number

# --- Marks in the reader's margin: answers and notes that cite the document ---

MOST_MARKS = 2000
MOST_NOTES = 50
MOST_LINKS = 100  # of all notes; each may be searched on its page


@dataclass(frozen=True, slots=True)
class MarginMark:
    """A place cited by an answer or a note.

    Attributes:
        box: the page's width, at the height of the words, in display fractions.
        number: the citation's number, which determines the colour.
        note: the note it belongs to; None for an answer's.
        contradicted: whether the page does not support the answer.
    """

    page: int
    box: Box
    number: int
    title: str
    href: str
    note: UUID | None = None
    contradicted: bool = False


def marks_on(document: Document, user: User) -> list[MarginMark]:
    """Return the user's answers and notes that cite the document, latest first."""
    return [*_of_answers(document, user), *_of_notes(document, user)]


def _of_answers(document: Document, user: User) -> Iterator[MarginMark]:
    """Yield the marks of answers. Two queries."""
    cited = Citation.objects.visible_to(user).filter(document=document, message__isnull=False)
    rows = cited.select_related("message__conversation")
    listed = list(rows.order_by("-created_at")[:MOST_MARKS])
    for row, shown in zip(listed, shown_citations(listed), strict=True):
        assert row.message is not None
        title = f"{row.message.conversation.title}: {shown.claim[:200] or shown.quote[:200]}"
        if boxes := shown.rects or shown.unit_rects:
            wrong = row.verdict in CONTRADICTED
            yield MarginMark(shown.page, _strip(boxes), shown.number, title, shown.href, contradicted=wrong)


def _of_notes(document: Document, user: User) -> Iterator[MarginMark]:
    """Yield the marks of notes: of their citations, and of their links to the document."""
    notes = Note.objects.visible_to(user).filter(
        Q(citations__document=document) | Q(content__contains=reverse("document", args=[document.pk]))
    )
    left = MOST_LINKS
    for note in notes.distinct().prefetch_related("citations")[:MOST_NOTES]:
        places = _linked(note.content, document)[:left]
        left -= len(places)
        highlights = [found for place in places for found in highlights_at(document, place)]
        for page, box in [*_cited(note, document), *_strips(highlights)]:
            yield MarginMark(page, box, 1, str(note), reverse("note", args=[note.pk]), note.pk)


def _cited(note: Note, document: Document) -> Iterator[tuple[int, Box]]:
    for shown in shown_citations(row for row in note.citations.all() if row.document_id == document.pk):
        if boxes := shown.rects or shown.unit_rects:
            yield shown.page, _strip(boxes)


def _linked(content: str, document: Document) -> list[LinkTarget]:
    """Return the places of the document that the Markdown links to."""
    path = re.escape(reverse("document", args=[document.pk]))
    asked = (parse_qs(query) for query in re.findall(rf"{path}\?([^)\s>]+)", content))
    return [
        LinkTarget(number, quote=query.get("q", [""])[0])
        for query in asked
        if (number := whole_number(query.get("page", [""])[0])) is not None
    ]


def _strips(highlights: Iterable[LinkHighlight]) -> Iterator[tuple[int, Box]]:
    for found in highlights:
        if boxes := found.anchor or found.unit:
            yield found.page, _strip(boxes)


def _strip(boxes: Iterable[Box]) -> Box:
    """Return a box across the page, from the top of the first box to the bottom of the last."""
    tops, ends = zip(*((box[1], box[3]) for box in boxes), strict=True)
    return (0.0, min(tops), 1.0, max(ends))


QUOTE_LENGTH = 2000  # characters of ?q=
SOONEST, LATEST = 2, 15  # seconds until the reader polls the progress again, longer for older documents
READ_AHEAD = 8 << 20  # bytes; of a longer file, parts are loaded when their pages are shown


@require_safe
def document(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Show the reader at ``?citation=``, or at ``?page=`` with ``?unit=`` highlighted pale and the words
    ``?q=`` strong.
    """
    shown = Document.objects.visible_to(request.user).filter(pk=pk).first()
    if shown is None:
        binned = get_object_or_404(Document.objects.in_bin_of(request.user), pk=pk)
        return render(request, "reader/binned.html", {"document": binned}, status=404)
    prioritise_pages(shown, page_asked_for(request))
    context = state_of(request, shown) | {
        "opening": msgspec.to_builtins(highlights_asked_for(request, shown)) or None,
        "cited": citation_asked_for(request, shown),
        "read_ahead": shown.size <= READ_AHEAD,
        "own_colours": Annotation.Colour.choices,
        "place": place_left(request, shown),
        "page_sizes": page_sizes(shown),
        "tour": bool(shown.file) and not TourEnd.objects.filter(owner=request.user).exists(),
    }
    return render(request, "reader/reader.html", context)


MOST_SIZES = 2000  # in the HTML of the reader


def page_sizes(document: Document) -> list[tuple[int, list[float], int, float]]:
    """Return page number, CropBox, rotation and UserUnit of each run of equal pages; empty if all are equal.

    pdf.js assumes that all pages have the size of the first until they are drawn. Without these sizes the
    text would move while the user reads.
    """
    sizes = document.pages.all().sizes()[:MOST_SIZES]
    return [
        (number, [x, y, x + width / unit, y + height / unit], rotation, unit)
        for number, width, height, x, y, rotation, unit in (sizes if len(sizes) > 1 else [])
    ]


TOUR_STEPS = 3


@require_http_methods(["GET", "HEAD", "POST"])
def tour(request: HttpRequest) -> HttpResponse:
    """Show the next ``?step=`` of the tour; a POST ends the tour permanently. The first step is asking."""
    if request.method == "POST":
        TourEnd.objects.get_or_create(owner=request.user)
        return HttpResponse()
    about = Conversation.objects.filter(documents=uuid_or_none(request.GET.get("document", "")))
    first = 2 if about.visible_to(request.user).exists() else 1
    step = min(max(whole_number(request.GET.get("step", "")) or first, 1), TOUR_STEPS)
    return render(request, "reader/_tour.html", {"step": step, "next": step + 1, "steps": TOUR_STEPS})


class PdfDestination(msgspec.Struct, frozen=True, rename="camel"):
    """A destination in the format of pdf.js: a point of a page in PDF user space, and the rotation of the
    view.
    """

    page_number: Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]
    left: Annotated[float, msgspec.Meta(ge=-1e6, le=1e6)]
    top: Annotated[float, msgspec.Meta(ge=-1e6, le=1e6)]
    rotation: Literal[0, 90, 180, 270] = 0


@require_safe
@xframe_options_sameorigin
@csp_replace({"frame-ancestors": ["'self'"]})
def framed(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Show only the pages of the document, at ``?citation=``, for a frame within another of our pages."""
    shown = get_object_or_404(Document.objects.visible_to(request.user).exclude(file=""), pk=pk)
    file = reverse("document-file", args=[pk])
    return render(request, "reader/embed.html", embed_context(request, shown, file))


def embed_context(
    request: HttpRequest, document: Document, file: str, user: User | None = None
) -> dict[str, object]:
    """Return the template context of the reader in a frame; ``file`` is the PDF's URL."""
    return {
        "document": document,
        "file": file,
        "opening": msgspec.to_builtins(highlights_asked_for(request, document, user)) or None,
        "read_ahead": document.size <= READ_AHEAD,
        "query": request.GET.urlencode(),
    }


def place_left(request: HttpRequest, document: Document) -> dict[str, object] | None:
    """Return the place where the user stopped reading; None at the first visit."""
    kept = ReadingPlace.objects.visible_to(request.user).filter(document=document).first()
    if kept is None:
        return None
    built: dict[str, object] = msgspec.to_builtins(
        PdfDestination(kept.page_number, kept.left, kept.top, kept.rotation)
    )
    return built | {"at": kept.updated_at.timestamp() * 1000}


@require_POST
def place(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Store where the user is reading: ``place`` is JSON in the format of pdf.js."""
    shown = get_object_or_404(Document.objects.visible_to(request.user), pk=pk)
    try:
        sent = msgspec.json.decode(request.POST.get("place", ""), type=PdfDestination)
    except msgspec.MsgspecError:
        return JsonResponse({"error": "This is no place in a document."}, status=400)
    ReadingPlace.objects.update_or_create(
        owner=request.user, document=shown, defaults=msgspec.structs.asdict(sent)
    )
    return HttpResponse(status=204)


@require_safe
def state(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Show the progress or the failure of the document; an empty fragment once it is ready.

    ``?unseen``: the reader was opened before there was a PDF to show. ``?page``: the page in view.
    """
    shown = get_object_or_404(Document.objects.visible_to(request.user), pk=pk)
    if "page" in request.GET:
        prioritise_pages(shown, page_asked_for(request))
    response = render(request, "reader/_state.html", state_of(request, shown))
    if "unseen" in request.GET and shown.file:
        response["HX-Refresh"] = "true"
    elif shown.is_ready:
        response["HX-Trigger"] = "documentready"
    return response


def page_asked_for(request: HttpRequest) -> int:
    number = whole_number(request.GET.get("page", ""))
    return 1 if number is None else number


def state_of(request: HttpRequest, document: Document) -> dict[str, object]:
    editable = Document.objects.editable_by(request.user).filter(pk=document.pk)
    failed = document.status == Document.Status.FAILED
    waited = (timezone.now() - (document.started_at or document.created_at)).total_seconds()
    return {
        "document": document,
        "failed": failed,
        "may_edit": failed and editable.exists(),
        "blocks": imported_blocks(document, place_of(request).unit),
        "asked_unit": place_of(request).unit,
        "look_again": SOONEST if document.pages_waiting else round(min(max(waited / 10, SOONEST), LATEST)),
    }


MOST_BLOCKS = 2000  # blocks of an import without its PDF


def imported_blocks(document: Document, chosen: UUID | None) -> list[CitationUnit]:
    """Return blocks to show instead of pages, starting shortly before the chosen one."""
    if document.file or not document.is_imported:
        return []
    unit = document.units.filter(pk=chosen).first() if chosen else None
    first = max(0, unit.position - MOST_BLOCKS // 2) if unit else 0
    return list(document.units.filter(position__gte=first).order_by("position")[:MOST_BLOCKS])


@require_safe
def highlight(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Return the highlights of the query string as JSON, for links followed inside the reader."""
    shown = get_object_or_404(Document.objects.visible_to(request.user), pk=pk)
    highlights = highlights_asked_for(request, shown)
    return HttpResponse(msgspec.json.encode(highlights), content_type="application/json")


@require_safe
def quoted(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Return the words ``?q=`` of page ``?page=`` for the clipboard, with title, printed page and lines."""
    shown = get_object_or_404(Document.objects.visible_to(request.user), pk=pk)
    asked = place_of(request)
    named = ", ".join(filter(None, (shown.title, shown.short_byline, printed_place(shown, asked))))
    return HttpResponse(f"“{asked.quote}” ({named})", content_type="text/plain; charset=utf-8")


@require_safe
def find(request: HttpRequest, pk: UUID) -> JsonResponse:
    """Return the matches of the words ``?q=`` by page, or with ``?page=`` the boxes of each match there.

    ``?whole``: only whole words; ``?regex``: a regular expression. ``?from=`` is the page to search first;
    after the last page the search continues at the first.

    The response is one part of the result. ``rest`` is the next page, to send as ``?on=``, with ``?found=``
    the number of matches so far. ``first`` are the boxes on the first page of this part with matches.
    ``invalid`` is the error of an incomplete or wrong expression. Without ``?q=`` the pages are only loaded
    into memory.
    """
    shown = get_object_or_404(Document.objects.visible_to(request.user), pk=pk)
    pages = StoredPages(shown.pk)
    query = WordQuery(request.GET.get("q", "")[:QUOTE_LENGTH], "whole" in request.GET, "regex" in request.GET)
    try:
        if (number := whole_number(request.GET.get("page", ""))) is not None:
            return JsonResponse({"matches": match_boxes(pages, number, query)})
        return JsonResponse(part_of_find(request, pages, query))
    except InvalidPattern as invalid:
        return JsonResponse({"invalid": str(invalid), "pages": [], "matches": []})


def part_of_find(request: HttpRequest, pages: StoredPages, query: WordQuery) -> dict[str, object]:
    """Count matches for ``PART_SECONDS``, from the page to continue at. Raises InvalidPattern."""
    start, on, known = (whole_number(request.GET.get(name, "")) for name in ("from", "on", "found"))
    ordered = sorted(pages.all, key=lambda page: (page.number < (start or 1), page.number))
    numbers = [page.number for page in ordered]
    left = ordered[numbers.index(on) if on in numbers else 0 :]
    counts = counts_by_page(left, query, max(MOST_MATCHES - (known or 0), 1), PART_SECONDS)
    found: dict[str, object] = {
        "pages": list(counts.by_page.items()),
        "more": counts.cut,
        "rest": counts.rest,
        "read": bool(ordered),
    }
    if start is not None and (first := next(iter(counts.by_page), None)):
        found["first"] = [first, match_boxes(pages, first, query)]
    return found


def match_boxes(pages: StoredPages, number: int, query: WordQuery) -> list[tuple[Box, ...]]:
    """Return the display boxes of each match on a page; none for a missing page."""
    return [
        page.frame.display_boxes(highlight_rects(page, [span]))
        for page in pages.all
        if page.number == number
        for span in matches_on(page.folded, query)
    ]


@require_safe
def pins(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Return the overlays of the pages: marks of answers and notes, buttons that copy a table."""
    shown = get_object_or_404(Document.objects.visible_to(request.user), pk=pk)
    context = {"document": shown, "marks": marks_on(shown, request.user), "tables": table_areas(shown)}
    return render(request, "reader/_pins.html", context)


def citation_asked_for(request: HttpRequest, document: Document) -> UUID | None:
    """Return the id in ``?citation=`` if it is a citation of this document that the user may see."""
    asked = uuid_or_none(request.GET.get("citation", ""))
    rows = Citation.objects.visible_to(request.user).filter(document=document, pk=asked)
    return asked if asked and rows.exists() else None


def highlights_asked_for(
    request: HttpRequest, document: Document, user: User | None = None
) -> list[LinkHighlight]:
    """Return the highlights of the query string: of a citation of the user, else of page, unit and words."""
    if asked := uuid_or_none(request.GET.get("citation", "")):
        cited = Citation.objects.visible_to(user or request.user).filter(document=document, pk=asked)
        for citation in cited.exclude(durability=Citation.Durability.GONE):
            return [highlight_of(citation)]
    return highlights_at(document, place_of(request))


def place_of(request: HttpRequest) -> LinkTarget:
    """Return the place in the query string; invalid parameters are ignored."""
    asked = request.GET
    return LinkTarget(
        page=whole_number(asked.get("page", "")),
        unit=uuid_or_none(asked.get("unit", "")),
        quote=asked.get("q", "")[:QUOTE_LENGTH].strip(),
    )


# --- The hover card of a citation, and feedback on it ---


@require_safe
def card(request: HttpRequest, citation_id: UUID) -> HttpResponse:
    """Show the cited words, a picture of their place, and the verdict."""
    citation = Citation.objects.lost_to(request.user).filter(pk=citation_id).first()
    if citation is not None:
        return render(request, "chat/_card_lost.html", {"citation": citation})
    return render(request, "chat/_card.html", {"citation": visible_citation(request, citation_id)})


@require_POST
def feedback(request: HttpRequest, citation_id: UUID) -> HttpResponse:
    """Store whether the user finds a citation ``right`` or ``wrong``; '' removes it."""
    said = request.POST.get("feedback", "")
    if said not in ("", "right", "wrong"):
        return JsonResponse({"error": "Say right, wrong, or nothing."}, status=400)
    citation = visible_citation(request, citation_id)
    citation.feedback = said
    citation.save(update_fields=["feedback"])
    if request.headers.get("HX-Request"):
        return render(request, "chat/_feedback_kept.html", {"citation": citation})
    return JsonResponse({"citation": str(citation.pk), "feedback": said})


def visible_citation(request: HttpRequest, pk: UUID) -> Citation:
    visible = Citation.objects.visible_to(request.user)
    if found := visible.filter(pk=pk).first():
        return found
    store_cited(pk)
    return get_object_or_404(visible, pk=pk)
