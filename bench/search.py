"""Search times by size of the library, beside raw pgvector and naive full text; and recall.

The library is made by varying the documents that are there, for a user who is
removed afterwards with all of it, unless it is to be kept. A run that was
stopped leaves what it made, and the next goes on with it. Use a database of its
own: while rows are repeated their indexes are away.
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
from dataclasses import astuple, dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any
from uuid import UUID
from zlib import crc32

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, OutputWrapper
from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper
from django.db.models import Count, Model, QuerySet
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pgvector import HalfVector
from psycopg.pq import Trace

from documents.ingestion.persistence import copy_rows
from documents.models import CitationUnit, Document, RetrievalChunk
from retrieval.embeddings.base import Vectors
from retrieval.evaluations import read_questions
from retrieval.index import vectors as vector_search
from retrieval.index.document_index import embed_document, index_words
from retrieval.index.vectors import (
    INDEX_MEMORY,
    active_space,
    build_vector_index,
    distance_operand,
    embedder_of,
    index_name,
)
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
    unit_ids: list[list[UUID]]
    units: list[tuple[CitationUnit, str, UUID, int | None]]


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
        [list(chunk.unit_ids) for chunk in chunks],
        [(unit, unit.content, unit.pk, index.get(unit.chunk_id)) for unit in units],
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
    for index, (chunk, content, header) in enumerate(source.chunks):
        chunk.pk, chunk.document = uuid.uuid5(copy.pk, str(chunk.index)), copy
        chunk.content, chunk.context_header = variation.of(content), variation.of(header)
        chunk.unit_ids = [uuid.uuid5(copy.pk, str(pk)) for pk in source.unit_ids[index]]
    for unit, content, key, chunk_index in source.units:
        unit.pk, unit.document, unit.content = uuid.uuid5(copy.pk, str(key)), copy, variation.of(content)
        unit.chunk_id = None if chunk_index is None else uuid.uuid5(copy.pk, str(chunk_index))
    with transaction.atomic():
        copy.save()
        copy_rows(RetrievalChunk, [chunk for chunk, _, _ in source.chunks])
        copy_rows(CitationUnit, [unit for unit, *_ in source.units])
    return copy


def index_seconds(document: Document) -> float:
    """Indexes and embeds the copy. The vector index is built when all are there, as one would."""
    start = time.perf_counter()
    index_words(document)
    embed_document(document, active_space())
    return time.perf_counter() - start


# Above ``VARIED`` chunks the server repeats the varied copies: a million would take the indexer half an hour.
# The repeats have the words of their originals and vectors as far from theirs as those of other copies.

VARIED = 20_000
NOISES = 1000
NOISE = """
CREATE TEMP TABLE bench_noise AS
SELECT number, (array_agg((random() - 0.5) * 0.065))::real[]::halfvec({dimensions}) AS noise
FROM generate_series(0, {last}) number, generate_series(1, {dimensions}) GROUP BY number
"""
AGAIN = "md5({column}::text || %(number)s)::uuid"


def repeat_library(owner: User, chunks: int, memory: str) -> None:
    """Repeats the owner's varied documents, so many times as ``chunks`` asks for, without their indexes."""
    varied = Document.objects.filter(owner=owner, metadata__has_key="seed")
    have = RetrievalChunk.objects.filter(document__in=varied).count()
    wanted = range(1, round(chunks / max(have, 1)))
    made = Document.objects.filter(owner=owner, metadata__has_key="repeat")
    there = set(made.values_list("metadata__repeat", flat=True))
    missing = [number for number in wanted if number not in there]
    if not missing:
        return
    space = active_space()
    words = next(index for index in IndexedChunk._meta.indexes if index.name == "chunk_words")
    with connection.schema_editor() as editor, connection.cursor() as cursor:  # one transaction
        editor.remove_index(IndexedChunk, words)
        cursor.execute(f"DROP INDEX IF EXISTS {index_name(space)}")
        cursor.execute("SELECT set_config('maintenance_work_mem', %s, true)", [memory])
        cursor.execute(NOISE.format(dimensions=int(space.dimensions), last=NOISES - 1))
        for number in missing:
            repeat_rows(cursor, varied, number)
        editor.add_index(IndexedChunk, words)
        cursor.execute("DROP TABLE bench_noise")


def repeat_rows(cursor: CursorWrapper, varied: QuerySet[Document], number: int) -> None:
    """The rows of all varied documents once more, under ids made of theirs and the number."""
    again = {
        column: AGAIN.format(column=f"old.{column}") for column in ("id", "document_id", "chunk_id", "unit")
    }
    of_document = {"id": again["id"], "metadata": "jsonb_build_object('repeat', %(number)s::int)"}
    unit_ids = f"ARRAY(SELECT {AGAIN.format(column='unit')} FROM unnest(old.unit_ids) unit)"
    noise = (
        "old.embedding + (SELECT noise FROM bench_noise "
        f"WHERE bench_noise.number = abs(hashtext(old.chunk_id::text || %(number)s)::bigint) %% {NOISES})"
    )
    own = {"document_id": again["document_id"]}
    chunked = {**own, "chunk_id": again["chunk_id"]}
    repeats: list[tuple[type[Model], dict[str, str]]] = [
        (Document, of_document),
        (RetrievalChunk, {**own, "id": again["id"], "unit_ids": unit_ids}),
        (CitationUnit, {**chunked, "id": again["id"]}),
        (IndexedDocument, {**own, "id": ""}),
        (IndexedChunk, chunked),
        (ChunkVector, {**chunked, "id": "", "embedding": noise}),
    ]
    params: dict[str, Any] = {"number": number, "ids": list(varied.values_list("pk", flat=True))}
    for model, changed in repeats:
        fields = (str(field.column) for field in model._meta.concrete_fields)
        columns = [column for column in fields if changed.get(column) != ""]
        names = ", ".join(columns)
        values = ", ".join(changed.get(column, f"old.{column}") for column in columns)
        key = "id" if model is Document else "document_id"
        table = model._meta.db_table
        cursor.execute(
            f"INSERT INTO {table} ({names}) SELECT {values} FROM {table} old WHERE old.{key} = ANY(%(ids)s)",
            params,
        )


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
    parser.add_argument("--memory", default=INDEX_MEMORY, help="for building the vector index")
    parser.add_argument("--keep", action="store_true", help="leave the library there for another run")


