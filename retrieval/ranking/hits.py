"""Convert ranked candidates to hits: matching units, marked snippets, compressed text; facets."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from uuid import UUID

from documents.models.document import language_name
from retrieval.index.postgres import reader
from retrieval.query.scope import ScopeSql
from retrieval.ranking.candidate_lists import RankedList
from retrieval.ranking.features import Candidate, TermFeatures
from retrieval.results import Facet, FacetValue, Hit, ListRank, Snippet
from text.languages import base_language
from text.sentences import sentences
from text.terms import IndexedToken, folded, folded_accents, terms_of, tokens_of

# Contextual compression: the rows and sentences of a passage that match the question.

LONG_UNIT = 300  # characters; longer units are split into sentences
KEEP_SHARE = 0.4
"""A unit or sentence is kept from this share of the best one's score on."""
LIMIT = 1200  # characters


def compress(candidate: Candidate, evidence: TermFeatures, weights: Mapping[str, float]) -> str:
    """Return the matching units and sentences in reading order; gaps become ' … '."""
    least = KEEP_SHARE * evidence.best_unit
    kept: list[str] = []
    last = -1
    for at, (content, score) in enumerate(zip(candidate.contents, evidence.unit_scores, strict=True)):
        if score <= 0 or score < least or sum(map(len, kept)) > LIMIT:
            continue
        if kept:
            kept.append("\n" if at == last + 1 else " … ")
        kept.append(
            content if len(content) < LONG_UNIT else matching_sentences(content, weights, candidate.language)
        )
        last = at
    return "".join(kept) or candidate.text[:LIMIT]


def matching_sentences(text: str, weights: Mapping[str, float], language: str = "en") -> str:
    """Return the sentences that score at least ``KEEP_SHARE`` of the best one."""
    parts = sentences(text, language)
    worth = [sum(weights[term] for term in weights.keys() & terms_of(part, language)) for part in parts]
    least = KEEP_SHARE * max(worth, default=0.0)
    kept = ""
    for at, (sentence, value) in enumerate(zip(parts, worth, strict=True)):
        if value >= least:
            joint = "" if not kept else " " if worth[at - 1] >= least else " … "
            kept += joint + sentence
    return kept


# Snippets: the stretch of a text with the densest matches, and the words to mark.

SNIPPET_CHARACTERS = 320
TAIL = 20
"""Characters after the last match: the end is cut back to a space, but not into a match and its comma."""
WORD_START = re.compile(r"(?<!\S)\S")


def snippet_of(
    text: str,
    weights: Mapping[str, float],
    size: int = SNIPPET_CHARACTERS,
    language: str = "en",
    prefixes: Sequence[str] = (),
) -> Snippet:
    """Return at most ``size`` characters around the densest matches.

    ``weights``: by term; ``prefixes``: beginnings of words, folded, each worth as much as the best term.
    """
    tokens = sorted([*tokens_of(text, weights.keys(), language), *_beginning_with(prefixes, text)])
    most = max(weights.values(), default=1.0)
    worth = [max([weights.get(term, 0.0) for term in token.terms], default=most) for token in tokens]
    start = 0 if len(text) <= size else _densest(text, tokens, worth, size - TAIL)
    end = _end_of_words(text, start, size)
    marks = [
        (token.start - start, token.end - start)
        for token, value in zip(tokens, worth, strict=True)
        if value > 0.1 and token.start >= start and token.end <= end
    ]
    return Snippet(text[start:end], tuple(marks), start)


def _beginning_with(prefixes: Sequence[str], text: str) -> Iterator[IndexedToken]:
    """Yield the words that begin with a prefix, as tokens without terms."""
    for word in re.finditer(r"\w+", text) if prefixes else ():
        if folded_accents(folded(word[0])).startswith(tuple(prefixes)):
            yield IndexedToken(word.start(), word.end(), ())


def _densest(text: str, tokens: Sequence[IndexedToken], worth: Sequence[float], size: int) -> int:
    """Return the start, at a word, of the ``size`` characters with the highest sum of ``worth``."""
    best, start, first, total = 0.0, 0, 0, 0.0
    for last, token in enumerate(tokens):
        total += worth[last]
        while token.end - tokens[first].start > size and first < last:
            total -= worth[first]
            first += 1
        if total > best + 1e-9:
            best, start = total, min(tokens[first].start, _next_word(text, token.end - size))
    return start


