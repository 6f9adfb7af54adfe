"""`/v1/responses`: OpenAI's newer protocol over the same answers, with citations as annotations."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from functools import cache
from importlib import import_module
from typing import Any
from uuid import UUID

from asgiref.sync import sync_to_async
from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404
from pydantic import TypeAdapter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from agents.evidence import Agent, Refused, agent_of
from agents.openai_api import (
    LIBRARY,
    MOST_MESSAGES,
    AskedAnswer,
    OpenAIView,
    Turn,
    conversation_for,
    finished_answer,
    pieces,
    tokens_of,
    turns_of,
    written,
)
from chat.answers.message_presenters import shown_message
from chat.models import Conversation, Message
from chat.views.conversations import STILL_HERE, close_connection, event_stream
from documents.api.common.fields import valid
from documents.models import TokenScope

PREFIX = "resp_"
STATUS = {
    Message.Status.PENDING: "in_progress",
    Message.Status.STREAMING: "in_progress",
    Message.Status.COMPLETE: "completed",
    Message.Status.INCOMPLETE: "incomplete",
    Message.Status.FAILED: "failed",
}


@cache
def of_sdk(name: str) -> TypeAdapter[Any]:
    """Return a type of OpenAI's SDK; see ``agents.openai_api``."""
    return TypeAdapter(getattr(import_module("openai.types.responses"), name))


class ResponseSerializer(serializers.Serializer):
    """The fields of a request that are used; ``instructions`` and parameters of a model are ignored."""

    model = serializers.CharField(max_length=100)
    input = serializers.JSONField()
    previous_response_id = serializers.CharField(max_length=100, default=None, allow_null=True)
    stream = serializers.BooleanField(default=False, allow_null=True)

    def validate_input(self, sent: object) -> list[dict[str, Any]]:
        """Accept a question, or the messages of a chat."""
        if isinstance(sent, str):
            return [{"role": "user", "content": sent}]
        if isinstance(sent, list) and len(sent) <= MOST_MESSAGES and all(isinstance(m, dict) for m in sent):
            return sent
        raise serializers.ValidationError("This must be a string or a list of messages.")


class Responses(OpenAIView):
    """Answer the last question of the input."""

    scope = TokenScope.ASK
    rate = "ask"

    def post(self, request: Request) -> HttpResponseBase:
        sent = valid(ResponseSerializer(data=request.data))
        agent, model = agent_of(request, resources=False), sent["model"]
        turns = turns_of(sent["input"])
        before = sent["previous_response_id"]
        if before:
            conversation, talk = answer_of(agent, before).conversation, []
        else:
            conversation, talk = conversation_for(agent, model, turns), turns
        asked = AskedResponse(agent, model, talk, conversation, turns[-1][1], before)
        return event_stream(asked.events()) if sent["stream"] else Response(asked.whole())


class ResponseDetail(OpenAIView):
    """A stored answer."""

    scope = TokenScope.READ

    def get(self, request: Request, response_id: str) -> Response:
        agent = agent_of(request, resources=False)
        message = answer_of(agent, response_id)
        text, notes = written(shown_message(message), agent.addresses.base)
        return Response(response_object(message, model_of(message.conversation), None, text, notes))


def answer_of(agent: Agent, response_id: str) -> Message:
    """Return the user's answer with this id. Raises Http404, Refused."""
    try:
        key = UUID(response_id.removeprefix(PREFIX))
    except ValueError:
        raise Refused("There is no such response.") from None
    visible = Conversation.objects.visible_to(agent.user)
    answers = Message.objects.filter(role=Message.Role.ASSISTANT, conversation__in=visible)
    return get_object_or_404(answers.select_related("conversation"), pk=key)


def model_of(conversation: Conversation) -> str:
    """Return the model whose scope is that of the conversation; the library for several documents."""
    if conversation.collection_id:
        return f"collection:{conversation.collection_id}"
    documents = list(conversation.documents.values_list("pk", flat=True)[:2])
    return f"document:{documents[0]}" if len(documents) == 1 else LIBRARY


