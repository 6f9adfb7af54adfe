"""ONNX models on this machine by fastembed, which is optional and downloads each model once."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from importlib import import_module
from typing import Any

from retrieval.embeddings.base import Embedder, Vectors, prefixed, unit_vectors
from retrieval.provider_calls import ProviderError

FIRST_TOKEN = re.compile(r"bge-|arctic-embed|mxbai-embed", re.IGNORECASE)  # by their model cards


class FastEmbedEmbedder(Embedder):
    window = 240  # most take 512 tokens, and embed few of them better
    local = True

    def __init__(self, model: str = "BAAI/bge-small-en-v1.5", dimensions: int = 0) -> None:
        self.model = model
        self.dimensions = dimensions

    @cached_property
    def _engine(self) -> Any:
        known("fastembed", "TextEmbedding", self.model)
        return loaded("fastembed", "TextEmbedding", self.model)

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        embed = self._engine.query_embed if query else self._engine.embed
        rows = ran(self.model, embed, prefixed(self.model, texts, query))
        vectors = unit_vectors(rows, len(texts), self.dimensions)
        self.dimensions = vectors.shape[1]
        return vectors


class CrossEncoderReranker:
    local = True

    def __init__(self, model: str = "Xenova/ms-marco-MiniLM-L-6-v2") -> None:
        self._model = model

    @cached_property
    def _engine(self) -> Any:
        known("fastembed.rerank.cross_encoder", "TextCrossEncoder", self._model)
        return loaded("fastembed.rerank.cross_encoder", "TextCrossEncoder", self._model)

    def relevance(self, query: str, passages: Sequence[str]) -> list[float]:
        logits = ran(self._model, self._engine.rerank, query, list(passages))
        return [1 / (1 + math.exp(-max(-50.0, float(logit)))) for logit in logits]  # exp overflows at 710


class EntailmentModel:
    """An NLI cross-encoder: whether a text entails a claim, by its label ``entailment``."""

    def __init__(self, model: str) -> None:
        self._model = model

    @cached_property
    def _engine(self) -> Any:
        known("fastembed.rerank.cross_encoder", "TextCrossEncoder", self._model)
        return loaded("fastembed.rerank.cross_encoder", "TextCrossEncoder", self._model).model

    @cached_property
    def _entailment(self) -> int:
        labels = json.loads((self._engine._model_dir / "config.json").read_text()).get("id2label", {})
        found = [int(at) for at, label in labels.items() if str(label).lower().startswith("entail")]
        if len(found) != 1:
            raise ProviderError(f"The model {self._model} has no label “entailment”.", permanent=True)
        return found[0]

    def entailed(self, text: str, claims: Sequence[str]) -> list[bool | None]:
        """Return whether the text entails each claim; None where both exceed the model's input."""
        encoded = ran(self._model, self._engine.tokenize, [(text, claim) for claim in claims])
        inputs = self._engine._build_onnx_input(encoded)
        (logits,) = ran(self._model, lambda: self._engine.model.run(None, inputs)[:1])
        best = logits.argmax(axis=1)
        return [
            None if pair.overflowing else int(label) == self._entailment
            for pair, label in zip(encoded, best, strict=True)
        ]


def known(module: str, kind: str, model: str) -> None:
    """Register a model of the Hub that fastembed does not list.

    Its embedding is the mean of the tokens' vectors, in the families of ``FIRST_TOKEN`` the first token's.
    """
    try:
        engine = getattr(import_module(module), kind)
        described = import_module("fastembed.common.model_description")
    except ImportError:
        return  # ``loaded`` says it
    if any(model.lower() == listed["model"].lower() for listed in engine.list_supported_models()):
        return
    source = described.ModelSource(hf=model)
    if kind != "TextEmbedding":
        engine.add_custom_model(model, source)
        return
    pooling = described.PoolingType.CLS if FIRST_TOKEN.search(model) else described.PoolingType.MEAN
    engine.add_custom_model(model, pooling, True, source, dim=0)


def loaded(module: str, kind: str, model: str) -> Any:
    """Return the model, ready to run. Raises ProviderError."""
    try:
        engine = getattr(import_module(module), kind)
    except ImportError:
        raise ProviderError("Install fastembed first: pip install fastembed.", permanent=True) from None
    try:
        return engine(model)
    except Exception as error:  # its downloader raises many kinds
        raise ProviderError(f"The model {model} could not be loaded.") from error


def ran(model: str, call: Callable[..., Iterable[Any]], *arguments: Any) -> list[Any]:
    """Return the whole reply of the model. Raises ProviderError."""
    try:
        return list(call(*arguments))
    except Exception as error:  # onnxruntime raises many kinds
        raise ProviderError(f"The model {model} failed.") from error
