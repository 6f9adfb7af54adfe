"""Tags, collections and shares of documents."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Self

from django.conf import settings
from django.db import models
from django.db.models import Q

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User


COLOURS = ("grey", "red", "orange", "yellow", "green", "teal", "blue", "purple", "pink")


def colour_for(name: str) -> str:
    """Return the colour of a new tag, which depends on its name only."""
    return COLOURS[sum(map(ord, name)) % len(COLOURS)]


class OwnedQuerySet(models.QuerySet):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        return self.filter(owner=user) if user.is_authenticated else self.none()


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
        default=True, help_text="false: added by the document's owner, so that no chain need be followed"
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
        """The user whose right to edit the document the placement depends on."""
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
