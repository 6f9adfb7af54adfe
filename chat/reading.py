"""Stored messages as they are shown: safe HTML, citations, and how the claims fared."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

import msgspec
from django.contrib.auth.models import User
from django.utils.html import format_html
from django.utils.safestring import SafeString

from chat.claim_spans import Span
from chat.events import CitationShown, Done, Summary
from chat.models import Citation, Message
from chat.providers.extractive import NAME as WITHOUT_MODEL
from chat.rendering import render_message
from chat.showing import shown_citations, summary_of
from documents.models import CitationUnit


@dataclass(frozen=True, slots=True)
class ShownMessage:
    """A message for a page: ``citations`` in the order of their markers."""

    message: Message
    html: SafeString
    citations: tuple[CitationShown, ...]
    summary: Summary


def shown_messages(messages: Iterable[Message]) -> list[ShownMessage]:
    """Messages in the given order. Two queries, however many they are."""
    listed = list(messages)
    rows = Citation.objects.filter(message__in=[message.pk for message in listed]).order_by(
        "message", "position"
    )
    by_message: dict[UUID | None, list[tuple[Citation, CitationShown]]] = defaultdict(list)
    found = list(rows)
    for row, citation in zip(found, shown_citations(found), strict=True):
        by_message[row.message_id].append((row, citation))
    return [_shown(message, by_message[message.pk]) for message in listed]


def shown_message(message: Message) -> ShownMessage:
    return shown_messages([message])[0]


def _shown(message: Message, pairs: list[tuple[Citation, CitationShown]]) -> ShownMessage:
    citations = tuple(citation for _, citation in pairs)
    if message.role == Message.Role.USER:
        return ShownMessage(message, format_html("<p>{}</p>", message.content), (), Summary(0, 0, ""))
    quotes_only = message.provider == WITHOUT_MODEL
    uncited = [] if quotes_only else [Span(start, end) for start, end in message.uncited]
    claims = [str(row.claim_start) for row, _ in pairs]
    summary = summary_of(citations, claims, len(uncited), quotes_only)
    if message.pages_left:
        summary = msgspec.structs.replace(
            summary, text=f"{summary.text} {unread(message.pages_left)}".strip()
        )
    return ShownMessage(message, render_message(message.content, citations, uncited), citations, summary)


def unread(pages: int) -> str:
    """What to tell of pages that could not be looked at when an answer was written."""
    if pages == 1:
        return "1 page was still being read and is not in this answer."
    return f"{pages:,} pages were still being read and are not in this answer."


@dataclass(frozen=True, slots=True)
class ReadSource:
    """A passage an answer could use: what it cites comes with its citations, the rest with its words."""

    unit: CitationUnit
    citations: tuple[Citation, ...]


def read_sources(message: Message, user: User) -> list[ReadSource]:
    """What an answer cites, by number, then the other passages that were read for it, best first."""
    cited: dict[UUID | None, list[Citation]] = defaultdict(list)
    for citation in message.citations.exclude(unit=None).order_by("number", "position"):
        cited[citation.unit_id].append(citation)
    order = dict.fromkeys([*cited, *(UUID(str(key)) for key in message.sources)])
    units = CitationUnit.objects.visible_to(user).select_related("document").in_bulk(order)
    return [ReadSource(units[key], tuple(cited.get(key, ()))) for key in order if key in units]


def done_event(message: Message) -> Done:
    """The end of an answer's stream, from what is stored."""
    seen = shown_message(message)
    return Done(
        message=str(message.pk),
        status=message.status,  # type: ignore[arg-type]
        html=seen.html[:],  # a plain str, as JSON needs it
        citations=seen.citations,
        summary=seen.summary,
        uncited=tuple((start, end) for start, end in message.uncited),
        usage=message.usage,
        error=message.error,
    )
