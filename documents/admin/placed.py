"""Rows that stand somewhere on a page are shown there, above their own fields."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from django.db import models
from django.http import HttpRequest, HttpResponse

from documents.admin.overlays import Overlay, lit_overlay, page_overlay
from documents.admin.reading import ReadOnlyAdmin
from documents.models import CitationUnit, Page, RetrievalChunk


@singledispatch
def overlays_of(row: models.Model) -> list[Overlay]:
    """The pages a row stands on, with what belongs to it lit. Other apps register their own models."""
    return []


@overlays_of.register
def _of_page(page: Page) -> list[Overlay]:
    return [page_overlay(page)]


@overlays_of.register
def _of_unit(unit: CitationUnit) -> list[Overlay]:
    return lit_units([unit])


@overlays_of.register
def _of_chunk(chunk: RetrievalChunk) -> list[Overlay]:
    return lit_units(list(chunk.units.order_by("position")))


def lit_units(units: list[CitationUnit]) -> list[Overlay]:
    """The pages these units of one document stand on, with their lines lit. One query."""
    numbers = {unit.page_number for unit in units}
    pages = Page.objects.filter(document=units[0].document_id, number__in=numbers) if units else []
    return [
        lit_overlay(page, [rect for unit in units if unit.page_number == page.number for rect in unit.rects])
        for page in pages
    ]


class PlacedAdmin(ReadOnlyAdmin):
    """Read-only rows of a model that ``overlays_of`` knows."""

    change_form_template = "admin/documents/on_page.html"

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        row = self.get_object(request, object_id)
        context = {"overlays": overlays_of(row) if row else [], **(extra_context or {})}
        return super().change_view(request, object_id, form_url, context)
