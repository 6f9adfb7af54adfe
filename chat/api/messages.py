"""`/api/conversations/{id}/messages/`, `/api/messages/…`: questions, and answers as JSON or as a stream."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import models
from django.http import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import generics, serializers, status
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from chat.answers import question_commands
from chat.answers.context import scope_of
from chat.answers.message_presenters import ShownMessage, shown_message, shown_messages
from chat.answers.persistence import notice_dead, release_dead_answers
from chat.answers.question_commands import InvalidOperation
from chat.answers.runner import cancel_live, live_answer, start_next
from chat.answers.whole_documents import reading_plan
from chat.answers.without_model.answer import NAME as EXTRACTIVE
from chat.answers.write_answer import give_back_connection
from chat.api.citations import CitationSerializer
from chat.exports.markdown import numbered
from chat.models import Conversation, Message
from chat.providers.registry import provider_named
from chat.views.conversations import answer_events, event_stream, last_event
from documents.api.common.errors import ErrorSerializer, StateConflict, Unusable, answer_in_json
from documents.api.common.fields import Strict, TwoNumbers, VisibleRows, valid
from documents.api.common.idempotency import IDEMPOTENCY_KEY, once
from documents.api.pages import Negotiated
from documents.models import Page
from retrieval.api import RagConfigSerializer
from retrieval.provider_calls import ProviderError

LOOK_SECONDS = 0.1  # polling interval for an answer that another process writes
LOOK_AGAIN_SECONDS = 5.0
STATUSES = Message.Status.choices
EVENTS = OpenApiResponse(
    OpenApiTypes.ANY,
    "Server-sent events, see `chat/answers/events.py`: `status`, `sources`, `text`, `citation`, `verdict`, "
    "`error`, and at last `done` with the whole answer. Resume with `Last-Event-ID`.",
)
LAST_EVENT_ID = OpenApiParameter(
    "Last-Event-ID",
    {"type": "string", "pattern": r"^\d{1,9}$"},
    OpenApiParameter.HEADER,
    description="The last event you received: the stream resumes after it.",
)


class EventStreamRenderer(Negotiated):
    media_type, format = "text/event-stream", "events"


class MessageList(serializers.ListSerializer):
    """Render all messages, and fetch the page frames of their citations, in a few queries."""

    def to_representation(self, data: Any) -> list[Any]:
        messages = list(data)
        notice_dead(messages)
        child: Any = self.child
        child.shown = {shown.message.pk: shown for shown in shown_messages(messages)}
        cited = (citation for message in messages for citation in message.citations.all())
        self.context["frames"] = Page.objects.frames((row.document_id, row.page_number) for row in cited)
        return super().to_representation(messages)


class MessageSerializer(serializers.ModelSerializer):
    """A question or an answer. ``content`` holds ``[[cite:<unit>:<page>]]`` markers."""

    citations = CitationSerializer(many=True)
    text = serializers.SerializerMethodField(help_text="Markdown with [1] for each citation")
    html = serializers.SerializerMethodField(help_text="safe HTML, citations as links")
    changes = serializers.SerializerMethodField(
        help_text="citations that changed when documents were processed again; '' if none"
    )
    uncited = serializers.ListField(
        child=TwoNumbers(),
        help_text="[start, end) of claims in the content that cite nothing",
    )
    usage = serializers.DictField(help_text="input_tokens, output_tokens, seconds, as far as known")
    shown: dict[UUID, ShownMessage] = {}

    class Meta:
        model = Message
        list_serializer_class = MessageList
        fields = [
            "id", "conversation", "position", "role", "status", "content", "text", "html", "citations",
            "changes", "uncited", "pages_left", "provider", "model", "usage", "rag_config", "error",
            "standalone_question", "created_at",
        ]  # fmt: skip

    def to_representation(self, instance: Message) -> Any:
        notice_dead([instance])
        return super().to_representation(instance)

    def get_text(self, message: Message) -> str:
        return numbered(message.content, self._shown(message).citations)

    def get_html(self, message: Message) -> str:
        return self._shown(message).html

    def get_changes(self, message: Message) -> str:
        return self._shown(message).summary.changes

    def _shown(self, message: Message) -> ShownMessage:
        if message.pk not in self.shown:
            self.shown = {message.pk: shown_message(message)}
        return self.shown[message.pk]


class QuestionSerializer(Strict, serializers.Serializer):
    """A question. By default the response contains the finished answer."""

    question = serializers.CharField(max_length=question_commands.LONGEST_QUESTION)
    wait = serializers.BooleanField(
        default=True, help_text="false: respond at once with a pending answer, whose stream can be read"
    )
    rag_config = RagConfigSerializer(
        required=False, help_text="search settings of this question; they override the conversation's"
    )


class BudgetSerializer(serializers.Serializer):
    """Prompts and tokens of a question on whole documents; ``parts`` is 0 if search suffices."""

    parts = serializers.IntegerField(help_text="prompts that take notes, before the prompt for the answer")
    tokens = serializers.IntegerField(help_text="estimated tokens of all prompts together")
    limit = serializers.IntegerField(help_text="PINCITE_DOCUMENT_TOKENS")
    left_out = serializers.IntegerField(help_text="passages beyond the limit")


class AskedSerializer(serializers.Serializer):
    """The question and its answer, both stored."""

    question = MessageSerializer()
    answer = MessageSerializer()


class Messages(VisibleRows):
    """Mixin of views on messages of the caller's conversations."""

    scope = "ask"
    queryset = Message.objects.prefetch_related("citations")


