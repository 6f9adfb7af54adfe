"""URLs of the chat API."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from chat.api.citations import (
    CitationContext,
    CitationDetail,
    CitationImage,
    CitationListView,
    CitationSiblings,
    FindWords,
    Locate,
)
from chat.api.conversations import ConversationViewSet, ProviderHealth, Providers, export_of
from chat.api.messages import (
    AnswerCancel,
    AnswerContinue,
    AnswerRetry,
    AnswerStream,
    MessageDetail,
    MessagesOfConversation,
    ReadingBudget,
)
from chat.api.notes import AnnotationViewSet, NoteVersions, NoteViewSet
from chat.api.reports import ReportViewSet
from chat.models import Conversation, Message, Note
from documents.api.urls import UuidRouter

router = UuidRouter()
router.register("conversations", ConversationViewSet, "conversation")
router.register("annotations", AnnotationViewSet, "annotation")
router.register("notes", NoteViewSet, "note")
router.register("reports", ReportViewSet, "report")

urlpatterns: list[URLPattern | URLResolver] = [
    path(
        "conversations/<uuid:conversation_id>/messages/",
        MessagesOfConversation.as_view(),
        name="conversation-messages",
    ),
    path("conversations/<uuid:conversation_id>/budget/", ReadingBudget.as_view(), name="conversation-budget"),
    path("messages/<uuid:pk>/", MessageDetail.as_view(), name="message-detail"),
    path("messages/<uuid:pk>/stream/", AnswerStream.as_view(), name="message-stream"),
    path("messages/<uuid:pk>/cancel/", AnswerCancel.as_view(), name="message-cancel"),
    path("messages/<uuid:pk>/retry/", AnswerRetry.as_view(), name="message-retry"),
    path("messages/<uuid:pk>/continue/", AnswerContinue.as_view(), name="message-continue"),
    path("citations/", CitationListView.as_view(), name="citation-list"),
    path("citations/<uuid:pk>/", CitationDetail.as_view(), name="citation-detail"),
    path("citations/<uuid:pk>/context/", CitationContext.as_view(), name="citation-context"),
    path("citations/<uuid:pk>/siblings/", CitationSiblings.as_view(), name="citation-siblings"),
    path("citations/<uuid:pk>/image/", CitationImage.as_view(), name="citation-image"),
    path("documents/<uuid:document_id>/find/", FindWords.as_view(), name="document-find"),
    path("documents/<uuid:document_id>/locate/", Locate.as_view(), name="document-locate"),
    path("providers/", Providers.as_view(), name="provider-list"),
    path("providers/<slug:name>/health/", ProviderHealth.as_view(), name="provider-health"),
    *[
        path(f"{name}s/<uuid:pk>/export/", export_of(model, name), name=f"{name}-export")
        for model, name in ((Conversation, "conversation"), (Message, "message"), (Note, "note"))
    ],
    path("notes/<uuid:pk>/versions/", NoteVersions.as_view(), name="note-versions"),
    *router.urls,
]
