"""Embedded readers show one document to named sites until they expire or are ended."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from agents.models import ReaderEmbed
from documents.access import end_grant, grants_of
from documents.models import Document, Share
from tests.api_clients import client_of
from tests.conftest import Ingest

pytestmark = pytest.mark.django_db
SITE = "https://wiki.example"


def embedded(owner: User, document: Document) -> str:
    sent = {"document": str(document.pk), "origins": [SITE, "http://localhost:4000"], "days": 7}
    made = client_of(owner).post("/api/embeds/", sent, format="json")
    assert made.status_code == 201, made.json()
    return str(made.json()["url"]).removeprefix("http://testserver")


def test_whoever_has_the_address_reads_that_document_and_nothing_else(alice: User, ingested: Ingest) -> None:
    document, other = ingested(alice, "Ice melts at 0 degrees."), ingested(alice, "Private words.")
    path = embedded(alice, document)
    anybody = Client()
    page = anybody.get(path, {"page": 1, "q": "melts at 0"})
    assert page.status_code == 200 and not page.cookies
    assert f"frame-ancestors {SITE} http://localhost:4000;" in page["Content-Security-Policy"] + ";"
    assert "X-Frame-Options" not in page and page["Referrer-Policy"] == "no-referrer"
    text = page.content.decode()
    assert '"anchor": [[' in text and str(other.pk) not in text and "csrf" not in text
    file = anybody.get(f"{path}file", headers={"Range": "bytes=0-4"})
    assert (file.status_code, file.content) == (206, b"%PDF-")
    assert anybody.get(f"/documents/{document.pk}/").status_code == 302
    assert anybody.get(f"/documents/{document.pk}/file").status_code == 302
    ordinary = Client()
    ordinary.force_login(alice)
    assert "frame-ancestors 'none'" in ordinary.get(f"/documents/{document.pk}/")["Content-Security-Policy"]


def test_a_reader_ends_at_its_date_by_its_owner_and_with_the_right_of_its_maker(
    alice: User, bob: User, ingested: Ingest
) -> None:
    document = ingested(alice, "Words.")
    anybody, hers = Client(), embedded(alice, document)
    forged = f"/embed/{ReaderEmbed.objects.get().pk.hex}:forged/"
    assert anybody.get(forged).status_code == 404
    ReaderEmbed.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert anybody.get(hers).status_code == anybody.get(f"{hers}file").status_code == 404

    right = Share.objects.create(document=document, user=bob, can_write=True)
    his = embedded(bob, document)
    assert anybody.get(his).status_code == 200
    (way,) = [way for way in grants_of(document) if way.kind == "embed"]
    assert (way.granted_by, way.label) == ("bob", f"{SITE}, http://localhost:4000") and way.until
    right.delete()
    assert anybody.get(his).status_code == 404 and anybody.get(f"{his}file").status_code == 404
    Share.objects.create(document=document, user=bob, can_write=True)
    assert end_grant(document, way.key)
    assert anybody.get(his).status_code == 404 and not end_grant(document, way.key)

    own = embedded(alice, document)
    client = client_of(alice)
    kept = client.get("/api/embeds/").json()["results"][0]["id"]
    assert client_of(bob).delete(f"/api/embeds/{kept}/").status_code == 404
    assert client.delete(f"/api/embeds/{kept}/").status_code == 204
    assert anybody.get(own).status_code == 404


def test_only_who_may_hand_a_document_on_embeds_it(alice: User, bob: User, ingested: Ingest) -> None:
    document = ingested(alice, "Words.")
    sent = {"document": str(document.pk), "origins": [SITE]}
    assert client_of(bob).post("/api/embeds/", sent, format="json").status_code == 404
    Share.objects.create(document=document, user=bob)
    assert client_of(bob).post("/api/embeds/", sent, format="json").status_code == 404
    for origin in ("*", "https://*", "https://a.example; script-src *", "https://a.example/path", "'self'"):
        refused = client_of(alice).post("/api/embeds/", sent | {"origins": [origin]}, format="json")
        assert refused.status_code == 400, origin


def test_the_owner_sees_embedded_readers_among_who_has_access(alice: User, ingested: Ingest) -> None:
    document = ingested(alice, "Words.")
    embedded(alice, document)
    client = Client()
    client.force_login(alice)
    page = client.get(f"/documents/{document.pk}/details/").content.decode()
    assert "Embedded reader" in page and SITE in page
