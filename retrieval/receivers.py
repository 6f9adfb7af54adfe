"""What retrieval does when documents says something."""

from __future__ import annotations

import time
from typing import Any

from documents.failures import IngestionFailure
from documents.ingestion.queue import job_beside
from documents.models import Document, FailureCode, Job
from retrieval.index.backfill import without_words
from retrieval.index.document_index import Stale, index_document, index_words
from retrieval.provider_calls import ProviderError

WORDS_ROUND = 2.0
"""Seconds of one sweep given to documents that an older version indexed: some 2,000 chunks."""


def index_older_words(**signal: Any) -> None:
    """Index the words of documents again whose analysis is of an older version, newest documents first."""
    begun = time.monotonic()
    for document in without_words().filter(lease=None).order_by("-created_at")[:100]:
        if time.monotonic() - begun > WORDS_ROUND:
            return
        try:
            with job_beside(document, Job.Kind.INDEX):
                index_words(document)
        except Stale:
            continue


def index_parsed_document(document: Document, **signal: Any) -> None:
    """Raises IngestionFailure when embedding failed; keyword search works all the same."""
    try:
        index_document(document)
    except ProviderError as error:
        message = f"Embedding failed: {error.message} It is found by its words; the rest is tried again."
        raise IngestionFailure(FailureCode.EMBEDDING_FAILED, message[:200]) from error
