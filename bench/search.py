"""Search times by size of the library, beside raw pgvector and naive full text; and recall.

The library is made by varying the documents that are there, for a user who is
removed afterwards with all of it, unless it is to be kept. A run that was
stopped leaves what it made, and the next goes on with it.
"""

from __future__ import annotations

import math
import os
import random
import re
import statistics
import time
import uuid
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID
from zlib import crc32

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, OutputWrapper
from django.db import connection, transaction
from django.db.models import Count
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pgvector import HalfVector

from documents.ingestion.persistence import copy_rows
from documents.models import CitationUnit, Document, RetrievalChunk
from retrieval.embeddings.base import Vectors
from retrieval.evaluations import read_questions
from retrieval.index import vectors as vector_search
from retrieval.index.document_index import embed_document, index_words
from retrieval.index.vectors import active_space, build_vector_index, distance_operand, embedder_of
from retrieval.models import ChunkVector, EmbeddingSpace, IndexedChunk, IndexedDocument
from retrieval.query.scope import Scope, ScopeSql
from retrieval.ranking.fusion import RankedList, fuse
from retrieval.results import SearchOptions
from retrieval.search import search

# --- A library of any size, made of varied copies of the documents in it ---
#
# Equal copies would tie in every list and form cliques in every graph. So each copy has its own vocabulary:
# one word in eight is replaced, always by the same other word of the library, and the digits of numbers that
# are not years are changed. Copies are indexed and embedded like other documents. They have no rectangles,
# which search does not read.

OWNER = "benchmark"
REPLACED_ONE_IN = 8
WORD = re.compile(r"[A-Za-z]{4,}|\d+")
YEAR = re.compile(r"(?:19|20)\d\d")


class Variation:
    """One copy's way of saying everything differently, and always the same thing the same way."""

    def __init__(self, seed: int, vocabulary: Sequence[str]) -> None:
        self._seed = seed
        self._vocabulary = vocabulary
        self._known: dict[str, str] = {}

    def of(self, text: str) -> str:
        return WORD.sub(self._replaced, text)

    def _replaced(self, match: re.Match[str]) -> str:
        word = match[0]
        if word not in self._known:
            self._known[word] = self._other(word)
        return self._known[word]

    def _other(self, word: str) -> str:
        if word.isdigit():
            return word if YEAR.fullmatch(word) else self._turned(word)
        number = crc32(f"{self._seed} {word.lower()}".encode())
        return self._vocabulary[number % len(self._vocabulary)] if number % REPLACED_ONE_IN == 0 else word

    def _turned(self, digits: str) -> str:
        return "".join(str((int(digit) + self._seed) % 10) for digit in digits)


def benchmark_owner() -> User:
    user, new = User.objects.get_or_create(username=OWNER)
    if new:
        user.set_unusable_password()
        user.save()
    return user


def originals() -> list[Document]:
    """Documents of anybody but the benchmark that have chunks."""
    found = Document.objects.exclude(owner__username=OWNER).filter(deleted_at=None, chunks__isnull=False)
    return list(found.distinct().order_by("created_at"))


def vocabulary_of(documents: Sequence[Document], size: int = 20_000) -> list[str]:
    words: dict[str, None] = {}
    contents = RetrievalChunk.objects.filter(document__in=documents).values_list("content", flat=True)
    for content in contents.iterator(chunk_size=500):
        words.update(dict.fromkeys(WORD.findall(content)))
        if len(words) > 4 * size:
            break
    return [word for word in words if word.isalpha()][:size]


@dataclass(frozen=True, slots=True)
class Step:
    """One more copy: chunks in all, new ones, and the seconds that indexing them took (not varying them)."""

    chunks: int
    new: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Source:
    """A document to vary; its rows, which are written again and again, beside their own words."""

    document: Document
    chunks: list[tuple[RetrievalChunk, str, str]]
    units: list[tuple[CitationUnit, str, int | None]]


