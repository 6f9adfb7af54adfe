"""What browsers and proxies may keep: nothing that is private, unless a view says for how long."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.cache import patch_cache_control
from django.utils.decorators import sync_and_async_middleware

FOR_NOBODY = "private, no-store"


@sync_and_async_middleware
def cache_headers(get_response: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    """Pages, exports and answers of the API are never stored (ASVS 5.0, 14.3.2).

    A view that sets ``Cache-Control`` keeps what it says; it becomes ``private`` unless it is ``public``.
    """
    if iscoroutinefunction(get_response):

        async def later(request: HttpRequest) -> HttpResponseBase:
            answer: Awaitable[HttpResponseBase] = get_response(request)
            return private(await answer)

        return later

    def now(request: HttpRequest) -> HttpResponseBase:
        return private(get_response(request))

    return now


def private(response: HttpResponseBase) -> HttpResponseBase:
    said = response.headers.get("Cache-Control", "")
    if not said:
        response.headers["Cache-Control"] = FOR_NOBODY
    elif "public" not in said and "private" not in said:
        patch_cache_control(response, private=True)
    return response
