"""Claims of other programs, checked by the API against documents, texts and files."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone
from django_q.models import OrmQ

from agents import checks
from agents.models import FileCheck
from documents.models import Document
from tests.api_clients import client_of
from tests.conftest import Ingest
from tests.drawing import draw_pdf

pytestmark = pytest.mark.django_db
LEAFLET = "Take 5 mg twice a day with food. Do not drive after a dose.\n\nStore below 25 °C."


def verdicts(answer: object) -> list[tuple[bool, str]]:
    body = answer.json()  # type: ignore[attr-defined]
    assert answer.status_code == 200, body  # type: ignore[attr-defined]
    return [(result["verified"], result["verdict"]) for result in body["results"]]


def test_claims_are_verified_against_a_text(alice: User) -> None:
    claims = [{"claim": "Take 5 mg twice a day with food."}, {"claim": "Take 5 g twice a day with food."}]
    answer = client_of(alice).post("/api/verify/", {"text": LEAFLET, "claims": claims}, format="json")
    assert [verified for verified, _ in verdicts(answer)] == [True, False]
    right, wrong = answer.json()["results"]
    assert LEAFLET[right["char_start"] : right["char_end"]] == right["quote"]
    assert "5 mg" in wrong["reason"] and wrong["differences"]
    assert right["page"] is None and right["rects"] == []


def test_an_invented_quote_is_told_from_one_that_stands_elsewhere(alice: User, ingested: Ingest) -> None:
    said = "The Supplier shall indemnify the Customer."
    document = str(ingested(alice, said, "Rent is due in May.").pk)

    def judged(quote: str, **source: str) -> tuple[str, bool]:
        claim = {"claim": said, "quote": quote} | ({"page": 1} if "document" in source else {})
        answer = client_of(alice).post("/api/verify/", {**source, "claims": [claim]}, format="json")
        (found,) = answer.json()["results"]
        return found["outcome"], found["reason"] == "These words are not in the document."

    assert judged("Rent is due in June", document=document) == ("differs", True)
    assert judged("Rent is due in May", document=document) == ("found", False)
    assert judged("Rent is due in June", text=said) == ("differs", True)


def test_claims_are_verified_against_a_document_that_the_caller_may_read(
    alice: User, bob: User, ingested: Ingest
) -> None:
    document = ingested(alice, "The Supplier shall indemnify the Customer.")
    claims = [{"claim": "The Customer shall indemnify the Supplier.", "page": 1}]
    sent = {"document": str(document.pk), "claims": claims}
    answer = client_of(alice).post("/api/verify/", sent, format="json")
    assert verdicts(answer)[0][0] is False
    assert answer.json()["results"][0]["link"].endswith(f"/documents/{document.pk}/?page=1&unit=") is False
    assert client_of(bob).post("/api/verify/", sent, format="json").status_code == 404


def test_a_file_is_checked_and_not_kept(alice: User) -> None:
    pdf = SimpleUploadedFile("a.pdf", draw_pdf("Ice melts at 0 degrees.", "Steam rises."))
    claims = json.dumps([{"claim": "Ice melts at 0 degrees."}, {"claim": "Ice melts at 9 degrees."}])
    answer = client_of(alice).post("/api/verify/file/", {"file": pdf, "claims": claims}, format="multipart")
    assert [verified for verified, _ in verdicts(answer)] == [True, False]
    right = answer.json()["results"][0]
    assert right["page"] == 1 and right["rects"] and all(0 <= side <= 1 for side in right["rects"][0])

    pdf.seek(0)
    quotes = json.dumps([{"quote": "Steam rises"}, {"quote": "Fog lifts"}])
    located = client_of(alice).post("/api/locate/file/", {"file": pdf, "quotes": quotes}, format="multipart")
    first, second = located.json()["results"]
    assert (first["verdict"], first["parts"][0]["page"], second["verdict"]) == ("exact", 2, "none")
    assert not Document.objects.exists()


@pytest.mark.parametrize(
    "sent",
    [
        {"text": "Words.", "claims": []},
        {"text": "Words.", "claims": [{"claim": ""}]},
        {"text": "Words.", "claims": [{"claim": "A claim.", "page": 0}]},
        {"text": "Words.", "claims": [{"claim": "A claim."}] * 101},
        {"text": "Words.", "claims": [{"claim": "A claim."}], "url": "https://example.com/"},
    ],
)
def test_what_makes_no_sense_is_refused(alice: User, sent: dict[str, object]) -> None:
    assert client_of(alice).post("/api/verify/", sent, format="json").status_code == 400


def test_reasons_say_what_to_do(alice: User) -> None:
    client, claims = client_of(alice), [{"claim": "A claim."}]
    no_source = client.post("/api/verify/", {"claims": claims}, format="json")
    assert no_source.status_code == 422 and "a document or a text" in no_source.json()["message"]
    empty = client.post("/api/verify/", {"text": " ", "claims": claims}, format="json")
    assert (empty.status_code, empty.json()["message"]) == (422, "The text is empty.")
    no_pdf = {"file": SimpleUploadedFile("a.pdf", b"MZ"), "claims": json.dumps(claims)}
    assert client.post("/api/verify/file/", no_pdf, format="multipart").status_code == 422
    no_list = {"file": SimpleUploadedFile("a.pdf", draw_pdf("W")), "claims": "{"}
    assert client.post("/api/verify/file/", no_list, format="multipart").status_code == 422
    for useless in ("null", "[]", '[{"claim": ""}]', "[" * 100_000):
        sent = {"file": SimpleUploadedFile("a.pdf", draw_pdf("W")), "claims": useless}
        refused = client.post("/api/verify/file/", sent, format="multipart")
        assert refused.status_code == 422 and refused.json()["fields"]["claims"]


LONG = [f"Step {number} takes {number + 2} minutes." for number in range(1, 63)]


def long_file(**more: object) -> dict[str, object]:
    return {"file": SimpleUploadedFile("a.pdf", draw_pdf(*LONG)), **more}


@pytest.mark.django_db(transaction=True)
def test_a_long_file_is_checked_in_the_background_and_forgotten(alice: User, bob: User) -> None:
    client = client_of(alice)
    claims = json.dumps([{"claim": "Step 61 takes 63 minutes."}, {"claim": "Step 61 takes 64 minutes."}])
    begun = client.post("/api/verify/file/", long_file(claims=claims), format="multipart")
    assert begun.status_code == 202 and begun.json()["status"] == "waiting", begun.json()
    quotes = json.dumps([{"quote": "Step 62 takes"}])
    located = client.post("/api/locate/file/", long_file(quotes=quotes), format="multipart")
    assert located.status_code == 202
    ticket = OrmQ.objects.last()
    assert ticket is not None and ticket.func() == checks.TICKET
    assert checks.check_due() == 2

    ended = client.get(begun["Location"]).json()
    assert (ended["status"], ended["error"]) == ("done", "")
    right, wrong = ended["results"]
    assert (right["verified"], right["page"], wrong["verified"]) == (True, 61, False)
    assert client.get(located["Location"]).json()["results"][0]["parts"][0]["page"] == 62
    assert client_of(bob).get(begun["Location"]).status_code == 404
    assert not [check for check in FileCheck.objects.all() if check.file]
    assert not list((Path(settings.MEDIA_ROOT) / "checks").iterdir())


@pytest.mark.django_db(transaction=True)
def test_what_waits_is_limited_found_again_and_deleted(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "MOST_CHECKS", 2)
    client, claims = client_of(alice), json.dumps([{"claim": "A claim."}])
    for status in (202, 202, 422):
        sent = client.post("/api/verify/file/", long_file(claims=claims), format="multipart")
        assert sent.status_code == status
    monkeypatch.setattr(checks, "MOST_PAGES_LATER", 61)
    lost, too_long = FileCheck.objects.order_by("created_at")
    begun = timezone.now() - timedelta(hours=2)
    FileCheck.objects.filter(pk=lost.pk).update(status="running", started_at=begun)
    OrmQ.objects.all().delete()
    checks.sweep(None)
    assert OrmQ.objects.count() == 1
    assert checks.check_due() == 1
    assert [check.status for check in FileCheck.objects.all()] == ["failed", "failed"]
    too_long.refresh_from_db()
    assert "62 pages" in too_long.error and "Add it to the library" in too_long.error
    FileCheck.objects.update(created_at=timezone.now() - timedelta(days=2))
    kept = FileCheck.objects.create(owner=alice, kind="verify", wanted=[])
    checks.sweep(None)
    assert list(FileCheck.objects.all()) == [kept]


LONG_TEXT = "\n\n".join(
    f"In {1900 + n} the mill at Lower {n} ground {n * 7} sacks of rye." for n in range(600)
)


def test_a_text_is_compared_by_a_shortlist_and_its_surroundings(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F1: each of a hundred claims was compared with every unit of a text."""
    seen: list[int] = []
    own = checks.verify

    def noted(claim: object, unit: object, beside: list[object]) -> object:
        seen.append(len(beside))
        return own(claim, unit, beside)  # type: ignore[arg-type]

    monkeypatch.setattr(checks, "verify", noted)
    checker = checks.Checker.of_text(LONG_TEXT)
    result = checker.verify("In 2400 the mill at Lower 500 ground 3500 sacks of rye.")
    assert result.verified
    assert len(seen) <= 12 and max(seen) <= 2 * checks.BESIDE + 12


