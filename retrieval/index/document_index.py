"""Index a document: its words first, then its vectors.

Providers are called outside of transactions. Rows are written under a lock on the document's row, and only if
the document is unchanged: a worker that lost its lease, or that embeds a replaced document, writes nothing.
"""

from __future__ import annotations

import logging
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain
from typing import Any

from django.db import connection, models, transaction
from django.utils import timezone
from psycopg import sql

from documents.chunking import ChunkSizes, split_text, token_counts
from documents.failures import IngestionFailure
from documents.models import Document, FailureCode, RetrievalChunk
from domains import fields_of
from retrieval.embeddings.base import Vectors
from retrieval.index.bm25 import analyze_if_grown
from retrieval.index.full_text import chunk_rows, chunk_words, document_words, names_of
from retrieval.index.vectors import active_space, build_vector_index, embedder_of, without_vector
from retrieval.models import ANALYSIS_VERSION, ChunkVector, EmbeddingSpace, IndexedChunk, IndexedDocument
from retrieval.provider_calls import ProviderError, with_retries
from retrieval.summaries import add_summaries

# Write columns by binary COPY, without model instances or text.


def copy_columns(
    model: type[models.Model], columns: Mapping[str, str], rows: Iterable[Sequence[object]]
) -> None:
    """Write the rows in the current transaction, by binary COPY.

    ``columns`` maps database columns to the PostgreSQL types of their values; ``bytea`` also stands for
    values that are already in the binary form of another type.
    """
    statement = sql.SQL("COPY {} ({}) FROM STDIN (FORMAT BINARY)").format(
        sql.Identifier(model._meta.db_table), sql.SQL(", ").join(map(sql.Identifier, columns))
    )
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        copy.set_types(list(columns.values()))
        for row in rows:
            copy.write_row(row)


logger = logging.getLogger(__name__)


class Stale(Exception):
    """The document has changed since it was read."""

    message = "The document was changed meanwhile."


def index_document(document: Document) -> bool:
    """Index the words of a parsed document, then embed its chunks in the active space.

    ``document`` is the row as its worker holds it (with its lease, or None). Return False if it changed or
    was taken over meanwhile; the rest is not written. Raises ProviderError if embedding fails; keyword
    search works by then.
    """
    try:
        index_words(document)
        space = with_retries(active_space)  # a new space needs the length of its vectors from the model
        embed_document(document, space)
    except Stale:
        logger.info("document %s: changed while it was indexed, nothing was written", document.pk)
        return False
    build_vector_index(space)
    return True


def index_parsed_document(document: Document, **signal: Any) -> None:
    """Receiver of ``document_parsed``. Raises IngestionFailure if embedding failed; the words are indexed
    then.
    """
    try:
        index_document(document)
    except ProviderError as error:
        message = (
            f"Embedding failed: {error.message} The document can be found by its words. "
            "Embedding will be tried again."
        )
        raise IngestionFailure(FailureCode.EMBEDDING_FAILED, message[:200]) from error


def index_words(document: Document) -> int:
    """Replace the indexed words of the document and of its chunks; return the number of chunks. Raises Stale.

    It is idempotent, and called again for pages that were recognised later.
    """
    chunks = chunk_rows(document)
    rows = list(chunk_words(document, chunks))
    words, names, cover = document_words(document, chunks)
    with held(document):
        IndexedDocument.objects.filter(document=document).delete()
        IndexedChunk.objects.filter(document=document).delete()
        entry = (
            document.pk,
            len(chunks),
            ANALYSIS_VERSION,
            document.language,
            fields_of(chunk.content for chunk in chunks),
            names_of(document),
            words,
            names,
            cover,
            timezone.now(),
        )
        copy_columns(IndexedDocument, DOCUMENT_COLUMNS, [entry])
        copy_columns(IndexedChunk, CHUNK_COLUMNS, rows)
    analyze_if_grown()
    return len(chunks)


