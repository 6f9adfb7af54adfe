"""The AnswerShare: a link by which anybody may read one answer."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Self

from django.db import models

from chat.models.conversation import Conversation, Message

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User


class AnswerShareQuerySet(models.QuerySet["AnswerShare"]):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        return self.filter(message__conversation__in=Conversation.objects.visible_to(user))

    def open(self) -> Self:
        """Links that still work."""
        return self.filter(revoked_at=None, message__conversation__deleted_at=None)


class AnswerShare(models.Model):
    """A read-only link to one answer, which its owner can revoke.

    It shows the claims and pictures of the cited words, never more of a document.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    message = models.ForeignKey(Message, on_delete=models.CASCADE, related_name="shares")
    created_at = models.DateTimeField(auto_now_add=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects = AnswerShareQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"link to {self.message_id}"
