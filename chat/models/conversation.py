"""Conversations, their messages, the stored events of an answer, and public links to one."""

from __future__ import annotations

import re
import uuid
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any, Self
from uuid import UUID

import msgspec
from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models, transaction
from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.text import Truncator
from django.utils.translation import gettext_lazy as _

from documents.access import Given, Grant
from documents.models import CitationUnit, Collection, Document, EventKind
from documents.models.library import OwnedQuerySet, Row
from documents.models.security import record
from documents.tokens import ANSWER_LINK, ListedToken
from retrieval.results import RagConfig

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User

# --- Excerpts: the beginning of a Markdown text as plain text, for lists, titles and the admin ---

EXCERPT = 400  # characters of Markdown

_EMPHASIS = re.compile(r"\*(\w[^*\n]*)\*")
_BETWEEN_CELLS = re.compile(r"(?<!\\)\|")
_SIGNS = re.compile(
    r"\s*\[\[cite:[^\]]*(?:\]\]|$)"  # a citation, also a truncated one
    r"|^[\s:-]*--[\s:-]*$"  # the rule under a table's header, or between two parts
    r"|^\s*(?:[#>]+|[-*+])\s|\*\*|__|`",
    re.MULTILINE,
)


def excerpt(markdown: str) -> str:
    """Return one line of plain text, without citations and Markdown syntax."""
    text = _SIGNS.sub("", _BETWEEN_CELLS.sub(" ", markdown[:EXCERPT]))
    return " ".join(_EMPHASIS.sub(r"\1", text).split())


# --- Soft delete: deleted rows are hidden first and can be restored ---


class Hideable(models.Model):
    """A row with soft delete. ``updated_at`` does not change."""

    deleted_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True

    def hide(self) -> None:
        type(self)._default_manager.filter(pk=self.pk).update(deleted_at=timezone.now())

    def unhide(self) -> None:
        type(self)._default_manager.filter(pk=self.pk).update(deleted_at=None)


class HideableQuerySet(OwnedQuerySet[Row]):
    """Rows that their owner sees until they are hidden."""

    def visible_to(self, user: User | AnonymousUser) -> Self:
        return super().visible_to(user).filter(deleted_at=None)


@dataclass(frozen=True, slots=True)
class AskedScope:
    """The scope of a question; without ``documents`` those of the conversation."""

    kind: str
    documents: Sequence[Document] = ()
    collection: Collection | None = None


class Conversation(Hideable):
    """Questions and answers over some documents, a collection, or the whole library."""

    class ScopeKind(models.TextChoices):
        DOCUMENTS = "documents", _("chosen documents")
        COLLECTION = "collection", _("a collection")
        LIBRARY = "library", _("the whole library")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="conversations"
    )
    title = models.CharField(max_length=200, blank=True)
    scope = models.CharField(max_length=10, choices=ScopeKind, default=ScopeKind.LIBRARY)
    documents = models.ManyToManyField(Document, related_name="conversations", blank=True)
    collection = models.ForeignKey(
        "documents.Collection", null=True, blank=True, on_delete=models.SET_NULL, related_name="conversations"
    )
    provider = models.CharField(max_length=20, blank=True, help_text="'' is the server's default")
    model = models.CharField(max_length=120, blank=True)
    rag_config = models.JSONField(
        default=dict, blank=True, help_text="search settings of its questions: retrieval.results.RagConfig"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = HideableQuerySet["Conversation"].as_manager()

    class Meta:
        ordering = ["-updated_at"]
        indexes = [models.Index(fields=["owner", "-updated_at"]), models.Index(fields=["updated_at"])]

    def __str__(self) -> str:
        return self.title or "New conversation"

    def choose(self, provider: str | None) -> None:
        """Set the provider of the next answers ('' is the server's default); None changes nothing."""
        if provider is not None and provider != self.provider:
            self.provider, self.model = provider, ""
            self.save(update_fields=["provider", "model"])

    def ask_in(self, scope: AskedScope) -> None:
        """Set the scope of the next questions. The documents stay those of the conversation, to return to."""
        self.scope = scope.kind
        self.collection = scope.collection
        self.save(update_fields=["scope", "collection"])
        if scope.documents:
            self.documents.set(scope.documents)

    def search_by(self, config: RagConfig) -> None:
        """Set the search configuration of the next questions."""
        if self.rag_config != (stored := config.stored()):
            self.rag_config = stored
            self.save(update_fields=["rag_config"])


Fraction = Annotated[float, msgspec.Meta(ge=0, le=1)]


class Region(msgspec.Struct, frozen=True):
    """The part of a page that a question refers to; ``box`` (x0, y0, x1, y1) in display fractions."""

    document: uuid.UUID
    page: Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]
    box: tuple[Fraction, Fraction, Fraction, Fraction]

    def __post_init__(self) -> None:
        x0, y0, x1, y1 = self.box
        if not (x0 < x1 and y0 < y1):
            raise ValueError("the box has no area")


