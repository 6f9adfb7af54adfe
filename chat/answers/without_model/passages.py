"""Whole passages: what stands around the line that a question is about, as a reader would want to read it.

A sentence comes with its paragraph, an item with its list and lead-in, a row with its full label, its column
heads and scale. The line itself is lit. Nothing in a passage is claimed: its words are the document's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from chat.answers.prompt import ContextItem, looks_like_injection
from chat.answers.without_model.lines import BULLET, AnswerLine, escaped, is_title
from chat.answers.without_model.question import ALL_NOUNS_CAPITALISED, place_words
from chat.providers.base import Delta, NativeCitation, TextDelta
from citing.claims import SourceUnit
from documents.contents import trail
from text.sentences import sentence_spans
from text.terms import one_line

MOST_PASSAGES = 3
LONGEST_PASSAGE = 900  # characters; of a longer paragraph the sentences around the best one
MOST_ITEMS = 12  # of a list, around the best one
MOST_BELOW_TITLE = 2  # units below a heading that is itself the best line
LONGEST_HEADING = 90  # characters of two sections' names; of longer ones only the last is given
LINKED = re.compile(r"contents\b", re.I)  # a link at the top of each page
ENDS_LEAD_IN = (":", "：")
UNBULLETED = re.compile(r"^\(?(?:\d{1,3}|[a-z]|[ivx]{1,4})[.)]\s|^…$|[:：]$", re.I)  # numbered; lead-in


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage to show, each part with whether it is lit; ``line`` is its best line."""

    line: AnswerLine
    parts: tuple[tuple[str, bool], ...]
    is_list: bool = False


def passage_around(line: AnswerLine) -> Passage:
    """Return the passage that a line belongs to."""
    unit = line.unit
    if unit.table is not None and len(unit.table.cells) > 1:
        return Passage(line, ((line.text, True),))
    if unit.type == "list":
        return Passage(line, tuple(_list_around(line)), is_list=True)
    if is_title(line):
        below = _after(line.passage, MOST_BELOW_TITLE)
        return Passage(line, ((line.text, True), *((shortened(other.text), False) for other in below)))
    parts = tuple(_sentences(line))
    if unit.text.rstrip().endswith(ENDS_LEAD_IN):
        items = _items_below(line.passage)
        parts += tuple((BULLET.sub("", one_line(item.text)), False) for item in items)
        return Passage(line, parts, is_list=True)
    return Passage(line, parts)


def _sentences(line: AnswerLine) -> Iterator[tuple[str, bool]]:
    """Yield the sentences of a paragraph; the best one is lit. Far ones of a long paragraph are left out."""
    text = line.unit.text
    spans = sentence_spans(text, line.language)
    sentences = [(one_line(text[span.start : span.end]), at == line.place) for at, span in enumerate(spans)]
    sentences = [(text, lit) for text, lit in sentences if text and not looks_like_injection(text)]
    best = next((at for at, (_, lit) in enumerate(sentences) if lit), None)
    if best is None:
        yield line.text, True
        return
    first, last = best, best
    size = len(sentences[best][0])
    while (first > 0 or last + 1 < len(sentences)) and size < LONGEST_PASSAGE:
        forward = last + 1 < len(sentences) and (first == 0 or last - best <= best - first)
        first, last = (first, last + 1) if forward else (first - 1, last)
        size += len(sentences[last if forward else first][0])
    if first:
        yield "…", False
    yield from sentences[first : last + 1]
    if last + 1 < len(sentences):
        yield "…", False


def _list_around(line: AnswerLine) -> Iterator[tuple[str, bool]]:
    """Yield the lead-in of a list and its items; the best one is lit."""
    units = _in_order(line.passage)
    at = next(place for place, unit in enumerate(units) if unit.id == line.unit.id)
    first, last = at, at
    while first > 0 and _is_item(units[first - 1], line.unit) and at - first < MOST_ITEMS // 2:
        first -= 1
    while last + 1 < len(units) and _is_item(units[last + 1], line.unit) and last - first < MOST_ITEMS:
        last += 1
    before = units[first - 1] if first else None
    if before and before.type == "prose" and before.text.rstrip().endswith(ENDS_LEAD_IN):
        yield shortened(before.text, from_end=True), False
    elif before and _is_item(before, line.unit):
        yield "…", False
    for unit in units[first : last + 1]:
        if not looks_like_injection(unit.text):
            yield BULLET.sub("", one_line(unit.text)), unit.id == line.unit.id


