"""A user's notes and their versions, annotations, reading position, and tour state."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Self

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Max, Q
from django.db.models.functions import TruncHour
from django.utils.translation import gettext_lazy as _

from chat.models.citation import Citation
from chat.models.conversation import Hideable, HideableQuerySet, excerpt
from citing.marker_decoder import with_marks
from documents.models import Document
from documents.models.library import OwnedQuerySet

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User


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

    objects = HideableQuerySet["Note"].as_manager()

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
        """Return the Markdown with the page of each citation."""
        return with_marks(self.content, lambda _, mark: f" [p. {mark.page}]")


class AnnotationQuerySet(HideableQuerySet["Annotation"]):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        """Return the user's annotations on documents that the user may still see."""
        return super().visible_to(user).filter(document__in=Document.objects.visible_to(user))

    def with_words(self, words: str) -> Self:
        """Return annotations whose quote or comment contains each of the words."""
        found = self
        for word in words.split()[:10]:
            found = found.filter(Q(quote__icontains=word) | Q(comment__icontains=word))
        return found


class Annotation(Hideable):
    """A highlight or underline of words on one page, or a drawing, with an optional comment.

    ``quote`` holds the words, by which the annotation is re-anchored when its document is parsed again.
    Without words it keeps its position.
    """

    class Kind(models.TextChoices):
        HIGHLIGHT = "highlight", _("Highlight")
        UNDERLINE = "underline", _("Underline")
        INK = "ink", _("Drawing")

    class Colour(models.TextChoices):
        YELLOW = "yellow", _("Yellow")
        GREEN = "green", _("Green")
        BLUE = "blue", _("Blue")
        PINK = "pink", _("Pink")
        PURPLE = "purple", _("Purple")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="annotations")
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="annotations")
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.HIGHLIGHT)
    colour = models.CharField(max_length=8, choices=Colour, default=Colour.YELLOW)
    comment = models.TextField(blank=True)

    quote = models.TextField(blank=True, help_text="the words as printed")
    context = models.TextField(blank=True, help_text="the words with their surroundings, for re-anchoring")
    page_number = models.IntegerField(help_text="from 1")
    char_start = models.IntegerField(default=0, help_text="of the quote in the page's text")
    rects = ArrayField(ArrayField(models.FloatField(), size=4), help_text="page space, one per line")
    strokes = models.JSONField(default=list, blank=True, help_text="lines of a drawing, [x, y] in page space")
    source = models.IntegerField(
        null=True, blank=True, help_text="xref of the PDF's annotation that this one replaces"
    )
    durability = models.CharField(max_length=8, choices=Citation.Durability, default=Citation.Durability.SAME)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = AnnotationQuerySet.as_manager()

    class Meta:
        ordering = ["document", "page_number", "char_start", "created_at"]
        indexes = [models.Index(fields=["document", "owner", "page_number"])]

    def __str__(self) -> str:
        return self.quote[:80] or self.comment[:80] or self.get_kind_display()

    @property
    def is_gone(self) -> bool:
        """Return whether its words are no longer in the document."""
        return self.durability == Citation.Durability.GONE


class ReadingPlaceQuerySet(OwnedQuerySet["ReadingPlace"]):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        """Return the user's positions in documents that the user may still see."""
        return super().visible_to(user).filter(document__in=Document.objects.visible_to(user))


class ReadingPlace(models.Model):
    """The last position of a user in a document, on any device."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="+")
    page_number = models.IntegerField(help_text="from 1")
    left = models.FloatField(help_text="PDF user space, as pdf.js scrolls to it")
    top = models.FloatField()
    rotation = models.SmallIntegerField(default=0, help_text="degrees by which the user rotated the pages")
    updated_at = models.DateTimeField(auto_now=True)

    objects = ReadingPlaceQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["owner", "document"], name="one_place_per_reader")]

    def __str__(self) -> str:
        return f"p. {self.page_number}"


class TourEnd(models.Model):
    """Records that a user has finished or skipped the tour of the reader."""

    owner = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    ended_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.owner_id}"
