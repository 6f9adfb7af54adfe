"""Embedding models: their protocol, a fake for tests, and the choice of a provider by name.

Names are ``wordllama``, ``openai``, ``gemini``, ``compatible`` and ``fastembed``; a model may follow a colon:
``openai:text-embedding-3-large``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from typing import NamedTuple, Protocol

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

from retrieval.index.postgres import term_number
from retrieval.provider_calls import ProviderError
from text.terms import terms_of

Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """One embedding model.

    Attributes:
        model: its name, as its provider calls it.
        dimensions: length of its vectors; 0 while that is unknown.
        batch_size: texts it takes in one call.
        local: it runs in this process and cannot hang.
        trust: what its list weighs in fusion beside keyword search, whose list weighs 1.
        languages: codes of those it was made for; empty where it is for any, or nothing is known.
    """

    model: str
    dimensions: int
    batch_size: int
    local: bool
    trust: float
    languages: frozenset[str]

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """Return unit vectors, (len(texts), dimensions). Raises ProviderError.

        ``query``: the texts are questions, which some models embed differently.
        """
        ...


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


@dataclass(slots=True)
class HashingEmbedder:
    """An Embedder without a model: each term pushes the vector in a direction of its own.

    ``failures`` are raised first, one a call; ``calls`` counts the calls.
    """

    model: str = "hashing"
    dimensions: int = 64
    batch_size: int = 64
    local: bool = False
    trust: float = 0.5
    languages: frozenset[str] = frozenset()
    failures: list[ProviderError] = field(default_factory=list)
    calls: int = 0

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


# --- Providers by name ---

DEFAULT_MODELS = {
    "wordllama": "l2_supercat_256",
    "fastembed": "BAAI/bge-small-en-v1.5",
    "openai": "text-embedding-3-small",
    "gemini": "gemini-embedding-001",
    "compatible": "nomic-embed-text",
    "hashing": "hashing",
}
PROVIDERS = tuple(DEFAULT_MODELS)


class EmbeddingChoice(NamedTuple):
    """An embedding provider on the settings page. ``setting``: the variable that enables it, '' if none is
    needed.
    """

    provider: str
    label: str
    setting: str
    explanation: str

    @property
    def is_configured(self) -> bool:
        if self.provider == "fastembed":
            return find_spec("fastembed") is not None
        return not self.setting or bool(getattr(settings, SETTINGS[self.setting]))


SETTINGS = {
    "OPENAI_API_KEY": "OPENAI_API_KEY",
    "GEMINI_API_KEY": "GEMINI_API_KEY",
    "PINCITE_EMBEDDING_URL": "EMBEDDING_BASE_URL",
}
CHOICES = (
    EmbeddingChoice("wordllama", "WordLlama", "", "For English, on this server, without a download."),
    EmbeddingChoice(
        "fastembed",
        "fastembed",
        "pip install fastembed",
        "Models on this server; many support several languages.",
    ),
    EmbeddingChoice("openai", "OpenAI", "OPENAI_API_KEY", "Texts are sent to OpenAI."),
    EmbeddingChoice("gemini", "Gemini", "GEMINI_API_KEY", "Texts are sent to Google."),
    EmbeddingChoice("compatible", "Own server", "PINCITE_EMBEDDING_URL", "A server with OpenAI's API."),
)


def split_name(name: str) -> tuple[str, str]:
    """Return ``provider`` and ``model`` of a space's name. Raises ProviderError for an unknown provider."""
    provider, _, model = name.partition(":")
    if provider not in DEFAULT_MODELS:
        raise ProviderError(
            f"There is no embedding provider {provider!r}: choose from {', '.join(PROVIDERS)}.",
            permanent=True,
        )
    return provider, model or DEFAULT_MODELS[provider]


@cache
def embedder(provider: str, model: str, dimensions: int = 0) -> Embedder:
    """Return the model, kept for the life of the process. Raises ProviderError when a key is missing."""
    seconds = settings.PROVIDER_SECONDS
    if provider == "wordllama":
        from retrieval.embeddings.wordllama import WordLlamaEmbedder

        return WordLlamaEmbedder()
    if provider == "fastembed":
        from retrieval.embeddings.fastembed import FastEmbedEmbedder

        return FastEmbedEmbedder(model, dimensions)
    if provider == "hashing":
        return HashingEmbedder()

    from retrieval.embeddings.openai import OpenAIEmbedder

    key, url = _endpoint(provider)
    return OpenAIEmbedder(model, api_key=key, base_url=url, dimensions=dimensions, seconds=seconds)


def _endpoint(provider: str) -> tuple[str, str]:
    """Return key and base URL ('' is OpenAI's own)."""
    if provider == "compatible":
        if not settings.EMBEDDING_BASE_URL:
            raise ProviderError("Set PINCITE_EMBEDDING_URL to the server's address.", permanent=True)
        return settings.EMBEDDING_API_KEY, settings.EMBEDDING_BASE_URL
    key, url = {
        "openai": (settings.OPENAI_API_KEY, settings.OPENAI_BASE_URL),
        "gemini": (settings.GEMINI_API_KEY, settings.GEMINI_BASE_URL),
    }[provider]
    if not key:
        raise ProviderError(f"Set {provider.upper()}_API_KEY to use {provider}'s embeddings.", permanent=True)
    return key, url
