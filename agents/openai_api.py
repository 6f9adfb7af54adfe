"""`/v1/models`, `/v1/chat/completions`: OpenAI's protocol, for chat front ends and OpenAI's SDK."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.http import HttpResponseBase
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from agents.evidence import Agent, Refused, agent_of
from agents.models import ChatThread
from chat.answers import question_commands
from chat.answers.event_stream import follow
from chat.answers.events import CitationShown, CitedEvent, TextEvent, decode
from chat.answers.message_presenters import ShownMessage, shown_message
from chat.answers.question_commands import InvalidOperation, start_conversation
from chat.answers.runner import start_next
from chat.api.messages import wait_for
from chat.models import Conversation, Message
from chat.views.conversations import STILL_HERE, close_connection, event_stream
from citing.claims import CONTRADICTED, VERIFIED
from citing.marker_decoder import stored_marks
from documents.api.common.errors import Unusable, error_response
from documents.api.common.fields import valid
from documents.models import Collection, Document, TokenScope

if TYPE_CHECKING:
    from openai.types import Model

# The name of a model is a scope: ``library``, ``collection:<id>`` or ``document:<id>``. Citations are
# Markdown links in the text, ``annotations`` on the message, and a list of sources at its end.
#
# OpenAI's types take half a second to import: only the web server imports them at its start.

LIBRARY = "library"
MOST_MODELS = 500
Turn = tuple[str, str]
"""A role and its words."""


def models_of(user: User) -> list[Model]:
    """Return the library, then collections, then documents, each newest first, as models."""
    from openai.types import Model

    named = [(LIBRARY, "Whole library", 0)]
    collections = Collection.objects.visible_to(user).values_list("pk", "name", "created_at")
    documents = Document.objects.visible_to(user).searchable().values_list("pk", "title", "created_at")
    for kind, rows in (("collection", collections), ("document", documents)):
        latest = rows.order_by("-created_at")[:MOST_MODELS]
        named += [(f"{kind}:{pk}", name, int(at.timestamp())) for pk, name, at in latest]
    return [
        Model.model_validate(
            {"id": key, "object": "model", "created": at, "owned_by": "pincite", "name": name}
        )
        for key, name, at in named
    ]


def turns_of(messages: Sequence[dict[str, Any]]) -> list[Turn]:
    """Return the questions and answers of a chat, without instructions to a model. Raises Refused."""
    turns = [
        (str(message.get("role")), _words(message.get("content")))
        for message in messages
        if message.get("role") in ("user", "assistant")
    ]
    if not turns or turns[-1][0] != "user":
        raise Refused("The last message must be a question of the user.")
    if turns[-1][1].startswith(TASKS):
        raise Refused(NO_TASKS)
    return turns


def _words(content: object) -> str:
    """Return the text of a message: a string, or its text parts."""
    if isinstance(content, list):
        parts = (part.get("text", "") for part in content if isinstance(part, dict))
        return "\n".join(part for part in parts if isinstance(part, str)).strip()
    return content.strip() if isinstance(content, str) else ""


def conversation_for(agent: Agent, model: str, turns: Sequence[Turn]) -> Conversation:
    """Return the conversation of this chat, or a new one. Raises Refused."""
    before = turns[:-1]
    if before:
        known = ChatThread.objects.filter(owner=agent.user, digest=digest_of(model, before))
        if thread := known.select_related("conversation").order_by("-updated_at").first():
            return thread.conversation
    kind, _, key = model.partition(":")
    documents: list[Document] = []
    collection: Collection | None = None
    if kind == "document":
        documents = list(Document.objects.visible_to(agent.user).filter(pk=_key(model, key)))
    elif kind == "collection":
        collection = Collection.objects.visible_to(agent.user).filter(pk=_key(model, key)).first()
    if kind != LIBRARY and not documents and collection is None:
        raise _unknown(model)
    return start_conversation(agent.user, documents, collection)


def _key(model: str, key: str) -> UUID:
    try:
        return UUID(key)
    except ValueError:
        raise _unknown(model) from None


def _unknown(model: str) -> Refused:
    return Refused(f"There is no model “{model[:60]}”, or you cannot access it. /v1/models names them.")


def remember(conversation: Conversation, model: str, turns: Sequence[Turn], answer: str) -> None:
    """Store the digest of the chat, by which its next question finds the conversation."""
    digest = digest_of(model, [*turns, ("assistant", answer)])
    ChatThread.objects.update_or_create(
        conversation=conversation, defaults={"owner_id": conversation.owner_id, "digest": digest}
    )


def digest_of(model: str, turns: Iterable[Turn]) -> str:
    written = json.dumps([model, *([role, words.strip()] for role, words in turns)], ensure_ascii=False)
    return hashlib.sha256(written.encode()).hexdigest()


def link_of(citation: CitationShown, base: str) -> str:
    """Return ``[[1]](address)``, a Markdown link shown as [1]."""
    return f"[[{citation.number}]]({base}{citation.href})"


def written(shown: ShownMessage, base: str) -> tuple[str, list[dict[str, Any]]]:
    """Return the answer's text with links and sources, and its annotations."""
    annotations: list[dict[str, Any]] = []
    pieces: list[str] = []
    length = at = 0
    content = shown.message.content
    for number, mark in enumerate(stored_marks(content)):
        pieces.append(content[at : mark.start])
        length += mark.start - at
        at = mark.end
        if number < len(shown.citations):
            citation = shown.citations[number]
            link = link_of(citation, base)
            annotations.append(annotation(citation, base, length, length + len(link)))
            pieces.append(link)
            length += len(link)
    pieces += [content[at:], sources(shown, base)]
    return "".join(pieces), annotations


