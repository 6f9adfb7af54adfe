"""A library as large as is wanted, made by varying the documents that are there.

Copies of one text would make every list a tie and every graph a clique. So
each copy has a vocabulary of its own: one word in eight is replaced, always by
the same other word of the library, and numbers that are no years have their
digits turned. What is copied is indexed and embedded like any document.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator, Sequence
from zlib import crc32

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from documents.copying import copy_rows
from documents.models import CitationUnit, Document, RetrievalChunk
from retrieval.indexing import index_document

OWNER = "benchmark"
REPLACED_ONE_IN = 8
WORD = re.compile(r"[A-Za-z]{4,}|\d+")
YEAR = re.compile(r"(?:19|20)\d\d")


class Variation:
    """One copy's way of saying everything differently, and always the same thing the same way."""

    def __init__(self, seed: int, vocabulary: Sequence[str]) -> None:
        self._seed = seed
        self._vocabulary = vocabulary

    def of(self, text: str) -> str:
        return WORD.sub(self._replaced, text)

    def _replaced(self, match: re.Match[str]) -> str:
        word = match[0]
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


def build_library(owner: User, chunks: int) -> Iterator[int]:
    """Adds varied copies until the owner has ``chunks`` chunks; yields how many, copy by copy."""
    sources = originals()
    vocabulary = vocabulary_of(sources)
    have = RetrievalChunk.objects.filter(document__owner=owner).count()
    seed = Document.objects.filter(owner=owner).count() // max(1, len(sources)) + 1
    while sources and have < chunks:
        variation = Variation(seed, vocabulary)
        for source in sources:
            if have >= chunks:
                break
            have += copy_document(source, owner, seed, variation)
            yield have
        seed += 1


def copy_document(source: Document, owner: User, seed: int, variation: Variation) -> int:
    """A varied copy, indexed and embedded; how many chunks it has."""
    copy = Document.objects.create(
        owner=owner,
        title=variation.of(source.title),
        original_name=variation.of(source.original_name.replace("_", " ")),
        year=source.year,
        language=source.language,
        status=Document.Status.READY,
        page_count=source.page_count,
        metadata={"copy_of": str(source.pk), "seed": seed},
        indexed_at=timezone.now(),
    )
    ids: dict[uuid.UUID, uuid.UUID] = {}
    chunks = list(RetrievalChunk.objects.filter(document=source))
    for chunk in chunks:
        ids[chunk.pk] = chunk.pk = uuid.uuid4()
        chunk.document = copy
        chunk.content = variation.of(chunk.content)
        chunk.context_header = variation.of(chunk.context_header)
    units = list(CitationUnit.objects.filter(document=source))
    for unit in units:
        unit.pk = uuid.uuid4()
        unit.document = copy
        unit.chunk_id = ids.get(unit.chunk_id) if unit.chunk_id else None
        unit.content = variation.of(unit.content)
    with transaction.atomic():
        copy_rows(RetrievalChunk, chunks)
        copy_rows(CitationUnit, units)
    index_document(copy)
    return len(chunks)
