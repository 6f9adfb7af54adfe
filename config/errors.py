"""Error answers outside of views: the API's one shape under /api/, a page for people elsewhere.

Those of 500 and above give an id that stands in the logs too; none says what is inside.
"""

from __future__ import annotations

import logging
import sys

from django.core.exceptions import RequestDataTooBig
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string

from config.requests import id_of
from documents.api.errors import MESSAGES
from documents.failures import shortage

logger = logging.getLogger(__name__)
RETRY_AFTER = 5  # seconds; PostgreSQL restarts in about that
DATABASE_AWAY = "The database does not answer at the moment. Please try again in a few seconds."
INTERNAL = "Something went wrong on our side."
TOO_LARGE = "That upload is too large for this server."
UNREADABLE = "This request cannot be read."
FORBIDDEN = "You may not do this."
NO_CSRF_TOKEN = "This form is too old, or came from elsewhere. Load the page again, then send it."


def server_error(request: HttpRequest) -> HttpResponse:
    """500; 507 when a disk is full; or 503 with Retry-After while the database is away."""
    error = sys.exc_info()[1]
    if message := shortage(error):
        return error_page(request, 507, "no_room", message)
    if isinstance(error, OperationalError | InterfaceError):
        response = error_page(request, 503, "unavailable", DATABASE_AWAY)
        response["Retry-After"] = str(RETRY_AFTER)
        return response
    return error_page(request, 500, "internal", INTERNAL)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    if isinstance(exception, RequestDataTooBig):
        return error_page(request, 413, "too_large", TOO_LARGE)
    return error_page(request, 400, "parse_error", UNREADABLE)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    return error_page(request, 403, "permission_denied", FORBIDDEN)


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return error_page(request, 404, "not_found", MESSAGES["not_found"])


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """CSRF_FAILURE_VIEW. The reason is Django's, for its log."""
    return error_page(request, 403, "permission_denied", NO_CSRF_TOKEN)


def error_page(request: HttpRequest, status: int, code: str, message: str) -> HttpResponse:
    """JSON for the API, a page for people, a sentence for scripts, which show it. Needs no database."""
    ours = status >= 500
    if ours:
        logger.error("answered %s: %s %s", status, request.method, request.path, exc_info=status == 500)
    log_id = {"id": id_of(request)} if ours else {}
    if request.path.startswith("/api/"):
        return JsonResponse({"code": code, "message": message, **log_id}, status=status)
    if "text/html" not in request.headers.get("Accept", ""):
        return HttpResponse(message, status=status, content_type="text/plain; charset=utf-8")
    page = {"message": message, "status": status, "request": request, **log_id}
    return HttpResponse(render_to_string("errors/error.html", page), status=status)
