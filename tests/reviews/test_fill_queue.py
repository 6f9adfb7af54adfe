"""Cells: typed values with their evidence, what is not stated, changes meanwhile, dead workers."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from citing.claims import VERIFIED
from reviews.fill_queue import claim_row, fill_next_row, fill_row, recover
from reviews.models import Review, ReviewCell, ReviewShare
from reviews.question_columns import columns_for
from reviews.review_commands import (
    InvalidReview,
    cancel_filling,
    change_cell,
    fill_cells,
    outdate_document,
    save_column,
    start_review,
)
from tests.conftest import ingest
from tests.reviews.conftest import COLUMNS, cell

State = ReviewCell.State


def test_a_cell_has_a_typed_value_and_the_words_it_rests_on(
    filled: Review, subtests: pytest.Subtests
) -> None:
    for title, name, value in [
        ("Passengers", "north.pdf", {"number": 48200, "unit": ""}),
        ("Passengers", "south.pdf", {"number": 9100, "unit": ""}),
        ("Revenue", "north.pdf", {"number": 14_544_000_000, "currency": "USD"}),
        ("Revenue", "south.pdf", {"number": 320_000_000, "currency": "USD"}),
        ("Effect", "north.pdf", "2029-03-05"),
        ("Effect", "south.pdf", "2027-07-19"),
        ("Dividend", "north.pdf", False),
        ("Dividend", "south.pdf", True),
        ("Fuel", "north.pdf", "Liquefied gas"),
        ("Fuel", "south.pdf", "Diesel"),
    ]:
        with subtests.test(title=title, name=name, value=value):
            found = cell(filled, title, name)
            assert (found.state, found.value) == (State.FOUND, value)
            first = found.citations.order_by("position")[0]
            assert first.verdict in VERIFIED and first.rects and first.document == found.row.document


def test_what_no_page_says_is_not_stated_and_has_no_value(filled: Review) -> None:
    found = cell(filled, "Auditor")
    assert (found.state, found.value, found.text) == (State.NOT_STATED, None, "")


def test_another_question_makes_the_cells_of_its_column_out_of_date(filled: Review, alice: User) -> None:
    written = cell(filled, "Fuel", "south.pdf")
    change_cell(written.pk, alice, written.revision, {"text": "hydrogen"})
    column = cell(filled, "Fuel").column
    column.question = "Which fuel do the ships use?"
    save_column(filled, column)
    assert cell(filled, "Fuel").state == State.STALE
    assert cell(filled, "Fuel", "south.pdf").state == State.FOUND  # a person wrote it
    assert cell(filled, "Revenue").state == State.FOUND
    assert fill_cells(ReviewCell.objects.filter(row__review=filled)) == 1


def test_a_document_that_was_replaced_makes_its_cells_out_of_date(filled: Review) -> None:
    document = cell(filled, "Fuel").row.document
    document.sha256 = "0" * 64
    assert outdate_document(document) == len(COLUMNS)
    assert cell(filled, "Fuel", "south.pdf").state == State.FOUND


def test_what_a_person_writes_meanwhile_is_not_overwritten(review: Review, alice: User) -> None:
    fill_cells(ReviewCell.objects.filter(row__review=review))
    claimed = claim_row()
    fuel = next(found for found in claimed if found.column.title == "Fuel")
    change_cell(fuel.pk, alice, fuel.revision, {"text": "Hydrogen"})
    fill_row(claimed)
    written = cell(review, "Fuel", fuel.row.document.original_name)
    assert (written.value, written.by_person, written.answered_by) == ("Hydrogen", True, "alice")


def test_of_two_who_change_a_cell_the_second_is_told(filled: Review, alice: User) -> None:
    seen = cell(filled, "Fuel")
    change_cell(seen.pk, alice, seen.revision, {"mark": "accepted"})
    with pytest.raises(InvalidReview, match="has changed since"):
        change_cell(seen.pk, alice, seen.revision, {"mark": "wrong"})
    assert cell(filled, "Fuel").mark == "accepted"


def test_what_a_cell_held_before_is_kept(filled: Review, alice: User) -> None:
    seen = cell(filled, "Fuel")
    change_cell(seen.pk, alice, seen.revision, {"text": "Diesel"})
    assert [version.text for version in cell(filled, "Fuel").versions.all()] == [seen.text]


def test_a_value_that_is_not_of_its_type_is_refused(
    filled: Review, alice: User, subtests: pytest.Subtests
) -> None:
    for title, text, error in [
        ("Passengers", "many", "number"),
        ("Effect", "soon", "2026-11-23"),
        ("Effect", "2027-02-31", "2026-11-23"),
        ("Fuel", "Coal", "not one of the choices"),
        ("Dividend", "perhaps", "Yes or No"),
    ]:
        with subtests.test(title=title, text=text, error=error):
            seen = cell(filled, title)
            with pytest.raises(InvalidReview, match=error):
                change_cell(seen.pk, alice, seen.revision, {"text": text})


def test_cells_of_a_worker_that_died_are_filled_by_the_next(review: Review) -> None:
    fill_cells(ReviewCell.objects.filter(row__review=review))
    claimed = claim_row()
    ReviewCell.objects.update(alive_at=timezone.now() - timedelta(hours=1))
    recover()
    assert not ReviewCell.objects.filter(state=State.RUNNING).exists()
    while fill_next_row():
        pass
    assert cell(review, "Fuel", claimed[0].row.document.original_name).state == State.FOUND


def test_cells_that_kill_their_worker_each_time_are_given_up(review: Review) -> None:
    fill_cells(ReviewCell.objects.filter(row__review=review))
    for _ in range(3):
        claim_row()
        ReviewCell.objects.filter(state=State.RUNNING).update(alive_at=timezone.now() - timedelta(hours=1))
        recover()
    failed = ReviewCell.objects.filter(state=State.FAILED)
    assert failed.count() == len(COLUMNS) and "interrupted" in failed[0].error


def test_reviews_of_a_deactivated_owner_wait(review: Review, alice: User) -> None:
    fill_cells(ReviewCell.objects.filter(row__review=review))
    User.objects.filter(pk=alice.pk).update(is_active=False)
    assert fill_next_row() == 0
    User.objects.filter(pk=alice.pk).update(is_active=True)
    assert fill_next_row()


def test_the_owner_with_fewer_cells_in_work_comes_next_whatever_waits(review: Review, bob: User) -> None:
    fill_cells(ReviewCell.objects.filter(row__review=review))
    assert claim_row()[0].row.review == review
    document = ingest(bob, "The ferry carried 40 cars.", name="bob.pdf")
    later = start_review(bob, "Later", [document], columns=columns_for("How many cars were carried?"))
    fill_cells(ReviewCell.objects.filter(row__review=later))
    with CaptureQueriesContext(connection) as captured:
        assert claim_row()[0].row.review == later
    # a count of the cells in work for each row that waits took six seconds with a thousand rows
    assert not any("COUNT(" in query["sql"] for query in captured)
    assert claim_row()[0].row.review == review


def test_cells_that_wait_are_taken_out_of_the_queue(filled: Review) -> None:
    fill_cells(ReviewCell.objects.filter(row__review=filled), again=True)
    assert cancel_filling(filled) == 2 * len(COLUMNS)
    assert cell(filled, "Fuel").state == State.STALE
    assert fill_next_row() == 0


def test_the_right_to_a_review_is_no_right_to_its_documents(filled: Review, alice: User, bob: User) -> None:
    assert not ReviewCell.objects.visible_to(bob).exists()
    ReviewShare.objects.create(review=filled, user=bob)
    assert Review.objects.visible_to(bob).exists()
    assert not ReviewCell.objects.visible_to(bob).exists()
    shared = cell(filled, "Fuel").row.document
    shared.shares.create(user=bob)
    seen = ReviewCell.objects.visible_to(bob)
    assert {found.row.document for found in seen} == {shared}
    cited = cell(filled, "Fuel").citations.get(position=0)
    from chat.models import Citation

    assert Citation.objects.visible_to(bob).filter(pk=cited.pk).exists()
    filled.shares.all().delete()
    assert not Citation.objects.visible_to(bob).exists()
    assert Citation.objects.visible_to(alice).filter(pk=cited.pk).exists()


def test_cells_are_filled_with_the_rights_of_who_added_the_document(review: Review, bob: User) -> None:
    review.rows.update(added_by=bob)
    fill_cells(ReviewCell.objects.filter(row__review=review))
    while fill_next_row():
        pass
    assert {found.state for found in ReviewCell.objects.all()} == {State.FAILED}
    assert "no longer has access to it" in cell(review, "Fuel").error