def build_library(owner: User, chunks: int) -> Iterator[Step]:
    """Adds varied copies until the owner has ``chunks`` chunks; stopped, it goes on where it was."""
    documents = originals()
    vocabulary = vocabulary_of(documents)
    sources = [read_source(document) for document in documents]
    have = RetrievalChunk.objects.filter(document__owner=owner).count()
    made = set(Document.objects.filter(owner=owner).values_list("metadata__copy_of", "metadata__seed"))
    seed = 0
    while sources and have < chunks:
        seed += 1
        variation = Variation(seed, vocabulary)
        for source in sources:
            if have < chunks and (str(source.document.pk), seed) not in made:
                copy = write_copy(source, owner, seed, variation)
                have += len(source.chunks)
                yield Step(have, len(source.chunks), index_seconds(copy))


def read_source(document: Document) -> Source:
    chunks = list(RetrievalChunk.objects.filter(document=document))
    index: dict[uuid.UUID | None, int] = {chunk.pk: chunk.index for chunk in chunks}
    units = list(CitationUnit.objects.filter(document=document).defer("bbox", "rects", "cells"))
    for unit in units:
        unit.bbox, unit.rects, unit.cells = [0.0] * 4, [], None
    return Source(
        document,
        [(chunk, chunk.content, chunk.context_header) for chunk in chunks],
        [(unit, unit.content, index.get(unit.chunk_id)) for unit in units],
    )


def write_copy(source: Source, owner: User, seed: int, variation: Variation) -> Document:
    """A varied copy, not indexed yet."""
    original = source.document
    copy = Document(
        owner=owner,
        title=variation.of(original.title),
        original_name=variation.of(original.original_name.replace("_", " ")),
        year=original.year,
        language=original.language,
        status=Document.Status.READY,
        page_count=original.page_count,
        metadata={"copy_of": str(original.pk), "seed": seed},
        indexed_at=timezone.now(),
    )
    for chunk, content, header in source.chunks:
        chunk.pk, chunk.document = uuid.uuid5(copy.pk, str(chunk.index)), copy
        chunk.content, chunk.context_header = variation.of(content), variation.of(header)
    for unit, content, chunk_index in source.units:
        unit.pk, unit.document, unit.content = uuid.uuid4(), copy, variation.of(content)
        unit.chunk_id = None if chunk_index is None else uuid.uuid5(copy.pk, str(chunk_index))
    with transaction.atomic():
        copy.save()
        copy_rows(RetrievalChunk, [chunk for chunk, _, _ in source.chunks])
        copy_rows(CitationUnit, [unit for unit, _, _ in source.units])
    return copy


def index_seconds(document: Document) -> float:
    """Indexes and embeds the copy. The vector index is built when all are there, as one would."""
    start = time.perf_counter()
    index_words(document)
    embed_document(document, active_space())
    return time.perf_counter() - start


def remove_library(owner: User) -> None:
    """All that was made, table by table: there are no files, and nobody to tell."""
    documents = Document.objects.filter(owner=owner)
    for rows in (
        ChunkVector.objects.filter(document__in=documents),
        IndexedChunk.objects.filter(document__in=documents),
        IndexedDocument.objects.filter(document__in=documents),
        CitationUnit.objects.filter(document__in=documents),
        RetrievalChunk.objects.filter(document__in=documents),
        documents,
    ):
        rows._raw_delete("default")
    owner.delete()


# --- The baseline: all words OR-ed, ranked by ``ts_rank``, fused with an HNSW list; not part of search ---

LIMIT = 60

BY_WORDS = """
SELECT chunk_id FROM bench_naive WHERE words @@ to_tsquery('english', %s)
ORDER BY ts_rank(words, to_tsquery('english', %s)) DESC LIMIT %s
"""
BY_MEANING = """
SELECT chunk_id FROM retrieval_chunkvector WHERE space_id = {space}
ORDER BY {operand} <=> %s::halfvec({dimensions}) LIMIT %s
"""


