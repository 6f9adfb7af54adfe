"""Questions with their answers, ready for a template."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec
from django.utils.safestring import SafeString, mark_safe

from chat.asking import question_of
from chat.liveness import notice_dead
from chat.models import Conversation, Message
from chat.reading import ShownMessage, shown_messages

ESCAPED = str.maketrans({"<": "\\u003C", ">": "\\u003E", "&": "\\u0026"})


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question and its answer; ``citations`` is JSON for a script element."""

    question: Message
    answer: Message
    shown: ShownMessage

    @property
    def citations(self) -> SafeString:
        return as_json(self.shown.citations)


def exchanges_of(conversation: Conversation) -> list[Exchange]:
    """All questions of a conversation with their answers. Four queries, however long it is."""
    messages = list(conversation.messages.order_by("position"))
    notice_dead(messages)
    questions = {message.position: message for message in messages if message.role == Message.Role.USER}
    return _exchanges(questions, [message for message in messages if message.role == Message.Role.ASSISTANT])


def exchange_of(answer: Message) -> Exchange:
    """One answer with its question."""
    question = question_of(answer)
    notice_dead([answer])
    return _exchanges({question.position: question}, [answer])[0]


def _exchanges(questions: dict[int, Message], answers: Sequence[Message]) -> list[Exchange]:
    asked = [answer for answer in answers if answer.position - 1 in questions]
    return [
        Exchange(questions[answer.position - 1], answer, shown)
        for answer, shown in zip(asked, shown_messages(asked), strict=True)
    ]


def as_json(value: Iterable[object]) -> SafeString:
    """JSON that may stand in a script element: nothing in it can end the element."""
    return mark_safe(msgspec.json.encode(value).decode().translate(ESCAPED))
