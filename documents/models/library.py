"""Tags, collections and shares of documents, and the access rule that follows from them."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Self, TypeVar
from uuid import UUID

from django.conf import settings
from django.db import connection, models
from django.db.models import BooleanField, Func, Q
from django.db.models.expressions import RawSQL

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User

COLOURS = ("grey", "red", "orange", "yellow", "green", "teal", "blue", "purple", "pink")


def colour_for(name: str) -> str:
    """Return the colour of a new tag, which depends on its name only."""
    return COLOURS[sum(map(ord, name)) % len(COLOURS)]


def uuid_or_none(text: str) -> UUID | None:
    """Parse an id; None for an invalid one."""
    try:
        return UUID(text)
    except ValueError:
        return None


Row = TypeVar("Row", bound=models.Model)


class OwnedQuerySet(models.QuerySet[Row]):
    """Rows that only their owner sees, the user in ``owner_field``."""

    owner_field = "owner"

    def visible_to(self, user: User | AnonymousUser) -> Self:
        return self.filter(**{self.owner_field: user}) if user.is_authenticated else self.none()


class Tag(models.Model):
    """A label for documents, private to its owner."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="tags")
    name = models.CharField(max_length=60)
    colour = models.CharField(max_length=20, default="grey")

    objects = OwnedQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["owner", "name"], name="one_tag_per_name")]

    def __str__(self) -> str:
        return self.name


class CollectionQuerySet(models.QuerySet["Collection"]):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        if not user.is_authenticated:
            return self.none()
        return self.filter(Q(owner=user) | Q(pk__in=Share.objects.given_to(user).values("collection")))

    def editable_by(self, user: User | AnonymousUser) -> Self:
        if not user.is_authenticated:
            return self.none()
        given = Share.objects.given_to(user).filter(can_write=True)
        return self.filter(Q(owner=user) | Q(pk__in=given.values("collection")))


class Collection(models.Model):
    """A named set of documents that can be shared."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="collections")
    name = models.CharField(max_length=120)
    colour = models.CharField(max_length=20, default="blue")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = CollectionQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["owner", "name"], name="one_collection_per_name")]

    def __str__(self) -> str:
        return self.name


class Placement(models.Model):
    """A document in a collection, and the user whose right to edit the document it depends on."""

    document = models.ForeignKey("documents.Document", on_delete=models.CASCADE, related_name="placements")
    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="placements")
    added_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="placements",
        help_text="null: the collection's owner",
    )
    added_at = models.DateTimeField(auto_now_add=True)
    handed_on = models.BooleanField(
        default=True, help_text="false: added by the document's owner, on whose right alone it depends"
    )

    class Meta:
        db_table = "documents_document_collections"
        unique_together = [("document", "collection")]
        indexes = [
            models.Index(fields=["collection"], condition=Q(handed_on=True), name="handed_on_by_collection")
        ]

    def __str__(self) -> str:
        return f"{self.document} in {self.collection}"

    @property
    def holder(self) -> User:
        """Return the user whose right to edit the document the placement depends on."""
        return self.added_by or self.collection.owner


class ShareQuerySet(models.QuerySet["Share"]):
    def given_to(self, user: User) -> Self:
        return self.filter(Q(user=user) | Q(group__in=user.groups.values("pk")))

    def visible_to(self, user: User | AnonymousUser) -> Self:
        """Return shares of the user's own documents and collections."""
        if not user.is_authenticated:
            return self.none()
        return self.filter(Q(document__owner=user) | Q(collection__owner=user))


