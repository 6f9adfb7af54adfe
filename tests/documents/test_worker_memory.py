"""A worker takes in one document after the other, and grows by none of them."""

from __future__ import annotations

import gc

import psutil
import pytest
from django.contrib.auth.models import User

from documents.deletion import delete_document
from tests.conftest import Ingest

pytestmark = pytest.mark.django_db
ROUNDS = 6
MOST_KEPT = 60  # objects a document, which makes tens of thousands; the test keeps what was logged
MOST_GROWTH = 5 * 1024 * 1024


def test_documents_leave_nothing_in_their_worker(alice: User, ingested: Ingest) -> None:
    """The same file each time: what is kept of its words is kept once (and of a bounded number of others)."""
    pages = [f"Report of page {page}.\n\n" * 20 for page in range(3)]

    def take_in(times: int) -> tuple[int, int]:
        for _ in range(times):
            delete_document(ingested(alice, *pages))
        gc.collect()
        return len(gc.get_objects()), psutil.Process().memory_info().rss

    objects, resident = take_in(3)
    objects_after, resident_after = take_in(ROUNDS)
    assert objects_after - objects < ROUNDS * MOST_KEPT
    assert resident_after - resident < MOST_GROWTH
