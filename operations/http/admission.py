"""Admission control: connections by kind of request, a rate limit for anonymous ones, body size and speed.

Identifying a user takes a query. So a session cookie or token counts as known after it has authenticated a
request in this process. Until then it has the connections and the limit per address of anonymous requests.
"""

from __future__ import annotations

import asyncio
import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from io import BytesIO
from typing import Any

from csp.middleware import CSPMiddleware
from django.conf import settings
from django.core.handlers.asgi import ASGIRequest
from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.middleware.security import SecurityMiddleware
from django.utils.functional import SimpleLazyObject

from documents.api.common.callers import BUDGETS, parse_rate
from operations.http.errors import TOO_MANY, error_page
from operations.postgres.base import ConnectionKind, current_kind
from text.numbers import whole_number

# --- Request bodies: refused while they arrive if too large or too slow ---
#
# Django's ASGI handler writes the whole body to disk before a view sees it. Content-Length may be missing
# (chunked) or false, so bytes are counted.

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

HUGE = 2**62
FORM_BYTES = 1024 * 1024  # overhead of a form around its file
READ_AT_MOST = 1.05  # of the limit: bytes read in all, discarded ones included
DRAIN_SECONDS = 10.0
SILENCE_SECONDS = 30.0  # without a byte; longer than a phone takes to change cells
FIRST_SECONDS, LEAST_BYTES_A_SECOND = 60.0, 8192  # time limit: the former + bytes received / the latter
ARRIVED_SECONDS = 0.02  # to take up what lies in the socket
LINGER = 0.5  # seconds for the response to arrive before the connection closes on unread bytes

TWO_LENGTHS = "This request cannot be read."
TOO_SLOW = "The request was not received completely in time. Send it again."


class BodyTooLarge(Exception):
    """The body exceeds the limit."""


class BodyTooSlow(Exception):
    """The rest of the body did not arrive in time."""


@dataclass(slots=True)
class Clock:
    """Time limits of a body: between two chunks, and on average."""

    began: float
    received: int = 0

    def seconds_left(self) -> float:
        """Return the seconds the next chunk may take."""
        allowed = FIRST_SECONDS + self.received / LEAST_BYTES_A_SECOND
        return max(0.0, min(SILENCE_SECONDS, self.began + allowed - time.monotonic()))


