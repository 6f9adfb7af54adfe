"""The tasks of django-q2. They carry no data: the rows say what there is to do.

Their dotted names are stored in the queue: this module stays where it is.
"""

from __future__ import annotations

from documents.ingestion.pipeline import ingest_document
from documents.ingestion.queue import issue_recognition_tickets, next_in_turn
from documents.ingestion.recognition import enough_at_work, in_turn, next_to_recognise, recognise_document

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


def recognise_next() -> str:
    """Recognises pages of the next document in turn, after a document that waits to be taken in."""
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
