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
``<cite>u1</cite>`` ``\\cite{u1}``  passage 1; so ``<sup>1</sup>``, ``¹``, ``{u1}``, ``[u1](#u1)``
``(see [1])`` ``**[1]**`` ``((u1))``   passage 1: what wraps only markers goes with them
``[0, 1]`` ``[2019]`` ``= [1]``        text: no passage is counted so
``CI [1, 2]`` ``range [1–3]``          text: a pair behind the name of an interval
any of them that a passage prints      text: the document's own, which steers no citation
anything in code                       text
=====================================  ==================================================

What names no passage is taken out; its sentence is matched (``citing.claim_spans``).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import ClassVar, Protocol

from citing.claim_spans import terms_of
from citing.claims import SourceUnit
from citing.marker_decoder import CitationMark, CodeState, Event, MarkerDecoder, Text

LONGEST = 160  # characters in brackets; what is longer is no marker
SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
CIRCLED = "①②③④⑤⑥⑦⑧⑨"
_ONE = r"[uU]?\d{1,3}"
_ITEM = rf"""[@#†^"'“`]?(?:[sS](?=\d))?{_ONE}["'”`]?\.?|[{CIRCLED}]"""
_SEPARATOR = r"\s*(?:[,;、，&–-]|and|und|et|y)\s*"
_LIST = re.compile(rf"\s*((?:{_ITEM})(?:{_SEPARATOR}(?:{_ITEM}))*)\s*$")
_ALIAS = re.compile(r"[uU]\s?\d{1,3}\b")
_SOURCE = re.compile(rf"\s*({_ONE})(?::\d+)?\s*†.*$")
_LABEL = (
    r"(?:sources?|passages?|ref(?:erence)?s?|citations?|cite|docs?|documents?|context|ids?|see|quellen?|siehe|vgl"
    r"|fuentes?|voir|来源|出处|参考|出典)"
)
_NAMED = re.compile(
    rf"\s*(?:see\s+)?{_LABEL}\s*[.:：#_]?\s*((?:{_ITEM})(?:{_SEPARATOR}(?:{_ITEM}))*)\s*$", re.I
)
_LABEL_BEFORE = re.compile(rf"\s*{_LABEL}\b\s*[.:：#_]?\s*(?=[uU]\d)", re.I)
_CHUNK = re.compile(r"\s*chunk\s*[:#]?\s*(\d{1,3})(?:\s*[:,]?\s*page\s*[:#]?\s*(\d{1,5}))?\s*$", re.I)
# An alias, and its page, lines or words behind it: a passage's head, repeated.
_HEAD = re.compile(r"\s*([uU]\d{1,3})(?:\s*(?:[·|,:;.]\s*\S|:?\s[\"'“«])|:).*$")
_PAGE = re.compile(r"\s*(?:pp?\.|pages?|S\.|Seite)\s*(\d{1,5})\s*$", re.I)
_TITLE_AND_PAGE = re.compile(r"\s*(\w.*?),?\s+(?:pp?\.|pages?|S\.|Seite)\s*(\d{1,5})\s*$", re.I)
_ALWAYS_DROPPED = re.compile(r"\s*(?:oaicite:\d+|index=\d+|cite_(?:start|end)|cite\ue202.*)\s*$", re.S)
# Beginnings of markers in brackets that mostly hold something else.
_STARTS = (
    *("p", "u", "sou", "sie", "see", "seite", "s.", "chu", "cit", "ref", "doc", "pas", "con", "id", "quel"),
    *("fue", "voi", "vgl", "来", "出", "参"),
)
_RANGE = re.compile(r"\d\s*[–-]\s*[uU]?\d")
_INTERVAL_BEFORE = re.compile(r"(?:\bCI|\binterval|\brange|\bIQR|\bquartiles?|\bset)[\s:,=]*$", re.I)
_EQUALS_BEFORE = re.compile(r"[=∈≈]\s*$")
_CARET_DIGITS = 2
_PAIR = re.compile(r"\d\s*[,;–-]\s*\d")
_CARET_BEFORE = re.compile(r"(?:[^\W\d_]{4,}|[.,;:!?)%”\"'’»])\s?\$?$")  # not "m^2", "10^6"
_BRACED = re.compile(rf"\^\{{\[?({_ONE}(?:,\s*{_ONE})*)\]?\}}$")
_COMMAND = re.compile(r"\\(?:[a-z]{0,15}|(?:cite[a-z]{0,6}|textsuperscript|footnote)\{[^{}\n]{0,60}\}?)$")
_PAIRED = re.compile(r"<(cite|citation|ref|reference|source|sup)>", re.I)
_TAGS = "(?:cite|citation|ref|reference|source|sup|co|doc)"
_TAG = re.compile(rf"</?{_TAGS}\b[^<>]*>$", re.I)
_ALIAS_TAG = re.compile(r"<([uU]\d{1,3})(?::\d{1,5})?>$")
_TAG_START = re.compile(rf"</?(?:[a-z]{{0,9}}|[uU]\d{{0,3}}:?\d{{0,5}}>?|{_TAGS}\b[^>]*>?.*)$", re.I)
_ANCHOR = re.compile(r"(\[.*\])\(#[^()\s]*\)$")
_LINE_BEFORE = 600  # characters before a marker that are kept to see which passage fits
_CONTEXT = 12  # characters before a raised digit that a passage prints, too: "²" alone is in many
_CLOSERS = dict(zip("[【({（［〔<\\\ue200", "]】)}）］〕>}\ue201", strict=True))
_SQUARE = "[【［〔"  # a bare number in others is none of a passage


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
        printed = PrintedText(passages)
        self._coded = _CodedMarkers(passages, printed)
        self._own = MarkerDecoder(passages)
        self._reader = _MarkerReader(passages, printed)
        self._code = CodeState()
        self._held = ""  # from an opening bracket on
        self._before = ""  # the end of the text before it
        self._out: list[Event] = []
        self._wrappers = _Wrappers()
        self._skips_colon = False  # of a footnote, "[^1]: Report", whose words stay

    def decode(self, piece: str) -> list[Event]:
        """Events that are certain once this piece has come."""
        return self._taken(self._own.decode(self._coded.feed(piece)))

    def flush(self, is_whole: bool = True) -> list[Event]:
        """Events of what was held back at the end of the stream, or of a block of it.

        ``is_whole``: the stream was not cut off, perhaps inside a marker, whose beginning is left out.
        """
        coded = self._coded.flush()
        events = self._taken(self._own.decode("" if coded and not is_whole else coded))
        events += self._taken(self._own.flush())
        if not (is_whole or self._is_closed()) and _is_fragment(self._held):
            self._take([])
        self._release()
        return merged([*events, *self._taken([]), *self._wrappers.flush(is_whole)])

    def _taken(self, events: Sequence[Event]) -> list[Event]:
        for event in events:
            if isinstance(event, Text):
                for character in event.text:
                    self._read(character)
            else:
                self._release()
                self._out.append(event)
        taken, self._out = self._out, []
        return merged(self._wrappers.read(taken))

    def _read(self, character: str) -> None:
        if self._is_closed():
            self._end(character)
        if self._skips_colon:
            self._skips_colon = False
            return
        if self._held[:1] in _SUPERSCRIPT_STARTS:
            self._read_superscript(character)
        elif self._held:
            self._held += character
            if self._is_lost():
                self._release()
        elif not self._code.inside and (
            character in _CLOSERS or (character in _SUPERSCRIPT_STARTS and _CARET_BEFORE.search(self._before))
        ):
            self._held = character
        else:
            self._show(character)

    def _read_superscript(self, character: str) -> None:
        """Read on behind a caret or a raised digit: digits are a marker, a bracket begins one."""
        is_caret = self._held[0] == "^"
        if self._held.startswith("^{") and not self._held.endswith("}"):
            self._held += character
            if len(self._held) > LONGEST or character == "\n":
                self._release()
            return
        if self._held == "^" and character == "{":
            self._held = "^{"
            return
        more = character.isdecimal() if is_caret else character in SUPERSCRIPTS
        if more and len(self._held) < (_CARET_DIGITS + is_caret):
            self._held += character
            return
        if self._held == "^" and character == "[":
            self._held = "["
            return
        self._release()
        self._read(character)

    def _is_closed(self) -> bool:
        held = self._held
        if len(held) < 2 or held[0] in _SUPERSCRIPT_STARTS:
            return False
        if paired := _PAIRED.match(held):
            return held.lower().endswith(f"</{paired[1].lower()}>")
        if held.startswith("[") and "](" in held:
            return held[-1] == ")"
        return held[-1] in (_CLOSERS[held[0]], "】")

    def _is_lost(self) -> bool:
        held = self._held
        if len(held) > LONGEST or held[-1] == "\n":
            return True
        match held[0]:
            case "<":
                return not _TAG_START.match(held)
            case "\\":
                return not _COMMAND.match(held)
            case "\ue200":
                return False
            case "(" | "{" | "（" if not _may_begin_marker(held[1:]):
                return True
        return held[-1] in _CLOSERS and not (held.startswith("[") and held.endswith("]("))

    def _end(self, following: str) -> None:
        """End a complete bracket: the next character tells a link from a marker."""
        at_start = not self._before.rpartition("\n")[2].strip()
        if following == ":" and at_start and self._held.startswith("[^"):
            self._take([])
            self._skips_colon = True
            return
        if following == "(" and self._held[0] == "[" and self._reader.is_plain(self._held):
            return  # the target tells
        is_link = self._held[0] == "[" and (following == "(" or (following == ":" and at_start))
        marks = None if is_link else self._reader.read(self._held, self._before)
        if marks is None:
            self._show_held()
            return
        self._take(marks)

    def _take(self, marks: list[Event]) -> None:
        self.unresolved += not marks
        self._held = ""
        self._out += marks or [_DROPPED]

    def _release(self) -> None:
        """Show what is held, but for a marker that is complete."""
        is_raised = self._held[:1] in _SUPERSCRIPT_STARTS
        if (is_raised or self._is_closed()) and (
            marks := self._reader.read(self._held, self._before)
        ) is not None:
            self._take(marks)
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


_SUPERSCRIPT_STARTS = tuple("^" + SUPERSCRIPTS)
_DROPPED = CitationMark("")  # a marker that names no passage, for what wraps it


def _may_begin_marker(inside: str) -> bool:
    """Return whether what stands behind a round bracket or a brace may become a marker."""
    begun = inside.lstrip(" [(").lower()
    return any(begun.startswith(start[: len(begun)]) for start in (*_STARTS, "index="))


def _is_fragment(held: str) -> bool:
    """Return whether what is held at a cut began a marker, and no words in brackets."""
    if held[:1] not in tuple("[［〔({（"):
        return len(held) > 1 or held in tuple("^【\\")
    inside = held[1:]
    return bool(_BEGUN.match(inside)) or (_may_begin_marker(inside) and not _TWO_WORDS.search(inside))


_BEGUN = re.compile(r"""[\s\d@#†^"'“`,;、，&.–-]*(?:[uUsS][\s\d:,;–"'”-]*)*(?:o(?:a(?:i\S*)?)?)?$""")
_TWO_WORDS = re.compile(r"[^\W\d_]{2,}\s+[^\W\d_]{2,}")


class _CodedMarkers:
    """Takes the backticks off a marker that was written as code: `` `[u1]` ``, `` `u1` ``.

    Numbers in backticks stay code: `` `[1]` `` may be an index.
    """

    _WHOLE = re.compile(r"[(\[【]{0,2}(?:cite:)?(u\d{1,3})\b[^`\n]{0,80}")
    _BEGUN = re.compile(r"[(\[【]{0,2}(?:ci?t?e?|(?:cite:)?(?:u(?:\d{1,3}(?:\b[^`\n]{0,80})?)?)?)")

    def __init__(self, passages: Mapping[str, ShownPassage], printed: PrintedText) -> None:
        self._passages, self._printed = passages, printed
        self._code = CodeState()
        self._held = ""  # from a backtick on

    def feed(self, piece: str) -> str:
        return "".join(map(self._read, piece))

    def flush(self) -> str:
        held, self._held = self._held, ""
        return self._passed(held)

    def _read(self, character: str) -> str:
        if not self._held:
            if character != "`" or self._code.inside:
                return self._passed(character)
            self._held = character
            return ""
        if character != "`":
            self._held += character
            return "" if self._BEGUN.fullmatch(self._held[1:]) else self.flush()
        written = self._held[1:]
        found = self._WHOLE.fullmatch(written)
        if not found or found[1] not in self._passages or f"{self._held}`" in self._printed:
            return self.flush() + self._passed(character)
        self._held = ""
        return self._passed(written if written[0] in "([【" else f"[{written}]")

    def _passed(self, text: str) -> str:
        for character in text:
            self._code.read(character)
        return text


class _Wrappers:
    """Takes out brackets and emphasis that wrap only markers: ``(see [1])``, ``**[1]**``, ``((u1))``."""

    _OPENINGS: ClassVar[dict[str, str]] = {
        **dict(zip('([{（<*_$^"', [*")]}）>*_$", "", '"'], strict=True)),
        **{f"({word} ": ")" for word in ("see", "See", "cf.", "siehe", "Source:", "Sources:", "Quelle:")},
        ":contentReference": "",
    }
    _FIRST = frozenset(opening[0] for opening in _OPENINGS)
    _BETWEEN = re.compile(r"\s*(?:[,;、，&]|and|und|et|y)?\s*")

    def __init__(self) -> None:
        self._opened = ""
        self._marks: list[Event] = []
        self._after = ""  # characters behind the marks
        self._last = ""  # character that was shown, or "]" behind a mark
        self._depth = 0  # open square brackets of the line

    def read(self, events: Sequence[Event]) -> list[Event]:
        out: list[Event] = []
        for event in events:
            if not isinstance(event, Text):
                self._read_mark(event, out)
                continue
            for character in event.text:
                self._read(character, out)
        return out

    def flush(self, is_whole: bool) -> list[Event]:
        """Return what was held at the end of the stream, or of a block of it."""
        out: list[Event] = []
        self._release(out, is_wrapped=not is_whole)
        return out

    def _read_mark(self, mark: Event, out: list[Event]) -> None:
        if self._after and not self._BETWEEN.fullmatch(self._after):
            self._release(out, is_wrapped=False)
        self._after = ""
        self._marks.append(mark)
        if not self._closing():
            self._release(out, is_wrapped=True)
            self._last = "]"

    def _read(self, character: str, out: list[Event]) -> None:
        if not self._marks:
            if character in "]^" and self._last == "]" and self._depth <= 0:
                return  # of "[[cite:u1][cite:u2]]"
            if not self._opened and character not in self._FIRST:
                self._show(character, out)
                return
            self._opened += character
            while self._opened and not self._opens(self._opened):
                self._show(self._opened[0], out)
                self._opened = self._opened[1:]
            return
        self._after += character
        closing = self._closing()
        if self._after == closing:
            self._release(out, is_wrapped=True)
        elif not (closing.startswith(self._after) or self._BETWEEN.fullmatch(self._after)):
            self._release(out, is_wrapped=False)

    def _release(self, out: list[Event], is_wrapped: bool) -> None:
        """Emit the marks; what wraps them only where it does not wrap them alone."""
        for character in "" if is_wrapped else self._opened:
            self._show(character, out)
        out += [mark for mark in self._marks if mark != _DROPPED]
        after = "" if is_wrapped else self._after
        self._opened, self._marks, self._after = "", [], ""
        for character in after:
            self._read(character, out)

    def _show(self, character: str, out: list[Event]) -> None:
        out.append(Text(character))
        self._last = character if character != "]" else ")"
        self._depth = 0 if character == "\n" else self._depth + (character == "[") - (character == "]")

    def _opens(self, text: str) -> bool:
        """Return whether the text is made of openings, the last of which may be incomplete."""
        if text[:1] in ("*", "_") and text == self._opened and self._last.strip(" \n([{（|>*_-"):
            return False  # the end of an emphasis
        return not text or any(
            opening.startswith(text) or (text.startswith(opening) and self._opens(text[len(opening) :]))
            for opening in self._OPENINGS
        )

    def _closing(self) -> str:
        closing, rest = "", self._opened
        while rest:
            opening = next((key for key in self._OPENINGS if rest.startswith(key)), rest)
            closing = self._OPENINGS.get(opening, "") + closing
            rest = rest[len(opening) :]
        return closing


class PrintedText:
    """What documents print in the passages, with single spaces; joined when a marker is first looked up."""

    def __init__(self, passages: Mapping[str, ShownPassage]) -> None:
        self._passages = passages

    def __contains__(self, text: str) -> bool:
        return text in self._text

    @cached_property
    def _text(self) -> str:
        units = [passage.unit for passage in self._passages.values()]
        return spaced(
            " ".join(text for unit in units for text in (unit.title, *unit.section_path, unit.text))
        )


def spaced(text: str) -> str:
    """Return the text with each run of white space as one space; those at its ends stay."""
    return re.sub(r"\s+", " ", text)


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

    def __init__(self, passages: Mapping[str, ShownPassage], printed: PrintedText) -> None:
        self._passages = passages
        self._printed = printed
        self._on_page: dict[int, list[str]] = defaultdict(list)
        self._from_zero = False  # whether this answer counts chunks from 0
        for alias, passage in passages.items():
            self._on_page[passage.unit.page].append(alias)

    def read(self, bracket: str, before: str) -> list[Event] | None:
        """Return the citations of a marker; none if no passage fits; None if it is text.

        ``before`` is the text up to the marker, whose last sentence tells between several readings.
        """
        is_raised = bracket[0] in _SUPERSCRIPT_STARTS
        context = spaced(before[-_CONTEXT:]) if is_raised else ""
        if f"{context}{bracket}" in self._printed:
            return None
        if is_raised:
            return self._raised(bracket)
        if bracket[0] == "<":
            return self._tagged(bracket)
        if bracket[0] == "\\":
            return list(self._known(re.findall(_ONE, bracket.partition("{")[2])))
        if anchor := _ANCHOR.match(bracket):
            return self.read(anchor[1], before)
        if "](" in bracket:
            return None
        inside = bracket[1:-1]
        if _ALWAYS_DROPPED.match(inside):
            return []
        if bracket[0] not in _SQUARE and not _may_begin_marker(inside):
            return None
        if found := _PAGE.match(inside):
            fitting = self._on_page.get(int(found[1]), [])
            if not fitting and bracket[0] not in _SQUARE:
                return None
            return self._fitting(fitting, before, int(found[1]))
        if found := _CHUNK.match(inside):
            return self._chunk(int(found[1]), int(found[2]) if found[2] else None, before)
        if found := _SOURCE.match(inside):
            return list(self._known([found[1]]))
        if (found := _NAMED.match(inside)) and (bracket[0] in _SQUARE or not self._is_prose(inside)):
            return list(self._known(listed_numbers(found[1])))
        inside = _LABEL_BEFORE.sub("", inside)
        found = _TITLE_AND_PAGE.match(inside)
        if found and (titled := self._titled(found[1], int(found[2]))):
            return self._fitting(titled, before, int(found[2]))
        if not (found := _LIST.match(inside)):
            head = _HEAD.match(inside)
            return list(self._known([head[1]])) if head else None
        if bracket[0] not in _SQUARE and not _ALIAS.search(inside):
            return None
        names = listed_numbers(found[1])
        if _EQUALS_BEFORE.search(before):
            return None  # a value
        if any(not int(name.lower().removeprefix("u")) for name in names):
            return None  # "[0, 1]"
        if _PAIR.search(inside) and _INTERVAL_BEFORE.search(before):
            return None
        return list(self._known(names))

    def is_plain(self, bracket: str) -> bool:
        """Return whether a bracket holds numbers of passages alone, of which a link may be the marker."""
        found = _LIST.match(bracket[1:-1])
        return found is not None and bool(list(self._known(listed_numbers(found[1]))))

    def _is_prose(self, inside: str) -> bool:
        """Return whether words in round brackets refer to something else: "(see 3)"."""
        return inside.lower().lstrip().startswith("see") and not _ALIAS.search(inside)

    def _titled(self, title: str, page: int) -> list[str]:
        """Return the passages of a page whose document's title has these words."""
        words = terms_of(title)
        return [
            alias
            for alias in self._on_page.get(page, ())
            if words
            and words <= terms_of(f"{self._passages[alias].unit.title} {self._passages[alias].unit.byline}")
        ]

    def _raised(self, written: str) -> list[Event] | None:
        """Return the citation of ``^1``, ``^{1}`` or ``¹``; None if it is an exponent."""
        if written[0] == "^":
            braced = _BRACED.match(written)
            names = listed_numbers(braced[1]) if braced else [written[1:]]
            return list(self._known(names)) or None
        return list(self._known(["".join(str(SUPERSCRIPTS.index(digit)) for digit in written)])) or None

    def _tagged(self, written: str) -> list[Event] | None:
        """Return the citations of a tag; of another the words inside it."""
        if paired := _PAIRED.match(written):
            inside = written[paired.end() : written.rindex("</")]
            names = _LIST.match(inside.strip("[]() "))
            if names and (marks := list(self._known(listed_numbers(names[1])))):
                return marks
            raised = paired[1].lower() == "sup" and inside.isdecimal()
            return [Text("".join(SUPERSCRIPTS[int(digit)] for digit in inside) if raised else inside)]
        if alias := _ALIAS_TAG.match(written):
            return list(self._known([alias[1]])) or None
        if not _TAG.match(written):
            return None
        return [] if written[1] == "/" else list(self._known(re.findall(rf"\b{_ONE}\b", written)))

    def _known(self, written: Sequence[str]) -> Iterator[Event]:
        for name in written:
            if not re.fullmatch(_ONE, name):
                continue
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
    for number, circled in enumerate(CIRCLED, start=1):
        text = text.replace(circled, str(number))
    names = re.findall(_ONE, text)
    if len(names) == 2 and _RANGE.search(text):
        first, last = (int(name.lower().removeprefix("u")) for name in names)
        return [str(number) for number in range(first, last + 1)][:10] if first < last else names
    return names