class Share(models.Model):
    """Access to one document or collection for one user or group."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    document = models.ForeignKey(
        "documents.Document", null=True, blank=True, on_delete=models.CASCADE, related_name="shares"
    )
    collection = models.ForeignKey(
        Collection, null=True, blank=True, on_delete=models.CASCADE, related_name="shares"
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.CASCADE, related_name="shares"
    )
    group = models.ForeignKey(
        "auth.Group", null=True, blank=True, on_delete=models.CASCADE, related_name="shares"
    )
    can_write = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ShareQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(document=None) ^ Q(collection=None), name="share_of_one_thing"
            ),
            models.CheckConstraint(condition=Q(user=None) ^ Q(group=None), name="share_with_one_party"),
            *(
                models.UniqueConstraint(fields=[shared, party], name=f"one_share_of_{shared}_with_{party}")
                for shared in ("document", "collection")
                for party in ("user", "group")
            ),
        ]

    def __str__(self) -> str:
        return f"{self.document or self.collection} → {self.user or self.group}"


# --- The access rule of documents, as SQL ---
#
# A user can access a document
#
# * as its owner;
# * by a ``Share`` of the document;
# * by a collection that contains it, as the collection's owner or by a ``Share`` of the collection, as long
#   as the user who added the document (the holder) may edit the document.
#
# The last rule is recursive: the holder may have that right by a collection, too. A delegated right therefore
# ends with the right it depends on, and is never wider. Collections that delegate a right to each other in a
# circle give none: a chain counts only when it ends at the document's owner or at a user with whom the owner
# shared it for editing.

GROUPS_OF = "SELECT group_id FROM auth_user_groups WHERE user_id = {who}"
GIVEN_TO = f"(s.user_id = {{who}} OR s.group_id IN ({GROUPS_OF}))"
HOLDER = "COALESCE(m.added_by_id, c.owner_id)"

# The holder is the owner, or has the right directly from the owner.
SETTLED = f"""(d.owner_id = {HOLDER} OR EXISTS (
    SELECT FROM documents_share s
    WHERE s.document_id = d.id AND s.can_write AND {GIVEN_TO.format(who=HOLDER)}))"""

# A row is a placement in a collection (its ``root``) and a user on whose right to edit it depends.
CHAINS = f"""WITH RECURSIVE chain (root, document_id, holder_id, settled) AS (
    SELECT {{root}}, m.document_id, {HOLDER}, {SETTLED}
    FROM documents_document_collections m
    JOIN documents_collection c ON c.id = m.collection_id
    JOIN documents_document d ON d.id = m.document_id
    WHERE {{seed}}
  UNION
    SELECT chain.root, m.document_id, {HOLDER}, {SETTLED}
    FROM chain
    JOIN documents_document_collections m ON m.document_id = chain.document_id
    JOIN documents_collection c ON c.id = m.collection_id
    JOIN documents_document d ON d.id = m.document_id
    WHERE NOT chain.settled AND (c.owner_id = chain.holder_id OR EXISTS (
        SELECT FROM documents_share s
        WHERE s.collection_id = c.id AND s.can_write AND {GIVEN_TO.format(who="chain.holder_id")}))
) SELECT root FROM chain WHERE settled"""

# In a materialized CTE, Citus evaluates the recursion before it queries the nodes; elsewhere it refuses.
HANDED_ON = f"WITH handed_on AS MATERIALIZED ({CHAINS}) SELECT root FROM handed_on"

# A user's own placement gives that user no right: it depends on that user's right.
COLLECTED = f"""{HOLDER} <> %s AND c.id IN (
    SELECT id FROM documents_collection WHERE owner_id = %s
    UNION ALL SELECT s.collection_id FROM documents_share s
    WHERE s.collection_id IS NOT NULL AND {GIVEN_TO.format(who="%s")} {{rights}})"""
PLACED = f"""SELECT m.document_id, {HOLDER} FROM documents_document_collections m
    JOIN documents_collection c ON c.id = m.collection_id WHERE {{seed}}"""
GIVEN = f"""SELECT s.document_id FROM documents_share s
    WHERE s.document_id IS NOT NULL AND {GIVEN_TO.format(who="%s")} {{rights}}"""
ANY_RIGHT, RIGHT_TO_EDIT = "", "AND s.can_write"


def reachable(user: User, *, to_edit: bool = False) -> Q:
    """Return the condition on documents the user may read, or edit. Deleted ones are included.

    Each subquery runs once and is hashed. Most placements depend on the owner's right and need no recursion.
    """
    rights = RIGHT_TO_EDIT if to_edit else ANY_RIGHT
    collected = COLLECTED.format(rights=rights)
    known = (user.pk,) * 4
    given = RawSQL(GIVEN.format(rights=rights), (user.pk, user.pk))
    by_owner = RawSQL(PLACED.format(seed=collected), known)
    handed_on = RawSQL(HANDED_ON.format(root="m.document_id", seed=f"m.handed_on AND {collected}"), known)
    return Q(owner=user) | Q(pk__in=given) | Q(_IsRow(_Row("pk", "owner"), by_owner)) | Q(pk__in=handed_on)


class _Row(Func):
    """``ROW(…)``."""

    function = "ROW"
    output_field = BooleanField()


class _IsRow(Func):
    """``ROW(…) IN (subquery)``."""

    template = "%(expressions)s"
    arg_joiner = " IN "
    output_field = BooleanField()
    conditional = True


def live_places(document_id: UUID) -> set[int]:
    """Return ids of the document's valid ``Placement`` rows: their holders may edit the document."""
    with connection.cursor() as cursor:
        cursor.execute(CHAINS.format(root="m.id", seed="m.document_id = %s"), [document_id])
        return {row[0] for row in cursor.fetchall()}
