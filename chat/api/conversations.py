"""`/api/conversations/…`, exports, and `/api/providers/…`."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.http import Http404, HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, extend_schema, extend_schema_serializer, extend_schema_view
from rest_framework import serializers
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from chat.answers.question_commands import start_conversation
from chat.models import Conversation, Message, Note
from chat.providers.catalogue import PROVIDERS
from chat.providers.registry import cards, check_health
from chat.views.exports import DEFAULT_STYLE, FILES, file_of
from documents.api.common.fields import PlainView, RowsViewSet, Strict, VisibleRelated, valid
from documents.api.pages import PngRenderer
from documents.models import Collection, Document
from documents.models.security import TokenScope
from documents.papers.bibliography import STYLES
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
        [("", "the server's default"), *((name, name) for name in PROVIDERS)], required=False
    )

    rag_config = RagConfigSerializer(required=False, help_text="search settings of its questions")

    class Meta:
        model = Conversation
        fields = [
            "id", "title", "scope", "documents", "collection", "provider", "model", "rag_config",
            "created_at", "updated_at",
        ]  # fmt: skip
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
    """The fields that can be changed; the documents of a conversation stay."""

    class Meta(ConversationSerializer.Meta):
        read_only_fields = [*ConversationSerializer.Meta.read_only_fields, "documents", "collection"]

    documents = serializers.PrimaryKeyRelatedField(many=True, read_only=True)
    collection = serializers.PrimaryKeyRelatedField(read_only=True, allow_null=True)


class ConversationViewSet(RowsViewSet):
    """Your conversations."""

    queryset = Conversation.objects.prefetch_related("documents")
    serializer_class = ConversationSerializer
    ordering_fields = ["created_at", "updated_at"]
    scope = "ask"

    def get_serializer_class(self) -> type[serializers.BaseSerializer]:
        return ConversationChangeSerializer if self.action == "partial_update" else ConversationSerializer


def file_renderer(form: str) -> type[BaseRenderer]:
    """Return a renderer that negotiates the media type of an export."""
    kind, _ = FILES[form]
    return type(f"{form}_renderer", (PngRenderer,), {"media_type": kind.partition(";")[0], "format": form})


class StyleSerializer(Strict, serializers.Serializer):
    """The style of the list of references."""

    style = serializers.ChoiceField(list(STYLES.items()), default=DEFAULT_STYLE, help_text="a CSL style")
    format = serializers.ChoiceField(list(FILES), required=False, help_text="instead of `Accept`")


class ExportFile(PlainView):
    """The text with its sources and a list of references: Markdown, HTML or Word."""

    renderer_classes = [file_renderer(form) for form in FILES]
    model: type[Conversation | Message | Note] = Conversation

    def get_queryset(self) -> models.QuerySet:
        visible = self.model.objects.visible_to(self.request.user)
        return visible.filter(role=Message.Role.ASSISTANT) if self.model is Message else visible

    def get(self, request: Request, **kwargs: Any) -> HttpResponse:
        options = valid(StyleSerializer(data=request.query_params.dict()))  # a dict: no empty style
        return file_of(request, self.get_object(), request.accepted_renderer.format, options["style"])


def export_of(model: type[Conversation | Message | Note], name: str) -> Any:
    """Return the export view of a model, documented in the schema."""
    schema = extend_schema(
        tags=[f"{name}s"],
        operation_id=f"{name}s_export",
        summary=f"A {name} as a file with a list of references",
        parameters=[StyleSerializer],
        responses={(200, FILES[form][0].partition(";")[0]): OpenApiTypes.BINARY for form in FILES},
    )
    view: Any = type(f"{name.title()}Export", (ExportFile,), {"model": model})
    return extend_schema_view(get=schema)(view).as_view()


class ProviderSerializer(serializers.Serializer):
    """A provider of answers. No key is ever shown."""

    name = serializers.CharField()
    label = serializers.CharField(source="listed.label")
    model = serializers.CharField()
    setting = serializers.CharField(source="listed.variable", help_text="the setting that enables it")
    configured = serializers.BooleanField(source="source")
    default = serializers.BooleanField(help_text="conversations use it unless they choose another")
    explanation = serializers.CharField(source="listed.explanation")


class HealthSerializer(serializers.Serializer):
    """The result of a test request to a provider."""

    working = serializers.BooleanField()
    message = serializers.CharField()
    milliseconds = serializers.FloatField()


class Providers(PlainView):
    serializer_class = ProviderSerializer

    @extend_schema(operation_id="providers_list", responses=ProviderSerializer(many=True))
    def get(self, request: Request) -> Response:
        """The providers that can write answers."""
        return Response(ProviderSerializer(cards(), many=True).data)


class ProviderHealth(PlainView):
    """Send a test request to the provider. It is rate-limited like a question."""

    serializer_class = HealthSerializer
    scope = TokenScope.ASK
    rate = "ask"

    @extend_schema(operation_id="providers_health", request=None, responses=HealthSerializer)
    def post(self, request: Request, name: str) -> Response:
        """Test a provider by a short request."""
        if name not in PROVIDERS:
            raise Http404
        return Response(HealthSerializer(check_health(name)).data)