class MessageQuerySet(models.QuerySet["Message"]):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        return self.filter(conversation__in=Conversation.objects.visible_to(user))

    def unfinished(self) -> Self:
        return self.filter(status__in=[Message.Status.PENDING, Message.Status.STREAMING])


class Message(models.Model):
    """One question or one answer. ``content`` holds ``[[cite:<unit>:<page>]]`` markers."""

    class Role(models.TextChoices):
        USER = "user"
        ASSISTANT = "assistant"

    class Status(models.TextChoices):
        PENDING = "pending", _("waiting")
        STREAMING = "streaming", _("being written")
        COMPLETE = "complete", _("Complete")
        INCOMPLETE = "incomplete", _("stopped before its end")
        FAILED = "failed", _("Failed")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="messages")
    position = models.IntegerField(help_text="order in the conversation, from 0")
    role = models.CharField(max_length=10, choices=Role)
    content = models.TextField(blank=True)
    status = models.CharField(max_length=10, choices=Status, default=Status.COMPLETE)
    provider = models.CharField(max_length=20, blank=True)
    model = models.CharField(max_length=120, blank=True)
    usage = models.JSONField(default=dict, blank=True)
    sources = models.JSONField(default=list, blank=True, help_text="unit ids shown to the model, in order")
    uncited = models.JSONField(
        default=list, blank=True, help_text="[[start, end], …] claims without citation"
    )
    pages_left = models.IntegerField(
        default=0, help_text="pages of its documents that awaited OCR when it was written"
    )
    rag_config = models.JSONField(
        default=dict, blank=True, help_text="search settings of an answer's question; {} for the server's"
    )
    error = models.CharField(max_length=500, blank=True)
    standalone_question = models.TextField(
        blank=True, help_text="the question as searched: without references to earlier ones"
    )
    asked_region = models.JSONField(
        null=True, blank=True, help_text="part of a page that the question refers to: Region"
    )

    # State of the thread that writes the answer, visible to other processes.
    alive_at = models.DateTimeField(null=True, blank=True, help_text="heartbeat of its writer")
    writer = models.UUIDField(null=True, blank=True, help_text="id of the process that writes it")
    takeovers = models.SmallIntegerField(default=0, help_text="number of writers that died")
    cancel_requested = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = MessageQuerySet.as_manager()

    class Meta:
        ordering = ["conversation", "position"]
        constraints = [
            models.UniqueConstraint(fields=["conversation", "position"], name="one_message_per_position")
        ]
        indexes = [
            models.Index(fields=["created_at"]),
            models.Index(
                fields=["created_at"],
                condition=models.Q(status__in=["pending", "streaming"]),
                name="unfinished_messages",
            ),
        ]

    def __str__(self) -> str:
        return Truncator(excerpt(self.content)).chars(80)

    @cached_property
    def question(self) -> Message:
        """Return the question of an answer, cached."""
        return Message.objects.get(conversation=self.conversation_id, position=self.position - 1)

    @property
    def is_unfinished(self) -> bool:
        """Return whether the answer is pending or being written."""
        return self.status in (self.Status.PENDING, self.Status.STREAMING)

    @property
    def region(self) -> Region | None:
        """Return the part of a page that the question refers to, if any."""
        return msgspec.convert(self.asked_region, Region) if self.asked_region else None


# --- The stored events of an answer while it is written ---


class StreamEvent(models.Model):
    """One event of an answer's stream, stored so that any process can resume a lost connection.

    ``data`` is the event's JSON (``chat.answers.events``). ``chat.answers.runner`` deletes rows after a day.
    """

    message = models.ForeignKey(Message, on_delete=models.CASCADE, related_name="events")
    sequence = models.IntegerField(help_text="from 1, through all attempts at the answer")
    kind = models.CharField(max_length=12)
    data = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["message", "sequence"]
        constraints = [models.UniqueConstraint(fields=["message", "sequence"], name="one_event_per_sequence")]
        indexes = [models.Index(fields=["created_at"])]

    def __str__(self) -> str:
        return f"{self.sequence} {self.kind}"


# --- Public, read-only links to one answer: signed, with an expiry, only while their owner has access ---

DELETED = UUID(int=0)  # a deleted document


def documents_of(answer: Message) -> list[UUID]:
    """Return the documents that the answer cites, and those whose passages were in its prompt."""
    cited = answer.citations.values_list("document", flat=True)
    read = CitationUnit.objects.filter(pk__in=answer.sources).values_list("document", flat=True)
    return sorted({found or DELETED for found in (*cited, *read)})


def end_of_link() -> datetime:
    """Return the default expiry of a link."""
    return timezone.now() + timedelta(days=settings.LINK_DAYS)


class AnswerShareQuerySet(models.QuerySet["AnswerShare"]):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        return self.filter(message__conversation__in=Conversation.objects.visible_to(user))

    def open(self) -> Self:
        """Return links that are neither revoked nor expired. ``is_open`` checks their owner's access."""
        return self.filter(
            Q(expires_at=None) | Q(expires_at__gt=timezone.now()),
            revoked_at=None,
            message__conversation__deleted_at=None,
            message__conversation__owner__is_active=True,
        )

    def of_document(self, document_id: UUID) -> Self:
        """Return links to answers that use the document."""
        return self.filter(document_ids__contains=[document_id])


