"""Pages of notes: the list, one note, and the notes panel of the reader."""

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
    """List notes, latest first; with ``?q=`` search results, best first, with snippets."""
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
    """Create an empty note, optionally about a document."""
    assert request.user.is_authenticated
    return redirect("note", Note.objects.create(owner=request.user, document=about(request)).pk)


@require_safe
@login_required
def beside(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Show a note in the reader's panel: the one requested, else the latest about the document.

    The first save creates a document's first note.
    """
    document = visible_document(request, pk)
    found = Note.objects.visible_to(request.user).filter(document=document)
    wanted = as_uuid(request.GET.get("note", ""))
    return pane(request, document, visible_note(request, wanted) if wanted else found.first())


@require_POST
@login_required
def quote(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Add words selected on a page to the given note, else to the latest about the document."""
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
@login_required
def save(request: HttpRequest) -> HttpResponse:
    """Save a note, merged with what was saved meanwhile. Return its JSON.

    Without ``note`` a new one is created. ``{"note", "revision", "title", "content", "html"}``.
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
    """Add an answer with its citations to the latest note about its document; notify an open editor."""
    assert request.user.is_authenticated
    note = add_answer(visible_answer(request, message_id), request.user)
    response = render(request, "chat/_note_added.html", {"note": note})
    response["HX-Trigger"] = "notechanged"
    return response


@require_POST
@login_required
def restore_words(request: HttpRequest, pk: UUID, revision: int) -> HttpResponse:
    """Restore an earlier version; the current text becomes a version."""
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
    """Return the document in the form, or None."""
    pk = named(request, "document")
    return visible_document(request, pk) if pk else None


def written_in(request: HttpRequest) -> Written | None:
    """Return the form's values; None when the text is too long."""
    title, content = request.POST.get("title", ""), request.POST.get("content", "")
    revision = request.POST.get("revision", "")
    if len(title) > LONGEST_TITLE or len(content) > LONGEST_NOTE:
        return None
    plain = content.replace("\r\n", "\n").replace("\x00", "")
    base = int(revision) if revision.isdecimal() and len(revision) < 10 else 0
    return Written(" ".join(title.replace("\x00", "").split()), from_editor(plain, request.user), base)