class OfConversation(Messages):
    """Mixin of views below one of the caller's conversations."""

    kwargs: Mapping[str, Any]

    def conversation(self) -> Conversation:
        visible = Conversation.objects.visible_to(self.request.user)
        return generics.get_object_or_404(visible, pk=self.kwargs["conversation_id"])


class ReadingBudget(OfConversation, generics.GenericAPIView):
    serializer_class = BudgetSerializer
    filter_backends: list[Any] = []

    @extend_schema(
        tags=["messages"],
        operation_id="conversations_budget",
        summary="Estimate the prompts of a question on whole documents, without asking it",
        parameters=[OpenApiParameter("question", {"type": "string", "minLength": 1}, required=True)],
        responses=BudgetSerializer,
    )
    def get(self, request: Request, **kwargs: Any) -> Response:
        conversation = self.conversation()
        asked = valid(QuestionSerializer(data={"question": request.query_params.get("question", "")}))
        plan = None
        with suppress(ProviderError):
            provider = provider_named(conversation.provider, conversation.model)
            if provider.name != EXTRACTIVE:
                scope = scope_of(conversation, conversation.owner)
                plan = reading_plan(asked["question"], scope, provider)
        read = {"parts": len(plan.parts), "tokens": plan.tokens, "left_out": plan.left_out} if plan else {}
        nothing = {"parts": 0, "tokens": 0, "left_out": 0, "limit": settings.CHAT_DOCUMENT_TOKENS}
        return Response(BudgetSerializer(nothing | read).data)


@extend_schema(tags=["messages"])
class MessagesOfConversation(OfConversation, generics.ListAPIView):
    """The messages of a conversation, oldest first; POST asks a question."""

    serializer_class = MessageSerializer
    filter_backends: list[Any] = []
    page_ordering = ["position"]
    rate = "ask"

    def get_queryset(self) -> models.QuerySet:
        if getattr(self, "swagger_fake_view", False):
            return Message.objects.none()
        return super().get_queryset().filter(conversation=self.conversation().pk)

    def get_renderers(self) -> list[BaseRenderer]:
        asks = self.request is not None and self.request.method == "POST"
        return [JSONRenderer(), EventStreamRenderer()] if asks else [JSONRenderer()]

    @extend_schema(
        summary="Ask a question",
        request=QuestionSerializer,
        parameters=[IDEMPOTENCY_KEY],
        examples=[OpenApiExample("A question", {"question": "What was revenue in 2018?"}, request_only=True)],
        responses={
            (201, "application/json"): AskedSerializer,
            (201, "text/event-stream"): EVENTS,
            409: OpenApiResponse(ErrorSerializer, "A request with this Idempotency-Key is in progress."),
            422: OpenApiResponse(
                ErrorSerializer, "The question is empty, or the Idempotency-Key was used for another request."
            ),
        },
    )
    def post(self, request: Request, **kwargs: Any) -> HttpResponseBase:
        conversation = self.conversation()
        sent = valid(QuestionSerializer(data=request.data, context=self.get_serializer_context()))
        stored = once(request, lambda: _stored(conversation, **sent))
        if stored.status_code != status.HTTP_201_CREATED:  # a replayed error
            answer_in_json(request)
            return stored
        question, answer = UUID(stored.data["question"]), UUID(stored.data["answer"])
        start_next(conversation.pk)
        if isinstance(request.accepted_renderer, EventStreamRenderer):
            stream = event_stream(answer_events(answer))
            stream.status_code = status.HTTP_201_CREATED
            return stream
        if sent["wait"]:
            wait_for(answer)
        found = super().get_queryset().in_bulk([question, answer])
        shown = self.get_serializer([found[question], found[answer]], many=True).data
        body = dict(zip(AskedSerializer().fields, shown, strict=True))
        return Response(body, status=status.HTTP_201_CREATED, headers=dict(stored.headers))


