"""Search by size of the library: percentiles of time, processor time, bytes, growth, plans, recall."""

from __future__ import annotations

import math
import os
import random
import re
import statistics
import time
from argparse import ArgumentParser
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, OutputWrapper
from django.db import connection
from django.db.backends.utils import CursorWrapper
from django.db.models import Count, Model, QuerySet
from django.test.utils import CaptureQueriesContext
from psycopg.pq import Trace

from bench.evaluations.retrieval import KnownQuestion, read_lines
from bench.library import benchmark_owner, build_library, remove_library
from documents.models import CitationUnit, Document, RetrievalChunk
from retrieval.embeddings.base import Vectors
from retrieval.index.vectors import (
    INDEX_MEMORY,
    active_space,
    build_vector_index,
    embedder_of,
    index_name,
    nearest_chunks,
)
from retrieval.models import ChunkVector, EmbeddingSpace, IndexedChunk, IndexedDocument
from retrieval.query.scope import Scope, ScopeSql
from retrieval.results import SearchOptions
from retrieval.search import search

RECALL_AT = 10
WARM_UP_SEARCHES = 50  # searches before those that are timed
SHARES = (0.001, 0.01, 0.1, 1.0)


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--chunks", type=int, nargs="+", default=[115_000], help="sizes, one or several")
    parser.add_argument("--questions", type=Path, help="FinanceBench's format; else sentences")
    parser.add_argument("--count", type=int, default=50, help="questions asked")
    parser.add_argument("--memory", default=INDEX_MEMORY, help="for building the vector index")
    parser.add_argument("--keep", action="store_true", help="keep the library for another run")
    parser.add_argument("--plans", action="store_true", help="print EXPLAIN (ANALYZE, BUFFERS) of a search")


def run(command: BaseCommand, options: dict[str, Any]) -> int:
    """Measure at each size; recall at the largest."""
    out, owner = command.stdout, benchmark_owner()
    sizes: list[Size] = []
    for chunks in sorted(options["chunks"]):
        build(out, owner, chunks, options["memory"])
        questions = questions_for(owner, options["questions"], options["count"])
        have = RetrievalChunk.objects.filter(document__owner=owner).count()
        sizes += measure_size(owner, have, questions)
    write_growth(out, sizes)
    for name, scope in scopes_of(owner).items():
        write_stages(out, name, scope, questions)
        if options["plans"]:
            write_plans(out, scope, questions[0])
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
    """Ask the same questions of each scope."""
    return [measure_scope(name, scope, owner, chunks, questions) for name, scope in scopes_of(owner).items()]


def scopes_of(owner: User) -> dict[str, Scope]:
    """Return the whole library, one document, and as many as a collection has."""
    documents = list(Document.objects.filter(owner=owner).order_by("id").values_list("pk", flat=True))
    chosen = random.Random(1).sample(documents, min(COLLECTION, len(documents)))
    return {
        WHOLE: Scope(owner),
        "1 document": Scope(owner, document_ids=tuple(chosen[:1])),
        f"{len(chosen)} documents": Scope(owner, document_ids=tuple(chosen)),
    }


def measure_scope(name: str, scope: Scope, owner: User, chunks: int, questions: Sequence[str]) -> Size:
    prose = SearchOptions(limit=10)
    for text in sentences(owner, WARM_UP_SEARCHES):
        search(text, scope, prose)  # as on a server that has run for a while; no question is repeated
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
    """Return the bytes that the connection sends and receives during ``work``, as libpq traces them."""
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
    """Return the processor time of this connection's server process; 0 if it runs elsewhere."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        stat = Path(f"/proc/{cursor.fetchone()[0]}/stat")
    fields = stat.read_text().rpartition(")")[2].split() if stat.exists() else []
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def index_size() -> int:
    """Return the bytes of the indexes of words and vectors."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT coalesce(sum(pg_relation_size(indexrelid)), 0) FROM pg_index JOIN pg_class "
            "ON pg_class.oid = indexrelid WHERE relname LIKE %s OR relname = 'chunk_words'",
            ["retrieval_chunkvector_hnsw%"],
        )
        return int(cursor.fetchone()[0])


def write_growth(out: OutputWrapper, sizes: Sequence[Size]) -> None:
    """Write a row for each size and scope, and the exponents of growth in the library."""
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
            powers = (growth_exponent(of_scope, name) for name in SCALED_FIGURES)
            out.write(f"{'grows as ^':>13}{scope:>13}" + "".join(f"{value:>13.2f}" for value in powers))


