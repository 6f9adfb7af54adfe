"""Candidates (chunks with their units, read in one statement) and their term-match features for reranking."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache
from itertools import chain, pairwise
from uuid import UUID

import numpy as np

from pdf.gc_control import cleared_with_memory
from retrieval.embeddings.wordllama import WordLlamaEmbedder
from retrieval.index.postgres import read_rows
from retrieval.query.question_terms import Phrase, QueryTerms
from retrieval.query.scope import ScopeSql
from text.terms import (
    BREAK,
    DEFAULT_LANGUAGE,
    UNSPACED,
    folded,
    folded_accents,
    stop_words,
    terms_of,
    terms_of_each,
)

# A chunk is one row with its units joined: of most chunks only the text is read.
UNITS = """
SELECT chunk.id, chunk.document_id, document.title, entry.language, entry.fields, chunk.index,
       chunk.context_header, chunk.chunk_type, chunk.section_path, chunk.page_start, chunk.page_end, unit.*
FROM documents_retrievalchunk chunk
JOIN documents_document document ON document.id = chunk.document_id
JOIN retrieval_indexeddocument entry ON entry.document_id = chunk.document_id
CROSS JOIN LATERAL (
    SELECT string_agg(translate(content, chr(1), ' '), chr(1) ORDER BY position) AS contents,
           string_agg(uuid_send(id), '' ORDER BY position),
           string_agg(int4send(page_number), '' ORDER BY position),
           CASE WHEN sum(length(content)) FILTER (WHERE unit_type = 'table') * 2 >= sum(length(content))
                THEN 1::float8 WHEN bool_or(unit_type = 'table') THEN 0.5 ELSE 0 END
    FROM documents_citationunit
    WHERE document_id = chunk.document_id AND id = ANY(chunk.unit_ids)
) unit
WHERE chunk.id = ANY(%s) AND unit.contents IS NOT NULL
    AND chunk.document_id IN ({documents}) {chunk_filter}
"""


@dataclass(frozen=True)
class Candidate:
    """A chunk that may answer, with its units in reading order.

    Attributes:
        fields: packs of ``domains`` that its document is of.
        contents: the text of each unit.
        packed_units: the ids of its units, 16 bytes an id; most are never unpacked.
        pages: of each unit, from 1.
        table: 1 where half of its text is rows of tables, a half where some of it is, else 0.
    """

    key: UUID
    document_id: UUID
    document_title: str
    language: str
    fields: frozenset[str]
    index: int
    context_header: str
    chunk_type: str
    section_path: tuple[str, ...]
    page_start: int
    page_end: int
    contents: tuple[str, ...]
    packed_units: bytes
    pages: tuple[int, ...]
    table: float = 0.0

    @cached_property
    def unit_ids(self) -> tuple[UUID, ...]:
        packed = self.packed_units
        return tuple(UUID(bytes=packed[at : at + 16]) for at in range(0, len(packed), 16))

    @cached_property
    def terms(self) -> list[list[str]]:
        """Return the terms of each unit, in the document's language."""
        return unit_terms(self.contents, self.language)

    @cached_property
    def title_terms(self) -> frozenset[str]:
        """Return the terms of the document's title, which is in the header of all its chunks."""
        return _line_terms(self.document_title, self.language)

    @cached_property
    def heading_terms(self) -> frozenset[str]:
        """Return the terms of the headings above it and of its caption."""
        return _line_terms(self.context_header.removeprefix(self.document_title), self.language)

    def first_of(self, pages: Collection[int]) -> int | None:
        """Return the first of these pages that it is on."""
        return next((page for page in self.pages if page in pages), None)

    @cached_property
    def text(self) -> str:
        return "\n".join(self.contents)


@lru_cache(maxsize=4096)
def _line_terms(line: str, language: str) -> frozenset[str]:
    """Return the terms of a title or heading, which many chunks share."""
    return frozenset(terms_of(line, language))


def read_candidates(scope: ScopeSql, chunks: Sequence[UUID]) -> dict[UUID, Candidate]:
    """Return the chunks in scope with their units; one statement."""
    statement = UNITS.format(
        documents=scope.documents, chunk_filter=scope.and_chunk("chunk.document_id, chunk.id")
    )
    rows = read_rows(statement, [list(chunks), *scope.document_params, *scope.chunk_params])
    return {row[0]: _candidate(row) for row in rows}


def _candidate(row: tuple) -> Candidate:
    return Candidate(
        key=row[0],
        document_id=row[1],
        document_title=row[2],
        language=row[3],
        fields=frozenset(row[4] or ()),
        index=row[5],
        context_header=row[6],
        chunk_type=row[7],
        section_path=tuple(row[8]),
        page_start=row[9],
        page_end=row[10],
        contents=tuple(row[11].split(BREAK)),
        packed_units=bytes(row[12]),
        pages=tuple(np.frombuffer(row[13], ">i4").tolist()),
        table=row[14],
    )


