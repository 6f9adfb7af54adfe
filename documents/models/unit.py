"""The CitationUnit: what is cited and highlighted."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Self

from django.contrib.postgres.fields import ArrayField
from django.db import models

from documents.models.chunk import RetrievalChunk
from documents.models.document import Document

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User


class UnitQuerySet(models.QuerySet["CitationUnit"]):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        return self.filter(document__in=Document.objects.visible_to(user))

    def neighbours(self, unit: CitationUnit, distance: int = 2) -> Self:
        """Units of the same document at most ``distance`` away in reading order, the unit left out."""
        return self.filter(
            document=unit.document_id,
            position__range=(unit.position - distance, unit.position + distance),
        ).exclude(pk=unit.pk)


class CitationUnit(models.Model):
    """A paragraph, heading, list item, table row, caption, footnote, code block or formula.

    ``content == page.text[char_start:char_end]``, always. Rectangles are in page space.
    """

    class Type(models.TextChoices):
        PROSE = "prose"
        HEADING = "heading"
        LIST = "list"
        TABLE = "table"
        CODE = "code"
        CAPTION = "caption"
        FOOTNOTE = "footnote"
        FORMULA = "formula"
        ABSTRACT = "abstract"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="units")
    chunk = models.ForeignKey(RetrievalChunk, null=True, on_delete=models.SET_NULL, related_name="units")
    position = models.IntegerField(help_text="reading order through the document, from 0")
    page_number = models.IntegerField(help_text="from 1")
    paragraph_index = models.IntegerField(help_text="reading order in the page, from 0")

    content = models.TextField()
    unit_type = models.CharField(max_length=10, choices=Type, default=Type.PROSE)
    char_start = models.IntegerField()
    char_end = models.IntegerField()
    line_start = models.IntegerField(help_text="through the document, from 1")
    line_end = models.IntegerField()
    bbox = ArrayField(models.FloatField(), size=4)
    rects = ArrayField(ArrayField(models.FloatField(), size=4), default=list, help_text="one per line")

    heading_level = models.SmallIntegerField(null=True)
    section_title = models.TextField(blank=True)
    section_path = ArrayField(models.TextField(), default=list)
    section_type = models.CharField(max_length=20, blank=True)
    from_picture = models.BooleanField(
        default=False, help_text="its words were recognised in a picture beside the page's text"
    )
    continues = models.BooleanField(default=False, help_text="goes on with the unit before it")

    table_index = models.IntegerField(null=True)
    table_row = models.IntegerField(null=True)
    cells = models.JSONField(null=True, help_text="a structure.TableRow as JSON; null when not in a table")
    list_style = models.CharField(max_length=20, blank=True)
    code_language = models.CharField(max_length=20, blank=True)

    objects = UnitQuerySet.as_manager()

    class Meta:
        ordering = ["document", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["document", "page_number", "paragraph_index"], name="one_unit_per_place"
            )
        ]
        indexes = [
            models.Index(fields=["document", "position"]),
            models.Index(fields=["document", "table_index", "table_row"]),
        ]

    def __str__(self) -> str:
        return self.content[:80]
