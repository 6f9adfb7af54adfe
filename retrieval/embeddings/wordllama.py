"""Embeddings without key, network or download: WordLlama's token vectors, averaged.

The weights and the tokenizer ship in the wheel. Pooling is our own: token by
token instead of over padded batches, three times as fast and equal to 1e-6.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import chain

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file

from documents.chunking import tokens_of_each, wordllama_file
from retrieval.embeddings.base import Embedder, Vectors, unit_vectors


class WordLlamaEmbedder(Embedder):
    model = "l2_supercat_256"
    dimensions = batch_size = 256
    local = True
    trust = 0.15  # low, for averaged token vectors; a higher value ranked right pages lower
    understanding = 0.0
    languages = frozenset({"en"})

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """Return unit vectors."""
        return unit_vectors(self._sums(texts), len(texts), self.dimensions)

    def lengths(self, words: Sequence[str]) -> list[float]:
        """Return how specific each word is: the rarer a word was in training, the longer is its vector."""
        return [float(length) for length in np.linalg.norm(self._sums(words), axis=1)]

    def _sums(self, texts: Sequence[str]) -> Vectors:
        of_each = list(tokens_of_each(texts))
        ends = np.cumsum([len(tokens) for tokens in of_each])
        tokens = np.fromiter(chain.from_iterable(of_each), np.intp)
        token_vectors, at = _vectors_of(tokens)
        rows = np.zeros((len(texts), self.dimensions), np.float32)
        for row, start, end in zip(rows, ends - list(map(len, of_each)), ends, strict=True):
            token_vectors[at[start:end]].sum(axis=0, out=row)
        return rows


def _vectors_of(tokens: NDArray[np.intp]) -> tuple[Vectors, NDArray[np.intp]]:
    """Return the vectors of the distinct tokens, and the index of each token's vector.

    A text has few of the 32,000 tokens, so their vectors fit the processor's cache, and not all are converted
    to floats.
    """
    every = _token_vectors()
    stands = np.zeros(len(every), np.bool_)
    stands[tokens] = True
    distinct = np.flatnonzero(stands)
    at = np.empty(len(every), np.intp)
    at[distinct] = np.arange(len(distinct))
    return every[distinct].astype(np.float32), at[tokens]


@cache
def _token_vectors() -> NDArray[np.float16]:
    """Return the vectors of the vocabulary, in its order. They are loaded at first use: 16 MB."""
    weights = load_file(wordllama_file(f"weights/{WordLlamaEmbedder.model}.safetensors"))
    return weights["embedding.weight"]
