"""What django-q2 runs. Tasks carry no data: the rows say what there is to do."""

from __future__ import annotations

from documents.ingestion import ingest_document
from documents.queue import next_in_turn

TRIES = 5  # another worker may take the same document between the look and the grasp


def ingest_next() -> str:
    """Takes in the next document in turn. Returns its id, or '' when none is waiting."""
    for _ in range(TRIES):
        document_id = next_in_turn()
        if document_id is None:
            return ""
        if ingest_document(document_id):
            return str(document_id)
    return ""
