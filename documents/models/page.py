"""The Page: its size and rotation, its text, its word boxes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from django.db import models
from django.db.models import F, Q

from documents.models.document import Document
from documents.pdf.geometry import PageFrame

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User


MOST_TRIES = 2  # of recognising one page


class PageQuerySet(models.QuerySet["Page"]):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        return self.filter(document__in=Document.objects.visible_to(user))

    def awaiting_recognition(self) -> Self:
        """Pages whose pictures still have to be recognised."""
        return self.exclude(awaits="").filter(recognised=b"", tries__lt=MOST_TRIES)

    def to_take_up(self) -> Self:
        """Pages that were recognised or given up since the document was last laid out."""
        return self.exclude(awaits="").exclude(recognised=b"", tries__lt=MOST_TRIES)

    def in_order_of_need(self) -> Self:
        """What somebody asked for first, then whole pages before pictures beside text; failed ones last."""
        return self.order_by("tries", F("wanted_at").desc(nulls_last=True), "awaits", "number")


class Page(models.Model):
    """One page of a document, as the parser read it."""

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
    word_boxes = models.BinaryField(default=bytes, help_text="packed by documents.pdf.wordboxes")
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
