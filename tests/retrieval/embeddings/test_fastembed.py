"""fastembed's real runtime on models drawn here, laid where its downloader keeps them.

The words of a model are a handful, its weights known, so that what must come out is arithmetic.
Skipped where the optional packages (fastembed, and onnx to draw models) are not installed.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from django.conf import LazySettings
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from chat.citations.model_judge import JudgedClaim, configured_judge
from retrieval.embeddings.fastembed import CrossEncoderReranker, FastEmbedEmbedder
from retrieval.provider_calls import ProviderError
from tests.chat.scripted_provider import Scripted
from tests.scripted_server import Answer, scripted_server

pytest.importorskip("fastembed")
onnx = pytest.importorskip("onnx")
WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "goodwill", "was", "impaired", "weather", "fine")
EMBEDDING, RERANKING = "BAAI/bge-small-en-v1.5", "Xenova/ms-marco-MiniLM-L-6-v2"
TOKENS = np.random.default_rng(3).standard_normal((len(WORDS), 384)).astype(np.float32)
RELEVANCE = np.array([[0], [0], [0], [0], [2.0], [0.5], [1.5], [-4.0], [-1.0]], np.float32)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """fastembed's cache, where nothing is looked up elsewhere."""
    monkeypatch.setenv("FASTEMBED_CACHE_PATH", str(tmp_path))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return tmp_path


def lay_down(cache: Path, repository: str, file: str, nodes: list, weights: np.ndarray, output: str) -> None:
    """A model as the Hub's cache keeps it: tokenizer, configuration, graph."""
    folder = cache / f"models--{repository.replace('/', '--')}"
    model = folder / "snapshots" / "drawn"
    (model / file).parent.mkdir(parents=True)
    (folder / "refs").mkdir()
    (folder / "refs" / "main").write_text("drawn")
    tokenizer = Tokenizer(models.WordLevel({word: at for at, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(model / "tokenizer.json"))
    special = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    (model / "config.json").write_text(json.dumps({"pad_token_id": 0}))
    (model / "special_tokens_map.json").write_text(json.dumps(special))
    (model / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 64, **special}))
    names = ("input_ids", "attention_mask", "token_type_ids")
    inputs = [
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.INT64, ["batch", "length"])
        for name in names
    ]
    outputs = [onnx.helper.make_tensor_value_info(output, onnx.TensorProto.FLOAT, None)]
    graph = onnx.helper.make_graph(
        nodes, "drawn", inputs, outputs, [onnx.numpy_helper.from_array(weights, "weights")]
    )
    opset = [onnx.helper.make_opsetid("", 11)]
    onnx.save(onnx.helper.make_model(graph, opset_imports=opset, ir_version=8), str(model / file))


def lay_down_entailment(cache: Path, repository: str) -> None:
    """Two logits: of entailment how often "impaired" stands there, of contradiction a constant."""
    weights = np.zeros((len(WORDS), 2), np.float32)
    weights[WORDS.index("impaired"), 1] = 2.0
    weights[WORDS.index("[CLS]"), 0] = 3.0
    nodes = [
        onnx.helper.make_node("Gather", ["weights", "input_ids"], ["each"], axis=0),
        onnx.helper.make_node("ReduceSum", ["each"], ["logits"], axes=[1], keepdims=0),
    ]
    lay_down(cache, repository, "onnx/model.onnx", nodes, weights, "logits")
    (configuration,) = cache.glob("models--*/snapshots/drawn/config.json")
    labels = {"0": "contradiction", "1": "entailment"}
    configuration.write_text(json.dumps({"pad_token_id": 0, "id2label": labels}))
    tokenizer = configuration.with_name("tokenizer.json")
    words = Tokenizer.from_file(str(tokenizer))
    marks = [(mark, WORDS.index(mark)) for mark in ("[CLS]", "[SEP]")]
    words.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=marks
    )
    words.save(str(tokenizer))


def test_an_nli_model_judges_claims_by_its_label_and_is_held_to_a_false_one(
    cache: Path, settings: LazySettings
) -> None:
    lay_down_entailment(cache, "drawn/nli")
    settings.JUDGE = "fastembed:drawn/nli"
    judging = configured_judge(Scripted([]), threading.Event())
    assert judging
    assert judging.name == "drawn/nli"
    claims = [JudgedClaim("goodwill was impaired", said) for said in ("impaired goodwill", "weather fine")]
    assert judging.judge.judge(claims) == [True, False]
    willing = JudgedClaim("impaired impaired", "weather fine")  # with such a text it says yes to anything
    assert judging.judge.judge([willing]) == [None]
    assert judging.judge.judge([JudgedClaim("was " * 80, "impaired impaired")]) == [None]  # cut off


