"""Answers whose writer has vanished: its process was killed, and nothing will come any more.

Every reader of answers checks theirs and the worker checks all, so that an answer shown as being
written is being written.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from uuid import UUID

from django.db.models import Case, Q, QuerySet, Value, When
from django.utils import timezone

from chat.models import Message

DEAD_AFTER = timedelta(seconds=20)  # without a sign of life the writing process is gone
STOPPED = "The server was stopped while it wrote this answer."


def end_dead_answers(among: QuerySet[Message] | None = None) -> set[UUID]:
    """End answers without a sign of life, and return their ids; what was written of them stays."""
    messages = Message.objects.all() if among is None else among
    since = timezone.now() - DEAD_AFTER
    silent = Q(alive_at__lt=since) | Q(alive_at=None, created_at__lt=since)
    dead = set(messages.filter(silent, status=Message.Status.STREAMING).values_list("pk", flat=True))
    if dead:
        still = Message.objects.filter(silent, pk__in=dead, status=Message.Status.STREAMING)
        failed, incomplete = Value(Message.Status.FAILED), Value(Message.Status.INCOMPLETE)
        still.update(
            status=Case(When(content="", then=failed), default=incomplete), error=STOPPED, alive_at=None
        )
    return dead


def is_dead(message: Message) -> bool:
    """Whether its row says that it is being written, and nobody has written for too long."""
    alive_at = message.alive_at or message.created_at
    return message.status == Message.Status.STREAMING and timezone.now() - alive_at >= DEAD_AFTER


def notice_dead(messages: Iterable[Message]) -> None:
    """End those of the messages that are dead, and show it on them. No query where none is."""
    if dead := [message for message in messages if is_dead(message)]:
        end_dead_answers(Message.objects.filter(pk__in=[message.pk for message in dead]))
        for message in dead:
            message.refresh_from_db(fields=["status", "error", "alive_at"])
