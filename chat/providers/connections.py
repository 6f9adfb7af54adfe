"""Keys, addresses and models of providers: from the environment, else from the Providers page."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Literal

import httpx2
from django.conf import settings

from chat.models import ProviderConnection
from chat.providers.base import at_the_border
from chat.providers.catalogue import PROVIDERS
from chat.providers.open_requests import client_for
from retrieval.embeddings.registry import ServiceConnection
from retrieval.provider_calls import ProviderError

LIST_SECONDS = 10.0
NOT_FOR_CHAT = ("embed", "tts", "whisper", "dall-e", "moderation", "image", "audio", "realtime", "transcribe")
LONGEST_KEY = 400


@dataclass(frozen=True, slots=True)
class Connection:
    """What is needed to ask a provider. ``source`` is '' where it is not set up."""

    api_key: str = ""
    base_url: str = ""
    model: str = ""
    source: Literal["environment", "page", ""] = ""


def connection_of(name: str) -> Connection:
    """Return how a provider is reached. The environment wins over the page."""
    listed = PROVIDERS[name]
    if not listed.variable:
        return Connection(source="environment")
    key, url, model = (_setting(name, field) for field in ("API_KEY", "BASE_URL", "MODEL"))
    if key if listed.takes_key else url:
        return Connection(key, url, model, "environment")
    row = ProviderConnection.stored().get(name)
    if row is None or not row.is_usable:
        return Connection(base_url=url, model=model)
    return Connection(row.api_key or key, row.base_url or url, row.model, "page")


def _setting(name: str, field: str) -> str:
    return str(getattr(settings, f"{name.upper()}_{field}"))


SEARCH = "search-"
"""Before a provider's name, in the connections that only embed."""


def embedding_connection(name: str) -> ServiceConnection | None:
    """Return key and address of a provider's embeddings; None where it is not connected.

    They may be others than for answers: a key that was pasted for search, another server on this machine.
    """
    found, row = connection_of(name), ProviderConnection.stored().get(SEARCH + name)
    if row is not None and row.is_usable and (row.base_url or found.source != "environment"):
        return ServiceConnection(row.api_key, row.base_url or found.base_url, of_search=True)
    return ServiceConnection(found.api_key, found.base_url) if found.source else None


def chosen_default() -> str:
    """Return the provider chosen on the page; '' where none is, or where its key cannot be read."""
    rows = ProviderConnection.stored().values()
    return next((row.provider for row in rows if row.is_default and row.is_usable), "")


def connect_key(name: str, key: str) -> list[str]:
    """Store a key that the provider accepts; return its models. Raises ProviderError, and stores nothing."""
    models = listed_models(name, key)
    usual = _setting(name, "MODEL")
    if not models:
        raise ProviderError("The provider accepts this key but lists no model.", permanent=True)
    ProviderConnection.connect(name, api_key=key, model=usual if usual in models else models[0])
    return models


def is_key(text: str) -> bool:
    return 0 < len(text) <= LONGEST_KEY and text.isascii() and text.isprintable() and " " not in text


def listed_models(name: str, key: str = "") -> list[str]:
    """Return the names of a provider's models for chat, sorted. Raises ProviderError."""
    found = connection_of(name)
    sdk = import_module("anthropic" if name == "anthropic" else "openai")
    with at_the_border(name, sdk, httpx2):
        rows = client_for(sdk, key or found.api_key, found.base_url, LIST_SECONDS).models.list()
        names = {row.id.removeprefix("models/") for row in rows}  # Gemini prefixes its names
    return sorted(model for model in names if not any(word in model for word in NOT_FOR_CHAT))
