"""What chat does when documents says something."""

from __future__ import annotations

import logging
from typing import Any

from django.db import DatabaseError

from chat.citations.reanchor import reanchor_citations
from documents.models import Document

logger = logging.getLogger(__name__)


def reanchor_parsed_document(document: Document, **signal: Any) -> None:
    """Points the document's citations at where their words stand now; a failure costs no document."""
    try:
        reanchor_citations(document)
    except DatabaseError:
        raise
    except Exception:
        logger.exception("citations of %s could not be re-anchored", document.pk)
