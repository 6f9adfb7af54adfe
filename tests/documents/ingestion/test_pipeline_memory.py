"""A worker's memory does not grow from document to document."""

from __future__ import annotations

import gc
import sys
from functools import partial
from itertools import product

import psutil
import pytest
from django.contrib.auth.models import User

from documents.ingestion import parser
from documents.library import delete_document
from pdf.api import parse_file
from tests.conftest import Ingest

pytestmark = pytest.mark.django_db
ROUNDS = 6
MOST_KEPT = 60  # objects a document, which makes tens of thousands; the test keeps what was logged
MOST_GROWTH = 5 * 1024 * 1024
SYLLABLES = ["ba", "de", "fi", "go", "lu", "mar", "nes", "pol", "rit", "sun", "tev", "wok"]


@pytest.fixture(autouse=True)
def each_is_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    """``ingested`` keeps what ``parse_file`` made of a drawing, but not what another function makes."""
    monkeypatch.setattr(parser, "parse_file", partial(parse_file))


@pytest.mark.slow
def test_documents_leave_nothing_in_their_worker(alice: User, ingested: Ingest) -> None:
    """The same file each time."""
    pages = [f"Report of page {page}.\n\n" * 20 for page in range(3)]

    def ingest_times(times: int) -> tuple[int, int]:
        for _ in range(times):
            delete_document(ingested(alice, *pages))
        gc.collect()
        return len(gc.get_objects()), psutil.Process().memory_info().rss

    objects, resident = ingest_times(3)
    objects_after, resident_after = ingest_times(ROUNDS)
    assert objects_after - objects < ROUNDS * MOST_KEPT
    assert resident_after - resident < MOST_GROWTH


def test_the_words_of_a_document_go_with_it(alice: User, ingested: Ingest) -> None:
    """Twelve thousand words, none of which was seen before."""
    words = ["".join(parts) for parts in product(SYLLABLES, repeat=4)][:12_000]
    lines = [" ".join(words[at : at + 8]) for at in range(0, len(words), 8)]
    pages = ["\n".join(lines[at : at + 30]) for at in range(0, len(lines), 30)]
    delete_document(ingested(alice, *pages[:2]))  # loads what a document of several pages needs
    gc.collect()
    before = sys.getallocatedblocks()
    document = ingested(alice, *pages)
    assert document.word_count > 11_000
    delete_document(document)
    del document
    assert sys.getallocatedblocks() - before < len(words)
