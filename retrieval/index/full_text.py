"""Full-text search by PostgreSQL: the indexed words of a chunk, and the SQL statements that read them.

``retrieval_indexedchunk.words`` is a weighted tsvector with a GIN index: A the document's names, B headings
and captions, D the body. It is made by our own analysis (``text.terms``), in the document's language. The
terms with their BM25F impacts are stored beside it. ``retrieval.ranking.candidate_lists`` uses them to rank a
few hundred candidates in Python.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from documents.models import Document, RetrievalChunk
from retrieval.index.bm25 import (
    TERM,
    DocumentFrequencies,
    Field,
    document_frequencies,
    idf,
    impacts,
    pack_terms,
    unpack_terms,
)
from retrieval.index.postgres import (
    any_of,
    at_least,
    beginning_of_word,
    phrase,
    read_rows,
    tsvector,
)
from retrieval.query.question_terms import QueryTerms
from retrieval.query.scope import ScopeSql, ScopeSummary
from text.numbers import YEAR
from text.terms import run_together, terms_of

# --- Indexing ----------------------------------------------------------------------------

COVER_CHARACTERS = 1500
NAME_WEIGHT = 3.0
COVER_WEIGHT = 0.4


class ChunkRow(NamedTuple):
    """The indexed data of a chunk."""

    id: UUID
    content: str
    context_header: str
    page_start: int


def chunk_rows(document: Document) -> list[ChunkRow]:
    chunks = RetrievalChunk.objects.filter(document=document).order_by("index")
    columns = ("id", "content", "context_header", "page_start")
    return [ChunkRow(*row) for row in chunks.values_list(*columns)]


def chunk_words(document: Document, chunks: Sequence[ChunkRow]) -> Iterator[tuple[UUID, UUID, bytes, bytes]]:
    """Return the rows of ``retrieval_indexedchunk``: chunk, document, tsvector, packed terms."""
    language = document.language
    names = terms_of(names_of(document), language)
    name_field = Field(names, measured=False)
    headings: dict[str, list[str]] = {}
    for chunk in chunks:
        heading = chunk.context_header.removeprefix(document.title)
        if heading not in headings:
            headings[heading] = terms_of(heading, language)
        above, body = headings[heading], terms_of(chunk.content, language)
        fields = (Field(body), Field(above, measured=False), name_field)
        words = tsvector((("D", body), ("B", above), ("A", names)))
        yield chunk.id, document.pk, words, pack_terms(impacts(fields))


def document_words(document: Document, chunks: Sequence[ChunkRow]) -> tuple[bytes, bytes, bytes]:
    """Return the document's tsvector (A names, D abstract and first page), and both as packed terms."""
    language = document.language
    names = terms_of(names_of(document), language)
    together = [word for line in names_of(document).splitlines() for word in run_together(line)]
    first = "\n".join(chunk.content for chunk in chunks if chunk.page_start == 1)[:COVER_CHARACTERS]
    cover = terms_of(f"{document.abstract}\n{first}", language)
    called = [Field(some, NAME_WEIGHT, measured=False) for some in (names, together)]
    packed = pack_terms(impacts(called))
    cover_packed = pack_terms(impacts([Field(cover, COVER_WEIGHT, measured=False)]))
    return tsvector((("A", names), ("A", together), ("D", cover))), packed, cover_packed


def names_of(document: Document) -> str:
    """Return the document's names for full-text search: title, file name, authors, year, DOI.

    A year in the title or file name replaces the document's own year, which is when the file was made: an
    annual report is published in the year after.
    """
    file_name = re.sub(r"\.pdf$", "", document.original_name, flags=re.IGNORECASE)
    dated = YEAR.search(f"{document.title} {file_name}")
    year = "" if dated or not document.year else str(document.year)
    return "\n".join(
        dict.fromkeys(
            word for word in (document.title, file_name, *document.authors, year, document.doi) if word
        )
    )


# --- Reading ---------------------------------------------------------------------------------

