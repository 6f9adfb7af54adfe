"""Sentences of a text, by its language's abbreviations and marks (sentencex, from Wikimedia)."""

from __future__ import annotations

import re
from typing import NamedTuple

from sentencex import get_sentence_boundaries

from text.languages import base_language

LABEL = re.compile(r"\w+\.? \d+(\.\d+)*\.")  # "Table 1.", "Abb. 3.2.": it names what follows


class Span(NamedTuple):
    """A slice ``text[start:end]``, in characters."""

    start: int
    end: int


def sentence_spans(text: str, language: str = "en") -> list[Span]:
    """Spans of the sentences in order, without the white space around them."""
    spans: list[Span] = []
    end = 0
    for found in get_sentence_boundaries(base_language(language) or "en", text):
        sentence = str(found["text"])
        start = text.index(sentence, end)
        end = start + len(sentence)
        if sentence.strip():
            lead = len(sentence) - len(sentence.lstrip())
            spans.append(Span(start + lead, start + len(sentence.rstrip())))
    return _with_label(text, spans)


def _with_label(text: str, spans: list[Span]) -> list[Span]:
    """``spans``, with a label at the start of the text as part of the sentence that it names."""
    if len(spans) > 1 and LABEL.fullmatch(text, *spans[0]):
        return [Span(spans[0].start, spans[1].end), *spans[2:]]
    return spans


def sentences(text: str, language: str = "en") -> list[str]:
    """The sentences of a text in order, without the white space around them."""
    return [text[span.start : span.end] for span in sentence_spans(text, language)]
