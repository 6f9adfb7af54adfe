"""Search times in a library of 115,000 chunks, beside raw pgvector and naive full text; and recall.

The library is made by varying the documents that are there, for a user who is
removed afterwards with all of it, unless it is to be kept. A run that was
stopped leaves what it made, and the next goes on with it.
"""

from __future__ import annotations

import random
import statistics
import time
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, OutputWrapper
from django.db import connection
from django.db.models import Count
from django.test.utils import CaptureQueriesContext

from documents.models import Document, RetrievalChunk
from retrieval.benchmarks._library import benchmark_owner, build_library, remove_library
from retrieval.benchmarks._naive import naive_search, naive_words, prepare_naive, raw_vectors
from retrieval.evaluation import read_questions
from retrieval.models import ChunkVector, EmbeddingSpace
from retrieval.providers.embeddings import Vectors
from retrieval.results import SearchOptions
from retrieval.scope import Scope, ScopeSql
from retrieval.search import search
from retrieval.spaces import active_space, build_vector_index, embedder_of
from retrieval.strategies import vector as vector_search

RECALL_AT = 10
WARMING = 50  # searches before those that are timed
SHARES = (0.001, 0.01, 0.1, 1.0)


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--chunks", type=int, default=115_000)
    parser.add_argument("--questions", type=Path, help="FinanceBench's format; else sentences")
    parser.add_argument("--count", type=int, default=50, help="questions asked")
    parser.add_argument("--keep", action="store_true", help="leave the library there for another run")


def run(command: BaseCommand, options: dict[str, Any]) -> int:
    owner = benchmark_owner()
    build(command.stdout, owner, options["chunks"])
    measure(command.stdout, owner, questions_for(owner, options["questions"], options["count"]))
    if not options["keep"]:
        remove_library(owner)
    return 0


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


def measure(out: OutputWrapper, owner: User, questions: Sequence[str]) -> None:
    space, scope, prose = active_space(), Scope(owner), SearchOptions(limit=10)
    vectors = list(embedder_of(space).embed(questions, query=True))
    pairs = list(zip(questions, vectors, strict=True))
    prepare_naive(owner)
    for text in sentences(owner, WARMING):
        search(text, scope, prose)  # a server that has been up for a while: no question is asked twice
    for text, vector in pairs[:3]:
        naive_search(text, vector, space)
    ours = timed(lambda pair: search(pair[0], scope, prose), pairs)
    naive = timed(lambda pair: naive_search(pair[0], pair[1], space), pairs)
    rows = [
        ("hybrid search (ours)", ours),
        ("naive OR + ts_rank + HNSW", naive),
        ("naive OR + ts_rank alone", timed(lambda pair: naive_words(pair[0]), pairs)),
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
