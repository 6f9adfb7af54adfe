"""Where something stands on a page, in every form that clients ask for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import models
from rest_framework import serializers

from documents.models import Page
from documents.pdf.geometry import PageFrame, Rect, bounding_box


@dataclass(frozen=True, slots=True)
class Box:
    """One rectangle in page space: points, origin top left of the page that is not rotated, y down."""

    x0: float
    y0: float
    x1: float
    y1: float
    x: float
    y: float
    width: float
    height: float

    @classmethod
    def of(cls, rect: Rect) -> Box:
        return cls(*rect, rect.x0, rect.y0, rect.width, rect.height)


@dataclass(frozen=True, slots=True)
class Region:
    """Some rectangles of one page, in points and in display fractions, and the page they lie on.

    Attributes:
        bbox: the box around all of them; None when there is no rectangle.
        rects: page space, points.
        display: 0..1 of the page as a viewer shows it (cropped and rotated).
        page_width, page_height: of the page as shown, in points.
    """

    page: int
    page_width: float
    page_height: float
    rotation: int
    bbox: Box | None
    rects: tuple[Box, ...]
    display: tuple[Rect, ...]

    @classmethod
    def of(cls, number: int, frame: PageFrame, rects: Sequence[Sequence[float]]) -> Region:
        in_page = tuple(Rect(*rect) for rect in rects)
        return cls(
            number,
            *frame.display_size,
            frame.rotation,
            Box.of(bounding_box(in_page)) if in_page else None,
            tuple(Box.of(rect) for rect in in_page),
            tuple(frame.to_display(rect) for rect in in_page),
        )


class BoxSerializer(serializers.Serializer):
    """A rectangle in points: corners, and origin with size."""

    x0 = serializers.FloatField()
    y0 = serializers.FloatField()
    x1 = serializers.FloatField()
    y1 = serializers.FloatField()
    x = serializers.FloatField(help_text="same as x0")
    y = serializers.FloatField(help_text="same as y0")
    width = serializers.FloatField()
    height = serializers.FloatField()


class RegionSerializer(serializers.Serializer):
    """Where it stands. Points: origin at the top left of the CropBox, y down, page not rotated."""

    page = serializers.IntegerField(help_text="from 1")
    page_width = serializers.FloatField(help_text="of the page as shown, in points")
    page_height = serializers.FloatField(help_text="of the page as shown, in points")
    rotation = serializers.IntegerField(help_text="degrees clockwise by which a viewer turns the page")
    bbox = BoxSerializer(allow_null=True, help_text="around all rectangles, in points")
    rects = BoxSerializer(many=True, help_text="one per line of text, in points")
    display = serializers.ListField(
        child=serializers.ListField(child=serializers.FloatField(), min_length=4, max_length=4),
        help_text="the same as [x0, y0, x1, y1] in 0..1 of the page as shown, origin top left",
    )


Place = tuple[UUID | None, int]  # a document and a page number
Frames = dict[Place, PageFrame]


def page_frames(places: Iterable[Place]) -> Frames:
    """The frames of these pages, in one query. Pages that are no more are left out."""
    wanted = set(places)
    rows = Page.objects.filter(
        document__in={document for document, _ in wanted}, number__in={number for _, number in wanted}
    ).defer("text", "word_boxes", "furniture", "figures")
    return {(page.document_id, page.number): page.frame for page in rows}


class FramedList(serializers.ListSerializer):
    """For serializers with ``frames``: fetches the frames of all rows' pages in one query.

    Lists within lists take the frames that the outermost one put into the context.
    """

    def to_representation(self, data: Any) -> list[Any]:
        rows = list(data.all() if isinstance(data, models.Manager) else data)
        child: Any = self.child
        frames: Frames | None = self.context.get("frames")
        child.frames = frames or page_frames((row.document_id, row.page_number) for row in rows)
        return super().to_representation(rows)
