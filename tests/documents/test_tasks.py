"""Tasks are stored by their dotted names, so every name ever stored must be importable."""

from __future__ import annotations

import pydoc

import pytest

from documents import tasks
from documents.ingestion import queue
from documents.papers import acquisition


@pytest.mark.parametrize(
    ("stored", "task"),
    [
        ("documents.tasks.ingest_next", tasks.ingest_next),
        ("documents.tasks.recognise_next", tasks.recognise_next),
        ("documents.scholarly.papers.fetch_pdf", acquisition.fetch_pdf),
        (queue.TICKET, tasks.ingest_next),
        (queue.RECOGNITION_TICKET, tasks.recognise_next),
        (acquisition.FETCH_TASK, acquisition.fetch_pdf),
    ],
)
def test_a_task_is_found_by_every_name_it_was_stored_under(stored: str, task: object) -> None:
    assert pydoc.locate(stored) is task  # as django-q2's worker does
