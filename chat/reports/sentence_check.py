"""Check every sentence that a model wrote for a report: what stands, what is marked, what goes.

A sentence is judged as a whole: each of its citations, the words after its last one, and its quotations. One
that differs from its source is written again once by the model, and else taken out.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from uuid import uuid4

from rapidfuzz import fuzz

from chat.answers.answer_builder import AnswerBuilder
from chat.answers.context import names_in
from chat.answers.prompt import looks_like_injection
from chat.models import Citation
from citing.claim_spans import claims_something, plain, sentences
from citing.marker_decoder import format_marker, stored_marks, with_marks, without_markers
from text.sentences import sentence_spans


class Standing(StrEnum):
    """What became of a sentence. ``SILENT``: it claims nothing; ``OWN``: it has no source and no facts."""

    VERIFIED = "verified"
    FOUND = "found"
    OWN = "own"
    SILENT = "silent"
    DIFFERS = "differs"
    UNSOURCED = "unsourced"
    REPEATED = "repeated"

    @property
    def stays(self) -> bool:
        return self not in (self.DIFFERS, self.UNSOURCED, self.REPEATED)


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of a draft: ``text`` with the markers of its ``citations``, at ``start`` of the content."""

    text: str
    citations: tuple[Citation, ...]
    standing: Standing
    start: int = 0
    end: int = 0
    fault: str = ""


@dataclass(frozen=True, slots=True)
class CheckedText:
    """The Markdown of a draft, with the markers of notes, and its sentences in order."""

    content: str
    statements: tuple[Statement, ...]


_MOVED_STOP = re.compile(
    r"([.!?。！？…]+[\"'”’)*_]*)[^\S\n]*((?:\[\[cite:[0-9a-fA-F-]{32,36}:\d{1,7}\]\][^\S\n]*)+)"
)
_FENCE = re.compile(r"^[ \t>]*(?:```|~~~).*$\n?", re.MULTILINE)
_HEADING = re.compile(r"^#{1,6}[ \t]+", re.MULTILINE)
_QUOTED = re.compile(r"[\"“„«]([^\"“”„«»]{2,600})[\"”“»]|(?<!\w)[‘‚']([^‘’']{12,600})[’'](?!\w)")
_NESTED = re.compile(r"“((?:[^“”]{0,300}“[^“”]{0,300}”){1,9}+[^“”]{0,300})”")
_LEFT_OUT = re.compile(r"\[[^\]]*\]|\(?(?:…|\.\.\.)\)?")
_PIECE = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_CODE = re.compile(r"[^\W\d_]+[-‐‑]?\d[\w-]*")  # COVID-19, Q3
_LINK = re.compile(r"https?:|www\.|\]\(|<\w", re.IGNORECASE)

COPIED = 88  # per cent of the letters of both sentences (rapidfuzz)
COPIED_PART = 95  # … of a sentence and the nearest part of a longer one; a shortened one is at 90
LEAST_PART = 40  # characters; shorter ones are like a part of many sentences
DIFFERS = "it differs from the passage that it cites"
MISQUOTES = "its quotation is not in the passage that it cites, letter by letter"


def checked(draft: AnswerBuilder, known: str) -> CheckedText:
    """Return the draft's sentences with their standing.

    ``known``: texts whose values need no source, such as the question and the section's title.
    """
    content, by_id = with_note_markers(draft)
    found = []
    seen = set()
    for start, end in statement_spans(content):
        text = content[start:end]
        cited = tuple(by_id[mark.unit_id] for mark in stored_marks(text) if mark.unit_id in by_id)
        one = replace(stated(text, cited, draft, known, content[:start]), start=start, end=end)
        if one.standing.stays and plain(text) in seen:
            one = replace(one, standing=Standing.REPEATED)
        seen.add(plain(text))
        found.append(one)
    return CheckedText(content, tuple(found))


def with_note_markers(draft: AnswerBuilder) -> tuple[str, dict[str, Citation]]:
    """Return the draft's content with ids of citations in its markers, each before its full stop."""
    markers = [format_marker(one.pk, one.page_number) for one in draft.citations]
    content = with_marks(draft.content, lambda at, mark: markers[at] if at < len(markers) else "")
    content = _HEADING.sub("### ", _FENCE.sub("", content))
    content = _MOVED_STOP.sub(lambda match: f"{match[2].rstrip()}{match[1]} ", content)
    return content, {str(one.pk): one for one in draft.citations}


