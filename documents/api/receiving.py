"""Documents that arrive through the API: as a file, or as a URL to fetch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.urls import reverse
from rest_framework import exceptions, serializers

from documents.api.errors import Unusable
from documents.api.fields import Strict, VisibleRelated
from documents.fetching import FetchRefused
from documents.formats import accepted
from documents.models import Collection, Document, Tag
from documents.sharing import put_in
from documents.uploads import UploadRefused, store_address, store_upload

if TYPE_CHECKING:
    from django.contrib.auth.models import User

PDF_PART = {"file": {"contentType": "application/pdf"}}
FILE_PART = {"file": {"contentType": "application/pdf, application/octet-stream"}}
KINDS = ", ".join(kind.label for kind in accepted(with_office=True))
STATUS_OF = {
    "too_large": 413,
    "duplicate": 409,
    "not_a_pdf": 415,
    "no_room": 507,
    "infected": 422,
    "not_scanned": 503,
}


class NotTaken(exceptions.APIException):
    """The file was refused; a duplicate's answer points to the document that is there."""

    def __init__(self, refused: UploadRefused) -> None:
        super().__init__(refused.message, refused.code)
        self.status_code = STATUS_OF.get(str(refused.code), 400)
        self.headers: dict[str, str] = {}
        if refused.existing is not None:
            self.headers["Location"] = reverse("api:document-detail", args=[refused.existing.pk])


class PlacedSerializer(Strict, serializers.Serializer):
    tags = VisibleRelated(many=True, required=False, queryset=Tag.objects.all())
    collections = VisibleRelated(
        many=True, required=False, queryset=Collection.objects.all(), rights="editable_by"
    )


class FileUploadSerializer(PlacedSerializer):
    """A PDF, or a file that a PDF can be made of."""

    file = serializers.FileField(
        allow_empty_file=True,
        max_length=4000,
        help_text=f"{KINDS}; the last kinds where LibreOffice is installed",
    )


class UrlUploadSerializer(PlacedSerializer):
    """Where a PDF lies. A worker fetches it: ask for the status. Private addresses are refused."""

    url = serializers.URLField(max_length=2000)


def receive(owner: User, sent: dict[str, Any]) -> Document:
    """Stores what was sent, puts it in its collections, under its tags, in the queue. Raises NotTaken."""
    try:
        document = _stored(owner, sent)
    except UploadRefused as refused:
        raise NotTaken(refused) from None
    except FetchRefused as refused:
        raise Unusable(refused.message, "not_fetched", url=refused.message) from None
    document.tags.set(sent.get("tags", []))
    for collection in sent.get("collections", []):
        put_in(document, collection, owner)
    return document


def _stored(owner: User, sent: dict[str, Any]) -> Document:
    if "file" in sent:
        return store_upload(owner, sent["file"], sent["file"].name or "")
    return store_address(owner, sent["url"])
