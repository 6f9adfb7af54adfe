"""Facets: how the chunks that were found divide, for filters with counts beside them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from documents.models.document import language_name
from retrieval.index.postgres import reader
from retrieval.query.scope import ScopeSql

MOST_VALUES = 12

BELONGS = """
SELECT document.id, document.title, document.original_name, document.year, document.language,
       document.authors, chunk.chunk_type, chunk.section_type
FROM documents_retrievalchunk chunk JOIN documents_document document ON document.id = chunk.document_id
WHERE chunk.id = ANY(%s) AND chunk.document_id IN ({documents})
"""


@dataclass(frozen=True, slots=True)
class FacetValue:
    """``value`` goes into the URL, ``label`` is read, ``count`` chunks have it."""

    value: str
    label: str
    count: int


@dataclass(frozen=True, slots=True)
class Facet:
    """``name`` is the URL parameter it sets. Most frequent values first."""

    name: str
    values: tuple[FacetValue, ...]


def read_facets(scope: ScopeSql, chunks: Sequence[UUID]) -> tuple[Facet, ...]:
    """Facets that tell the chunks apart; one statement."""
    with reader().cursor() as cursor:
        cursor.execute(BELONGS.format(documents=scope.documents), [list(chunks), *scope.document_params])
        rows = cursor.fetchall()
    labels = told_apart({str(row[0]): (row[1], row[2]) for row in rows})
    labels |= {row[4]: language_name(row[4]) for row in rows}
    counted = (
        ("document", Counter(str(row[0]) for row in rows)),
        ("year", Counter(str(row[3]) for row in rows if row[3])),
        ("author", Counter(author for row in rows for author in row[5])),
        ("type", Counter(row[6] for row in rows if row[6])),
        ("section", Counter(row[7] for row in rows if row[7])),
        ("language", Counter(row[4] for row in rows if row[4])),
    )
    return tuple(
        Facet(
            name,
            tuple(FacetValue(v, labels.get(v, v), n) for v, n in counter.most_common(MOST_VALUES)),
        )
        for name, counter in counted
        if counter
    )


def told_apart(named: Mapping[str, tuple[str, str]]) -> dict[str, str]:
    """Titles by document id, of (title, file name); of those that share a title the file's name."""
    shared = Counter(title for title, _ in named.values())
    return {pk: file if shared[title] > 1 and file else title for pk, (title, file) in named.items()}
