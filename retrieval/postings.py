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
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from documents.pdf.collecting import forgotten_with_each
from retrieval.analysis import term_number, terms_of

K1 = 1.2
B = 0.5
AVERAGE_LENGTH = 250.0  # terms
MAX_IMPACT = K1 + 1
IMPACT_STEPS = 255
IMPACT_STEP = np.float32(MAX_IMPACT / IMPACT_STEPS)
POSTING = np.dtype([("passage", "<u2"), ("impact", "u1")])
NAMES = 65_535
COVER = 65_534
"""Ordinals of the postings that speak of the document itself: of its names, and of its first page."""
MOST_PASSAGES = COVER


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
        counts = counted(text)
        length += counts.total() if measured else 0
        for term, count in counts.items():
            weights[term] += weight * count
    norm = K1 * (1 - B + B * length / AVERAGE_LENGTH)
    return {term: weight * MAX_IMPACT / (weight + norm) for term, weight in weights.items()}


@lru_cache(maxsize=512)
def counted(text: str) -> Counter[str]:
    """The text's terms. Passages share their names and headings: each is analysed once."""
    return Counter(terms_of(text))


forgotten_with_each(counted.cache_clear)


def pack_postings(
    passages: Sequence[Sequence[Field]], names: Sequence[Field] = (), cover: Sequence[Field] = ()
) -> dict[int, bytes]:
    """Packed postings by term number, in its order: the document's passages, then the document itself."""
    parts = [*enumerate(passages[:MOST_PASSAGES]), (COVER, cover), (NAMES, names)]
    found = [impacts(fields) for _, fields in parts]
    numbers = np.array([term_number(term) for terms in found for term in terms], np.int32)
    values = np.array([impact for terms in found for impact in terms.values()], np.float32)
    entries = np.empty(len(numbers), POSTING)
    entries["passage"] = np.repeat([ordinal for ordinal, _ in parts], [len(terms) for terms in found])
    entries["impact"] = np.maximum(1, np.rint(values / MAX_IMPACT * IMPACT_STEPS))
    order = np.argsort(numbers, kind="stable")
    packed, numbers = entries[order].tobytes(), numbers[order]
    starts = [0, *(np.flatnonzero(np.diff(numbers)) + 1).tolist(), len(numbers)]
    return {
        int(numbers[start]): packed[start * POSTING.itemsize : end * POSTING.itemsize]
        for start, end in pairwise(starts)
        if start < end
    }


def unpack_postings(packed: bytes) -> tuple[NDArray[np.uint16], NDArray[np.float32]]:
    """Passage ordinals, and impacts in 0..k1 + 1."""
    entries = np.frombuffer(packed, POSTING)
    return entries["passage"], entries["impact"] * IMPACT_STEP


def idf(frequency: int, count: int) -> float:
    """Inverse document frequency of a term in ``frequency`` of ``count`` passages; never negative."""
    return float(np.log1p((count - frequency + 0.5) / (frequency + 0.5)))
