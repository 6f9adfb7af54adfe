"""An inverted index of one document, packed; the arithmetic of BM25F.

A posting says how much a passage speaks of a term: the saturated, length-
normalised term frequency of BM25F (Robertson, Zaragoza, Taylor 2004), computed
once at indexing and kept in one byte. What is left for the query is
Σ idf(term) · impact, over three bytes a posting. ``AVERAGE_LENGTH`` is a
constant instead of the library's average, so that adding a document changes no
other document's postings; passages have a target size, so it hardly moves.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from retrieval.analysis import term_number, terms_of

K1 = 1.2
B = 0.5
AVERAGE_LENGTH = 250.0  # terms
MAX_IMPACT = K1 + 1
IMPACT_STEPS = 255
POSTING = np.dtype([("passage", "<u2"), ("impact", "u1")])
WHOLE_DOCUMENT = 65_535
"""The ordinal of the posting that speaks of the document itself: its names, its first page."""


class Field(NamedTuple):
    """A text that stands for a passage, and how many times its words count.

    ``measured``: whether its words make the passage longer; a heading or title
    that every passage of a section shares does not.
    """

    text: str
    weight: float = 1.0
    measured: bool = True


def impacts(fields: Iterable[Field]) -> dict[str, float]:
    """tf · (k1 + 1) / (tf + k1 · (1 − b + b · length / average)) of each term; below k1 + 1."""
    weights: defaultdict[str, float] = defaultdict(float)
    length = 0
    for text, weight, measured in fields:
        terms = terms_of(text)
        length += len(terms) if measured else 0
        for term, count in Counter(terms).items():
            weights[term] += weight * count
    norm = K1 * (1 - B + B * length / AVERAGE_LENGTH)
    return {term: weight * MAX_IMPACT / (weight + norm) for term, weight in weights.items()}


def pack_postings(passages: Sequence[Sequence[Field]], document: Sequence[Field]) -> dict[int, bytes]:
    """Packed postings of each term number: the document's passages in order, then the document itself."""
    lists: dict[int, list[tuple[int, int]]] = {}
    for ordinal, fields in [*enumerate(passages[:WHOLE_DOCUMENT]), (WHOLE_DOCUMENT, document)]:
        for term, impact in impacts(fields).items():
            step = max(1, round(impact / MAX_IMPACT * IMPACT_STEPS))
            lists.setdefault(term_number(term), []).append((ordinal, step))
    return {term: np.array(entries, POSTING).tobytes() for term, entries in lists.items()}


def unpack_postings(packed: bytes) -> tuple[NDArray[np.uint16], NDArray[np.float32]]:
    """Passage ordinals, and impacts in 0..k1 + 1."""
    entries = np.frombuffer(packed, POSTING)
    return entries["passage"], entries["impact"] * np.float32(MAX_IMPACT / IMPACT_STEPS)


def idf(frequency: int, count: int) -> float:
    """Inverse document frequency of a term in ``frequency`` of ``count`` passages; never negative."""
    return float(np.log1p((count - frequency + 0.5) / (frequency + 0.5)))
