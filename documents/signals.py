"""What `documents` tells the apps above it, which it does not know."""

from __future__ import annotations

from django.dispatch import Signal

document_parsed = Signal()
"""Sent inside the ingestion of a document, once its pages, units and chunks are stored and committed.

Receivers get ``document`` and make it findable, in this process, before they
return. A receiver that cannot raises ``failures.IngestionFailure``; the
document then ends ``failed`` with that reason, and is never half ready.
"""

library_swept = Signal()
"""Sent at the end of each round of a worker's sweep. Receivers do a few seconds of work at most, of that
which an upgrade left to do; the next round goes on."""

document_deleted = Signal()
"""Sent with ``document_id`` in the transaction that deletes a document's rows."""

job_finished = Signal()
"""Sent with ``job`` once a job's outcome is stored. Receivers must be quick: many may end at once."""
