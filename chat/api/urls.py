"""Paths of the conversations' part of the API."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from chat.api.locating import Locate
from chat.api.notes import NoteVersions, NoteViewSet
from documents.api.urls import UuidRouter

router = UuidRouter()
router.register("notes", NoteViewSet, "note")

urlpatterns: list[URLPattern | URLResolver] = [
    path("documents/<uuid:document_id>/locate/", Locate.as_view(), name="document-locate"),
    path("notes/<uuid:pk>/versions/", NoteVersions.as_view(), name="note-versions"),
    *router.urls,
]
