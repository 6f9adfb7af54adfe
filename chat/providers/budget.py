"""A budget of tokens, and a provider that keeps to it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

from django.conf import settings

from chat.answers.prompt import Prompt, prompt_tokens, token_estimate
from chat.providers.base import NO_USAGE, Delta, Provider, TextDelta, Usage
from retrieval.provider_calls import ProviderError


class BudgetSpent(ProviderError):
    """No more tokens, or no more time, may be used."""


@dataclass(slots=True)
class TokenBudget:
    """Tokens that may be used, None without a limit.

    The maximum of a call is reserved before it and the rest returned after it.
    """

    most: int | None
    used: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, tokens: int) -> None:
        """Reserve tokens. Raise BudgetSpent if fewer are left."""
        with self._lock:
            if self.most is not None and self.used + tokens > self.most:
                raise BudgetSpent(
                    f"The next step needs up to {tokens:,} tokens. Of the limit of {self.most:,}, "
                    f"{max(0, self.most - self.used):,} are left. Set a higher one to continue.",
                    permanent=True,
                )
            self.used += tokens

    def settle(self, taken: int, used: int) -> None:
        with self._lock:
            self.used += used - taken


@dataclass(frozen=True, slots=True)
class MeteredProvider:
    """A provider whose calls are taken from a budget; see ``chat.providers.base.Provider``."""

    provider: Provider
    budget: TokenBudget
    name: str
    model: str
    base_url: str
    passages: int
    rewrites: bool
    sees: bool
    is_local: bool

    def stream(self, prompt: Prompt) -> Iterator[Delta]:
        """Yield the provider's deltas. Raises BudgetSpent before a call that the budget has no room for."""
        asked = prompt_tokens(prompt)
        taken = asked + settings.CHAT_MAX_TOKENS
        self.budget.take(taken)
        usage, text, has_begun = NO_USAGE, "", False
        try:
            for delta in self.provider.stream(prompt):
                has_begun = True
                if isinstance(delta, Usage):
                    usage = delta
                elif isinstance(delta, TextDelta):
                    text += delta.text
                yield delta
        finally:
            counted = usage.input_tokens + usage.output_tokens
            self.budget.settle(taken, counted or (asked + token_estimate(text) if has_begun else 0))


def metered(provider: Provider, budget: TokenBudget) -> MeteredProvider:
    return MeteredProvider(
        provider,
        budget,
        provider.name,
        provider.model,
        getattr(provider, "base_url", ""),
        provider.passages,
        provider.rewrites,
        provider.sees,
        provider.is_local,
    )
