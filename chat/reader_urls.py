"""Paths of the reader, under a document's own."""

from __future__ import annotations

from django.urls import path

from chat.views import reader

urlpatterns = [
    path("", reader.document, name="document"),
    path("state/", reader.state, name="document-state"),
    path("highlight/", reader.highlight, name="document-highlight"),
    path("pins/", reader.pins, name="document-pins"),
]
