"""A near spelling for words of a query that no chunk in scope has: ``Neflix``, meant was ``Netflix``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rapidfuzz import process
from rapidfuzz.distance import OSA

from retrieval.index.bm25 import document_frequencies
from retrieval.index.full_text import EXACT_UP_TO
from retrieval.index.postgres import any_of, lexeme, read_rows
from retrieval.query.scope import ScopeSql, ScopeSummary
from text.terms import folded, terms_of

WORD = re.compile(r"[^\W\d_]++(?!\*)")  # not the beginning of a word
LEAST_LETTERS = 5
"""Of a word for which a near spelling is looked for; shorter words are near to too many others."""
LONGEST_ENDING = 4  # letters: "ment", "tion"
TWO_EDITS_FROM = 8
"""Letters of a term from which two may differ, below one."""

PRESENT = """
SELECT term FROM unnest(%s::text[], %s::text[]) AS asked(term, query) WHERE EXISTS (
    SELECT FROM retrieval_indexedchunk WHERE words @@ query::tsquery AND document_id IN ({documents}))
"""
# The most frequent first.
VOCABULARY = """
SELECT lexeme FROM retrieval_indexedchunk, unnest(words) WHERE document_id IN ({documents})
AND left(lexeme, 1) = ANY(%s) GROUP BY lexeme ORDER BY count(*) DESC, lexeme
"""
PRINTED = """
SELECT chunk.context_header || ' ' || chunk.content FROM retrieval_indexedchunk indexed
JOIN documents_retrievalchunk chunk ON (chunk.document_id, chunk.id) = (indexed.document_id, indexed.chunk_id)
WHERE indexed.words @@ %s::tsquery AND indexed.document_id IN ({documents}) LIMIT 5
"""


def respelt(query: str, scope: ScopeSql, summary: ScopeSummary) -> str:
    """Return the query with near spellings of words that no chunk has; '' if there is none.

    One statement where all words are there, and a few more for each that is not.
    """
    languages = summary.languages or ("en",)
    terms = {word: forms for word in WORD.findall(query) if (forms := _single_terms(word, languages))}
    if not terms:
        return ""
    params = [[*terms], [any_of(forms) for forms in terms.values()], *scope.document_params]
    present = {word for (word,) in read_rows(PRESENT.format(documents=scope.documents), params)}
    absent = {word: forms for word, forms in terms.items() if word not in present}
    if not absent:
        return ""
    known = _vocabulary({form[0] for forms in absent.values() for form in forms}, scope, summary)
    meant = {
        word: near for word, forms in absent.items() if (near := _near(word, forms, known, scope, languages))
    }
    written = WORD.sub(lambda match: meant.get(match[0], match[0]), query)
    return written if meant else ""


def _single_terms(word: str, languages: Sequence[str]) -> list[str]:
    """Return the word's terms in the languages; none where it is short, or no one term."""
    if len(word) < LEAST_LETTERS:
        return []
    forms = [terms_of(word, language) for language in languages]
    return list(dict.fromkeys(form[0] for form in forms if len(form) == 1))


def _vocabulary(letters: set[str], scope: ScopeSql, summary: ScopeSummary) -> list[str]:
    """Return terms of the scope with these first letters; of a large scope the library's most frequent."""
    if summary.chunks > EXACT_UP_TO:
        return [term for term in document_frequencies().shares if term[0] in letters]
    statement = VOCABULARY.format(documents=scope.documents)
    return [term for (term,) in read_rows(statement, [*scope.document_params, sorted(letters)])]


def _near(
    asked: str, forms: Sequence[str], known: Sequence[str], scope: ScopeSql, languages: Sequence[str]
) -> str:
    """Return the printed word in scope that is spelt nearly like the word asked for; '' if none is.

    A misspelt ending is not recognised, so a term is also looked for without the last letters.
    """
    word = folded(asked)
    for form in forms:
        alike = [term for term in known if term[0] == form[0] and term.isalpha()]
        for length in range(len(form), max(LEAST_LETTERS, len(form) - LONGEST_ENDING) - 1, -1):
            beginning = form[:length]
            near = process.extractOne(beginning, alike, scorer=OSA.distance, score_cutoff=edits(beginning))
            if near:
                every = (found for text in _printed(near[0], scope) for found in WORD.findall(text))
                printed = {folded(found): found for found in every if _is_form(found, near[0], languages)}
                best = process.extractOne(word, list(printed), scorer=OSA.distance, score_cutoff=edits(word))
                if best:
                    return printed[best[0]]
    return ""


def edits(word: str) -> int:
    return 2 if len(word) >= TWO_EDITS_FROM else 1


def _printed(term: str, scope: ScopeSql) -> Iterator[str]:
    statement = PRINTED.format(documents=scope.documents)
    for (text,) in read_rows(statement, [lexeme(term), *scope.document_params]):
        yield text


def _is_form(word: str, term: str, languages: Sequence[str]) -> bool:
    return folded(word)[0] == term[0] and any(terms_of(word, language) == [term] for language in languages)
