"""The URL map: the URLs of each app; under /api/ their APIs, the schema and its documentation."""

from __future__ import annotations

from django.contrib import admin
from django.contrib.auth.decorators import login_not_required
from django.urls import URLPattern, URLResolver, include, path, re_path
from django.views.i18n import set_language
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerView
from rest_framework.exceptions import NotFound
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from chat.urls import annotation_urls, conversation_urls, note_urls, reader_urls, report_urls
from documents.views.files import favicon
from operations.accounts.sign_in import admin_sign_in
from operations.observability import health
from operations.observability.dashboard import dashboard, sweep_now


@extend_schema(exclude=True)
class UnknownPath(APIView):
    """Answer 404, as JSON, for a path under /api/ that no other view serves."""

    permission_classes = [AllowAny]

    def initial(self, request: Request, *args: object, **kwargs: object) -> None:
        super().initial(request, *args, **kwargs)
        raise NotFound

    def get(self, request: Request, **kwargs: object) -> Response:
        raise NotFound


api_urlpatterns: list[URLPattern | URLResolver] = [
    path("schema/", SpectacularAPIView.as_view(), name="schema"),
    path("docs/", SpectacularSwaggerView.as_view(url_name="api:schema"), name="api-docs"),
    path("", include("documents.api.urls")),
    path("", include("retrieval.api")),
    path("", include("chat.api.urls")),
    path("", include("reviews.api.urls")),
    path("", include("agents.api")),
    re_path(r"", UnknownPath.as_view(), name="api-nothing"),
]

admin.site.login = admin_sign_in  # type: ignore[method-assign]
admin.site.site_header = admin.site.site_title = "Pincite"

urlpatterns: list[URLPattern | URLResolver] = [
    path("", include("documents.urls")),
    path("documents/<uuid:pk>/", include(reader_urls)),
    path("search/", include("retrieval.urls")),
    path("chat/", include("chat.urls")),
    path("conversations/", include(conversation_urls)),
    path("notes/", include(note_urls)),
    path("reports/", include(report_urls)),
    path("reviews/", include("reviews.urls")),
    path("annotations/", include(annotation_urls)),
    path("account/", include("operations.accounts.account")),
    path("language/", login_not_required(set_language), name="set-language"),
    path("admin/dashboard/", dashboard, name="admin-dashboard"),
    path("admin/dashboard/sweep/", sweep_now, name="admin-sweep"),
    path("admin/", admin.site.urls),
    path("api/", include((api_urlpatterns, "api"))),
    path("", include("agents.views")),
    path("", include("operations.http.static_files")),
    path("favicon.ico", favicon),  # browsers request it where no page names an icon: a PDF, an export, JSON
    path("healthz", health.healthz),
    path("readyz", health.readyz),
    path("metrics", health.metrics),
]
handler400 = "operations.http.errors.bad_request"
handler403 = "operations.http.errors.permission_denied"
handler404 = "operations.http.errors.page_not_found"
handler500 = "operations.http.errors.server_error"