EXACT_UP_TO = 2_000
"""Chunks of a scope up to which they are matched one by one; in a larger scope by the GIN index."""
GROUPS = 4
"""Maximum number of words, the rarest first, for selecting candidates; more make it slow."""
WANTED = 100
"""Chunks that should have "at least k" of the words: the largest such k is asked for."""
TOO_FEW = 60
"""Found chunks below which one word less is asked for."""
FOUND_LIMIT = 800
READ, READ_OF_NAMED = 200, 300
"""Chunks whose terms are read, of those found and of the best-named documents: those whose words, in these
with the document's names, are worth most. With 200 of each, MRR of the filings' library falls by .010."""
WEIGHED = 20
"""Words, the most telling first, by which these are chosen."""
NAMES_WEIGHT = 1.5
"""Of a document's names beside the words of its chunks."""
NAMED_DOCUMENTS = 4
"""Documents whose names meet the question best: all their chunks that hold one of its words come."""
NAMED_LIMIT = 3_000
"""Of these chunks, how many are compared, in no order beyond: a 10-K of 143 pages has 1,613 of a question."""
NAMES_LIMIT = 400
TELLING = 6
"""Words, the rarest first: of many documents, the first pages with one of these are read."""

# Access rights are evaluated once per statement: ``in_scope``. Both conditions on words have their index.
# Documents are ranked only if there are more than are read.
NAMES = """
SELECT document_id, name_terms, CASE WHEN words @@ %s::tsquery THEN cover_terms ELSE '' END
FROM (
    SELECT *, count(*) OVER () AS found FROM retrieval_indexeddocument
    WHERE (ts_filter(words, '{{a}}') @@ (SELECT %s::tsquery) OR words @@ (SELECT %s::tsquery))
        AND document_id IN ({documents})
) matching
ORDER BY CASE WHEN found > {limit} THEN ts_rank(ts_filter(words, '{{a}}'), %s::tsquery) END DESC LIMIT {limit}
"""

# Chunks are grouped by document, their ids and terms joined: bytes transfer faster than rows.
GROUPED = """
WITH in_scope(document_id) AS MATERIALIZED ({documents})
SELECT found.document_id, string_agg(uuid_send(found.chunk_id), ''),
       string_agg(int4send(octet_length(found.terms)), ''), string_agg(found.terms, ''),
       (SELECT fields FROM retrieval_indexeddocument entry WHERE entry.document_id = found.document_id)
FROM (
    SELECT chunk_id, document_id, terms FROM (
        SELECT * FROM retrieval_indexedchunk WHERE {condition} {chunk_filter} LIMIT {limit}
    ) matching {best}
) found GROUP BY found.document_id
"""
# Of many matching chunks, those whose words are worth most are read. With two parameters, and not two for
# each word, psycopg keeps the converted statement.
BEST = ", (SELECT %s::tsquery[] AS words, %s::float4[] AS worth OFFSET 0) telling ORDER BY "
BEST += " + ".join(
    f"(matching.words @@ telling.words[{at}])::int * worth[{at}]" for at in range(1, WEIGHED + 1)
)
OF_NAMED = f" + (%s::float4[])[array_position(%s::uuid[], document_id)] DESC, chunk_id LIMIT {READ_OF_NAMED}"
OF_FOUND = f" DESC, chunk_id LIMIT {READ}"
# With few documents, the index intersects their chunks with those of a word; with many, it would first
# collect all chunks.
FEW_DOCUMENTS = 100
OF_FEW = "document_id = ANY(ARRAY(SELECT document_id FROM in_scope))"
OF_MANY = "document_id IN (SELECT document_id FROM in_scope)"
# The subquery hides the words from the planner: it plans once, for few matches, and takes the GIN index.
BY_INDEX = "{in_scope} AND words @@ (SELECT %s::tsquery)"
# Not `@@`: the planner would read all postings of the words to keep those of these documents.
OF_SMALL_SCOPE = OF_FEW + " AND ts_match_vq(words, %s::tsquery)"
OF_DOCUMENTS = (
    OF_MANY + " AND document_id = ANY(ARRAY(SELECT unnest(%s::uuid[]))) AND ts_match_vq(words, %s::tsquery)"
)


Row = tuple[Any, ...]
"""Of a document: its id, the ids of chunks, the sizes of their packed terms, the terms, its fields."""


class NamedDocuments(NamedTuple):
    """Documents, and impacts of the question's terms in their names and first pages (documents × terms)."""

    ids: Sequence[UUID]
    names: NDArray[np.float32]
    cover: NDArray[np.float32]


NO_NAMES = NamedDocuments((), np.zeros((0, 0), np.float32), np.zeros((0, 0), np.float32))


