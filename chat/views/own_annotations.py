"""A person's own highlights, underlines and comments: on the pages and in the panel."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

import msgspec
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from chat.annotations.annotation_commands import (
    LONGEST_COMMENT,
    MOST_BOXES,
    MOST_ON_DOCUMENT,
    NothingSelected,
    annotate,
)
from chat.annotations.exports import as_markdown, as_pdf
from chat.models import Annotation
from chat.models.annotation import AnnotationQuerySet
from chat.views.exports import as_file
from chat.views.visible import visible_document
from documents.audit import record
from documents.models import Document, EventKind, Page
from pdf.failures import ParseFailure
from pdf.geometry import Box, PageFrame, Rect

MOST_LISTED = 1000


class Selected(msgspec.Struct, frozen=True):
    """What was selected on one page; boxes in display fractions."""

    page: int
    boxes: list[tuple[float, float, float, float]]


class Shown(msgspec.Struct, frozen=True):
    """An annotation as the reader paints it."""

    id: UUID
    page: int
    boxes: tuple[Box, ...]
    kind: str
    colour: str
    comment: str


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def on_document(request: HttpRequest, pk: UUID) -> HttpResponse:
    """The document's annotations as JSON; POST annotates what was ``selected`` (JSON, one entry a page)."""
    document = visible_document(request, pk)
    assert request.user.is_authenticated
    if request.method != "POST":
        return as_json(painted(document, own(request, document)))
    look = look_of(request)
    try:
        selected = msgspec.json.decode(request.POST.get("selected", ""), type=list[Selected])
    except msgspec.DecodeError:
        return refused(_("Select some words first."))
    if look is None or sum(len(part.boxes) for part in selected) > MOST_BOXES:
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
        return annotate(owner, document, part.page, [Rect(*box) for box in part.boxes], **look)
    except NothingSelected:
        return None


@require_safe
@login_required
def pane(request: HttpRequest, pk: UUID) -> HttpResponse:
    """The annotations as a list; ``?q=`` are words of the quote or comment."""
    document = visible_document(request, pk)
    words = request.GET.get("q", "")[:200].replace("\x00", "")
    found = list(own(request, document).with_words(words)[:MOST_LISTED])
    boxes = {shown.id: shown.boxes for shown in painted(document, found)}
    context = {
        "document": document,
        "words": words,
        "annotations": [(annotation, boxes.get(annotation.pk, ())) for annotation in found],
        "colours": Annotation.Colour,
        "kinds": Annotation.Kind,
    }
    return render(request, "reader/_annotations.html", context)


@require_POST
@login_required
def change(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Changes colour, kind or comment: those the form holds."""
    annotation = visible_annotation(request, pk)
    look = look_of(request)
    if look is None:
        return refused(_("This comment is too long."))
    for field, value in look.items():
        setattr(annotation, field, value)
    annotation.save(update_fields=[*look, "updated_at"])
    return HttpResponse(status=204, headers={"HX-Trigger": "annotationchanged"})


@require_POST
@login_required
def delete(request: HttpRequest, pk: UUID) -> HttpResponse:
    annotation = visible_annotation(request, pk)
    annotation.hide()
    response = render(request, "reader/_annotation_deleted.html", {"annotation": annotation})
    response["HX-Trigger"] = "annotationchanged"
    return response


@require_POST
@login_required
def restore(request: HttpRequest, pk: UUID) -> HttpResponse:
    get_object_or_404(Annotation, pk=pk, owner=request.user).unhide()
    return HttpResponse(headers={"HX-Trigger": "annotated"})


@require_safe
@login_required
def export(request: HttpRequest, pk: UUID, form: str) -> HttpResponse:
    """The annotations as ``md``, or the ``pdf`` with them in it."""
    document = visible_document(request, pk)
    rows = list(own(request, document))
    name = slugify(document.title)[:80] or "document"
    if form == "md":
        response = as_file(as_markdown(document, rows), "text/markdown; charset=utf-8", f"{name}.md")
    elif form == "pdf" and document.file:
        try:
            pdf = as_pdf(document, rows, request.user.get_username())
        except ParseFailure as failure:
            return JsonResponse({"error": failure.message}, status=409)
        response = as_file(pdf, "application/pdf", f"{name}.pdf")
    else:
        raise Http404
    record(EventKind.EXPORTED, f"annotations of {document.pk} as {form}")
    return response


def own(request: HttpRequest, document: Document) -> AnnotationQuerySet:
    """The user's annotations of the document, in its order."""
    return Annotation.objects.visible_to(request.user).filter(document=document)


def painted(document: Document, annotations: Iterable[Annotation]) -> list[Shown]:
    """The annotations whose words are in the document, with display boxes. One query for the pages."""
    rows = [annotation for annotation in annotations if not annotation.is_gone]
    numbers = {annotation.page_number for annotation in rows}
    pages = Page.objects.filter(document=document, number__in=numbers)
    frames: dict[int, PageFrame] = {
        page.number: page.frame
        for page in pages.defer("text", "word_boxes", "furniture", "figures", "recognised")
    }
    return [
        Shown(
            row.pk, row.page_number, frames[row.page_number].display_boxes(row.rects), row.kind, row.colour,
            row.comment,
        )
        for row in rows
        if row.page_number in frames
    ]  # fmt: skip


def look_of(request: HttpRequest) -> dict[str, str] | None:
    """Colour, kind and comment, of those the form holds; None when one of them cannot be kept."""
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
