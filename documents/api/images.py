"""PNG answers: page pictures, which browsers may keep but proxies may not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema, extend_schema_view
from rest_framework import exceptions, generics, serializers
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

from documents.api.errors import ErrorSerializer
from documents.api.fields import Strict
from documents.api.parts import DocumentPart
from documents.pictures import RESOLUTIONS, PictureFailed, page_picture

FRESH_SECONDS = 3600


class PngRenderer(BaseRenderer):
    """Lets ``Accept: image/png`` be negotiated; the bytes travel in an HttpResponse of their own."""

    media_type = "image/png"
    format = "png"
    charset = None
    render_style = "binary"

    def render(
        self, data: Any, media_type: str | None = None, context: Mapping[str, Any] | None = None
    ) -> bytes:
        return b""


class CannotDraw(exceptions.APIException):
    status_code = 422
    default_detail = "This page cannot be drawn."
    default_code = "cannot_draw"


NOT_DRAWN = OpenApiResponse(ErrorSerializer, "This page cannot be drawn.")


class ResolutionSerializer(Strict, serializers.Serializer):
    """How large the picture is."""

    dpi = serializers.ChoiceField(RESOLUTIONS, default=144, help_text="pixels per inch of the page")


def png_response(png: bytes) -> HttpResponse:
    headers = {"Cache-Control": f"private, max-age={FRESH_SECONDS}"}
    return HttpResponse(png, content_type="image/png", headers=headers)


@extend_schema_view(
    get=extend_schema(
        tags=["pages"],
        operation_id="pages_image",
        parameters=[ResolutionSerializer],
        responses={(200, "image/png"): OpenApiTypes.BINARY, (422, "application/json"): NOT_DRAWN},
    )
)
class PageImage(DocumentPart, generics.GenericAPIView):
    """A PNG of a page as a viewer shows it."""

    renderer_classes = [PngRenderer]
    pagination_class = None
    filter_backends: list[Any] = []

    def get(self, request: Request, **kwargs: Any) -> HttpResponse:
        options = ResolutionSerializer(data=request.query_params)
        options.is_valid(raise_exception=True)
        try:
            return png_response(page_picture(self.page, **options.validated_data))
        except PictureFailed as failed:
            raise CannotDraw(str(failed)) from None
