"""A document's details, and how its owner orders and shares it."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import Group, User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from documents.models import Collection, Document, Share, Tag
from documents.tables import as_csv, as_markdown, tables_of

COLOURS = ("grey", "red", "orange", "yellow", "green", "teal", "blue", "purple", "pink")


@require_safe
@login_required
def details(request: HttpRequest, pk: UUID) -> HttpResponse:
    document = get_object_or_404(Document.objects.visible_to(request.user), pk=pk)
    is_owner = document.owner_id == request.user.pk
    context = {
        "section": "library",
        "document": document,
        "is_owner": is_owner,
        "may_edit": Document.objects.editable_by(request.user).filter(pk=pk).exists(),
        "tags": document.tags.filter(owner=request.user),  # type: ignore[misc]
        "all_tags": Tag.objects.visible_to(request.user),
        "collections": document.collections.filter(pk__in=Collection.objects.visible_to(request.user)),
        "all_collections": Collection.objects.editable_by(request.user),
        "shares": document.shares.select_related("user", "group") if is_owner else (),
        "tables": tables_of(document)[:200],
        "seconds": document.stage_seconds.items(),
    }
    return render(request, "library/details.html", context)


@require_POST
@login_required
def tag(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Sticks a tag on the document (made when it is new), or takes one off."""
    document = get_object_or_404(Document.objects.visible_to(request.user), pk=pk)
    if removed := request.POST.get("remove"):
        document.tags.remove(*Tag.objects.visible_to(request.user).filter(name=removed))
    elif name := request.POST.get("name", "").strip()[:60]:
        colour = COLOURS[sum(map(ord, name)) % len(COLOURS)]
        kept, _made = Tag.objects.get_or_create(owner=request.user, name=name, defaults={"colour": colour})
        document.tags.add(kept)
    return redirect("document-details", pk)


@require_POST
@login_required
def collect(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Puts the document into a collection (made when it is new), or takes it out."""
    document = get_object_or_404(Document.objects.editable_by(request.user), pk=pk)
    editable = Collection.objects.editable_by(request.user)
    if removed := request.POST.get("remove"):
        document.collections.remove(*editable.filter(name=removed))
    elif name := request.POST.get("name", "").strip()[:120]:
        found = editable.filter(name=name).first()
        document.collections.add(found or Collection.objects.create(owner=request.user, name=name))
    return redirect("document-details", pk)


@require_POST
@login_required
def share(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Gives a user or one of one's own groups the right to read or write; or takes it back."""
    document = get_object_or_404(Document, pk=pk, owner=request.user, deleted_at=None)
    if removed := request.POST.get("remove"):
        document.shares.filter(pk__in=[_uuid_or_404(removed)]).delete()
        return redirect("document-details", pk)
    name, may_write = request.POST.get("name", "").strip(), "can_write" in request.POST
    user = User.objects.filter(username=name, is_active=True).exclude(pk=request.user.pk).first()
    group = None if user else Group.objects.filter(name=name, user=request.user).first()
    if user or group:
        Share.objects.update_or_create(
            document=document, user=user, group=group, defaults={"can_write": may_write}
        )
    else:
        messages.error(request, _("There is nobody called “%(name)s”.") % {"name": name})
    return redirect("document-details", pk)


@require_safe
@login_required
def table(request: HttpRequest, pk: UUID, index: int) -> HttpResponse:
    """One table as CSV, or as Markdown with ``?as=markdown``."""
    document = get_object_or_404(Document.objects.visible_to(request.user), pk=pk)
    found = tables_of(document, index)
    if not found:
        raise Http404
    if request.GET.get("as") == "markdown":
        return HttpResponse(as_markdown(found[0]), content_type="text/plain; charset=utf-8")
    return HttpResponse(
        as_csv(found[0]),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="table-{index + 1}.csv"'},
    )


def _uuid_or_404(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise Http404 from None
