"""Rows of other programs: threads of chat front ends, webhooks, checks of files, embedded readers."""

from __future__ import annotations

import uuid
from collections.abc import Container, Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, Self

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from chat.models import Conversation
from documents.access import Given, Grant
from documents.models import Document, EventKind
from documents.models.library import OwnedQuerySet
from documents.models.security import record
from documents.tokens import EMBED, WEBHOOK, ListedToken

if TYPE_CHECKING:
    from django.contrib.auth.models import User


class ChatThread(models.Model):
    """A conversation, identified by a digest of the messages that the front end has."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    conversation = models.OneToOneField(Conversation, on_delete=models.CASCADE, related_name="+")
    digest = models.CharField(max_length=64, help_text="SHA-256 of model, questions and answers")
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        indexes = [models.Index(fields=["owner", "digest"], name="chat_thread_digest")]

    def __str__(self) -> str:
        return f"{self.conversation_id}"


class Event(models.TextChoices):
    DOCUMENT_READY = "document.ready", _("a document is ready")
    DOCUMENT_FAILED = "document.failed", _("a document could not be read")
    ANSWER_DONE = "answer.done", _("an answer is complete")
    REVIEW_FILLED = "review.filled", _("the cells of a review are filled")
    CHECK_DONE = "check.done", _("a check of a long file has ended")
    TEST = "test", _("a test message was requested")


MOST_WEBHOOKS = 20  # of one owner


class WebhookQuerySet(OwnedQuerySet["Webhook"]):
    def subscribed_to(self, event: Event, owner: int) -> Self:
        """Return the active webhooks of the owner for an event; none once the owner is deactivated."""
        return self.filter(owner=owner, owner__is_active=True, is_active=True, events__contains=[event])


class Webhook(models.Model):
    """An address that receives events of its owner's documents and answers."""

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
        """Return the secret for verifying signatures (Standard Webhooks), derived from the server's key."""
        return WEBHOOK.of(self.pk)


KEPT = timedelta(days=30)


class DeliveryQuerySet(models.QuerySet["WebhookDelivery"]):
    def due(self) -> Self:
        ready = self.filter(next_at__lte=timezone.now(), webhook__is_active=True)
        return ready.filter(webhook__owner__is_active=True).order_by("next_at")

    def forget_old(self) -> int:
        """Delete deliveries that ended more than 30 days ago; return their number."""
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
        verbose_name_plural = "webhook deliveries"
        indexes = [
            models.Index(fields=["next_at"], condition=models.Q(next_at__isnull=False), name="deliveries_due")
        ]

    def __str__(self) -> str:
        return f"{self.event} to {self.webhook_id}"


CHECKS_KEPT = timedelta(days=1)
CHECK_LOST = timedelta(hours=1)  # since a worker last made progress with a check


class FileCheckQuerySet(OwnedQuerySet["FileCheck"]):
    def unfinished(self) -> Self:
        return self.filter(status__in=(FileCheck.Status.WAITING, FileCheck.Status.RUNNING))

    def due(self) -> Self:
        """Return checks that wait, and checks whose worker died."""
        lost = Q(status=FileCheck.Status.RUNNING, started_at__lt=timezone.now() - CHECK_LOST)
        return self.filter(Q(status=FileCheck.Status.WAITING) | lost).order_by("created_at")

    def outdated(self) -> Self:
        return self.filter(created_at__lt=timezone.now() - CHECKS_KEPT)


class FileCheck(models.Model):
    """Claims or quotes to check in the background against a file, which is deleted afterwards."""

    class Kind(models.TextChoices):
        VERIFY = "verify", "claims"
        LOCATE = "locate", "quotes"

    class Status(models.TextChoices):
        WAITING = "waiting", "waiting"
        RUNNING = "running", "running"
        DONE = "done", "done"
        FAILED = "failed", "failed"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(max_length=10, choices=Kind)
    file = models.FileField(upload_to="checks/", max_length=200)
    title = models.CharField(max_length=500, blank=True)
    wanted = models.JSONField(help_text="the claims or quotes, as they were sent")
    status = models.CharField(max_length=10, choices=Status, default=Status.WAITING)
    results = models.JSONField(null=True)
    error = models.CharField(max_length=500, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)

    objects = FileCheckQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}"


class ReaderEmbedQuerySet(OwnedQuerySet["ReaderEmbed"]):
    def open(self) -> Self:
        """Return embeds that have not expired. ``is_open`` checks the owner's right."""
        return self.filter(expires_at__gt=timezone.now(), owner__is_active=True)

    def by_token(self, token: str) -> ReaderEmbed | None:
        """Return the embed of an address; None for a forged or expired address."""
        embed_id = EMBED.id_in(token)
        if embed_id is None:
            return None
        found = self.open().select_related("owner", "document").filter(pk=embed_id).first()
        return found if found and found.is_open else None


class ReaderEmbed(models.Model):
    """A reader of one document within pages of other sites, for anyone who has its address.

    It ends when it expires, or when its owner may no longer share the document.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="+")
    origins = ArrayField(models.CharField(max_length=300), help_text="the sites whose pages may show it")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()

    objects = ReaderEmbedQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"reader of {self.document_id} in {', '.join(self.origins)}"

    @property
    def token(self) -> str:
        """Return the id with a signature, so that ids cannot be guessed."""
        return EMBED.token_of(self.pk)

    @property
    def is_open(self) -> bool:
        """Return whether the owner may still share the document. One query."""
        return Document.objects.editable_by(self.owner).filter(pk=self.document_id).exists()


def embeds_of(document: Document, readers: Container[str]) -> Iterator[Grant]:
    """Return the document's open embedded readers, for ``documents.access``."""
    found = ReaderEmbed.objects.open().filter(document=document).select_related("owner")
    for embed in found.order_by("created_at"):
        maker = embed.owner.get_username()
        if maker in readers:
            label = ", ".join(embed.origins)
            shows = _("in pages of %(sites)s; shows the whole document") % {"sites": label}
            yield Grant(
                f"embed-{embed.pk}", "embed", (), maker, embed.created_at, embed.expires_at, label,
                title=EMBED.label, shows=shows,
            )  # fmt: skip


def given_embeds(user: User) -> Iterator[Given]:
    """Yield the user's embedded readers, for ``documents.access``."""
    for embed in ReaderEmbed.objects.open().filter(owner=user).select_related("document"):
        url = reverse("document-details", args=[embed.document_id]) + "#access"
        yield Given(embed.document.title, url, "", False, embed.created_at, embed.expires_at)


def listed_embeds(user: User) -> Iterator[ListedToken]:
    """Yield the user's embedded readers, for ``documents.tokens``."""
    for embed in ReaderEmbed.objects.open().filter(owner=user).select_related("document"):
        name = f"{embed.document.title} · {', '.join(embed.origins)}"
        page = reverse("document-details", args=[embed.document_id])
        yield ListedToken(EMBED, name, embed.created_at, embed.expires_at, page)


def listed_webhooks(user: User) -> Iterator[ListedToken]:
    """Yield the user's webhooks, for ``documents.tokens``."""
    page = reverse("webhooks")
    for webhook in Webhook.objects.visible_to(user).filter(is_active=True):
        yield ListedToken(WEBHOOK, webhook.url, webhook.created_at, None, page)


def end_embed(document: Document, embed_id: uuid.UUID) -> bool:
    """End an embedded reader of the document, of any owner."""
    found = ReaderEmbed.objects.filter(document=document, pk=embed_id)
    for embed in found:
        record(EventKind.LINK_ENDED, str(embed))
    return bool(found.delete()[0])
