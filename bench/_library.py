"""A library of any size for ``bench search``, made of varied copies of the documents that are there.

It belongs to a user who is removed afterwards with all of it, unless it is to be kept. A run that was
stopped leaves what it made, and the next goes on with it. Use a database of its own: while rows are
repeated their indexes are away.
"""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID
from zlib import crc32

from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper
from django.db.models import Model, QuerySet
from django.utils import timezone

from documents.ingestion.persistence import copy_rows
from documents.models import CitationUnit, Document, RetrievalChunk
from retrieval.index.document_index import embed_document, index_words
from retrieval.index.vectors import active_space, index_name
from retrieval.models import ChunkVector, IndexedChunk, IndexedDocument

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
