"""Embeddings without key, network or download: WordLlama's token vectors, averaged.

The weights and the tokenizer ship in the wheel. Pooling is our own: token by
token instead of over padded batches, three times as fast and equal to 1e-6.
So is cutting into words: each is tokenized once, not at every place it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from documents.pdf.collecting import forgotten_with_each
from retrieval.providers.embeddings import Vectors, unit_vectors

if TYPE_CHECKING:
    from tokenizers import Tokenizer


class WordLlamaEmbedder:
    model = "l2_supercat_256"
    dimensions = 256
    batch_size = 256
    local = True
    trust = 0.15  # averaged token vectors: measured, more of it costs right pages

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        words, token_vectors = _weights()
        rows = np.zeros((len(texts), self.dimensions), np.float32)
        for row, tokens in zip(rows, words.tokens_of_each(texts), strict=True):
            token_vectors[tokens].sum(axis=0, out=row)
        return unit_vectors(rows, len(texts), self.dimensions)


WORD = re.compile("▁*[^▁\\n]+|▁+|\\n")
"""With the spaces before it, as ``▁``: no token of the vocabulary goes past one into the next."""
WORDS_REMEMBERED = 100_000


class TokenizedWords:
    """Tokens of texts, word by word; those of words seen before in the document are remembered."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        """``tokenizer`` must leave spaces as they are: what comes to it are words with their ``▁``."""
        self._tokenizer = tokenizer
        self._known: dict[str, list[int]] = {}

    def forget(self) -> None:
        self._known = {}

    def tokens_of_each(self, texts: Sequence[str]) -> Iterator[list[int]]:
        """What the tokenizer gives for each whole text."""
        cut = [WORD.findall("▁" + text.replace(" ", "▁")) if text else [] for text in texts]
        known = self._known if len(self._known) < WORDS_REMEMBERED else {}
        unseen = list(set(chain.from_iterable(cut)) - known.keys())
        encoded = self._tokenizer.encode_batch_fast(unseen, add_special_tokens=False)
        known.update(zip(unseen, (tokens.ids for tokens in encoded), strict=True))
        self._known = known
        return (list(chain.from_iterable(map(known.__getitem__, words))) for words in cut)


@cache
def _weights() -> tuple[TokenizedWords, Vectors]:
    """Loaded once a process, at first use: 0.2 s, 32 MB."""
    import wordllama

    # The wheel keeps its tokenizer in a folder it does not search by itself (0.4.0).
    package = Path(wordllama.__file__).parent
    model = wordllama.WordLlama.load(cache_dir=package, disable_download=True)
    tokenizer = model.tokenizer
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.model._resize_cache(0)  # what was cut is remembered here, not once more there
    tokenizer.normalizer = None  # it would begin every word with ▁
    words = TokenizedWords(tokenizer)
    forgotten_with_each(words.forget)
    return words, model.embedding.astype(np.float32)
