"""The embedding model that is chosen by name.

Names are ``wordllama``, ``e5``, ``openai``, ``gemini``, ``compatible`` and ``fastembed``; a model may follow
a colon: ``openai:text-embedding-3-large``.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import NamedTuple

from django.conf import settings
from django.utils.module_loading import import_string

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


class ServiceConnection(NamedTuple):
    """How an embedding service is reached.

    ``base_url``: '' is the SDK's own. ``of_search``: it was connected on the Providers page for search alone.
    """

    api_key: str
    base_url: str
    of_search: bool = False


class EmbeddingChoice(NamedTuple):
    """An embedding provider on the settings page.

    ``setting``: the environment variable that connects its service; '' if it runs in this process.
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
    def takes_key(self) -> bool:
        return self.provider in ("openai", "gemini")

    @property
    def connection(self) -> ServiceConnection | None:
        return connection_to(self.provider) if self.setting else None

    @property
    def is_configured(self) -> bool:
        if self.provider == "fastembed":
            return find_spec("fastembed") is not None
        return not self.setting or self.connection is not None


CHOICES = (
    EmbeddingChoice("wordllama", "WordLlama", "", "For English, on this server, without a download."),
    EmbeddingChoice(
        "e5",
        "multilingual-e5-small",
        "",
        "Understands synonyms and about 100 languages · 72 MB · about 90 s per 100 pages",
    ),
    EmbeddingChoice("fastembed", "fastembed", "", "Models on this server; many support several languages."),
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


def connection_to(provider: str) -> ServiceConnection | None:
    """Return how the environment, else the Providers page, connects a service; None if neither does."""
    if provider == "compatible" and settings.EMBEDDING_BASE_URL:
        return ServiceConnection(settings.EMBEDDING_API_KEY, settings.EMBEDDING_BASE_URL)
    found: ServiceConnection | None = import_string(settings.EMBEDDING_CONNECTION)(provider)
    return found


def embedder(provider: str, model: str, dimensions: int = 0) -> Embedder:
    """Return the model, kept for the life of the process. Raises ProviderError where it is not connected."""
    if provider not in ("openai", "gemini", "compatible"):
        return _local(provider, model, dimensions)
    if (found := connection_to(provider)) is None:
        setting = next(choice.setting for choice in CHOICES if choice.provider == provider)
        message = (
            f"The embedding service is not connected. Do so under Models and providers, or set {setting}."
        )
        raise ProviderError(message, permanent=True)
    return _service(model, found.api_key, found.base_url, dimensions, settings.PROVIDER_SECONDS)


@cache
def _local(provider: str, model: str, dimensions: int) -> Embedder:
    if provider == "wordllama":
        from retrieval.embeddings.wordllama import WordLlamaEmbedder

        return WordLlamaEmbedder()
    if provider == "e5":
        from retrieval.embeddings.e5 import E5Embedder

        return E5Embedder()
    if provider == "fastembed":
        from retrieval.embeddings.fastembed import FastEmbedEmbedder

        return FastEmbedEmbedder(model, dimensions)
    return HashingEmbedder()


@cache
def _service(model: str, key: str, url: str, dimensions: int, seconds: float) -> Embedder:
    from retrieval.embeddings.openai import OpenAIEmbedder

    return OpenAIEmbedder(model, api_key=key, base_url=url, dimensions=dimensions, seconds=seconds)
