"""Find model servers on this machine: Ollama, LM Studio, llama.cpp and vLLM at their usual ports.

Only these ports of this machine are requested; from within a container, those of its host.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

SECONDS = 1.5  # for each request
MOST_MODELS = 50  # of one server
# https://docs.ollama.com/api, https://lmstudio.ai/docs/app/api, llama.cpp's tools/server/README.md and
# https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html, 2026-11
PORTS = {11434: "Ollama", 1234: "LM Studio", 8080: "llama.cpp", 8000: "vLLM"}
CONTAINER_MARKS = (Path("/.dockerenv"), Path("/run/.containerenv"))
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


def addresses() -> dict[str, str]:
    """Return the servers' names by base URL."""
    in_container = any(mark.exists() for mark in CONTAINER_MARKS)
    hosts = ("127.0.0.1", "host.docker.internal") if in_container else ("127.0.0.1",)
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
    more = _more(client, server)
    for row in rows:
        if row.get("owned_by") == OWN_OWNER:
            continue
        meta = row.get("meta") or {}
        known = more.get(row["id"]) or more.get("") or {}
        size = known.get("size") or meta.get("size") or 0
        context = known.get("context") or row.get("max_model_len") or meta.get("n_ctx") or 0
        yield LocalModel(server, f"{client.base_url}".rstrip("/") + "/v1", str(row["id"]), size, context)


def _more(client: httpx.Client, server: str) -> dict[str, dict[str, int]]:
    """Return ``size`` and ``context`` by model, from the server's own API; "" stands for its only model."""
    try:
        if server == "Ollama":
            tags = client.get("/api/tags").raise_for_status().json()["models"]
            return {tag["name"]: {"size": int(tag.get("size") or 0)} for tag in tags}
        if server == "LM Studio":
            rows = client.get("/api/v0/models").raise_for_status().json()["data"]
            return {
                row["id"]: {
                    "context": int(row.get("loaded_context_length") or row.get("max_context_length") or 0)
                }
                for row in rows
            }
        if server == "llama.cpp":
            defaults = client.get("/props").raise_for_status().json()["default_generation_settings"]
            return {"": {"context": int(defaults["n_ctx"])}}
    except (httpx.HTTPError, ValueError, KeyError, TypeError, AttributeError):
        pass
    return {}
