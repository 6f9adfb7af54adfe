"""Notes: the list, one note, and those of a document beside its pages. Saving goes through the API."""

from __future__ import annotations

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from chat.models import Note
from chat.views.pages import as_uuid
from documents.models import Document

NOTES_A_PAGE = 40
NOTES_BESIDE = 10


@require_safe
@login_required
def notes(request: HttpRequest) -> HttpResponse:
    words = request.GET.get("q", "").strip()[:200]
    found = Note.objects.visible_to(request.user).select_related("document")
    for word in words.split():
        found = found.filter(content__icontains=word) | found.filter(title__icontains=word)
    page = Paginator(found, NOTES_A_PAGE).get_page(request.GET.get("page"))
    return render(request, "chat/notes.html", {"section": "notes", "page": page, "words": words})


@require_safe
@login_required
def note(request: HttpRequest, pk: UUID) -> HttpResponse:
    shown = get_object_or_404(Note.objects.visible_to(request.user).select_related("document"), pk=pk)
    context = {"section": "notes", "note": shown, "versions": shown.versions.order_by("-revision")[:20]}
    return render(request, "chat/note.html", context)


@require_POST
@login_required
def new(request: HttpRequest) -> HttpResponse:
    """An empty note, about a document when one is named."""
    about = request.POST.get("document")
    document = get_object_or_404(Document.objects.visible_to(request.user), pk=about) if about else None
    made = Note.objects.create(owner=request.user, document=document)
    return redirect("note", made.pk)


@require_safe
@login_required
def beside(request: HttpRequest, pk: UUID) -> HttpResponse:
    """A note in the reader's panel: the one that is named, else the last about the document.

    The first one is made with the first words.
    """
    document = get_object_or_404(Document.objects.visible_to(request.user), pk=pk)
    notes = Note.objects.visible_to(request.user)
    about = notes.filter(document=document)
    named = get_object_or_404(notes, pk=as_uuid(wanted)) if (wanted := request.GET.get("note")) else None
    shown = named or about.first()
    others = about.exclude(pk=shown.pk)[:NOTES_BESIDE] if shown else ()
    return render(request, "chat/_notes.html", {"document": document, "note": shown, "others": others})


@require_POST
@login_required
def delete(request: HttpRequest, pk: UUID) -> HttpResponse:
    shown = get_object_or_404(Note.objects.visible_to(request.user), pk=pk)
    Note.objects.filter(pk=shown.pk).update(deleted_at=timezone.now())
    return render(request, "chat/_note_deleted.html", {"note": shown})


@require_POST
@login_required
def restore(request: HttpRequest, pk: UUID) -> HttpResponse:
    hidden = get_object_or_404(Note, pk=pk, owner=request.user)
    Note.objects.filter(pk=hidden.pk).update(deleted_at=None)
    return redirect("notes")
