"""Markers of citations in a model's stream.

A model writes ``[[cite:u7:5]]`` or ``[[cite:u7:5|the exact words]]``, where
``u7`` is an alias it was shown. ``MarkerDecoder`` turns its stream into events,
however the stream is cut. Markers of stored text are at the end of this module.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from text.terms import one_line

LONGEST_MARKER = 2000  # characters after "[[cite:"; what is longer has lost its end
LONGEST_TARGETS = 120  # characters before the quoted words: a dozen aliases
_OPENING_AT_END = re.compile(r"\[\s{0,2}(?:c(?:i(?:t(?:e\s{0,2})?)?)?)?$", re.IGNORECASE)
_TARGET = re.compile(
    r"\s*(?:cite\s*:\s*)?([\w-]+)(?:\s*:\s*(?:pp?\.?\s*)?(\d{1,7})(?:\s*[-–]\s*\d+)?)?\s*$", re.I
)


@dataclass(frozen=True, slots=True)
class Text:
    """Words for the screen, without any part of a marker."""

    text: str


@dataclass(frozen=True, slots=True)
class CitationMark:
    """A citation of a known alias. ``page`` is what the model wrote, None when it wrote none."""

    alias: str
    page: int | None = None
    quote: str = ""


Event = Text | CitationMark


class MarkerDecoder:
    """Decodes a stream of pieces of text into events; the split makes no difference.

    What it says depends on the characters alone; only the cuts between
    neighbouring ``Text`` events follow the pieces.
    Citations inside a code block come after it, where they can be shown.

    Attributes:
        unknown: markers dropped because nothing with their alias was shown.
        malformed: markers dropped because they could not be read.
        repeated: markers dropped because they follow an equal one at once.
    """

    def __init__(self, aliases: Container[str]) -> None:
        self.unknown = self.malformed = self.repeated = 0
        self._aliases = aliases
        self._start = _MarkerStart()
        self._marker: _Marker | None = None
        self._code = CodeState()
        self._deferred: list[CitationMark] = []
        self._last: CitationMark | None = None
        self._tail = ""
        self._out: list[Event] = []
        self._text: list[str] = []

    def decode(self, piece: str) -> list[Event]:
        """Events that are certain once this piece has come."""
        at = 0
        while at < len(piece):
            plain = piece.find("[", at) if self._is_outside else at
            plain = len(piece) if plain < 0 else plain
            if plain > at:
                self._show(piece[at:plain])
                at = plain
            else:
                self._read(piece[at])
                at += 1
        return self._taken()

    def flush(self) -> list[Event]:
        """Events of what was held back at the stream's end. An unfinished marker is dropped."""
        if self._marker is not None:
            self._give_up(self._marker)
        self.malformed += self._start.begun
        self._start = _MarkerStart()
        self._release_deferred()
        return self._taken()

    @property
    def _is_outside(self) -> bool:
        return self._marker is None and not self._start.begun

    def _read(self, character: str) -> None:
        if self._marker is not None:
            self._read_marker(self._marker, character)
            return
        held = self._start.read(character)
        if self._start.brackets_read:
            self._marker = _Marker(self._start.brackets_read)
            self._start = _MarkerStart()
        else:
            self._show(held)

    def _read_marker(self, marker: _Marker, character: str) -> None:
        state = marker.read(character)
        if state == "closed":
            self._marker = None
            self._cite(marker.body)
            for surplus in marker.surplus:
                self._read(surplus)
        elif state == "lost":
            self._give_up(marker)

    def _give_up(self, marker: _Marker) -> None:
        """Drop a marker that never ends, but go on with the words written after its head."""
        self._marker = None
        body, rest = marker.salvaged()
        if body:
            self._cite(body)
        else:
            self.malformed += 1
            self._part_text()
        for character in rest:
            self._read(character)

    def _cite(self, body: str) -> None:
        head, _, quote = body.partition("|")
        for target in re.split("[,;]", head):
            if found := _TARGET.match(target):
                self._cite_target(found[1], found[2], quote.strip())
            else:
                self.malformed += 1
        self._part_text()

    def _cite_target(self, written: str, page: str | None, quote: str) -> None:
        alias = next((a for a in (written, written.lower(), f"u{written}") if a in self._aliases), None)
        if alias is None:
            self.unknown += 1
            return
        mark = CitationMark(alias, int(page) if page else None, quote)
        if mark == self._last:
            self.repeated += 1
            return
        self._last = mark
        self._deferred.append(mark)
        if not self._code.inside:
            self._release_deferred()

    def _show(self, text: str) -> None:
        if text:
            self._last = None
        for part in re.split("([`\n])", text):
            was_inside = self._code.inside
            self._code.read(part)
            self._text.append(part)
            if was_inside and not self._code.inside:
                self._release_deferred()
        self._tail = (self._tail + text)[-12:]

    def _part_text(self) -> None:
        """Keep the text before and after a dropped marker from forming a new one."""
        if _OPENING_AT_END.search(self._tail):
            self._text.append("\u200b")
            self._tail = ""

    def _release_deferred(self) -> None:
        if self._deferred:
            self._end_text()
            self._out += self._deferred
            self._deferred = []

    def _end_text(self) -> None:
        if text := "".join(self._text):
            self._out.append(Text(text))
        self._text = []

    def _taken(self) -> list[Event]:
        self._end_text()
        events, self._out = self._out, []
        return events


