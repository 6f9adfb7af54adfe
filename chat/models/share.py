"""The AnswerShare: a public link to one answer."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Self
from uuid import UUID

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Q
from django.utils import timezone

from chat.models.conversation import Conversation, Message
from documents.models import CitationUnit, Document

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
