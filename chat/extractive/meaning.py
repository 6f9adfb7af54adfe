"""How near sentences are to a question in meaning, by embeddings that need no key and no network."""

from __future__ import annotations

from collections.abc import Sequence

from retrieval.providers.wordllama import WordLlamaEmbedder


def nearness_of_meaning(question: str, texts: Sequence[str]) -> list[float]:
    """Cosine of each text with the question, negative ones as 0."""
    vectors = WordLlamaEmbedder().embed([question, *texts])
    return [max(0.0, float(cosine)) for cosine in vectors[1:] @ vectors[0]]