def annotation(citation: CitationShown, base: str, start: int, end: int) -> dict[str, Any]:
    """Return OpenAI's ``url_citation``, with Pincite's place and verdict beside it."""
    return {
        "type": "url_citation",
        "url_citation": {
            "start_index": start,
            "end_index": end,
            "title": f"{citation.title}, {citation.place}",
            "url": f"{base}{citation.href}",
        },
        "pincite": {
            "document": citation.document,
            "page": citation.page,
            "page_label": citation.page_label,
            "lines": list(citation.lines),
            "lines_on_page": list(citation.lines_on_page),
            "rects": [list(box) for box in citation.rects],
            "claim": citation.claim,
            "quote": citation.quote,
            "outcome": citation.outcome,
            "difference": list(citation.difference),
            "verdict": citation.verdict,
            "verified": citation.verdict in VERIFIED,
            "reason": citation.reason,
        },
    }


def sources(shown: ShownMessage, base: str) -> str:
    """Return the end of an answer: its sources with their verdicts, and a summary of its claims."""
    if not shown.citations:
        return ""
    by_number = {citation.number: citation for citation in reversed(shown.citations)}
    lines = [f"- {source(by_number[number], base)}" for number in sorted(by_number)]
    ending = f"\n\n{shown.summary.text}." if shown.summary.text else ""
    return "\n\n**Sources**\n\n" + "\n".join(lines) + ending


def source(citation: CitationShown, base: str) -> str:
    """Return ``[[1]](…) Title, p. 5: “quote” (verified)``, with the reason of a difference."""
    quote = " ".join(citation.quote.split())
    quoted = f": “{quote}”" if quote else ""
    standing = f" ({citation.standing})" if citation.standing else ""
    against = f" {citation.reason}" if citation.verdict in CONTRADICTED and citation.reason else ""
    return f"{link_of(citation, base)} {citation.title}, {citation.place}{quoted}{standing}{against}"


def tokens_of(message: Message) -> tuple[int, int]:
    """Return tokens read and written, as reported by the provider; 0 for an answer without a model."""
    return int(message.usage.get("input_tokens", 0)), int(message.usage.get("output_tokens", 0))


MOST_MESSAGES = 1000
FINISHED = {Message.Status.COMPLETE: "stop", Message.Status.INCOMPLETE: "length"}
# How Open WebUI begins its own requests (titles, tags, follow-up questions, its own retrieval), and LibreChat
# its requests for a title.
TASKS = (
    "### Task:",
    "Provide a concise, 5-word-or-less title for the conversation",
    "Analyze this conversation and provide:",
)
NO_TASKS = (
    "Pincite answers questions from its own documents only. Name another model for titles and tags, and add "
    "files to Pincite, not to the chat."
)


class OpenAIView(APIView):
    """A view with errors in OpenAI's format."""

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
        fields = "; ".join(f"{name}: {' '.join(why)}" for name, why in body.get("fields", {}).items())
        message = f"{body['message']} {fields}".strip()
        response.data = {"error": {"message": message, "type": kind, "code": body["code"], "param": None}}
    return response


class Models(OpenAIView):
    """The library, collections and documents, as models."""

    scope = TokenScope.READ

    def get(self, request: Request) -> Response:
        models = models_of(agent_of(request).user)
        return Response({"object": "list", "data": [model.model_dump() for model in models]})


class CompletionSerializer(serializers.Serializer):
    """The fields of a request that are used; parameters of a model are ignored, as by other servers."""

    model = serializers.CharField(max_length=100)
    messages = serializers.ListField(child=serializers.DictField(), min_length=1, max_length=MOST_MESSAGES)
    stream = serializers.BooleanField(default=False, allow_null=True)
    stream_options = serializers.DictField(default=dict, allow_null=True)
    n = serializers.IntegerField(default=1, min_value=1, max_value=1, allow_null=True)


class ChatCompletionsView(OpenAIView):
    """Answer the last question of a chat."""

    scope = TokenScope.ASK
    rate = "ask"

    def post(self, request: Request) -> HttpResponseBase:
        sent = valid(CompletionSerializer(data=request.data))
        agent, model = agent_of(request, resources=False), sent["model"]
        turns = turns_of(sent["messages"])
        written_answer = Completion(agent, model, turns, conversation_for(agent, model, turns))
        if sent["stream"]:
            options = sent["stream_options"] or {}
            return event_stream(written_answer.events(bool(options.get("include_usage"))))
        return Response(written_answer.whole())


