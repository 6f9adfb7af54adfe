"""Background jobs are recorded from request to outcome."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.db.models import F
from django.test import Client
from django.utils import timezone
from django.utils.html import escape
from django_q.models import OrmQ

from documents.files.uploads import store_upload
from documents.importers.block import AdapterError
from documents.importers.block_import import import_blocks
from documents.ingestion.pipeline import cancel, ingest_again, ingest_document
from documents.library import delete_document
from documents.models import Document, Job
from documents.papers.acquisition import fetch_later, fetch_pdf
from documents.tasks import sweep
from retrieval.index.backfill import reindex
from retrieval.models import IndexedDocument
from tests.api_clients import client_of
from tests.conftest import Ingest, imported
from tests.drawing import draw_pdf
from tests.scripted_server import Answer, scripted_server


def uploaded(owner: User, *pages: str, pdf: bytes = b"") -> Document:
    return store_upload(owner, ContentFile(pdf or draw_pdf(*pages)), "trial.pdf")


def test_a_job_waits_runs_and_is_done(alice: User) -> None:
    document = uploaded(alice, "The dose was 5 mg.")
    (waiting,) = Job.objects.all()
    assert (waiting.kind, waiting.state, waiting.seconds) == ("read", "waiting", None)
    ingest_document(document.pk)
    (done,) = Job.objects.all()
    assert (done.state, done.attempts, done.progress) == ("done", 1, 1)
    assert done.started_at is not None
    assert done.finished_at is not None
    assert done.seconds is not None
    assert "read" in done.stage_seconds


def test_reading_again_is_another_job_and_the_first_stays_listed(alice: User, ingested: Ingest) -> None:
    document = ingested(alice, "Words.")
    assert ingest_again(document)
    assert list(Job.objects.values_list("kind", "outcome")) == [("reread", ""), ("read", "done")]


def test_a_failure_is_kept_with_its_reason(alice: User) -> None:
    document = uploaded(alice, pdf=b"%PDF-1.7\nnothing more")
    ingest_document(document.pk)
    document.refresh_from_db()
    (job,) = Job.objects.all()
    assert document.status == "failed"
    assert (job.state, job.failure_code) == ("failed", document.failure_code)
    assert job.failure_message == document.failure_message != ""


def test_what_is_cancelled_or_deleted_is_no_failure(alice: User) -> None:
    stopped, gone = uploaded(alice, "One."), uploaded(alice, "Two.")
    cancel(stopped)
    delete_document(gone)
    sweep()
    assert {job.title: job.state for job in Job.objects.all()} == {"trial": "cancelled"}
    assert Job.objects.filter(outcome="cancelled").count() == 2


def test_a_job_whose_end_was_not_written_is_settled_by_the_sweep(alice: User, ingested: Ingest) -> None:
    document = ingested(alice, "Words.")
    Job.objects.filter(document=document).update(outcome="", finished_at=None)
    sweep()
    assert Job.objects.get(document=document).state == "done"


def test_jobs_are_forgotten_after_thirty_days(alice: User, ingested: Ingest) -> None:
    ingested(alice, "Words.")
    Job.objects.update(finished_at=timezone.now() - timedelta(days=29))
    sweep()
    assert Job.objects.count() == 1
    Job.objects.update(finished_at=timezone.now() - timedelta(days=31))
    sweep()
    assert Job.objects.count() == 0


def test_imported_blocks_are_a_job_and_refused_ones_are_none(alice: User) -> None:
    imported(alice, [{"type": "text", "text": "The valve opens at 3 bar."}], "Manual")
    assert list(Job.objects.values_list("kind", "outcome")) == [("import", "done")]
    with pytest.raises(AdapterError):
        import_blocks(alice, [], "Nothing")
    assert Job.objects.count() == 1


def test_a_full_text_that_cannot_be_fetched_is_a_failed_job(alice: User, ingested: Ingest) -> None:
    paper = ingested(alice, "A record.")
    paper.kind, paper.metadata = Document.Kind.PAPER, {"paper": {"pdf_url": "http://127.0.0.1:9/paper.pdf"}}
    paper.save()
    reason = fetch_pdf(str(paper.pk))
    job = Job.objects.get(kind="fetch")
    assert (job.state, job.failure_message) == ("failed", reason)
    assert reason


def test_a_full_text_that_is_fetched_waits_and_is_done_beside_the_reading_of_its_record(
    alice: User, ingested: Ingest, settings: Any, django_capture_on_commit_callbacks: Any
) -> None:
    settings.FETCH_PRIVATE_ADDRESSES = True
    paper = ingested(alice, "A record.")
    assert ingest_again(paper), "its record is being read again meanwhile"
    with scripted_server() as server, django_capture_on_commit_callbacks():
        server.script["/open.pdf"] = Answer(body=draw_pdf("The tide turns at noon."))
        paper.kind, paper.metadata = Document.Kind.PAPER, {"paper": {"pdf_url": f"{server.url}/open.pdf"}}
        paper.save()
        fetch_later(paper)
        fetch_later(paper)
        waiting = Job.objects.get(kind="fetch")
        assert (waiting.state, waiting.stage, waiting.progress) == ("waiting", "uploaded", 0)
        assert fetch_pdf(str(paper.pk)) == "fetched"
    done = Job.objects.get(kind="fetch")
    assert (done.state, done.progress, done.attempts) == ("done", 1, 1)
    assert done.seconds is not None and "fetching" in done.stage_seconds
    assert fetch_pdf(str(paper.pk)) == "nothing to fetch"


def test_a_fetch_whose_worker_was_lost_is_given_up_by_the_sweep(alice: User, ingested: Ingest) -> None:
    fetch_later(ingested(alice, "A record."))
    sweep()
    assert Job.objects.get(kind="fetch").state == "waiting"
    Job.objects.filter(kind="fetch").update(created_at=timezone.now() - timedelta(hours=7))
    sweep()
    assert Job.objects.get(kind="fetch").failure_message == "Reading was interrupted. Try again."


def test_indexing_again_is_a_job_of_each_document(alice: User, ingested: Ingest) -> None:
    document = ingested(alice, "Words.")
    reindex("hashing:12")
    job = Job.objects.get(kind="index")
    assert (job.document, job.state, list(job.stage_seconds)) == (document, "done", ["indexing"])
    IndexedDocument.objects.update(analysis_version=0)
    sweep()
    assert Job.objects.filter(kind="index", outcome="done").count() == 2


def test_the_card_says_that_a_full_text_is_being_fetched_and_why_it_was_not(
    alice: User, bob: User, ingested: Ingest, client: Client
) -> None:
    paper = ingested(alice, "A record.")
    paper.kind, paper.metadata = Document.Kind.PAPER, {"paper": {"pdf_url": "http://127.0.0.1:9/paper.pdf"}}
    paper.save()
    client.force_login(alice)
    assert "could not be downloaded" not in client.get("/").text
    reason = fetch_pdf(str(paper.pk))
    shown = client.get("/").text
    assert f"could not be downloaded: {escape(reason)}" in shown and "Download again" in shown
    card = client.post(f"/documents/{paper.pk}/full-text/", headers={"HX-Request": "true"}).text
    assert "Downloading the full text" in card and "could not be downloaded" not in card
    polled = client.get(f"/documents/cards/?id={paper.pk}")
    assert "Downloading the full text" in polled.text and "HX-Trigger" not in polled.headers


def test_the_details_say_why_a_full_text_was_not_fetched_and_fetch_it_again(
    alice: User, bob: User, ingested: Ingest, client: Client, django_capture_on_commit_callbacks: Any
) -> None:
    paper = ingested(alice, "A record.")
    paper.kind, paper.metadata = Document.Kind.PAPER, {"paper": {"pdf_url": "http://127.0.0.1:9/paper.pdf"}}
    paper.save()
    client.force_login(alice)
    assert "is known" in client.get(f"/documents/{paper.pk}/details/").text
    reason = fetch_pdf(str(paper.pk))
    page = client.get(f"/documents/{paper.pk}/details/").text
    assert escape(reason) in page
    assert "Download again" in page
    with django_capture_on_commit_callbacks(execute=True):
        client.post(f"/documents/{paper.pk}/full-text/")
    assert OrmQ.objects.last().func() == "documents.papers.acquisition.fetch_pdf"
    client.force_login(bob)
    assert client.post(f"/documents/{paper.pk}/full-text/").status_code == 404


def test_the_api_lists_ones_own_jobs_and_filters_them(alice: User, bob: User, ingested: Ingest) -> None:
    document = ingested(alice, "Words.")
    waiting = uploaded(alice, "More words.")
    client = client_of(alice)
    listed = client.get("/api/jobs/").json()["results"]
    assert [(job["document"], job["state"]) for job in listed] == [
        (str(waiting.pk), "waiting"),
        (str(document.pk), "done"),
    ]
    done = client.get("/api/jobs/?state=done").json()["results"]
    assert [job["id"] for job in done] == [listed[1]["id"]]
    Job.objects.filter(document=document).update(started_at=F("finished_at") - timedelta(seconds=2.5))
    one = client.get(f"/api/jobs/{done[0]['id']}/").json()
    assert (one["kind"], one["stage"], one["progress"]) == ("read", "", 1.0)
    assert one["seconds"] == 2.5
    assert client.get("/api/jobs/?state=nonsense").status_code == 400
    assert client_of(bob).get("/api/jobs/").json()["results"] == []
    assert client_of(bob).get(f"/api/jobs/{one['id']}/").status_code == 404


def test_the_page_lists_jobs_in_a_fixed_number_of_queries(
    alice: User, ingested: Ingest, client: Client, django_assert_max_num_queries: Any
) -> None:
    client.force_login(alice)
    assert "No jobs yet" in client.get("/jobs/").text
    for number in range(3):
        ingested(alice, f"Words of {number}.", name=f"report {number}.pdf")
    with django_assert_max_num_queries(8):
        page = client.get("/jobs/").text
    assert page.count("Done") == 3
    assert "report 2" in page
    assert 'hx-trigger="every 3s"' not in page
    uploaded(alice, "More.")
    assert 'hx-trigger="every 3s"' in client.get("/jobs/").text
