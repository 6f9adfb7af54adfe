"""The seam to whatever writes answers: one method that matters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, Protocol

from chat.prompting import Prompt


@dataclass(frozen=True, slots=True)
class TextDelta:
    """The next characters of the answer, markers and all."""

    text: str


@dataclass(frozen=True, slots=True)
class NativeCitation:
    """The provider itself says what the text just streamed rests on.

    Attributes:
        quote: the cited words, '' when the provider can only point at the whole passage.
        block: all the text that the citation stands for, which may be several sentences.
    """

    alias: str
    quote: str = ""
    block: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of the whole request, as far as known when it is sent; the last one counts."""

    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Finished:
    """The stream's regular end; a stream that ends without it was cut off."""

    reason: Literal["stop", "length", "refused"] = "stop"


Delta = TextDelta | NativeCitation | Usage | Finished


class Provider(Protocol):
    """Writes answers.

    Attributes:
        name: as in settings and on conversations.
        model: the model's name, '' when there is only one.
        passages: how many passages it makes good use of.
        rewrites: whether it can be asked to rewrite a question.
        is_local: whether our own processors do its work, so that more at once are not faster.
    """

    @property
    def name(self) -> str: ...

    @property
    def model(self) -> str: ...

    @property
    def passages(self) -> int: ...

    @property
    def rewrites(self) -> bool: ...

    @property
    def is_local(self) -> bool: ...

    def stream(self, prompt: Prompt) -> Iterator[Delta]:
        """The answer, piece by piece, ended by ``Finished``. Raises only ProviderError."""
        ...
