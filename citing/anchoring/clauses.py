"""Split a sentence that says several things into clauses, each with values of its own."""

from __future__ import annotations

import re

from citing.anchoring.page_text import Span
from citing.comparison.tokens import tokens_of
from text.semantics import lexicon
from text.values import values_in

MOST_CLAUSES = 6
LEAST_WORDS = 2  # of a clause that is a statement of its own, beside its numbers
# A comma or semicolon, a conjunction, or both; spaces around them, so that "1,000" stays whole.
_BETWEEN = re.compile(
    r"[,;，；、]\s+(?:and\s+|but\s+|while\s+|und\s+|aber\s+|et\s+|mais\s+|y\s+|pero\s+|e\s+|mas\s+|en\s+)?"
    r"|\s+(?:and|but|while|und|aber|et|mais|y|pero|e|mas|en)\s+",
    re.IGNORECASE,
)


def clauses_with_values(sentence: str) -> list[str]:
    """Return the clauses, those without a value joined to the next one; [] of fewer than two.

    "The price fell to £2, and rent rose to £3" gives "The price fell to £2" and "rent rose to £3".
    """
    values = values_in(sentence)
    if len(values) < 2:
        return []
    cuts = [
        (found.start(), found.end())
        for found in _BETWEEN.finditer(sentence)
        if not any(value.start < found.end() and found.start() < value.end for value in values)
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
    """Return the clauses that are statements of their own, each with its time; [] unless all are.

    "The agreement runs for three years, and the client may terminate on 60 days' notice" is two. A clause
    that begins with a number, a verb or a pronoun lacks what it speaks of: "… and 502 on B".
    """
    clauses = clauses_with_values(sentence)
    words = lexicon(language)
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
        found.append(clause if own or len(years) != 1 else f"{clause} ({years[0]})")
    return found


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
