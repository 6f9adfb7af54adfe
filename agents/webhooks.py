"""Webhooks: send events of documents, answers and reviews to the addresses that their owner registered.

Messages are signed according to Standard Webhooks and retried with growing pauses. A worker sends them
through the guard against private networks. The rows are the queue; a ticket in django-q only makes a worker
look at it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import httpx
from django.db import transaction
from django.utils import timezone
from django_q.tasks import async_task
from standardwebhooks.webhooks import Webhook as Signature

from agents.models import Event, Webhook, WebhookDelivery
from chat.models import Message
from documents.files.url_fetch import FetchRefused, guarded_client, parsed
from documents.models import Job
from documents.tokens import WEBHOOK
from reviews.models import Review

PAUSES = tuple(timedelta(seconds=s) for s in (5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400))
SECONDS_TO_ANSWER = 15
AT_ONCE = 50  # deliveries per ticket
CHOOSABLE = [choice for choice in Event.choices if choice[0] != Event.TEST]
TICKET = "agents.webhooks.deliver_due"
NO_ANSWER = "The address did not answer."


def job_finished(sender: object, job: Job, **more: Any) -> None:
    """Queue the event of a document that is ready or failed."""
    if job.document_id is None or job.outcome == Job.Outcome.CANCELLED:
        return
    failed = job.outcome == Job.Outcome.FAILED
    about = {"document": str(job.document_id), "title": job.title, "job": str(job.pk), "kind": job.kind}
    if failed:
        about |= {"code": job.failure_code, "message": job.failure_message}
    announce(Event.DOCUMENT_FAILED if failed else Event.DOCUMENT_READY, job.owner_id, about)


def answer_finished(sender: object, message_id: UUID, **more: Any) -> None:
    """Queue the event of an answer that has succeeded or failed."""
    owners = Webhook.objects.filter(is_active=True, events__contains=[Event.ANSWER_DONE]).values("owner")
    answers = Message.objects.filter(pk=message_id, conversation__owner__in=owners)
    if answer := answers.select_related("conversation").first():
        about = {
            "message": str(answer.pk),
            "conversation": str(answer.conversation_id),
            "status": answer.status,
            "error": answer.error,
        }
        announce(Event.ANSWER_DONE, answer.conversation.owner_id, about)


def review_filled(sender: object, review_id: UUID, **more: Any) -> None:
    """Queue the event of a review whose cells are filled."""
    review = Review.objects.get(pk=review_id)
    announce(Event.REVIEW_FILLED, review.owner_id, {"review": str(review.pk), "name": review.name})


def announce(event: Event, owner: int, about: dict[str, str]) -> None:
    """Queue one message for each of the owner's webhooks that subscribe to the event."""
    send(Webhook.objects.subscribed_to(event, owner), event, about)


def send(webhooks: Iterable[Webhook], event: Event, about: dict[str, str]) -> None:
    """Queue the message for these webhooks."""
    rows = WebhookDelivery.objects.bulk_create(message(webhook, event, about) for webhook in webhooks)
    if rows:
        transaction.on_commit(lambda: async_task(TICKET, group="webhooks"), robust=True)


def message(webhook: Webhook, event: Event, about: dict[str, str]) -> WebhookDelivery:
    payload = {"type": event.value, "timestamp": timezone.now().isoformat(), "data": about}
    return WebhookDelivery(webhook=webhook, event=event, payload=payload)


def tested(webhook: Webhook) -> WebhookDelivery:
    """Send a test message at once, as a user waits for the result."""
    delivery = message(webhook, Event.TEST, {"webhook": str(webhook.pk)})
    delivery.attempts, delivery.next_at = 1, None
    delivery.save(force_insert=True)
    deliver(delivery)
    return delivery


def sweep(sender: object, **more: Any) -> None:
    """Issue a ticket if a delivery is due; delete old deliveries."""
    WebhookDelivery.objects.forget_old()
    if WebhookDelivery.objects.due().exists():
        async_task(TICKET, group="webhooks")


def deliver_due() -> int:
    """Send the deliveries that are due; return the number of attempts."""
    tried = 0
    while tried < AT_ONCE and (delivery := _claimed()):
        deliver(delivery)
        tried += 1
    return tried


def _claimed() -> WebhookDelivery | None:
    """Claim the first delivery that is due, and postpone it for other workers; None if none is due."""
    with transaction.atomic():
        due = (
            WebhookDelivery.objects.due()
            .select_related("webhook")
            .select_for_update(skip_locked=True, of=("self",))
        )
        if delivery := due.first():
            pause = PAUSES[min(delivery.attempts, len(PAUSES) - 1)]
            delivery.attempts += 1
            delivery.next_at = timezone.now() + pause if delivery.attempts <= len(PAUSES) else None
            delivery.save(update_fields=["attempts", "next_at"])
        return delivery


def deliver(delivery: WebhookDelivery) -> None:
    """Send one message, and store the outcome."""
    delivery.status_code, delivery.error = None, ""
    try:
        delivery.status_code = _posted(delivery)
    except FetchRefused as refused:
        delivery.error = refused.message
    except (httpx.HTTPError, httpx.InvalidURL, ValueError):
        delivery.error = NO_ANSWER
    if delivery.status_code is not None and 200 <= delivery.status_code < 300:
        delivery.delivered_at, delivery.next_at = timezone.now(), None
    elif delivery.status_code is not None:
        delivery.error = f"The address answered {delivery.status_code}."
    if delivery.status_code == httpx.codes.GONE:
        delivery.next_at = None
        Webhook.objects.filter(pk=delivery.webhook_id).update(is_active=False)
    delivery.save(update_fields=["status_code", "error", "delivered_at", "next_at"])


def _posted(delivery: WebhookDelivery) -> int:
    """Post the message; return the response's status. Raises FetchRefused, HTTPError."""
    body, now = json.dumps(delivery.payload), datetime.now(UTC)
    key, secrets = f"msg_{delivery.pk.hex}", WEBHOOK.all_of(delivery.webhook_id)
    headers = {
        "Content-Type": "application/json",
        "Accept": "*/*",
        "webhook-id": key,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": " ".join(Signature(secret).sign(key, now, body) for secret in secrets),
    }
    with (
        guarded_client(deadline=time.monotonic() + SECONDS_TO_ANSWER) as client,
        client.stream("POST", parsed(delivery.webhook.url), content=body, headers=headers) as response,
    ):
        return int(response.status_code)