class AnswerShare(models.Model):
    """A public, read-only link to one answer, which its owner can revoke.

    It shows the claims and pictures of the cited words, but no more of a document. It ends at its expiry,
    and when its owner loses access to one of the answer's documents.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    message = models.ForeignKey(Message, on_delete=models.CASCADE, related_name="shares")
    document_ids = ArrayField(
        models.UUIDField(),
        default=list,
        blank=True,
        help_text="documents of the answer's citations and prompt; the link closes when one is deleted",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True, default=end_of_link, help_text="null: never")
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects = AnswerShareQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]
        indexes = [GinIndex(fields=["document_ids"], name="answer_share_documents")]

    def __str__(self) -> str:
        return f"link to {self.message_id}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        if self._state.adding:
            self.document_ids = documents_of(self.message)
        super().save(*args, **kwargs)

    @property
    def maker(self) -> User:
        return self.message.conversation.owner

    @property
    def is_open(self) -> bool:
        """Return whether the owner may still read every document of the answer. One query."""
        readable = Document.objects.visible_to(self.maker).filter(pk__in=self.document_ids)
        return readable.count() == len(set(self.document_ids))


LONGEST_DAYS = 3650
NEVER = 0  # days


class NotShareable(Exception):
    """The answer cannot be shared; the message is for people."""


@transaction.atomic
def share_answer(answer: Message, days: int | None = None) -> AnswerShare:
    """Return the answer's open link, or a new one. Raise NotShareable.

    ``days`` is its lifetime from now, or ``NEVER``; None keeps that of an open link. An answer that is being
    written may come to use further documents, whose loss would not end the link.
    """
    if Message.objects.select_for_update().get(pk=answer.pk).is_unfinished:
        raise NotShareable("This answer is still being written.")
    link = AnswerShare.objects.open().filter(message=answer).first()
    if link is None:
        link = AnswerShare(message=answer)
        days = settings.LINK_DAYS if days is None else days
    link.document_ids = documents_of(answer)
    if days is not None:
        link.expires_at = timezone.now() + timedelta(days=min(days, LONGEST_DAYS)) if days else None
    if not link.is_open:
        raise NotShareable("This answer uses a document that you can no longer read, so it cannot be shared.")
    link.save()
    return link


def revoke(answer: Message) -> int:
    """Close all links to the answer. Return their number."""
    return close(AnswerShare.objects.filter(message=answer))


def token_of(share: AnswerShare) -> str:
    """Return the token of the link: the share's id with a signature, so that ids cannot be guessed."""
    return ANSWER_LINK.token_of(share.pk)


def share_of(token: str) -> AnswerShare | None:
    """Return the open share of a token; None for a forged, expired or revoked one."""
    share_id = ANSWER_LINK.id_in(token)
    if share_id is None:
        return None
    found = AnswerShare.objects.open().filter(pk=share_id)
    share = found.select_related("message__conversation__owner").first()
    return share if share and share.is_open else None


def links_to(document: Document, readers: Container[str]) -> Iterator[Grant]:
    """Yield the open links that show parts of the document, for ``documents.access``.

    Only a link's owner sees the beginning of the answer as its label.
    """
    links = AnswerShare.objects.open().of_document(document.pk).order_by("created_at")
    for link in links.select_related("message__conversation__owner"):
        maker = link.maker.get_username()
        if maker in readers:
            label = excerpt(link.message.content)[:80] if link.maker.pk == document.owner_id else ""
            says = (_("Anyone with the link"), _("sees the cited words"))
            yield Grant(f"link-{link.pk}", "link", (), maker, link.created_at, link.expires_at, label, *says)


def given_links(user: User) -> Iterator[Given]:
    """Yield the user's links to answers, for ``documents.access``."""
    for link in AnswerShare.objects.visible_to(user).open().select_related("message"):
        yield Given(str(link.message), reverse("links"), "", False, link.created_at, link.expires_at)


def listed_links(user: User) -> Iterator[ListedToken]:
    """Yield the user's open links, for ``documents.tokens``."""
    page = reverse("links")
    for link in AnswerShare.objects.visible_to(user).open().select_related("message"):
        name = excerpt(link.message.content)[:80]
        yield ListedToken(ANSWER_LINK, name, link.created_at, link.expires_at, page)


def end_link(document: Document, link_id: UUID) -> bool:
    """End a link that shows parts of the document, whoever created it."""
    return bool(close(AnswerShare.objects.of_document(document.pk).filter(pk=link_id)))


def close(links: QuerySet[AnswerShare]) -> int:
    """Close open links. Return their number."""
    found = list(links.filter(revoked_at=None))
    for link in found:
        record(EventKind.LINK_ENDED, str(link))
    return links.filter(revoked_at=None).update(revoked_at=timezone.now())
