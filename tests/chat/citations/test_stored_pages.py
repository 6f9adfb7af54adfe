"""A quote in a stored document."""

from __future__ import annotations

from uuid import UUID

import pytest
from django.contrib.auth.models import User

from chat.citations.stored_pages import locate
from documents.models import Document, Page
from pdf.geometry import PageFrame
from pdf.word_boxes import pack
from tests.citing.anchoring.test_anchoring import page

pytestmark = pytest.mark.django_db


@pytest.fixture
def contract() -> Document:
    """Twelve pages of like clauses, each with its own number of days."""
    owner = User.objects.create_user("alice")
    document = Document.objects.create(owner=owner, title="Contract")
    for number in range(1, 13):
        on = page("The lessee may terminate this agreement", f"within {number * 10} days of a notice.")
        boxes = pack(on.words, 600, 800)
        Page.objects.create(
            document=document, number=number, width=600, height=800, text=on.text, word_boxes=boxes
        )
    return document


def test_the_page_and_the_words_are_found(contract: Document) -> None:
    anchor = locate(contract.pk, "within 70 days of a notice")
    assert anchor is not None
    assert (anchor.page, anchor.verdict, anchor.text) == (7, "exact", "within 70 days of a notice")
    (rect,) = anchor.rects
    assert rect.x0 == pytest.approx(60, abs=0.02)
    assert anchor.parts[0].page.frame == PageFrame(600, 800)


def test_the_context_chooses_the_page(contract: Document) -> None:
    anchor = locate(
        contract.pk, "terminate this agreement", "terminate this agreement within 110 days of a notice"
    )
    assert anchor is not None
    assert anchor.page == 11


def test_what_is_nowhere_is_not_found(contract: Document) -> None:
    assert locate(contract.pk, "The lessor pays for all repairs") is None
    assert locate(UUID(int=0), "within 70 days") is None


def test_a_quote_costs_two_queries_once_the_document_is_known(
    contract: Document, django_assert_num_queries: pytest.FixtureRequest
) -> None:
    locate(contract.pk, "within 20 days of a notice")
    with django_assert_num_queries(2):  # type: ignore[operator]
        locate(contract.pk, "within 70 days of a notice")


def test_a_document_read_anew_is_searched_anew(contract: Document) -> None:
    assert locate(contract.pk, "within 70 days of a notice")
    old = Page.objects.get(document=contract, number=7)
    text = old.text.replace("70 days", "75 days")
    old.delete()
    Page.objects.create(
        document=contract, number=7, width=600, height=800, text=text, word_boxes=old.word_boxes
    )
    now, before = (locate(contract.pk, f"within {days} days of a notice") for days in (75, 70))
    assert now is not None
    assert before is not None
    assert (now.verdict, before.verdict) == ("exact", "partial")


def test_words_broken_at_the_lines_end_are_found_though_their_page_seems_unlikely(contract: Document) -> None:
    on = page("The indemni-", "fication survives the agreement for ever.")
    boxes = pack(on.words, 600, 800)
    Page.objects.create(document=contract, number=13, width=600, height=800, text=on.text, word_boxes=boxes)
    anchor = locate(contract.pk, "The indemnification survives the agreement for ever")
    assert anchor is not None
    assert (anchor.page, anchor.verdict, len(anchor.rects)) == (13, "normalized", 2)


def test_a_value_is_chosen_by_its_row_and_costs_as_many_queries_on_many_pages(
    contract: Document, django_assert_num_queries: pytest.FixtureRequest
) -> None:
    row = "The lessee may terminate this agreement within 90 days of a notice."
    locate(contract.pk, "terminate", row)
    with django_assert_num_queries(2):  # type: ignore[operator]
        anchor = locate(contract.pk, "terminate", row)
    assert anchor is not None
    assert anchor.page == 9


def test_a_quote_with_a_word_changed_is_found_in_part_among_all_pages(contract: Document) -> None:
    anchor = locate(contract.pk, "The lessee may cancel this agreement within 120 days of a notice")
    assert anchor is not None
    assert (anchor.page, anchor.verdict) == (12, "partial")
