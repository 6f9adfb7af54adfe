"""What chat does when documents says something."""

from __future__ import annotations

import logging
from typing import Any

from django.db import DatabaseError

from chat.annotations.annotation_commands import reanchor_annotations
from chat.citations.reanchor import reanchor_citations
from chat.models import Review
from chat.reviews.column_sets import InvalidReview
from chat.reviews.fill_queue import recover
from chat.reviews.review_commands import join_collection, outdate_document
from documents.models import Document

logger = logging.getLogger(__name__)


def reanchor_parsed_document(document: Document, **signal: Any) -> None:
    """Point the document's citations and annotations at where their words stand now; outdate cells.

    A failure costs no document.
    """
    for reanchor in (reanchor_citations, reanchor_annotations, outdate_document):
        try:
            reanchor(document)
        except DatabaseError:
            raise
        except Exception:
            logger.exception("%s of %s failed", reanchor.__name__, document.pk)


def keep_reviews_going(**signal: Any) -> None:
    """Give rows to documents that came into collections, and go on with cells that were left."""
    for review in Review.objects.filter(deleted_at=None).exclude(collection=None).select_related("owner"):
        try:
            join_collection(review)
        except InvalidReview as error:
            logger.info("review %s: %s", review.pk, error)
    recover()
