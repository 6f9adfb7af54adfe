"""Share documents and collections, list who has access by which grant, and end a grant.

``documents.models.library`` is the access rule; this explains its result for one document. Other apps add
their kinds of grants, such as share links, with ``register``.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol
from uuid import UUID

from django.contrib.auth.models import Group, User
from django.db import transaction
from django.db.models import Prefetch
from django.utils.functional import Promise

from documents.models import Collection, Document, Placement, Share
from documents.models.library import live_places

PARTIES = ("user", "group")
MEMBERS = "group__user_set"
_NEVER = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Person:
    """One user, or all users of a group, with access by a grant."""

    name: str
    members: tuple[str, ...]  # of a group, by name; () for a user
    can_write: bool
    since: datetime
    is_group: bool = False


@dataclass(frozen=True, slots=True)
class Grant:
    """One grant of access to a document. Ending it ends the access of all its people.

    Attributes:
        key: identifies the grant: ``owner``, ``share-<id>``, ``collection-<id>``, ``link-<id>``.
        kind: one of ``kinds``.
        people: () for a link, which anyone can open.
        granted_by: the user whose right the grant depends on.
        since: when it began.
        until: when it expires; None for never.
        label: the collection's name or the link's title; '' where the owner may not see it.
        title, shows: of a link, what it is called and what it shows.
    """

    key: str
    kind: str
    people: tuple[Person, ...]
    granted_by: str
    since: datetime
    until: datetime | None = None
    label: str = ""
    title: str | Promise = ""
    shows: str | Promise = ""

    @property
    def can_be_ended(self) -> bool:
        return self.kind != "owner"


ListGrants = Callable[[Document, Container[str]], Iterable[Grant]]
EndGrant = Callable[[Document, UUID], bool]
_others: dict[str, tuple[ListGrants, EndGrant]] = {}


def register(kind: str, list_grants: ListGrants, end: EndGrant) -> None:
    """Add a kind of grant: ``list_grants`` gets a document and the names of its readers."""
    _others[kind] = (list_grants, end)


def kinds() -> list[str]:
    """Return the kinds of grants, those of other apps last."""
    return ["owner", "share", "collection", *_others]


@dataclass(frozen=True, slots=True)
class Given:
    """What a user gave others to read beside documents and collections, for the page of shares.

    Attributes:
        url: of the thing, where the grant is changed.
        people: a user's or a group's name; '' for anyone with a link.
    """

    title: str
    url: str
    people: str
    can_write: bool
    since: datetime
    until: datetime | None = None


_given: list[Callable[[User], Iterable[Given]]] = []


def register_given(listed: Callable[[User], Iterable[Given]]) -> None:
    """Let another app list what its users gave others to read."""
    _given.append(listed)


def given_by(user: User) -> list[Given]:
    """Return what the user gave others by other apps, newest first. A query for each kind."""
    found = (given for listed in _given for given in listed(user))
    return sorted(found, key=lambda given: given.since, reverse=True)


def grants_of(document: Document) -> list[Grant]:
    """Return all grants of the document, the owner's first. A constant number of queries."""
    shares = list(document.shares.select_related(*PARTIES).prefetch_related(MEMBERS).order_by("created_at"))
    owner = Person(document.owner.get_username(), (), True, document.created_at)
    grants = [
        Grant("owner", "owner", (owner,), owner.name, document.created_at),
        *(_by_share(document, share) for share in shares),
        *_by_collections(document, shares),
    ]
    readers = {
        name for grant in grants for person in grant.people for name in (person.members or (person.name,))
    }
    return [*grants, *(grant for listed, _end in _others.values() for grant in listed(document, readers))]


def end_grant(document: Document, key: str) -> bool:
    """End a grant of the document. Return False when the key is unknown."""
    kind, _, found = key.partition("-")
    try:
        found_id = UUID(found)
    except ValueError:
        return False
    if kind in _others:
        return _others[kind][1](document, found_id)
    if kind == "share":
        return bool(document.shares.filter(pk=found_id).delete()[0])
    return kind == "collection" and bool(document.placements.filter(collection=found_id).delete()[0])


def _by_share(document: Document, share: Share) -> Grant:
    giver = document.owner.get_username()
    people = (_person(share, share.created_at),)
    return Grant(f"share-{share.pk}", "share", people, giver, share.created_at)


