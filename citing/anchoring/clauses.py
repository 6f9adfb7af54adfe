"""Split a sentence that says several things into clauses, each with values of its own."""

from __future__ import annotations

import re

from citing.anchoring.page_text import Span
from text.values import values_in

MOST_CLAUSES = 6
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
