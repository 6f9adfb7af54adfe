"""A library as large as is wanted, made by varying the documents that are there.

Copies of one text would make every list a tie and every graph a clique. So
each copy has a vocabulary of its own: one word in eight is replaced, always by
the same other word of the library, and numbers that are no years have their
digits turned. What is copied is indexed and embedded like any document, but
for rectangles, which search does not read.
"""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from zlib import crc32

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from documents.copying import copy_rows
from documents.models import CitationUnit, Document, RetrievalChunk
from retrieval.indexing import embed_document, index_words
from retrieval.models import ChunkVector, IndexedChunk, IndexedDocument
from retrieval.spaces import active_space

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
