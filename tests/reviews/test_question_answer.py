"""Answers over all documents: counts and sums with their denominators, on the page, in the API, over MCP."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from documents.models import Document
from reviews.fill_queue import fill_next_row
from reviews.models import Review, ReviewCell
from reviews.question_answer import column_answers, is_within
from reviews.review_commands import start_review
from reviews.review_presenters import grid
from tests.conftest import ingest
from tests.reviews.conftest import cell


def test_numbers_have_a_sum_a_range_and_a_denominator(filled: Review, alice: User) -> None:
    answers = {answer.column.title: answer for answer in column_answers(grid(filled, alice))}
    (passengers,) = answers["Passengers"].numbers
    assert (answers["Passengers"].documents, answers["Passengers"].stated) == (2, 2)
    assert (passengers.total, passengers.least, passengers.most) == (57_300, 9_100, 48_200)
    assert [one.title for one in passengers.cells] == ["north", "south"]
    assert [words for words, _ in answers["Auditor"].remarks] == ["in 2 documents nothing was found"]
    assert answers["Auditor"].states == {"found": 0, "not_stated": 2} and answers["Auditor"].documents == 2
    assert {group.value: group.count for group in answers["Dividend"].groups} == {"Yes": 1, "No": 1}
    assert (answers["Effect"].earliest, answers["Effect"].latest) == ("2027-07-19", "2029-03-05")
    groups = {group.value: group.total for group in answers["Revenue"].numbers[0].groups}
    assert groups == {"No": 14_544_000_000, "Yes": 320_000_000}


def test_what_waits_and_what_is_being_read_are_said_together(filled: Review, alice: User) -> None:
    cells = list(ReviewCell.objects.filter(row__review=filled, column__title="Auditor"))
    for one, state in zip(cells, ("waiting", "running"), strict=True):
        ReviewCell.objects.filter(pk=one.pk).update(state=state)
    answers = {one.column.title: one for one in column_answers(grid(filled, alice))}
    assert [words for words, _ in answers["Auditor"].remarks] == ["2 documents are still to be read"]


def test_a_value_that_a_person_marked_as_wrong_is_not_counted(filled: Review, alice: User) -> None:
    wrong = cell(filled, "Passengers")
    ReviewCell.objects.filter(pk=wrong.pk).update(mark="wrong")
    answer = column_answers(grid(filled, alice))[0]
    assert (answer.stated, answer.documents, answer.numbers[0].total) == (1, 2, 9_100)
    assert answer.states == {"found": 1, "wrong": 1}


def test_the_denominator_has_only_documents_that_the_user_may_see(filled: Review) -> None:
    bob = User.objects.create_user("bob")
    filled.shares.create(user=bob)
    assert [answer.documents for answer in column_answers(grid(filled, bob))] == [0] * 6


@pytest.mark.parametrize(
    ("condition", "value", "holds"),
    [
        ("< 0.8", {"number": 0.79}, True),
        ("< 0.8", {"number": 0.8}, False),
        (">= 30", {"number": 30}, True),
        ("< 2025", {"number": 2024}, True),
        (">= 2029-03", "2029-03-05", True),
        ("< 2029-03-05", "2029-03-05", False),
        ("about 5", {"number": 5}, False),
        ("", "anything", True),
    ],
)
def test_a_bound_counts_the_values_within_it(condition: str, value: object, holds: bool) -> None:
    assert is_within(condition, value) is holds


def test_a_question_is_proposed_edited_and_answered(client: Client, review: Review, alice: User) -> None:
    client.force_login(alice)
    chosen = [str(pk) for pk in review.rows.values_list("document", flat=True)]
    question = "Which reports state a revenue above $1 billion?"
    proposed = client.get("/reviews/ask/", {"question": question, "document": chosen})
    assert b"What is the revenue?" in proposed.content and b"&gt; 1000000000" in proposed.content
    form = {
        "question": question,
        "document": chosen,
        "title": ["Revenue", ""],
        "column_question": ["What was the total revenue in 2031?", ""],
        "kind": ["money", "text"],
        "unit": ["", ""],
        "choices": ["", ""],
        "condition": ["> 1000000000", ""],
    }
    refused = client.post("/reviews/ask/", form | {"condition": ["much", ""]})
    assert refused.status_code == 422 and b"Write a limit" in refused.content
    asked = client.post("/reviews/ask/", form)
    assert asked.status_code == 302
    unread = client.get(asked["Location"]).content.decode()
    assert "hx-trigger" in unread and "0 of 2 documents read; 0 of them state it so far." in unread
    while fill_next_row():
        pass
    page = client.get(asked["Location"]).content.decode()
    assert "1 of the 2 stated values: &gt; 1000000000." in page and "2 of 2 documents state it." in page
    made = Review.objects.get(question=question)
    api = client.get(f"/api/reviews/{made.pk}/answer/").json()
    assert (api[0]["within"], api[0]["stated"], api[0]["documents"]) == (1, 2, 2)


def test_a_document_that_cannot_be_asked_stays_in_the_denominator(alice: User) -> None:
    good = ingest(alice, "The fare is $12 for one trip.", name="fare.pdf")
    gone = ingest(alice, "The fare is $15 for one trip.", name="gone.pdf")
    made = start_review(alice, "", [good, gone], question="What is the fare for one trip?")
    Document.objects.filter(pk=gone.pk).update(status=Document.Status.FAILED, indexed_at=None)
    ReviewCell.objects.filter(row__review=made).update(state="waiting")
    while fill_next_row():
        pass
    answer = column_answers(grid(made, alice))[0]
    assert answer.documents == 2 and answer.states == {"found": 1, "failed": 1}
