"""Names in a question: companies, people, places, products."""

from __future__ import annotations

import re

YEAR = re.compile(r"\b(?:FY|CY|Q[1-4]\s*)?(?:19|20)\d{2}\b|\bFY\d{2}\b|\bQ[1-4]\b", re.IGNORECASE)
_NAME = re.compile(r"(?<![.!?]\s)(?<!^)\b(?:[A-Z0-9][\w&.'’-]*[A-Za-z][\w&.'’-]*)(?:\s+(?:[A-Z][\w&.'’-]*))*")
_NO_NAME = re.compile(rf"{YEAR.pattern}|\d+(?:st|nd|rd|th)", re.IGNORECASE)
_POSSESSIVE = re.compile(r"['’]s(?:\s+|$)")


def names_in(text: str) -> list[str]:
    """Capitalised runs inside sentences, each cut behind its possessive; years and ordinals are none."""
    found = [name.rstrip(".,") for match in _NAME.finditer(text) for name in _POSSESSIVE.split(match[0])]
    return [name for name in dict.fromkeys(found) if name and not _NO_NAME.fullmatch(name)]
