"""Ask a question in a conversation; retry, continue or cancel its answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any
from uuid import UUID

import msgspec
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from chat.answers.persistence import notice_dead
from chat.models import Citation, Conversation, Message, Region
from chat.models.conversation import revoke
from documents.ingestion.recognition import want_documents
from documents.models import Collection, Document
from retrieval.results import RagConfig

EMPTY: Mapping[str, Any] = MappingProxyType({})
LONGEST_QUESTION = 4000
LONGEST_TITLE = 80


class InvalidOperation(Exception):
    """The command is invalid in the present state; the message is for people."""


@dataclass(frozen=True, slots=True)
class QuestionWithAnswer:
    """A stored question and its pending answer."""

    question: Message
    answer: Message


def start_conversation(
    user: User,
    documents: Iterable[Document] = (),
    collection: Collection | None = None,
    provider: str = "",
    model: str = "",
    rag_config: Mapping[str, Any] = EMPTY,
) -> Conversation:
    """Create a conversation over documents, a collection, or (with neither) the whole library."""
    listed = list(documents)
    scope = Conversation.ScopeKind.LIBRARY
    if listed:
        scope = Conversation.ScopeKind.DOCUMENTS
    elif collection is not None:
        scope = Conversation.ScopeKind.COLLECTION
    conversation = Conversation.objects.create(
        owner=user,
        scope=scope,
        collection=collection,
        provider=provider,
        model=model,
        rag_config=dict(rag_config),
    )
    if listed:
        conversation.documents.set(listed)
    return conversation


def ask(
    conversation: Conversation,
    question: str,
    rag_config: Mapping[str, Any] = EMPTY,
    region: Region | None = None,
) -> QuestionWithAnswer:
    """Store a question and its pending answer after all earlier messages. Raises InvalidOperation.

    ``rag_config`` overrides the conversation's; the answer stores the result. ``region``: the part of a page
    that the question is about, of a document that the owner may see.

    The conversation's row is locked, so two questions asked at once get consecutive positions;
    ``chat.answers.runner`` writes their answers in that order.
    """
    question = validated_question(question)
    with transaction.atomic():
        locked = Conversation.objects.select_for_update().get(pk=conversation.pk)
        position = next_position(locked)
        asked = Message(conversation=locked, position=position, role=Message.Role.USER, content=question)
        asked.asked_region = msgspec.to_builtins(region, str_keys=True) if region else None
        if position == 0:
            asked.standalone_question = question  # the first question refers to no other
        answer = Message(
            conversation=locked,
            position=position + 1,
            role=Message.Role.ASSISTANT,
            status=Message.Status.PENDING,
            rag_config=RagConfig.read(rag_config).over(RagConfig.read(locked.rag_config)).stored(),
        )
        Message.objects.bulk_create([asked, answer])
        locked.title = locked.title or title_of(question)
        locked.save(update_fields=["title", "updated_at"])
    if conversation.scope == Conversation.ScopeKind.DOCUMENTS:
        want_documents(conversation.documents.all())
    return QuestionWithAnswer(asked, answer)


def validated_question(question: str) -> str:
    """Return the question without invalid characters. Raises InvalidOperation if it is empty or too long."""
    question = question.replace("\x00", "").strip()
    if not question:
        raise InvalidOperation("Write a question first.")
    if len(question) > LONGEST_QUESTION:
        raise InvalidOperation(f"This question is too long; {LONGEST_QUESTION} characters are the limit.")
    return question


def validated_region(user: User, text: str) -> Region | None:
    """Return the region in JSON; None for ''. Raises InvalidOperation, also if the user may not see it."""
    if not text:
        return None
    try:
        region = msgspec.json.decode(text, type=Region)
    except msgspec.MsgspecError:
        raise InvalidOperation("This is not a part of a page.") from None
    visible = Document.objects.visible_to(user).filter(pk=region.document)
    if not visible.filter(pages__number=region.page).exists():
        raise InvalidOperation("A document does not exist or you cannot access it.")
    return region


def next_position(conversation: Conversation) -> int:
    last = conversation.messages.aggregate(last=Max("position"))["last"]
    return 0 if last is None else last + 1


def title_of(question: str) -> str:
    line = " ".join(question.split())
    return line if len(line) <= LONGEST_TITLE else line[: LONGEST_TITLE - 1].rsplit(" ", 1)[0] + "…"


def retry(answer: Message, alone: bool = False) -> None:
    """Discard an answer and make it pending again. Raises InvalidOperation.

    ``alone``: search for the question as it was asked, without what the conversation added to it.
    """
    with transaction.atomic():
        locked = _ended(answer)
        if alone:
            asked = locked.question
            Message.objects.filter(pk=asked.pk).update(standalone_question=asked.content)
        Citation.objects.filter(message=locked).delete()
        revoke(locked)  # the share link showed another answer
        locked.content, locked.sources, locked.uncited, locked.usage = "", [], [], {}
        _make_pending(locked)


def continue_answer(answer: Message) -> None:
    """Make an incomplete answer pending again, with its text so far. Raises InvalidOperation."""
    with transaction.atomic():
        locked = _ended(answer)
        revoke(locked)
        if locked.status not in (Message.Status.INCOMPLETE, Message.Status.FAILED):
            raise InvalidOperation("This answer is complete.")
        _make_pending(locked)


def cancel(answer: Message) -> None:
    """Ask the answer's writer to stop; without a writer, stop at once. Raises InvalidOperation."""
    notice_dead([answer])
    if answer.role != Message.Role.ASSISTANT or not answer.is_unfinished:
        raise InvalidOperation("This answer is not being written.")
    Message.objects.filter(pk=answer.pk).unfinished().update(cancel_requested=True)
    Message.objects.filter(pk=answer.pk, status=Message.Status.PENDING).update(
        status=Message.Status.INCOMPLETE, error="Stopped."
    )


def _ended(answer: Message) -> Message:
    locked = Message.objects.select_for_update().get(pk=answer.pk)
    notice_dead([locked])
    if locked.role != Message.Role.ASSISTANT or locked.is_unfinished:
        raise InvalidOperation("This answer is still being written.")
    return locked


def _make_pending(answer: Message) -> None:
    answer.status, answer.error = Message.Status.PENDING, ""
    answer.cancel_requested, answer.alive_at = False, timezone.now()
    answer.takeovers = 0
    answer.save()


def cited_numbers(conversation_id: UUID, before: Message) -> dict[str, int]:
    """Return the superscripts of a conversation up to and including ``before``, by unit id."""
    rows = Citation.objects.filter(
        message__conversation=conversation_id, message__position__lte=before.position, unit__isnull=False
    )
    return {str(unit): number for unit, number in rows.values_list("unit_id", "number")}
