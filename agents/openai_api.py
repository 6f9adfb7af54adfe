"""`/v1/models`, `/v1/chat/completions`: OpenAI's protocol, for chat front ends and its own SDK."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Sequence
from typing import Any, cast
from uuid import UUID

from asgiref.sync import sync_to_async
from django.http import HttpResponseBase, StreamingHttpResponse
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from agents.evidence import Agent, Refused
from agents.mcp_http import agent_of
from agents.openai_chat import (
    Turn,
    annotation,
    conversation_for,
    link_of,
    models_of,
    remember,
    sources,
    turns_of,
    usage_of,
    written,
)
from chat.answers import question_commands
from chat.answers.event_stream import follow
from chat.answers.events import Cited, Text, decode
from chat.answers.presenters import shown_message
from chat.answers.question_commands import InvalidOperation
from chat.answers.runner import start_next
from chat.api.messages import wait_for
from chat.models import Conversation, Message
from chat.views.questions import close_connection
from documents.api.common.errors import Unusable, error_response
from documents.models import Scope

MOST_MESSAGES = 1000
FINISHED = {Message.Status.COMPLETE: "stop", Message.Status.INCOMPLETE: "length"}


class OpenAIView(APIView):
    """Errors in the shape that OpenAI's clients read."""

    schema = None

    def get_exception_handler(self) -> Any:
        return openai_error


def openai_error(error: Exception, context: dict[str, Any]) -> Response | None:
    if isinstance(error, Refused):
        error = Unusable(str(error))
    response = error_response(error, context)
    if response is not None:
        body = cast(dict[str, Any], response.data)
        kind = "invalid_request_error" if response.status_code < 500 else "server_error"
        told = "; ".join(f"{name}: {' '.join(why)}" for name, why in body.get("fields", {}).items())
        message = f"{body['message']} {told}".strip()
        response.data = {"error": {"message": message, "type": kind, "code": body["code"], "param": None}}
    return response


class Models(OpenAIView):
    """The library, collections and documents, as models."""

    scope = Scope.READ

    def get(self, request: Request) -> Response:
        models = models_of(agent_of(request).user)
        return Response({"object": "list", "data": [model.model_dump() for model in models]})


class CompletionSerializer(serializers.Serializer):
    """What is read of a request; what only tunes a model is ignored, as other servers do."""

    model = serializers.CharField(max_length=100)
    messages = serializers.ListField(child=serializers.DictField(), min_length=1, max_length=MOST_MESSAGES)
    stream = serializers.BooleanField(default=False)
    n = serializers.IntegerField(default=1, min_value=1, max_value=1, allow_null=True)


class ChatCompletions(OpenAIView):
    """Answers the talk's last question."""

    scope = Scope.ASK
    rate = "ask"

    def post(self, request: Request) -> HttpResponseBase:
        sent = CompletionSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        agent, model = agent_of(request, resources=False), sent.validated_data["model"]
        turns = turns_of(sent.validated_data["messages"])
        conversation = conversation_for(agent, model, turns)
        try:
            answer = question_commands.ask(conversation, turns[-1][1]).answer
        except InvalidOperation as reason:
            raise Refused(str(reason)) from None
        start_next(conversation.pk)
        written_answer = Completion(agent, model, turns, conversation, answer.pk)
        if sent.validated_data["stream"]:
            return written_answer.streamed()
        wait_for(answer.pk)
        return Response(written_answer.whole())


class Completion:
    """One answer in OpenAI's shapes."""

    def __init__(
        self, agent: Agent, model: str, turns: Sequence[Turn], conversation: Conversation, answer: UUID
    ) -> None:
        self.base = agent.addresses.base
        self.model, self.turns, self.conversation, self.answer = model, turns, conversation, answer
        self.created = int(time.time())

    def whole(self) -> dict[str, Any]:
        """A ``chat.completion``. Raises Refused where nothing could be written."""
        message = Message.objects.get(pk=self.answer)
        if message.status == Message.Status.FAILED:
            raise Refused(message.error)
        text, annotations = written(shown_message(message), self.base)
        remember(self.conversation, self.model, self.turns, text)
        said = {"role": "assistant", "content": text, "refusal": None, "annotations": annotations}
        choice = {"index": 0, "message": said, "finish_reason": finish_reason(message), "logprobs": None}
        body = self._head("chat.completion") | {"choices": [choice], "usage": usage_of(message)}
        return ChatCompletion.model_validate(body).model_dump(exclude_none=True)

    def streamed(self) -> StreamingHttpResponse:
        """``chat.completion.chunk`` events, then ``[DONE]``."""
        response = StreamingHttpResponse(self._events(), content_type="text/event-stream")
        response["Cache-Control"] = "private, no-store, no-transform"
        response["X-Accel-Buffering"] = "no"
        return response

    async def _events(self) -> AsyncIterator[str]:
        await sync_to_async(close_connection)()
        yield self._chunk({"role": "assistant", "content": ""})
        said: list[str] = []
        async for event in follow(self.answer, 0):
            if event is None:
                yield ": still here\n\n"
                continue
            match decode(event.kind, event.data):
                case Text(text=text) if text:
                    said.append(text)
                    yield self._chunk({"content": text})
                case Cited(citation=citation):
                    link = link_of(citation, self.base)
                    start = len("".join(said))
                    said.append(link)
                    note = annotation(citation, self.base, start, start + len(link))
                    yield self._chunk({"content": link, "annotations": [note]})
        ending, last = await sync_to_async(self._end)("".join(said))
        if ending:
            yield self._chunk({"content": ending})
        yield self._chunk({}, last)
        yield "data: [DONE]\n\n"

    def _end(self, said: str) -> tuple[str, str]:
        """What is still to be told, and why it ends."""
        message = Message.objects.get(pk=self.answer)
        ending = sources(shown_message(message), self.base)
        if message.error:
            ending += f"\n\n{message.error}"
        remember(self.conversation, self.model, self.turns, said + ending)
        close_connection()
        return ending, finish_reason(message)

    def _chunk(self, delta: dict[str, Any], finish: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        body = self._head("chat.completion.chunk") | {"choices": [choice]}
        return f"data: {ChatCompletionChunk.model_validate(body).model_dump_json(exclude_none=True)}\n\n"

    def _head(self, kind: str) -> dict[str, Any]:
        key = f"chatcmpl-{self.answer.hex}"
        return {"id": key, "object": kind, "created": self.created, "model": self.model}


def finish_reason(message: Message) -> str:
    return FINISHED.get(Message.Status(message.status), "stop")
