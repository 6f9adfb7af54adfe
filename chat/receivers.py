"""Receivers of the signals of ``documents``."""

from __future__ import annotations

import logging
from typing import Any

from django.core.cache import cache
from django.db import DatabaseError
from django.db.models import Max

from chat.annotations import reanchor_annotations
from chat.citations.snapshots import reanchor_citations
from chat.models import Review, ReviewRow
from chat.reviews.column_sets import InvalidReview
from chat.reviews.fill_queue import recover
from chat.reviews.review_commands import join_sources, keep_deleted, outdate_document
from documents.models import Document

logger = logging.getLogger(__name__)


def reanchor_parsed_document(document: Document, **signal: Any) -> None:
    """Re-anchor the document's citations and annotations; mark review cells as outdated.

    A failure does not fail the document.
    """
    for reanchor in (reanchor_citations, reanchor_annotations, outdate_document):
        try:
            reanchor(document)
        except DatabaseError:
            raise
        except Exception:
            logger.exception("%s of %s failed", reanchor.__name__, document.pk)


def keep_rows(instance: Document, **signal: Any) -> None:
    """Keep the title of a deleted document in reviews."""
    keep_deleted(instance)


def keep_reviews_going(**signal: Any) -> None:
    """Add rows for new documents of collections and searches, and resume unfinished cells.

    A search is repeated once a document was indexed after it.
    """
    ReviewRow.objects.filter(document=None, added_by=None).delete()  # visible to no one
    joining = Review.objects.filter(deleted_at=None, joins=True).exclude(collection=None, search=None)
    newest = Document.objects.searchable().aggregate(newest=Max("indexed_at"))["newest"]
    for review in joining.select_related("owner", "collection", "search__user"):
        key = f"review-joined-{review.pk}"
        if review.search and (review.search_id, newest) == cache.get(key) and not review.collection:
            continue
        try:
            join_sources(review)
        except InvalidReview as error:
            logger.info("review %s: %s", review.pk, error)
        cache.set(key, (review.search_id, newest))
    recover()
