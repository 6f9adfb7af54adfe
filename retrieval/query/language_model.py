"""The one thing search and indexing ask of a language model; chat's providers are behind it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, cast

from django.conf import settings
from django.utils.module_loading import import_string


class LanguageModel(Protocol):
    def complete(self, prompt: str) -> str:
        """The model's answer. Raises ProviderError."""
        ...


def configured_language_model() -> LanguageModel | None:
    """The model that the settings name, for work that nobody waits for; None where there is none.

    Raises ProviderError when it is not set up.
    """
    return cast("LanguageModel | None", import_string(settings.LANGUAGE_MODEL)())


@dataclass(slots=True)
class ScriptedModel:
    """A LanguageModel that answers by the first key its prompt holds; for tests and demonstrations."""

    answers: Mapping[str, str]
    prompts: list[str] = field(default_factory=list)

    def complete(self, prompt: str) -> str:
        self.prompts.append(prompt)
        return next((answer for key, answer in self.answers.items() if key in prompt), "")
