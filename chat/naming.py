"""Names in a question: companies, people, places, products."""

from __future__ import annotations

import re
from collections.abc import Iterable

from retrieval.analysis import terms_of

YEAR = re.compile(r"\b(?:FY|CY|Q[1-4]\s*)?(?:19|20)\d{2}\b|\bFY\d{2}\b|\bQ[1-4]\b", re.IGNORECASE)
_NAME = re.compile(r"(?<![.!?]\s)(?<!^)\b(?:[A-Z0-9][\w&.'’-]*[A-Za-z][\w&.'’-]*)(?:\s+(?:[A-Z][\w&.'’-]*))*")
_POSSESSIVE = re.compile(r"['’]s$|[.,]+$")
LONGEST_ABBREVIATION = 3  # letters: too short to tell a name from a unit


def names_in(text: str) -> list[str]:
    """Capitalised runs inside sentences, possessives cut; years are none."""
    found = [_POSSESSIVE.sub("", match[0]) for match in _NAME.finditer(text)]
    return [name for name in dict.fromkeys(found) if not YEAR.fullmatch(name)]


def strangers(question: str, said: Iterable[str]) -> list[str]:
    """The question's names when none of them stands in ``said`` (terms); else nothing.

    Abbreviations are left out: documents spell them out.
    """
    known = frozenset(said)
    telling = [
        name
        for name in names_in(question)
        if len(name) > LONGEST_ABBREVIATION and any(character.islower() for character in name[1:])
    ]
    return [] if any(known & set(terms_of(name)) for name in telling) else telling
