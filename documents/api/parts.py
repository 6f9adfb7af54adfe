"""Parts of a document, reached through it: whoever may not see the document meets 404 on the way."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.shortcuts import get_object_or_404
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from documents.models import Document, Page
from documents.recognition import want_pages

if TYPE_CHECKING:
    from rest_framework.generics import GenericAPIView

    View = GenericAPIView
else:
    View = object


class MayEdit(BasePermission):
    """Of those who see a row, only those who may edit it may change it; only its owner deletes it."""

    message = "You may read this, but not change it."

    def has_object_permission(self, request: Request, view: APIView, row: Any) -> bool:
        if request.method in SAFE_METHODS:
            return True
        if row.owner_id == request.user.pk:
            return True
        editable_by = getattr(type(row).objects, "editable_by", None)
        if request.method == "DELETE" or editable_by is None:
            return False
        return bool(editable_by(request.user).filter(pk=row.pk).exists())


class DocumentPart(View):
    """For views under ``/api/documents/<uuid:document_id>/…``."""

    @cached_property
    def document(self) -> Document:
        if getattr(self, "swagger_fake_view", False):  # the schema is made without a request
            return Document()
        document_id: UUID = self.kwargs["document_id"]
        return get_object_or_404(Document.objects.visible_to(self.request.user), pk=document_id)

    @cached_property
    def page(self) -> Page:
        """The page whose number is in the path; recognised before others if its picture is unread."""
        if getattr(self, "swagger_fake_view", False):
            return Page()
        page = get_object_or_404(Page.objects.filter(document=self.document), number=self.kwargs["number"])
        if page.awaits:
            want_pages(self.document, page.number)
        return page
