"""Models that read question and passage together: Cohere's API, and local cross-encoders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import httpx
from django.conf import settings

from retrieval.analysis import terms_of
from retrieval.providers.errors import PERMANENT_STATUSES, ProviderError, seconds_of


class Reranker(Protocol):
    """``local``: it runs in this process and cannot hang."""

    local: bool

    def relevance(self, query: str, passages: Sequence[str]) -> list[float]:
        """0..1 for each passage. Raises ProviderError."""
        ...


class CohereReranker:
    local = False

    def __init__(
        self,
        api_key: str,
        *,
        model: str = "rerank-v3.5",
        base_url: str = "https://api.cohere.com",
        seconds: float = 4,
    ) -> None:
        self._client = httpx.Client(
            base_url=base_url, headers={"Authorization": f"Bearer {api_key}"}, timeout=seconds
        )
        self._model = model

    def relevance(self, query: str, passages: Sequence[str]) -> list[float]:
        body = {"model": self._model, "query": query, "documents": list(passages)}
        try:
            answer = self._client.post("/v2/rerank", json=body)
            answer.raise_for_status()
            scores = {int(row["index"]): float(row["relevance_score"]) for row in answer.json()["results"]}
            return [scores[at] for at in range(len(passages))]
        except httpx.HTTPStatusError as error:
            status = error.response.status_code
            raise ProviderError(
                f"The rerank service refused with status {status}.",
                permanent=status in PERMANENT_STATUSES,
                retry_after=seconds_of(error.response.headers.get("retry-after")),
            ) from error
        except httpx.TimeoutException as error:
            raise ProviderError("The rerank service did not answer in time.") from error
        except httpx.HTTPError as error:
            raise ProviderError("The rerank service cannot be reached.") from error
        except (KeyError, TypeError, ValueError) as error:
            raise ProviderError("The rerank service returned something that makes no sense.") from error


class CrossEncoderReranker:
    """fastembed's cross-encoder, optional; its model is downloaded once."""

    local = True

    def __init__(self, model: str = "Xenova/ms-marco-MiniLM-L-6-v2") -> None:
        self._model = model

    @cached_property
    def _engine(self) -> Any:
        try:
            from fastembed.rerank.cross_encoder import TextCrossEncoder
        except ImportError:
            raise ProviderError("Install fastembed first: pip install fastembed.", permanent=True) from None
        try:
            return TextCrossEncoder(self._model)
        except Exception as error:  # its downloader raises many kinds
            raise ProviderError(f"The rerank model {self._model} could not be loaded.") from error

    def relevance(self, query: str, passages: Sequence[str]) -> list[float]:
        try:
            logits = list(self._engine.rerank(query, list(passages)))
        except ProviderError:
            raise
        except Exception as error:  # onnxruntime raises many kinds
            raise ProviderError(f"The rerank model {self._model} failed.") from error
        return [1 / (1 + 2.718281828459045 ** -float(logit)) for logit in logits]


@dataclass(slots=True)
class OverlapReranker:
    """A Reranker without a model: the share of the query's terms in the passage; for tests."""

    local: bool = True
    failure: ProviderError | None = None

    def relevance(self, query: str, passages: Sequence[str]) -> list[float]:
        if self.failure:
            raise self.failure
        wanted = set(terms_of(query))
        return [len(wanted & set(terms_of(passage))) / max(1, len(wanted)) for passage in passages]


def configured_reranker() -> Reranker | None:
    """The one the settings name; None when there is none."""
    if settings.RERANKER == "cohere" or (settings.RERANKER == "" and settings.COHERE_API_KEY):
        return CohereReranker(settings.COHERE_API_KEY, seconds=settings.SEARCH_PROVIDER_SECONDS)
    return CrossEncoderReranker() if settings.RERANKER == "fastembed" else None
