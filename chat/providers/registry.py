"""The registry of providers: configuration, selection, health checks, and the language model of search."""

from __future__ import annotations

import hashlib
import logging
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from django.conf import settings
from django.core.cache import cache

from chat.answers.prompt import Prompt
from chat.answers.without_model.answer import NAME as EXTRACTIVE
from chat.answers.without_model.answer import Extractive
from chat.providers.base import (
    EitherEvent,
    Provider,
    ProviderLimits,
    reply_text,
    stream_with_retries,
)
from chat.providers.catalogue import PROVIDERS, Listed
from chat.providers.connections import chosen_default, connection_of
from chat.providers.local_servers import OWN_SERVER
from retrieval.provider_calls import LanguageModel, ProviderError, Schema, nobody_waits

logger = logging.getLogger(__name__)
HEALTH_SECONDS, OWN_HEALTH_SECONDS = 20.0, 120.0  # a model of one's own is first loaded from the disk
# Until the first token: a model on one's own machine reads 4,000 tokens for minutes (measured with
# llama.cpp on two busy cores: 80 to 227 s), a hosted one for seconds.
FIRST_TOKEN_SECONDS, OWN_FIRST_TOKEN_SECONDS = 120.0, 600.0
OWN_TOTAL_SECONDS = 1800.0  # from the first token to the last: 2,000 tokens at one a second


@dataclass(frozen=True, slots=True)
class ProviderCard:
    """One provider, as on the settings page.

    Attributes:
        default: conversations use it unless they choose another.
        source: "environment", "page", or '' where it is not set up.
    """

    name: str
    listed: Listed
    model: str
    default: bool
    source: str


@dataclass(frozen=True, slots=True)
class Health:
    """The result of a health check."""

    working: bool
    message: str
    milliseconds: float


# Models of OpenAI and Anthropic without vision, by their model cards; all newer ones have it.
MODELS_WITHOUT_VISION = re.compile(
    r"gpt-3|gpt-4($|-\d{4}$|-32k)|o1-(mini|preview)|o3-mini|claude-(2|instant)"
)


def sees(name: str, model: str) -> bool:
    """Return whether a conversation's provider accepts images."""
    try:
        return provider_named(name, model).sees
    except ProviderError:
        return False


def default_name() -> str:
    """Return the environment's provider, else the page's, else the first with a key, else ``extractive``."""
    if settings.CHAT_PROVIDER:
        return str(settings.CHAT_PROVIDER)
    return chosen_default() or next(name for name in PROVIDERS if connection_of(name).source)


def provider_named(name: str = "", model: str = "") -> Provider:
    """Return a provider; '' is the default. Raises ProviderError when it is unknown or not configured."""
    name = name or default_name()
    if name not in PROVIDERS:
        raise ProviderError(f"There is no provider “{name}”.", permanent=True)
    if name == EXTRACTIVE:
        return Extractive()
    found = connection_of(name)
    if not found.source:
        listed = PROVIDERS[name]
        raise ProviderError(
            f"{listed.label} is not set up here. An administrator can connect it under Models and providers, "
            f"or by {listed.variable}.",
            permanent=True,
        )
    model = model or found.model
    is_own, is_anthropic = name == OWN_SERVER, name == "anthropic"
    # The SDKs are imported when they are needed: each takes about a second.
    adapter = import_module(f"chat.providers.{'anthropic' if is_anthropic else 'openai'}")
    kind: Callable[..., Provider] = adapter.Claude if is_anthropic else adapter.ChatCompletions
    return kind(
        name,
        model,
        found.api_key,
        found.base_url,
        settings.CHAT_MAX_TOKENS,
        max(settings.CHAT_SILENCE_SECONDS, _first_token_seconds(name)),
        settings.COMPATIBLE_SEES if is_own else not MODELS_WITHOUT_VISION.match(model),
    )


def cards() -> list[ProviderCard]:
    """Return all providers, for the settings page."""
    chosen = default_name()
    found = ((name, listed, connection_of(name)) for name, listed in PROVIDERS.items())
    return [
        ProviderCard(name, listed, connection.model, name == chosen, connection.source)
        for name, listed, connection in found
    ]


