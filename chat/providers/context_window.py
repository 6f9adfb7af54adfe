"""How many tokens a model reads at once: what its server says, and what a refusal says.

Tokens are estimated from the text (``token_estimate``) and corrected by what the model's server counted in
its last prompt, so that no tokenizer of each model is needed.
"""

from __future__ import annotations

import hashlib
import re
from typing import Any, Literal

from django.conf import settings
from django.core.cache import cache

from chat.answers.prompt import (
    EXAMPLE_ANSWER,
    EXAMPLE_QUESTION,
    TOKENS_A_TURN,
    Prompt,
    prompt_tokens,
    shortened,
    token_estimate,
    turns,
)
from chat.providers.local_servers import OWN_SERVER, ServedModel, count_tokens, served_model
from retrieval.provider_calls import ProviderError

REPLY_PART = 4  # of a small window, a quarter is left for the reply
KNOWN_SECONDS = 7 * 24 * 3600
# Before a server has counted: models of one's own split numbers into digits. SmolLM2 counted 1.2 to 1.5 times
# our estimate of English reports.
OWN_DENSITY = 1.3
EXAMPLE_TOKENS = token_estimate(EXAMPLE_QUESTION + EXAMPLE_ANSWER) + 2 * TOKENS_A_TURN
DENSITIES = (0.5, 4.0)  # what else is counted wrongly, such as prompts from a cache


Memory = Literal["window", "density", "without-schema", "thought"]
"""What replies showed of a model: tokens of prompt and reply, tokens by our estimate, that it takes no JSON
schema, that its template opens its reasoning."""


def recalled(provider: Any, what: Memory) -> Any:
    return cache.get(_key(provider, what))


def remember(provider: Any, what: Memory, value: float) -> None:
    cache.set(_key(provider, what), value, KNOWN_SECONDS)


def _key(provider: Any, what: Memory) -> str:
    text = "\n".join((provider.name, provider.base_url, provider.model))
    return f"model-{what}-{hashlib.sha256(text.encode()).hexdigest()}"


def served(provider: Any) -> ServedModel:
    """Return what a server of one's own says of its model; of others nothing is asked."""
    is_own = provider.name == OWN_SERVER
    return served_model(provider.base_url, provider.model) if is_own else ServedModel()


def window_of(provider: Any) -> int:
    """Return the tokens of prompt and reply together; 0 where unknown."""
    return int(recalled(provider, "window") or 0) or served(provider).context


def reply_tokens(window: int, most: int) -> int:
    """Return the limit of a reply: ``most``, or less in a small window."""
    return min(most, window // REPLY_PART) if window else most


def room_for(provider: Any) -> int:
    """Return the estimated tokens that a prompt may have with all that is sent but the example."""
    return _room(provider) - EXAMPLE_TOKENS * (provider.name == OWN_SERVER)


def _room(provider: Any) -> int:
    room = settings.CHAT_PROMPT_TOKENS
    if window := window_of(provider):
        room = min(room, window - reply_tokens(window, settings.CHAT_MAX_TOKENS))
    return int(room / _density(provider))


def shows_example(provider: Any, prompt: Prompt) -> bool:
    """Return whether the prompt begins with an example of a cited answer."""
    return provider.name == OWN_SERVER and bool(prompt.passages) and prompt.schema is None


def _density(provider: Any) -> float:
    return float(recalled(provider, "density") or (OWN_DENSITY if provider.name == OWN_SERVER else 1))


def fitting(provider: Any, prompt: Prompt) -> Prompt:
    """Return the prompt within the model's window, where its server says what that is.

    llama.cpp and vLLM count its tokens. Ollama would drop the beginning of a longer prompt without a word.
    """
    if not (window := window_of(provider)) or not (prompt.passages or prompt.history):
        return prompt
    if served(provider).counts_tokens:
        texts = [prompt.system, *(turn.text for turn in turns(prompt))]
        if counted := count_tokens(provider.base_url, provider.model, "\n".join(texts)):
            learn_density(provider, prompt, counted + TOKENS_A_TURN * len(texts))
    room = window - reply_tokens(window, settings.CHAT_MAX_TOKENS)
    return shortened(prompt, int(room / _density(provider)))


def learn_density(provider: Any, prompt: Prompt, counted: int) -> None:
    """Remember how the model's server counts tokens; ``counted`` are those of the prompt."""
    if counted and not prompt.pictures:
        least, most = DENSITIES
        remember(provider, "density", min(max(counted / prompt_tokens(prompt), least), most))


class PromptTooLong(ProviderError):
    """The model's server refused a prompt for its length.

    Attributes:
        window: tokens that it takes; 0 where it does not say.
        counted: tokens of the prompt as it counted them; 0 where it does not say.
    """

    def __init__(self, message: str, window: int = 0, counted: int = 0) -> None:
        super().__init__(message, permanent=True)
        self.window, self.counted = window, counted

    def room(self, provider: Any, prompt: Prompt) -> int:
        """Return the estimated tokens of a prompt that would fit, and remember the window."""
        estimated = prompt_tokens(prompt)
        if not self.window:
            return estimated // 2
        remember(provider, "window", self.window)
        learn_density(provider, prompt, self.counted)
        return min(_room(provider), int(estimated * 0.9))


# Written in 2026-11 by llama.cpp, OpenAI, vLLM, Anthropic, Gemini, LM Studio, Ollama, Groq, Cohere and TGI.
_REFUSED = re.compile(
    r"exceed_context_size|context_length_exceeded|context (?:length|size|window|limit)|prompt is too long"
    r"|too many tokens|token count|maximum (?:number of tokens|model length)|request too large"
    r"|input is too long",
    re.IGNORECASE,
)
_WINDOW = re.compile(
    r"(?:<=|>|maximum context length (?:is|of)|model length of|number of tokens allowed|only|cannot exceed|"
    r"available context size|limit)\D{0,12}(\d[\d,]{2,})",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d[\d,]{2,}")


def too_long(message: str, body: object = None) -> tuple[int, int] | None:
    """Return the window and the counted tokens of a refusal, 0 where unsaid; None for another refusal."""
    if not _REFUSED.search(message):
        return None
    if isinstance(body, dict) and isinstance(body.get("n_ctx"), int):
        return body["n_ctx"], int(body.get("n_prompt_tokens") or 0)
    numbers = [int(number.replace(",", "")) for number in _NUMBER.findall(message)]
    found = _WINDOW.search(message)
    window = int(found[1].replace(",", "")) if found else 0
    counted = max((number for number in numbers if number > window), default=0) if window else 0
    return window, counted