DOCUMENT_COLUMNS = {
    "document_id": "uuid",
    "chunk_count": "int4",
    "analysis_version": "int2",
    "language": "text",
    "fields": "text[]",
    "names": "text",
    "words": "bytea",
    "name_terms": "bytea",
    "cover_terms": "bytea",
    "indexed_at": "timestamptz",
}
CHUNK_COLUMNS = {"chunk_id": "uuid", "document_id": "uuid", "words": "bytea", "terms": "bytea"}
VECTOR_COLUMNS = {
    "chunk_id": "uuid",
    "document_id": "uuid",
    "space_id": "int8",
    "window": "int2",
    "embedding": "bytea",
}


def embed_document(document: Document, space: EmbeddingSpace) -> int:
    """Embed the chunks that have no vector in ``space``; return their number. Raises ProviderError, Stale."""
    missing = without_vector(RetrievalChunk.objects.filter(document=document), space)
    chunks = list(missing.order_by("index").only("id", "index", "content", "context_header", "summary"))
    add_summaries(document, chunks)
    engine = embedder_of(space)
    for at in range(0, len(chunks), engine.batch_size):
        batch = chunks[at : at + engine.batch_size]
        parts = [embedded_texts(chunk, engine.window) for chunk in batch]
        vectors = with_retries(partial(engine.embed, list(chain.from_iterable(parts))))
        windows = [(chunk, at) for chunk, texts in zip(batch, parts, strict=True) for at in range(len(texts))]
        write_vectors(document, space, windows, vectors)
        report_progress(document, (at + len(batch)) / len(chunks))
    return len(chunks)


def report_progress(document: Document, done: float) -> None:
    """Store how many of the document's chunks are indexed, for the progress display.

    While scanned pages are recognised, the progress is the share of recognised pages.
    """
    if document.pages_waiting or (document.indexed_at and document.pictures_waiting):
        return
    indexing = Document.objects.filter(pk=document.pk, status=Document.Status.INDEXING)
    indexing.filter(lease=document.lease, lease__isnull=False).update(progress=done)


def embedded_texts(chunk: RetrievalChunk, window: int = 0) -> list[str]:
    """Return the texts of a chunk to embed: context header, summary, content.

    ``window``: tokens of content in each, of about one length; 0 for all in one.
    """
    parts = [chunk.content]
    if window and (tokens := token_counts(parts)[0]) > window:
        parts = [
            part for part, _ in split_text(chunk.content, ChunkSizes(-(-tokens // -(-tokens // window))))
        ]
    head = "\n".join(part for part in (chunk.context_header, chunk.summary) if part)
    return [f"{head}\n{part}".strip() for part in parts]


def write_vectors(
    document: Document, space: EmbeddingSpace, windows: Sequence[tuple[RetrievalChunk, int]], vectors: Vectors
) -> None:
    """Store the vector of each (chunk, window). Raises Stale."""
    with held(document):
        ids = {chunk.pk for chunk, _ in windows}
        missing = without_vector(RetrievalChunk.objects.filter(document=document, pk__in=ids), space)
        wanted = set(missing.values_list("pk", flat=True))
        rows = (
            (chunk.pk, document.pk, space.pk, window, packed)
            for (chunk, window), packed in zip(windows, packed_vectors(vectors), strict=True)
            if chunk.pk in wanted
        )
        copy_columns(ChunkVector, VECTOR_COLUMNS, rows)


def packed_vectors(vectors: Vectors) -> Iterator[bytes]:
    """Return each vector as binary halfvec: dimensions, two unused bytes, half floats, big-endian."""
    head = struct.pack(">HH", vectors.shape[1], 0)
    return (head + row.tobytes() for row in vectors.astype(">f2"))


@contextmanager
def held(document: Document) -> Iterator[None]:
    """Open a transaction in which the document's row is locked and unchanged. Raises Stale.

    It does not wait for the disk: the commit that makes the document ready does, and flushes this one, too.
    """
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL synchronous_commit TO off")
        same = Document.objects.filter(pk=document.pk, lease=document.lease, deleted_at=None)
        if not same.select_for_update(of=("self",)).exists():
            raise Stale(document.pk)
        yield
