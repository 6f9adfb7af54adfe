"""Conversations, answers and citations in the admin."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest

from chat.models import Annotation, AnswerShare, Citation, Conversation, Message, Note
from chat.models.conversation import close
from documents.admin.base import (
    CommonValuesFilter,
    Overlay,
    PlacedAdmin,
    ReadOnlyAdmin,
    highlight_overlay,
    link_to_list,
)
from documents.models import Page


@admin.register(Conversation)
class ConversationAdmin(ReadOnlyAdmin):
    list_display = ["__str__", "owner", "scope", "message_count", "provider", "model", "updated_at"]
    list_filter = ["scope", ("provider", CommonValuesFilter), "updated_at"]
    search_fields = ["title", "owner__username", "id__exact"]
    list_select_related = ["owner"]
    ordering = ["-updated_at"]
    fields = (
        *("owner", "title", "scope", "documents", "collection", "provider", "model", "created_at"),
        *("updated_at", "deleted_at", "messages_link"),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Conversation]:
        """Count messages in a subquery, which runs for the displayed rows only."""
        own = Message.objects.filter(conversation=OuterRef("pk")).order_by().values("conversation")
        counted = Coalesce(Subquery(own.annotate(n=Count("pk")).values("n")), 0)
        return super().get_queryset(request).annotate(message_count=counted)

    @admin.display(description="messages")
    def message_count(self, conversation: Any) -> int:
        return int(conversation.message_count)

    @admin.display(description="messages")
    def messages_link(self, conversation: Conversation) -> str:
        return link_to_list(Message, "its messages", conversation__id__exact=conversation.pk)


@admin.register(Message)
class MessageAdmin(ReadOnlyAdmin):
    list_display = ["short", "role", "status", "provider", "model", "seconds", "tokens", "created_at"]
    list_filter = [
        "role",
        "status",
        ("provider", CommonValuesFilter),
        ("model", CommonValuesFilter),
        "created_at",
    ]
    search_fields = ["id"]
    id_paths = ("pk", "conversation")
    search_help_text = "id of the message or its conversation"
    ordering = ["-created_at"]
    fields = (
        *("conversation", "position", "role", "status", "content", "standalone_question", "provider"),
        *("model", "usage", "uncited", "error", "created_at", "citations_link"),
    )

    @admin.display(description="message")
    def short(self, message: Message) -> str:
        return str(message) or "(nothing)"

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
class CitationAdmin(PlacedAdmin):
    """Citations, drawn on their page as in the reader: passage pale, anchor strong."""

    list_display = [
        *("number", "short", "outcome_label", "durability", "feedback", "of_document", "page_number"),
        "created_at",
    ]
    list_display_links = ["short"]
    list_filter = ["verdict", "durability", ("feedback", CommonValuesFilter), "created_at"]
    search_fields = ["id"]
    id_paths, title_path = ("pk", "message", "document", "unit"), "document"
    search_help_text = "id of the citation, its answer, unit or document, or the document's title"
    ordering = ["-created_at"]
    fields = (
        *("number", "message", "document", "unit", "claim", "quote", "prefix", "suffix"),
        *("page_number", "section_path", "line_start", "line_end", "verdict", "reason", "missing"),
        *("durability", "feedback", "rects", "unit_rects", "head_rects", "document_sha256"),
        "created_at",
    )

    @admin.display(description="quote")
    def short(self, citation: Citation) -> str:
        return citation.quote[:80] or "(nothing found)"

    def overlays(self, row: Citation) -> list[Overlay]:
        pages = Page.objects.filter(document=row.document_id, number=row.page_number)
        return [highlight_overlay(page, row.unit_rects, row.rects, row.head_rects) for page in pages]


@admin.register(Note)
class NoteAdmin(ReadOnlyAdmin):
    list_display = ["__str__", "owner", "revision", "updated_at", "deleted_at"]
    search_fields = ["title", "owner__username"]
    list_select_related = ["owner"]


@admin.register(Annotation)
class AnnotationAdmin(PlacedAdmin):
    """Annotations, drawn on their page."""

    list_display = [
        *("short", "owner", "kind", "colour", "page_number", "durability", "updated_at", "deleted_at"),
    ]
    list_filter = ["kind", "colour", "durability", "created_at"]
    search_fields = ["id", "owner__username"]
    id_paths, title_path = ("pk", "document"), "document"
    search_help_text = "id of the annotation or its document, the owner, or the document's title"
    ordering = ["-updated_at"]
    list_select_related = ["owner"]

    @admin.display(description="quote")
    def short(self, annotation: Annotation) -> str:
        return str(annotation) or "(nothing)"


@admin.register(AnswerShare)
class AnswerShareAdmin(ReadOnlyAdmin):
    list_display = ["id", "message", "message__conversation__owner", "created_at", "expires_at", "revoked_at"]
    list_select_related = ["message__conversation__owner"]
    list_filter = ["created_at", "expires_at", "revoked_at"]
    search_fields = ["message__conversation__owner__username", "id__exact"]
    actions = ["end_links"]

    @admin.action(description="End the chosen links", permissions=["end"])
    def end_links(self, request: HttpRequest, links: QuerySet[AnswerShare]) -> None:
        ended = close(links)
        self.message_user(request, f"{ended} links ended.", messages.SUCCESS)

    def has_end_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("chat.change_answershare")