def body_limit(application: Application, max_bytes: int) -> Application:
    """Wrap the application: 413 for bodies over ``max_bytes`` plus a form's overhead, 408 for slow ones."""
    limit = max_bytes + FORM_BYTES

    async def limited(scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await application(scope, receive, send)
            return
        received, whole, clock = 0, False, Clock(time.monotonic())
        if {b"content-length", b"transfer-encoding"} <= {name for name, _ in scope["headers"]}:
            # Proxies may take the other one (request smuggling).
            await send_error(scope, send, 400, "parse_error", TWO_LENGTHS)
            return
        if declared_length(scope) > limit:
            await refuse_body(scope, receive, send, max_bytes, received)
            return
        overrun = answered = False

        async def count() -> Message:
            nonlocal received, overrun, whole
            if whole:  # the next message is the disconnect
                message = await receive()
                for budget in scope.get(BUDGETS, ()):
                    budget.stop()
                return message
            try:
                message = await arrived_within(clock.seconds_left(), receive)
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
                await send_error(scope, send, 408, "too_slow", TOO_SLOW)
        except BodyTooLarge:
            pass
        if overrun and not answered:
            await refuse_body(scope, receive, send, max_bytes, received)

    return limited


async def arrived_within(seconds: float, receive: Receive) -> Message:
    """Return the next message. Raises TimeoutError; on a busy machine it may have arrived, and wait."""
    try:
        return await asyncio.wait_for(receive(), seconds)
    except TimeoutError:
        return await asyncio.wait_for(receive(), ARRIVED_SECONDS)


def declared_length(scope: MutableMapping[str, Any]) -> int:
    """Return Content-Length, or 0 where it is missing or invalid; a huge one counts as ``HUGE``."""
    value = dict(scope["headers"]).get(b"content-length", b"0").decode("latin-1")
    number = whole_number(value, HUGE)
    return HUGE if number is None and value.isdigit() else number or 0


async def refuse_body(
    scope: MutableMapping[str, Any], receive: Receive, send: Send, max_bytes: int, received: int
) -> None:
    """Send 413 at once, then discard a limited number of bytes.

    Many clients send everything before they read. A connection closed on unread bytes is reset, and the
    response lost.
    """
    text = f"This file is larger than the {max_bytes // (1024 * 1024)} MB this server accepts."
    await send_error(scope, send, 413, "too_large", text, more_body=True)
    if not await drained(receive, int(max_bytes * READ_AT_MOST) - received):
        await asyncio.sleep(LINGER)
    await send({"type": "http.response.body", "body": b""})


async def send_error(
    scope: MutableMapping[str, Any],
    send: Send,
    status: int,
    code: str,
    message: str,
    *headers: tuple[bytes, bytes],
    more_body: bool = False,
) -> None:
    """Send the error and close the connection: further bytes belong to a request that has ended."""
    request = ASGIRequest(scope, BytesIO())
    answer = error_page(request, status, code, message)
    for middleware in (SecurityMiddleware, CSPMiddleware):  # as Django's own answers have
        middleware(lambda request: answer).process_response(request, answer)
    answer["Content-Length"], answer["Connection"] = str(len(answer.content)), "close"
    own = [(name.lower().encode(), value.encode()) for name, value in answer.headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": [*own, *headers]})
    await send({"type": "http.response.body", "body": answer.content, "more_body": more_body})


async def drained(receive: Receive, most: int) -> bool:
    """Discard up to ``most`` bytes. Return whether the body ended or the client disconnected."""
    with suppress(TimeoutError):
        async with asyncio.timeout(DRAIN_SECONDS):
            while most > 0:
                message = await receive()
                most -= len(message.get("body", b""))
                if not message.get("more_body", False):
                    return True
    return False


MOST_KNOWN = 20_000
MOST_ADDRESSES = 20_000
NEVER_REFUSED = ("/healthz", "/static/")


@dataclass(slots=True)
class KnownCredentials:
    """Digests of cookies and tokens that have authenticated, least recently used first."""

    digests: OrderedDict[bytes, None] = field(default_factory=OrderedDict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, digest: bytes) -> None:
        with self.lock:
            self.digests[digest] = None
            self.digests.move_to_end(digest)
            while len(self.digests) > MOST_KNOWN:
                self.digests.popitem(last=False)

    def discard(self, digest: bytes) -> None:
        with self.lock:
            self.digests.pop(digest, None)

    def __contains__(self, digest: bytes) -> bool:
        return digest in self.digests


@dataclass(slots=True)
class AddressLimit:
    """Counts requests by address in windows of fixed length, in this process's memory."""

    counts: OrderedDict[str, tuple[float, int]] = field(default_factory=OrderedDict)

    def take(self, address: str, rate: str) -> int:
        """Count one request. Return 0 when it is allowed, else the seconds to wait."""
        most, seconds = parse_rate(rate)
        now = time.monotonic()
        began, count = self.counts.get(address, (now, 0))
        if now - began >= seconds:
            began, count = now, 0
        self.counts[address] = began, count + 1
        self.counts.move_to_end(address)
        while len(self.counts) > MOST_ADDRESSES:
            self.counts.popitem(last=False)
        return 0 if count < most else max(1, round(began + seconds - now))


known = KnownCredentials()
anonymous_requests = AddressLimit()


def admission(application: Application) -> Application:
    """Wrap the application: set each request's kind; 429 for anonymous requests over their rate."""

    async def admitted(scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await application(scope, receive, send)
            return
        if scope["path"] == "/healthz" and scope["method"] in ("GET", "HEAD"):
            await answer_healthz(scope, send)
            return
        path, digest = str(scope["path"]), credential(scope["headers"])
        kind = kind_of(path, digest in known)
        if digest not in known and not path.startswith(NEVER_REFUSED):
            address = (scope.get("client") or ("",))[0]
            if wait := anonymous_requests.take(address, settings.RATES["anonymous"]):
                later = (b"retry-after", str(wait).encode())
                await send_error(scope, send, 429, "throttled", TOO_MANY, later)
                return
        token = current_kind.set(kind)
        try:
            await application(scope, receive, send)
        finally:
            current_kind.reset(token)

    return admitted


async def answer_healthz(scope: MutableMapping[str, Any], send: Send) -> None:
    """Answer as the view of /healthz, without a thread: all may be busy in a healthy process."""
    body = b'{"status": "ok"}'
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
    ]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body if scope["method"] == "GET" else b""})


def kind_of(path: str, is_known: bool) -> ConnectionKind:
    if path in ("/healthz", "/readyz", "/metrics"):
        return ConnectionKind.HEALTH
    if not is_known:
        return ConnectionKind.ANONYMOUS
    return ConnectionKind.ADMIN if path.startswith("/admin/") else ConnectionKind.REQUEST


def credential(headers: list[tuple[bytes, bytes]]) -> bytes:
    """Return a digest of the request's token or session cookie, or b''."""
    found = {name: value for name, value in headers if name in (b"authorization", b"cookie")}
    if bearer := found.get(b"authorization"):
        return hashlib.sha256(bearer).digest()
    try:
        cookies = SimpleCookie(found.get(b"cookie", b"").decode("latin-1"))
    except CookieError:
        return b""
    session = cookies.get(settings.SESSION_COOKIE_NAME)
    return hashlib.sha256(session.value.encode()).digest() if session and session.value else b""


def release_connection(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware: note the credential, and release the connection before the response is sent."""

    def finish(request: HttpRequest) -> HttpResponse:
        try:
            return get_response(request)
        finally:
            note_credential(request)
            if not connection.in_atomic_block:
                connection.close()

    return finish


def note_credential(request: HttpRequest) -> None:
    """Remember the request's credential if it authenticated a user, forget it otherwise."""
    user = getattr(request, "_cached_user", None) or request.__dict__.get("user")
    scope = getattr(request, "scope", None)
    if scope is None or user is None or isinstance(user, SimpleLazyObject):  # no view evaluated the user
        return
    if digest := credential(scope["headers"]):
        (known.add if user.is_authenticated else known.discard)(digest)