def statement_spans(content: str) -> list[tuple[int, int]]:
    """Return the spans of sentences; a row of a table is one."""
    found: list[tuple[int, int]] = []
    for span in sentences(content):
        line = content.rfind("\n", 0, span.start) + 1
        is_row = content[line : span.start].lstrip(" >").startswith("|")
        if is_row and found and found[-1][1] >= line:
            found[-1] = found[-1][0], span.end
        elif without_markers(content[span.start : span.end]).strip():
            found.append((span.start, span.end))
    return found


def stated(
    text: str, citations: tuple[Citation, ...], draft: AnswerBuilder, known: str, before: str = ""
) -> Statement:
    """Return one sentence with its standing."""
    words = plain(text)
    if not citations:
        return Statement(text, (), standing_without_source(text, words, known, before))
    if looks_like_injection(words):
        return Statement(text, citations, Standing.DIFFERS, fault=DIFFERS)
    if claims_something(text_after(text)):
        text, citations = recited(words, citations, draft)
    return judged(text, citations, draft, known, is_quote=">" in before.rpartition("\n")[2])


def standing_without_source(text: str, words: str, known: str, before: str) -> Standing:
    """Return whether a sentence without a source claims nothing, is the writer's own, or has to go."""
    facts = set(_NUMBER.findall(words)) - set(_NUMBER.findall(known))
    if facts or quotations(words) or looks_like_injection(words) or _LINK.search(words):
        return Standing.UNSOURCED
    if not claims_something(text, before):
        return Standing.SILENT
    named = [name for name in names_in(words) if name.casefold() not in known.casefold()]
    return Standing.UNSOURCED if named or ">" in before.rpartition("\n")[2] else Standing.OWN


def text_after(text: str) -> str:
    """Return the words after the last marker."""
    marks = list(stored_marks(text))
    return text[marks[-1].end :] if marks else text


def recited(
    words: str, citations: Sequence[Citation], draft: AnswerBuilder
) -> tuple[str, tuple[Citation, ...]]:
    """Cite the passages of a sentence for all of its words, not for its parts."""
    whole = AnswerBuilder(uuid4(), draft.sources, {}, question=draft.question)
    exhaust(whole.write(words))
    for unit in dict.fromkeys(str(one.unit_id) for one in citations):
        exhaust(whole.cite(draft.sources.units[unit]))
    content, by_id = with_note_markers(whole)
    return content.strip(), tuple(by_id.values())


def judged(
    text: str, citations: Sequence[Citation], draft: AnswerBuilder, known: str, is_quote: bool = False
) -> Statement:
    """Return a cited sentence with its standing; wrong citations of a claim with a right one are removed.

    One that no rule could compare stays only if its cited pages print each of its numbers and names.
    """
    claims: dict[int, list[Citation]] = defaultdict(list)
    for citation in citations:
        claims[citation.claim_start].append(citation)
    kept = [one for group in claims.values() for one in best_of(group)]
    if any(is_ordered(text, one, draft) for one in kept):
        return Statement(text, (), Standing.UNSOURCED)
    ids = {str(one.pk) for one in kept}
    text = with_marks(
        text, lambda at, mark: format_marker(mark.unit_id, mark.page) if mark.unit_id in ids else ""
    )
    if any(one.outcome == "differs" or one.judgement == "unsupported" for one in kept):
        return Statement(text, tuple(kept), Standing.DIFFERS, fault=DIFFERS)
    words = plain(text)
    if not all(is_quoted(each, kept, draft) for each in [*quotations(words), *([words] if is_quote else [])]):
        return Statement(text, tuple(kept), Standing.DIFFERS, fault=MISQUOTES)
    if all(one.outcome == "verified" for one in kept):
        return Statement(text, tuple(kept), Standing.VERIFIED)
    if not has_facts(words, f"{known}\n{pages_of(kept, draft)}"):
        return Statement(text, tuple(kept), Standing.DIFFERS, fault=DIFFERS)
    if is_altered_copy(words, kept, draft):
        return Statement(text, tuple(kept), Standing.DIFFERS, fault=DIFFERS)
    return Statement(text, tuple(kept), Standing.FOUND)


def is_altered_copy(words: str, citations: Iterable[Citation], draft: AnswerBuilder) -> bool:
    """Return whether a sentence is one of a cited passage, or a part, but for a word or two: "not" added."""
    said = words.casefold()
    for unit in (draft.sources.units[str(citation.unit_id)] for citation in citations):
        if letters(words) in letters(unit.text):
            continue
        for span in sentence_spans(unit.text, unit.language or "en"):
            printed = unit.text[span.start : span.end].casefold()
            is_part = LEAST_PART <= len(said) < len(printed)
            if fuzz.ratio(said, printed) >= COPIED or (
                is_part and fuzz.partial_ratio(said, printed) >= COPIED_PART
            ):
                return True
    return False


