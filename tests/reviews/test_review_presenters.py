"""Rows: of collections and saved searches, new ones, and those whose document was deleted."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from documents.access import add_to_collection
from documents.library import delete_document, move_to_trash, restore_from_trash
from documents.models import Collection, Document, Share
from retrieval.models import SavedSearch
from retrieval.views import documents_found
from reviews.exports import as_csv, review_table
from reviews.fill_queue import fill_next_row
from reviews.models import Review, ReviewCell, ReviewRow
from reviews.review_commands import add_rows, fill_cells, keep_reviews_going
from reviews.review_presenters import grid
from tests.api_clients import client_of
from tests.conftest import Ingest
from tests.reviews.conftest import cell


def document_of(review: Review) -> Document:
    found = cell(review, "Fuel").row.document
    assert found is not None
    return found


def test_documents_with_one_title_are_told_apart_on_the_page_and_in_files(
    filled: Review, alice: User
) -> None:
    Document.objects.update(title="Annual report")
    names = {"Annual report (north.pdf)", "Annual report (south.pdf)"}
    assert {row.title for row in grid(filled, alice).rows} == names
    exported = as_csv(review_table(filled, alice, "http://testserver/")).decode("utf-8-sig")
    assert all(name in exported for name in names)


def test_a_document_in_the_bin_keeps_its_row_title_and_cells(filled: Review, alice: User) -> None:
    document = document_of(filled)
    move_to_trash(document)
    found = grid(filled, alice)
    (row,) = [row for row in found.rows if row.deleted]
    assert row.title == document.title
    assert cell(filled, "Fuel").pk in {one.id for one in found.cells}
    assert "(deleted)" in as_csv(review_table(filled, alice, "http://testserver/")).decode("utf-8-sig")
    fill_cells(ReviewCell.objects.filter(pk=cell(filled, "Fuel").pk), again=True)
    while fill_next_row():
        pass
    again = cell(filled, "Fuel")
    assert again.state == "stale" and "bin" in again.error and again.text  # its values stay
    restore_from_trash(document)
    assert not any(row.deleted for row in grid(filled, alice).rows)


def test_a_document_deleted_for_good_leaves_its_title_and_what_was_found(
    filled: Review, alice: User, client: Client
) -> None:
    document, fuel = document_of(filled), cell(filled, "Fuel")
    title = document.title or document.original_name
    delete_document(document)
    found = grid(filled, alice)
    (row,) = [row for row in found.rows if row.deleted]
    assert (row.title, row.document) == (title, None)
    kept = ReviewCell.objects.get(pk=fuel.pk)
    assert kept.text == fuel.text and kept.citations.exists()
    client.force_login(alice)
    panel = client.get(f"/reviews/cell/{fuel.pk}/").content.decode()
    assert title in panel and "deleted" in panel and "/documents/" not in panel
    read = client_of(alice).get(f"/api/reviews/{filled.pk}/rows/").json()["results"]
    assert {"document": None, "is_deleted": True, "title": title}.items() <= read[0].items()
    for form in ("xlsx", "csv", "json", "md", "pdf"):
        assert client.get(f"/reviews/{filled.pk}/export.{form}").status_code == 200
    fill_cells(ReviewCell.objects.filter(pk=fuel.pk), again=True)
    while fill_next_row():
        pass
    assert "deleted for good" in ReviewCell.objects.get(pk=fuel.pk).error


def test_a_row_of_a_deleted_document_gives_nobody_more_than_they_had(
    filled: Review, alice: User, bob: User, charlie: User
) -> None:
    """Bob added Charlie's document, then lost the right to it; Alice has the review, not the document."""
    theirs = Document.objects.create(owner=charlie, title="Charlie's own")
    share = Share.objects.create(document=theirs, user=bob)
    filled.shares.create(user=bob, can_write=True)
    add_rows(filled, [theirs], bob)
    assert "Charlie's own" in {row.title for row in grid(filled, bob).rows}
    share.delete()
    move_to_trash(theirs)
    assert "Charlie's own" not in {row.title for row in grid(filled, bob).rows}
    charlie.delete()  # deletes the document, too
    for user in (alice, bob):
        assert "Charlie's own" not in {row.title for row in grid(filled, user).rows}
    assert not ReviewRow.objects.filter(title="Charlie's own").exists()


@pytest.fixture
def saved(alice: User, ingested: Ingest) -> SavedSearch:
    ingested(alice, "The ships run on hydrogen.", name="hydrogen.pdf")
    ingested(alice, "Bread is baked from rye.", name="bread.pdf")
    return SavedSearch.objects.create(user=alice, name="Hydrogen", query="q=%22hydrogen%22")


def test_a_saved_search_s_documents_are_rows_and_new_ones_join(
    saved: SavedSearch, alice: User, ingested: Ingest
) -> None:
    api = client_of(alice)
    made = api.post("/api/reviews/", {"name": "Hydrogen", "search": str(saved.pk)}, format="json")
    assert made.status_code == 201, made.json()
    rows = Review.objects.get(pk=made.json()["id"]).rows
    assert {row.document_title for row in rows.all()} == {
        document.title or document.original_name
        for document in Document.objects.filter(pk__in=documents_found(saved))
    }
    assert rows.count() == 1
    ingested(alice, "Hydrogen is stored in tanks.", name="tanks.pdf")
    keep_reviews_going()
    assert rows.count() == 2
    assert api.patch(f"/api/reviews/{made.json()['id']}/", {"joins": False}, format="json").status_code == 200
    ingested(alice, "Hydrogen burns.", name="burns.pdf")
    keep_reviews_going()
    assert rows.count() == 2


def test_another_s_search_makes_no_rows(saved: SavedSearch, bob: User) -> None:
    answer = client_of(bob).post("/api/reviews/", {"name": "X", "search": str(saved.pk)}, format="json")
    assert answer.status_code == 404


def test_the_page_takes_rows_from_a_collection_or_a_search_later(
    saved: SavedSearch, review: Review, alice: User, client: Client
) -> None:
    client.force_login(alice)
    assert "Hydrogen" in client.get(f"/reviews/{review.pk}/").content.decode()
    fleet = Collection.objects.create(owner=alice, name="Fleet")
    bread = Document.objects.get(original_name="bread.pdf")
    add_to_collection(bread, fleet, alice)
    for source in (f"search:{saved.pk}", str(fleet.pk)):
        client.post(f"/reviews/{review.pk}/documents/", {"collection": source, "joins": "on"})
    assert review.rows.count() == 4
    review.refresh_from_db()
    assert review.collection == fleet and review.search == saved and review.joins
