"""What chat does when documents says something."""

from __future__ import annotations

import logging
from typing import Any

from django.db import DatabaseError

from chat.annotations.annotation_commands import reanchor_annotations
from chat.citations.reanchor import reanchor_citations
from documents.models import Document

logger = logging.getLogger(__name__)


def reanchor_parsed_document(document: Document, **signal: Any) -> None:
    """Point the document's citations and annotations at where their words stand now.

    A failure costs no document.
    """
    for reanchor in (reanchor_citations, reanchor_annotations):
        try:
            reanchor(document)
        except DatabaseError:
            raise
        except Exception:
            logger.exception("%s of %s failed", reanchor.__name__, document.pk)
