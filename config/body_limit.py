"""Refuses bodies that are too large or too slow while they arrive, before anything of them is parsed.

Django's ASGI handler spools a request's whole body to disk before a view can
look at it. Content-Length may be missing (chunked) or false, so bytes are counted.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from django.core.handlers.asgi import ASGIRequest

from config.errors import error_page

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

FORM_BYTES = 1024 * 1024  # what a form adds around the file
READ_AT_MOST = 1.05  # of the limit: what is read in all, the bytes that are thrown away included
DRAIN_SECONDS = 10.0
SILENCE_SECONDS = 30.0  # without a byte; a phone that changes cells is back by then
FIRST_SECONDS, LEAST_BYTES_A_SECOND = 60.0, 8192  # in all: so long, and longer the more has come
LINGER = 0.5  # seconds the answer has to arrive before the connection is closed on unread bytes

TOO_SLOW = "The rest of this request did not come in time. Send it again."


class BodyTooLarge(Exception):
    """More bytes came than are taken."""


class BodyTooSlow(Exception):
    """The rest of a body did not come in time."""


@dataclass(slots=True)
class Clock:
    """How long the rest of a body may take: pieces come at intervals, and on average not too slowly."""

    began: float
    received: int = 0

    def seconds_left(self) -> float:
        """For the next piece."""
        allowed = FIRST_SECONDS + self.received / LEAST_BYTES_A_SECOND
        return max(0.0, min(SILENCE_SECONDS, self.began + allowed - time.monotonic()))


def body_limit(application: Application, max_bytes: int) -> Application:
    """The application, with 413 for requests whose body passes ``max_bytes`` and a form's overhead."""
    limit = max_bytes + FORM_BYTES

    async def limited(scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await application(scope, receive, send)
            return
        received, whole, clock = 0, False, Clock(time.monotonic())
        if declared_length(scope) > limit:
            await refuse(scope, receive, send, max_bytes, received)
            return
        overrun = answered = False

        async def count() -> Message:
            nonlocal received, overrun, whole
            if whole:  # what comes now is that the client went
                return await receive()
            try:
                message = await asyncio.wait_for(receive(), clock.seconds_left())
            except TimeoutError:
                raise BodyTooSlow from None
            received = clock.received = received + len(message.get("body", b""))
            whole = not message.get("more_body", False)
            if received > limit:
                overrun = True
                raise BodyTooLarge
            return message

        async def answer(message: Message) -> None:
            nonlocal answered
            if not overrun or answered:
                answered = True
                await send(message)

        try:
            await application(scope, count, answer)
        except BodyTooSlow:
            if not answered:
                await refuse_slow(scope, send)
        except BodyTooLarge:
            pass
        if overrun and not answered:
            await refuse(scope, receive, send, max_bytes, received)

    return limited


def declared_length(scope: MutableMapping[str, Any]) -> int:
    """Content-Length, 0 when there is none that makes sense."""
    value = dict(scope["headers"]).get(b"content-length", b"0")
    return int(value) if value.isdigit() else 0


async def refuse(
    scope: MutableMapping[str, Any], receive: Receive, send: Send, max_bytes: int, received: int
) -> None:
    """Answers at once, then throws away what still comes, as far as that is little.

    Many clients send all before they read; a connection closed on unread bytes is reset, and the answer lost.
    """
    text = f"This file is larger than the {max_bytes // (1024 * 1024)} MB this server accepts."
    answer = error_page(ASGIRequest(scope, BytesIO()), 413, "too_large", text)
    headers = [
        (b"content-type", answer.headers["Content-Type"].encode()),
        (b"content-length", str(len(answer.content)).encode()),
        (b"connection", b"close"),  # the rest of the body is not read
    ]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": answer.content, "more_body": True})
    if not await drained(receive, int(max_bytes * READ_AT_MOST) - received):
        await asyncio.sleep(LINGER)
    await send({"type": "http.response.body", "body": b""})


async def refuse_slow(scope: MutableMapping[str, Any], send: Send) -> None:
    """408, and the connection is closed: what still comes belongs to a request that has ended."""
    answer = error_page(ASGIRequest(scope, BytesIO()), 408, "too_slow", TOO_SLOW)
    headers = [
        (b"content-type", answer.headers["Content-Type"].encode()),
        (b"content-length", str(len(answer.content)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": 408, "headers": headers})
    await send({"type": "http.response.body", "body": answer.content})


async def drained(receive: Receive, most: int) -> bool:
    """Reads up to so many bytes; whether that was all, or the client went."""
    with suppress(TimeoutError):
        async with asyncio.timeout(DRAIN_SECONDS):
            while most > 0:
                message = await receive()
                most -= len(message.get("body", b""))
                if not message.get("more_body", False):
                    return True
    return False
