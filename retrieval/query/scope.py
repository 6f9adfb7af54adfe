"""The scope of a search: the user, the filters, and the documents that remain."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import lru_cache, reduce
from operator import or_
from typing import TYPE_CHECKING, Any
from uuid import UUID

import msgspec
from django.core.exceptions import EmptyResultSet
from django.db.models import Exists, F, Func, OuterRef, Q, QuerySet, TextField, Value

from documents.models import CitationUnit, Document, RetrievalChunk
from retrieval.index.postgres import beginning_of_word, lexeme, read_rows
from retrieval.models import ANALYSIS_VERSION, EmbeddingSpace

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User


MATCHING_CHUNKS = """
SELECT document_id, chunk_id FROM retrieval_indexedchunk
WHERE words @@ %s::tsquery AND document_id IN ({documents})
"""
# A shorter stem may be of a word with the beginning, or not: the printed words decide.
BEGINNING = """
SELECT document_id, chunk_id FROM retrieval_indexedchunk indexed
WHERE words @@ %s::tsquery AND document_id IN ({documents}) AND (words @@ %s::tsquery OR EXISTS (
    SELECT FROM documents_retrievalchunk chunk
    WHERE (chunk.document_id, chunk.id) = (indexed.document_id, indexed.chunk_id)
    AND normalize(chunk.context_header || ' ' || chunk.content, NFD) ~* %s))
