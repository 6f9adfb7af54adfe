"""The embedding model that is chosen by name.

Names are ``wordllama``, ``e5``, ``openai``, ``gemini``, ``compatible`` and ``fastembed``; a model may follow
a colon: ``openai:text-embedding-3-large``.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import NamedTuple

from django.conf import settings

from retrieval.embeddings.base import Embedder, HashingEmbedder
from retrieval.provider_calls import ProviderError

DEFAULT_MODELS = {
    "wordllama": "l2_supercat_256",
    "e5": "multilingual-e5-small",
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
    def has_models(self) -> bool:
        """Return whether it is a way to many models, of which one is named."""
        return self.provider not in ("wordllama", "e5")

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
        "e5",
        "multilingual-e5-small",
        "",
        "Understands other words and about 100 languages · 72 MB · about 90 s per 100 pages",
    ),
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
    if provider == "e5":
        from retrieval.embeddings.e5 import E5Embedder

        return E5Embedder()
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