class AskedAnswer:
    """A question in a conversation, and its answer in OpenAI's formats. Raises Refused.

    Attributes:
        turns: the messages that the front end sent; empty if it sent the id of a conversation.
    """

    def __init__(self, agent: Agent, model: str, turns: Sequence[Turn], conversation: Conversation) -> None:
        self.base = agent.addresses.base
        self.model, self.turns, self.conversation = model, turns, conversation
        self.created = int(time.time())

    def ask(self, question: str) -> UUID:
        """Start the answer; return its id."""
        try:
            answer = question_commands.ask(self.conversation, question).answer
        except InvalidOperation as reason:
            raise Refused(str(reason)) from None
        start_next(self.conversation.pk)
        return answer.pk

    def remember(self, answer: str) -> None:
        if self.turns:
            remember(self.conversation, self.model, self.turns, answer)


class Completion(AskedAnswer):
    """The answer as a ``chat.completion``, whole or in chunks."""

    def __init__(self, agent: Agent, model: str, turns: Sequence[Turn], conversation: Conversation) -> None:
        super().__init__(agent, model, turns, conversation)
        self.answer = self.ask(turns[-1][1])

    def whole(self) -> dict[str, Any]:
        """Return a ``chat.completion``. Raises Refused for a failed answer."""
        from openai.types.chat import ChatCompletion

        message, text, annotations = finished_answer(self.answer, self.base)
        self.remember(text)
        reply = {"role": "assistant", "content": text, "refusal": None, "annotations": annotations}
        choice = {"index": 0, "message": reply, "finish_reason": finish_reason(message), "logprobs": None}
        body = self._head("chat.completion") | {"choices": [choice], "usage": usage_of(message)}
        return ChatCompletion.model_validate(body).model_dump(exclude_none=True)

    async def events(self, with_usage: bool) -> AsyncIterator[str]:
        """Yield ``chat.completion.chunk`` events, then ``[DONE]``."""
        yield self._chunk({"role": "assistant", "content": ""})
        said: list[str] = []
        async for text, note in pieces(self.answer, self.base):
            said.append(text)
            if text:
                yield self._chunk({"content": text} | ({"annotations": [note]} if note else {}))
            else:
                yield STILL_HERE
        message = await sync_to_async(self._end)("".join(said))
        yield self._chunk({}, finish_reason(message))
        if with_usage:
            yield self._event({"choices": [], "usage": usage_of(message)})
        yield "data: [DONE]\n\n"

    def _end(self, said: str) -> Message:
        self.remember(said)
        message = Message.objects.get(pk=self.answer)
        close_connection()
        return message

    def _chunk(self, delta: dict[str, Any], finish: str | None = None) -> str:
        return self._event({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

    def _event(self, more: dict[str, Any]) -> str:
        from openai.types.chat import ChatCompletionChunk

        body = self._head("chat.completion.chunk") | more
        return f"data: {ChatCompletionChunk.model_validate(body).model_dump_json(exclude_none=True)}\n\n"

    def _head(self, kind: str) -> dict[str, Any]:
        key = f"chatcmpl-{self.answer.hex}"
        return {"id": key, "object": kind, "created": self.created, "model": self.model}


def finished_answer(answer: UUID, base: str) -> tuple[Message, str, list[dict[str, Any]]]:
    """Wait for the answer; return it with its text and annotations. Raises Refused for a failed answer."""
    wait_for(answer)
    message = Message.objects.get(pk=answer)
    if message.status == Message.Status.FAILED:
        raise Refused(message.error)
    return message, *written(shown_message(message), base)


async def pieces(answer: UUID, base: str) -> AsyncIterator[tuple[str, dict[str, Any] | None]]:
    """Yield pieces of the answer as they are written, citations with their annotation; then its sources.

    An empty piece is a keep-alive.
    """
    await sync_to_async(close_connection)()
    length = 0
    async for event in follow(answer, 0):
        text, note = "", None
        match event and decode(event.kind, event.data):
            case TextEvent(text=words) if words:
                text = words
            case CitedEvent(citation=citation):
                text = link_of(citation, base)
                note = annotation(citation, base, length, length + len(text))
            case None:
                pass
            case _:
                continue
        length += len(text)
        yield text, note
    if ending := await sync_to_async(_closing_text)(answer, base):
        yield ending, None


def _closing_text(answer: UUID, base: str) -> str:
    message = Message.objects.get(pk=answer)
    ending = sources(shown_message(message), base)
    close_connection()
    return f"{ending}\n\n{message.error}" if message.error else ending


def usage_of(message: Message) -> dict[str, int]:
    read, wrote = tokens_of(message)
    return {"prompt_tokens": read, "completion_tokens": wrote, "total_tokens": read + wrote}


def finish_reason(message: Message) -> str:
    return FINISHED.get(Message.Status(message.status), "stop")
