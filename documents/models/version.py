"""What a document was before its file was replaced: kept until the new file has been read."""

from __future__ import annotations

from django.db import models
from django.db.models.fields.files import FieldFile

from documents.models.document import Document, original_storage_name, storage_name

SET_BACK = (
    *("kind", "file", "original", "text_layer", "thumbnail"),
    *("original_name", "sha256", "size", "page_count", "indexed_at"),
)


class PreviousVersion(models.Model):
    """The file that a document's stored pages and passages were read from, while a new one is being read.

    The fields are those of ``Document`` of the same names.
    """

    document = models.OneToOneField(
        Document, primary_key=True, on_delete=models.CASCADE, related_name="previous_version"
    )
    kind = models.CharField(max_length=8)
    file = models.FileField(upload_to=storage_name, max_length=200, blank=True)
    original = models.FileField(upload_to=original_storage_name, max_length=200, blank=True)
    text_layer = models.FileField(upload_to=storage_name, max_length=200, blank=True)
    thumbnail = models.FileField(max_length=200, blank=True)
    original_name = models.CharField(max_length=255, blank=True)
    sha256 = models.CharField(max_length=64, blank=True)
    size = models.BigIntegerField(default=0)
    page_count = models.IntegerField(default=0)
    indexed_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.original_name} before it was replaced"

    @classmethod
    def of(cls, document: Document) -> PreviousVersion:
        """What the document is now, not stored yet."""
        version = cls(document=document)
        for name in SET_BACK:
            value = getattr(document, name)
            setattr(version, name, value.name if isinstance(value, FieldFile) else value)
        return version

    @property
    def files(self) -> list[FieldFile]:
        return [self.file, self.original, self.text_layer, self.thumbnail]

    def set_back(self, document: Document) -> None:
        """Makes the document, in memory, what it was."""
        for name in SET_BACK:
            value = getattr(self, name)
            setattr(document, name, value.name if isinstance(value, FieldFile) else value)