def run(command: BaseCommand, options: dict[str, Any]) -> int:
    """Measures at each size; the baselines and recall at the largest."""
    out, owner = command.stdout, benchmark_owner()
    sizes: list[Size] = []
    for chunks in sorted(options["chunks"]):
        build(out, owner, chunks, options["memory"])
        questions = questions_for(owner, options["questions"], options["count"])
        have = RetrievalChunk.objects.filter(document__owner=owner).count()
        sizes += measure_size(owner, have, questions)
    write_growth(out, sizes)
    compare(out, owner, questions)
    if not options["keep"]:
        remove_library(owner)
    return 0


@dataclass(frozen=True, slots=True)
class Size:
    """One size of the library: a search's milliseconds, and of them processor time on both sides.

    ``scope``: the library, one document, or so many. ``server`` is the mean of the connection's own server
    process; 0 where it cannot be read (a server elsewhere). ``sent``, ``received``: bytes of a search's
    statements and of the rows that answer them. ``index_bytes``: of the GIN and HNSW indexes, a chunk.
    """

    chunks: int
    scope: str
    p50: float
    p95: float
    python: float
    server: float
    sent: float
    received: float
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
    python, server = (time.process_time() - python) * each, (server_seconds() - server) * each
    sent, received = bytes_between(lambda: [search(text, scope, prose) for text in questions])
    return Size(
        chunks,
        name,
        statistics.median(times),
        percentile(times, 95),
        python,
        server,
        sent / len(questions),
        received / len(questions),
        index_size() / chunks,
    )


MESSAGE = re.compile(rb"^([FB])\t(\d+)\t", re.MULTILINE)
"""A line of libpq's trace: from the frontend or the backend, and the bytes of the message but its first."""


def bytes_between(work: Callable[[], object]) -> tuple[int, int]:
    """Bytes that the connection sends and receives during ``work``, as libpq traces them."""
    connection.ensure_connection()
    wire = connection.connection.pgconn
    with TemporaryFile() as log:
        wire.trace(log.fileno())
        wire.set_trace_flags(Trace.SUPPRESS_TIMESTAMPS)
        work()
        wire.untrace()
        log.seek(0)
        sizes = {b"F": 0, b"B": 0}
        for line in log:
            if message := MESSAGE.match(line):
                sizes[message[1]] += int(message[2]) + 1
    return sizes[b"F"], sizes[b"B"]


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
    """A row a size and scope, and by which power of the size the library's figures grow."""
    head = (
        "chunks",
        "scope",
        "p50 ms",
        "p95 ms",
        "Python ms",
        "server ms",
        "sent B",
        "received B",
        "index B",
    )
    out.write("".join(f"{name:>13}" for name in head))
    for size in sizes:
        chunks, scope, *rest = astuple(size)
        out.write(f"{chunks:>13}{scope:>13}" + "".join(f"{value:>13.1f}" for value in rest))
    for scope in dict.fromkeys(size.scope for size in sizes):
        of_scope = [size for size in sizes if size.scope == scope]
        if len(of_scope) > 1:
            powers = (power(of_scope, name) for name in GROWING)
            out.write(f"{'grows as ^':>13}{scope:>13}" + "".join(f"{value:>13.2f}" for value in powers))


GROWING = ("p50", "p95", "python", "server", "sent", "received", "index_bytes")


def power(sizes: Sequence[Size], name: str) -> float:
    """The exponent of the fitted growth: of the logarithm by that of the number of chunks."""
    values = [math.log(max(getattr(size, name), 0.001)) for size in sizes]
    return statistics.linear_regression([math.log(size.chunks) for size in sizes], values).slope


def build(out: OutputWrapper, owner: User, chunks: int, memory: str) -> None:
    """Builds the library, or what is missing of it, and tells how fast chunks are indexed."""
    have = RetrievalChunk.objects.filter(document__owner=owner).count()
    new, seconds = 0, 0.0
    for step in build_library(owner, min(chunks, VARIED)):
        if step.chunks // 10_000 != have // 10_000:
            out.write(f"  {step.chunks} chunks")
        have, new, seconds = step.chunks, new + step.new, seconds + step.seconds
    if not have:
        raise CommandError("There is no document to vary: ingest some first.")
    if new:
        out.write(f"indexing, words and vectors: {new / seconds:.0f} chunks/s")
    start = time.perf_counter()
    if chunks > have:
        repeat_library(owner, chunks, memory)
        have = RetrievalChunk.objects.filter(document__owner=owner).count()
        out.write(f"repeated by the server in {time.perf_counter() - start:.0f} s")
    start = time.perf_counter()
    if build_vector_index(active_space(), at_least=1, memory=memory):
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
