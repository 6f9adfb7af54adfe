"""The paths under /api/: each app's, the schema, the docs. All else is 404 in the API's own shape."""

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
class NothingHere(APIView):
    """Any path under /api/ that no other view has."""

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
    re_path(r"", NothingHere.as_view(), name="api-nothing"),
]
