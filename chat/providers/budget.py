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


class MeteredProvider(Provider):
    """A provider whose calls are taken from a budget."""

    def __init__(self, provider: Provider, budget: TokenBudget) -> None:
        self._provider, self._budget = provider, budget
        self.name, self.model, self.base_url = provider.name, provider.model, provider.base_url
        self.passages, self.rewrites = provider.passages, provider.rewrites
        self.sees, self.is_local = provider.sees, provider.is_local

    def stream(self, prompt: Prompt) -> Iterator[Delta]:
        """Yield the provider's deltas. Raises BudgetSpent before a call that the budget has no room for."""
        asked = prompt_tokens(prompt)
        taken = asked + settings.CHAT_MAX_TOKENS
        self._budget.take(taken)
        usage, text, has_begun = NO_USAGE, "", False
        try:
            for delta in self._provider.stream(prompt):
                has_begun = True
                if isinstance(delta, Usage):
                    usage = delta
                elif isinstance(delta, TextDelta):
                    text += delta.text
                yield delta
        finally:
            counted = usage.input_tokens + usage.output_tokens
            self._budget.settle(taken, counted or (asked + token_estimate(text) if has_begun else 0))
