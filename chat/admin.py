"""Conversations, answers and citations in the admin."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse

from chat.models import AnswerShare, Citation, Conversation, Message, Note
from documents.admin.overlays import lit_overlay
from documents.admin.reading import ReadOnlyAdmin, link_to, link_to_list
from documents.models import Page


@admin.register(Conversation)
class ConversationAdmin(ReadOnlyAdmin):
    list_display = ["__str__", "owner", "scope", "message_count", "provider", "model", "updated_at"]
    list_filter = ["scope", "provider", "updated_at"]
    search_fields = ["title", "owner__username", "id__exact"]
    list_select_related = ["owner"]
    readonly_fields = (
        "owner",
        "title",
        "scope",
        "documents",
        "collection",
        "provider",
        "model",
        "created_at",
        "updated_at",
        "deleted_at",
        "messages_link",
    )
    fields = readonly_fields

    def get_queryset(self, request: HttpRequest) -> QuerySet[Conversation]:
        return super().get_queryset(request).annotate(message_count=Count("messages"))

    @admin.display(description="messages", ordering="message_count")
    def message_count(self, conversation: Any) -> int:
        return int(conversation.message_count)

    @admin.display(description="messages")
    def messages_link(self, conversation: Conversation) -> str:
        return link_to_list(Message, "its messages", conversation__id__exact=conversation.pk)


@admin.register(Message)
class MessageAdmin(ReadOnlyAdmin):
    list_display = ["short", "role", "status", "provider", "model", "seconds", "tokens", "created_at"]
    list_filter = ["role", "status", "provider", "model", "created_at"]
    search_fields = ["content", "error", "conversation__id__exact", "id__exact"]
    readonly_fields = (
        "conversation",
        "position",
        "role",
        "status",
        "content",
        "standalone_question",
        "provider",
        "model",
        "usage",
        "uncited",
        "error",
        "created_at",
        "citations_link",
    )
    fields = readonly_fields

    @admin.display(description="message")
    def short(self, message: Message) -> str:
        return message.content[:80] or "(nothing)"

    @admin.display(description="seconds")
    def seconds(self, message: Message) -> str:
        return str(message.usage.get("seconds", "–"))

    @admin.display(description="tokens in / out")
    def tokens(self, message: Message) -> str:
        used = message.usage
        return f"{used.get('input_tokens', 0):.0f} / {used.get('output_tokens', 0):.0f}" if used else "–"

    @admin.display(description="citations")
    def citations_link(self, message: Message) -> str:
        return link_to_list(Citation, "its citations", message__id__exact=message.pk)


@admin.register(Citation)
class CitationAdmin(ReadOnlyAdmin):
    """The page with the passage pale and the anchor strong, as readers see it."""

    change_form_template = "admin/documents/on_page.html"
    list_display = [
        "number",
        "short",
        "verdict",
        "durability",
        "feedback",
        "of_document",
        "page_number",
        "created_at",
    ]
    list_display_links = ["short"]
    list_filter = ["verdict", "durability", "feedback", "created_at"]
    search_fields = ["quote", "claim", "document_title", "message__id__exact", "id__exact"]
    list_select_related = ["document"]
    readonly_fields = (
        "number",
        "of_message",
        "of_document",
        "of_unit",
        "claim",
        "quote",
        "prefix",
        "suffix",
        "page_number",
        "section_path",
        "line_start",
        "line_end",
        "verdict",
        "reason",
        "missing",
        "durability",
        "feedback",
        "rects",
        "unit_rects",
        "head_rects",
        "document_sha256",
        "created_at",
    )
    fields = readonly_fields

    @admin.display(description="quote")
    def short(self, citation: Citation) -> str:
        return citation.quote[:80] or "(nothing found)"

    @admin.display(description="document")
    def of_document(self, citation: Citation) -> str:
        return link_to(citation.document, citation.document_title[:60])

    @admin.display(description="unit")
    def of_unit(self, citation: Citation) -> str:
        return link_to(citation.unit)

    @admin.display(description="message")
    def of_message(self, citation: Citation) -> str:
        return link_to(citation.message)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        found = self.get_object(request, object_id)
        pages = Page.objects.filter(document=found.document_id, number=found.page_number) if found else []
        overlays = [lit_overlay(page, found.unit_rects, found.rects) for page in pages] if found else []
        return super().change_view(
            request, object_id, form_url, {"overlays": overlays, **(extra_context or {})}
        )


@admin.register(Note)
class NoteAdmin(ReadOnlyAdmin):
    list_display = ["__str__", "owner", "revision", "updated_at", "deleted_at"]
    search_fields = ["title", "owner__username"]
    list_select_related = ["owner"]


@admin.register(AnswerShare)
class AnswerShareAdmin(ReadOnlyAdmin):
    list_display = ["id", "message", "created_at", "revoked_at"]
    list_select_related = ["message"]
