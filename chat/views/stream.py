"""The stream of an answer, over ASGI."""

from __future__ import annotations

from collections.abc import AsyncIterator
from uuid import UUID

from asgiref.sync import sync_to_async
from django.contrib.auth.models import AnonymousUser, User
from django.db import connection
from django.http import Http404, HttpRequest, StreamingHttpResponse

from chat.events import as_server_sent
from chat.following import follow, from_database
from chat.models import Message


async def stream(request: HttpRequest, message_id: UUID) -> StreamingHttpResponse:
    """The answer's events from ``Last-Event-ID`` (or ``?after=``) on; see ``chat.events``."""
    user = await request.auser()
    await visible_answer(user, message_id)
    return event_stream(message_id, last_event(request))


async def visible_answer(user: User | AnonymousUser, message_id: UUID) -> None:
    """Raises Http404 unless the user may read the answer."""
    answers = Message.objects.visible_to(user).filter(pk=message_id, role=Message.Role.ASSISTANT)
    if not await from_database(answers.exists):
        raise Http404


def event_stream(message_id: UUID, after: int = 0) -> StreamingHttpResponse:
    """A response of server-sent events; callers have made sure that the user may read the answer."""
    response = StreamingHttpResponse(_lines(message_id, after), content_type="text/event-stream")
    response["Cache-Control"] = "private, no-store, no-transform"
    response["X-Accel-Buffering"] = "no"
    return response


async def _lines(message_id: UUID, after: int) -> AsyncIterator[str]:
    # The request's own thread has looked up the session; its connection must not wait for the model.
    await sync_to_async(close_connection)()
    yield "retry: 1000\n\n"
    async for event in follow(message_id, after):
        yield as_server_sent(*event) if event else ": still here\n\n"


def close_connection() -> None:
    connection.close()  # looked up here, in the thread that owns it


def last_event(request: HttpRequest) -> int:
    """The number of the last event the client has seen; 0 when it says nothing sensible."""
    said = request.headers.get("Last-Event-ID") or request.GET.get("after", "")
    return int(said) if said.isdecimal() and len(said) < 10 else 0
