"""Paths of the pages of notes."""

from __future__ import annotations

from django.urls import path

from chat.views import notes

urlpatterns = [
    path("", notes.notes, name="notes"),
    path("new/", notes.new, name="note-new"),
    path("<uuid:pk>/", notes.note, name="note"),
    path("<uuid:pk>/delete/", notes.delete, name="note-delete"),
    path("<uuid:pk>/restore/", notes.restore, name="note-restore"),
    path("beside/<uuid:pk>/", notes.beside, name="document-notes"),
]
