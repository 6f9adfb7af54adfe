"""Stored messages for pages and API: safe HTML, citations, the summary of their verdicts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

import msgspec
from django.contrib.auth.models import User
from django.db.models import prefetch_related_objects
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import ngettext

from chat.answers.context import added_to
from chat.answers.events import CitationShown, DoneEvent, Summary
from chat.answers.persistence import notice_dead
from chat.answers.without_model.answer import NAME as WITHOUT_MODEL
from chat.citations.stored_citations import shown_citations, summary_of
from chat.markdown.html import render_message
from chat.models import Citation, Conversation, Message
from chat.providers.registry import sees
from documents.labels import labels_in_library
from documents.models import CitationUnit
from documents.translation import translated
from text.sentences import Span


@dataclass(frozen=True, slots=True)
class ShownMessage:
    """A message for a page: ``citations`` in the order of their markers."""

    message: Message
    html: SafeString
    citations: tuple[CitationShown, ...]
    summary: Summary


def shown_messages(messages: Iterable[Message]) -> list[ShownMessage]:
    """Return the messages for a page, in the given order. Two queries, or one if citations are prefetched."""
    listed = list(messages)
    prefetch_related_objects(listed, "citations")
    by_message: dict[UUID | None, list[tuple[Citation, CitationShown]]] = defaultdict(list)
    found = [citation for message in listed for citation in message.citations.all()]
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
    notices = [unread(message.pages_left)] if message.pages_left else []
    if left_out := message.usage.get("left_out"):
        notices.append(unsent(left_out))
    if notices:
        summary = msgspec.structs.replace(
            summary, text=". ".join(filter(None, [summary.text, " ".join(notices)]))
        )
    return ShownMessage(message, render_message(message.content, citations, uncited), citations, summary)


def unread(pages: int) -> str:
    """Return the notice about pages that could not be read when an answer was written."""
    return ngettext(
        "%(pages)s page was still being read and is not in this answer.",
        "%(pages)s pages were still being read and are not in this answer.",
        pages,
    ) % {"pages": f"{pages:,}"}


def unsent(passages: int) -> str:
    """Return the notice about passages that the model's context had no room for."""
    return ngettext(
        "%(passages)s passage was left out because the model cannot read more at once.",
        "%(passages)s passages were left out because the model cannot read more at once.",
        passages,
    ) % {"passages": f"{passages:,}"}


@dataclass(frozen=True, slots=True)
class ReadSource:
    """A passage that the answer could cite, its document's label, and its citations, or else its text."""

    unit: CitationUnit
    title: str
    citations: tuple[Citation, ...]


def read_sources(message: Message, user: User) -> list[ReadSource]:
    """Return the cited passages by number, then the other passages of the prompt, best first."""
    cited: dict[UUID | None, list[Citation]] = defaultdict(list)
    for citation in message.citations.exclude(unit=None).order_by("number", "position"):
        cited[citation.unit_id].append(citation)
    order = dict.fromkeys([*cited, *(UUID(str(key)) for key in message.sources)])
    units = CitationUnit.objects.visible_to(user).select_related("document").in_bulk(order)
    labels = labels_in_library({unit.document for unit in units.values()})
    found = (units[key] for key in order if key in units)
    return [ReadSource(unit, labels[unit.document_id], tuple(cited.get(unit.pk, ()))) for unit in found]


def done_event(message: Message) -> DoneEvent:
    """Return the last event of an answer's stream, from the stored answer."""
    seen = shown_message(message)
    return DoneEvent(
        message=str(message.pk),
        status=message.status,  # type: ignore[arg-type]
        html=seen.html[:],  # a plain str, as JSON needs it
        citations=seen.citations,
        summary=seen.summary,
        uncited=tuple((start, end) for start, end in message.uncited),
        usage=message.usage,
        error=translated(message.error),
    )


# Questions with their answers, ready for a template.

ESCAPED = str.maketrans({"<": "\\u003C", ">": "\\u003E", "&": "\\u0026"})


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question and its answer; ``citations`` is JSON for a script element."""

    question: Message
    answer: Message
    shown: ShownMessage

    @property
    def sees(self) -> bool:
        """Return whether the answer's provider can read the picture of the question's region."""
        chosen = self.answer if self.answer.provider else self.answer.conversation
        return sees(chosen.provider, chosen.model)

    @property
    def added(self) -> str:
        """Return what the conversation added to the question for its search; '' if nothing."""
        return added_to(self.question.content, self.question.standalone_question or self.question.content)

    @property
    def citations(self) -> SafeString:
        return as_json(self.shown.citations)


def exchanges_of(conversation: Conversation) -> list[Exchange]:
    """Return all questions of a conversation with their answers, in four queries."""
    messages = list(conversation.messages.order_by("position"))
    notice_dead(messages)
    questions = {message.position: message for message in messages if message.role == Message.Role.USER}
    return _exchanges(questions, [message for message in messages if message.role == Message.Role.ASSISTANT])


def exchange_of(answer: Message) -> Exchange:
    """Return one answer with its question."""
    question = answer.question
    notice_dead([answer])
    return _exchanges({question.position: question}, [answer])[0]


def _exchanges(questions: dict[int, Message], answers: Sequence[Message]) -> list[Exchange]:
    asked = [answer for answer in answers if answer.position - 1 in questions]
    return [
        Exchange(questions[answer.position - 1], answer, shown)
        for answer, shown in zip(asked, shown_messages(asked), strict=True)
    ]


def as_json(value: Iterable[object]) -> SafeString:
    """Return JSON for a script element: no text in it can end the element."""
    return mark_safe(msgspec.json.encode(value).decode().translate(ESCAPED))
