"""Update stored documents to the present code: text of the file, chunk types, words, vectors.

Every step selects what is outdated and updates it, so it is idempotent and can be interrupted.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone
from django_q.tasks import async_task

from documents.chunking import chunk_type
from documents.importers.block_import import VERSION as IMPORT_VERSION
from documents.ingestion.pipeline import ingest_again
from documents.ingestion.queue import independent_job
from documents.models import Document, FailureCode, Job, RetrievalChunk
from pdf.api import PARSER_VERSION
from retrieval.index.document_index import Stale, embed_document, index_words
from retrieval.index.vectors import activate, active_space, build_vector_index, open_space, without_vector
from retrieval.models import (
    ANALYSIS_VERSION,
    ChunkVector,
    EmbeddingSpace,
    IndexedChunk,
    IndexedDocument,
)
from retrieval.provider_calls import ProviderError

# Move the library to another embedding space; the old one stays active meanwhile.

ROUNDS = 5
"""Looks for documents that came in meanwhile; what comes after the last is left to ``backfill``."""


@dataclass(frozen=True, slots=True)
class BackfillProgress:
    """``remaining`` counts documents without vectors."""

    document: Document
    embedded: int
    remaining: int


def reindex(name: str, on_progress: Callable[[BackfillProgress], None] | None = None) -> EmbeddingSpace:
    """Embed what the space lacks, build its index, and activate it. It can be interrupted and repeated.

    ``name`` is ``provider`` or ``provider:model``. Raises ProviderError; then embedded vectors are kept, and
    the old space stays active.
    """
    space = open_space(name)
    for _ in range(ROUNDS):
        if embed_lacking(space, on_progress):
            break
    build_vector_index(space)
    activate(space)
    return space


def embed_lacking(
    space: EmbeddingSpace,
    on_progress: Callable[[BackfillProgress], None] | None = None,
    seconds: float = math.inf,
) -> bool:
    """Embed documents without vectors until the time is up. Return True when none is left. Raises
    ProviderError.
    """
    begun, done = time.monotonic(), 0
    lacking = list(documents_lacking(space))
    for number, document in enumerate(lacking, 1):
        if time.monotonic() - begun > seconds:
            return False
        try:
            with independent_job(document, Job.Kind.INDEX):
                embedded = embed_document(document, space)
        except Stale:
            continue
        done += 1
        if on_progress:
            on_progress(BackfillProgress(document, embedded, len(lacking) - number))
    return not done


# The same in rounds, started on the providers page: a worker that dies loses the work on one document.

ROUND_SECONDS = 45.0
LEASE = timedelta(minutes=10)  # of a round, which ends after its current document
PAUSE = timedelta(minutes=1)  # after a temporary failure
TICKET = "retrieval.index.backfill.move_on"


def move_into(name: str) -> EmbeddingSpace:
    """Start to embed the library in a space, and stop any other move. Raises ProviderError.

    The name of the active space cancels a move.
    """
    space = open_space(name)
    with transaction.atomic():
        EmbeddingSpace.objects.exclude(pk=space.pk).update(wanted=False)
        EmbeddingSpace.objects.filter(pk=space.pk).update(
            wanted=not space.active, failure="", busy_until=None
        )
    transaction.on_commit(issue_ticket, robust=True)
    return space


def due_spaces() -> QuerySet[EmbeddingSpace]:
    """Return the space that the library moves to, if no worker is working on it."""
    free = Q(busy_until=None) | Q(busy_until__lt=timezone.now())
    return EmbeddingSpace.objects.filter(free, wanted=True)


def issue_ticket(**signal: Any) -> None:
    if due_spaces().exists():
        async_task(TICKET, group="index")


def move_on() -> bool:
    """Run one round of the move. Return True when the space became active. Failures are stored."""
    space = due_spaces().first()
    if space is None or not due_spaces().filter(pk=space.pk).update(busy_until=timezone.now() + LEASE):
        return False
    row = EmbeddingSpace.objects.filter(pk=space.pk)
    try:
        whole = embed_lacking(space, seconds=ROUND_SECONDS)
        if whole:
            build_vector_index(space)
    except ProviderError as error:
        waits = timezone.now() + PAUSE
        row.update(failure=error.message[:200], busy_until=waits)
        if error.permanent:
            row.update(wanted=False)
        return False
    row.update(failure="", busy_until=None)
    if whole and row.filter(wanted=True).exists():  # no other space was chosen meanwhile
        activate(space)
        return True
    issue_ticket()
    return False


def share_embedded(space: EmbeddingSpace) -> float:
    """Return the share (0..1) of chunks that have a vector in the space."""
    chunks = RetrievalChunk.objects.filter(document__deleted_at=None).count()
    embedded = ChunkVector.objects.filter(space=space, window=0, document__deleted_at=None).count()
    return embedded / chunks if chunks else 1.0


def documents_lacking(space: EmbeddingSpace) -> QuerySet[Document]:
    """Return documents with a chunk that has no vector in the space."""
    without = without_vector(RetrievalChunk.objects.order_by(), space)
    lacking = Document.objects.filter(pk__in=without.values("document"), deleted_at=None)
    return lacking.order_by("created_at")


IMPORTED = "imported"
"""Parser name prefix of external blocks."""


@dataclass(frozen=True, slots=True)
class Behind:
    """An outdated document and the outdated part: ``parser``, ``chunk types``, ``words`` or ``vectors``."""

    document: Document
    what: str


def documents_behind() -> Iterator[Behind]:
    """Yield each outdated document once, with its first step; that step includes the later ones."""
    seen = set()
    for what, documents in (
        ("parser", read_by_older_parsers()),
        ("chunk types", without_chunk_types()),
        ("words", without_words()),
        ("vectors", documents_lacking(active_space())),
    ):
        for document in documents:
            if document.pk not in seen:
                seen.add(document.pk)
                yield Behind(document, what)


def read_by_older_parsers() -> QuerySet[Document]:
    """Return files and imported blocks that the present parser would parse differently."""
    imported = Q(parser_name__startswith=IMPORTED)
    current = (~imported & Q(parser_version=PARSER_VERSION)) | (imported & Q(parser_version=IMPORT_VERSION))
    ready = Document.objects.filter(deleted_at=None, status=Document.Status.READY).exclude(current)
    return ready.filter(~Q(file="") | Q(metadata__has_key="payload")).order_by("created_at")


def without_chunk_types() -> QuerySet[Document]:
    untyped = RetrievalChunk.objects.filter(chunk_type="").order_by()
    found = Document.objects.filter(pk__in=untyped.values("document"), deleted_at=None)
    return found.order_by("created_at")


def repair_chunk_types(document: Document) -> None:
    """Give chunks without a type that of their units. Change nothing else."""
    lacking = list(document.chunks.filter(chunk_type="").prefetch_related("units"))
    for chunk in lacking:
        chunk.chunk_type = chunk_type(unit.unit_type for unit in chunk.units.all())
    RetrievalChunk.objects.bulk_update(lacking, ["chunk_type"], batch_size=500)


def without_words() -> QuerySet[Document]:
    """Return documents whose words are not indexed, are of an older analysis, or lack their terms."""
    present = IndexedDocument.objects.filter(document=OuterRef("pk"), analysis_version=ANALYSIS_VERSION)
    chunked = RetrievalChunk.objects.order_by().values("document")
    matched = IndexedChunk.objects.filter(document=OuterRef("pk")).exclude(words="")
    lost = Exists(matched.filter(terms=b""))
    outdated = Document.objects.filter(~Exists(present) | lost, pk__in=chunked, deleted_at=None)
    return outdated.order_by("created_at")


POLL_SECONDS = 0.5


def backfill(on_step: Callable[[Behind, int, int], object] | None = None, waiting: float = math.inf) -> int:
    """Update every document; return how many were outdated. Raises ProviderError.

    ``on_step`` is called with the step, its number and the number of steps. ``waiting``: maximum number of
    documents that wait for a worker to parse them again.
    """
    count = 0
    all_behind = list(documents_behind())
    for behind in all_behind:
        while waiting < math.inf and waiting_again() >= waiting:
            time.sleep(POLL_SECONDS)
        try:
            bring_up_to_date(behind)
        except Stale:
            continue
        count += 1
        if on_step:
            on_step(behind, count, len(all_behind))
    return count


def waiting_again() -> int:
    """Return the number of documents that wait for a worker to parse them again."""
    again = Document.objects.filter(status=Document.Status.UPLOADED, indexed_at__isnull=False)
    return again.filter(deleted_at=None).count()


def bring_up_to_date(behind: Behind) -> None:
    """Queue a file for the parser, or run the other steps here. Raises ProviderError, Stale."""
    if behind.what == "parser":
        ingest_again(behind.document)
        return
    with independent_job(behind.document, Job.Kind.INDEX):
        index_what_lacks(behind)


def index_what_lacks(behind: Behind) -> None:
    lacks = Document.objects.filter(pk=behind.document.pk)
    repair_chunk_types(behind.document)
    if lacks.filter(pk__in=without_words().values("pk")).exists():
        index_words(behind.document)
    space = active_space()
    if lacks.filter(pk__in=documents_lacking(space).values("pk")).exists():
        embed_document(behind.document, space)
        build_vector_index(space)
    forgive_embedding(behind.document)


def forgive_embedding(document: Document) -> None:
    """Mark a document as ready if only its embedding had failed."""
    Document.objects.filter(pk=document.pk, failure_code=FailureCode.EMBEDDING_FAILED).update(
        status=Document.Status.READY, failure_code="", failure_message="", indexed_at=timezone.now()
    )


# --- After an upgrade ---

WORDS_ROUND = 2.0
"""Seconds of one sweep given to documents that an older version indexed: some 2,000 chunks."""


def index_older_words(**signal: Any) -> None:
    """Receiver of ``library_swept``: index documents of an older analysis again, newest first."""
    begun = time.monotonic()
    for document in without_words().filter(lease=None).order_by("-created_at")[:100]:
        if time.monotonic() - begun > WORDS_ROUND:
            return
        try:
            with independent_job(document, Job.Kind.INDEX):
                index_words(document)
        except Stale:
            continue
