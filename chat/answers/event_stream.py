"""Follow an answer's event stream from any process: from memory where it is written, else the database."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import ParamSpec, TypeVar
from uuid import UUID

from django.db import connection

from chat.answers.events import encode
from chat.answers.message_presenters import done_event
from chat.answers.persistence import notice_dead
from chat.answers.runner import LiveAnswer, Numbered, live_answer, start_next
from chat.models import Message, StreamEvent
from documents.shared_state import announcements

LOOK_SECONDS = 0.3  # interval of database polls
LOOK_RARELY_SECONDS = 2.0  # interval where the database announces events; the writer may have died
SILENCE_SECONDS = 15.0  # time until a keep-alive is sent, so that no proxy closes the connection
Result = TypeVar("Result")
Parameters = ParamSpec("Parameters")


async def follow(message_id: UUID, after: int = 0) -> AsyncIterator[Numbered | None]:
    """Yield the events with sequence numbers above ``after`` as they occur, up to ``done``.

    Yields None after ``SILENCE_SECONDS`` without an event, for a keep-alive.
    """
    while True:
        live = live_answer(message_id)
        if live is not None:
            async for event in _follow_live(live, after):
                yield event
                after = event.sequence if event else after
                if event and event.kind == "done":
                    return
            return
        async for event in _follow_stored(message_id, after):
            yield event
            after = event.sequence if event else after
            if event and event.kind == "done":
                return


async def _follow_live(live: LiveAnswer, after: int) -> AsyncIterator[Numbered | None]:
    """Yield the events of an answer that this process writes, until it ends."""
    happened, stop = live.listen()
    try:
        while True:
            happened.clear()
            events, ended = live.after(after)
            for event in events:
                yield event
                after = event.sequence
            if ended and not events:
                return
            if not events:
                try:
                    await asyncio.wait_for(happened.wait(), SILENCE_SECONDS)
                except TimeoutError:
                    yield None
    finally:
        stop()


async def _follow_stored(message_id: UUID, after: int) -> AsyncIterator[Numbered | None]:
    """Yield events from the database, until this process begins to write the answer or it ends."""
    last_sent = time.monotonic()
    with announcements.of(str(message_id)) as happened:
        while live_answer(message_id) is None:
            happened.clear()
            events = await from_database(stored_events, message_id, after)
            for event in events:
                yield event
                after, last_sent = event.sequence, time.monotonic()
                if event.kind == "done":
                    return
            if not events:
                last = await from_database(look_after, message_id, after)
                if last is not None:
                    yield last
                    return
                if time.monotonic() - last_sent > SILENCE_SECONDS:
                    yield None
                    last_sent = time.monotonic()
                with suppress(TimeoutError):
                    seconds = LOOK_RARELY_SECONDS if announcements.heard else LOOK_SECONDS
                    await asyncio.wait_for(happened.wait(), seconds)


def stored_events(message_id: UUID, after: int) -> list[Numbered]:
    """Return the stored events with sequence numbers above ``after``, in order."""
    rows = StreamEvent.objects.filter(message=message_id, sequence__gt=after).order_by("sequence")
    return [Numbered(*row) for row in rows.values_list("sequence", "kind", "data")]


def look_after(message_id: UUID, after: int) -> Numbered | None:
    """Return the ``done`` event of an answer that has ended, once all its stored events were read; else None.

    A pending answer is started; an answer whose writer died is released (``notice_dead``).
    Events are stored before the status of the message, so that those written since
    the last poll are found before the end.
    """
    answer = Message.objects.select_related("conversation").get(pk=message_id)
    if answer.status == Message.Status.PENDING:
        start_next(answer.conversation_id)
    elif answer.status == Message.Status.STREAMING:
        notice_dead([answer])
    elif not StreamEvent.objects.filter(message=answer, sequence__gt=after).exists():
        event = done_event(answer)
        return Numbered(after + 1, event.kind, encode(event))
    return None


async def from_database(
    read: Callable[Parameters, Result], *args: Parameters.args, **named: Parameters.kwargs
) -> Result:
    """Run a query in a thread, and close the thread's database connection afterwards."""

    def run() -> Result:
        try:
            return read(*args, **named)
        finally:
            connection.close()

    return await asyncio.to_thread(run)
