"""Models that read question and passage together: Cohere's API, or a cross-encoder on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import httpx
from django.conf import settings

from retrieval.analysis import terms_of
from retrieval.providers.errors import PERMANENT_STATUSES, ProviderError, seconds_of
from retrieval.providers.fastembed import CrossEncoderReranker


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
