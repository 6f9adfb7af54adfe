"""The ReadingPlace: where a person stopped reading a document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from django.conf import settings
from django.db import models

from documents.models import Document

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User


class ReadingPlaceQuerySet(models.QuerySet["ReadingPlace"]):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        """The user's own, on documents the user may still see."""
        if not user.is_authenticated:
            return self.none()
        return self.filter(owner=user, document__in=Document.objects.visible_to(user))


class ReadingPlace(models.Model):
    """The last place of one person in one document, on whatever device."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="+")
    page_number = models.IntegerField(help_text="from 1")
    left = models.FloatField(help_text="PDF user space, as pdf.js scrolls to it")
    top = models.FloatField()
    rotation = models.SmallIntegerField(default=0, help_text="degrees by which the reader turned the pages")
    updated_at = models.DateTimeField(auto_now=True)

    objects = ReadingPlaceQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["owner", "document"], name="one_place_per_reader")]

    def __str__(self) -> str:
        return f"p. {self.page_number}"
