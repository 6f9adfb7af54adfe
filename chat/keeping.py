"""A draft as rows: saved while it grows, and at its end."""

from __future__ import annotations

import time
from collections.abc import Sequence

from django.db import IntegrityError, transaction
from django.utils import timezone

from chat.drafting import Draft
from chat.models import Citation, Message
from documents.models import CitationUnit, Document

CHANGEABLE = [
    *("verdict", "reason", "missing", "judged_by", "judgement"),
    *("position", "number", "claim_start", "claim_end"),
]


def save_progress(draft: Draft) -> None:
    """Saves words and citations in step; what a document lost meanwhile is left out of its citations."""
    with draft.saving:
        with draft.lock:
            content = draft.content
            unsaved = [citation for citation in draft.citations if citation.pk not in draft.saved]
        try:
            _save(draft, content, unsaved)
        except IntegrityError:  # a document was deleted or read anew between the look and the commit
            _save(draft, content, unsaved)


def _save(draft: Draft, content: str, unsaved: Sequence[Citation]) -> None:
    with transaction.atomic():
        _forget_what_is_gone(unsaved)
        Citation.objects.bulk_create(unsaved)
        Message.objects.filter(pk=draft.message_id).update(content=content, alive_at=timezone.now())
    draft.saved |= {citation.pk for citation in unsaved}


def _forget_what_is_gone(citations: Sequence[Citation]) -> None:
    if not citations:
        return
    units = set(
        CitationUnit.objects.filter(pk__in={citation.unit_id for citation in citations}).values_list(
            "pk", flat=True
        )
    )
    documents = set(
        Document.objects.filter(pk__in={citation.document_id for citation in citations}).values_list(
            "pk", flat=True
        )
    )
    for citation in citations:
        if citation.unit_id not in units:
            citation.unit_id = None
        if citation.document_id not in documents:
            citation.document_id = None


def finish(
    draft: Draft, status: Message.Status, error: str = "", usage: dict[str, float] | None = None
) -> None:
    """Saves the whole answer with its end."""
    save_progress(draft)
    changed = [citation for citation in draft.citations if citation.pk in draft.changed]
    Citation.objects.bulk_update(changed, CHANGEABLE)
    Message.objects.filter(pk=draft.message_id).update(
        status=status,
        error=error[:500],
        uncited=[[span.start, span.end] for span in draft.uncited()],
        usage=usage or {},
        alive_at=None,
        cancel_requested=False,
    )


def fail(answer: Message, error: str) -> None:
    """Ends an answer of which nothing was written."""
    status = Message.Status.INCOMPLETE if answer.content else Message.Status.FAILED
    Message.objects.filter(pk=answer.pk).update(
        status=status, error=error[:500], alive_at=None, cancel_requested=False
    )


def seconds_since(start: float) -> float:
    return round(time.monotonic() - start, 2)