def prepare_naive(owner: User) -> None:
    """A temporary table of the owner's chunks with a tsvector and its GIN index."""
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS bench_naive")
        cursor.execute(
            "CREATE TEMP TABLE bench_naive AS SELECT chunk.id AS chunk_id, "
            "to_tsvector('english', context_header || ' ' || content) AS words "
            "FROM documents_retrievalchunk chunk JOIN documents_document document "
            "ON document.id = chunk.document_id WHERE document.owner_id = %s",
            [owner.pk],
        )
        cursor.execute("CREATE INDEX ON bench_naive USING gin (words)")
        cursor.execute("ANALYZE bench_naive")


def naive_words(question: str) -> list[UUID]:
    words = " | ".join(re.findall(r"\w+", question))
    with connection.cursor() as cursor:
        cursor.execute(BY_WORDS, [words, words, LIMIT])
        return [row[0] for row in cursor.fetchall()]


def raw_vectors(vector: Vectors, space: EmbeddingSpace, limit: int = LIMIT) -> list[UUID]:
    """pgvector alone, unfiltered: the floor of any vector search."""
    statement = BY_MEANING.format(
        space=int(space.pk), operand=distance_operand(space), dimensions=int(space.dimensions)
    )
    with connection.cursor() as cursor:
        cursor.execute(statement, [HalfVector(vector).to_text(), limit])
        return [row[0] for row in cursor.fetchall()]


def naive_search(question: str, vector: Vectors, space: EmbeddingSpace) -> list[UUID]:
    lists = [naive_words(question), raw_vectors(vector, space)]
    ranked = [RankedList(str(at), [(item, 0.0) for item in found]) for at, found in enumerate(lists)]
    return [item for item, _ in fuse(ranked)[:10]]


RECALL_AT = 10
WARMING = 50  # searches before those that are timed
SHARES = (0.001, 0.01, 0.1, 1.0)


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--chunks", type=int, nargs="+", default=[115_000], help="sizes, one or several")
    parser.add_argument("--questions", type=Path, help="FinanceBench's format; else sentences")
    parser.add_argument("--count", type=int, default=50, help="questions asked")
    parser.add_argument("--keep", action="store_true", help="leave the library there for another run")


def run(command: BaseCommand, options: dict[str, Any]) -> int:
    """Measures at each size; the baselines and recall at the largest."""
    out, owner = command.stdout, benchmark_owner()
    sizes: list[Size] = []
    for chunks in sorted(options["chunks"]):
        build(out, owner, chunks)
        questions = questions_for(owner, options["questions"], options["count"])
        sizes += measure_size(owner, chunks, questions)
    write_growth(out, sizes)
    compare(out, owner, questions)
    if not options["keep"]:
        remove_library(owner)
    return 0


@dataclass(frozen=True, slots=True)
class Size:
    """One size of the library: a search's milliseconds, and of them processor time on both sides.

    ``scope``: the library, one document, or so many. ``server`` is the mean of the connection's own server
    process; 0 where it cannot be read (a server elsewhere). ``index_bytes``: of the GIN and HNSW indexes,
    a chunk.
    """

    chunks: int
    scope: str
    p50: float
    p95: float
    python: float
    server: float
    index_bytes: float


COLLECTION = 30  # documents
WHOLE = "library"


def measure_size(owner: User, chunks: int, questions: Sequence[str]) -> list[Size]:
    """The same questions of the whole library, of one document, and of as many as a collection has."""
    documents = list(Document.objects.filter(owner=owner).order_by("id").values_list("pk", flat=True))
    chosen = random.Random(1).sample(documents, min(COLLECTION, len(documents)))
    scopes = {
        WHOLE: Scope(owner),
        "1 document": Scope(owner, document_ids=tuple(chosen[:1])),
        f"{len(chosen)} documents": Scope(owner, document_ids=tuple(chosen)),
    }
    return [measure_scope(name, scope, owner, chunks, questions) for name, scope in scopes.items()]


