"""Sentences of a text, by its language's abbreviations and marks (sentencex, from Wikimedia)."""

from __future__ import annotations

import re
from typing import NamedTuple

from sentencex import get_sentence_boundaries

from text.languages import base_language
from text.numbers import number_words
from text.quantities import currency_names

LABEL = re.compile(r"\w+\.? \d+(\.\d+)*\.")  # "Table 1.", "Abb. 3.2.": it names what follows
# Abbreviations that sentencex does not know: before a name, and before a number.
ADDRESS = re.compile(r"(?<!\w)(?:Ms|Mx|Mses|Hrn|Dr|Mme|Mmes|Mlle|Sras)\.$")
REFERENCE = re.compile(r"(?<!\w)(?:Figs|Eqs?|Abs|Bd|Abb|Tab|[Mm]ax|[Aa]pprox)\.$")
# A German ordinal behind an article: "im 2. Stock"; English has "I am 10." at the end of a sentence.
ORDINAL = re.compile(r"(?<!\w)(?:[Ii]m|[Aa]m|[Zz]u[mr]|vom|beim|[Dd](?:er|em|en|es|as|ie)) \d{1,2}\.$")
BEFORE_DIGIT = re.compile(r"(?<=[。！？])(?=\d)")  # sentencex takes "。1993年" for the middle of a number
INITIAL = re.compile(r"[A-Z]\.")
ENDS_WITH_SCALE = re.compile(r"\d\s([^\W\d_]+\.)$")


class Span(NamedTuple):
    """A slice ``text[start:end]``, in characters."""

    start: int
    end: int


def sentence_spans(text: str, language: str = "en") -> list[Span]:
    """Spans of the sentences in order, without the white space around them."""
    spans: list[Span] = []
    end = 0
    for found in get_sentence_boundaries(base_language(language) or "en", text):
        for sentence in BEFORE_DIGIT.split(str(found["text"])):
            start = text.index(sentence, end)
            end = start + len(sentence)
            if sentence.strip():
                lead = len(sentence) - len(sentence.lstrip())
                spans.append(Span(start + lead, start + len(sentence.rstrip())))
    joined = _with_abbreviations(text, _with_initials(text, spans), language)
    return _with_label(text, _with_scales(text, joined, language))


def _with_initials(text: str, spans: list[Span]) -> list[Span]:
    """Join spans that divide an abbreviation of initials: "non-U.S. subsidiaries"."""
    joined: list[Span] = []
    for span in spans:
        glued = bool(joined) and joined[-1].end == span.start
        if glued and INITIAL.fullmatch(text, span.start - 2, span.start) and INITIAL.match(text, span.start):
            joined[-1] = Span(joined[-1].start, span.end)
        else:
            joined.append(span)
    return joined


def _with_abbreviations(text: str, spans: list[Span], language: str) -> list[Span]:
    """Join spans that end after an abbreviation or an ordinal: "if Ms. Dillon", "Abs. 2", "im 2. Stock"."""
    joined: list[Span] = []
    before_words = [ADDRESS, ORDINAL] if base_language(language) == "de" else [ADDRESS]
    for span in spans:
        rules = [REFERENCE] if text[span.start].isdigit() else before_words
        if joined and any(rule.search(text, joined[-1].start, joined[-1].end) for rule in rules):
            joined[-1] = Span(joined[-1].start, span.end)
        else:
            joined.append(span)
    return joined


def _with_scales(text: str, spans: list[Span], language: str) -> list[Span]:
    """Join spans that end between an abbreviated scale and its currency: "12.5 Tsd. Euro"."""
    scales = number_words(base_language(language)).scales if language else {}
    currencies = currency_names(base_language(language)) if scales else {}
    joined: list[Span] = []
    for span in spans:
        before = ENDS_WITH_SCALE.search(text, joined[-1].start, joined[-1].end) if joined else None
        following = re.split(r"[\s.,;]", text[span.start : span.end], maxsplit=1)[0].lower()
        if before and before[1].lower() in scales and following in currencies:
            joined[-1] = Span(joined[-1].start, span.end)
        else:
            joined.append(span)
    return joined


def _with_label(text: str, spans: list[Span]) -> list[Span]:
    """Join a label at the start of the text to the sentence after it."""
    if len(spans) > 1 and LABEL.fullmatch(text, *spans[0]):
        return [Span(spans[0].start, spans[1].end), *spans[2:]]
    return spans


def sentences(text: str, language: str = "en") -> list[str]:
    """Return the sentences of a text in order, without the white space around them."""
    return [text[span.start : span.end] for span in sentence_spans(text, language)]
