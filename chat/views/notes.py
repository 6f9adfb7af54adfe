"""Notes: the list, one note, those of a document beside its pages, and what is done with them."""

from __future__ import annotations

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from chat.models import Note, NoteVersion
from chat.notes import (
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
from chat.views.visible import as_uuid, named, visible_answer, visible_document, visible_note
from documents.models import Document
from retrieval.search import NOTHING_CLOSE

NOTES_A_PAGE = 40
LONGEST_SEARCH = 1000  # characters
NOTES_BESIDE = 10
VERSIONS_SHOWN = 30
LONGEST_TITLE, LONGEST_NOTE, LONGEST_QUOTE = 200, 1_000_000, 2000


@require_safe
@login_required
def notes(request: HttpRequest) -> HttpResponse:
    """The latest first; with ``?q=`` those that speak of it, best first, with the words that do."""
    assert request.user.is_authenticated
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
@login_required
def note(request: HttpRequest, pk: UUID) -> HttpResponse:
    shown = visible_note(request, pk)
    versions = shown.versions.order_by("-revision")[:VERSIONS_SHOWN]
    context = {"section": "notes", "versions": versions, "document": shown.document}
    return render(request, "chat/note.html", context | edited(request, shown))


@require_POST
@login_required
def new(request: HttpRequest) -> HttpResponse:
    """An empty note, about a document when one is named."""
    assert request.user.is_authenticated
    return redirect("note", Note.objects.create(owner=request.user, document=about(request)).pk)


@require_safe
@login_required
def beside(request: HttpRequest, pk: UUID) -> HttpResponse:
    """A note in the reader's panel: the one that is named, else the last about the document.

    The first one is made with the first words.
    """
    document = visible_document(request, pk)
    found = Note.objects.visible_to(request.user).filter(document=document)
    wanted = as_uuid(request.GET.get("note", ""))
    return pane(request, document, visible_note(request, wanted) if wanted else found.first())


@require_POST
@login_required
def quote(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Adds words selected on a page of the document to the note named, else to the last about it."""
    assert request.user.is_authenticated
    document = visible_document(request, pk)
    words, page = request.POST.get("words", "").strip()[:LONGEST_QUOTE], request.POST.get("page", "")
    if not words or not page.isdecimal() or len(page) > 7:
        return JsonResponse({"error": "Select some words first."}, status=400)
    if wanted := named(request, "note"):
        shown = visible_note(request, wanted)
    else:
        last = Note.objects.visible_to(request.user).filter(document=document).first()
        shown = last or Note.objects.create(owner=request.user, document=document)
    response = pane(request, document, add_quote(shown, document, int(page), words))
    response["HX-Trigger"] = "quoted"
    return response


def pane(request: HttpRequest, document: Document, shown: Note | None) -> HttpResponse:
    """The note in an editor, and the others about its document."""
    about_it = Note.objects.visible_to(request.user).filter(document=document)
    others = about_it.exclude(pk=shown.pk)[:NOTES_BESIDE] if shown else ()
    context = {"document": document, "others": others}
    return render(request, "chat/_notes.html", context | edited(request, shown))


def edited(request: HttpRequest, shown: Note | None) -> dict[str, object]:
    """What its editor needs of a note."""
    if shown is None:
        return {"note": None}
    text, html = for_editor(shown.content, request.user), rendered_note(shown, request.user)
    return {"note": shown, "text": text, "html": html}


@require_POST
@login_required
def save(request: HttpRequest) -> HttpResponse:
    """Saves what an editor holds, merged with what was saved meanwhile; JSON of the note as it is now.

    A form without ``note`` makes one. ``{"note", "revision", "title", "content", "html"}``.
    """
    assert request.user.is_authenticated
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
@login_required
def add(request: HttpRequest, message_id: UUID) -> HttpResponse:
    """Adds an answer, citations live, to the last note about its document; an open editor is told."""
    assert request.user.is_authenticated
    note = add_answer(visible_answer(request, message_id), request.user)
    response = render(request, "chat/_note_added.html", {"note": note})
    response["HX-Trigger"] = "notechanged"
    return response


@require_POST
@login_required
def restore_words(request: HttpRequest, pk: UUID, revision: int) -> HttpResponse:
    """Brings an earlier version back; the present one becomes a version itself."""
    version = get_object_or_404(
        NoteVersion.objects.visible_to(request.user).select_related("note"), note=pk, revision=revision
    )
    restore_version(version.note, version)
    return redirect("note", pk)


@require_POST
@login_required
def delete(request: HttpRequest, pk: UUID) -> HttpResponse:
    shown = visible_note(request, pk)
    shown.hide()
    return render(request, "chat/_note_deleted.html", {"note": shown})


@require_POST
@login_required
def restore(request: HttpRequest, pk: UUID) -> HttpResponse:
    get_object_or_404(Note, pk=pk, owner=request.user).unhide()
    return redirect("notes")


def about(request: HttpRequest) -> Document | None:
    """The document the form names."""
    pk = named(request, "document")
    return visible_document(request, pk) if pk else None


def written_in(request: HttpRequest) -> Written | None:
    """What the form holds; None when it is too long to be kept."""
    title, content = request.POST.get("title", ""), request.POST.get("content", "")
    revision = request.POST.get("revision", "")
    if len(title) > LONGEST_TITLE or len(content) > LONGEST_NOTE:
        return None
    plain = content.replace("\r\n", "\n").replace("\x00", "")
    base = int(revision) if revision.isdecimal() and len(revision) < 10 else 0
    return Written(" ".join(title.replace("\x00", "").split()), from_editor(plain, request.user), base)
