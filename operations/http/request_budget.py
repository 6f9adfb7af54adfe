"""Limit the processor time of each request, whatever its view does, and end what nobody waits for.

Views limit their inputs, and long work is a job. This holds where a view overlooks a costly input: a thread
reads the processor clocks of the threads that serve requests, and raises ``Interrupted`` in one that has used
more than its budget, or whose client has left. The transaction of the request is rolled back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db import connections
from django.http import HttpRequest, HttpResponse
from django.utils.decorators import sync_only_middleware

from documents.api.common.callers import BUDGETS, take
from documents.models import TokenScope
from operations.http.errors import TOO_MANY, TOO_MUCH, error_page
from operations.interrupts import Interrupted, watcher


@sync_only_middleware
def limit_processor_time(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware: 422 for a request over its processor time. A client that leaves ends a request that only
    reads; a change that has begun is completed.

    As the innermost middleware, sync-only, it also keeps the others in the request's thread: otherwise Django
    switches threads twice per middleware, 5 ms a request. Async views run in the event loop.
    """

    def limited(request: HttpRequest) -> HttpResponse:
        work = watcher.begin()
        try:
            try:
                return get_response(request)
            finally:
                watcher.end(work)
        except Interrupted:
            watcher.end(work)
            for connection in connections.all(initialized_only=True):
                connection.errors_occurred = True  # it may have a result under way: not for another request
            return error_page(request, 422, "too_much_work", TOO_MUCH)

    limited.process_view = admit  # type: ignore[attr-defined]  # once the view is known
    return limited


def admit(request: HttpRequest, view: Callable[..., Any], *arguments: Any) -> HttpResponse | None:
    """Refuse with 429 a POST that the user's rate has no room for; see ``rated``. The API counts its own.

    The work of a request that only reads is stopped when its client disconnects.
    """
    kind = getattr(view, "rate", "")
    is_counted = kind and request.method == "POST" and request.user.is_authenticated
    if is_counted and (seconds := take(kind, f"user {request.user.pk}")):
        response = error_page(request, 429, "throttled", TOO_MANY)
        response["Retry-After"] = str(seconds)
        return response
    scope, work = getattr(request, "scope", None), watcher.of_this_thread()
    if scope is not None and work is not None and only_reads(request, view):
        scope.setdefault(BUDGETS, []).append(work)
    return None


def only_reads(request: HttpRequest, view: Callable[..., Any]) -> bool:
    """Return whether a request changes nothing: by its method, or by the scope that its view asks for."""
    of_class = getattr(getattr(view, "cls", None), "scope", "")
    return request.method in ("GET", "HEAD") or of_class == TokenScope.READ