def response_object(
    message: Message, model: str, before: str | None, text: str, notes: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """Return a ``response``: one message with one text, and its error, if any."""
    read, wrote = tokens_of(message)
    item = message_item(message.pk, text, notes, "incomplete" if message.is_unfinished else "completed")
    status = STATUS[Message.Status(message.status)]
    body = {
        "id": f"{PREFIX}{message.pk.hex}",
        "object": "response",
        "created_at": int(message.created_at.timestamp()),
        "status": status,
        "model": model,
        "output": [item] if text else [],
        "error": {"code": "server_error", "message": message.error} if status == "failed" else None,
        "previous_response_id": before,
        "parallel_tool_calls": False,
        "tool_choice": "none",
        "tools": [],
        "usage": {
            "input_tokens": read,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": wrote,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": read + wrote,
        },
    }
    return dict(of_sdk("Response").validate_python(body).model_dump(exclude_unset=True))


def message_item(answer: UUID, text: str, notes: Sequence[dict[str, Any]], status: str) -> dict[str, Any]:
    content = [text_part(text, notes)] if text else []
    return {
        "type": "message",
        "id": f"msg_{answer.hex}",
        "role": "assistant",
        "status": status,
        "content": content,
    }


def text_part(text: str, notes: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [flat(note) for note in notes]}


def flat(note: dict[str, Any]) -> dict[str, Any]:
    """Return the annotation in this protocol's flat form."""
    return {"type": note["type"], **note["url_citation"], "pincite": note["pincite"]}


class AskedResponse(AskedAnswer):
    """The answer as a ``response``, whole or as events."""

    def __init__(
        self,
        agent: Agent,
        model: str,
        turns: Sequence[Turn],
        conversation: Conversation,
        question: str,
        before: str | None,
    ) -> None:
        super().__init__(agent, model, turns, conversation)
        self.before, self.answer = before, self.ask(question)
        self._sequence = 0

    def whole(self) -> dict[str, Any]:
        """Return the ``response``. Raises Refused for a failed answer."""
        message, text, notes = finished_answer(self.answer, self.base)
        self.remember(text)
        return response_object(message, self.model, self.before, text, notes)

    async def events(self) -> AsyncIterator[str]:
        """Yield the events that OpenAI's server sends for one message with one text."""
        begun = await sync_to_async(self._object)("", [])
        item = {"item_id": f"msg_{self.answer.hex}", "output_index": 0}
        part = {**item, "content_index": 0}
        yield self._event("response.created", response=begun)
        yield self._event("response.in_progress", response=begun)
        yield self._event(
            "response.output_item.added",
            output_index=0,
            item=message_item(self.answer, "", [], "in_progress"),
        )
        yield self._event("response.content_part.added", **part, part=text_part("", []))
        said: list[str] = []
        notes: list[dict[str, Any]] = []
        async for text, note in pieces(self.answer, self.base):
            if not text:
                yield STILL_HERE
                continue
            said.append(text)
            yield self._event("response.output_text.delta", **part, delta=text, logprobs=[])
            if note:
                yield self._event(
                    "response.output_text.annotation.added",
                    **part,
                    annotation=flat(note),
                    annotation_index=len(notes),
                )
                notes.append(note)
        text = "".join(said)
        yield self._event("response.output_text.done", **part, text=text, logprobs=[])
        yield self._event("response.content_part.done", **part, part=text_part(text, notes))
        yield self._event(
            "response.output_item.done",
            output_index=0,
            item=message_item(self.answer, text, notes, "completed"),
        )
        ended = await sync_to_async(self._object)(text, notes)
        yield self._event(f"response.{ended['status']}", response=ended)

    def _object(self, text: str, notes: list[dict[str, Any]]) -> dict[str, Any]:
        if text:
            self.remember(text)
        message = Message.objects.get(pk=self.answer)
        body = response_object(message, self.model, self.before, text, notes)
        close_connection()
        return body

    def _event(self, kind: str, **more: Any) -> str:
        event = of_sdk("ResponseStreamEvent").validate_python(
            {"type": kind, "sequence_number": self._sequence, **more}
        )
        self._sequence += 1
        return f"event: {kind}\ndata: {event.model_dump_json(exclude_unset=True)}\n\n"
