"""What programs leave here: the talks of chat front ends, webhooks and what was sent to them."""

from __future__ import annotations

import base64
import uuid
from datetime import timedelta
from typing import TYPE_CHECKING, Self

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone
from django.utils.crypto import salted_hmac

from chat.models import Conversation

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User


class ChatThread(models.Model):
    """A conversation, found by a digest of the talk so far as the front end has it."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    conversation = models.OneToOneField(Conversation, on_delete=models.CASCADE, related_name="+")
    digest = models.CharField(max_length=64, help_text="SHA-256 of model, questions and answers")
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        indexes = [models.Index(fields=["owner", "digest"], name="chat_thread_digest")]

    def __str__(self) -> str:
        return f"{self.conversation_id}"


class Event(models.TextChoices):
    DOCUMENT_READY = "document.ready", "a document is ready"
    DOCUMENT_FAILED = "document.failed", "a document could not be read"
    ANSWER_DONE = "answer.done", "an answer is written"
    REVIEW_FILLED = "review.filled", "the cells of a review are filled"
    TEST = "test", "somebody pressed the button"


MOST_WEBHOOKS = 20  # of one owner


class WebhookQuerySet(models.QuerySet["Webhook"]):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        return self.filter(owner=user) if user.is_authenticated else self.none()

    def wanting(self, event: Event, owner: int) -> Self:
        return self.filter(owner=owner, is_active=True, events__contains=[event])


class Webhook(models.Model):
    """An address that is told of its owner's documents and answers."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="webhooks")
    url = models.URLField(max_length=2000)
    events = ArrayField(models.CharField(max_length=20, choices=Event), default=list)
    is_active = models.BooleanField(default=True, help_text="ends by itself when the address says 410 Gone")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = WebhookQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.url

    @property
    def secret(self) -> str:
        """What the receiver verifies signatures with (Standard Webhooks); made of the server's own key."""
        key = salted_hmac("agents.webhook", str(self.pk), algorithm="sha256").digest()
        return f"whsec_{base64.b64encode(key).decode()}"


KEPT = timedelta(days=30)


class DeliveryQuerySet(models.QuerySet["WebhookDelivery"]):
    def due(self) -> Self:
        return self.filter(next_at__lte=timezone.now(), webhook__is_active=True).order_by("next_at")

    def forget_old(self) -> int:
        """Delete what ended more than 30 days ago; returns how many."""
        return self.filter(next_at=None, created_at__lt=timezone.now() - KEPT).delete()[0]


class WebhookDelivery(models.Model):
    """One message to one address, with the outcome of its last attempt."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries")
    event = models.CharField(max_length=20, choices=Event)
    payload = models.JSONField()
    attempts = models.IntegerField(default=0)
    next_at = models.DateTimeField(null=True, default=timezone.now, help_text="none once it ended")
    delivered_at = models.DateTimeField(null=True)
    status_code = models.IntegerField(null=True, help_text="of the last answer")
    error = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = DeliveryQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]
        indexes = [
            models.Index(fields=["next_at"], condition=models.Q(next_at__isnull=False), name="deliveries_due")
        ]

    def __str__(self) -> str:
        return f"{self.event} to {self.webhook_id}"
