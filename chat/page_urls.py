"""Paths of the pages of conversations; what answers questions is in ``chat.urls``."""

from __future__ import annotations

from django.urls import path

from chat.views import pages, providers

urlpatterns = [
    path("", pages.conversations, name="conversations"),
    path("new/", pages.conversation, name="conversation-new"),
    path("<uuid:pk>/", pages.conversation, name="conversation"),
    path("<uuid:pk>/rename/", pages.rename, name="conversation-rename"),
    path("<uuid:pk>/delete/", pages.delete, name="conversation-delete"),
    path("<uuid:pk>/restore/", pages.restore, name="conversation-restore"),
    path("beside/<uuid:pk>/", pages.panel, name="chat-panel"),
    path("sources/<uuid:message_id>/", pages.sources, name="answer-sources"),
    path("providers/", providers.providers, name="providers"),
    path("providers/<str:name>/test/", providers.test, name="provider-test"),
]