def _next_word(text: str, at: int) -> int:
    """Return the first word start from ``at`` on; the end of the text without one."""
    word = WORD_START.search(text, max(0, at))
    return word.start() if word else len(text)


def _end_of_words(text: str, start: int, size: int) -> int:
    if len(text) - start <= size:
        return len(text)
    space = text.rfind(" ", start + size // 2, start + size)
    return start + size if space < 0 else space


SNIPPET_UNITS = 4


@dataclass(frozen=True, slots=True)
class FoundCandidates:
    """The candidates of all ranked lists of a search.

    Attributes:
        fused: chunks by fused score, best first.
        candidates: the chunks that were read.
        evidence: features of each candidate, by the name of the question or sub-question.
        rarity: idf of the terms asked for, in scope.
        on_pages: chunks on a page that the question names, with that page.
        languages: languages of the embedding model; empty for all.
        understanding: of the embedding model.
    """

    lists: Sequence[RankedList[UUID]]
    fused: Sequence[tuple[UUID, float]]
    candidates: Mapping[UUID, Candidate]
    evidence: Mapping[UUID, Mapping[str, TermFeatures]]
    rarity: Mapping[str, float]
    on_pages: Mapping[UUID, int] = field(default_factory=dict)
    languages: frozenset[str] = frozenset()
    understanding: float = 0.0

    def is_understood(self, key: UUID) -> bool:
        """Return whether the embedding model may support the language of a candidate."""
        language = base_language(self.candidates[key].language)
        return not language or not self.languages or language in self.languages


@dataclass(frozen=True, slots=True)
class Excerpts:
    """How hits are excerpted.

    Attributes:
        weights: by term, for choosing the stretch to mark.
        phrases: quoted words; where they are in the stretch, only they are marked.
        prefixes: beginnings of words ("comput*"), folded.
        compressed: whether ``Hit.passage`` holds only the matching sentences.
    """

    weights: Mapping[str, float]
    compressed: bool
    phrases: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()


def hits_of(
    ranked: Sequence[tuple[UUID, float]], found: FoundCandidates, excerpts: Excerpts | None = None
) -> tuple[Hit, ...]:
    """Return one hit per chunk, without chunks deleted meanwhile. Without ``excerpts``, hits have no text."""
    shown = [(found.candidates[key], score) for key, score in ranked if key in found.candidates]
    why = ranks_in(found.lists, {candidate.key for candidate, _ in shown})
    return tuple(
        hit_of(
            candidate,
            strongest_of(found.evidence[candidate.key]),
            score,
            why[candidate.key],
            found.on_pages.get(candidate.key),
            excerpts,
        )
        for candidate, score in shown
    )


def hit_of(
    candidate: Candidate,
    evidence: TermFeatures,
    score: float,
    why: tuple[ListRank, ...],
    page: int | None,
    excerpts: Excerpts | None,
) -> Hit:
    """Return the chunk as a hit: on ``page``, else on the page of its best unit."""
    best = best_order(evidence)
    page = page if page in candidate.pages else candidate.pages[best[0]]
    on_page = [at for at, number in enumerate(candidate.pages) if number == page]
    snippet, snippet_unit, passage = Snippet(""), candidate.unit_ids[best[0]], ""
    if excerpts is not None:
        snippet, snippet_unit = excerpt_of(candidate, evidence, on_page, excerpts)
        compressed = excerpts.compressed
        passage = compress(candidate, evidence, excerpts.weights) if compressed else candidate.text
    return Hit(
        chunk_id=candidate.key,
        document_id=candidate.document_id,
        document_title=candidate.document_title,
        index=candidate.index,
        page=page,
        page_start=candidate.page_start,
        page_end=candidate.page_end,
        unit_ids=tuple(candidate.unit_ids[at] for at in on_page),
        best_unit_ids=best_units(candidate, evidence),
        passage_unit_ids=candidate.unit_ids,
        score=round(score, 5),
        why=why,
        snippet=snippet,
        snippet_unit_id=snippet_unit,
        passage=passage,
        context_header=candidate.context_header,
        section_path=candidate.section_path,
        chunk_type=candidate.chunk_type,
    )


def excerpt_of(
    candidate: Candidate, evidence: TermFeatures, on_page: Sequence[int], excerpts: Excerpts
) -> tuple[Snippet, UUID]:
    """Return the best snippet of the page's units, and the unit of its first mark."""
    chosen = snippet_units(evidence, on_page)
    text = "\n".join(candidate.contents[at] for at in chosen)
    snippet = snippet_of(text, excerpts.weights, language=candidate.language, prefixes=excerpts.prefixes)
    snippet = replace(snippet, marks=marks_in(snippet, excerpts.phrases))
    return snippet, candidate.unit_ids[unit_at(snippet, candidate.contents, chosen)]


def marks_in(snippet: Snippet, phrases: Sequence[str]) -> tuple[tuple[int, int], ...]:
    """Return the marks within the phrases; all marks where the snippet has none of these."""
    patterns = (r"\W+".join(map(re.escape, phrase.split())) for phrase in phrases)
    spans = [found.span() for one in patterns if one for found in re.finditer(one, snippet.text, re.I)]
    within = [mark for mark in snippet.marks if any(a <= mark[0] and mark[1] <= b for a, b in spans)]
    return tuple(within) or snippet.marks


def snippet_units(evidence: TermFeatures, units: Sequence[int]) -> list[int]:
    """Return the units for a snippet: the best of these and its successor."""
    start = max(units, key=lambda at: evidence.unit_scores[at])
    return [at for at in units if start <= at < start + SNIPPET_UNITS]


def unit_at(snippet: Snippet, contents: Sequence[str], units: Sequence[int]) -> int:
    """Return the one of these units, joined by line ends, with the snippet's first marked word."""
    place = snippet.start + (snippet.marks[0][0] if snippet.marks else 0)
    for at in units:
        place -= len(contents[at]) + 1
        if place < 0:
            return at
    return units[-1]


def strongest_of(evidence: Mapping[str, TermFeatures]) -> TermFeatures:
    """Return the features for the question or sub-question that the candidate matches best."""
    return max(evidence.values(), key=lambda found: found.coverage + found.phrases)


def best_order(evidence: TermFeatures) -> list[int]:
    """Return the units of a candidate by score; in reading order where none matches."""
    return sorted(range(len(evidence.unit_scores)), key=lambda at: -evidence.unit_scores[at])


def best_units(candidate: Candidate, evidence: TermFeatures) -> tuple[UUID, ...]:
    """Return the matching units, best first; the chunk's first unit where none matches."""
    best = [candidate.unit_ids[at] for at in best_order(evidence) if evidence.unit_scores[at] > 0]
    return tuple(best) or candidate.unit_ids[:1]


def ranks_in(lists: Sequence[RankedList[UUID]], chunks: Set[UUID]) -> dict[UUID, tuple[ListRank, ...]]:
    """Return the rank of each chunk in each list."""
    ranks: dict[UUID, tuple[ListRank, ...]] = {}
    for ranked in lists:
        for rank, (key, score) in enumerate(ranked.items, 1):
            if key in chunks:
                ranks[key] = (*ranks.get(key, ()), ListRank(ranked.name, rank, round(score, 4)))
    return ranks


# Facets: counts of the found chunks by field, for the filters.

MOST_VALUES = 12

BELONGS = """
SELECT document.id, document.title, document.original_name, document.year, document.language,
       document.authors, chunk.chunk_type, chunk.section_type
FROM documents_retrievalchunk chunk JOIN documents_document document ON document.id = chunk.document_id
WHERE chunk.id = ANY(%s) AND chunk.document_id IN ({documents})
"""


def read_facets(scope: ScopeSql, chunks: Sequence[UUID]) -> tuple[Facet, ...]:
    """Return the facets with more than one value; one statement."""
    with reader().cursor() as cursor:
        cursor.execute(BELONGS.format(documents=scope.documents), [list(chunks), *scope.document_params])
        rows = cursor.fetchall()
    labels = distinct_titles({str(row[0]): (row[1], row[2]) for row in rows})
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


def distinct_titles(named: Mapping[str, tuple[str, str]]) -> dict[str, str]:
    """Return a distinct title per document id, from (title, file name): the file name where titles repeat."""
    shared = Counter(title for title, _ in named.values())
    return {pk: file if shared[title] > 1 and file else title for pk, (title, file) in named.items()}
