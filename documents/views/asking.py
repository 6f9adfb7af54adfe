"""Small things that views of the library have in common."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from documents.models import Collection, Document
from documents.sharing import Nobody, give


def is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True


def uuid_or_404(text: str) -> UUID:
    if not is_uuid(text):
        raise Http404
    return UUID(text)


def by_htmx(request: HttpRequest) -> bool:
    """Asked by htmx, which wants a fragment; else a form was sent, which wants a page."""
    return "HX-Request" in request.headers


def refusal(message: str) -> HttpResponse:
    """Why something was not done, as text."""
    return HttpResponse(message, status=422, content_type="text/plain; charset=utf-8")


def change_shares(request: HttpRequest, user: User, shared: Document | Collection) -> None:
    """Gives or takes back as the form says; what could not be given is said on the next page."""
    if removed := request.POST.get("remove"):
        shared.shares.filter(pk=uuid_or_404(removed)).delete()
        return
    name = request.POST.get("name", "").strip()
    try:
        give(user, shared, name, can_write="can_write" in request.POST)
    except Nobody:
        messages.error(request, _("There is no user called “%(name)s”.") % {"name": name})


def to_details(pk: UUID) -> HttpResponse:
    return redirect("document-details", pk)