def measure_scope(name: str, scope: Scope, owner: User, chunks: int, questions: Sequence[str]) -> Size:
    prose = SearchOptions(limit=10)
    for text in sentences(owner, WARMING):
        search(text, scope, prose)  # a server that has been up for a while: no question is asked twice
    python, server = time.process_time(), server_seconds()
    times = timed(lambda text: search(text, scope, prose), questions)
    each = 1000 / len(questions)
    return Size(
        chunks,
        name,
        statistics.median(times),
        percentile(times, 95),
        (time.process_time() - python) * each,
        (server_seconds() - server) * each,
        index_size() / chunks,
    )


def server_seconds() -> float:
    """Processor time of this connection's server process; 0 where it runs elsewhere."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        stat = Path(f"/proc/{cursor.fetchone()[0]}/stat")
    fields = stat.read_text().rpartition(")")[2].split() if stat.exists() else []
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def index_size() -> int:
    """Bytes of the indexes that find words and vectors."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT coalesce(sum(pg_relation_size(indexrelid)), 0) FROM pg_index JOIN pg_class "
            "ON pg_class.oid = indexrelid WHERE relname LIKE %s OR relname = 'chunk_words'",
            ["retrieval_chunkvector_hnsw%"],
        )
        return int(cursor.fetchone()[0])


def write_growth(out: OutputWrapper, sizes: Sequence[Size]) -> None:
    """A row a size and scope, and by which power of the size the library's median grows."""
    head = ("chunks", "scope", "p50 ms", "p95 ms", "Python ms", "server ms", "index B/chunk")
    out.write("".join(f"{name:>14}" for name in head))
    for size in sizes:
        rest = (size.p50, size.p95, size.python, size.server, size.index_bytes)
        out.write(f"{size.chunks:>14}{size.scope:>14}" + "".join(f"{value:>14.1f}" for value in rest))
    whole = [size for size in sizes if size.scope == WHOLE]
    if len(whole) > 1:
        chunks, times = [math.log(size.chunks) for size in whole], [math.log(size.p50) for size in whole]
        slope = statistics.linear_regression(chunks, times).slope
        out.write(f"p50 grows with the number of chunks to the power of {slope:.2f}")


def build(out: OutputWrapper, owner: User, chunks: int) -> None:
    """Builds the library, or what is missing of it, and tells how fast chunks are indexed."""
    have = RetrievalChunk.objects.filter(document__owner=owner).count()
    new, seconds = 0, 0.0
    for step in build_library(owner, chunks):
        if step.chunks // 10_000 != have // 10_000:
            out.write(f"  {step.chunks} chunks")
        have, new, seconds = step.chunks, new + step.new, seconds + step.seconds
    if have < chunks:
        raise CommandError("There is no document to vary: ingest some first.")
    if new:
        out.write(f"indexing, words and vectors: {new / seconds:.0f} chunks/s")
    start = time.perf_counter()
    if build_vector_index(active_space(), at_least=1):
        out.write(f"vector index built in {time.perf_counter() - start:.0f} s")
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
    out.write(f"library: {have} chunks, varied copies of the documents that are there")


def questions_for(owner: User, path: Path | None, count: int) -> list[str]:
    generator = random.Random(1)
    if path is not None:
        known = [known.question for known in read_questions(path)]
        return generator.sample(known, min(count, len(known)))
    return sentences(owner, count + WARMING)[WARMING:]


def sentences(owner: User, count: int) -> list[str]:
    """Words out of the library, in an order of no meaning."""
    chunks = RetrievalChunk.objects.filter(document__owner=owner, chunk_type="prose").order_by("id")[:count]
    return [" ".join(chunk.content.split()[3:15]) for chunk in chunks]


