"""`/api/reviews/…`: a review from its start to its cells, what is refused, and whose it is."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from rest_framework.test import APIClient

from documents.access import add_to_collection
from documents.models import Collection, Document
from reviews.fill_queue import fill_next_row
from reviews.models import Review, ReviewCell, ReviewColumn
from reviews.review_commands import keep_reviews_going
from reviews.review_presenters import grid
from tests.api_clients import client_of
from tests.conftest import Ingest
from tests.reviews.conftest import cell

FUEL = {"title": "Fuel", "question": "What do the ships run on?", "kind": "text"}


@pytest.fixture
def api(alice: User) -> APIClient:
    return client_of(alice)


def test_cells_are_paged_row_by_row(api: APIClient, alice: User, ingested: Ingest) -> None:
    documents = [str(ingested(alice, f"The ships of fleet {number} carry mail.").pk) for number in (1, 2)]
    made = api.post("/api/reviews/", {"name": "Ships", "documents": documents}, format="json").json()
    for title in ("Fuel", "Cargo"):
        api.post(f"/api/reviews/{made['id']}/columns/", {**FUEL, "title": title}, format="json")
    api.post(f"/api/reviews/{made['id']}/fill/", {}, format="json")
    found, url = [], f"/api/reviews/{made['id']}/cells/?limit=1"
    while url:
        page = api.get(url).json()
        found += [cell["document"] for cell in page["results"]]
        url = page["next"]
    assert found == [documents[0], documents[0], documents[1], documents[1]]


def test_a_review_goes_from_its_start_to_its_cells(api: APIClient, alice: User, ingested: Ingest) -> None:
    document = ingested(alice, "The ships run on liquefied gas.\nThey carry mail.")
    made = api.post("/api/reviews/", {"name": "Ships", "documents": [str(document.pk)]}, format="json")
    assert made.status_code == 201, made.json()
    address = f"/api/reviews/{made.json()['id']}/"
    assert api.post(f"{address}columns/", FUEL, format="json").status_code == 201
    assert api.get(address).json()["progress"] == {"empty": 1}
    assert api.post(f"{address}fill/", {}, format="json").json() == {"cells": 1}
    assert fill_next_row() == 1
    (found,) = api.get(f"{address}cells/?state=found").json()["results"]
    assert "liquefied gas" in found["value"] and found["document"] == str(document.pk)
    citation = api.get(f"/api/citations/{found['citations'][0]}/").json()
    assert citation["page"] == 1 and citation["document"] == str(document.pk)
    changed = {"revision": found["revision"], "mark": "accepted", "comment": "As on the bridge."}
    marked = api.patch(f"{address}cells/{found['id']}/", changed, format="json").json()
    assert (marked["mark"], marked["comment"]) == ("accepted", "As on the bridge.")
    assert api.patch(f"{address}cells/{found['id']}/", changed, format="json").status_code == 409
    assert api.delete(f"{address}rows/{found['row']}/").status_code == 204
    assert Document.objects.filter(pk=document.pk, deleted_at=None).exists()
    assert api.delete(address).status_code == 204 and api.get(address).status_code == 404


def test_a_column_that_contradicts_itself_is_refused(
    api: APIClient, review: Review, subtests: pytest.Subtests
) -> None:
    for column, said in [
        (FUEL | {"kind": "choice"}, "two choices"),
        (FUEL | {"choices": ["Gas", "Diesel"]}, "have choices"),
        (FUEL | {"unit": "mg"}, "Only a number"),
        (FUEL | {"title": "Passengers"}, "already"),
    ]:
        with subtests.test(column=column, said=said):
            if column["title"] != "Passengers":
                column = column | {"title": "Propulsion"}
            answer = api.post(f"/api/reviews/{review.pk}/columns/", column, format="json")
            assert answer.status_code == 422 and said in answer.json()["message"]


def test_a_template_brings_its_columns(api: APIClient) -> None:
    made = api.post("/api/reviews/", {"name": "Trials", "template": "trial"}, format="json").json()
    kinds = {column["title"]: column["kind"] for column in made["columns"]}
    assert kinds["Sample size"] == "number" and kinds["Blinding"] == "choice"


def test_more_documents_than_a_review_holds_are_refused(
    api: APIClient, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reviews.review_commands.MOST_ROWS", 1)
    many = [str(Document.objects.create(owner=alice, title=title).pk) for title in "AB"]
    answer = api.post("/api/reviews/", {"name": "Many", "documents": many}, format="json")
    assert answer.status_code == 422 and "1 documents at most" in answer.json()["message"]
    assert not Review.objects.filter(name="Many").exists()


def test_who_may_only_read_a_review_changes_nothing(review: Review, bob: User) -> None:
    api, address = client_of(bob), f"/api/reviews/{review.pk}/"
    assert api.get(address).status_code == 404
    share = review.shares.create(user=bob)
    assert api.get(address).status_code == 200
    assert api.get(f"{address}cells/").json()["results"] == []
    column = review.columns.first()
    assert column is not None
    refused = [
        api.patch(address, {"name": "Mine"}, format="json"),
        api.post(f"{address}columns/", FUEL | {"title": "X"}, format="json"),
        api.patch(f"{address}columns/{column.pk}/", {"title": "X"}, format="json"),
        api.delete(f"{address}columns/{column.pk}/"),
        api.post(f"{address}fill/", {}, format="json"),
        api.post(f"{address}cancel/"),
        api.delete(address),
    ]
    assert [answer.status_code for answer in refused] == [403] * len(refused)
    share.can_write = True
    share.save()
    assert api.post(f"{address}columns/", FUEL | {"title": "X"}, format="json").status_code == 201
    assert api.delete(address).status_code == 403
    own = Document.objects.create(owner=review.owner, title="Not shared")
    assert api.post(f"{address}rows/", {"documents": [str(own.pk)]}, format="json").status_code == 404


def test_a_collection_s_new_documents_join(api: APIClient, alice: User, ingested: Ingest) -> None:
    fleet = Collection.objects.create(owner=alice, name="Fleet")
    add_to_collection(ingested(alice, "The ships run on diesel."), fleet, alice)
    made = api.post("/api/reviews/", {"name": "Fleet", "collection": str(fleet.pk)}, format="json").json()
    api.post(f"/api/reviews/{made['id']}/columns/", FUEL, format="json")
    api.post(f"/api/reviews/{made['id']}/fill/", {}, format="json")
    while fill_next_row():
        pass
    add_to_collection(ingested(alice, "The ships run on hydrogen."), fleet, alice)
    keep_reviews_going()
    while fill_next_row():
        pass
    said = set(ReviewCell.objects.filter(row__review=made["id"]).values_list("text", flat=True))
    assert any("hydrogen" in text for text in said) and any("diesel" in text for text in said)


def test_the_grid_is_five_queries_however_large(
    filled: Review, alice: User, django_assert_num_queries: Any
) -> None:
    ReviewColumn.objects.filter(review=filled, title="Auditor").delete()
    with django_assert_num_queries(5):
        found = grid(filled, alice)
    assert len(found.rows) == 2 and len(found.cells) == 10
    assert found.now and not grid(filled, alice, found.now + timedelta(seconds=1)).cells
    assert cell(filled, "Fuel").pk in {shown.id for shown in found.cells}
