"""Each request has an id: in every log line about it, in its answer's header, on its error page."""

from __future__ import annotations

import re
import uuid
from collections.abc import Awaitable, Callable
from typing import Any

import structlog
from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest, HttpResponse
from django.utils.decorators import sync_and_async_middleware, sync_only_middleware

HEADER = "X-Request-ID"
SOUND = re.compile(r"[\w-]{8,64}")  # what a proxy in front may have given it


def id_of(request: HttpRequest) -> str:
    return getattr(request, "id", "")


@sync_and_async_middleware
def request_id(get_response: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    def begin(request: HttpRequest) -> None:
        given = request.headers.get(HEADER, "")
        request.id = given if SOUND.fullmatch(given) else uuid.uuid4().hex  # type: ignore[attr-defined]
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(request=id_of(request))

    def end(request: HttpRequest, response: HttpResponse) -> HttpResponse:
        response[HEADER] = id_of(request)
        return response

    if iscoroutinefunction(get_response):

        async def later(request: HttpRequest) -> HttpResponse:
            begin(request)
            answer: Awaitable[HttpResponse] = get_response(request)
            return end(request, await answer)

        return later

    def now(request: HttpRequest) -> HttpResponse:
        begin(request)
        return end(request, get_response(request))

    return now


@sync_only_middleware
def in_one_thread(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Nothing but this, as the innermost: then all middleware runs in the request's own thread.

    Django's own would otherwise go to that thread and back twice for each, which takes 5 ms
    a request in all. An async view still runs in the event loop.
    """
    return get_response
