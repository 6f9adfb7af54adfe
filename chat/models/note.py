"""The Note: a user's Markdown with citations, and its versions."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Self

from django.conf import settings
from django.db import models
from django.db.models import Max
from django.db.models.functions import TruncHour

from chat.citations.marker_decoder import with_marks
from chat.models.citation import Citation
from chat.models.conversation import Hideable, excerpt
from documents.models import Document

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User


class NoteQuerySet(models.QuerySet["Note"]):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        return self.filter(owner=user, deleted_at=None) if user.is_authenticated else self.none()


class Note(Hideable):
    """A note. ``content`` is Markdown, in which ``[[cite:<citation id>:<page>]]`` is a citation.

    ``revision`` counts saves, for optimistic locking: an editor sends the revision it started from.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="notes")
    document = models.ForeignKey(
        Document, null=True, blank=True, on_delete=models.SET_NULL, related_name="notes"
    )
    title = models.CharField(max_length=200, blank=True)
    content = models.TextField(blank=True)
    citations = models.ManyToManyField(Citation, related_name="notes", blank=True)
    revision = models.IntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = NoteQuerySet.as_manager()

    class Meta:
        ordering = ["-updated_at"]
        indexes = [models.Index(fields=["owner", "-updated_at"])]

    def __str__(self) -> str:
        return self.title or "Untitled note"

    @property
    def excerpt(self) -> str:
        return excerpt(self.content)


class NoteVersionQuerySet(models.QuerySet["NoteVersion"]):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        return self.filter(note__in=Note.objects.visible_to(user))

    def last_of_each_hour(self) -> Self:
        """Return the last version of each hour."""
        last = self.annotate(hour=TruncHour("created_at")).values("note", "hour").annotate(last=Max("pk"))
        return self.filter(pk__in=last.values("last"))


class NoteVersion(models.Model):
    """A previous version of a note."""

    note = models.ForeignKey(Note, on_delete=models.CASCADE, related_name="versions")
    revision = models.IntegerField()
    title = models.CharField(max_length=200, blank=True)
    content = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = NoteVersionQuerySet.as_manager()

    class Meta:
        ordering = ["note", "-revision"]
        constraints = [models.UniqueConstraint(fields=["note", "revision"], name="one_version_per_revision")]

    def __str__(self) -> str:
        return f"{self.note_id} r{self.revision}"

    @property
    def text(self) -> str:
        """The Markdown with the page of each citation."""
        return with_marks(self.content, lambda _, mark: f" [p. {mark.page}]")
