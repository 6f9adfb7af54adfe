"""Search history: what a user searched for, kept for that user alone."""

from __future__ import annotations

import logging
from dataclasses import asdict

from django.db import DatabaseError, transaction

from retrieval.models import SearchQuery
from retrieval.results import SearchResult
from retrieval.scope import Scope

logger = logging.getLogger(__name__)
KEPT_CHARACTERS = 2000


def record_search(scope: Scope, result: SearchResult) -> None:
    """Keeps the search; one that cannot be kept was still answered."""
    if not scope.user.is_authenticated:
        return
    try:
        with transaction.atomic():
            SearchQuery.objects.create(
                user=scope.user,
                query=result.query.replace("\x00", "")[:KEPT_CHARACTERS],
                derived=[asdict(query) for query in result.derived],
                filters={**scope.describe(), **result.filters},
                strategies=[asdict(report) for report in result.strategies],
                hit_count=result.total,
                milliseconds=result.milliseconds,
            )
    except DatabaseError:
        logger.exception("a search could not be kept in the history")
