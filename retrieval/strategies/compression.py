"""Contextual compression: of a chunk, the sentences that matter for the question."""

from __future__ import annotations

import re
from collections.abc import Mapping

from retrieval.analysis import terms_of

SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9\"“(])|\n+")
KEEP_SHARE = 0.4
"""A sentence stays when it says at least this share of what the best one says."""


def compress(text: str, weights: Mapping[str, float], limit: int = 1200) -> str:
    """Sentences and rows that matter, in their order, at most ``limit`` characters; gaps become ' … '."""
    sentences = [part for part in SENTENCE_END.split(text) if part.strip()]
    worth = [sum(weights.get(term, 0.0) for term in set(terms_of(part))) for part in sentences]
    least = KEEP_SHARE * max(worth, default=0.0)
    kept, size, last = "", 0, -1
    for at, (part, value) in enumerate(zip(sentences, worth, strict=True)):
        if value < least or value == 0 or size + len(part) > limit:
            continue
        joint = "" if last < 0 else "\n" if at == last + 1 else " … "
        kept, size, last = kept + joint + part.strip(), size + len(part), at
    return kept or text[:limit]