def _stored(
    conversation: Conversation, question: str, rag_config: Mapping[str, Any] | None = None, **how: Any
) -> Response:
    try:
        asked = question_commands.ask(conversation, question, rag_config or {})
    except InvalidOperation as reason:
        raise Unusable(str(reason), question=str(reason)) from None
    ids = {"question": str(asked.question.pk), "answer": str(asked.answer.pk)}
    return Response(ids, status=status.HTTP_201_CREATED)


def wait_for(answer: UUID) -> None:
    """Wait until the answer has ended, at most ``ASK_SECONDS``, without holding a connection."""
    give_up_at = time.monotonic() + settings.ASK_SECONDS
    while (left := give_up_at - time.monotonic()) > 0:
        give_back_connection()
        if live := live_answer(answer):
            live.wait(min(left, LOOK_AGAIN_SECONDS))
        else:
            time.sleep(LOOK_SECONDS)
        if live_answer(answer) is None and has_ended(answer):
            return


def has_ended(answer: UUID) -> bool:
    release_dead_answers(Message.objects.filter(pk=answer))
    return not Message.objects.filter(pk=answer).unfinished().exists()


class MessageDetail(Messages, generics.RetrieveAPIView):
    """One question or answer."""

    serializer_class = MessageSerializer


class AnswerView(Messages, generics.GenericAPIView):
    """Base of views that act on an answer."""

    serializer_class = MessageSerializer
    filter_backends: list[Any] = []

    def get_queryset(self) -> models.QuerySet:
        return super().get_queryset().filter(role=Message.Role.ASSISTANT)

    def change(self, verb: Callable[[Message], None]) -> Response:
        answer = self.get_object()
        try:
            verb(answer)
        except InvalidOperation as reason:
            raise StateConflict(str(reason)) from None
        start_next(answer.conversation_id)
        changed = self.get_queryset().get(pk=answer.pk)
        return Response(self.get_serializer(changed).data, status=status.HTTP_202_ACCEPTED)


NOT_NOW = OpenApiResponse(ErrorSerializer, "The state of the answer does not allow this.")
CHANGED: Any = {202: MessageSerializer, 409: NOT_NOW}


class AnswerStream(AnswerView):
    renderer_classes = [EventStreamRenderer, JSONRenderer]

    @extend_schema(
        operation_id="messages_stream",
        summary="Stream an answer as server-sent events, from its beginning or after an event",
        parameters=[LAST_EVENT_ID],
        responses={(200, "text/event-stream"): EVENTS},
    )
    def get(self, request: Request, **kwargs: Any) -> HttpResponseBase:
        return event_stream(answer_events(self.get_object().pk, last_event(request._request)))


class AnswerCancel(AnswerView):
    @extend_schema(summary="Stop an answer; its text so far is kept", request=None, responses=CHANGED)
    def post(self, request: Request, **kwargs: Any) -> Response:
        cancelled = self.change(question_commands.cancel)
        cancel_live(self.kwargs["pk"])
        return cancelled


class AnswerRetry(AnswerView):
    rate = "ask"

    @extend_schema(summary="Write an answer again", request=None, responses=CHANGED)
    def post(self, request: Request, **kwargs: Any) -> Response:
        return self.change(question_commands.retry)


class AnswerContinue(AnswerView):
    rate = "ask"

    @extend_schema(summary="Continue a stopped answer", request=None, responses=CHANGED)
    def post(self, request: Request, **kwargs: Any) -> Response:
        return self.change(question_commands.continue_answer)
