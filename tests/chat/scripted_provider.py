"""A provider that streams what a test gives it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from chat.answers.prompt import Prompt
from chat.providers.base import Delta, Provider, StreamEnd, TextDelta
from retrieval.provider_calls import ProviderError


@dataclass
class Scripted(Provider):
    """Streams its pieces; a ProviderError among them is raised in its turn.

    Attributes:
        pieces: text, deltas, or errors; a trailing StreamEnd is added when no error ends the script.
        pause: seconds before each piece.
        prompts: the prompts it received.
    """

    pieces: Sequence[str | Delta | ProviderError]
    pause: float = 0
    name: str = "scripted"
    model: str = ""
    passages: int = 60
    rewrites: bool = False
    is_local: bool = False
    sees: bool = False
    prompts: list[Prompt] = field(default_factory=list)

    def stream(self, prompt: Prompt) -> Iterator[Delta]:
        self.prompts.append(prompt)
        for piece in self.pieces:
            time.sleep(self.pause)
            if isinstance(piece, ProviderError):
                raise piece
            yield TextDelta(piece) if isinstance(piece, str) else piece
        yield StreamEnd()
