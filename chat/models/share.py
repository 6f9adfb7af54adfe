"""Public, read-only links to one answer: signed, with an expiry, only while their owner has access."""

from __future__ import annotations

import uuid
from collections.abc import Container, Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Self
from uuid import UUID

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.core.signing import BadSignature, Signer
from django.db import models
from django.db.models import Q, QuerySet
from django.utils import timezone

from chat.models.conversation import Conversation, Message, excerpt
from documents.access import Way
from documents.models import CitationUnit, Document, EventKind
from documents.models.security import record

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User


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

    def showing(self, document_id: UUID) -> Self:
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
        help_text="the documents the answer cites and was made from; those deleted since close the link",
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
        """Whether the owner may still read every document of the answer. One query."""
        readable = Document.objects.visible_to(self.maker).filter(pk__in=self.document_ids)
        return readable.count() == len(set(self.document_ids))


LONGEST_DAYS = 3650
NEVER = 0  # days
_signer = Signer(salt="chat.share")


class NotReadable(Exception):
    """The answer uses a document that its owner may no longer read."""


def share_answer(answer: Message, days: int | None = None) -> AnswerShare:
    """Return the answer's open link, or a new one. Raise NotReadable.

    ``days`` is its lifetime from now, or ``NEVER``; None keeps that of an open link.
    """
    link = AnswerShare.objects.open().filter(message=answer).first()
    if link is None:
        link = AnswerShare(message=answer)
        days = settings.LINK_DAYS if days is None else days
    link.document_ids = documents_of(answer)
    if days is not None:
        link.expires_at = timezone.now() + timedelta(days=min(days, LONGEST_DAYS)) if days else None
    if not link.is_open:
        raise NotReadable
    link.save()
    return link


def revoke(answer: Message) -> int:
    """Close all links to the answer. Return their number."""
    return close(AnswerShare.objects.filter(message=answer))


def token_of(share: AnswerShare) -> str:
    """Return the token of the link: the share's id with a signature, so that ids cannot be guessed."""
    return _signer.sign(share.pk.hex)


def share_of(token: str) -> AnswerShare | None:
    """Return the open share of a token; None for a forged, expired or revoked one."""
    try:
        share_id = UUID(hex=_signer.unsign(token))
    except (BadSignature, ValueError):
        return None
    found = AnswerShare.objects.open().filter(pk=share_id)
    share = found.select_related("message__conversation__owner").first()
    return share if share and share.is_open else None


def links_to(document: Document, readers: Container[str]) -> Iterator[Way]:
    """Yield the open links that show parts of the document, for ``documents.access``.

    Only a link's owner sees the beginning of the answer as its label.
    """
    links = AnswerShare.objects.open().showing(document.pk).order_by("created_at")
    for link in links.select_related("message__conversation__owner"):
        maker = link.maker.get_username()
        if maker in readers:
            label = excerpt(link.message.content)[:80] if link.maker.pk == document.owner_id else ""
            yield Way(f"link-{link.pk}", "link", (), maker, link.created_at, link.expires_at, label)


def end_link(document: Document, link_id: UUID) -> bool:
    """End a link that shows parts of the document, whoever created it."""
    return bool(close(AnswerShare.objects.showing(document.pk).filter(pk=link_id)))


def close(links: QuerySet[AnswerShare]) -> int:
    """Close open links. Return their number."""
    found = list(links.filter(revoked_at=None))
    for link in found:
        record(EventKind.LINK_ENDED, str(link))
    return links.filter(revoked_at=None).update(revoked_at=timezone.now())
