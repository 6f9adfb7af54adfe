"""Notices a model that does not come to an end."""

from __future__ import annotations

from chat.providers.base import Delta, TextDelta
from retrieval.providers.errors import ProviderError

MOST_CHARACTERS = 60_000
WINDOW = 4_000  # characters looked at for repetition
SAMPLE = 60  # characters that come again and again
MOST_REPEATS = 8
STEP = 500  # characters between two looks


class Runaway:
    """Watches the words of one answer."""

    def __init__(self) -> None:
        self._length = 0
        self._next_look = WINDOW // 2
        self._recent = ""

    def watch(self, delta: Delta) -> None:
        """Raises ProviderError when the answer repeats itself without end, or is longer than any answer."""
        if not isinstance(delta, TextDelta):
            return
        self._length += len(delta.text)
        self._recent = (self._recent + delta.text)[-WINDOW:]
        if self._length > MOST_CHARACTERS:
            raise ProviderError("The answer was longer than any answer should be and was stopped.")
        if self._length >= self._next_look:
            self._next_look = self._length + STEP
            if self._recent.count(self._recent[-SAMPLE:]) >= MOST_REPEATS:
                raise ProviderError("The model repeated itself and was stopped.")
