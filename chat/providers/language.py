"""A chat provider as the language model that search may ask for other wordings."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from chat.prompting import Prompt
from chat.providers.base import Provider, TextDelta
from chat.providers.patience import Limits, read
from chat.providers.registry import provider_named
from retrieval.providers.language import LanguageModel

PATIENCE = Limits(silence=20, total=30, attempts=1, backoff=0)
SYSTEM = "You help a search engine. Do exactly what is asked and reply with nothing else."


@dataclass(frozen=True, slots=True)
class AskedInWords:
    """One prompt in, the whole reply out."""

    provider: Provider
    cancelled: threading.Event

    def complete(self, prompt: str) -> str:
        """The model's reply. Raises ProviderError, or Cancelled."""
        deltas = read(self.provider, Prompt(prompt, system=SYSTEM), PATIENCE, self.cancelled)
        return "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))


def configured_model() -> LanguageModel | None:
    """The default provider's; ``settings.LANGUAGE_MODEL`` names this. Raises ProviderError."""
    return language_model(provider_named(), threading.Event())


def language_model(provider: Provider, cancelled: threading.Event) -> LanguageModel | None:
    """None for a provider that cannot follow an instruction."""
    return AskedInWords(provider, cancelled) if provider.rewrites else None
