"""Give others a right to documents and collections, and end it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from django.contrib.auth.models import Group, User
from django.db import transaction

from documents.models import Collection, Document, Placement
from documents.models.rights import live_places


class UnknownUser(Exception):
    """There is no user of this name, and no group that the giver is in."""


class NotYours(Exception):
    """The collection may not be changed by this user. The message names it."""


class Shared(Protocol):
    """What has ``shares``: a document, a collection, a review."""

    shares: Any


def share_with(giver: User, shared: Shared, name: str, *, can_write: bool) -> Any:
    """Share with the user or group of that name, to read or to edit. Raise UnknownUser.

    Only the giver's own groups are found: nobody learns of others.
    """
    user = User.objects.filter(username=name, is_active=True).exclude(pk=giver.pk).first()
    group = None if user else Group.objects.filter(name=name, user=giver).first()
    if not user and not group:
        raise UnknownUser(name)
    share, _made = shared.shares.update_or_create(user=user, group=group, defaults={"can_write": can_write})
    return share


def add_to_collection(document: Document, collection: Collection, user: User) -> None:
    """Put the document into the collection, on the right of a user who may edit both.

    A place that rests on the right of the document's owner, or on another that still holds, stays as it is.
    """
    with transaction.atomic():
        place, is_new = Placement.objects.select_for_update().get_or_create(
            document=document,
            collection=collection,
            defaults={"added_by": user, "handed_on": user.pk != document.owner_id},
        )
        is_owner = user.pk == document.owner_id
        if is_new or place.holder == user or not (is_owner or place.pk not in live_places(document.pk)):
            return
        place.delete()
        Placement.objects.create(
            document=document, collection=collection, added_by=user, handed_on=not is_owner
        )


def remove_from_collection(document: Document, collection: Collection, user: User) -> None:
    """Take the document out of the collection. Raise NotYours.

    The user must be allowed to edit the collection, or own the document.
    """
    is_owner = user.pk == document.owner_id
    if not (is_owner or Collection.objects.editable_by(user).filter(pk=collection.pk).exists()):
        raise NotYours(collection.name)
    Placement.objects.filter(document=document, collection=collection).delete()


def set_collections(document: Document, wanted: Iterable[Collection], user: User) -> None:
    """Make these the document's collections, of those that the user sees. Raise NotYours.

    Collections that the user does not see keep the document.
    """
    chosen = {collection.pk: collection for collection in wanted}
    held = {row.pk: row for row in document.collections.filter(pk__in=Collection.objects.visible_to(user))}
    editable = set(Collection.objects.editable_by(user).values_list("pk", flat=True))
    with transaction.atomic():
        for added in chosen.keys() - held.keys():
            if added not in editable:
                raise NotYours(chosen[added].name)
            add_to_collection(document, chosen[added], user)
        for removed in held.keys() - chosen.keys():
            remove_from_collection(document, held[removed], user)
