"""Signals to the apps that depend on ``documents``."""

from __future__ import annotations

from django.dispatch import Signal

document_parsed = Signal()
"""Sent during ingestion, once pages, units and chunks are committed.

Receivers get ``document`` and index it synchronously. A receiver that fails raises
``failures.IngestionFailure``, and the document becomes ``failed`` with that reason.
"""

library_swept = Signal()
"""Sent at the end of each sweep. Receivers do a few seconds of work that an upgrade left; the next sweep
continues it."""

document_deleted = Signal()
"""Sent with ``document_id`` in the transaction that deletes a document's rows."""

job_finished = Signal()
"""Sent with ``job`` once its outcome is stored. Receivers must be quick: many jobs may end at once."""