class _MarkerStart:
    """Holds back what may become ``[[cite:`` (any number of brackets, spaces, any case)."""

    _PREFIX = re.compile(r"(\[{1,8}) {0,2}(?:c(?:i(?:t(?:e {0,2}(:)?)?)?)?)?", re.IGNORECASE)

    def __init__(self) -> None:
        self._held = ""
        self.brackets_read = 0

    def read(self, character: str) -> str:
        """Return text that is surely no opening of a marker; set ``brackets_read`` once one is complete."""
        candidate = self._held + character
        prefix = self._PREFIX.fullmatch(candidate)
        if prefix is None:
            self._held = "[" if character == "[" else ""
            return candidate.removesuffix(self._held)
        self._held = candidate
        if prefix[2]:
            self.brackets_read = len(prefix[1])
        return ""

    @property
    def begun(self) -> bool:
        """Return whether something is held back: at the stream's end, a marker that never came."""
        return bool(self._held)


class _Marker:
    """The characters after ``[[cite:`` up to the brackets that close it.

    Brackets in the quoted words may nest; a run of closing brackets that is
    too long for the open ones ends the marker, too.
    """

    def __init__(self, brackets: int) -> None:
        self._brackets = brackets
        self._read = ""
        self._nested = 0
        self._run = 0
        self.body = ""
        self.surplus = ""

    def read(self, character: str) -> Literal["open", "closed", "lost"]:
        """Read a character. ``closed`` sets ``body``, and ``surplus`` to what was read after the marker."""
        if character == "]":
            self._run += 1
            self._read += "]"
            return self._close("") if self._run >= self._nested + self._brackets else "open"
        if self._run >= self._brackets and self._run > self._nested:
            return self._close(character)
        self._nested = max(0, self._nested - self._run) + (character == "[")
        self._run = 0
        self._read += character
        return "lost" if self._is_lost() else "open"

    def _close(self, surplus: str) -> Literal["closed"]:
        self.body, self.surplus = self._read[: -self._brackets], surplus
        return "closed"

    def _is_lost(self) -> bool:
        if "|" not in self._read and len(self._read) > LONGEST_TARGETS:
            return True
        return len(self._read) > LONGEST_MARKER or self._read.endswith("\n\n") or bool(self._another())

    def _another(self) -> str:
        """Return the opening of the next marker, when it has just been read."""
        opening = re.search(r"\[{1,8} {0,2}cite {0,2}:$", self._read[-20:], re.IGNORECASE)
        return opening[0] if opening else ""

    def salvaged(self) -> tuple[str, str]:
        """Return the body of a marker without an end ('' if unusable), and the text after it."""
        closing = re.search(r"\]+", self._read)
        if closing and _TARGET.match(self._read[: closing.start()].partition("|")[0]):
            return self._read[: closing.start()], self._read[closing.end() :]
        if "|" in self._read:
            return "", "\n\n" if self._read.endswith("\n\n") else self._another()
        return "", re.sub(r"^ *[\w-]* *(: *\d*)?\]*", "", self._read)


class CodeState:
    """Whether the text stands in a fenced block or between backticks (CommonMark 4.5, 6.1)."""

    def __init__(self) -> None:
        self._line = ""
        self._fence = ""
        self._ticks = 0

    @property
    def inside(self) -> bool:
        return bool(self._fence) or self._ticks % 2 == 1

    def read(self, part: str) -> None:
        """Read a line break, a backtick, or text with neither."""
        if part != "\n":
            self._line += part
            self._ticks += part == "`" and not self._fence
            return
        fence = re.match(r" {0,3}(`{3,}|~{3,})", self._line)
        if fence and not self._fence:
            self._fence = fence[1]
        elif fence and fence[1].startswith(self._fence) and not self._line.strip(" `~"):
            self._fence = ""
        self._line, self._ticks = "", 0


# Markers of citations in stored text: ``[[cite:<id>:<page>]]``.
#
# The id is a unit's in a message, a citation's in a note.

_STORED = re.compile(r"\[\[cite:([0-9a-fA-F-]{32,36}):(\d{1,7})\]\]")
_ANY_OPENING = re.compile(r"\[(?=\s{0,2}cite\s{0,2}:)", re.IGNORECASE)


def format_marker(unit_id: UUID | str, page: int) -> str:
    """Return the marker of a stored message."""
    return f"[[cite:{unit_id}:{page}]]"


@dataclass(frozen=True, slots=True)
class StoredMark:
    """A marker of a stored message and its place: ``content[start:end]``."""

    unit_id: str
    page: int
    start: int
    end: int


def stored_marks(content: str) -> Iterator[StoredMark]:
    """Return the markers of a stored message, in order."""
    return map(mark_of, _STORED.finditer(content))


def with_marks(content: str, written: Callable[[int, StoredMark], str]) -> str:
    """Return the content with each marker replaced; ``written`` gets its index among them, from 0."""
    places = itertools.count()
    return _STORED.sub(lambda match: written(next(places), mark_of(match)), content)


def mark_of(match: re.Match[str]) -> StoredMark:
    return StoredMark(match[1], int(match[2]), match.start(), match.end())


def without_markers(content: str) -> str:
    """Return the words of a stored message alone."""
    return _STORED.sub("", content)


def defused(text: str) -> str:
    """Return text of a document or a person in which nothing can pass for a marker of a message."""
    return _ANY_OPENING.sub("[\u200b", text)


def defused_line(text: str) -> str:
    """Return the text in one line, without markers."""
    return defused(one_line(text))