@dataclass(frozen=True)
class ScopeIndex:
    """The candidate chunks of a scope, and what each of the question's terms is worth in them.

    Attributes:
        columns: term to column of ``impacts``.
        chunk_ids: 16 bytes each.
        at: of each chunk the index of its document in ``document_ids``; ascending.
        impacts: chunks × terms.
        fields: of each document the packs that it is of.
        named: documents whose names or first page have a term of the question.
        frequencies: chunks of the whole scope that hold each term, estimated where not all were read.
    """

    summary: ScopeSummary
    columns: Mapping[str, int]
    chunk_ids: bytes
    at: NDArray[np.int64]
    document_ids: Sequence[UUID]
    impacts: NDArray[np.float32]
    fields: Sequence[frozenset[str]] = ()
    named: NamedDocuments = NO_NAMES
    frequencies: Mapping[str, float] = field(default_factory=dict)

    @cached_property
    def rarity(self) -> dict[str, float]:
        """Return the inverse document frequency of the terms that occur in the scope."""
        return {
            term: idf(frequency, max(self.summary.chunks, frequency))
            for term, frequency in self.frequencies.items()
            if frequency
        }

    @classmethod
    def empty(cls, summary: ScopeSummary) -> ScopeIndex:
        """Return the index of a search without words."""
        return cls(summary, {}, b"", np.zeros(0, np.int64), (), np.zeros((0, 0), np.float32))

    def holds(self, terms: Collection[str]) -> bool:
        """Return whether each term occurs in some candidate."""
        return all(self.impacts[:, self.columns[term]].any() for term in terms)

    def keys_of(self, rows: Collection[int]) -> list[UUID]:
        return [UUID(bytes=self.chunk_ids[16 * row : 16 * row + 16]) for row in rows]


def open_index(
    scope: ScopeSql, summary: ScopeSummary, questions: Sequence[QueryTerms], *, names: bool
) -> ScopeIndex:
    """Return the chunks that match the questions, with what each term is worth in them.

    In a small scope these are all chunks with any of the words; in a large one, the index selects.

    ``names``: whether the documents' names count.
    """
    terms = sorted({term for question in questions for term in (*question.every_term, *question.names)})
    columns = {term: at for at, term in enumerate(terms)}
    named = _read_names(scope, summary, questions, columns) if names and summary.documents > 1 else NO_NAMES
    if summary.chunks <= EXACT_UP_TO:
        rows = _matching(scope, OF_SMALL_SCOPE, [any_word(questions)], EXACT_UP_TO)
        return _index_of(rows, summary, columns, named, None)
    known = document_frequencies()
    rarity = {term: idf(known.share(term) * summary.chunks, summary.chunks) for term in terms}
    telling = _most_telling(questions, rarity)
    rows = _by_index(scope, summary, questions, rarity, known, telling)
    if scores := _best_named(named, questions, columns, rarity, summary):
        worth = [*telling, [*scores.values()], [*scores]]
        params = [[*scores], any_word(questions)]
        more = _matching(scope, OF_DOCUMENTS, params, NAMED_LIMIT, BEST + OF_NAMED, *worth)
        whole = {row[0] for row in more}
        rows = [*more, *(row for row in rows if row[0] not in whole)]
    return _index_of(rows, summary, columns, named, known)


def _matching(
    scope: ScopeSql, condition: str, params: Sequence[Any], limit: int, best: str = "", *worth: Any
) -> list[Row]:
    """Return the rows of ``GROUPED``: one for each document with chunks that meet the condition.

    ``best``: the order of which the first are read; ``worth``: its parameters.
    """
    statement = GROUPED.format(
        documents=scope.documents,
        condition=condition,
        chunk_filter=scope.and_chunk("document_id, chunk_id"),
        limit=limit,
        best=best,
    )
    return read_rows(statement, [*scope.document_params, *params, *scope.chunk_params, *worth])


def _most_telling(questions: Sequence[QueryTerms], rarity: Mapping[str, float]) -> list[Any]:
    """Return the parameters of ``BEST``: words of the questions and their packs, each with its worth."""
    worth: dict[tuple[str, ...], float] = {}
    for question in questions:
        weights = question.weights_for(question.packs)
        own = set(chain.from_iterable(question.groups))
        for group in (*question.groups, *((term,) for term in weights.keys() - own)):
            worth[group] = max(_worth(group, weights, rarity), worth.get(group, 0.0))
    most = sorted(worth.items(), key=lambda entry: -entry[1])[:WEIGHED]
    most += [(("-",), 0.0)] * (WEIGHED - len(most))
    return [[any_of(group) for group, _ in most], [value for _, value in most]]


