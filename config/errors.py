"""Error pages. Each gives an id that stands in the logs too; none says what is inside."""

from __future__ import annotations

import logging
import sys

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string

from config.requests import id_of
from documents.failures import shortage

logger = logging.getLogger(__name__)
RETRY_AFTER = 5  # seconds; PostgreSQL restarts in about that
DATABASE_AWAY = "The database does not answer at the moment. Please try again in a few seconds."
INTERNAL = "Something went wrong on our side."


def server_error(request: HttpRequest) -> HttpResponse:
    """500; 507 when a disk is full; or 503 with Retry-After while the database is away."""
    error = sys.exc_info()[1]
    if message := shortage(error):
        return error_page(request, 507, message)
    if isinstance(error, OperationalError | InterfaceError):
        response = error_page(request, 503, DATABASE_AWAY)
        response["Retry-After"] = str(RETRY_AFTER)
        return response
    return error_page(request, 500, INTERNAL)


def error_page(request: HttpRequest, status: int, message: str) -> HttpResponse:
    """As JSON for the API, as a page for people. Needs no database and no session."""
    logger.error("answered %s: %s %s", status, request.method, request.path, exc_info=status == 500)
    if request.path.startswith("/api/"):
        return JsonResponse({"detail": message, "id": id_of(request)}, status=status)
    context = {"message": message, "id": id_of(request), "status": status}
    return HttpResponse(render_to_string("errors/error.html", context), status=status)
