"""Sentences of an answer, with the markers that belong to them, and those that claim without citing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from chat.values import values_in

Span = tuple[int, int]

_MARKER = r"\[\[cite:[^\]\n]*\]\]|\[\d{1,3}\]"
# An end of a sentence: the stop, closing quotes and brackets, the markers after it, then space.
_END = re.compile(rf"[.!?。！？][\"'”’)»]*(?:\s*(?:{_MARKER}))*(?=\s|$)|[。！？]")
_ABBREVIATION = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|Inc|Corp|Co|Ltd|No|Nos|vs|etc|approx|Fig|Figs|Eq|Sec|Art|pp?|cf|al|e\.g|i\.e|"
    r"Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)|\b[A-Z](?:\.[A-Z])*)\.$"
)
_LINE_HEAD = re.compile(r"\s*(?:[-*+•]|\d{1,2}[.)]|>|\|)\s+")
_SAYS_NOTHING = re.compile(
    r"^(?:the (?:documents?|sources?|passages?|excerpts?|context|text) (?:do|does|did) not|"
    r"(?:i|we) (?:could|can|was|were|am|do|did|have) ?(?:not|n't|unable)|"
    r"(?:here|below|following|in summary|to summari[sz]e|in short|overall|let me|note that this|sources?:)\b|"
    r"no (?:information|mention|answer)|nearest:)",
    re.IGNORECASE,
)
LEAST_WORDS = 5  # a shorter sentence without a value claims nothing that could be cited


def sentence_spans(text: str) -> list[Span]:
    """Ranges of the sentences of an answer in Markdown, markers that follow a stop included.

    A line break ends a sentence; headings and code blocks are none.
    """
    return [span for line in _lines(text) for span in _in_line(text, *line)]


def sentence_at(text: str, position: int) -> str:
    """The sentence a marker at ``position`` belongs to, without markers; '' when it stands alone."""
    for start, end in sentence_spans(text):
        if start <= position <= end:
            return " ".join(re.sub(_MARKER, "", text[start:end]).split())
    return ""


def uncited_claims(text: str) -> list[Span]:
    """Ranges of the sentences that claim something and carry no marker."""
    return [
        (start, end)
        for start, end in sentence_spans(text)
        if not re.search(_MARKER, text[start:end]) and _claims(text[start:end])
    ]


def _claims(sentence: str) -> bool:
    plain = re.sub(r"[*_`]", "", sentence).strip()
    if plain.endswith(("?", ":", "？", "：")) or _SAYS_NOTHING.match(plain):
        return False
    return bool(values_in(plain)) or len(plain.split()) >= LEAST_WORDS


def _lines(text: str) -> Iterator[Span]:
    """Lines that hold sentences, without bullets and quote marks."""
    fenced, at = False, 0
    for line in text.splitlines(keepends=True):
        stripped = line.strip()
        if stripped.startswith(("```", "~~~")):
            fenced = not fenced
        elif not fenced and stripped and not stripped.startswith("#") and not set(stripped) <= set("|-: "):
            head = _LINE_HEAD.match(line)
            yield at + (head.end() if head else 0), at + len(line.rstrip())
        at += len(line)


def _in_line(text: str, start: int, end: int) -> Iterator[Span]:
    for match in _END.finditer(text, start, end):
        if _ABBREVIATION.search(text[start : match.start() + 1]) and match.end() < end:
            continue
        yield start, match.end()
        start = match.end() + len(text[match.end() : end]) - len(text[match.end() : end].lstrip())
    if text[start:end].strip():
        yield start, end
