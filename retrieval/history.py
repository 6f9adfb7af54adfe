"""Search history: what a user searched for, kept for that user alone."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import asdict

from django.contrib.auth.models import User
from django.db import DatabaseError, transaction

from documents.models import Collection, Document
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


def names_in_filters(searches: Iterable[SearchQuery], user: User) -> dict[str, str]:
    """What these searches were kept to, by id: documents and collections the user may see, in two queries."""
    kept = [search.filters for search in searches]
    documents = {pk for filters in kept for pk in filters.get("document_ids", "").split(", ") if pk}
    collections = {filters["collection_id"] for filters in kept if "collection_id" in filters}
    named = [
        *Document.objects.visible_to(user).filter(pk__in=documents).values_list("pk", "title"),
        *Collection.objects.visible_to(user).filter(pk__in=collections).values_list("pk", "name"),
    ]
    return {str(pk): name for pk, name in named}
