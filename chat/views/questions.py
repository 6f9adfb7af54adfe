"""Questions from the browser, and what is done with their answers."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, JsonResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.views.decorators.http import require_POST

from chat import asking
from chat.asking import CannotBeDone
from chat.models import Citation, Conversation, Message
from chat.providers.registry import provider_names
from chat.streaming import cancel_live, start_next
from documents.models import Collection, Document


@login_required
@require_POST
def ask_first(request: HttpRequest) -> JsonResponse:
    """Starts a conversation with its first question."""
    assert request.user.is_authenticated
    chosen = request.POST.get("provider", "")
    if chosen and chosen not in provider_names():
        return refused("There is no such provider.")
    try:
        documents = visible_documents(request)
        collection = visible_collection(request)
        conversation = asking.start_conversation(
            request.user, documents, collection, chosen, request.POST.get("model", "")[:120]
        )
        return asked(conversation, request.POST.get("question", ""))
    except CannotBeDone as reason:
        return refused(str(reason))


@login_required
@require_POST
def ask(request: HttpRequest, conversation_id: UUID) -> JsonResponse:
    """Asks a question in a conversation."""
    conversation = get_object_or_404(Conversation.objects.visible_to(request.user), pk=conversation_id)
    try:
        return asked(conversation, request.POST.get("question", ""))
    except CannotBeDone as reason:
        return refused(str(reason))


@login_required
@require_POST
def cancel(request: HttpRequest, message_id: UUID) -> JsonResponse:
    """Stops an answer; what was written is kept."""
    answer = visible_answer(request, message_id)
    try:
        asking.cancel(answer)
    except CannotBeDone as reason:
        return refused(str(reason), 409)
    cancel_live(answer.pk)
    return JsonResponse({"answer": str(answer.pk)})


@login_required
@require_POST
def retry(request: HttpRequest, message_id: UUID) -> JsonResponse:
    """Writes an answer anew."""
    return begun_again(request, message_id, asking.retry)


@login_required
@require_POST
def continue_(request: HttpRequest, message_id: UUID) -> JsonResponse:
    """Goes on where an incomplete answer stopped."""
    return begun_again(request, message_id, asking.continue_answer)


@login_required
@require_POST
def feedback(request: HttpRequest, citation_id: UUID) -> JsonResponse:
    """Keeps whether a person finds a citation ``right`` or ``wrong``; '' takes it back."""
    said = request.POST.get("feedback", "")
    if said not in ("", "right", "wrong"):
        return refused("Say right, wrong, or nothing.")
    citation = get_object_or_404(Citation.objects.visible_to(request.user), pk=citation_id)
    citation.feedback = said
    citation.save(update_fields=["feedback"])
    return JsonResponse({"citation": str(citation.pk), "feedback": said})


def asked(conversation: Conversation, question: str) -> JsonResponse:
    stored = asking.ask(conversation, question)
    start_next(conversation.pk)
    return told(conversation.pk, stored.question.pk, stored.answer.pk)


def begun_again(request: HttpRequest, message_id: UUID, begin: Callable[[Message], None]) -> JsonResponse:
    answer = visible_answer(request, message_id)
    try:
        begin(answer)
    except CannotBeDone as reason:
        return refused(str(reason), 409)
    start_next(answer.conversation_id)
    return told(answer.conversation_id, asking.question_of(answer).pk, answer.pk)


def told(conversation: UUID, question: UUID, answer: UUID) -> JsonResponse:
    body = {"conversation": conversation, "question": question, "answer": answer}
    return JsonResponse(body | {"stream": reverse("answer-stream", args=[answer])}, status=201)


def refused(reason: str, status: int = 400) -> JsonResponse:
    return JsonResponse({"error": reason}, status=status)


def visible_answer(request: HttpRequest, message_id: UUID) -> Message:
    answers = Message.objects.visible_to(request.user).filter(role=Message.Role.ASSISTANT)
    return get_object_or_404(answers, pk=message_id)


def visible_documents(request: HttpRequest) -> list[Document]:
    """The documents named in the form. Raises CannotBeDone for one the user cannot see."""
    ids = {as_uuid(text) for text in request.POST.getlist("document") if text}
    documents = list(Document.objects.visible_to(request.user).filter(pk__in=ids))
    if len(documents) < len(ids):
        raise CannotBeDone("One of these documents is not there.")
    return documents


def visible_collection(request: HttpRequest) -> Collection | None:
    text = request.POST.get("collection", "")
    if not text:
        return None
    collection = Collection.objects.visible_to(request.user).filter(pk=as_uuid(text)).first()
    if collection is None:
        raise CannotBeDone("This collection is not there.")
    return collection


def as_uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise CannotBeDone("This is no valid id.") from None
