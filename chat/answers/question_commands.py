"""Questions put to a conversation, and what can be done with their answers."""

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
    """A question and the answer that is to be written, both stored."""

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
    """A conversation over documents, a collection, or (with neither) the whole library."""
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
    """Stores a question and its pending answer behind all earlier messages. Raises InvalidOperation.

    ``rag_config`` goes before the conversation's; the answer keeps both together. ``region``: the part of
    a page that is asked about, of a document that the owner may see.

    The conversation's row is locked, so two questions asked at once get places
    one after the other; ``chat.answers.runner`` writes their answers in that order.
    """
    question = validated_question(question)
    with transaction.atomic():
        locked = Conversation.objects.select_for_update().get(pk=conversation.pk)
        position = next_position(locked)
        asked = Message(conversation=locked, position=position, role=Message.Role.USER, content=question)
        asked.asked_region = msgspec.to_builtins(region, str_keys=True) if region else None
        if position == 0:
            asked.standalone_question = question  # there is nothing before it that it could refer to
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
    """The question without what cannot be stored. Raises InvalidOperation for none, and for one too long."""
    question = question.replace("\x00", "").strip()
    if not question:
        raise InvalidOperation("Write a question first.")
    if len(question) > LONGEST_QUESTION:
        raise InvalidOperation(f"This question is too long; {LONGEST_QUESTION} characters are the limit.")
    return question


def validated_region(user: User, text: str) -> Region | None:
    """The region that JSON names; None for ''. Raises InvalidOperation, also for what is not visible."""
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


def retry(answer: Message) -> None:
    """Makes an answer pending again, without anything of the old one. Raises InvalidOperation."""
    with transaction.atomic():
        locked = _ended(answer)
        Citation.objects.filter(message=locked).delete()
        revoke(locked)  # who has a link was shown another answer
        locked.content, locked.sources, locked.uncited, locked.usage = "", [], [], {}
        _make_pending(locked)


def continue_answer(answer: Message) -> None:
    """Makes an incomplete answer pending again; what was written stays. Raises InvalidOperation."""
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
    """The superscripts given in a conversation so far, by unit id; of ``before`` itself, too."""
    rows = Citation.objects.filter(
        message__conversation=conversation_id, message__position__lte=before.position, unit__isnull=False
    )
    return {str(unit): number for unit, number in rows.values_list("unit_id", "number")}
