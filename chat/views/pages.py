"""Pages of conversations and of providers."""

from __future__ import annotations

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db.models import Count, Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from chat.answers.message_presenters import exchanges_of, read_sources
from chat.answers.suggested_questions import direct_questions, library_questions
from chat.models import Conversation, Message
from chat.providers.registry import cards, check_health, choices, provider_names
from chat.views.questions import SEARCH_KINDS
from chat.views.visible import visible_conversation, visible_document
from documents.models import Collection, Document
from documents.models.document import DocumentQuerySet
from retrieval.views import spaces_context

CONVERSATIONS_A_PAGE = 40
MOST_ASKED = 500  # documents of one conversation


@require_safe
@login_required
def panel(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Show the chat panel of a document: its latest conversation, or a new one."""
    document = visible_document(request, pk)
    found = Conversation.objects.visible_to(request.user).filter(
        documents=document, scope=Conversation.Scope.DOCUMENTS
    )
    if chosen := request.GET.get("citation", ""):
        found = Conversation.objects.visible_to(request.user).filter(messages__citations__pk=as_uuid(chosen))
    conversation = None if "new" in request.GET else found.order_by("-updated_at").first()
    exchanges = exchanges_of(conversation) if conversation else []
    context = {
        "document": document,
        "conversation": conversation,
        "exchanges": exchanges,
        "silent": not exchanges and why_silent(Document.objects.filter(pk=pk)),
        "suggestions": [] if exchanges else direct_questions(document, request.user),
        "providers": choices(),
        "search_kinds": SEARCH_KINDS,
    }
    return render(request, "chat/_panel.html", context)


@require_safe
@login_required
def conversations(request: HttpRequest) -> HttpResponse:
    words = request.GET.get("q", "").strip()[:200]
    found = Conversation.objects.visible_to(request.user).prefetch_related("documents")
    for word in words.split():
        found = found.filter(Q(title__icontains=word) | Q(messages__content__icontains=word))
    found = found.annotate(
        questions=Count("messages", filter=Q(messages__role=Message.Role.USER), distinct=True)
    )
    page = Paginator(found.distinct().order_by("-updated_at"), CONVERSATIONS_A_PAGE).get_page(
        request.GET.get("page")
    )
    return render(
        request, "chat/conversations.html", {"section": "conversations", "page": page, "words": words}
    )


@require_safe
@login_required
def conversation(request: HttpRequest, pk: UUID | None = None) -> HttpResponse:
    """Show a conversation on its own page; without an id, a new one.

    Its scope is each ``?document=``, or ``?collection=``, or the whole library.
    """
    shown = visible_conversation(request, pk) if pk else None
    library = Document.objects.visible_to(request.user)
    asked: list[Document] = []
    collection = None
    if not shown and (ids := [as_uuid(text) for text in request.GET.getlist("document")[:MOST_ASKED]]):
        library = library.filter(pk__in=[pk for pk in ids if pk])
        asked = list(library)
        if not asked:
            raise Http404  # otherwise the scope would be the whole library
    elif not shown and (chosen := as_uuid(request.GET.get("collection", ""))):
        collection = get_object_or_404(Collection.objects.visible_to(request.user), pk=chosen)
        library = library.filter(collections=collection)
    context = {
        "section": "conversations",
        "conversation": shown,
        "exchanges": exchanges_of(shown) if shown else [],
        "silent": not shown and why_silent(library),
        "suggestions": [] if shown else library_questions(library, request.user),
        "documents": list(shown.documents.visible_to(request.user)) if shown else asked,  # type: ignore[attr-defined]
        "documents_asked": asked,
        "collection": collection,
        "providers": choices(),
        "search_kinds": SEARCH_KINDS,
    }
    return render(request, "chat/conversation.html", context)


@require_safe
@login_required
def sources(request: HttpRequest, message_id: UUID) -> HttpResponse:
    """Show an answer's citations, including outdated ones, and the other passages in its prompt."""
    message = get_object_or_404(Message.objects.visible_to(request.user), pk=message_id)
    context = {
        "sources": read_sources(message, request.user),
        "gone": message.citations.filter(unit=None).order_by("number", "position"),
    }
    return render(request, "chat/_sources.html", context)


@require_POST
@login_required
def rename(request: HttpRequest, pk: UUID) -> HttpResponse:
    shown = visible_conversation(request, pk)
    if title := request.POST.get("title", "").strip()[:200]:
        shown.title = title
        shown.save(update_fields=["title"])
    return redirect("conversations")


@require_POST
@login_required
def delete(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Soft-delete the conversation and offer to undo it."""
    shown = visible_conversation(request, pk)
    shown.hide()
    return render(request, "chat/_deleted.html", {"conversation": shown})


@require_POST
@login_required
def restore(request: HttpRequest, pk: UUID) -> HttpResponse:
    get_object_or_404(Conversation, pk=pk, owner=request.user).unhide()
    return redirect("conversations")


def why_silent(documents: DocumentQuerySet) -> str:
    """Return why no document can be asked: "none", "working" or "wordless"; '' when one can."""
    if documents.searchable().exists():
        return ""
    if not documents.exists():
        return "none"
    return "working" if documents.working().exists() else "wordless"


def as_uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


# --- The page of providers: configured models and health checks ---


@require_safe
@login_required
def providers(request: HttpRequest) -> HttpResponse:
    return render(request, "chat/providers.html", {"cards": cards(), **spaces_context()})


@require_POST
@login_required
def test(request: HttpRequest, name: str) -> HttpResponse:
    """Check a provider's health; return a fragment with the result."""
    if name not in provider_names():
        raise Http404
    return render(request, "chat/_health.html", {"health": check_health(name)})
