"""The URL map: it includes the URLs of each app."""

from __future__ import annotations

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path
from django.views.i18n import set_language

from chat.urls import annotation_urls, conversation_urls, note_urls, reader_urls, review_urls
from documents.views.files import favicon
from operations.accounts.sign_in import admin_sign_in
from operations.observability import health
from operations.observability.dashboard import dashboard, sweep_now

admin.site.login = admin_sign_in  # type: ignore[method-assign]
admin.site.site_header = admin.site.site_title = "Pincite"

urlpatterns: list[URLPattern | URLResolver] = [
    path("", include("documents.urls")),
    path("documents/<uuid:pk>/", include(reader_urls)),
    path("search/", include("retrieval.urls")),
    path("chat/", include("chat.urls")),
    path("conversations/", include(conversation_urls)),
    path("notes/", include(note_urls)),
    path("reviews/", include(review_urls)),
    path("annotations/", include(annotation_urls)),
    path("account/", include("operations.accounts.account")),
    path("language/", set_language, name="set-language"),
    path("admin/dashboard/", dashboard, name="admin-dashboard"),
    path("admin/dashboard/sweep/", sweep_now, name="admin-sweep"),
    path("admin/", admin.site.urls),
    path("api/", include(("config.api_urls", "api"))),
    path("", include("agents.views")),
    path("", include("operations.http.source_offer")),
    path("favicon.ico", favicon),  # browsers request it where no page names an icon: a PDF, an export, JSON
    path("healthz", health.healthz),
    path("readyz", health.readyz),
    path("metrics", health.metrics),
]
handler400 = "operations.http.errors.bad_request"
handler403 = "operations.http.errors.permission_denied"
handler404 = "operations.http.errors.page_not_found"
handler500 = "operations.http.errors.server_error"
