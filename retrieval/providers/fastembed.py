"""ONNX embeddings on this machine by fastembed, which is optional and downloads its model once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from retrieval.providers.embeddings import Vectors, unit_vectors
from retrieval.providers.errors import ProviderError


class FastEmbedEmbedder:
    batch_size = 64
    local = True
    trust = 1.0

    def __init__(self, model: str = "BAAI/bge-small-en-v1.5", dimensions: int = 0) -> None:
        self.model = model
        self.dimensions = dimensions

    @cached_property
    def _engine(self) -> Any:
        try:
            from fastembed import TextEmbedding
        except ImportError:
            raise ProviderError("Install fastembed first: pip install fastembed.", permanent=True) from None
        try:
            return TextEmbedding(self.model)
        except Exception as error:  # its downloader raises many kinds
            raise ProviderError(f"The embedding model {self.model} could not be loaded.") from error

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        engine = self._engine
        try:
            rows = list(engine.query_embed(list(texts)) if query else engine.embed(list(texts)))
        except Exception as error:  # onnxruntime raises many kinds
            raise ProviderError(f"The embedding model {self.model} failed.") from error
        vectors = unit_vectors(rows, len(texts), self.dimensions)
        self.dimensions = vectors.shape[1]
        return vectors
