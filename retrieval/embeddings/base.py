"""The protocol of embedding models, and one for tests."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from retrieval.index.postgres import term_number
from retrieval.provider_calls import ProviderError
from text.terms import terms_of

Vectors = NDArray[np.float32]


class Embedder(ABC):
    """One embedding model; the attributes are those of most models by way of a service.

    Attributes:
        model: its name, as its provider calls it.
        dimensions: length of its vectors; 0 while that is unknown.
        batch_size: texts it takes in one call.
        window: tokens of a chunk that it embeds at a time, as models with short inputs do; 0 for all.
        local: it runs in this process and cannot hang.
        trust: what its list weighs in fusion beside keyword search, whose list weighs 1.
        understanding: 1 for a model that reads sentences, 0 for one that averages words; what its similarity
            weighs where the words of a question fail.
        languages: codes of those it was made for; empty where it is for any, or nothing is known.
    """

    model: str
    dimensions: int = 0
    batch_size: int = 64
    window: int = 0
    local: bool = False
    trust: float = 1.0
    understanding: float = 1.0
    languages: frozenset[str] = frozenset()

    @abstractmethod
    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """Return unit vectors, (len(texts), dimensions). Raises ProviderError.

        ``query``: the texts are questions, which some models embed differently.
        """


def unit_vectors(rows: Sequence[Sequence[float]] | Vectors, expected: int, dimensions: int) -> Vectors:
    """Return the rows scaled to length 1. Raises ProviderError if their number or length is wrong.

    ``expected`` is the number of rows; ``dimensions`` their length, 0 for any.
    """
    try:
        vectors = np.asarray(rows, np.float32)
    except (TypeError, ValueError):
        raise ProviderError("The embedding service returned vectors of differing lengths.") from None
    if vectors.ndim != 2 or len(vectors) != expected or not np.isfinite(vectors).all():
        raise ProviderError("The embedding service did not return one vector for each text.")
    if dimensions and vectors.shape[1] != dimensions:
        raise ProviderError(
            f"The embedding service returned vectors of length {vectors.shape[1]}, not {dimensions}.",
            permanent=True,
        )
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.maximum(lengths, np.float32(1e-12))


# What families of models were trained with before a question and before a passage, from their model cards,
# 2026-11. Without "query: " and "passage: ", multilingual-e5-small alone has an MRR of .488, with them .609.
_FIND = "Represent this sentence for searching relevant passages: "
_INSTRUCT = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: "
PREFIXES: tuple[tuple[str, str, str], ...] = (
    (r"e5-.*instruct|qwen3-embedding", _INSTRUCT, ""),
    (r"(?:^|/|-)e5-", "query: ", "passage: "),
    (r"nomic-embed-text", "search_query: ", "search_document: "),
    (r"embedding-?gemma", "task: search result | query: ", "title: none | text: "),
    (r"arctic-embed.*(?:v2|:2|2\.0)|arctic-embed2", "query: ", ""),
    (r"arctic-embed|mxbai-embed|bge-(?:small|base|large)-en", _FIND, ""),
    (r"bge-(?:small|base|large)-zh", "为这个句子生成表示以用于检索相关文章：", ""),
)


def prefixed(model: str, texts: Sequence[str], query: bool) -> list[str]:
    """Return the texts as the model's family takes questions or passages."""
    found = next((row for row in PREFIXES if re.search(row[0], model.lower())), ("", "", ""))
    prefix = found[1] if query else found[2]
    return [prefix + text for text in texts]


@dataclass
class HashingEmbedder(Embedder):
    """An Embedder without a model: each term pushes the vector in a direction of its own.

    ``failures`` are raised first, one a call; ``calls`` counts the calls.
    """

    model: str = "hashing"
    dimensions: int = 64
    window: int = 0
    failures: list[ProviderError] = field(default_factory=list)
    calls: int = 0
    trust, understanding = 0.5, 0.0

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        self.calls += 1
        if self.failures:
            raise self.failures.pop(0)
        rows = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for term in terms_of(text):
                generator = np.random.default_rng(term_number(term) & 0xFFFFFFFF)
                row += generator.standard_normal(self.dimensions).astype(np.float32)
        return unit_vectors(rows, len(texts), self.dimensions)
