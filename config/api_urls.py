"""URLs under /api/: those of each app, the schema, its documentation; JSON 404 for any other path."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path, re_path
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerView
from rest_framework.exceptions import NotFound
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView


@extend_schema(exclude=True)
class UnknownPath(APIView):
    """Answer 404, as JSON, for a path under /api/ that no other view serves."""

    permission_classes = [AllowAny]

    def initial(self, request: Request, *args: object, **kwargs: object) -> None:
        super().initial(request, *args, **kwargs)
        raise NotFound

    def get(self, request: Request, **kwargs: object) -> Response:
        raise NotFound


urlpatterns: list[URLPattern | URLResolver] = [
    path("schema/", SpectacularAPIView.as_view(), name="schema"),
    path("docs/", SpectacularSwaggerView.as_view(url_name="api:schema"), name="api-docs"),
    path("", include("documents.api.urls")),
    path("", include("retrieval.api")),
    path("", include("chat.api.urls")),
    path("", include("agents.api")),
    re_path(r"", UnknownPath.as_view(), name="api-nothing"),
]
