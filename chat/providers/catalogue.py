"""The providers that can write answers, in the order in which they are offered.

One that speaks OpenAI's chat completions needs an entry here and its settings in `config/settings.py`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Listed:
    """What the Providers page says of a provider, and the Django settings that set it up.

    Attributes:
        variable: the environment variable that enables it; '' needs nothing.
        key, url, model: names of Django settings.
        enabled_by: the one of them whose value enables it.
        named: in messages of errors.
        takes_key: a key is all that it needs, so it can be connected on the page.
    """

    label: str
    explanation: str
    variable: str = ""
    key: str = ""
    url: str = ""
    model: str = ""
    enabled_by: str = ""
    named: str = ""
    takes_key: bool = True


PROVIDERS = {
    "anthropic": Listed(
        "Anthropic",
        "Writes answers with the provider's own citations.",
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_BASE_URL",
        "ANTHROPIC_MODEL",
        "ANTHROPIC_API_KEY",
        "Anthropic",
    ),
    "openai": Listed(
        "OpenAI",
        "Writes answers.",
        "OPENAI_API_KEY",
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
        "OPENAI_MODEL",
        "OPENAI_API_KEY",
        "OpenAI",
    ),
    "gemini": Listed(
        "Gemini",
        "Writes answers.",
        "GEMINI_API_KEY",
        "GEMINI_API_KEY",
        "GEMINI_BASE_URL",
        "GEMINI_MODEL",
        "GEMINI_API_KEY",
        "Gemini",
    ),
    "compatible": Listed(
        "Own server",
        "Writes answers with a model of your own: Ollama, vLLM, llama.cpp, anything that speaks "
        "OpenAI's chat completions.",
        "PINCITE_COMPATIBLE_URL",
        "COMPATIBLE_API_KEY",
        "COMPATIBLE_BASE_URL",
        "COMPATIBLE_MODEL",
        "COMPATIBLE_BASE_URL",
        "the model server",
        takes_key=False,
    ),
    "extractive": Listed(
        "Passages only (no AI)",
        "Needs no key: shows the passages that match best.",
        takes_key=False,
    ),
}
KEYED = tuple(name for name, listed in PROVIDERS.items() if listed.takes_key)
