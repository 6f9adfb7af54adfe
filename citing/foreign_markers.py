"""Markers that models write in their own way: ``[1]``, ``[u3]``, ``【3†source】``, ``[CHUNK:0:PAGE:4]``.

One grammar, read from the answer alone, whatever its pieces:

=====================================  ==================================================
written                                read as
=====================================  ==================================================
``[1]`` ``[u1]`` ``[^1]`` ``^1``       passage 1
``[1, 3]`` ``[1][3]`` ``[u2–u4]``      passages 1 and 3; 2 to 4
``[CHUNK:0:PAGE:4]`` ``[CHUNK:2]``     counted from 0 or from 1: the one whose page and words fit
``【1†source】`` ``(source 1)``          passage 1
``[p. 5]`` ``(page 5)``                the passage of page 5 whose words fit
``[0, 1]`` ``[2019]`` ``= [1]``        text: no passage is counted so
``CI [1, 2]`` ``range [1–3]``          text: a pair behind the name of an interval
a bracket that a passage prints        text: the document's own
anything in code                       text
=====================================  ==================================================

What names no passage is taken out; its sentence is matched (``citing.claim_spans``).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from citing.claim_spans import terms_of
from citing.claims import SourceUnit
from citing.marker_decoder import CitationMark, CodeState, Event, MarkerDecoder, Text

LONGEST = 160  # characters in brackets; what is longer is no marker
_ONE = r"[uU]?\d{1,3}"
_LIST = re.compile(rf"\s*\^?({_ONE}(?:\s*(?:[,;–-]|and)\s*{_ONE})*)\s*$")
_SOURCE = re.compile(rf"\s*({_ONE})(?::\d+)?\s*†.*$")
_NAMED = re.compile(rf"\s*(?:source|passage|ref(?:erence)?|citation)s?\s*[:#]?\s*({_ONE})\s*$", re.I)
_CHUNK = re.compile(r"\s*chunk\s*[:#]?\s*(\d{1,3})(?:\s*[:,]?\s*page\s*[:#]?\s*(\d{1,5}))?\s*$", re.I)
_HEAD = re.compile(r"\s*([uU]\d{1,3})\s*(?:[·|,:]\s*p{1,2}\..*|:\d{1,5})$")  # a passage's head, repeated
_PAGE = re.compile(r"\s*(?:pp?\.|pages?|S\.|Seite)\s*(\d{1,5})\s*$", re.I)
_ROUND = ("(p", "(s", "(c", "(u", "(r")  # beginnings of markers in round brackets
_RANGE = re.compile(r"\d\s*[–-]\s*[uU]?\d")
_INTERVAL_BEFORE = re.compile(r"(?:\bCI|\binterval|\brange|\bIQR|\bquartiles?|\bset)[\s:,=]*$", re.I)
_EQUALS_BEFORE = re.compile(r"[=∈≈]\s*$")
_CARET_DIGITS = 2
_PAIR = re.compile(r"\d\s*[,;–-]\s*\d")
_CARET_BEFORE = re.compile(r"(?:[^\W\d_]{4,}|[.,;:!?)%”\"'’»])\s?$")  # not "m^2", "10^6"
_CARET = re.compile(r"\^\d{1,2}$")
_LINE_BEFORE = 600  # characters before a marker that are kept to see which passage fits
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
        if self._held.startswith("^"):
            self._read_caret(character)
        elif self._held:
            self._held += character
            if self._is_lost():
                self._release()
        elif not self._code.inside and (
            character in _CLOSERS or (character == "^" and _CARET_BEFORE.search(self._before))
        ):
            self._held = character
        else:
            self._show(character)

    def _read_caret(self, character: str) -> None:
        """Read on behind a caret: digits are a marker, a bracket begins one."""
        if character.isdigit() and len(self._held) <= _CARET_DIGITS:
            self._held += character
            return
        if self._held == "^" and character == "[":
            self._held = "["
            return
        self._release()
        self._read(character)

    def _is_closed(self) -> bool:
        return (
            not self._held.startswith("^")
            and len(self._held) > 1
            and self._held[-1] in (_CLOSERS[self._held[0]], "】")
        )

    def _is_lost(self) -> bool:
        if self._held[0] == "(" and not any(
            self._held.lower().startswith(start[: len(self._held)]) for start in _ROUND
        ):
            return True
        return len(self._held) > LONGEST or self._held[-1] == "\n" or self._held[-1] in _CLOSERS

    def _end(self, following: str) -> None:
        """End a complete bracket: the next character tells a link from a marker."""
        at_start = not self._before.rpartition("\n")[2].strip()
        is_link = self._held[0] == "[" and (following == "(" or (following == ":" and at_start))
        marks = None if is_link else self._reader.read(self._held, self._before)
        if marks is None:
            self._show_held()
            return
        self.unresolved += not marks
        self._held = ""
        self._out += marks

    def _release(self) -> None:
        """Show what is held, but for a marker that is complete."""
        is_caret = _CARET.match(self._held)
        if (is_caret or self._is_closed()) and (
            marks := self._reader.read(self._held, self._before)
        ) is not None:
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
        self._before = (self._before + character)[-_LINE_BEFORE:]
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
        self._from_zero = False  # whether this answer counts chunks from 0
        for alias, passage in passages.items():
            self._on_page[passage.unit.page].append(alias)

    def read(self, bracket: str, before: str) -> list[Event] | None:
        """Return the citations of a marker; none if no passage fits; None if it is text.

        ``before`` is the text up to the marker, whose last sentence tells between several readings.
        """
        if bracket.startswith("^"):
            return list(self._known([bracket[1:]])) or None
        inside = bracket[1:-1]
        if bracket[0] == "(" and not re.match(r"\s*(?:[uU]\d|chunk|source|pp?\.|page)", inside, re.I):
            return None
        if found := _PAGE.match(inside):
            fitting = self._on_page.get(int(found[1]), [])
            if not fitting and bracket[0] == "(":
                return None
            return self._fitting(fitting, before, int(found[1]))
        if found := _CHUNK.match(inside):
            return self._chunk(int(found[1]), int(found[2]) if found[2] else None, before)
        if found := _SOURCE.match(inside) or _NAMED.match(inside) or _HEAD.match(inside):
            return list(self._known([found[1]]))
        if not (found := _LIST.match(inside)):
            return None
        names = listed_numbers(found[1])
        if bracket in self._printed or _EQUALS_BEFORE.search(before):
            return None  # the documents' own, or a value
        if any(not int(name.lower().removeprefix("u")) for name in names):
            return None  # "[0, 1]"
        if _PAIR.search(inside) and _INTERVAL_BEFORE.search(before):
            return None
        return list(self._known(names))

    def _known(self, written: Sequence[str]) -> Iterator[Event]:
        for name in written:
            alias = f"u{int(name.lower().removeprefix('u'))}"
            if alias in self._passages:
                yield CitationMark(alias)

    def _chunk(self, number: int, page: int | None, before: str) -> list[Event]:
        """Return the passage of a number that counts from 0 or from 1: by its page, else by its words."""
        self._from_zero = self._from_zero or number == 0
        counted = (number + 1, number) if self._from_zero else (number, number + 1)
        known = [alias for alias in (f"u{n}" for n in counted) if alias in self._passages]
        on_page = [alias for alias in known if self._passages[alias].unit.page == page]
        return self._fitting(on_page or (known[:1] if self._from_zero else known), before, page)

    def _fitting(self, aliases: Sequence[str], before: str, page: int | None) -> list[Event]:
        """Return the passage with most words of the last sentence; of equal ones the first."""
        if not aliases:
            return []
        wanted = terms_of(_last_sentence(before))
        best = max(aliases, key=lambda alias: len(wanted & terms_of(self._passages[alias].unit.text)))
        return [CitationMark(best, page if self._passages[best].unit.page == page else None)]


def _last_sentence(text: str) -> str:
    """Return the words since the last full stop, question mark or line break with words behind it."""
    parts = [part for part in re.split(r"(?<=[.!?。！？])\s+|\n", text) if re.search(r"\w", part)]
    return parts[-1] if parts else ""


def listed_numbers(text: str) -> list[str]:
    """Return the numbers of a list such as ``1, 3`` or ``u2–u4``."""
    names = re.findall(_ONE, text)
    if len(names) == 2 and _RANGE.search(text):
        first, last = (int(name.lower().removeprefix("u")) for name in names)
        return [str(number) for number in range(first, last + 1)][:10] if first < last else names
    return names
