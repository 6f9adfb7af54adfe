"""Pages of notes and annotations: the list, one note, the reader's panels, exports."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated
from uuid import UUID

import msgspec
from django.contrib.auth.models import User
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from chat.annotations import (
    LONGEST_COMMENT,
    MOST_BOXES,
    MOST_ON_DOCUMENT,
    MOST_POINTS,
    NothingSelected,
    annotate,
    as_hypothesis,
    as_markdown,
    as_pdf,
    as_zotero,
    draw,
    take_over,
    taken_over,
)
from chat.models import Annotation, Note, NoteVersion
from chat.models.note import AnnotationQuerySet
from chat.notes import (
    LONGEST_NOTE,
    Written,
    add_answer,
    add_quote,
    for_editor,
    from_editor,
    rendered_note,
    restore_version,
    save_note,
    search_notes,
)
from chat.views import as_uuid, named, visible_answer, visible_document, visible_note
from chat.views.exports import as_file
from documents.models import Document, EventKind
from documents.models.security import record
from pdf.failures import ParseFailure
from pdf.geometry import Box, PageFrame, Rect
from retrieval.search import NOTHING_CLOSE
from text.numbers import whole_number

NOTES_A_PAGE = 40
LONGEST_SEARCH = 1000  # characters
NOTES_BESIDE = 10
VERSIONS_SHOWN = 30
LONGEST_TITLE, LONGEST_QUOTE = 200, 2000


@require_safe
def notes(request: HttpRequest) -> HttpResponse:
    """List notes, latest first; with ``?q=`` search results, best first, with snippets."""
    words = request.GET.get("q", "").replace("\x00", " ").strip()[:LONGEST_SEARCH]
    context: dict[str, object] = {"section": "notes", "words": words}
    if words:
        result, found = search_notes(words, request.user)
        context |= {"result": result, "found": found, "near": result.message == NOTHING_CLOSE}
    else:
        rows = Note.objects.visible_to(request.user).select_related("document")
        context["page"] = Paginator(rows, NOTES_A_PAGE).get_page(request.GET.get("page"))
    return render(request, "chat/notes.html", context)


@require_safe
def note(request: HttpRequest, pk: UUID) -> HttpResponse:
    shown = visible_note(request, pk)
    versions = shown.versions.order_by("-revision")[:VERSIONS_SHOWN]
    context = {"section": "notes", "versions": versions, "document": shown.document}
    return render(request, "chat/note.html", context | edited(request, shown))


@require_POST
def new(request: HttpRequest) -> HttpResponse:
    """Create an empty note, optionally about a document."""
    return redirect("note", Note.objects.create(owner=request.user, document=about(request)).pk)


@require_safe
def beside(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Show a note in the reader's panel: the one requested, else the latest about the document.

    The first save creates a document's first note.
    """
    document = visible_document(request, pk)
    found = Note.objects.visible_to(request.user).filter(document=document)
    wanted = as_uuid(request.GET.get("note", ""))
    return pane(request, document, visible_note(request, wanted) if wanted else found.first())


