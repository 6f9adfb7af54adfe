"""An inverted index of one document, packed; and BM25F over many of them.

A posting says how much a chunk speaks of a term: the saturated, length-
normalised term frequency of BM25F (Robertson, Zaragoza, Taylor 2004), computed
once at indexing and kept in one byte. What is left for the query is
Σ idf(term) · impact, over three bytes a posting. ``AVERAGE_LENGTH`` is a
constant instead of the library's average, so that adding a document changes no
other document's postings; chunks have a target size, so it hardly moves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from retrieval.analysis import term_number, terms_of

K1 = 1.2
B = 0.5
AVERAGE_LENGTH = 250.0
IMPACT_STEPS = 255
POSTING = np.dtype([("chunk", "<u2"), ("impact", "u1")])
MAX_CHUNKS = 65_535


class Field(NamedTuple):
    """A text of a chunk, and how many times its words count."""

    text: str
    weight: float


def term_weights(fields: Iterable[Field]) -> Counter[str]:
    """Weighted term frequencies over all fields."""
    weights: Counter[str] = Counter()
    for text, weight in fields:
        for term, count in Counter(terms_of(text)).items():
            weights[term] += count * weight
    return weights


def impacts(weights: Counter[str], length: float) -> dict[str, float]:
    """tf · (k1 + 1) / (tf + k1 · (1 − b + b · length / average)) of each term; at most k1 + 1."""
    norm = K1 * (1 - B + B * length / AVERAGE_LENGTH)
    return {term: weight * (K1 + 1) / (weight + norm) for term, weight in weights.items()}


def postings_of(chunks: Sequence[Sequence[Field]]) -> dict[int, bytes]:
    """Packed postings of each term number over a document's chunks, in chunk order."""
    lists: dict[int, list[tuple[int, int]]] = {}
    for ordinal, fields in enumerate(chunks[:MAX_CHUNKS]):
        weights = term_weights(fields)
        for term, impact in impacts(weights, weights.total()).items():
            step = max(1, round(impact / (K1 + 1) * IMPACT_STEPS))
            lists.setdefault(term_number(term), []).append((ordinal, step))
    return {term: np.array(entries, POSTING).tobytes() for term, entries in lists.items()}


def idf(chunk_frequency: int, chunk_count: int) -> float:
    """Inverse document frequency as BM25 has it, never negative."""
    return float(np.log1p((chunk_count - chunk_frequency + 0.5) / (chunk_frequency + 0.5)))


def unpacked(packed: bytes) -> tuple[NDArray[np.uint16], NDArray[np.float32]]:
    """Chunk ordinals, and impacts as BM25 has them (0..k1 + 1)."""
    entries = np.frombuffer(packed, POSTING)
    return entries["chunk"], entries["impact"].astype(np.float32) * np.float32((K1 + 1) / IMPACT_STEPS)
