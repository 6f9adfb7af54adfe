"""The URL map. Each app owns its paths; this file only joins them."""

from __future__ import annotations

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path

urlpatterns: list[URLPattern | URLResolver] = [
    path("", include("documents.urls")),
    path("chat/", include("chat.urls")),
    path("account/", include("config.account")),
    path("admin/", admin.site.urls),
]
