"""Error responses (JSON under /api/, else a page), request ids, optional slashes of API paths.

Responses of 500 and above give the request id that the logs contain; none reveals internals.
"""

from __future__ import annotations

import logging
import re
import sys
import uuid
from collections.abc import Callable
from typing import Any

import structlog
from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string
from django.utils.deprecation import MiddlewareMixin
from psycopg.errors import QueryCanceled

from documents.api.common.errors import MESSAGES
from documents.failures import STORAGE_AWAY, is_storage_away, shortage
from documents.translation import translated

HEADER = "X-Request-ID"
VALID_ID = re.compile(r"[\w-]{8,64}")  # of an id set by a proxy


def id_of(request: HttpRequest) -> str:
    return getattr(request, "id", "")


def request_id(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware: set ``request.id`` (the proxy's or a new one), for logs and the response header."""

    def answered(request: HttpRequest) -> HttpResponse:
        given = request.headers.get(HEADER, "")
        request.id = given if VALID_ID.fullmatch(given) else uuid.uuid4().hex  # type: ignore[attr-defined]
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(request=id_of(request))
        response = get_response(request)
        response[HEADER] = id_of(request)
        return response

    return answered


logger = logging.getLogger(__name__)
RETRY_AFTER = 5  # seconds; about what a restart of PostgreSQL takes
DATABASE_AWAY = "The database does not answer at the moment. Please try again in a few seconds."
INTERNAL = "Something went wrong on the server."
TOO_LARGE = "That upload is too large for this server."
TOO_MANY = "Too many requests. Try again in a moment."
TOO_MUCH = "This took too long. Send less or request less at a time."
UNREADABLE = "This request cannot be read."
HAS_NUL = "This request has a character that cannot be stored (U+0000). Remove it."
FORBIDDEN = "You do not have permission to do this."
NO_CSRF_TOKEN = "This form has expired or comes from another site. Load the page again, then send it."


def server_error(request: HttpRequest) -> HttpResponse:
    """Return 507 when a disk is full, 422 for a statement over its limit, 503 while the database or a bucket
    is unreachable, else 500.
    """
    error = sys.exc_info()[1]
    if message := shortage(error):
        return error_page(request, 507, "no_room", message)
    if isinstance(error and error.__cause__, QueryCanceled):  # by operations.postgres.base's limit
        return error_page(request, 422, "too_much_work", TOO_MUCH)
    if isinstance(error, OperationalError | InterfaceError):
        return unavailable(request, DATABASE_AWAY)
    if is_storage_away(error):
        return unavailable(request, STORAGE_AWAY)
    return error_page(request, 500, "internal", INTERNAL)


def unavailable(request: HttpRequest, message: str) -> HttpResponse:
    """Return 503 with Retry-After."""
    response = error_page(request, 503, "unavailable", message)
    response["Retry-After"] = str(RETRY_AFTER)
    return response


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    if isinstance(exception, RequestDataTooBig):
        return error_page(request, 413, "too_large", TOO_LARGE)
    return error_page(request, 400, "parse_error", UNREADABLE)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    return error_page(request, 403, "permission_denied", FORBIDDEN)


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return error_page(request, 404, "not_found", MESSAGES["not_found"])


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """CSRF_FAILURE_VIEW."""
    return error_page(request, 403, "permission_denied", NO_CSRF_TOKEN)


def error_page(request: HttpRequest, status: int, code: str, message: str) -> HttpResponse:
    """Return JSON for the API, a page for browsers, plain text for our scripts. Makes no query."""
    ours = status >= 500
    if ours:
        logger.error("answered %s: %s %s", status, request.method, request.path, exc_info=status == 500)
    log_id = {"id": id_of(request)} if ours else {}
    if request.path.startswith("/api/"):
        return JsonResponse({"code": code, "message": message, **log_id}, status=status)
    if "text/html" not in request.headers.get("Accept", ""):
        return HttpResponse(translated(message), status=status, content_type="text/plain; charset=utf-8")
    page = {"message": message, "status": status, "request": request, **log_id}
    return HttpResponse(render_to_string("errors/error.html", page), status=status)


OF_PROGRAMS = ("/api/", "/v1/", "/mcp")


class RefuseNul(MiddlewareMixin):
    """Middleware: 400 for U+0000 in the path, the query or a form. PostgreSQL stores none in texts."""

    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        sent = request.META.get("QUERY_STRING", "")
        return bad_nul(request) if "\0" in request.path_info or "\0" in sent or "%00" in sent else None

    def process_view(self, request: HttpRequest, *view: Any) -> HttpResponse | None:
        """Look at forms after the view is known. DRF's serializers check those of the API."""
        if request.method != "POST" or request.path.startswith(OF_PROGRAMS):
            return None
        written = (text for values in request.POST.lists() for text in (values[0], *values[1]))
        return bad_nul(request) if any("\0" in str(text) for text in written) else None


def bad_nul(request: HttpRequest) -> HttpResponse:
    return error_page(request, 400, "parse_error", HAS_NUL)


OVER_TLS = "Use https://."


class OnlyOverTls(MiddlewareMixin):
    """Refuse programs that call without TLS: a redirect would hide that their key was sent in clear text."""

    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        if settings.SECURE_SSL_REDIRECT and not request.is_secure() and request.path.startswith(OF_PROGRAMS):
            return error_page(request, 403, "permission_denied", OVER_TLS)
        return None


class OptionalSlash(MiddlewareMixin):
    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        if request.path_info.startswith("/api/") and not request.path_info.endswith("/"):
            request.path_info += "/"
            request.path += "/"
        return None


LONGEST_VALUE = 4000  # characters; as long as a search may be
TOO_LONG = "This address is too long. Request less at a time."


class RefuseLongQuery(MiddlewareMixin):
    """Middleware: 414 for a value in the query that is longer than any view needs."""

    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        if len(request.META.get("QUERY_STRING", "")) <= LONGEST_VALUE:
            return None
        values = (value for values in request.GET.lists() for value in values[1])
        is_long = any(len(str(value)) > LONGEST_VALUE for value in values)
        return error_page(request, 414, "too_long", TOO_LONG) if is_long else None
