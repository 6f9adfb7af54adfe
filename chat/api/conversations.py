"""`/api/conversations/…`: what is asked together, over which documents."""

from __future__ import annotations

from typing import Any

from django.db import models
from drf_spectacular.utils import OpenApiExample, extend_schema, extend_schema_serializer
from rest_framework import serializers, viewsets

from chat.answers.question_commands import start_conversation
from chat.models import Conversation
from chat.providers.registry import provider_names
from documents.api.common.fields import Strict, VisibleRelated
from documents.models import Collection, Document
from retrieval.api import RagConfigSerializer


@extend_schema_serializer(
    examples=[
        OpenApiExample(
            "Over one document", {"documents": ["7b0e6a3e-5f0f-4c6a-9f6e-0d4f5b1c2a3d"]}, request_only=True
        ),
        OpenApiExample("Over the whole library", {}, request_only=True),
    ]
)
class ConversationSerializer(Strict, serializers.ModelSerializer):
    """Questions over documents, over a collection, or (with neither) over the whole library."""

    documents = VisibleRelated(many=True, required=False, queryset=Document.objects.all())
    collection = VisibleRelated(required=False, allow_null=True, queryset=Collection.objects.all())
    provider = serializers.ChoiceField(
        [("", "the server's default"), *((name, name) for name in provider_names())], required=False
    )

    rag_config = RagConfigSerializer(required=False, help_text="how its questions are searched")

    class Meta:
        model = Conversation
        fields = [
            "id",
            "title",
            "scope",
            "documents",
            "collection",
            "provider",
            "model",
            "rag_config",
            "created_at",
            "updated_at",
        ]
        read_only_fields = ["id", "scope", "created_at", "updated_at"]

    def create(self, values: dict[str, Any]) -> Conversation:
        title = values.pop("title", "")
        conversation = start_conversation(self.context["request"].user, **values)
        if title:
            conversation.title = title
            conversation.save(update_fields=["title"])
        return conversation


@extend_schema_serializer(examples=[OpenApiExample("A title", {"title": "Anvils"}, request_only=True)])
class ConversationChangeSerializer(ConversationSerializer):
    """What can be changed later; what a conversation is over stays."""

    class Meta(ConversationSerializer.Meta):
        read_only_fields = [*ConversationSerializer.Meta.read_only_fields, "documents", "collection"]

    documents = serializers.PrimaryKeyRelatedField(many=True, read_only=True)
    collection = serializers.PrimaryKeyRelatedField(read_only=True, allow_null=True)


@extend_schema(tags=["conversations"])
class ConversationViewSet(viewsets.ModelViewSet):
    """Your conversations."""

    http_method_names = ["get", "post", "patch", "delete", "head", "options"]
    serializer_class = ConversationSerializer
    ordering_fields = ["created_at", "updated_at"]
    scope = "ask"

    def get_queryset(self) -> models.QuerySet:
        return Conversation.objects.visible_to(self.request.user).prefetch_related("documents")

    def get_serializer_class(self) -> type[serializers.BaseSerializer]:
        return ConversationChangeSerializer if self.action == "partial_update" else ConversationSerializer

    def perform_destroy(self, conversation: Conversation) -> None:
        conversation.hide()
