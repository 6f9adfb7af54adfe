"""The providers that can write answers, in the order in which they are offered.

One that speaks OpenAI's chat completions needs an entry here and its settings in `config/settings.py`, whose
names begin with its own: ``GEMINI_API_KEY``, ``GEMINI_BASE_URL``, ``GEMINI_MODEL``.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """What the Providers page says of a provider.

    Attributes:
        variable: the environment variable that enables it; '' needs nothing.
        named: in messages of errors; '' is the label.
        takes_key: a key is all that it needs, so it can be connected on the page.
    """

    label: str
    explanation: str
    variable: str = ""
    named: str = ""
    takes_key: bool = True


PROVIDERS = {
    "anthropic": Listed(
        label="Anthropic",
        explanation="Writes answers with the provider's own citations.",
        variable="ANTHROPIC_API_KEY",
    ),
    "openai": Listed(
        label="OpenAI",
        explanation="Writes answers.",
        variable="OPENAI_API_KEY",
    ),
    "gemini": Listed(
        label="Gemini",
        explanation="Writes answers.",
        variable="GEMINI_API_KEY",
    ),
    "compatible": Listed(
        label="Own server",
        explanation="Writes answers with your own model: Ollama, vLLM, llama.cpp or any server with OpenAI's "
        "chat API.",
        variable="PINCITE_COMPATIBLE_URL",
        named="the model server",
        takes_key=False,
    ),
    "extractive": Listed(
        label="Passages only (no AI)",
        explanation="Needs no key: quotes the passages that match best.",
        named="extractive",
        takes_key=False,
    ),
}
KEYED = tuple(name for name, listed in PROVIDERS.items() if listed.takes_key)