"""
ACCENTS = "[\u0300-\u036f]*"

OTHER_NAMES = {"text": ("prose", "abstract"), "media": ("caption",)}
"""Kinds of units as other systems call them."""


@dataclass(frozen=True, slots=True)
class ScopeSql:
    """A scope as SQL, built once per search: subqueries of ids, with their parameters.

    ``documents`` always has the visibility predicate. ``chunks`` are conditions (``IN (…)``, ``NOT IN (…)``)
    on the ids of a chunk's document and of the chunk, since Citus joins tables by document; empty if no
    filter distinguishes chunks of one document. Each has the predicate too.
    """

    documents: str
    document_params: tuple[Any, ...]
    chunks: tuple[str, ...] = ()
    chunk_params: tuple[Any, ...] = ()

    def and_chunk(self, columns: str) -> str:
        """Return `` AND (columns) IN (…)`` for ``chunk_params``; '' without filters on chunks.

        ``columns``: those of the document's id and the chunk's.
        """
        return "".join(f" AND ({columns}) {condition}" for condition in self.chunks)

    def with_words(self, words: str) -> ScopeSql:
        """Keep only chunks that match the tsquery."""
        return self._narrowed("IN", words)

    def without(self, words: str) -> ScopeSql:
        """Keep only chunks that do not match the tsquery."""
        return self._narrowed("NOT IN", words)

    def with_beginning(self, beginning: str) -> ScopeSql:
        """Keep only chunks with a word that begins so; ``beginning``: letters and digits without accents."""
        matching = f"IN ({BEGINNING.format(documents=self.documents)})"
        printed = r"\m" + "".join(letter + ACCENTS for letter in beginning)
        params = (
            *self.chunk_params,
            beginning_of_word(beginning),
            *self.document_params,
            lexeme(beginning, prefix=True),
            printed,
        )
        return replace(self, chunks=(*self.chunks, matching), chunk_params=params)

    def _narrowed(self, membership: str, words: str) -> ScopeSql:
        matching = f"{membership} ({MATCHING_CHUNKS.format(documents=self.documents)})"
        params = (*self.chunk_params, words, *self.document_params)
        return replace(self, chunks=(*self.chunks, matching), chunk_params=params)


@dataclass(frozen=True, slots=True)
class Scope:
    """A user, and filters that combine freely; a filter left at its default does not filter.

    Attributes:
        document_ids: only these documents; None is the whole library, () is nothing.
        collection_id: only documents of this collection.
        tags: names; a document needs one of them.
        authors: a document needs one author whose name holds one of these, in any case.
        year_from, year_to: the document's year, both ends included.
        languages: the document's language codes.
        chunk_types: a chunk is of one of these kinds, or holds a unit that is.
        section_types: values of ``RetrievalChunk.section_type``.
        sections: a chunk needs one heading above it that holds one of these, in any case.
        page_from, page_to: pages from 1; a chunk needs one page in the range.
        without_authors, without_tags, without_languages: exclude what the fields above would select.
        of_notes: the user's notes in the place of documents.
    """

    user: User | AnonymousUser
    document_ids: tuple[UUID, ...] | None = None
    collection_id: UUID | None = None
    tags: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()
    year_from: int | None = None
    year_to: int | None = None
    languages: tuple[str, ...] = ()
    chunk_types: tuple[str, ...] = ()
    section_types: tuple[str, ...] = ()
    sections: tuple[str, ...] = ()
    page_from: int | None = None
    page_to: int | None = None
    without_authors: tuple[str, ...] = ()
    without_tags: tuple[str, ...] = ()
    without_languages: tuple[str, ...] = ()
    of_notes: bool = False

    @property
    def narrows_chunks(self) -> bool:
        """Return whether a filter distinguishes chunks of one document."""
        return bool(self.chunk_types or self.section_types or self.sections or self.page_from or self.page_to)

    def describe(self) -> dict[str, str]:
        """Return the filters that are set, for people and for the history."""
        values = {item.name: getattr(self, item.name) for item in fields(self)[1:-1]}  # without the user
        return {
            name: ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
            for name, value in values.items()
            if value is not None and value != ()
        }

    @lru_cache(maxsize=256)  # noqa: B019  (what Django needs 3 ms to write; a Scope is a small value)
    def compiled(self) -> ScopeSql | None:
        """Return the scope as SQL; None if it must be empty. The SQL applies access rights."""
        try:
            documents, document_params = self.documents().values("pk").query.sql_with_params()
            if not self.narrows_chunks:
                return ScopeSql(documents, document_params)
            chunks, chunk_params = self.chunks().values("document_id", "pk").query.sql_with_params()
        except EmptyResultSet:
            return None
        return ScopeSql(documents, document_params, (f"IN ({chunks})",), chunk_params)

    def documents(self) -> QuerySet[Document]:
        """Documents in scope; the visibility predicate is always in it."""
        rows = Document.objects
        found = rows.notes_of(self.user) if self.of_notes else rows.visible_to(self.user)
        found = found.filter(self._document_filters()).order_by()
        if self.authors or self.without_authors:
            line = Func(F("authors"), Value("\n"), function="array_to_string", output_field=TextField())
            found = found.alias(author_line=line)
        if self.authors:
            found = found.filter(any_holds("author_line", self.authors))
        if self.without_authors:
            found = found.exclude(any_holds("author_line", self.without_authors))
        return found

    def chunks(self) -> QuerySet[RetrievalChunk]:
        """Chunks in scope, each of a document in ``documents()``."""
        chunks = RetrievalChunk.objects.filter(document__in=self.documents())
        found: QuerySet[RetrievalChunk] = chunks.filter(self._chunk_filters()).order_by()
        if self.sections:
            line = Func(F("section_path"), Value("\n"), function="array_to_string", output_field=TextField())
            found = found.alias(section_line=line).filter(any_holds("section_line", self.sections))
        return found

    def _document_filters(self) -> Q:
        wanted = Q()
        if self.document_ids is not None:
            wanted &= Q(pk__in=self.document_ids)
        if self.collection_id is not None:
            wanted &= Q(
                pk__in=Document.collections.through.objects.filter(collection=self.collection_id).values(
                    "document"
                )
            )
        tagged = Document.tags.through.objects
        if self.tags:
            wanted &= Q(pk__in=tagged.filter(tag__name__in=self.tags).values("document"))
        if self.without_tags:
            wanted &= ~Q(pk__in=tagged.filter(tag__name__in=self.without_tags).values("document"))
        if self.year_from is not None:
            wanted &= Q(year__gte=self.year_from)
        if self.year_to is not None:
            wanted &= Q(year__lte=self.year_to)
        if self.languages:
            wanted &= Q(language__in=self.languages)
        if self.without_languages:
            wanted &= ~Q(language__in=self.without_languages)
        return wanted

    def _chunk_filters(self) -> Q:
        wanted = Q()
        if self.chunk_types:
            kinds = [kind for name in self.chunk_types for kind in OTHER_NAMES.get(name, (name,))]
            of_chunk = CitationUnit.objects.filter(document=OuterRef("document"), chunk=OuterRef("pk"))
            units = of_chunk.filter(unit_type__in=kinds)
            wanted &= Q(chunk_type__in=kinds) | Q(Exists(units))
        if self.section_types:
            wanted &= Q(section_type__in=self.section_types)
        if self.page_from is not None:
            wanted &= Q(page_end__gte=self.page_from)
        if self.page_to is not None:
            wanted &= Q(page_start__lte=self.page_to)
        return wanted


def any_holds(field: str, words: tuple[str, ...]) -> Q:
    return reduce(or_, (Q(**{f"{field}__icontains": word}) for word in words))


# The contents of a scope, read once per search.

SUMMARY = """
WITH in_scope(document_id) AS MATERIALIZED ({documents}),
indexed AS MATERIALIZED (
    SELECT chunk_count, analysis_version = %s AS current, language, fields
    FROM retrieval_indexeddocument WHERE document_id IN (SELECT document_id FROM in_scope)
)
SELECT count(*) FILTER (WHERE current), coalesce(sum(chunk_count) FILTER (WHERE current), 0),
       count(*) FILTER (WHERE NOT current),
       (SELECT coalesce(json_object_agg(language, documents), '{{}}')::text
        FROM (SELECT language, count(*) AS documents FROM indexed GROUP BY language) counted),
       (SELECT coalesce(json_agg(DISTINCT field), '[]')::text FROM indexed, unnest(fields) AS field),
       (SELECT row_to_json(space)::text FROM retrieval_embeddingspace space WHERE active)
FROM indexed
"""


@dataclass(frozen=True, slots=True)
class ScopeSummary:
    """What there is to search in a scope.

    Attributes:
        documents, chunks: those that can be searched.
        preparing: documents that an older version indexed, and that are indexed again.
        languages: codes, that of most documents first.
        fields: names of the packs that some document is of.
        space: the active embedding space; None before anything was embedded.
    """

    documents: int
    chunks: int
    preparing: int
    languages: tuple[str, ...]
    fields: frozenset[str]
    space: EmbeddingSpace | None


def read_summary(scope: ScopeSql) -> ScopeSummary:
    """Return what there is to search in the scope. One statement."""
    params = [*scope.document_params, ANALYSIS_VERSION]
    ((documents, chunks, preparing, languages, fields, space),) = read_rows(
        SUMMARY.format(documents=scope.documents), params
    )
    counts: dict[str, int] = msgspec.json.decode(languages)
    return ScopeSummary(
        documents=documents,
        chunks=int(chunks),
        preparing=preparing,
        languages=tuple(sorted(counts, key=lambda code: -counts[code])),
        fields=frozenset(msgspec.json.decode(fields)),
        space=EmbeddingSpace(**msgspec.json.decode(space)) if space else None,
    )


EMPTY = ScopeSummary(0, 0, 0, (), frozenset(), None)
