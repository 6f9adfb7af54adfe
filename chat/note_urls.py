"""Paths of the pages of notes."""

from __future__ import annotations

from django.urls import path

from chat.views import notes

urlpatterns = [
    path("", notes.notes, name="notes"),
    path("new/", notes.new, name="note-new"),
    path("save/", notes.save, name="note-save"),
    path("add/<uuid:message_id>/", notes.add, name="note-add"),
    path("<uuid:pk>/", notes.note, name="note"),
    path("<uuid:pk>/versions/<int:revision>/restore/", notes.restore_words, name="note-version-restore"),
    path("<uuid:pk>/delete/", notes.delete, name="note-delete"),
    path("<uuid:pk>/restore/", notes.restore, name="note-restore"),
    path("beside/<uuid:pk>/", notes.beside, name="document-notes"),
    path("beside/<uuid:pk>/quote/", notes.quote, name="document-quote"),
]
