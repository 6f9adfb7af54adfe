"""Split a sentence that says several things into clauses, each with values of its own."""

from __future__ import annotations

import re

from citing.anchoring.page_text import Span
from citing.comparison.words.tokens import tokens_of
from text.semantics import lexicon
from text.values import values_in

MOST_CLAUSES = 6
_IN_NAME = re.compile(r"-[^\W\d_]")  # behind the number of "2-class"
_NEXT = r",\s(?:(?:and|und|et|y|e)\s)?(?:then|dann|danach|puis|ensuite|luego|después|poi|depois)\s"
NEXT = re.compile(_NEXT, re.IGNORECASE)  # before a later step
_PURPOSE = re.compile(r"\W{0,5}(?:To|When|For|While)\s(?P<purpose>[a-z][\w\s'’-]{2,60}?),\s(?=[a-z])")
# A semicolon, or a comma with a conjunction.
_PLACE = re.compile(
    r"[^\W\d][^\d,;:，、]{1,40}[,:] "
)  # “In North, …”, “North: …”, of all clauses; a year is added to each
_STRONG = re.compile(
    rf"\s*[;；]\s+|{_NEXT}|\s*[,，]\s+(?:and|but|while|und|aber|et|mais|y|pero|e|mas|en)\s+", re.IGNORECASE
)
LEAST_WORDS_OF_CLAUSE = 3  # content words of one that has no value
LEAST_WORDS = 2  # of a clause that is a statement of its own, beside its numbers
# A comma or semicolon, a conjunction, or both; spaces around them, so that "1,000" stays whole.
_BETWEEN = re.compile(
    r"[,;，；、]\s+(?:and\s+|but\s+|while\s+|und\s+|aber\s+|et\s+|mais\s+|y\s+|pero\s+|e\s+|mas\s+|en\s+)?"
    r"|(?<!\s)\s+(?:and|but|while|und|aber|et|mais|y|pero|e|mas|en)\s+",
    re.IGNORECASE,
)


def clauses_with_values(sentence: str) -> list[str]:
    """Return the clauses, those without a value joined to the next one; [] of fewer than two.

    "The price fell to £2, and rent rose to £3" gives "The price fell to £2" and "rent rose to £3".
    """
    whole = values_in(sentence)
    values = [value for value in whole if not _IN_NAME.match(sentence, value.end)]
    if len(values) < 2:
        return []
    cuts = [
        (found.start(), found.end())
        for found in _BETWEEN.finditer(sentence)
        if not any(value.start < found.end() and found.start() < value.end for value in whole)
        and sentence.count("(", 0, found.start()) <= sentence.count(")", 0, found.end())
    ]
    clauses: list[str] = []
    start = 0
    for end, following in cuts:
        has_value = any(start <= value.start < end for value in values)
        if has_value and any(following <= value.start for value in values):
            clauses.append(sentence[start:end].strip())
            start = following
    clauses.append(sentence[start:].strip(" .。"))
    return clauses if 2 <= len(clauses) <= MOST_CLAUSES else []


def statements_of(sentence: str, language: str) -> list[str]:
    """Return the clauses that are statements of their own, each with its time or place; [] unless all are.

    "The agreement runs for three years, and the client may terminate on 60 days' notice" is two. A clause
    that begins with a number, a verb or a pronoun lacks what it speaks of: "… and 502 on B".
    """
    clauses = clauses_with_values(sentence) or _long_clauses(sentence, language)
    words = lexicon(language)
    purpose = _PURPOSE.match(sentence) if NEXT.search(sentence) else None  # of each step
    place = _PLACE.match(clauses[0]) if clauses else None
    if place and not (place[0].endswith(": ") or opens_with_function(clauses[0], language)):
        place = None
    years = [value.text for value in values_in(clauses[0]) if value.year is not None] if clauses else []
    found: list[str] = []
    for clause in clauses:
        content = [token for token in tokens_of(clause, language) if token.content]
        opening = next((token for token in tokens_of(clause, language) if token.kind != "break"), None)
        named = [token for token in content if token.quantity is None]
        if opening is None or len(named) < LEAST_WORDS:
            return []
        elided = opening.quantity or opening.word in words.have | words.passive | words.pronouns
        turns = any(pair == "direction" for pair, _ in content[0].poles)
        if found and (elided or turns or opening.marker or opening.word in words.compared):
            return []
        own = any(value.year is not None for value in values_in(clause))
        if found and (shared := purpose or place):
            clause = f"{shared[0]}{clause}"
        found.append(clause if own or len(years) != 1 else f"{clause} ({years[0]})")
    return found


def opens_with_function(clause: str, language: str) -> bool:
    """Return whether a clause begins with a function word, as with the preposition of a place."""
    return next((token.kind == "function" for token in tokens_of(clause, language)), False)


def _long_clauses(sentence: str, language: str) -> list[str]:
    """Return the clauses at semicolons and at commas with "and"; [] if one is short, as in a list."""
    clauses = [clause.strip(" .。") for clause in _STRONG.split(sentence)]
    content = [[token for token in tokens_of(clause, language) if token.content] for clause in clauses]
    long = all(len(tokens) >= LEAST_WORDS_OF_CLAUSE for tokens in content)
    return clauses if long and 2 <= len(clauses) <= MOST_CLAUSES else []


def place_of_values(clause: str, text: str) -> Span | None:
    """Return the characters of ``text`` from the first to the last value of the clause.

    None unless each of them is printed there once.
    """
    printed = values_in(text)
    spans: list[Span] = []
    for value in values_in(clause):
        same = [other for other in printed if (other.kind, other.number) == (value.kind, value.number)]
        if len(same) != 1:
            return None
        spans.append((same[0].start, same[0].end))
    return (min(start for start, _ in spans), max(end for _, end in spans)) if spans else None
