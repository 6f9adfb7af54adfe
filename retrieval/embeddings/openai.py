"""Embeddings from OpenAI and from servers with its API (Gemini, Ollama, vLLM, TEI)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import openai

from retrieval.embeddings.base import Embedder, Vectors, prefixed, unit_vectors
from retrieval.provider_calls import PERMANENT_STATUSES, ProviderError, seconds_of

if TYPE_CHECKING:
    from openai import OpenAI


class OpenAIEmbedder(Embedder):
    """``dimensions`` 0: the length of the first reply's vectors."""

    def __init__(
        self, model: str, *, api_key: str, base_url: str = "", dimensions: int = 0, seconds: float = 30
    ) -> None:
        self.model = model
        self.dimensions = dimensions
        # Retries are ours (retrieval.provider_calls), so that they end with the lease.
        self._client: OpenAI = openai.OpenAI(
            api_key=api_key or "none", base_url=base_url or None, timeout=seconds, max_retries=0
        )

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        try:
            answer = self._client.embeddings.create(
                model=self.model, input=prefixed(self.model, texts, query), encoding_format="float"
            )
            rows = [item.embedding for item in sorted(answer.data, key=lambda item: item.index)]
        except openai.OpenAIError as error:
            raise translated(error) from error
        except (AttributeError, TypeError, ValueError) as error:
            raise ProviderError("The embedding service returned something else than vectors.") from error
        vectors = unit_vectors(rows, len(texts), self.dimensions)
        self.dimensions = vectors.shape[1]
        return vectors


def translated(error: openai.OpenAIError) -> ProviderError:
    """Return the SDK's error as ours; the server's own text is left out, for it may hold the key."""
    if isinstance(error, openai.APITimeoutError):
        return ProviderError("The embedding service did not answer in time.")
    if isinstance(error, openai.APIStatusError):
        return ProviderError(
            f"The embedding service refused with status {error.status_code}.",
            permanent=error.status_code in PERMANENT_STATUSES,
            retry_after=seconds_of(error.response.headers.get("retry-after")),
        )
    if isinstance(error, openai.APIConnectionError):
        return ProviderError("The embedding service cannot be reached.")
    return ProviderError("The embedding service returned something that makes no sense.")
