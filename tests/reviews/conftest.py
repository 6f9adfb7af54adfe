"""A review over two small reports that were really ingested."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User

from reviews.fill_queue import fill_next_row
from reviews.models import Review, ReviewCell, ReviewColumn
from reviews.review_commands import add_rows, fill_cells, save_column
from tests.conftest import ingest, new_alice

NORTH = (
    "Northern Ferries Ltd carried 48,200 passengers in 2031.\n"
    "Total revenue of the company was $14,544 million in 2031.\n"
    "The charter agreement takes effect on March 5, 2029.\n"
    "The company did not pay a dividend.\n"
    "The ships run on liquefied gas."
)
SOUTH = (
    "Southern Ferries Ltd carried 9,100 passengers in 2031.\n"
    "Total revenue of the company was $320 million in 2031.\n"
    "The charter agreement takes effect on July 19, 2027.\n"
    "The company paid a dividend.\n"
    "The ships run on diesel."
)
COLUMNS: list[dict[str, Any]] = [
    {"title": "Passengers", "question": "How many passengers were carried in 2031?", "kind": "number"},
    {"title": "Revenue", "question": "What was the total revenue in 2031?", "kind": "money"},
    {
        "title": "Effect",
        "question": "On what date does the charter agreement take effect?",
        "kind": "date",
    },
    {"title": "Dividend", "question": "Did the company pay a dividend?", "kind": "boolean"},
    {
        "title": "Fuel",
        "question": "What do the ships run on?",
        "kind": "choice",
        "choices": ["Diesel", "Liquefied gas", "Hydrogen"],
    },
    {"title": "Auditor", "question": "Who audited the pension scheme of the engineers?", "kind": "text"},
]


@pytest.fixture(scope="module")
def ferries(module_rows: Path) -> UUID:
    """Alice's review, made once a module."""
    alice = new_alice()
    documents = [ingest(alice, NORTH, name="north.pdf"), ingest(alice, SOUTH, name="south.pdf")]
    made = Review.objects.create(owner=alice, name="Ferries")
    add_rows(made, documents, alice)
    for values in COLUMNS:
        save_column(made, ReviewColumn(review=made, **values))
    return made.pk


@pytest.fixture
def alice(db: None) -> User:
    return User.objects.filter(username="alice").first() or new_alice()


@pytest.fixture
def review(ferries: UUID, db: None) -> Review:
    return Review.objects.get(pk=ferries)


@pytest.fixture
def filled(review: Review) -> Review:
    fill_cells(ReviewCell.objects.filter(row__review=review))
    while fill_next_row():
        pass
    return review


def cell(review: Review, title: str, name: str = "north.pdf") -> ReviewCell:
    cells = ReviewCell.objects.select_related("column", "row__document")
    return cells.get(row__review=review, column__title=title, row__document__original_name=name)
