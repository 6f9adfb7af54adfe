"""Model servers on this machine tell their models, sizes and contexts; other servers are left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from chat.providers import local_servers
from chat.providers.local_servers import LocalModel, local_models
from tests.scripted_server import Answer, scripted_server


def found(monkeypatch: pytest.MonkeyPatch, server: str, script: dict[str, Answer]) -> list[LocalModel]:
    with scripted_server() as scripted:
        scripted.script.update(script)
        monkeypatch.setattr(local_servers, "addresses", lambda: {scripted.url: server})
        return local_models()


def listing(**row: object) -> Answer:
    return Answer.json({"data": [{"id": "m", **row}]})


@pytest.mark.parametrize(
    ("server", "script", "size", "context"),
    [
        ("vLLM", {"/v1/models": listing(max_model_len=32768)}, 0, 32768),
        (
            "llama.cpp",
            {
                "/v1/models": listing(meta={"size": 144810240}),
                "/props": Answer.json({"default_generation_settings": {"n_ctx": 4096}}),
            },
            144810240,
            4096,
        ),
        (
            "LM Studio",
            {
                "/v1/models": listing(),
                "/api/v0/models": Answer.json({"data": [{"id": "m", "max_context_length": 8192}]}),
            },
            0,
            8192,
        ),
        (
            "Ollama",
            {
                "/v1/models": listing(),
                "/api/tags": Answer.json({"models": [{"name": "m", "size": 5}]}),
                "/api/ps": Answer.json({"models": [{"name": "m", "context_length": 16384}]}),
            },
            5,
            16384,
        ),
    ],
)
def test_models_come_with_size_and_context(
    monkeypatch: pytest.MonkeyPatch, server: str, script: dict[str, Answer], size: int, context: int
) -> None:
    (model,) = found(monkeypatch, server, script)
    assert (model.server, model.name, model.size, model.context) == (server, "m", size, context)
    assert model.base_url.endswith("/v1")


@pytest.mark.parametrize(
    "answer",
    [
        Answer(200, b"<html>a wiki</html>"),
        Answer(404),
        Answer.json([1]),
        Answer.json({"data": [{"no": "id"}]}),
        Answer.json({"data": None}),
        listing(owned_by="pincite"),
    ],
)
def test_another_server_at_a_usual_port_has_no_models(
    monkeypatch: pytest.MonkeyPatch, answer: Answer
) -> None:
    assert found(monkeypatch, "vLLM", {"/v1/models": answer}) == []


@pytest.mark.parametrize("in_container", [True, False])
def test_from_a_container_a_server_of_its_host_is_found(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, in_container: bool
) -> None:
    """``localhost`` is the host here, asked from a container only; a name without a host is left out."""
    mark = tmp_path / ".dockerenv"
    if in_container:
        mark.touch()
    with scripted_server() as scripted:
        scripted.script["/v1/models"] = listing(max_model_len=4096)
        port = int(scripted.url.rpartition(":")[2])
        monkeypatch.setattr(local_servers, "CONTAINER_MARKS", (mark,))
        monkeypatch.setattr(local_servers, "CONTAINER_HOSTS", ("localhost", "host.invalid"))
        monkeypatch.setattr(local_servers, "PORTS", {port: "vLLM"})
        hosts = ["127.0.0.1", "localhost"] if in_container else ["127.0.0.1"]
        assert [model.base_url for model in local_models()] == [f"http://{host}:{port}/v1" for host in hosts]


def test_no_server_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_servers, "addresses", lambda: {"http://127.0.0.1:9": "Ollama"})
    assert local_models() == []