def _by_collections(document: Document, shares: list[Share]) -> Iterator[Grant]:
    """Yield the grants through collections that give access to other users."""
    live = document.placements.filter(pk__in=live_places(document.pk)).order_by("added_at")
    placed = list(
        live.select_related("added_by", "collection__owner").prefetch_related(
            Prefetch("collection__shares", Share.objects.select_related(*PARTIES).prefetch_related(MEMBERS))
        )
    )
    known = set(Collection.objects.visible_to(document.owner).values_list("pk", flat=True))
    since = _Since(document, shares, placed)
    for place in placed:
        begun = max(place.added_at, since.edits(place.holder))
        if people := tuple(_people_with_access(place, document.owner, begun)):
            label = place.collection.name if place.collection_id in known else ""
            granter = place.holder.get_username()
            yield Grant(
                f"collection-{place.collection_id}", "collection", people, granter, begun, None, label
            )


def _people_with_access(place: Placement, owner: User, since: datetime) -> Iterator[Person]:
    """Yield the collection's owner and those it is shared with, but not the document's owner or holder."""
    others = {owner.pk, place.holder.pk}
    if place.collection.owner_id not in others:
        yield Person(place.collection.owner.get_username(), (), True, since)
    for share in place.collection.shares.all():
        if share.user_id not in others:
            yield _person(share, max(since, share.created_at), others)


def _person(share: Share, since: datetime, others: Container[int] = ()) -> Person:
    if share.user:
        return Person(share.user.get_username(), (), share.can_write, since)
    assert share.group is not None  # a share is with one of the two
    able = (row for row in share.group.user_set.all() if row.is_active and row.pk not in others)
    members = sorted(row.get_username() for row in able)
    return Person(share.group.name, tuple(members), share.can_write, since, is_group=True)


class _Since:
    """Find when users got the right to edit a document, from its shares and valid placements."""

    def __init__(self, document: Document, shares: list[Share], placed: list[Placement]) -> None:
        self._document, self._shares, self._placed = document, shares, placed

    def edits(self, user: User, seen: frozenset[int] = frozenset()) -> datetime:
        """Return the earliest time from which the user could edit without interruption."""
        if user.pk == self._document.owner_id:
            return self._document.created_at
        moments = [share.created_at for share in self._shares if _gives_editing(share, user)]
        for place in self._placed:
            if place.pk not in seen and (given := _edits_collection(place, user)):
                holder_since = self.edits(place.holder, seen | {place.pk})
                moments.append(max(place.added_at, given, holder_since))
        return min(moments, default=_NEVER)


def _edits_collection(place: Placement, user: User) -> datetime | None:
    """Return since when the user may edit the collection, or None."""
    if place.collection.owner_id == user.pk:
        return place.added_at
    given = [share.created_at for share in place.collection.shares.all() if _gives_editing(share, user)]
    return min(given, default=None)


def _gives_editing(share: Share, user: User) -> bool:
    to_user = share.user_id == user.pk or (share.group is not None and user in share.group.user_set.all())
    return share.can_write and to_user


class UnknownUser(Exception):
    """No active user has this name, nor does a group of the giver."""


class NotYours(Exception):
    """The user may not change the collection, whose name is the message."""


class Shared(Protocol):
    """A row with ``shares``: a document, a collection or a review."""

    shares: Any


def share_with(giver: User, shared: Shared, name: str, *, can_write: bool) -> Any:
    """Share with the user or group of that name, for reading or editing. Raise UnknownUser.

    Only the giver's own groups are found, so that no names of other groups are disclosed; administrators,
    who put people into groups, know all.
    """
    user = User.objects.filter(username=name, is_active=True).exclude(pk=giver.pk).first()
    groups = Group.objects.all() if giver.is_superuser else giver.groups
    group = None if user else groups.filter(name=name).first()
    if not user and not group:
        raise UnknownUser(name)
    share, _made = shared.shares.update_or_create(user=user, group=group, defaults={"can_write": can_write})
    return share


def add_to_collection(document: Document, collection: Collection, user: User) -> None:
    """Add the document to the collection for a user who may edit both.

    An existing placement is replaced if the user owns the document, or if the right it depends on has ended.
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
    """Set the document's collections, of those visible to the user. Raise NotYours.

    The document stays in collections that the user cannot see.
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