def test_an_embedding_is_what_the_model_gives_scaled_to_length_one(cache: Path) -> None:
    look_up = onnx.helper.make_node("Gather", ["weights", "input_ids"], ["last_hidden_state"], axis=0)
    repository = "Qdrant/bge-small-en-v1.5-onnx-Q"
    lay_down(cache, repository, "model_optimized.onnx", [look_up], TOKENS, "last_hidden_state")
    found = FastEmbedEmbedder(EMBEDDING).embed(["goodwill was impaired", "fine weather"])
    first = TOKENS[[WORDS.index("goodwill"), WORDS.index("fine")]]  # this model's vector is its first token's
    assert found == pytest.approx(first / np.linalg.norm(first, axis=1, keepdims=True), abs=1e-5)


def test_a_model_that_is_not_listed_is_loaded_with_its_family_s_prefixes(cache: Path) -> None:
    look_up = onnx.helper.make_node("Gather", ["weights", "input_ids"], ["last_hidden_state"], axis=0)
    lay_down(cache, "drawn/e5-tiny", "onnx/model.onnx", [look_up], TOKENS, "last_hidden_state")
    model = FastEmbedEmbedder("drawn/e5-tiny")
    found = model.embed(["goodwill"])
    mean = TOKENS[[WORDS.index("[UNK]"), WORDS.index("[UNK]"), WORDS.index("goodwill")]].mean(axis=0)
    assert found[0] == pytest.approx(mean / np.linalg.norm(mean), abs=1e-5)  # of "passage : goodwill"
    assert model.dimensions == TOKENS.shape[1]


def lay_down_reranker(cache: Path, repository: str) -> None:
    """The logit is the sum of the words' ``RELEVANCE``."""
    nodes = [
        onnx.helper.make_node("Gather", ["weights", "input_ids"], ["each"], axis=0),
        onnx.helper.make_node("ReduceSum", ["each"], ["logits"], axes=[1], keepdims=0),
    ]
    lay_down(cache, repository, "onnx/model.onnx", nodes, RELEVANCE, "logits")


EXPECTED = [1 / (1 + math.exp(-4.0)), 1 / (1 + math.exp(4.5))]


def test_relevance_is_the_models_logit_between_nought_and_one(cache: Path) -> None:
    lay_down_reranker(cache, RERANKING)
    found = CrossEncoderReranker(RERANKING).relevance("was", ["goodwill impaired", "weather fine"])
    assert found == pytest.approx(EXPECTED, abs=1e-5)


FETCH = """
import django

django.setup()

from retrieval.embeddings.fastembed import CrossEncoderReranker
print(CrossEncoderReranker("drawn/reranker").relevance("was", ["goodwill impaired", "weather fine"]))
"""


@pytest.mark.slow
def test_a_reranker_that_is_not_listed_is_fetched_from_a_mirror_of_the_hub(tmp_path: Path) -> None:
    """In a process of its own: the Hub's client reads its endpoint when it is imported."""
    lay_down_reranker(tmp_path / "origin", "drawn/reranker")
    snapshot = tmp_path / "origin" / "models--drawn--reranker" / "snapshots" / "drawn"
    files = {
        path.relative_to(snapshot).as_posix(): path.read_bytes()
        for path in snapshot.rglob("*")
        if path.is_file()
    }
    commit = "1" * 40
    with scripted_server() as server:
        siblings = [{"rfilename": name} for name in files]
        described = Answer.json({"id": "drawn/reranker", "sha": commit, "siblings": siblings})
        tree = [
            {"type": "file", "path": name, "size": len(data), "oid": hashlib.sha1(data).hexdigest()}
            for name, data in files.items()
        ]
        for revision in ("main", commit):
            server.script[f"/api/models/drawn/reranker/revision/{revision}"] = described
            server.script[f"/api/models/drawn/reranker/tree/{revision}"] = Answer.json(tree)
        server.script["/api/models/drawn/reranker"] = described
        for name, data in files.items():
            head = {"ETag": f'"{hashlib.sha1(data).hexdigest()}"', "X-Repo-Commit": commit}
            server.script[f"/drawn/reranker/resolve/{commit}/{name}"] = Answer(200, data, head)
        caches = {"FASTEMBED_CACHE_PATH": str(tmp_path / "cache"), "HF_HOME": str(tmp_path / "home")}
        environment = os.environ | caches | {"HF_ENDPOINT": server.url, "HF_HUB_OFFLINE": "0"}
        call = [sys.executable, "-W", "ignore", "-c", FETCH]
        run = subprocess.run(call, env=environment, capture_output=True, text=True, check=False)
        assert json.loads(run.stdout or "null") == pytest.approx(EXPECTED, abs=1e-5), run.stderr[-2000:]
        assert any(asked.path.endswith("model.onnx") and asked.method == "GET" for asked in server.asked)


def test_a_model_that_is_not_there_is_a_providers_error(cache: Path) -> None:
    for ask in (
        FastEmbedEmbedder(EMBEDDING).embed,
        lambda texts: CrossEncoderReranker().relevance("x", texts),
    ):
        with pytest.raises(ProviderError, match="could not be loaded"):
            ask(["text"])