def _is_item(unit: SourceUnit, item: SourceUnit) -> bool:
    return unit.type == "list" and unit.section_path == item.section_path


def _items_below(passage: ContextItem) -> list[SourceUnit]:
    """Return the list below a lead-in, else the one paragraph below it."""
    after = _after(passage, MOST_ITEMS)
    items = []
    for unit in after:
        if unit.type != "list":
            break
        items.append(unit)
    return items or after[:1]


def _after(passage: ContextItem, most: int) -> list[SourceUnit]:
    units = _in_order(passage)
    at = next(place for place, unit in enumerate(units) if unit.id == passage.unit.id)
    below = [unit for unit in units[at + 1 : at + 1 + most] if not looks_like_injection(unit.text)]
    return [unit for unit in below if unit.type in ("prose", "list")]


def _in_order(passage: ContextItem) -> list[SourceUnit]:
    return sorted((passage.unit, *passage.around), key=lambda unit: unit.char_start)


def shortened(text: str, from_end: bool = False) -> str:
    """Return at most ``LONGEST_PASSAGE`` characters of a text in one line, cut at a word."""
    plain = one_line(text)
    if len(plain) <= LONGEST_PASSAGE:
        return plain
    if from_end:
        return "… " + plain[-LONGEST_PASSAGE:].partition(" ")[2]
    return plain[:LONGEST_PASSAGE].rpartition(" ")[0] + " …"


# --- As Markdown ---


def written(passage: Passage) -> Iterator[Delta]:
    """Yield a passage under its document, page and section; its lit line is cited."""
    yield TextDelta(f"#### {heading_of(passage.line)}\n\n")
    for at, (text, lit) in enumerate(passage.parts):
        is_item = passage.is_list and not UNBULLETED.search(text)
        if passage.is_list and not is_item and at:
            yield TextDelta(">\n")
        yield TextDelta("> - " if is_item else "> " if passage.is_list or at == 0 else " ")
        yield TextDelta(f"**{escaped(text)}**" if lit else escaped(text))
        if lit:
            quote = passage.line.quote or one_line(passage.line.unit.text)
            yield NativeCitation(passage.line.passage.alias, quote, is_passage=True)
        if passage.is_list:
            yield TextDelta("\n")
    yield TextDelta("\n\n")


def _title_of_page(passage: ContextItem) -> str:
    """Return what stands at the top of a table's page, where its section begins on an earlier one.

    The statements behind a press release's "Forward-looking statements" belong to no such section.
    """
    texts = {one_line(unit.text) for unit in passage.around}
    top = re.split(r"[\n\t]", passage.heading)[0]
    begins_before = not texts.intersection(passage.unit.section_path[-1:])
    own = " ".join(passage.unit.table.head_rows) if passage.unit.table else ""
    is_title = 0 < len(top) <= LONGEST_HEADING and top not in own and not LINKED.search(top)
    return top if begins_before and is_title else ""


def heading_of(line: AnswerLine) -> str:
    """Return document, printed page and section of a line: ``Annual report · page 12 · Results``."""
    unit = line.unit
    path = unit.section_path[-2:]
    if unit.table and (top := _title_of_page(line.passage)):
        path = (top,)
    section = trail(path, unit.title) or trail(path)
    section = section if len(section) <= LONGEST_HEADING else trail(path[-1:])
    language = unit.language or "en"
    word = place_words(language, "page")[0]
    word = word.capitalize() if language in ALL_NOUNS_CAPITALISED else word
    page = f"{word} {line.passage.page_label or unit.page}"
    parts = ["" if looks_like_injection(part) else escaped(part) for part in (unit.title, page, section)]
    return " · ".join(dict.fromkeys(filter(None, parts)))
