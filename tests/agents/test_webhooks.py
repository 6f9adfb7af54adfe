"""Webhooks: real messages to a real server, signed, tried again, kept out of private networks."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from django.conf import settings as settings_module
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from standardwebhooks.webhooks import Webhook as Signature

from agents.models import Event, Webhook, WebhookDelivery
from agents.webhooks import PAUSES, announce, deliver_due, sweep
from chat.answers.question_commands import ask
from chat.answers.runner import start_next
from chat.models import Conversation
from documents.models import Document
from tests.agents.conftest import NewKey
from tests.api_clients import client_of
from tests.chat.conftest import QUESTION, wait_until
from tests.conftest import Ingest
from tests.scripted_server import POLL_SECONDS

pytestmark = pytest.mark.django_db(transaction=True)


class Receiver:
    """An address that keeps what it is sent, and answers with ``status``."""

    def __init__(self) -> None:
        self.status = 204
        self.received: list[tuple[dict[str, str], bytes]] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.received.append((dict(self.headers), body))
                self.send_response(receiver.status)
                self.send_header("Location", "http://127.0.0.1:1/elsewhere")
                self.end_headers()

            def log_message(self, *args: object) -> None:
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook"


@pytest.fixture
def receiver(settings: settings_module) -> Iterator[Receiver]:  # type: ignore[valid-type]
    settings.FETCH_PRIVATE_ADDRESSES = True  # type: ignore[attr-defined]
    found = Receiver()
    threading.Thread(target=found.server.serve_forever, args=[POLL_SECONDS], daemon=True).start()
    yield found
    found.server.shutdown()
    found.server.server_close()


def hook(owner: User, url: str, *events: Event) -> Webhook:
    return Webhook.objects.create(owner=owner, url=url, events=list(events))


def test_documents_and_answers_are_told_of_with_a_signature(
    alice: User, bob: User, receiver: Receiver, ingested: Ingest
) -> None:
    webhook = hook(alice, receiver.url, Event.DOCUMENT_READY, Event.DOCUMENT_FAILED, Event.ANSWER_DONE)
    hook(bob, receiver.url, Event.DOCUMENT_READY, Event.ANSWER_DONE)
    document = ingested(alice, "Acme sold 1,577 red anvils in 2018.")
    ingested(alice, pdf=b"%PDF-1.7 broken", name="broken.pdf")
    conversation = Conversation.objects.create(owner=alice)
    answer = ask(conversation, QUESTION).answer
    start_next(conversation.pk)
    wait_until(lambda: WebhookDelivery.objects.filter(event=Event.ANSWER_DONE).exists())
    assert deliver_due() == 3
    told = [Signature(webhook.secret).verify(body, headers) for headers, body in receiver.received]
    kinds = {message["type"]: message["data"] for message in told}
    assert kinds["document.ready"]["document"] == str(document.pk)
    assert kinds["document.failed"]["code"] and kinds["document.failed"]["message"]
    assert kinds["answer.done"]["message"] == str(answer.pk)
    assert kinds["answer.done"]["status"] == "complete"
    assert not WebhookDelivery.objects.filter(webhook__owner=bob).exists()
    assert deliver_due() == 0


def test_what_is_not_taken_is_tried_again_with_growing_pauses(alice: User, receiver: Receiver) -> None:
    webhook = hook(alice, receiver.url, Event.DOCUMENT_READY)
    delivery = WebhookDelivery.objects.create(webhook=webhook, event=Event.TEST, payload={})
    receiver.status = 503
    for attempt, pause in enumerate(PAUSES, start=1):
        assert deliver_due() == 1
        delivery.refresh_from_db()
        assert (delivery.attempts, delivery.status_code) == (attempt, 503)
        assert delivery.next_at is not None
        assert timedelta() <= timezone.now() + pause - delivery.next_at < timedelta(seconds=30)
        assert deliver_due() == 0
        WebhookDelivery.objects.update(next_at=timezone.now())
    assert deliver_due() == 1  # the last attempt
    delivery.refresh_from_db()
    assert delivery.next_at is None and delivery.delivered_at is None and "503" in delivery.error
    assert len(receiver.received) == len(PAUSES) + 1


def test_an_address_that_is_gone_is_told_nothing_more(alice: User, receiver: Receiver) -> None:
    webhook = hook(alice, receiver.url, Event.DOCUMENT_READY)
    WebhookDelivery.objects.create(webhook=webhook, event=Event.TEST, payload={})
    receiver.status = 410
    deliver_due()
    webhook.refresh_from_db()
    assert not webhook.is_active


def test_a_redirect_is_not_followed(alice: User, receiver: Receiver) -> None:
    webhook = hook(alice, receiver.url, Event.DOCUMENT_READY)
    delivery = WebhookDelivery.objects.create(webhook=webhook, event=Event.TEST, payload={})
    receiver.status = 307
    deliver_due()
    delivery.refresh_from_db()
    assert delivery.status_code == 307 and delivery.delivered_at is None


def test_private_networks_are_out_of_reach(alice: User) -> None:
    client = client_of(alice)
    refused = client.post(
        "/api/webhooks/", {"url": "http://169.254.169.254/x", "events": ["answer.done"]}, format="json"
    )
    assert refused.status_code == 422 and "url" in refused.json()["fields"]
    no_address = client.post("/api/webhooks/", {"url": "x", "events": ["answer.done"]}, format="json")
    assert no_address.status_code == 422 and "url" in no_address.json()["fields"]
    webhook = hook(alice, "http://localhost:1/", Event.ANSWER_DONE)  # a name, not an address
    tested = client.post(f"/api/webhooks/{webhook.pk}/test/").json()
    assert tested["status_code"] is None and "not allowed" in tested["error"]


def test_webhooks_are_made_tested_listed_and_removed_by_their_owner_alone(
    alice: User, bob: User, receiver: Receiver
) -> None:
    client = client_of(alice)
    made = client.post(
        "/api/webhooks/", {"url": receiver.url, "events": ["answer.done", "document.ready"]}, format="json"
    ).json()
    assert made["secret"].startswith("whsec_") and made["events"] == ["answer.done", "document.ready"]
    url = f"/api/webhooks/{made['id']}/"
    assert client.post(f"{url}test/").json()["status_code"] == 204
    headers, body = receiver.received[0]
    assert Signature(made["secret"]).verify(body, headers)["type"] == "test"
    assert [row["event"] for row in client.get(f"{url}deliveries/").json()["results"]] == ["test"]
    assert (
        client.post("/api/webhooks/", {"url": receiver.url, "events": ["test"]}, format="json").status_code
        == 400
    )
    for method in ("get", "delete", "patch"):
        assert getattr(client_of(bob), method)(url).status_code == 404
    assert client_of(bob).post(f"{url}test/").status_code == 404
    assert client_of(bob).get(f"{url}deliveries/").status_code == 404
    assert client.delete(url).status_code == 204 and not WebhookDelivery.objects.exists()


def test_the_sweep_finds_what_lost_its_ticket(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    webhook = hook(alice, "https://example.com/", Event.ANSWER_DONE)
    issued: list[str] = []
    monkeypatch.setattr("agents.webhooks.async_task", lambda task, **more: issued.append(task))
    sweep(Document)
    assert not issued
    WebhookDelivery.objects.create(webhook=webhook, event=Event.TEST, payload=json.loads("{}"))
    old = WebhookDelivery.objects.create(webhook=webhook, event=Event.TEST, payload={}, next_at=None)
    WebhookDelivery.objects.filter(pk=old.pk).update(created_at=timezone.now() - timedelta(days=31))
    sweep(Document)
    assert issued == ["agents.webhooks.deliver_due"]
    assert not WebhookDelivery.objects.filter(pk=old.pk).exists()


def test_a_token_that_only_reads_makes_no_webhook(alice: User, new_key: NewKey, client: object) -> None:
    headers = {"Authorization": f"Bearer {new_key(alice, 'read')}"}
    answer = client.post(  # type: ignore[attr-defined]
        "/api/webhooks/", {"url": "https://example.com/"}, headers=headers, content_type="application/json"
    )
    assert answer.status_code == 403


def test_the_page_adds_tests_and_removes_webhooks(alice: User, bob: User, receiver: Receiver) -> None:
    client, other = Client(), Client()
    client.force_login(alice)
    other.force_login(bob)
    page = client.get("/account/webhooks/").content.decode()
    assert "Add a webhook" in page and "a document is ready" in page
    written = {"url": "file:///etc", "event": "answer.done"}
    refused = client.post("/account/webhooks/add/", written).content.decode()
    assert "http://" in refused and not Webhook.objects.exists()
    assert 'value="file:///etc"' in refused and refused.count(" checked") == 1, "nothing is lost"
    client.post("/account/webhooks/add/", {"url": receiver.url, "event": ["answer.done", "no.such"]})
    webhook = Webhook.objects.get()
    assert webhook.events == ["answer.done"]
    shown = client.get("/account/webhooks/").content.decode()
    assert receiver.url in shown and webhook.secret in shown
    assert webhook.secret not in client.get("/account/webhooks/").content.decode(), "F8: it is shown once"
    assert receiver.url not in other.get("/account/webhooks/").content.decode()
    tried = client.post(f"/account/webhooks/{webhook.pk}/test/", follow=True).content.decode()
    assert "The test message was delivered" in tried and len(receiver.received) == 1
    assert other.post(f"/account/webhooks/{webhook.pk}/test/").status_code == 404
    assert other.post(f"/account/webhooks/{webhook.pk}/remove/").status_code == 404
    client.post(f"/account/webhooks/{webhook.pk}/remove/")
    assert not Webhook.objects.exists()


def test_nothing_is_sent_for_who_was_deactivated(alice: User, receiver: Receiver) -> None:
    """F7: events went on to be queued and sent, with titles; what was queued before waits."""
    webhook = hook(alice, receiver.url, Event.DOCUMENT_READY)
    announce(Event.DOCUMENT_READY, alice.pk, {"title": "before"})
    alice.is_active = False
    alice.save()
    announce(Event.DOCUMENT_READY, alice.pk, {"title": "after"})
    assert deliver_due() == 0 and receiver.received == []
    assert WebhookDelivery.objects.filter(webhook=webhook).count() == 1


def test_a_secret_is_in_the_answer_that_made_it_only(alice: User, ingested: Ingest) -> None:
    """F8: a read-only token listed the secrets of webhooks and the addresses of embedded readers."""
    api, document = client_of(alice), ingested(alice, "Acme sold 1,577 red anvils in 2018.")
    url = {"url": "https://example.com/", "events": ["document.ready"]}
    made = api.post("/api/webhooks/", url, format="json").json()
    frame = {"document": str(document.pk), "origins": ["https://example.com"]}
    embed = api.post("/api/embeds/", frame, format="json").json()
    assert made["secret"] and embed["url"]
    for path in ("webhooks/", f"webhooks/{made['id']}/", "embeds/", f"embeds/{embed['id']}/"):
        shown = api.get(f"/api/{path}").content.decode()
        assert made["secret"] not in shown and embed["url"] not in shown and made["secret"][:12] not in shown
    changed = api.patch(f"/api/webhooks/{made['id']}/", {"is_active": False}, format="json").json()
    assert changed["secret"] == ""