@require_POST
def quote(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Add words selected on a page to the given note, else to the latest about the document."""
    document = visible_document(request, pk)
    words = request.POST.get("words", "").strip()[:LONGEST_QUOTE]
    page = whole_number(request.POST.get("page", ""))
    if not words or page is None:
        return JsonResponse({"error": "Select some words first."}, status=400)
    if wanted := named(request, "note"):
        shown = visible_note(request, wanted)
    else:
        last = Note.objects.visible_to(request.user).filter(document=document).first()
        shown = last or Note.objects.create(owner=request.user, document=document)
    response = pane(request, document, add_quote(shown, document, page, words))
    response["HX-Trigger"] = "quoted"
    return response


def pane(request: HttpRequest, document: Document, shown: Note | None) -> HttpResponse:
    """Show the note in an editor, and the other notes about its document."""
    about_it = Note.objects.visible_to(request.user).filter(document=document)
    others = about_it.exclude(pk=shown.pk)[:NOTES_BESIDE] if shown else ()
    context = {"document": document, "others": others}
    return render(request, "chat/_notes.html", context | edited(request, shown))


def edited(request: HttpRequest, shown: Note | None) -> dict[str, object]:
    """Return the template context of a note's editor."""
    if shown is None:
        return {"note": None}
    text, html = for_editor(shown.content, request.user), rendered_note(shown, request.user)
    return {"note": shown, "text": text, "html": html}


@require_POST
def save(request: HttpRequest) -> HttpResponse:
    """Save a note, merged with a version saved meanwhile. Return its JSON.

    Without ``note`` a new one is created. ``{"note", "revision", "title", "content", "html"}``.
    """
    written = written_in(request)
    if written is None:
        return JsonResponse({"error": "This note is too long."}, status=413)
    if pk := named(request, "note"):
        kept = visible_note(request, pk)
    else:
        kept = Note.objects.create(owner=request.user, document=about(request))
    saved = save_note(kept, written)
    return JsonResponse(
        {
            "note": saved.pk,
            "revision": saved.revision,
            "title": saved.title,
            "content": for_editor(saved.content, request.user),
            "html": rendered_note(saved, request.user),
        }
    )


@require_POST
def add(request: HttpRequest, message_id: UUID) -> HttpResponse:
    """Add an answer with its citations to the latest note about its document; notify an open editor."""
    note = add_answer(visible_answer(request, message_id), request.user)
    response = render(request, "chat/_note_added.html", {"note": note})
    response["HX-Trigger"] = "notechanged"
    return response


@require_POST
def restore_words(request: HttpRequest, pk: UUID, revision: int) -> HttpResponse:
    """Restore an earlier version; the current text becomes a version."""
    version = get_object_or_404(
        NoteVersion.objects.visible_to(request.user).select_related("note"), note=pk, revision=revision
    )
    restore_version(version.note, version)
    return redirect("note", pk)


def about(request: HttpRequest) -> Document | None:
    """Return the document in the form, or None."""
    pk = named(request, "document")
    return visible_document(request, pk) if pk else None


def written_in(request: HttpRequest) -> Written | None:
    """Return the form's values; None when the text is too long."""
    title, content = request.POST.get("title", ""), request.POST.get("content", "")
    if len(title) > LONGEST_TITLE or len(content) > LONGEST_NOTE:
        return None
    plain = content.replace("\r\n", "\n").replace("\x00", "")
    base = whole_number(request.POST.get("revision", "")) or 0
    return Written(" ".join(title.replace("\x00", "").split()), from_editor(plain, request.user), base)


# --- Annotations: on the pages, in the panel, and as exports ---


MOST_LISTED = 1000
EXPORTS = {
    "md": "text/markdown; charset=utf-8",
    "rdf": "application/rdf+xml",
    "json": "application/json",
    "pdf": "application/pdf",
}


Fraction = Annotated[float, msgspec.Meta(ge=-0.5, le=1.5)]
Stroke = tuple[tuple[float, float], ...]


class Selected(msgspec.Struct, frozen=True):
    """A selection or drawing on one page, in display fractions."""

    page: int
    boxes: list[tuple[float, float, float, float]] = []
    strokes: list[list[tuple[Fraction, Fraction]]] = []


class Shown(msgspec.Struct, frozen=True, omit_defaults=True):
    """An annotation for the reader. ``source``: the PDF's annotation that it replaces."""

    id: UUID
    page: int
    boxes: tuple[Box, ...]
    kind: str
    colour: str
    comment: str
    strokes: tuple[Stroke, ...] = ()
    source: int | None = None


@require_http_methods(["GET", "HEAD", "POST"])
def document_annotations(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Return the document's annotations as JSON; a POST stores a selection or drawing (JSON, by page)."""
    document = visible_document(request, pk)
    if request.method != "POST":
        gone = taken_over(request.user, document).exclude(deleted_at=None)
        return as_json([*painted(document, own(request, document)), *map(replaced, gone)])
    look = look_of(request)
    try:
        selected = msgspec.json.decode(request.POST.get("selected", ""), type=list[Selected])
    except msgspec.DecodeError:
        return refused(_("Select some words first."))
    boxes = sum(len(part.boxes) for part in selected)
    points = sum(len(stroke) for part in selected for stroke in part.strokes)
    if look is None or boxes > MOST_BOXES or points > MOST_POINTS:
        return refused(_("Select fewer words."))
    if own(request, document).count() >= MOST_ON_DOCUMENT:
        return refused(_("This document has too many annotations."))
    made = [one for part in selected if (one := _made(request.user, document, part, look))]
    if not made:
        return refused(_("These words cannot be highlighted yet. Wait until the document is processed."))
    response = as_json(painted(document, made))
    response.status_code = 201
    return response


def _made(owner: User, document: Document, part: Selected, look: dict[str, str]) -> Annotation | None:
    try:
        if part.strokes:
            return draw(owner, document, part.page, in_page_space(document, part), **look)
        return annotate(owner, document, part.page, [Rect(*box) for box in part.boxes], **look)
    except NothingSelected:
        return None


def in_page_space(document: Document, drawn: Selected) -> list[list[tuple[float, float]]]:
    """Convert strokes from display fractions to page space; [] when the page does not exist."""
    frame = document.pages.frame_of_each({drawn.page}).get(drawn.page)
    if frame is None:
        return []
    return [[frame.from_display(Rect(x, y, x, y))[:2] for x, y in stroke] for stroke in drawn.strokes]


@require_safe
def annotations_pane(request: HttpRequest, pk: UUID) -> HttpResponse:
    """List annotations; ``?q=`` filters by words of the quote or comment."""
    document = visible_document(request, pk)
    words = request.GET.get("q", "")[:200].replace("\x00", "")
    found = list(own(request, document).with_words(words)[:MOST_LISTED])
    boxes = {shown.id: shown.boxes for shown in painted(document, found)}
    context = {
        "document": document,
        "words": words,
        "annotations": [(annotation, boxes.get(annotation.pk, ())) for annotation in found],
        "colours": Annotation.Colour,
        "kinds": [choice for choice in Annotation.Kind.choices if choice[0] != Annotation.Kind.INK],
    }
    return render(request, "reader/_annotations.html", context)


@require_POST
def change_annotation(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Change colour, kind or comment, if they are in the form."""
    annotation = visible_annotation(request, pk)
    look = look_of(request)
    if look is None:
        return refused(_("This comment is too long."))
    for field, value in look.items():
        setattr(annotation, field, value)
    annotation.save(update_fields=[*look, "updated_at"])
    return HttpResponse(status=204, headers={"HX-Trigger": "annotationchanged"})


@require_POST
def delete_annotation(request: HttpRequest, pk: UUID) -> HttpResponse:
    annotation = visible_annotation(request, pk)
    annotation.hide()
    response = render(request, "reader/_annotation_deleted.html", {"annotation": annotation})
    response["HX-Trigger"] = "annotationchanged"
    return response


@require_POST
def restore_annotation(request: HttpRequest, pk: UUID) -> HttpResponse:
    get_object_or_404(Annotation, pk=pk, owner=request.user).unhide()
    return HttpResponse(headers={"HX-Trigger": "annotated"})


@require_POST
def take_over_annotations(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Import the annotations of the PDF; report the number of new ones."""
    document = visible_document(request, pk)
    if not document.file:
        raise Http404
    try:
        made = len(take_over(request.user, document))
    except ParseFailure as failure:
        return JsonResponse({"error": failure.message}, status=409)
    nothing = _("No new annotations in this PDF.")
    message = ngettext("%(n)s annotation imported.", "%(n)s annotations imported.", made) % {"n": made}
    response = render(request, "_toast.html", {"said": message if made else nothing})
    response["HX-Trigger"] = "annotated"
    return response


@require_safe
def export_annotations(request: HttpRequest, pk: UUID, form: str) -> HttpResponse:
    """Download annotations as ``md``, Zotero ``rdf``, Hypothesis ``json``, or an annotated ``pdf``."""
    document = visible_document(request, pk)
    if form not in EXPORTS or (form in ("pdf", "json") and not document.file):
        raise Http404
    try:
        content = exported(request, document, form)
    except ParseFailure as failure:
        return JsonResponse({"error": failure.message}, status=409)
    record(EventKind.EXPORTED, f"annotations of {document.pk} as {form}")
    return as_file(content, EXPORTS[form], f"{slugify(document.title)[:80] or 'document'}.{form}")


def exported(request: HttpRequest, document: Document, form: str) -> str | bytes:
    """Return the annotations in the format ``form``. Raises ParseFailure."""
    rows, author = list(own(request, document)), request.user.get_username()
    address = request.build_absolute_uri(reverse("document", args=[document.pk]))
    if form == "md":
        return as_markdown(document, rows, address)
    if form == "rdf":
        return as_zotero(document, rows, address)
    if form == "json":
        return msgspec.json.encode(as_hypothesis(document, rows, author))
    replaced = taken_over(request.user, document).values_list("source", flat=True)
    return as_pdf(document, rows, author, without=list(replaced))


def own(request: HttpRequest, document: Document) -> AnnotationQuerySet:
    """Return the user's annotations in document order."""
    return Annotation.objects.visible_to(request.user).filter(document=document)


def painted(document: Document, annotations: Iterable[Annotation]) -> list[Shown]:
    """Return annotations that are still in the document, with display boxes. One query for the pages."""
    rows = [annotation for annotation in annotations if not annotation.is_gone]
    frames = document.pages.frame_of_each({annotation.page_number for annotation in rows})
    return [
        Shown(
            row.pk, row.page_number, frames[row.page_number].display_boxes(row.rects), row.kind, row.colour,
            row.comment, displayed(frames[row.page_number], row.strokes), row.source,
        )
        for row in rows
        if row.page_number in frames
    ]  # fmt: skip


def displayed(frame: PageFrame, strokes: Iterable[Iterable[Sequence[float]]]) -> tuple[Stroke, ...]:
    """Convert strokes from page space to display fractions."""
    return tuple(
        tuple((x, y) for x, y, *_ in frame.display_boxes((*at, *at) for at in stroke)) for stroke in strokes
    )


def replaced(row: Annotation) -> Shown:
    """Return a deleted annotation: the reader also hides the PDF's annotation that it replaced."""
    return Shown(row.pk, row.page_number, (), row.kind, row.colour, "", source=row.source)


def look_of(request: HttpRequest) -> dict[str, str] | None:
    """Return colour, kind and comment, if they are in the form; None if one is invalid."""
    look = {name: request.POST[name] for name in ("colour", "kind", "comment") if name in request.POST}
    if "comment" in look:
        look["comment"] = look["comment"].replace("\r\n", "\n").replace("\x00", "").strip()
    fits = (
        look.get("colour", "yellow") in Annotation.Colour.values,
        look.get("kind", "highlight") in Annotation.Kind.values,
        len(look.get("comment", "")) <= LONGEST_COMMENT,
    )
    return look if all(fits) else None


def visible_annotation(request: HttpRequest, pk: UUID) -> Annotation:
    return get_object_or_404(Annotation.objects.visible_to(request.user), pk=pk)


def as_json(shown: list[Shown]) -> HttpResponse:
    return HttpResponse(msgspec.json.encode(shown), content_type="application/json")


def refused(sentence: str) -> JsonResponse:
    return JsonResponse({"error": sentence}, status=422)
