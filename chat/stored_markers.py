"""Markers of citations in stored text: ``[[cite:<id>:<page>]]``.

The id is a unit's in a message, a citation's in a note.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from uuid import UUID

_STORED = re.compile(r"\[\[cite:([0-9a-fA-F-]{32,36}):(\d{1,7})\]\]")
_ANY_OPENING = re.compile(r"\[(?=\s{0,2}cite\s{0,2}:)", re.IGNORECASE)


def format_marker(unit_id: UUID | str, page: int) -> str:
    """The marker of a stored message."""
    return f"[[cite:{unit_id}:{page}]]"


@dataclass(frozen=True, slots=True)
class StoredMark:
    """A marker of a stored message and its place: ``content[start:end]``."""

    unit_id: str
    page: int
    start: int
    end: int


def stored_marks(content: str) -> Iterator[StoredMark]:
    """The markers of a stored message, in order."""
    return map(mark_of, _STORED.finditer(content))


def with_marks(content: str, written: Callable[[int, StoredMark], str]) -> str:
    """The content with something else for each marker; ``written`` gets its place among them, from 0."""
    places = itertools.count()
    return _STORED.sub(lambda match: written(next(places), mark_of(match)), content)


def mark_of(match: re.Match[str]) -> StoredMark:
    return StoredMark(match[1], int(match[2]), match.start(), match.end())


def without_markers(content: str) -> str:
    """The words of a stored message alone."""
    return _STORED.sub("", content)


def defused(text: str) -> str:
    """Text of a document or a person, made unable to pass for a marker in a message."""
    return _ANY_OPENING.sub("[\u200b", text)
