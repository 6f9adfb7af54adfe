"""Collections, tags and shares: made, renamed, coloured, given to others, deleted."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from documents.library.document_list import shelf_of
from documents.models import Collection, Share, Tag
from documents.models.library import COLOURS, colour_for
from documents.views.document_actions import change_shares

NAME_LENGTHS = {Collection: 120, Tag: 60}


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def collections(request: HttpRequest) -> HttpResponse:
    """All collections and tags; a POST makes a ``collection`` or a ``tag`` of that name."""
    if request.method == "POST":
        kind: type[Collection] | type[Tag] = Tag if request.POST.get("kind") == "tag" else Collection
        name = request.POST.get("name", "").strip()[: NAME_LENGTHS[kind]]
        if name:
            new = {"colour": request.POST["colour"]} if _is_colour(request) else {"colour": colour_for(name)}
            kind.objects.get_or_create(owner=request.user, name=name, defaults=new)
        return redirect("collections")
    context = {"section": "library", "shelf": shelf_of(request.user)}
    return render(request, "library/collections.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def collection(request: HttpRequest, pk: UUID) -> HttpResponse:
    """One collection of one's own: name, colour, with whom it is shared. A POST changes name and colour."""
    row = get_object_or_404(Collection, pk=pk, owner=request.user)
    if request.method == "POST":
        return _change(request, row)
    context = {
        "section": "library",
        "row": row,
        "number": row.documents.filter(deleted_at=None).count(),
        "shares": row.shares.select_related("user", "group"),
        "colours": COLOURS,
    }
    return render(request, "library/collection.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def tag(request: HttpRequest, pk: UUID) -> HttpResponse:
    """One tag: name and colour. A POST changes them."""
    row = get_object_or_404(Tag.objects.visible_to(request.user), pk=pk)
    if request.method == "POST":
        return _change(request, row)
    number = row.documents.filter(deleted_at=None).count()
    context = {"section": "library", "row": row, "number": number, "colours": COLOURS}
    return render(request, "library/tag.html", context)


@require_POST
@login_required
def delete_collection(request: HttpRequest, pk: UUID) -> HttpResponse:
    """The documents in it stay."""
    return _delete(request, get_object_or_404(Collection, pk=pk, owner=request.user))


@require_POST
@login_required
def delete_tag(request: HttpRequest, pk: UUID) -> HttpResponse:
    return _delete(request, get_object_or_404(Tag.objects.visible_to(request.user), pk=pk))


@require_POST
@login_required
def share_collection(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Gives the collection, with what is and will be in it; or takes it back."""
    row = get_object_or_404(Collection, pk=pk, owner=request.user)
    change_shares(request, request.user, row)
    return redirect("collection", pk)


@require_safe
@login_required
def shares(request: HttpRequest) -> HttpResponse:
    """What was given to others, and what others gave."""
    parts = ("document", "collection", "user", "group", "document__owner", "collection__owner")
    present = Share.objects.exclude(document__deleted_at__isnull=False).select_related(*parts)
    own = Share.objects.visible_to(request.user).values("pk")
    context = {
        "section": "library",
        "given": present.filter(pk__in=own).order_by("-created_at"),
        "received": present.given_to(request.user).exclude(pk__in=own).order_by("-created_at"),  # type: ignore[arg-type]
    }
    return render(request, "library/shares.html", context)


@require_POST
@login_required
def take_back(request: HttpRequest, pk: UUID) -> HttpResponse:
    get_object_or_404(Share.objects.visible_to(request.user), pk=pk).delete()
    return redirect("shares")


def _change(request: HttpRequest, row: Collection | Tag) -> HttpResponse:
    row.name = request.POST.get("name", "").strip()[: NAME_LENGTHS[type(row)]] or row.name
    row.colour = request.POST["colour"] if _is_colour(request) else row.colour
    try:
        with transaction.atomic():
            row.save()
    except IntegrityError:
        messages.error(request, _("You have one of this name already."))
        return redirect(request.path)
    messages.success(request, _("Saved."))
    return redirect("collections")


def _delete(request: HttpRequest, row: Collection | Tag) -> HttpResponse:
    row.delete()
    messages.success(request, _("Deleted “%(name)s”. The documents stay.") % {"name": row.name})
    return redirect("collections")


def _is_colour(request: HttpRequest) -> bool:
    return request.POST.get("colour") in COLOURS
