"""The provider without a model: it answers with verbatim quotes and needs no key."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from chat.answers.prompt import Prompt
from chat.answers.without_model.answer import answer_without_model
from chat.providers.base import Delta, Finished

NAME = "extractive"


@dataclass(frozen=True, slots=True)
class Extractive:
    """Answers with verbatim sentences and table rows of the passages."""

    name: str = NAME
    model: str = ""
    passages: int = 400
    rewrites: bool = False
    is_local: bool = True
    sees: bool = False

    def stream(self, prompt: Prompt) -> Iterator[Delta]:
        yield from answer_without_model(prompt.question, prompt.passages, prompt.notes)
        yield Finished()
