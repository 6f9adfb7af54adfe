"""What retrieval does when documents says something."""

from __future__ import annotations

from typing import Any

from documents.failures import IngestionFailure
from documents.models import Document, FailureCode
from retrieval.indexing import index_document
from retrieval.providers.errors import ProviderError


def index_parsed_document(document: Document, **signal: Any) -> None:
    """Raises IngestionFailure when embedding failed; keyword search works all the same."""
    try:
        index_document(document)
    except ProviderError as error:
        message = f"Embedding failed: {error.message} It is found by its words; the rest is tried again."
        raise IngestionFailure(FailureCode.EMBEDDING_FAILED, message[:200]) from error
