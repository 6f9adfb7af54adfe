"""Save answers: while they grow, when they are finished or failed, and after their writer has died."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Case, F, Q, QuerySet, Value, When
from django.dispatch import Signal
from django.utils import timezone

from chat.answers.answer_builder import AnswerBuilder
from chat.models import Citation, Message
from documents.models import CitationUnit, Document

answer_finished = Signal()
"""Sent with ``message_id`` once an answer has ended, well or not. Receivers must be quick."""
CHANGEABLE = [
    *("verdict", "difference", "reason", "missing", "judged_by", "judgement"),
    *("position", "number", "claim_start", "claim_end"),
]


def save_progress(draft: AnswerBuilder, **end: Any) -> None:
    """Save text and citations together; omit citations of units that were deleted meanwhile.

    ``end``: columns of the final status, saved in the same statement.
    """
    with draft.saving:
        with draft.lock:
            content = draft.content
            unsaved = [citation for citation in draft.citations if citation.pk not in draft.saved]
            taken_back = draft.saved - {citation.pk for citation in draft.citations}
        if content == draft.saved_content and not unsaved and not end:
            return
        if taken_back:
            Citation.objects.filter(pk__in=taken_back).delete()
            draft.saved -= taken_back
        try:
            _save(draft, content, unsaved, end)
        except IntegrityError:  # a document was deleted or parsed again between SELECT and COMMIT
            _save(draft, content, unsaved, end)


def _save(draft: AnswerBuilder, content: str, unsaved: Sequence[Citation], end: Mapping[str, Any]) -> None:
    columns = {"content": content, "alive_at": timezone.now(), **end}
    with transaction.atomic():
        _forget_what_is_gone(unsaved)
        Citation.objects.bulk_create(unsaved)
        Message.objects.filter(pk=draft.message_id).update(**columns)
    draft.saved |= {citation.pk for citation in unsaved}
    draft.saved_content = content


def _forget_what_is_gone(citations: Sequence[Citation]) -> None:
    if not citations:
        return
    units = CitationUnit.objects.filter(pk__in={citation.unit_id for citation in citations}).order_by()
    known = set(units.values_list("pk", flat=True))
    orphans = [citation for citation in citations if citation.unit_id not in known]
    if not orphans:
        return  # a unit that exists has its document
    asked = Document.objects.filter(pk__in={citation.document_id for citation in orphans})
    documents = set(asked.values_list("pk", flat=True))
    for citation in orphans:
        citation.unit_id = None
        if citation.document_id not in documents:
            citation.document_id = None


def finish(
    draft: AnswerBuilder, status: Message.Status, error: str = "", usage: dict[str, float] | None = None
) -> None:
    """Save the whole answer with its final status."""
    changed = [citation for citation in draft.citations if citation.pk in draft.changed & draft.saved]
    if changed:
        Citation.objects.bulk_update(changed, CHANGEABLE)
    save_progress(
        draft,
        status=status,
        error=error[:500],
        uncited=[[span.start, span.end] for span in draft.uncited()],
        usage=usage or {},
        alive_at=None,
        cancel_requested=False,
    )
    answer_finished.send_robust(Message, message_id=draft.message_id)


def fail(answer: Message, error: str) -> None:
    """Mark an answer without text as failed."""
    status = Message.Status.INCOMPLETE if answer.content else Message.Status.FAILED
    Message.objects.filter(pk=answer.pk).update(
        status=status, error=error[:500], alive_at=None, cancel_requested=False
    )
    answer_finished.send_robust(Message, message_id=answer.pk)


def seconds_since(start: float) -> float:
    return round(time.monotonic() - start, 2)


# Dead answers: the process that wrote them was killed.
#
# Every reader checks its own answer and each web process checks all. A dead answer waits for another writer,
# which continues after the last word.

written_here: set[UUID] = set()  # answers that this process writes: they are not dead, only slow
DEAD_AFTER = timedelta(seconds=12)  # since the writer's last heartbeat
MOST_TAKEOVERS = 3  # an answer that kills every process that writes it is given up
STOPPED = "The server was stopped while it wrote this answer."


def release_dead_answers(among: QuerySet[Message] | None = None) -> set[UUID]:
    """Return dead answers to the queue for another writer; return their ids.

    Answers that lost too many writers end, with the text written so far.
    """
    messages = Message.objects.all() if among is None else among
    since = timezone.now() - DEAD_AFTER
    silent = (Q(alive_at__lt=since) | Q(alive_at=None, created_at__lt=since)) & ~Q(pk__in=list(written_here))
    dead = set(messages.filter(silent, status=Message.Status.STREAMING).values_list("pk", flat=True))
    if dead:
        still = Message.objects.filter(silent, pk__in=dead, status=Message.Status.STREAMING)
        failed, incomplete = Value(Message.Status.FAILED), Value(Message.Status.INCOMPLETE)
        worn_out = still.filter(Q(takeovers__gte=MOST_TAKEOVERS) | Q(cancel_requested=True))
        worn_out.update(
            status=Case(When(content="", then=failed), default=incomplete), error=STOPPED, alive_at=None
        )
        release(still)
    return dead


def release(answers: QuerySet[Message]) -> int:
    """Return answers to the queue for another writer; their text and events stay."""
    return answers.filter(status=Message.Status.STREAMING).update(
        status=Message.Status.PENDING, alive_at=None, writer=None, takeovers=F("takeovers") + 1
    )


def is_dead(message: Message) -> bool:
    """Return whether its row has the status of a live answer, but no writer has reported for too long."""
    alive_at = message.alive_at or message.created_at
    may_be = message.status == Message.Status.STREAMING and message.pk not in written_here
    return may_be and timezone.now() - alive_at >= DEAD_AFTER


def notice_dead(messages: Iterable[Message]) -> None:
    """Release those of the messages that are dead, and update these objects. No query if none is dead."""
    if dead := [message for message in messages if is_dead(message)]:
        release_dead_answers(Message.objects.filter(pk__in=[message.pk for message in dead]))
        for message in dead:
            message.refresh_from_db(fields=["status", "error", "alive_at", "takeovers"])