def _by_index(
    scope: ScopeSql,
    summary: ScopeSummary,
    questions: Sequence[QueryTerms],
    rarity: Mapping[str, float],
    known: DocumentFrequencies,
    telling: Sequence[Any],
) -> list[Row]:
    """Return the chunks with at least k of the rarest words, k by how frequent these are.

    Words of one text come together more often than by chance, so more chunks are found than expected; where
    fewer are, one word less is asked for.
    """
    groups = [rarest_groups(question, rarity) for question in questions]
    condition = BY_INDEX.format(in_scope=OF_FEW if summary.documents <= FEW_DOCUMENTS else OF_MANY)
    rows: list[Row] = []
    for count in range(words_to_ask(groups, known, summary.chunks), 0, -1):
        rarest = [without_common(words, count, known, summary.chunks) for words in groups]
        query = [candidate_query(rarest, count, questions)]
        rows = _matching(scope, condition, query, FOUND_LIMIT, BEST + OF_FOUND, *telling)
        if sum(len(row[1]) // 16 for row in rows) >= TOO_FEW:
            break
    return rows


def _index_of(
    rows: Sequence[Row],
    summary: ScopeSummary,
    columns: Mapping[str, int],
    named: NamedDocuments,
    known: DocumentFrequencies | None,
) -> ScopeIndex:
    rows = sorted(rows, key=itemgetter(0))  # a fixed order: nodes of Citus answer in any order
    sizes = np.frombuffer(b"".join(row[2] for row in rows), ">i4").astype(np.int64) // TERM.itemsize
    counts = [len(row[1]) // 16 for row in rows]
    matrix = unpack_terms(b"".join(row[3] for row in rows), sizes, columns)
    seen = np.count_nonzero(matrix, axis=0)
    frequencies = {
        term: float(seen[at])
        if known is None
        else max(float(seen[at] > 0), known.share(term) * summary.chunks)
        for term, at in columns.items()
    }
    return ScopeIndex(
        summary=summary,
        columns=columns,
        chunk_ids=b"".join(row[1] for row in rows),
        at=np.repeat(np.arange(len(rows)), counts),
        document_ids=[row[0] for row in rows],
        impacts=matrix,
        fields=[frozenset(row[4] or ()) for row in rows],
        named=named,
        frequencies=frequencies,
    )


def _read_names(
    scope: ScopeSql, summary: ScopeSummary, questions: Sequence[QueryTerms], columns: Mapping[str, int]
) -> NamedDocuments:
    """Return documents whose names contain a term of a question, or whose first page does. One statement."""
    said = sorted({term for question in questions for term in question.said})
    if not said:
        return NO_NAMES
    wanted = any_of({*said, *chain.from_iterable(question.names for question in questions)})
    if summary.documents > FEW_DOCUMENTS:
        said = sorted(said, key=document_frequencies().share)[:TELLING]
    telling = any_of(said)
    statement = NAMES.format(documents=scope.documents, limit=NAMES_LIMIT)
    rows = read_rows(statement, [telling, wanted, telling, *scope.document_params, wanted])
    ids, names, cover = ([row[part] for row in rows] for part in range(3))

    def unpacked(texts: Sequence[bytes]) -> NDArray[np.float32]:
        sizes = np.array([len(text) // TERM.itemsize for text in texts], np.int64)
        return unpack_terms(b"".join(texts), sizes, columns)

    return NamedDocuments(ids, unpacked(names), unpacked(cover))


def _best_named(
    named: NamedDocuments,
    questions: Sequence[QueryTerms],
    columns: Mapping[str, int],
    rarity: Mapping[str, float],
    summary: ScopeSummary,
) -> dict[UUID, float]:
    """Return, of each question, the documents whose names and first page match it best, with their scores."""
    best: dict[UUID, float] = {}
    for question in questions:
        scores = NAMES_WEIGHT * name_scores(question, named, columns, rarity, summary)
        for at in np.argsort(-scores, kind="stable")[:NAMED_DOCUMENTS]:
            if scores[at] > 0:
                best[named.ids[at]] = max(float(scores[at]), best.get(named.ids[at], 0.0))
    return best


EARLIER_YEAR = 0.5
"""Of several years in a question, the latest identifies the report, which covers earlier ones too."""
DAY = re.compile(r"\d\d?")  # of a date: '30' names no document


def name_scores(
    question: QueryTerms,
    named: NamedDocuments,
    columns: Mapping[str, int],
    rarity: Mapping[str, float],
    summary: ScopeSummary,
) -> NDArray[np.float32]:
    """Return how well each document's names and first page match the user's text.

    A word of a name counts by the number of names that contain it. A word of a first page counts by its
    rarity in the whole scope, because first pages of one kind of document begin alike.
    """
    if not named.ids:
        return np.zeros(0, np.float32)
    called = np.count_nonzero(named.names, axis=0).tolist()
    weights = np.zeros((2, len(columns)), np.float32)
    latest = max((term for term in question.said if YEAR.fullmatch(term)), default="")
    scale = np.log1p(summary.documents) / np.log1p(max(summary.chunks, 1))
    for term in question.said | question.names:
        if term in columns and not DAY.fullmatch(term):
            at = columns[term]
            weight = EARLIER_YEAR if YEAR.fullmatch(term) and term != latest else 1.0
            weights[0, at] = weight * idf(called[at], summary.documents)
            weights[1, at] = weight * rarity.get(term, 0.0) * scale
    return named.names @ weights[0] + named.cover @ weights[1]


def rarest_groups(question: QueryTerms, rarity: Mapping[str, float]) -> list[tuple[str, ...]]:
    """Return the rarest words, each with its forms in several languages."""
    return sorted(question.groups, key=lambda group: -_worth(group, question.weights, rarity))[:GROUPS]


def _worth(group: Sequence[str], weights: Mapping[str, float], rarity: Mapping[str, float]) -> float:
    """Return weight · idf of a word, which is as frequent as its most frequent form."""
    return max(weights.get(term, 0.0) for term in group) * min(rarity.get(term, 0.0) for term in group)


def words_to_ask(groups: Sequence[Sequence[tuple[str, ...]]], known: DocumentFrequencies, chunks: int) -> int:
    """Return the largest k, from 1, for which ``WANTED`` chunks should have k of a question's words."""
    most = 1
    for words in groups:
        expected = [expected_chunks(words, count, known, chunks) for count in range(1, len(words) + 1)]
        most = max(most, sum(number >= WANTED for number in expected))
    return most


def expected_chunks(
    words: Sequence[tuple[str, ...]], count: int, known: DocumentFrequencies, chunks: int
) -> float:
    """Return how many chunks should have ``count`` of the words, which are taken as independent."""
    exactly = np.ones(1)  # the probability that a chunk has 0, 1, 2, … of the words
    for word in words:
        share = min(1.0, sum(map(known.share, word)))
        exactly = np.convolve(exactly, (1 - share, share))
    return float(exactly[count:].sum() * chunks)


def without_common(
    words: Sequence[tuple[str, ...]], count: int, known: DocumentFrequencies, chunks: int
) -> Sequence[tuple[str, ...]]:
    """Return the words without the commonest, while more chunks have ``count`` of them than are compared."""
    while (
        expected_chunks(words, count, known, chunks) > FOUND_LIMIT
        and expected_chunks(words[:-1], count, known, chunks) >= WANTED
    ):
        words = words[:-1]
    return words


def candidate_query(
    groups: Sequence[Sequence[tuple[str, ...]]], count: int, questions: Sequence[QueryTerms]
) -> str:
    """Return the tsquery of chunks with ``count`` of a question's words, a quoted phrase or a prefix."""
    loose = [at_least(min(count, len(words)), words) for words in groups if words]
    return " | ".join([*_wholes(questions), *loose])


def any_word(questions: Sequence[QueryTerms]) -> str:
    """Return the tsquery of chunks with any word or prefix of the questions."""
    words = any_of(sorted({term for question in questions for term in question.every_term}))
    return " | ".join([*_wholes(questions), *([words] if words else [])])


def _wholes(questions: Sequence[QueryTerms]) -> list[str]:
    """Return the quoted phrases and the prefixes as operands of a tsquery."""
    phrases = [phrase(terms) for question in questions for terms in question.quoted_terms if terms]
    return [*phrases, *(beginning_of_word(some) for question in questions for some in question.prefixes)]