def is_ordered(text: str, citation: Citation, draft: AnswerBuilder) -> bool:
    """Return whether a sentence rests on words that instruct a model, or has a link from beside them."""
    unit = draft.sources.units[str(citation.unit_id)]
    if not looks_like_injection(unit.text):
        return False
    start, end = citation.char_start - unit.char_start, citation.char_end - unit.char_start
    around = [
        unit.text[span.start : span.end]
        for span in sentence_spans(unit.text, unit.language or "en")
        if span.start < end and start < span.end
    ]
    return bool(_LINK.search(plain(text))) or any(map(looks_like_injection, around))


def best_of(group: Sequence[Citation]) -> list[Citation]:
    """Return the citations of one claim without those that differ, where another verifies it."""
    if any(one.outcome == "verified" for one in group):
        return [one for one in group if one.outcome != "differs"]
    return list(group)


def quotations(words: str) -> list[str]:
    """Return what stands in quotation marks, and the whole of one that has others within."""
    return [first or second for first, second in _QUOTED.findall(words)] + _NESTED.findall(words)


def is_quoted(quotation: str, citations: Sequence[Citation], draft: AnswerBuilder) -> bool:
    """Return whether the words stand, letter by letter, on a page that one of the citations is of."""
    pieces = [letters(piece) for piece in _LEFT_OUT.split(quotation)]
    pages = (letters(pages_of([citation], draft)) for citation in citations)
    return any(all(piece in page for piece in pieces) for page in pages)


def pages_of(citations: Iterable[Citation], draft: AnswerBuilder) -> str:
    """Return the text of the cited pages, with the titles and authors of their documents."""
    units = [draft.sources.units[str(citation.unit_id)] for citation in citations]
    heads = [f"{unit.title}\n{unit.byline}" for unit in units]
    return "\n".join(
        heads + [one.text for unit in units for one in draft.sources.pages[unit.document, unit.page]]
    )


def has_facts(words: str, text: str) -> bool:
    """Return whether a text has each number and name of a sentence."""
    if set(_NUMBER.findall(words)) - set(_NUMBER.findall(text)):
        return False
    printed = letters(text)
    return all(letters(name) in printed for name in [*names_in(words), *_CODE.findall(words)])


def letters(text: str) -> str:
    """Return words and numbers without blanks and signs: hyphens and quotation marks are set in many ways."""
    return "".join(_PIECE.findall(text.casefold()))


def exhaust(events: Iterable[object]) -> None:
    for _ in events:
        pass


# --- The text that stays ---

_EMPTY_LINE = re.compile(r"^[ \t>|]*(?:[-*+]|\d{1,3}[.)]|#{1,6})?[ \t|]*$\n?", re.MULTILINE)
_LEAD_IN_ALONE = re.compile(
    r"^(?![ \t]*(?:[-*+|]|\d+[.)]))[^\n]*:[ \t]*\n+(?![ \t]*(?:[-*+|>]|\d+[.)]))", re.MULTILINE
)
_HEADING_ALONE = re.compile(r"^###[^\n]*\n+(?=###|\Z)", re.MULTILINE)


def assembled(text: CheckedText, marks: Callable[[Standing], str]) -> tuple[str, list[Citation]]:
    """Return the sentences that stay as Markdown, and their citations in the order of their markers.

    ``marks``: what is written after a sentence of this standing, ‘’ for none.
    """
    pieces: list[str] = []
    citations: list[Citation] = []
    at = 0
    for one in text.statements:
        pieces.append(text.content[at : one.start])
        if one.standing.stays:
            pieces.append(marked(one.text, marks(one.standing)))
            citations += one.citations
        at = one.end
    content = "".join([*pieces, text.content[at:]])
    return tidied(content), citations


def marked(text: str, mark: str) -> str:
    if not mark:
        return text
    row = text.rstrip().endswith("|")
    return f"{text.rstrip().rstrip('|').rstrip()} *({mark})*{' |' if row else ''}"


def tidied(content: str) -> str:
    """Remove the lines, lead-ins and headings that were left without text."""
    lines = [line.rstrip() for line in content.split("\n")]
    kept = [line for line in lines if not line or not _EMPTY_LINE.fullmatch(line)]
    content = re.sub(r"(?<=\S) {2,}", " ", re.sub(r"\n{3,}", "\n\n", "\n".join(kept))).strip()
    return _HEADING_ALONE.sub("", _LEAD_IN_ALONE.sub("", f"{content}\n\n")).strip()