@lru_cache(maxsize=1024)
def unit_terms(contents: tuple[str, ...], language: str) -> list[list[str]]:
    """Return the terms of each unit; kept for the next questions to the same document. Not to be changed."""
    return terms_of_each(contents, language)


cleared_with_memory(unit_terms.cache_clear)
LENGTH_PIVOT = 30  # terms; longer units are normalised down (as by the b of BM25)
ROW_LABEL_BONUS = 1.5
REFERRED = 0.4
LABEL_BEGINS = 3  # characters of a unit before its label: a bracket, a bullet
LEAST_RUN = 3  # words of a longer quotation
TITLE_TERM = 0.3
"""Weight of a word of the document's title, which does not tell the units apart."""


@dataclass(frozen=True, slots=True)
class TermFeatures:
    """Term-match features of a candidate for a question; all in 0..1 but ``unit_scores``.

    Attributes:
        coverage: share of the question's own content terms in it, weighted by idf.
        phrases: share of the written phrases in it word for word.
        quoted: share of the user's quotations in it: of each quotation the longest run of its words.
        headings: share of the own content terms in the headings above it or in its caption, without
            those of the document's title.
        pairs: share of the pairs of neighbouring own terms that are adjacent in it.
        place: 1 where a unit is headed by a place the question names (``Figure 3``), less where one
            refers to it.
        table: as of the candidate.
        digits: its share of digits, where the question asks for a number.
        unit_scores: for each unit of the candidate, its own term score.
    """

    coverage: float
    phrases: float
    quoted: float
    headings: float
    pairs: float
    place: float
    table: float
    digits: float
    unit_scores: tuple[float, ...]

    @property
    def best_unit(self) -> float:
        return max(self.unit_scores, default=0.0)


TERM_FEATURES = tuple(field.name for field in fields(TermFeatures))[:-1]
"""Names of the features that are one number."""


class FeatureExtractor:
    """Compute the features of candidates for one question; what depends on the question alone, once."""

    def __init__(
        self, question: QueryTerms, rarity: Mapping[str, float], fields: Collection[str] = ()
    ) -> None:
        """``rarity``: idf of the question's terms in scope; unindexed terms are absent.
        ``fields``: packs of ``domains`` of the candidates' document."""
        weights, phrases = question.weights_for(fields), question.phrases_for(fields)
        self.question = question
        self.worth = {term: weight * rarity.get(term, 0.0) for term, weight in weights.items()}
        parts = question.weights.keys() - set(chain.from_iterable(question.groups))  # of compounds
        words = (*question.groups, *((part,) for part in parts))
        known = ([term for term in word if term in rarity] for word in words)
        self.own = {frozenset(forms): min(map(rarity.__getitem__, forms)) for forms in known if forms}
        self.phrases = [(frozenset(phrase), f" {' '.join(phrase)} ") for phrase in phrases]
        first = [group[0] for group in question.groups]
        self.pairs = {pair: rarity.get(pair[0], 0.0) + rarity.get(pair[1], 0.0) for pair in pairwise(first)}
        self.labels: dict[str, list[Phrase]] = {}
        for phrase in phrases:
            self.labels.setdefault(phrase[0], []).append(phrase)

    def weigh(self, candidate: Candidate) -> TermFeatures:
        matched = [self.worth.keys() & terms for terms in candidate.terms]
        present = set[str]().union(*matched)
        text = candidate.text.casefold() if self.question.quoted else ""
        return TermFeatures(
            coverage=self._covered(present),
            phrases=self._phrases_in(candidate, present),
            quoted=mean([longest_run(words.casefold(), text) for words in self.question.quoted]),
            headings=self._covered(candidate.heading_terms - candidate.title_terms),
            pairs=self._pairs_in(candidate, matched),
            place=self._place_in(candidate),
            table=candidate.table,
            digits=digit_share(candidate.text) if self.question.wants_number else 0.0,
            unit_scores=self._unit_scores(candidate, matched),
        )

    def _covered(self, present: Set[str]) -> float:
        total = sum(self.own.values())
        covered = (value for forms, value in self.own.items() if not forms.isdisjoint(present))
        return sum(covered) / total if total else 0.0

    def _pairs_in(self, candidate: Candidate, matched: Sequence[Set[str]]) -> float:
        """Return the share of the question's pairs of neighbouring words that are adjacent in a unit."""
        total = sum(self.pairs.values())
        if not total:
            return 0.0
        found = set[tuple[str, str]]()
        for terms, own in zip(candidate.terms, matched, strict=True):
            if len(own) > 1:
                found.update(self.pairs.keys() & pairwise(terms))
        return sum(map(self.pairs.__getitem__, found)) / total

    def _place_in(self, candidate: Candidate) -> float:
        """Return 1 where it is a place that the question names, less where it refers to one."""
        best = 0.0
        for place in self.question.places:
            for content in candidate.contents:
                if match := place.written.search(content):
                    best = max(best, REFERRED if match.start() > LABEL_BEGINS else 1.0)
        return best

    def _phrases_in(self, candidate: Candidate, present: Set[str]) -> float:
        """Return the share of the written phrases whose words are adjacent in one unit.

        ``present``: the question's terms in the candidate.
        """
        likely = [written for terms, written in self.phrases if terms <= present]
        if not likely:
            return 0.0
        whole = f" {' | '.join(map(' '.join, candidate.terms))} "
        return sum(map(whole.__contains__, likely)) / len(self.phrases)

    def _unit_scores(self, candidate: Candidate, matched: Sequence[Set[str]]) -> tuple[float, ...]:
        """Return, for each unit, Σ weight · idf of the question's terms, adjusted for length and label.

        ``matched``: for each unit its terms that the question has.
        """
        named = self.worth.keys() & candidate.title_terms
        worth = {**self.worth, **{term: TITLE_TERM * self.worth[term] for term in named}}
        return tuple(
            [
                (sum(map(worth.__getitem__, own)) + self._beginnings(terms)) * self._form(terms)
                if own or self.question.prefixes
                else 0.0
                for terms, own in zip(candidate.terms, matched, strict=True)
            ]
        )

    def _beginnings(self, terms: list[str]) -> float:
        """Return how many of the question's prefixes start a term of the unit."""
        return float(sum(any(term.startswith(prefix) for term in terms) for prefix in self.question.prefixes))

    def _form(self, terms: list[str]) -> float:
        """Return the factor for a unit's length and for the label that it begins with."""
        labels = self.labels.get(terms[0], ()) if terms else ()
        form = ROW_LABEL_BONUS if any(begins_with(terms, label) for label in labels) else 1.0
        excess = len(terms) - LENGTH_PIVOT
        return form / (1 + excess / (4 * LENGTH_PIVOT)) if excess > 0 else form


