"""Markers that models write in their own way: ``[1]``, ``[u3]``, ``【3†source】``, ``[CHUNK:3]``, ``(p. 5)``.

They are read where they can mean only one passage, and taken out of the text:
what cannot be resolved leaves the sentence to be matched (``citing.claim_spans``).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from citing.claims import SourceUnit
from citing.marker_decoder import CitationMark, CodeState, Event, MarkerDecoder, Text

LONGEST = 160  # characters in brackets; what is longer is no marker
_ONE = r"[uU]?\d{1,3}"
_LIST = re.compile(rf"\s*\^?({_ONE}(?:\s*(?:[,;–-]|and)\s*{_ONE})*)\s*$")
_SOURCE = re.compile(rf"\s*({_ONE})(?::\d+)?\s*†.*$")
_NAMED = re.compile(rf"\s*(?:chunk|source|passage|ref(?:erence)?|citation)s?\s*[:#]?\s*({_ONE})\s*$", re.I)
_HEAD = re.compile(r"\s*([uU]\d{1,3})\s*(?:[·|,:]\s*p{1,2}\..*|:\d{1,5})$")  # a passage's head, repeated
_PAGE = re.compile(r"\s*(?:pp?\.|pages?|S\.|Seite)\s*(\d{1,5})\s*$", re.I)
_ROUND = ("(p", "(s", "(c", "(u", "(r")  # beginnings of markers in round brackets
_RANGE = re.compile(r"\d\s*[–-]\s*[uU]?\d")
_VALUE_BEFORE = re.compile(r"(?:\bCI|\binterval|\brange|\bIQR|[=∈≈%])[\s:,]*$", re.I)
_CLOSERS = {"[": "]", "【": "】", "(": ")"}


class ShownPassage(Protocol):
    """A passage that the model was shown, with the unit it is of."""

    @property
    def unit(self) -> SourceUnit: ...


class AnswerDecoder:
    """``MarkerDecoder`` that reads the markers of other conventions, too; any split gives the same events.

    Attributes:
        unresolved: markers taken out of the text that could mean no or several passages.
    """

    def __init__(self, passages: Mapping[str, ShownPassage]) -> None:
        self.unresolved = 0
        self._own = MarkerDecoder(passages)
        self._reader = _MarkerReader(passages)
        self._code = CodeState()
        self._held = ""  # from an opening bracket on
        self._before = ""  # the end of the text before it
        self._out: list[Event] = []

    def decode(self, piece: str) -> list[Event]:
        """Events that are certain once this piece has come."""
        return self._taken(self._own.decode(piece))

    def flush(self) -> list[Event]:
        """Events of what was held back at the end of the stream, or of a block of it."""
        events = self._taken(self._own.flush())
        self._release()
        return [*events, *self._taken([])]

    def _taken(self, events: Sequence[Event]) -> list[Event]:
        for event in events:
            if isinstance(event, Text):
                for character in event.text:
                    self._read(character)
            else:
                self._release()
                self._out.append(event)
        taken, self._out = self._out, []
        return merged(taken)

    def _read(self, character: str) -> None:
        if self._is_closed():
            self._end(character)
        if self._held:
            self._held += character
            if self._is_lost():
                self._release()
        elif character in _CLOSERS and not self._code.inside:
            self._held = character
        else:
            self._show(character)

    def _is_closed(self) -> bool:
        return len(self._held) > 1 and self._held[-1] in (_CLOSERS[self._held[0]], "】")

    def _is_lost(self) -> bool:
        if self._held[0] == "(" and not any(
            self._held.lower().startswith(start[: len(self._held)]) for start in _ROUND
        ):
            return True
        return len(self._held) > LONGEST or self._held[-1] == "\n" or self._held[-1] in _CLOSERS

    def _end(self, following: str) -> None:
        """End a complete bracket: the next character tells a link from a marker."""
        is_link = self._held[0] == "[" and following in ("(", ":")
        marks = None if is_link else self._reader.read(self._held, self._before)
        if marks is None:
            self._show_held()
            return
        self.unresolved += not marks
        self._held = ""
        self._out += marks

    def _release(self) -> None:
        """Show what is held, but for a marker that is complete."""
        if self._is_closed() and (marks := self._reader.read(self._held, self._before)) is not None:
            self.unresolved += not marks
            self._out += marks
            self._held = ""
            return
        self._show_held()

    def _show_held(self) -> None:
        """Show what is held; a bracket at its end may begin a marker."""
        held, self._held = self._held, ""
        again = held[-1:] if len(held) > 1 and held[-1:] in _CLOSERS and not self._code.inside else ""
        for character in held.removesuffix(again):
            self._show(character)
        self._held = again

    def _show(self, character: str) -> None:
        self._code.read(character)
        self._before = (self._before + character)[-24:]
        self._out.append(Text(character))


def merged(events: Sequence[Event]) -> list[Event]:
    """Events with neighbouring texts joined."""
    result: list[Event] = []
    pieces: list[str] = []
    for event in events:
        if isinstance(event, Text):
            pieces.append(event.text)
            continue
        if pieces:
            result.append(Text("".join(pieces)))
            pieces = []
        result.append(event)
    return [*result, Text("".join(pieces))] if pieces else result


class _MarkerReader:
    """Says which passages a bracket names."""

    def __init__(self, passages: Mapping[str, ShownPassage]) -> None:
        self._passages = passages
        self._printed = " ".join(passage.unit.text for passage in passages.values())
        self._on_page: dict[int, list[str]] = defaultdict(list)
        for alias, passage in passages.items():
            self._on_page[passage.unit.page].append(alias)

    def read(self, bracket: str, before: str) -> list[Event] | None:
        """Return the citations of a bracket; none if they are ambiguous; None if it is no marker."""
        inside = bracket[1:-1]
        if found := _PAGE.match(inside):
            return self._of_page(int(found[1]))
        if bracket[0] == "(" and not re.match(r"\s*(?:[uU]\d|chunk|source)", inside, re.I):
            return None
        if found := _SOURCE.match(inside) or _NAMED.match(inside) or _HEAD.match(inside):
            return list(self._known([found[1]]))
        if not (found := _LIST.match(inside)):
            return None
        if bracket in self._printed or _VALUE_BEFORE.search(before) or inside.strip() == "0":
            return None  # the documents' own, or a value
        return list(self._known(listed_numbers(found[1])))

    def _known(self, written: Sequence[str]) -> Iterator[Event]:
        for name in written:
            alias = f"u{int(name.lower().removeprefix('u'))}"
            if alias in self._passages:
                yield CitationMark(alias)

    def _of_page(self, page: int) -> list[Event] | None:
        aliases = self._on_page.get(page)
        if not aliases:
            return None
        return [CitationMark(aliases[0], page)] if len(aliases) == 1 else []


def listed_numbers(text: str) -> list[str]:
    """Return the numbers of a list such as ``1, 3`` or ``u2–u4``."""
    names = re.findall(_ONE, text)
    if len(names) == 2 and _RANGE.search(text):
        first, last = (int(name.lower().removeprefix("u")) for name in names)
        return [str(number) for number in range(first, last + 1)][:10] if first < last else names
    return names
