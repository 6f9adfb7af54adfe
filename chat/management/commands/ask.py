"""`manage.py ask`: answer a question with citations, streamed or as one JSON object."""

from __future__ import annotations

import threading
from argparse import ArgumentParser
from uuid import UUID

import msgspec
from django.contrib.auth.models import User
from django.core.management.base import CommandError

from chat.answers import question_commands
from chat.answers.events import CitationShown, DoneEvent, Event, FailedEvent, StatusEvent, Summary
from chat.answers.events import TextEvent as TextEvent
from chat.answers.message_presenters import shown_message
from chat.answers.question_commands import InvalidOperation
from chat.answers.runner import claim_next
from chat.answers.write_answer import AnswerContext, write_answer
from chat.exports.markdown import numbered, source_lines
from chat.models import Conversation, Message
from chat.providers.catalogue import PROVIDERS
from documents.management import LibraryCommand, owner_named
from documents.models import Document


class Answer(msgspec.Struct, frozen=True):
    """The output of ``--json``.

    ``answer`` is Markdown with ``[1]`` for each citation; ``citations`` are in
    this order (``chat.answers.events.CitationShown``: page from 1; rects,
    unit_rects, head_rects in display fractions, one rectangle per line);
    ``uncited`` are claims without a citation.
    """

    question: str
    answer: str
    citations: tuple[CitationShown, ...]
    summary: Summary
    uncited: tuple[str, ...]
    status: str
    provider: str
    model: str
    conversation: str
    message: str
    usage: dict[str, float]
    error: str = ""


class Command(LibraryCommand):
    help = "Answers a question over the library, or over chosen documents."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("question")
        parser.add_argument(
            "--document", action="append", default=[], help="id of a document; may be repeated"
        )
        parser.add_argument("--user", default="", help="user who asks (default: the first superuser)")
        parser.add_argument("--provider", default="", choices=["", *PROVIDERS])
        parser.add_argument("--model", default="")
        parser.add_argument("--json", action="store_true", help="one JSON object instead of text")

    def handle(
        self,
        question: str,
        document: list[str],
        user: str,
        provider: str,
        model: str,
        json: bool,
        **options: object,
    ) -> None:
        asker = owner_named(user)
        conversation = question_commands.start_conversation(
            asker, chosen(asker, document), None, provider, model
        )
        answer = pending_answer(conversation, question)
        write_answer(answer, AnswerContext((lambda event: None) if json else self.show, threading.Event()))
        answer.refresh_from_db()
        if json:
            self.stdout.write(msgspec.json.encode(answer_of(answer, question)).decode())
        if answer.status == Message.Status.FAILED:
            raise CommandError(answer.error) if not json else SystemExit(1)

    def show(self, event: Event) -> None:
        """Print an event."""
        match event:
            case StatusEvent(text=text):
                self.stderr.write(self.style.NOTICE(text))
            case TextEvent(text=text):
                self.stdout.write(text, ending="")
                self.stdout.flush()
            case FailedEvent(message=message):
                self.stderr.write(self.style.ERROR(f"\n{message}"))
            case DoneEvent():
                self.stdout.write("\n".join(["", *source_lines(event.citations), "", event.summary.text]))
            case _ if event.kind == "citation":
                self.stdout.write(f" [{event.citation.number}]", ending="")  # type: ignore[union-attr]


def chosen(user: User, ids: list[str]) -> list[Document]:
    """Return the documents with these ids. Raises CommandError for an unknown one."""
    try:
        wanted = {UUID(text) for text in ids}
    except ValueError as error:
        raise CommandError(f"Invalid document id: {error}.") from None
    documents = list(Document.objects.visible_to(user).filter(pk__in=wanted))
    if len(documents) < len(wanted):
        raise CommandError("A document does not exist or you cannot access it.")
    return documents


def pending_answer(conversation: Conversation, question: str) -> Message:
    try:
        question_commands.ask(conversation, question)
    except InvalidOperation as reason:
        raise CommandError(str(reason)) from None
    claimed = claim_next(conversation.pk)
    assert claimed is not None, "a new conversation has nothing to wait for"
    return claimed


def answer_of(answer: Message, question: str) -> Answer:
    seen = shown_message(answer)
    return Answer(
        question=question,
        answer=numbered(answer.content, seen.citations),
        citations=seen.citations,
        summary=seen.summary,
        uncited=tuple(answer.content[start:end] for start, end in answer.uncited),
        status=answer.status,
        provider=answer.provider,
        model=answer.model,
        conversation=str(answer.conversation_id),
        message=str(answer.pk),
        usage=answer.usage,
        error=answer.error,
    )
