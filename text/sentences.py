"""Sentences of a text, by its language's abbreviations and marks (sentencex, from Wikimedia)."""

from __future__ import annotations

from typing import NamedTuple

from sentencex import get_sentence_boundaries

from text.languages import base_language


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
    return spans


def sentences(text: str, language: str = "en") -> list[str]:
    """The sentences of a text in order, without the white space around them."""
    return [text[span.start : span.end] for span in sentence_spans(text, language)]
