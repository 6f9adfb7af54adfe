"""The answerer that needs no key: it says what the documents say, word for word."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from chat.extractive.answer import extractive_answer
from chat.prompting import Prompt
from chat.providers.base import Delta, Finished


@dataclass(frozen=True, slots=True)
class Extractive:
    """Answers with verbatim sentences and table rows of the passages."""

    name: str = "extractive"
    model: str = ""
    passages: int = 240
    rewrites: bool = False

    def stream(self, prompt: Prompt) -> Iterator[Delta]:
        yield from extractive_answer(prompt.question, prompt.passages)
        yield Finished()
