"""Content of a document: pages with word boxes, citation units, retrieval chunks."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from itertools import groupby
from typing import TYPE_CHECKING, Self

import msgspec
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from documents.models.document import Document

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User
from django.db.models import F, Q

from pdf.geometry import PageFrame
from pdf.structure import Location, TableRow


class ChunkQuerySet(models.QuerySet["RetrievalChunk"]):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        return self.filter(document__in=Document.objects.visible_to(user))


class RetrievalChunk(models.Model):
    """A few consecutive units of one section, as search ranks them; ``context_header`` gives its section."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="chunks")
    index = models.IntegerField(help_text="position in the document, from 0")
    unit_ids = ArrayField(models.UUIDField(), default=list)

    content = models.TextField()
    context_header = models.TextField(blank=True, help_text="title › section path › table caption")
    summary = models.TextField(blank=True, help_text="written by a model, when one is configured")
    chunk_type = models.CharField(max_length=12, default="prose")
    section_path = ArrayField(models.TextField(), default=list)
    section_type = models.CharField(max_length=20, blank=True)
    page_start = models.IntegerField()
    page_end = models.IntegerField()
    token_count = models.IntegerField()
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = ChunkQuerySet.as_manager()

    class Meta:
        ordering = ["document", "index"]
        constraints = [models.UniqueConstraint(fields=["document", "index"], name="one_chunk_per_index")]

    def __str__(self) -> str:
        return f"{self.context_header} #{self.index}"


MOST_TRIES = 2  # of recognising one page


Place = tuple[uuid.UUID | None, int]  # a document and a page number
Frames = dict[Place, PageFrame]


class PageQuerySet(models.QuerySet["Page"]):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        return self.filter(document__in=Document.objects.visible_to(user))

    def frames(self, places: Iterable[Place]) -> Frames:
        """Return the frames of these pages in one query. Deleted pages are left out."""
        wanted = set(places)
        rows = self.filter(
            document__in={document for document, _ in wanted if document},
            number__in={number for _, number in wanted},
        ).only("document_id", "number", "width", "height", "rotation", "crop_x", "crop_y", "user_unit")
        return {(page.document_id, page.number): page.frame for page in rows}

    def sizes(self) -> list[tuple[int, float, float, float, float, int, float]]:
        """Return ``number, width, height, crop_x, crop_y, rotation, user_unit`` of each page of one document
        that is of another size than the page before."""
        fields = ("width", "height", "crop_x", "crop_y", "rotation", "user_unit")
        rows = self.order_by("number").values_list("number", *fields)
        return [next(run) for _size, run in groupby(rows, key=lambda row: row[1:])]

    def awaiting_recognition(self) -> Self:
        """Return pages that await OCR."""
        return self.exclude(awaits="").filter(recognised=b"", tries__lt=MOST_TRIES)

    def to_take_up(self) -> Self:
        """Return pages recognised or given up since the last layout of the document."""
        return self.exclude(awaits="").exclude(recognised=b"", tries__lt=MOST_TRIES)

    def in_order_of_need(self) -> Self:
        """Order by requests of users, then scanned pages before pictures on text pages; failed ones last."""
        return self.order_by("tries", F("wanted_at").desc(nulls_last=True), "awaits", "number")


class Page(models.Model):
    """One parsed page of a document."""

    class Awaits(models.TextChoices):
        PAGE = "page", "its whole picture"
        PICTURES = "pictures", "the pictures beside its text"

    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="pages")
    number = models.IntegerField(help_text="from 1")
    label = models.CharField(max_length=40, blank=True, help_text="as the PDF calls the page: iv, A-3")

    width = models.FloatField(help_text="of the CropBox, page space, not rotated")
    height = models.FloatField()
    rotation = models.SmallIntegerField(default=0, help_text="degrees clockwise")
    crop_x = models.FloatField(default=0, help_text="lower left corner of the CropBox in PDF user space")
    crop_y = models.FloatField(default=0)
    user_unit = models.FloatField(default=1)

    text = models.TextField(blank=True)
    word_boxes = models.BinaryField(default=bytes, help_text="packed by pdf.word_boxes")
    furniture = models.JSONField(default=list, help_text="[{text, char_start, char_end, rects}, …]")
    figures = models.JSONField(default=list, help_text="[{rect, caption}, …]")

    ocr = models.BooleanField(default=False)
    recognised = models.BinaryField(default=bytes, help_text="what its picture said, for the next reading")
    awaits = models.CharField(max_length=8, choices=Awaits, blank=True, help_text="what is still to be read")
    tries = models.SmallIntegerField(default=0, help_text="recognitions that failed")
    wanted_at = models.DateTimeField(null=True, blank=True, help_text="when somebody last asked for it")
    confidence = models.FloatField(default=1)
    hidden_words = models.IntegerField(default=0)
    failure = models.CharField(max_length=200, blank=True)

    objects = PageQuerySet.as_manager()

    class Meta:
        ordering = ["document", "number"]
        constraints = [models.UniqueConstraint(fields=["document", "number"], name="one_page_per_number")]
        indexes = [models.Index(fields=["document"], condition=~Q(awaits=""), name="pages_to_recognise")]

    def __str__(self) -> str:
        return f"p. {self.number}"

    @property
    def frame(self) -> PageFrame:
        return PageFrame(self.width, self.height, self.rotation, self.crop_x, self.crop_y, self.user_unit)


class UnitQuerySet(models.QuerySet["CitationUnit"]):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        return self.filter(document__in=Document.objects.visible_to(user))

    def neighbours(self, unit: CitationUnit, distance: int = 2) -> Self:
        """Return other units of the document at most ``distance`` away in reading order."""
        return self.filter(
            document=unit.document_id,
            position__range=(unit.position - distance, unit.position + distance),
        ).exclude(pk=unit.pk)


class CitationUnit(models.Model):
    """A paragraph, heading, list item, table row, caption, footnote, code block or formula.

    ``content == page.text[char_start:char_end]``, always. Rectangles are in page space.
    """

    class Type(models.TextChoices):
        PROSE = "prose", _("Prose")
        HEADING = "heading", _("Heading")
        LIST = "list", _("List")
        TABLE = "table", _("Table")
        CODE = "code", _("Code")
        CAPTION = "caption", _("Caption")
        FOOTNOTE = "footnote", _("Footnote")
        FORMULA = "formula", _("Formula")
        ABSTRACT = "abstract", _("Abstract")

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
    location = models.JSONField(null=True, help_text="a structure.Location as JSON; of imported blocks")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

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

    @property
    def place(self) -> str:
        """The location of an imported block: ``slide 4``, ``sheet Q2, B7``, ``12:04``; else ''."""
        return self.cited_location(self.char_start, self.char_end).in_words

    def cited_location(self, start: int, end: int) -> Location:
        """Return the location of a character range of the page; in a row of a sheet, of the cell it is in."""
        found = msgspec.convert(self.location or {}, Location)
        return found.within(msgspec.convert(self.cells, TableRow) if self.cells else None, start, end)
