"""The page of providers: keys pasted by a superuser, and model servers found on this machine."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from chat.models import ProviderConnection
from chat.providers import local_servers
from chat.providers.registry import check_health, default_name, provider_named
from retrieval.embeddings.registry import embedder
from retrieval.models import EmbeddingSpace
from retrieval.provider_calls import ProviderError
from tests.scripted_server import Answer, Asked, ScriptedServer, scripted_server

KEY = "sk-test-0123456789"
pytestmark = pytest.mark.django_db


def chunk(text: str) -> bytes:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": "stop"}
    body = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    return f"data: {json.dumps(body)}\n\ndata: [DONE]\n\n".encode()


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    """A server that accepts one key and has two chat models and one for embeddings."""

    def models(asked: Asked) -> Answer:
        sent = {name.lower(): value for name, value in asked.headers.items()}
        if sent.get("authorization", f"Bearer {KEY}") != f"Bearer {KEY}":  # local servers get no key
            return Answer.json({"error": {"message": "wrong key"}}, 401)
        names = ("great-model", "gpt-4.1-mini", "text-embedding-3")
        return Answer.json({"object": "list", "data": [{"id": name, "object": "model"} for name in names]})

    with scripted_server() as scripted:
        scripted.script["/v1/models"] = models
        stream = {"Content-Type": "text/event-stream"}
        scripted.script["/v1/chat/completions"] = lambda asked: Answer(200, chunk("OK"), stream)
        vector = {"object": "embedding", "index": 0, "embedding": [0.6, 0.8]}
        scripted.script["/v1/embeddings"] = Answer.json({"object": "list", "model": "m", "data": [vector]})
        yield scripted


@pytest.fixture
def openai(server: ScriptedServer, settings: pytest.FixtureRequest) -> ScriptedServer:
    settings.OPENAI_BASE_URL = f"{server.url}/v1"  # type: ignore[attr-defined]
    return server


@pytest.fixture
def admin(client: Client, alice: User) -> Client:
    alice.is_superuser = True
    alice.save()
    client.force_login(alice)
    return client


def connect(admin: Client, key: str = KEY) -> str:
    return admin.post("/conversations/providers/key/", {"provider": "openai", "key": key}).content.decode()


def test_a_pasted_key_answers_at_once_and_is_shown_nowhere(admin: Client, openai: ScriptedServer) -> None:
    assert default_name() == "extractive"
    page = connect(admin) + admin.get("/conversations/providers/").content.decode()
    assert "Connected on this page." in page and KEY not in page
    assert default_name() == "openai" and provider_named().model == "gpt-4.1-mini"
    assert check_health("openai").working
    assert KEY not in str(ProviderConnection.objects.values_list().get())


def test_a_listed_model_is_chosen_and_an_unlisted_one_is_not(admin: Client, openai: ScriptedServer) -> None:
    connect(admin)
    listed = admin.get("/conversations/providers/openai/models/").content.decode()
    assert "great-model" in listed and "text-embedding-3" not in listed
    admin.post("/conversations/providers/openai/models/", {"model": "great-model"})
    assert provider_named().model == "great-model"
    page = admin.post("/conversations/providers/openai/models/", {"model": "deleted"}).content.decode()
    assert "no longer offers" in page and provider_named().model == "great-model"
    ProviderConnection.choose_model("openai", "deleted")
    listed = admin.get("/conversations/providers/openai/models/").content.decode()
    assert "deleted (no longer offered)" in listed


def test_a_model_of_a_provider_that_somebody_disconnected_meanwhile_says_so(
    admin: Client, openai: ScriptedServer
) -> None:
    connect(admin)
    ProviderConnection.disconnect("openai")
    page = admin.post("/conversations/providers/openai/models/", {"model": "great-model"}).content.decode()
    assert "was disconnected in the meantime" in page and default_name() == "extractive"
    assert not ProviderConnection.choose_model("openai", "great-model")
    assert not admin.get("/conversations/providers/openai/models/").content


@pytest.mark.parametrize(
    ("key", "sentence"),
    [
        ("sk-wrong", "does not accept the key"),
        ("two words", "not a key"),
        ("schlüssel", "not a key"),
        ("", "not a key"),
    ],
)
def test_a_wrong_key_is_refused_and_the_connected_one_stays(
    admin: Client, openai: ScriptedServer, key: str, sentence: str
) -> None:
    connect(admin)
    refused = connect(admin, key)
    assert sentence in refused and '<option value="openai" selected>' in refused
    assert check_health("openai").working


def test_the_environment_wins(admin: Client, openai: ScriptedServer, settings: pytest.FixtureRequest) -> None:
    connect(admin)
    settings.OPENAI_API_KEY, settings.OPENAI_MODEL = "sk-environment", "of-environment"  # type: ignore[attr-defined]
    provider = provider_named("openai")
    assert provider.model == "of-environment" and provider.api_key == "sk-environment"  # type: ignore[attr-defined]
    assert "Set up by OPENAI_API_KEY" in admin.get("/conversations/providers/").content.decode()
    assert "Change it there" in connect(admin)


def test_a_key_of_another_secret_key_is_not_used(
    admin: Client, openai: ScriptedServer, settings: pytest.FixtureRequest
) -> None:
    connect(admin)
    settings.SECRET_KEY = "another" * 10  # type: ignore[attr-defined]
    assert default_name() == "extractive" and "or by OPENAI_API_KEY" in check_health("openai").message


def test_disconnecting_deletes_the_key(admin: Client, openai: ScriptedServer) -> None:
    connect(admin)
    admin.post("/conversations/providers/openai/disconnect/")
    assert not ProviderConnection.objects.exists() and default_name() == "extractive"


def test_only_superusers_connect(client: Client, bob: User, openai: ScriptedServer) -> None:
    client.force_login(bob)
    assert client.post("/conversations/providers/key/", {"provider": "openai", "key": KEY}).status_code == 403
    assert client.get("/conversations/providers/local/").status_code == 403
    assert client.post("/conversations/providers/openai/disconnect/").status_code == 403
    assert "Paste a key" not in client.get("/conversations/providers/").content.decode()
    assert not openai.asked


def test_a_model_server_of_this_machine_is_found_and_used(
    admin: Client, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.script["/api/tags"] = Answer.json({"models": [{"name": "great-model", "size": 2_500_000_000}]})
    monkeypatch.setattr(local_servers, "addresses", lambda: {server.url: "Ollama"})
    page = admin.get("/conversations/providers/local/").content.decode()
    assert "great-model" in page and "2.3" in page
    chosen = {"base_url": f"{server.url}/v1", "model": "great-model"}
    assert "Answers are now written" in admin.post("/conversations/providers/local/", chosen).content.decode()
    assert default_name() == "compatible" and check_health("compatible").working
    elsewhere = {"base_url": "http://192.0.2.1/v1", "model": "great-model"}
    assert "no longer available" in admin.post("/conversations/providers/local/", elsewhere).content.decode()
    assert provider_named().base_url == f"{server.url}/v1"  # type: ignore[attr-defined]


def test_the_first_visit_offers_a_model_until_it_is_put_off_or_one_answers(
    admin: Client, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def offered() -> str:
        return admin.get("/conversations/providers/offer/").content.decode()

    monkeypatch.setattr(local_servers, "addresses", lambda: {server.url: "Ollama"})
    assert "Use great-model of Ollama on this computer" in offered() and "Later" in offered()
    ProviderConnection.connect("compatible", base_url=f"{server.url}/v1", model="great-model")
    assert not offered()
    ProviderConnection.disconnect("compatible")
    assert "Later" in offered()
    admin.post("/conversations/providers/offer/")
    assert not offered()


@pytest.mark.django_db(transaction=True)
def test_of_two_administrators_who_connect_at_once_one_choice_answers_and_none_is_lost() -> None:
    def choose(name: str) -> None:
        try:
            ProviderConnection.connect(name, api_key=KEY, model=f"{name}-model")
        finally:
            connection.close()

    for _ in range(5):
        names = ("openai", "anthropic", "gemini")
        threads = [threading.Thread(target=choose, args=(name,)) for name in names]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        rows = list(ProviderConnection.objects.all())
        assert sorted(row.provider for row in rows) == sorted(names)
        assert [row.is_default for row in rows].count(True) == 1
        ProviderConnection.objects.all().delete()


def search_by(admin: Client, **posted: str) -> str:
    return admin.post("/conversations/providers/search/", posted).content.decode()


def test_a_key_pasted_for_search_embeds_at_once_and_writes_no_answers(
    admin: Client, openai: ScriptedServer
) -> None:
    asked = {"provider": "openai", "model": "text-embedding-3"}
    assert "does not accept the key" in search_by(admin, **asked, key="sk-wrong")
    assert "not a key" in search_by(admin, **asked, key="") and not EmbeddingSpace.objects.filter(wanted=True)
    page = search_by(admin, **asked, key=KEY, base_url="http://192.0.2.1/v1")  # gets no key
    assert "0 % embedded" in page and KEY not in page + str(ProviderConnection.objects.values_list().get())
    assert EmbeddingSpace.objects.get(wanted=True).dimensions == 2
    assert embedder("openai", "text-embedding-3").embed(["a"]).shape == (1, 2)
    assert default_name() == "extractive"
    search_by(admin, provider="openai")
    with pytest.raises(ProviderError, match="not connected"):
        embedder("openai", "text-embedding-3")


def test_an_embedding_model_of_this_machine_is_offered_for_search_alone(
    admin: Client, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_servers, "addresses", lambda: {server.url: "Ollama"})
    page = admin.get("/conversations/providers/local/").content.decode()
    assert "Use text-embedding-3 for search" in page and "Use great-model for search" not in page
    asked = {"provider": "compatible", "model": "text-embedding-3"}
    assert "no longer available" in search_by(admin, **asked, base_url="http://192.0.2.1/v1")
    search_by(admin, **asked, base_url=f"{server.url}/v1")
    assert EmbeddingSpace.objects.get(wanted=True).name == "compatible:text-embedding-3"
    assert default_name() == "extractive"
