"""The browser's views of chat. Each view looks up rows that the user may see, 404 otherwise."""

from __future__ import annotations

from uuid import UUID

from django.contrib.auth.models import AnonymousUser, User
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import URLPattern, path
from django.views.decorators.http import require_POST

from chat.models import Conversation, Message, Note
from chat.models.conversation import Hideable
from documents.models import Collection, Document
from retrieval.models import SavedSearch


def visible_conversation(request: HttpRequest, pk: UUID) -> Conversation:
    return get_object_or_404(Conversation.objects.visible_to(request.user), pk=pk)


def visible_answer(request: HttpRequest, pk: UUID) -> Message:
    answers = Message.objects.visible_to(request.user).filter(role=Message.Role.ASSISTANT)
    return get_object_or_404(answers.select_related("conversation"), pk=pk)


def visible_note(request: HttpRequest, pk: UUID) -> Note:
    notes = Note.objects.visible_to(request.user).select_related("document", "owner")
    return get_object_or_404(notes, pk=pk)


def visible_document(request: HttpRequest, pk: UUID) -> Document:
    return get_object_or_404(Document.objects.visible_to(request.user), pk=pk)


def named(request: HttpRequest, field: str) -> UUID | None:
    """Return the id in a form field, or None. Raises Http404 for an invalid id."""
    return as_uuid(request.POST.get(field, ""))


def as_uuid(text: str) -> UUID | None:
    """Parse an id; None for ''. Raises Http404 for an invalid id."""
    try:
        return UUID(text) if text else None
    except ValueError:
        raise Http404 from None


MOST_CHOSEN = 1000  # documents of one form


def chosen_ids(given: QueryDict, most: int = MOST_CHOSEN) -> list[UUID]:
    """Return the id of each ``document`` of a form or an address."""
    return [pk for text in given.getlist("document")[:most] if (pk := as_uuid(text))]


def chosen_source(
    given: QueryDict, user: User | AnonymousUser
) -> tuple[Collection | None, SavedSearch | None]:
    """Return what ``collection`` names: a collection by its id, a saved search by ``search:`` and its id."""
    kind, _colon, key = given.get("collection", "").rpartition(":")
    wanted = as_uuid(key)
    if kind == "search":
        return None, get_object_or_404(SavedSearch.objects.visible_to(user), pk=wanted)
    return (get_object_or_404(Collection.objects.visible_to(user), pk=wanted) if wanted else None), None


@require_POST
def hide(request: HttpRequest, pk: UUID, model: type[Hideable]) -> HttpResponse:
    """Hide a row and offer to undo it. Only its owner may."""
    row = get_object_or_404(model, pk=pk, owner=request.user, deleted_at=None)
    row.hide()
    return render(request, "_hidden.html", {"row": row, "restore": f"{model._meta.model_name}-restore"})


@require_POST
def unhide(request: HttpRequest, pk: UUID, model: type[Hideable]) -> HttpResponse:
    get_object_or_404(model, pk=pk, owner=request.user).unhide()
    return redirect(f"{model._meta.model_name}s")


def hiding(model: type[Hideable]) -> list[URLPattern]:
    """Return the paths ``note-delete`` and ``note-restore`` of a model whose list is ``notes``."""
    name, of = model._meta.model_name, {"model": model}
    return [
        path("<uuid:pk>/delete/", hide, of, name=f"{name}-delete"),
        path("<uuid:pk>/restore/", unhide, of, name=f"{name}-restore"),
    ]
