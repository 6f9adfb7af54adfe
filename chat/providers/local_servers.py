"""Model servers of one's own: Ollama, LM Studio, llama.cpp, vLLM. Find them, and ask what their models take.

To find them, only their usual ports of this machine are requested; from within a container, its host's.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from django.core.cache import cache

SECONDS = 1.5  # for each request
MOST_MODELS = 50  # of one server
# https://docs.ollama.com/api, https://lmstudio.ai/docs/app/api, llama.cpp's tools/server/README.md and
# https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html, 2026-11
PORTS = {11434: "Ollama", 1234: "LM Studio", 8080: "llama.cpp", 8000: "vLLM"}
OWN_SERVER = "compatible"  # the provider of such a server
ASKED_AGAIN_SECONDS = 60  # a server may be started anew with another context
# Ollama keeps no more of a prompt, and drops the rest without a word, until a model is loaded with more:
# https://docs.ollama.com/context-length
OLLAMA_CONTEXT = 4096
EMBEDDERS = re.compile(r"embed|\b(?:bge|e5|gte|all-minilm|paraphrase)\b", re.IGNORECASE)  # Ollama's names
CONTAINER_MARKS = (Path("/.dockerenv"), Path("/run/.containerenv"))
# What Docker (with compose.yaml on Linux too) and Podman name the host in a container. The gateway's address
# is no substitute: in a network of the host's own, it is a router.
CONTAINER_HOSTS = ("host.docker.internal", "host.containers.internal")
OWN_OWNER = "pincite"  # our own API of the same shape: agents.api


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A model of a server on this machine.

    Attributes:
        base_url: of the chat completions API; ends in /v1.
        size: in bytes; 0 where the server does not say.
        context: in tokens; 0 where the server does not say.
    """

    server: str
    base_url: str
    name: str
    size: int = 0
    context: int = 0

    @property
    def embeds(self) -> bool:
        """Return whether its name is that of an embedding model, which cannot write answers."""
        return EMBEDDERS.search(self.name) is not None


def addresses() -> dict[str, str]:
    """Return the servers' names by base URL."""
    in_container = any(mark.exists() for mark in CONTAINER_MARKS)
    hosts = ("127.0.0.1", *CONTAINER_HOSTS * in_container)
    return {f"http://{host}:{port}": name for host in hosts for port, name in PORTS.items()}


def local_models() -> list[LocalModel]:
    """Return the models of all servers that answer, in the order of ``PORTS``. Never raises."""
    servers = addresses()
    with ThreadPoolExecutor(len(servers)) as pool:
        return [model for models in pool.map(_models_at, servers, servers.values()) for model in models]


def _models_at(address: str, server: str) -> list[LocalModel]:
    with httpx.Client(base_url=address, timeout=SECONDS, trust_env=False) as client:
        try:
            rows = client.get("/v1/models").raise_for_status().json()["data"]
            return list(_described(client, server, rows[:MOST_MODELS]))
        except (httpx.HTTPError, httpx.InvalidURL, ValueError, KeyError, TypeError, AttributeError):
            return []


def _described(client: httpx.Client, server: str, rows: list[dict[str, Any]]) -> Iterator[LocalModel]:
    base_url = f"{client.base_url}".rstrip("/") + "/v1"
    tags = _json_of(client.get, "/api/tags").get("models") if server == "Ollama" else ()
    sizes = {tag["name"]: int(tag.get("size") or 0) for tag in tags or ()}
    for row in rows:
        if row.get("owned_by") != OWN_OWNER:
            name = str(row["id"])
            size = sizes.get(name) or _whole(row, "meta", "size")
            yield LocalModel(server, base_url, name, size, served_model(base_url, name).context)


@dataclass(frozen=True, slots=True)
class ServedModel:
    """What a server says of one of its models.

    Attributes:
        context: tokens of prompt and reply together; 0 where the server does not say.
        reads_pieces: it keeps what it has read of a prompt, and says how much (llama.cpp).
        counts_tokens: it has ``/tokenize`` (llama.cpp, vLLM).
    """

    context: int = 0
    reads_pieces: bool = False
    counts_tokens: bool = False


def served_model(base_url: str, model: str) -> ServedModel:
    """Ask the server at ``base_url`` (ends in /v1) about its model, once a minute. Never raises."""
    key = f"served-model-{hashlib.sha256(f'{base_url} {model}'.encode()).hexdigest()}"
    found: ServedModel | None = cache.get(key)
    if found is None:
        found = _asked_about(base_url.rstrip("/").removesuffix("/v1"), model)
        cache.set(key, found, ASKED_AGAIN_SECONDS)
    return found


def count_tokens(base_url: str, model: str, text: str) -> int:
    """Return the tokens of a text as llama.cpp or vLLM counts them; 0 where it does not. Never raises."""
    address = base_url.rstrip("/").removesuffix("/v1")
    with httpx.Client(base_url=address, timeout=SECONDS, trust_env=False) as client:
        # llama.cpp reads the first, vLLM the others
        asked = {"content": text, "model": model, "prompt": text}
        tokens = _json_of(client.post, "/tokenize", json=asked).get("tokens")
        return len(tokens) if isinstance(tokens, list) else 0


def _asked_about(address: str, model: str) -> ServedModel:
    with httpx.Client(base_url=address, timeout=SECONDS, trust_env=False) as client:
        if props := _json_of(client.get, "/props"):
            context = _whole(props, "default_generation_settings", "n_ctx")
            return ServedModel(context, reads_pieces=bool(context), counts_tokens=bool(context))
        if context := _ollama_context(client, model):
            return ServedModel(context)
        if context := _whole(_row_of(client, "/v1/models", model), "max_model_len"):
            return ServedModel(context, counts_tokens=True)
        row = _row_of(client, "/api/v0/models", model)  # of LM Studio
        return ServedModel(_whole(row, "loaded_context_length") or _whole(row, "max_context_length"))


def _row_of(client: httpx.Client, path: str, model: str) -> dict[str, Any]:
    rows = _json_of(client.get, path).get("data") or []
    return next((row for row in rows if isinstance(row, dict) and row.get("id") == model), {})


def _ollama_context(client: httpx.Client, model: str) -> int:
    """Return the context of a loaded model; of another, what it would be loaded with. 0: no Ollama."""
    running = _json_of(client.get, "/api/ps")
    if "models" not in running:
        return 0
    loaded = (row for row in running["models"] or () if model in (row.get("name"), row.get("model")))
    if row := next(loaded, None):
        return _whole(row, "context_length") or OLLAMA_CONTEXT
    shown = _json_of(client.post, "/api/show", json={"model": model})
    own = re.search(r"^num_ctx\s+(\d+)", str(shown.get("parameters") or ""), re.MULTILINE)
    return int(own[1]) if own else OLLAMA_CONTEXT


def _json_of(request: Callable[..., httpx.Response], path: str, **more: Any) -> dict[str, Any]:
    """Return a JSON object; {} where there is none."""
    try:
        found = request(path, **more).raise_for_status().json()
    except (httpx.HTTPError, httpx.InvalidURL, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _whole(row: dict[str, Any], *path: str) -> int:
    """Return the number at a path of keys; 0 where there is none."""
    value: Any = row
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, int) else 0