def write_stages(out: OutputWrapper, name: str, scope: Scope, questions: Sequence[str]) -> None:
    """Write the mean milliseconds of the search's strategies and of the statements in them."""
    spent: defaultdict[str, float] = defaultdict(float)

    def timer(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        start = time.perf_counter()
        try:
            return execute(sql, params, many, context)
        finally:
            spent[f"statement {label_of(sql)}"] += (time.perf_counter() - start) * 1000

    with connection.execute_wrapper(timer):
        for text in questions:
            result = search(text, scope, SearchOptions(limit=10))
            spent["search"] += result.milliseconds
            for report in result.strategies:
                spent[report.name] += report.milliseconds
    out.write(f"{name}: milliseconds by stage, statements within their stages")
    for stage, milliseconds in sorted(spent.items(), key=lambda stage: -stage[1]):
        if milliseconds:
            out.write(f"{milliseconds / len(questions):>9.2f}  {stage}")


TABLES = ("retrieval_indexedchunk", "retrieval_chunkvector", "documents_citationunit", "name_terms", "fields")


def label_of(sql: str) -> str:
    """Return what a statement reads beside its scope: a table, the documents' names, or their fields."""
    read = next((name for name in TABLES if name in sql), sql.split(maxsplit=1)[0])
    return f"{read} of named documents" if "unnest(%s::uuid[])" in sql else read


def write_plans(out: OutputWrapper, scope: Scope, text: str) -> None:
    """Write the plan of each statement of one search, with its buffers and milliseconds."""
    asked: list[tuple[str, Any]] = []

    def note(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        asked.append((sql, params))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        search(text, scope, SearchOptions(limit=10))
    for sql, params in asked:
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS) {sql}", params)
            out.write("\n".join([f"-- {label_of(sql)}", *(line for (line,) in cursor.fetchall())]))


SCALED_FIGURES = ("p50", "p95", "python", "server", "sent", "received", "index_bytes")


def growth_exponent(sizes: Sequence[Size], name: str) -> float:
    """Return the exponent of growth: the slope of log(value) by log(number of chunks)."""
    values = [math.log(max(getattr(size, name), 0.001)) for size in sizes]
    return statistics.linear_regression([math.log(size.chunks) for size in sizes], values).slope


def build(out: OutputWrapper, owner: User, chunks: int, memory: str) -> None:
    """Build the library, or the missing part of it; print how fast chunks are indexed."""
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
        known = [known.question for known in read_lines(path, KnownQuestion)]
        return generator.sample(known, min(count, len(known)))
    return sentences(owner, count + WARM_UP_SEARCHES)[WARM_UP_SEARCHES:]


def sentences(owner: User, count: int) -> list[str]:
    """Return sentences of the library's words in random order."""
    chunks = RetrievalChunk.objects.filter(document__owner=owner, chunk_type="prose").order_by("id")[:count]
    return [" ".join(chunk.content.split()[3:15]) for chunk in chunks]


def compare(out: OutputWrapper, owner: User, questions: Sequence[str]) -> None:
    """Print the statements of a search, and the recall against exact search."""
    scope, space = Scope(owner), active_space()
    out.write(f"statements a search: {sorted(statements(scope, questions, SearchOptions(limit=10)))}")
    vectors = list(embedder_of(space).embed(questions, query=True))
    for share in SHARES:
        out.write(f"recall@{RECALL_AT}, filter lets {recall(owner, space, vectors, share)}")


def timed(call: Callable[[Any], object], items: Sequence[Any]) -> list[float]:
    """Return the milliseconds of each call."""
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
    """Return the share of the true nearest chunks that are found, in documents with about ``share`` of the
    chunks.

    Also return whether every search gave as many rows as requested, or as exist.
    """
    scope = scope_of_share(owner, share)
    sql = scope.compiled()
    if sql is None:
        return "no document through"
    count, whole = count_of(space, scope), count_of(space, Scope(owner))
    hits, full, short = 0, 0, 0
    for vector in vectors:
        truth = exact(vector, space, sql)
        near = nearest_chunks(vector, space, sql, count, RECALL_AT)
        hits += len(truth & {found.chunk_id for found in near})
        full += len(truth)
        short += len(near) < min(RECALL_AT, count)
    return f"{count / whole:.1%} through: {hits / max(1, full):.4f}; {short} of {len(vectors)} too short"


def count_of(space: EmbeddingSpace, scope: Scope) -> int:
    return ChunkVector.objects.filter(space=space, document__in=scope.documents()).count()


def exact(vector: Vectors, space: EmbeddingSpace, sql: ScopeSql) -> set[UUID]:
    """Return the nearest chunks by exact search, which a chunk count of 0 selects."""
    return {found.chunk_id for found in nearest_chunks(vector, space, sql, 0, RECALL_AT)}


def scope_of_share(owner: User, share: float) -> Scope:
    """Return the owner's smallest documents up to this share of chunks, at least one."""
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


# --- A library of more than ``VARIED`` chunks ---
#
# The server copies the varied documents, since indexing a million chunks takes half an hour. The copies have
# the words of their originals, and vectors as far from them as those of other copies.

VARIED = 20_000
NOISES = 1000
NOISE = """
CREATE TEMP TABLE bench_noise AS
SELECT number, (array_agg((random() - 0.5) * 0.065))::real[]::halfvec({dimensions}) AS noise
FROM generate_series(0, {last}) number, generate_series(1, {dimensions}) GROUP BY number
"""
AGAIN = "md5({column}::text || %(number)s)::uuid"


def repeat_library(owner: User, chunks: int, memory: str) -> None:
    """Insert copies of the owner's varied documents until there are ``chunks``, without their indexes."""
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
    """Insert the rows of all varied documents again, with ids derived from theirs and the number."""
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
        names = ", ".join(f'"{column}"' for column in columns)  # "window" is a word of SQL
        values = ", ".join(changed.get(column, f'old."{column}"') for column in columns)
        key = "id" if model is Document else "document_id"
        table = model._meta.db_table
        cursor.execute(
            f"INSERT INTO {table} ({names}) SELECT {values} FROM {table} old WHERE old.{key} = ANY(%(ids)s)",
            params,
        )
