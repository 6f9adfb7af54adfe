"""Tasks of django-q2. They have no arguments: the documents' rows are the queue.

Do not move this module: the queue stores the dotted names of tasks.
"""

from __future__ import annotations

from documents.ingestion.pipeline import ingest_document
from documents.ingestion.queue import issue_recognition_tickets, next_in_turn
from documents.ingestion.recognition import enough_at_work, in_turn, next_to_recognise, recognise_document

TRIES = 5  # another worker may lease the same document between SELECT and UPDATE


def ingest_next() -> str:
    """Ingest the next queued document. Return its id, or '' when none is queued."""
    for _ in range(TRIES):
        document_id = next_in_turn()
        if document_id is None:
            return ""
        if ingest_document(document_id):
            return str(document_id)
    return ""


def recognise_next() -> str:
    """Ingest a queued document; else recognise pages of the next scanned one. Return its id or ''."""
    if taken_in := ingest_next():
        issue_recognition_tickets(1)
        return taken_in
    for _ in range(TRIES):
        document_id = None if enough_at_work() else next_to_recognise()
        if document_id is None:
            return ""
        if recognise_document(document_id, in_turn(), background=True):
            return str(document_id)
    return ""
