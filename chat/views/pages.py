"""Pages of conversations: the panel in the reader, the list, one conversation."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

import msgspec
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.http import require_POST, require_safe

from chat.claim_spans import Span
from chat.events import CitationShown
from chat.models import Citation, Conversation, Message
from chat.rendering import render_message
from chat.showing import shown_citations, summary_of
from chat.suggestions import suggested_questions
from documents.models import CitationUnit, Document

CONVERSATIONS_A_PAGE = 40
ESCAPED = str.maketrans({"<": "\\u003C", ">": "\\u003E", "&": "\\u0026"})


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question and its answer, ready for the template."""

    question: Message
    answer: Message | None
    html: SafeString
    citations: SafeString
    summary: str


@require_safe
@login_required
def panel(request: HttpRequest, pk: UUID) -> HttpResponse:
    """The conversation beside a document: the last one about it, or one yet to begin."""
    document = get_object_or_404(Document.objects.visible_to(request.user), pk=pk)
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
        "suggestions": [] if exchanges else suggested_questions(document),
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
    """One conversation on a page of its own; without an id, a new one over the whole library."""
    shown = get_object_or_404(Conversation.objects.visible_to(request.user), pk=pk) if pk else None
    context = {
        "section": "conversations",
        "conversation": shown,
        "exchanges": exchanges_of(shown) if shown else [],
        "documents": list(shown.documents.visible_to(request.user)) if shown else [],  # type: ignore[attr-defined]
    }
    return render(request, "chat/conversation.html", context)


@require_safe
@login_required
def sources(request: HttpRequest, message_id: UUID) -> HttpResponse:
    """The passages that were read for an answer, best first."""
    message = get_object_or_404(Message.objects.visible_to(request.user), pk=message_id)
    units = CitationUnit.objects.visible_to(request.user).select_related("document").in_bulk(message.sources)
    order = [units[UUID(str(key))] for key in message.sources if UUID(str(key)) in units]
    return render(request, "chat/_sources.html", {"units": order})


@require_POST
@login_required
def rename(request: HttpRequest, pk: UUID) -> HttpResponse:
    shown = get_object_or_404(Conversation.objects.visible_to(request.user), pk=pk)
    if title := request.POST.get("title", "").strip()[:200]:
        shown.title = title
        shown.save(update_fields=["title"])
    return redirect("conversations")


@require_POST
@login_required
def delete(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Hides the conversation and offers to undo it."""
    shown = get_object_or_404(Conversation.objects.visible_to(request.user), pk=pk)
    Conversation.objects.filter(pk=shown.pk).update(deleted_at=timezone.now())
    return render(request, "chat/_deleted.html", {"conversation": shown})


@require_POST
@login_required
def restore(request: HttpRequest, pk: UUID) -> HttpResponse:
    hidden = get_object_or_404(Conversation, pk=pk, owner=request.user)
    Conversation.objects.filter(pk=hidden.pk).update(deleted_at=None)
    return redirect("conversations")


def exchanges_of(conversation: Conversation) -> list[Exchange]:
    """All questions of a conversation with their answers. Four queries, however long it is."""
    messages = list(conversation.messages.order_by("position"))
    rows = list(Citation.objects.filter(message__conversation=conversation).order_by("message", "position"))
    cited: dict[UUID, list[CitationShown]] = {}
    for row, citation in zip(rows, shown_citations(rows), strict=True):
        cited.setdefault(row.message_id, []).append(citation)
    answers = {message.position: message for message in messages if message.role == Message.Role.ASSISTANT}
    questions = [message for message in messages if message.role == Message.Role.USER]
    return [exchange(question, answers.get(question.position + 1), cited) for question in questions]


def exchange(question: Message, answer: Message | None, cited: dict[UUID, list[CitationShown]]) -> Exchange:
    if answer is None:
        return Exchange(question, None, mark_safe(""), mark_safe("[]"), "")
    citations = cited.get(answer.pk, [])
    uncited = [Span(start, end) for start, end in answer.uncited]
    html = render_message(answer.content, citations, uncited)
    summary = summary_of(citations, [citation.claim for citation in citations], len(uncited))
    return Exchange(question, answer, html, as_json(citations), summary.text)


def as_json(value: object) -> SafeString:
    """JSON that may stand in a script element: nothing in it can end the element."""
    return mark_safe(msgspec.json.encode(value).decode().translate(ESCAPED))


def as_uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
