"""Makes a document findable: by words first, then by meaning.

Providers are called outside transactions. Rows are written under a lock on the
document's row, and only while it is still the document that was read: a worker
that lost its lease, or that embeds what was replaced meanwhile, writes nothing.
"""

from __future__ import annotations

import logging
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from django.db import transaction

from documents.models import Document, RetrievalChunk
from retrieval.copying import copy_columns
from retrieval.models import ChunkVector, EmbeddingSpace, IndexedDocument, Passage, Posting
from retrieval.passages import (
    PassageDraft,
    cover_fields,
    cut_passages,
    name_fields,
    names_of,
    read_units,
)
from retrieval.postings import MOST_PASSAGES, POSTING, pack_postings
from retrieval.providers.embeddings import Vectors
from retrieval.providers.retrying import with_retries
from retrieval.spaces import active_space, build_vector_index, embedder_of
from retrieval.summaries import add_summaries

logger = logging.getLogger(__name__)

ANALYSIS_VERSION = 3
"""Of the terms and their weights; ``manage.py backfill`` indexes documents of older versions again."""


LONGEST_POSTING = 800 * POSTING.itemsize
"""Bytes: with the rest of its entry below the 2,704 that fit a B-tree page three times."""


@dataclass(frozen=True, slots=True)
class IndexReport:
    """``stale``: the document was changed or taken over meanwhile, and nothing more was written."""

    passages: int
    postings: int
    vectors: int
    stale: bool = False


class Stale(Exception):
    """The document is no longer the one that was read."""


def index_document(document: Document) -> IndexReport:
    """Indexes a parsed document's words, then embeds its chunks in the active space.

    ``document`` is the row as its worker holds it (with its lease, or None).
    Raises ProviderError when embedding fails; keyword search works by then.
    """
    try:
        passages, postings = index_words(document)
        space = with_retries(active_space)  # a new space asks its model for the length of its vectors
        vectors = embed_document(document, space)
        build_vector_index(space)
    except Stale:
        logger.info("document %s: changed while it was indexed, nothing was written", document.pk)
        return IndexReport(0, 0, 0, stale=True)
    return IndexReport(passages, postings, vectors)


def index_words(document: Document) -> tuple[int, int]:
    """Replaces the document's passages and postings; how many of each. Raises Stale."""
    passages = cut_passages(read_units(document))[:MOST_PASSAGES]
    names = names_of(document)
    postings = pack_postings(
        [passage.fields(names) for passage in passages],
        name_fields(document),
        cover_fields(document, passages),
    )
    with held(document):
        IndexedDocument.objects.filter(document=document).delete()
        entry = IndexedDocument.objects.create(
            document=document,
            passage_count=len(passages),
            chunk_count=RetrievalChunk.objects.filter(document=document).count(),
            analysis_version=ANALYSIS_VERSION,
            names=names,
        )
        copy_columns(Passage, PASSAGE_COLUMNS, passage_rows(entry, passages))
        copy_columns(Posting, POSTING_COLUMNS, posting_rows(entry, postings))
    return len(passages), len(postings)


PASSAGE_COLUMNS = dict.fromkeys(
    ("entry_id", "ordinal", "page_number", "first_position", "last_position"), "int4"
)
POSTING_COLUMNS = {"entry_id": "int4", "term": "int4", "part": "int2", "packed": "bytea"}
VECTOR_COLUMNS = {"chunk_id": "uuid", "document_id": "uuid", "space_id": "int8", "embedding": "bytea"}


def passage_rows(entry: IndexedDocument, passages: Sequence[PassageDraft]) -> Iterator[tuple[int, ...]]:
    for ordinal, draft in enumerate(passages):
        first, last = draft.units[0].position, draft.units[-1].position
        yield entry.pk, ordinal, draft.page_number, first, last


def posting_rows(
    entry: IndexedDocument, postings: Mapping[int, bytes]
) -> Iterator[tuple[int, int, int, bytes]]:
    for term, packed in postings.items():
        for part, at in enumerate(range(0, len(packed), LONGEST_POSTING)):
            yield entry.pk, term, part, packed[at : at + LONGEST_POSTING]


def embed_document(document: Document, space: EmbeddingSpace) -> int:
    """Embeds the chunks that have no vector in ``space`` yet; how many. Raises ProviderError, Stale."""
    missing = RetrievalChunk.objects.filter(document=document).exclude(vectors__space=space)
    chunks = list(missing.order_by("index").only("id", "index", "content", "context_header", "summary"))
    add_summaries(document, chunks)
    engine = embedder_of(space)
    for at in range(0, len(chunks), engine.batch_size):
        batch = chunks[at : at + engine.batch_size]
        texts = [embedded_text(chunk) for chunk in batch]
        vectors = with_retries(partial(engine.embed, texts))
        write_vectors(document, space, batch, vectors)
        tell_progress(document, (at + len(batch)) / len(chunks))
    return len(chunks)


def tell_progress(document: Document, done: float) -> None:
    """Who watches the document being taken in sees how many of its chunks are indexed."""
    indexing = Document.objects.filter(pk=document.pk, status=Document.Status.INDEXING)
    indexing.filter(lease=document.lease, lease__isnull=False).update(progress=done)


def embedded_text(chunk: RetrievalChunk) -> str:
    """Contextual chunks: where it stands, what it is about, what it says."""
    return "\n".join(part for part in (chunk.context_header, chunk.summary, chunk.content) if part)


def write_vectors(
    document: Document, space: EmbeddingSpace, chunks: list[RetrievalChunk], vectors: Vectors
) -> None:
    with held(document):
        ids = [chunk.pk for chunk in chunks]
        missing = RetrievalChunk.objects.filter(pk__in=ids).exclude(vectors__space=space)
        wanted = set(missing.values_list("pk", flat=True))
        rows = (
            (chunk.pk, document.pk, space.pk, packed)
            for chunk, packed in zip(chunks, packed_vectors(vectors), strict=True)
            if chunk.pk in wanted
        )
        copy_columns(ChunkVector, VECTOR_COLUMNS, rows)


def packed_vectors(vectors: Vectors) -> Iterator[bytes]:
    """Each as pgvector's halfvec travels: dimensions, two bytes unused, half floats, all big-endian."""
    head = struct.pack(">HH", vectors.shape[1], 0)
    return (head + row.tobytes() for row in vectors.astype(">f2"))


@contextmanager
def held(document: Document) -> Iterator[None]:
    """A transaction in which the document's row is locked and as it was read. Raises Stale."""
    with transaction.atomic():
        same = Document.objects.filter(pk=document.pk, lease=document.lease, deleted_at=None)
        if not same.select_for_update(of=("self",)).exists():
            raise Stale(document.pk)
        yield
