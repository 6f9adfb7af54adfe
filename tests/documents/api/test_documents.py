"""Documents through the API: upload, list, read, change, delete, status, retry."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from rest_framework.test import APIClient

from documents.api.units import RegionSerializer, region_of
from documents.models import Collection, Document, Tag
from pdf.geometry import PageFrame
from tests.api_clients import client_of
from tests.conftest import Ingest
from tests.drawing import draw_pdf


def upload(client: APIClient, body: bytes = b"", name: str = "a.pdf", **fields: object) -> Any:
    file = SimpleUploadedFile(name, body or draw_pdf("Words of a page."), "application/pdf")
    return client.post("/api/documents/", {"file": file, **fields}, format="multipart")


def test_an_upload_is_stored_for_its_owner_and_waits(alice: User) -> None:
    answer = upload(client_of(alice), name="Annual_report.pdf")
    assert answer.status_code == 201
    assert answer.json()["title"] == "Annual report"
    document = Document.objects.get(pk=answer.json()["id"])
    assert (document.owner, document.status) == (alice, "uploaded")


def test_an_upload_can_be_put_into_a_collection_and_under_tags(alice: User) -> None:
    collection = Collection.objects.create(owner=alice, name="Reports")
    tag = Tag.objects.create(owner=alice, name="2018")
    answer = upload(client_of(alice), collections=[collection.pk], tags=[tag.pk])
    assert answer.json()["collections"] == [str(collection.pk)]
    assert answer.json()["tags"] == [str(tag.pk)]


def test_what_is_no_pdf_is_refused_with_a_code_and_a_sentence(alice: User) -> None:
    answer = upload(client_of(alice), b"<html></html>")
    assert answer.status_code == 415
    assert answer.json()["code"] == "not_a_pdf"
    assert "not a PDF" in answer.json()["message"]
    file = SimpleUploadedFile("a.pdf", b"")
    empty = client_of(alice).post("/api/documents/", {"file": file}, format="multipart")
    assert (empty.status_code, empty.json()["code"]) == (400, "empty")


def test_a_second_copy_is_refused_and_the_first_is_named(alice: User, bob: User) -> None:
    body = draw_pdf("The same words.")
    first = upload(client_of(alice), body).json()["id"]
    second = upload(client_of(alice), body)
    assert second.status_code == 409
    assert second.json()["code"] == "duplicate"
    assert second["Location"].endswith(f"/api/documents/{first}/")
    assert upload(client_of(bob), body).status_code == 201, "nothing tells of another owner's copy"


def test_a_document_is_read_with_its_pages_units_words_and_chunks(alice: User, ingested: Ingest) -> None:
    document = ingested(alice, "# Results\n\nRevenue was 32.8 billion dollars in 2018.\n\nIt rose by 3 %.")
    client, base = client_of(alice), f"/api/documents/{document.pk}"
    assert client.get(f"{base}/status/").json()["status"] == "ready"
    page = client.get(f"{base}/pages/1/").json()
    units = client.get(f"{base}/pages/1/units/").json()["results"]
    for unit in units:
        assert page["text"][unit["char_start"] : unit["char_end"]] == unit["content"]
    assert units[0]["content"] == "Results"
    words = client.get(f"{base}/pages/1/words/").json()
    assert [word["text"] for word in words][:4] == ["Results", "Revenue", "was", "32.8"]
    chunk = client.get(f"{base}/chunks/").json()["results"][0]
    detail = client.get(f"/api/chunks/{chunk['id']}/").json()
    assert [unit["id"] for unit in detail["units"]] == chunk["unit_ids"]


def test_a_unit_says_where_it_stands_in_points_and_in_fractions(alice: User, ingested: Ingest) -> None:
    """The line is drawn with its baseline at y = 90 pt from x = 72 pt on a page of 595 × 842 pt."""
    document = ingested(alice, "Revenue was 32.8 billion dollars in 2018.")
    client = client_of(alice)
    unit = client.get(f"/api/documents/{document.pk}/units/").json()["results"][0]
    region = client.get(f"/api/units/{unit['id']}/").json()["region"]
    box = region["bbox"]
    assert abs(box["x0"] - 72) < 1 and box["y0"] < 90 < box["y1"]
    assert box["x"] == box["x0"] and abs(box["x0"] + box["width"] - box["x1"]) < 1e-6
    x0, y0, _, _ = region["display"][0]
    assert abs(x0 * region["page_width"] - box["x0"]) < 0.01
    assert abs(y0 * region["page_height"] - box["y0"]) < 0.01


@pytest.mark.parametrize("rects", [[], [[10, 20, 30.5, 40], [1, 2, 3, 4]]])
@pytest.mark.parametrize("turned", [0, 90])
def test_a_region_is_written_as_its_schema_says(rects: list[list[float]], turned: int) -> None:
    region = region_of(3, PageFrame(600, 800, turned, 10, 20), rects)
    assert json.loads(json.dumps(region)) == json.loads(json.dumps(RegionSerializer(region).data))


def test_a_document_is_changed_but_never_given_away(alice: User, bob: User, ingested: Ingest) -> None:
    document, client = ingested(alice, "Words."), client_of(alice)
    url = f"/api/documents/{document.pk}/"
    assert client.patch(url, {"title": "Better", "year": 2018}, format="json").json()["title"] == "Better"
    refused = client.patch(url, {"owner": bob.pk, "status": "failed"}, format="json")
    assert refused.status_code == 400
    assert sorted(refused.json()["fields"]) == ["owner", "status"]
    document.refresh_from_db()
    assert (document.owner, document.status) == (alice, "ready")


def test_a_deleted_document_leaves_no_row_and_no_file(
    alice: User, ingested: Ingest, django_capture_on_commit_callbacks: Any
) -> None:
    document, client = ingested(alice, "Words."), client_of(alice)
    storage, name = document.file.storage, document.file.name
    with django_capture_on_commit_callbacks(execute=True):
        assert client.delete(f"/api/documents/{document.pk}/").status_code == 204
    assert client.get(f"/api/documents/{document.pk}/").status_code == 404
    assert not Document.objects.filter(pk=document.pk).exists() and not storage.exists(name)


def test_a_failed_document_can_be_retried_and_one_in_work_cannot(alice: User, ingested: Ingest) -> None:
    document, client = ingested(alice, "Words."), client_of(alice)
    Document.objects.filter(pk=document.pk).update(status="failed", failure_code="internal")
    answer = client.post(f"/api/documents/{document.pk}/retry/", {}, format="json")
    assert (answer.status_code, answer.json()["status"]) == (202, "uploaded")
    assert [job["state"] for job in client.get("/api/jobs/").json()["results"]] == ["waiting", "done"]
    assert client.post(f"/api/documents/{document.pk}/retry/", {}, format="json").status_code == 409


def test_lists_are_filtered_ordered_and_paged(alice: User) -> None:
    for number in range(7):
        Document.objects.create(owner=alice, title=f"Paper {number}", page_count=number // 2, status="ready")
    client = client_of(alice)
    first = client.get("/api/documents/?ordering=title&limit=3").json()
    assert [row["title"] for row in first["results"]] == ["Paper 0", "Paper 1", "Paper 2"]
    Document.objects.create(owner=alice, title="A new one before all others")
    second = client.get(first["next"]).json()
    assert [row["title"] for row in second["results"]] == ["Paper 3", "Paper 4", "Paper 5"]
    assert client.get("/api/documents/?q=paper 6").json()["results"][0]["title"] == "Paper 6"
    assert len(client.get("/api/documents/?status=ready&limit=500").json()["results"]) == 7
    titles, url = [], "/api/documents/?ordering=-page_count&limit=2"
    while url:
        page = client.get(url).json()
        titles += [row["title"] for row in page["results"]]
        url = page["next"]
    assert len(titles) == len(set(titles)) == 8, "no row twice, none missed, though page counts tie"


def test_a_list_takes_the_same_number_of_queries_however_long(
    alice: User, django_assert_max_num_queries: Any
) -> None:
    for number in range(30):
        document = Document.objects.create(owner=alice, title=f"Paper {number}")
        document.tags.add(Tag.objects.create(owner=alice, name=str(number)))
    client = client_of(alice)
    with django_assert_max_num_queries(8):
        assert len(client.get("/api/documents/").json()["results"]) == 30


def test_an_unchanged_answer_is_not_sent_again(alice: User, ingested: Ingest) -> None:
    client, url = client_of(alice), f"/api/documents/{ingested(alice, 'Words.').pk}/"
    etag = client.get(url)["ETag"]
    assert client.get(url, headers={"If-None-Match": etag}).status_code == 304
    client.patch(url, {"title": "Other"}, format="json")
    assert client.get(url, headers={"If-None-Match": etag}).status_code == 200


def test_paths_work_without_their_last_slash(alice: User) -> None:
    client = client_of(alice)
    assert client.get("/api/documents").status_code == 200
    assert client.post("/api/tags", {"name": "kept body"}, format="json").status_code == 201


def test_a_page_comes_as_a_picture_that_may_be_kept(alice: User, ingested: Ingest) -> None:
    client, url = client_of(alice), f"/api/documents/{ingested(alice, 'Words.').pk}/pages/1/image/"
    answer = client.get(url, {"dpi": 72})
    assert answer["Content-Type"] == "image/png" and answer.content.startswith(b"\x89PNG")
    assert answer["Cache-Control"].startswith("private") and answer["ETag"]
    assert client.get(url, {"dpi": 72}, headers={"If-None-Match": answer["ETag"]}).status_code == 304
    refused = client.get(url, {"dpi": 9999})
    assert (refused.status_code, refused.json()["code"]) == (400, "invalid")
