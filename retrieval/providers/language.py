"""The one thing search asks of a language model; chat's providers are passed in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol


class LanguageModel(Protocol):
    def complete(self, prompt: str) -> str:
        """The model's answer. Raises ProviderError."""
        ...


@dataclass(slots=True)
class ScriptedModel:
    """A LanguageModel that answers by the first key its prompt holds; for tests and demonstrations."""

    answers: Mapping[str, str]
    prompts: list[str] = field(default_factory=list)

    def complete(self, prompt: str) -> str:
        self.prompts.append(prompt)
        return next((answer for key, answer in self.answers.items() if key in prompt), "")