def test_a_long_check_of_a_text_is_a_job_that_its_caller_can_end(
    alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F1: one call with a read-only token took hours of a web process."""
    monkeypatch.setattr("agents.api.CHECK_SECONDS", 0.0)
    api = client_of(alice)
    claims = [{"claim": "Take 5 mg twice a day with food."}, {"claim": "Take 5 g twice a day with food."}]
    answer = api.post("/api/verify/", {"text": LEAFLET, "claims": claims}, format="json")
    assert answer.status_code == 202, answer.content
    place = answer["Location"]
    assert api.get(place).json()["status"] == "waiting"
    assert checks.check_due() == 1
    found = api.get(place).json()
    assert [result["verified"] for result in found["results"]] == [True, False]
    again = api.post("/api/verify/", {"text": LEAFLET, "claims": claims}, format="json")["Location"]
    assert client_of(bob).delete(again).status_code == 404
    assert api.delete(again).status_code == 204
    assert checks.check_due() == 0


def test_a_check_that_is_deleted_while_it_runs_ends(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    claims = [{"claim": "Take 5 mg twice a day with food.", "quote": "", "page": None}] * 9
    checks.check_text_later(alice, LEAFLET, "en", "", claims)
    made = 0
    own = checks.Checker.verify

    def verified(self: checks.Checker, **sent: object) -> object:
        nonlocal made
        made += 1
        FileCheck.objects.all().delete()
        return own(self, **sent)  # type: ignore[arg-type]

    monkeypatch.setattr(checks.Checker, "verify", verified)
    checks.check_due()
    assert made == 1 and not FileCheck.objects.exists()


def test_claims_against_a_document_stop_at_the_budget(
    alice: User, ingested: Ingest, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = ingested(alice, "The Supplier shall indemnify the Customer.")
    monkeypatch.setattr("agents.api.CHECK_SECONDS", 0.0)
    sent = {"document": str(document.pk), "claims": [{"claim": "The Supplier shall indemnify."}] * 3}
    answer = client_of(alice).post("/api/verify/", sent, format="json")
    assert answer.status_code == 422 and answer.json()["code"] == "too_much_work"