UNIT_CHARACTERS = 300
"""Of a unit, how many are read for its meaning."""


def unit_meanings(text: str, candidates: Sequence[Candidate]) -> list[float]:
    """Return, for each candidate, the cosine similarity of its unit nearest to the text.

    Uses the local static embedder, whatever the space: the average over a chunk hides the one sentence that
    answers.
    """
    if not candidates:
        return []
    units = [content[:UNIT_CHARACTERS] for candidate in candidates for content in candidate.contents]
    starts = np.cumsum([0, *(len(candidate.contents) for candidate in candidates[:-1])])
    vectors = WordLlamaEmbedder().embed([text, *units])
    nearest: list[float] = np.maximum.reduceat(vectors[1:] @ vectors[0], starts).tolist()
    return nearest


def mean(shares: Sequence[float]) -> float:
    return sum(shares) / len(shares) if shares else 0.0


def longest_run(quoted: str, text: str) -> float:
    """Return the longest run of the quotation's words in the text, as a share of them; 0 for one word."""
    words = quoted.split()
    for size in range(len(words), min(len(words), LEAST_RUN) - 1, -1):
        if any(" ".join(words[at : at + size]) in text for at in range(len(words) - size + 1)):
            return size / len(words)
    return 0.0


# A word of a quotation may have this many letters more in the text, as plurals have.
LONGEST_SUFFIX = 2


def has_quoted(quoted: Sequence[str], candidate: Candidate, languages: Iterable[str]) -> bool:
    """Return whether the words of each quotation are adjacent in the chunk or the headings above it.

    The index has no function words, so that it finds "harbour master" in "harbours and their masters". Those
    at the ends of a quotation are left out: a question has "what makes you late" of "Traffic makes you late".
    """
    function_words = frozenset[str]().union(*map(stop_words, [*languages, DEFAULT_LANGUAGE]))
    patterns = [written for words in quoted if (written := _written(words, function_words))]
    where = (
        "\n".join((candidate.document_title, candidate.context_header, candidate.text)) if patterns else ""
    )
    text = folded_accents(folded(where))
    return all(pattern.search(text) for pattern in patterns)


@lru_cache(maxsize=256)
def _written(quoted: str, function_words: frozenset[str]) -> re.Pattern[str] | None:
    """Return a pattern for the words; None for a single word and for scripts without spaces."""
    words = re.findall(r"\w+", folded_accents(folded(quoted)))
    if len(words) < 2 or UNSPACED.search(quoted):
        return None
    of_meaning = [at for at, word in enumerate(words) if word not in function_words]
    if len(of_meaning) > 1:
        words = words[of_meaning[0] : of_meaning[-1] + 1]
    return re.compile(r"\b" + r"\W+".join(rf"{re.escape(word)}\w{{0,{LONGEST_SUFFIX}}}" for word in words))


def digit_share(text: str) -> float:
    """Return 0..1 by the share of digits; 1 from a tenth on."""
    encoded = text.encode()
    return min(1.0, 10 * (1 - len(encoded.translate(None, b"0123456789")) / max(1, len(encoded))))


def begins_with(terms: list[str], phrase: Phrase) -> bool:
    return tuple(terms[: len(phrase)]) == phrase