def compare(out: OutputWrapper, owner: User, questions: Sequence[str]) -> None:
    """Searches beside the baselines, statements, and recall beside comparing with every vector."""
    space, scope, prose = active_space(), Scope(owner), SearchOptions(limit=10)
    vectors = list(embedder_of(space).embed(questions, query=True))
    pairs = list(zip(questions, vectors, strict=True))
    prepare_naive(owner)
    for text, vector in pairs[:3]:
        naive_search(text, vector, space)
    ours = timed(lambda pair: search(pair[0], scope, prose), pairs)
    naive = timed(lambda pair: naive_search(pair[0], pair[1], space), pairs)
    rows = [
        ("hybrid search (ours), again", ours),
        ("naive OR + ts_rank + HNSW", naive),
        ("raw pgvector HNSW alone", timed(lambda pair: raw_vectors(pair[1], space), pairs)),
    ]
    out.write(f"{'':<28}{'p50 ms':>10}{'p95 ms':>10}")
    for name, times in rows:
        out.write(f"{name:<28}{statistics.median(times):>10.1f}{percentile(times, 95):>10.1f}")
    out.write(f"ours is {statistics.median(naive) / statistics.median(ours):.1f} × faster than naive")
    out.write(f"statements a search: {sorted(statements(scope, questions, prose))}")
    for share in SHARES:
        out.write(f"recall@{RECALL_AT}, filter lets {recall(owner, space, vectors, share)}")


def timed(call: Callable[[Any], object], items: Sequence[Any]) -> list[float]:
    """Milliseconds of each call."""
    times = []
    for item in items:
        start = time.perf_counter()
        call(item)
        times.append((time.perf_counter() - start) * 1000)
    return times


def percentile(times: Sequence[float], percent: int) -> float:
    return sorted(times)[min(len(times) - 1, len(times) * percent // 100)]


def statements(scope: Scope, questions: Sequence[str], options: SearchOptions) -> set[int]:
    counts = set()
    for text in questions:
        with CaptureQueriesContext(connection) as captured:
            search(text, scope, options)
        counts.add(len(captured))
    return counts


def recall(owner: User, space: EmbeddingSpace, vectors: Sequence[Vectors], share: float) -> str:
    """Of the truly nearest in documents that hold about ``share`` of the chunks, how many are found; and
    whether there were always as many rows as asked for, or as exist."""
    scope = scope_of_share(owner, share)
    sql = scope.compiled()
    if sql is None:
        return "no document through"
    count, whole = count_of(space, scope), count_of(space, Scope(owner))
    hits, full, short = 0, 0, 0
    for vector in vectors:
        truth = exact(vector, space, sql)
        near = vector_search.nearest_chunks(vector, space, sql, count, RECALL_AT)
        hits += len(truth & {found.chunk_id for found in near})
        full += len(truth)
        short += len(near) < min(RECALL_AT, count)
    return f"{count / whole:.1%} through: {hits / max(1, full):.4f}; {short} of {len(vectors)} too short"


def count_of(space: EmbeddingSpace, scope: Scope) -> int:
    return ChunkVector.objects.filter(space=space, document__in=scope.documents()).count()


def exact(vector: Vectors, space: EmbeddingSpace, sql: ScopeSql) -> set[UUID]:
    """The nearest by comparing with all: a chunk count of 0 asks for that."""
    return {found.chunk_id for found in vector_search.nearest_chunks(vector, space, sql, 0, RECALL_AT)}


def scope_of_share(owner: User, share: float) -> Scope:
    """The owner's smallest documents up to this share of chunks, at least one."""
    if share >= 1:
        return Scope(owner)
    sizes = Document.objects.filter(owner=owner).annotate(held=Count("chunks")).order_by("held", "id")
    documents = list(sizes.values_list("pk", "held"))
    wanted = share * sum(size for _, size in documents)
    chosen, have = [], 0
    for pk, size in documents:
        chosen.append(pk)
        have += size
        if have >= wanted:
            break
    return Scope(owner, document_ids=tuple(chosen))
