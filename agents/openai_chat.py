"""What OpenAI's chat protocol says and is told: models, messages in, completions out.

A model names where to look: ``library``, ``collection:<id>`` or ``document:<id>``. Citations are
Markdown links in the text, ``annotations`` on the message, and a list of sources at its end.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from openai.types import Model

from agents.evidence import Agent, Refused
from agents.models import ChatThread
from chat.answers.events import CitationShown
from chat.answers.presenters import ShownMessage
from chat.answers.question_commands import start_conversation
from chat.citations.claims import CONTRADICTED, VERIFIED
from chat.citations.marker_decoder import stored_marks
from chat.models import Conversation, Message
from documents.models import Collection, Document

LIBRARY = "library"
MOST_MODELS = 500
Turn = tuple[str, str]
"""A role and its words."""


def models_of(user: User) -> list[Model]:
    """The library, then collections, then documents, each the latest first."""
    named = [(LIBRARY, "Whole library", 0)]
    for kind, rows in (
        (
            "collection",
            Collection.objects.visible_to(user)
            .order_by("-created_at")
            .values_list("pk", "name", "created_at"),
        ),
        (
            "document",
            Document.objects.visible_to(user)
            .searchable()
            .order_by("-created_at")
            .values_list("pk", "title", "created_at"),
        ),
    ):
        named += [(f"{kind}:{pk}", name, int(at.timestamp())) for pk, name, at in rows[:MOST_MODELS]]
    return [
        Model.model_validate(
            {"id": key, "object": "model", "created": at, "owned_by": "pincite", "name": name}
        )
        for key, name, at in named
    ]


def turns_of(messages: Sequence[dict[str, Any]]) -> list[Turn]:
    """Questions and answers of a talk; instructions to a model are left out. Raises Refused."""
    turns = [
        (str(message.get("role")), _words(message.get("content")))
        for message in messages
        if message.get("role") in ("user", "assistant")
    ]
    if not turns or turns[-1][0] != "user":
        raise Refused("The last message must be a question of the user.")
    return turns


def _words(content: object) -> str:
    """Text as it is, or its parts that are text."""
    if isinstance(content, list):
        parts = (part.get("text", "") for part in content if isinstance(part, dict))
        return "\n".join(part for part in parts if isinstance(part, str)).strip()
    return content.strip() if isinstance(content, str) else ""


def conversation_for(agent: Agent, model: str, turns: Sequence[Turn]) -> Conversation:
    """The conversation this talk belongs to; a new one where none is known. Raises Refused."""
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
    """Keep which talk the conversation is, so that its next question goes on there."""
    digest = digest_of(model, [*turns, ("assistant", answer)])
    ChatThread.objects.update_or_create(
        conversation=conversation, defaults={"owner_id": conversation.owner_id, "digest": digest}
    )


def digest_of(model: str, turns: Iterable[Turn]) -> str:
    written = json.dumps([model, *([role, words.strip()] for role, words in turns)], ensure_ascii=False)
    return hashlib.sha256(written.encode()).hexdigest()


def link_of(citation: CitationShown, base: str) -> str:
    """``[[1]](address)``: a link that any Markdown shows as [1]."""
    return f"[[{citation.number}]]({base}{citation.href})"


def written(shown: ShownMessage, base: str) -> tuple[str, list[dict[str, Any]]]:
    """The answer's text with links and sources, and its annotations."""
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
    """OpenAI's ``url_citation``, and beside it what Pincite knows of the place and its verdict."""
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
            "lines": list(citation.lines),
            "rects": [list(box) for box in citation.rects],
            "claim": citation.claim,
            "quote": citation.quote,
            "verdict": citation.verdict,
            "verified": citation.verdict in VERIFIED,
            "reason": citation.reason,
        },
    }


def sources(shown: ShownMessage, base: str) -> str:
    """The end of an answer: its sources with their verdicts, and how its claims fared."""
    if not shown.citations:
        return ""
    by_number = {citation.number: citation for citation in reversed(shown.citations)}
    lines = [f"- {source(by_number[number], base)}" for number in sorted(by_number)]
    ending = f"\n\n{shown.summary.text}." if shown.summary.text else ""
    return "\n\n**Sources**\n\n" + "\n".join(lines) + ending


def source(citation: CitationShown, base: str) -> str:
    """``[[1]](…) Title, p. 5: “quote” (exact)``; what the page says otherwise, where it does."""
    quote = " ".join(citation.quote.split())
    said = f": “{quote}”" if quote else ""
    standing = f" ({citation.standing})" if citation.standing else ""
    against = f" {citation.reason}" if citation.verdict in CONTRADICTED and citation.reason else ""
    return f"{link_of(citation, base)} {citation.title}, {citation.place}{said}{standing}{against}"


def usage_of(message: Message) -> dict[str, int]:
    """Tokens as far as the provider told them; 0 for an answer without a model."""
    asked, wrote = (int(message.usage.get(key, 0)) for key in ("input_tokens", "output_tokens"))
    return {"prompt_tokens": asked, "completion_tokens": wrote, "total_tokens": asked + wrote}
