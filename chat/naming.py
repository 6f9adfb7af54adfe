"""Names in a question: companies, people, places, products."""

from __future__ import annotations

import re
from collections.abc import Iterable

from retrieval.analysis import terms_of

YEAR = re.compile(r"\b(?:FY|CY|Q[1-4]\s*)?(?:19|20)\d{2}\b|\bFY\d{2}\b|\bQ[1-4]\b", re.IGNORECASE)
_NAME = re.compile(r"(?<![.!?]\s)(?<!^)\b(?:[A-Z0-9][\w&.'’-]*[A-Za-z][\w&.'’-]*)(?:\s+(?:[A-Z][\w&.'’-]*))*")
_NO_NAME = re.compile(rf"{YEAR.pattern}|\d+(?:st|nd|rd|th)", re.IGNORECASE)
_POSSESSIVE = re.compile(r"['’]s(?:\s+|$)")
LONGEST_ABBREVIATION = 3  # letters: too short to tell a name from a unit


def names_in(text: str) -> list[str]:
    """Capitalised runs inside sentences, each cut behind its possessive; years and ordinals are none."""
    found = [name.rstrip(".,") for match in _NAME.finditer(text) for name in _POSSESSIVE.split(match[0])]
    return [name for name in dict.fromkeys(found) if name and not _NO_NAME.fullmatch(name)]


def strangers(question: str, said: Iterable[frozenset[str]]) -> list[str]:
    """The question's names when none of them stands in a text of ``said`` (each its terms); else nothing.

    A name of several words stands in a text that has them all: one that speaks of the world and another
    that speaks of cups speak of no World Cup. Abbreviations are left out: documents spell them out.
    """
    telling = {
        name: frozenset(terms_of(name))
        for name in names_in(question)
        if len(name) > LONGEST_ABBREVIATION and any(character.islower() for character in name[1:])
    }
    known = any(terms <= text for text in said for terms in telling.values())
    return [] if known else list(telling)