def choices() -> list[ProviderCard]:
    """Return the providers a user can choose between; [] when there is only one."""
    ready = [card for card in cards() if card.source]
    return ready if len(ready) > 1 else []


def limits_of(provider: Provider) -> ProviderLimits:
    """Return the time limits and attempts of an answer by this provider."""
    is_own = provider.name == OWN_SERVER
    return ProviderLimits(
        settings.CHAT_SILENCE_SECONDS,
        max(settings.CHAT_TOTAL_SECONDS, OWN_TOTAL_SECONDS if is_own else 0),
        settings.CHAT_ATTEMPTS,
        settings.CHAT_BACKOFF_SECONDS,
        _first_token_seconds(provider.name),
    )


def _first_token_seconds(name: str) -> float:
    return OWN_FIRST_TOKEN_SECONDS if name == OWN_SERVER else FIRST_TOKEN_SECONDS


def check_health(name: str) -> Health:
    """Request one word from a provider. Never raises."""
    start = time.perf_counter()
    seconds = OWN_HEALTH_SECONDS if name == OWN_SERVER else HEALTH_SECONDS
    patience = ProviderLimits(seconds, seconds, 1, 0, seconds)
    prompt = Prompt("Reply with the word OK.", system="Reply with one word.")
    try:
        provider = provider_named(name)
        text = reply_text(stream_with_retries(provider, prompt, patience, threading.Event()))
    except ProviderError as error:
        return Health(False, error.message, _since(start))
    return Health(bool(text), "It works." if text else "It returned an empty answer.", _since(start))


def _since(start: float) -> float:
    return round((time.perf_counter() - start) * 1000, 1)


# --- A chat provider as the language model of search, for other wordings of a query ---

PATIENCE = ProviderLimits(silence=20, total=30, attempts=1, backoff=0, first=20)
REPLY_KEPT_SECONDS = 600
SYSTEM = "You help a search engine. Do exactly what is asked and reply with nothing else."


@dataclass(frozen=True, slots=True)
class ChatLanguageModel:
    """A language model that returns whole replies."""

    provider: Provider
    cancelled: threading.Event

    def complete(self, prompt: str, schema: Schema | None = None) -> str:
        """Return the model's reply, from the cache if it is there: each page of results has the same prompt.

        Raises ProviderError, or Cancelled.
        """
        asked = f"{self.provider.name}\n{self.provider.model}\n{prompt}"
        key = f"language-model-{hashlib.sha256(asked.encode()).hexdigest()}"
        reply: str | None = cache.get(key)
        if reply is None:
            reply = self._complete(prompt, schema)
            cache.set(key, reply, REPLY_KEPT_SECONDS)
        return reply

    def _complete(self, prompt: str, schema: Schema | None) -> str:
        deltas = stream_with_retries(
            self.provider,
            Prompt(prompt, system=SYSTEM, schema=schema),
            PATIENCE,
            EitherEvent(self.cancelled, nobody_waits()),
        )
        return reply_text(deltas)


def configured_model() -> LanguageModel | None:
    """Return the default provider's language model; see ``settings.LANGUAGE_MODEL``. Raises ProviderError."""
    return language_model(provider_named(), threading.Event())


def language_model(provider: Provider, cancelled: threading.Event) -> LanguageModel | None:
    """Return the model that helps search, given the answering provider; None where that has no model."""
    return ChatLanguageModel(helper_of(provider), cancelled) if provider.rewrites else None


def helper_of(provider: Provider) -> Provider:
    """Return the provider of ``PINCITE_HELPER_MODEL`` if configured, else ``provider``.

    Return ``provider`` also if it has no model.
    """
    if not settings.HELPER_MODEL or not provider.rewrites:
        return provider
    name, _, model = settings.HELPER_MODEL.partition(":")
    try:
        return provider_named(name, model)
    except ProviderError as error:
        logger.warning("PINCITE_HELPER_MODEL is not used: %s", error.message)
        return provider
