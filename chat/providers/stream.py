"""Reads a provider's stream with time limits, retries, and an ear for the cancel button.

A server's stream is read in a thread of its own: one that says nothing would
otherwise keep the answer from noticing that nobody waits any more. What our own
processors write is read at once, in the answer's thread.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, Queue

from chat.answers.prompt import Prompt
from chat.providers.base import Delta, Finished, Provider, TextDelta
from retrieval.provider_calls import ProviderError

LISTEN_SECONDS = 0.1  # how late a cancel may be noticed
LONGEST_BACKOFF = 20.0
TOGETHER_SECONDS = 0.05  # twenty changes of the page a second are a stream
MOST_TOGETHER = 200  # pieces: a model that floods is still heard at once


class Cancelled(Exception):
    """Somebody asked for the answer to stop."""


@dataclass(frozen=True, slots=True)
class ProviderLimits:
    """Seconds without a word, seconds for the whole answer, tries, seconds before the second try."""

    silence: float = 60
    total: float = 300
    attempts: int = 3
    backoff: float = 1


def stream_with_retries(
    provider: Provider, prompt: Prompt, limits: ProviderLimits, cancelled: threading.Event
) -> Iterator[Delta]:
    """The provider's deltas. Retries only while nothing has come.

    Raises Cancelled, or ProviderError when it failed for good, took too long,
    or broke off without ``Finished``.
    """
    if provider.is_local:
        yield from _read_local(provider, prompt, cancelled)
        return
    deadline = time.monotonic() + limits.total
    for attempt in range(1, limits.attempts + 1):
        delivered = False
        try:
            for delta in _read_once(provider, prompt, limits.silence, deadline, cancelled):
                delivered = True
                yield delta
            return
        except ProviderError as error:
            if delivered or error.permanent or attempt == limits.attempts:
                raise
            wait = error.retry_after or limits.backoff * 2 ** (attempt - 1)
            if wait > LONGEST_BACKOFF or time.monotonic() + wait > deadline:
                raise
            if cancelled.wait(wait):
                raise Cancelled from None


def _read_local(provider: Provider, prompt: Prompt, cancelled: threading.Event) -> Iterator[Delta]:
    """The deltas of a provider that waits for nobody; texts that follow each other as one."""
    texts: list[str] = []
    for delta in provider.stream(prompt):
        if cancelled.is_set():
            raise Cancelled
        if isinstance(delta, TextDelta):
            texts.append(delta.text)
            continue
        if texts:
            yield TextDelta("".join(texts))
            texts.clear()
        yield delta
    if texts:
        yield TextDelta("".join(texts))


def _read_once(
    provider: Provider, prompt: Prompt, silence: float, deadline: float, cancelled: threading.Event
) -> Iterator[Delta]:
    inbox = _Inbox(silence, deadline, cancelled)
    abandoned = threading.Event()
    threading.Thread(target=_pump, args=(provider, prompt, inbox.queue, abandoned), daemon=True).start()
    finished = False
    try:
        while (delta := inbox.next()) is not None:
            if isinstance(delta, ProviderError):
                raise delta
            finished = finished or isinstance(delta, Finished)
            yield delta
    finally:
        abandoned.set()
    if not finished:
        raise ProviderError("The model's answer broke off.")


Item = Delta | ProviderError | None  # None ends the stream


class _Inbox:
    """What the provider has said and nobody has read; words that come quickly are read together."""

    def __init__(self, silence: float, deadline: float, cancelled: threading.Event) -> None:
        self.queue: Queue[Item] = Queue()
        self._silence, self._deadline, self._cancelled = silence, deadline, cancelled
        self._held: list[Item] = []
        self._spoken = 0.0

    def next(self) -> Item:
        """Raises Cancelled, or ProviderError when nothing comes in time."""
        item = self._held.pop() if self._held else self._wait()
        return self._joined(item) if isinstance(item, TextDelta) else item

    def _wait(self) -> Item:
        quiet_until = min(time.monotonic() + self._silence, self._deadline)
        while True:
            if self._cancelled.is_set():
                raise Cancelled
            if time.monotonic() > quiet_until:
                raise ProviderError("The model took too long to answer.")
            with suppress(Empty):
                return self.queue.get(timeout=LISTEN_SECONDS)

    def _joined(self, first: TextDelta) -> TextDelta:
        """The text with what follows it within a moment: a page need not change with every token."""
        pieces = [first.text]
        while not self._held and len(pieces) < MOST_TOGETHER:
            try:
                item = self.queue.get(timeout=max(0.0, self._spoken + TOGETHER_SECONDS - time.monotonic()))
            except Empty:
                break
            if isinstance(item, TextDelta):
                pieces.append(item.text)
            else:
                self._held.append(item)
        self._spoken = time.monotonic()
        return TextDelta("".join(pieces))


def _pump(provider: Provider, prompt: Prompt, queue: Queue[Item], abandoned: threading.Event) -> None:
    try:
        for delta in provider.stream(prompt):
            queue.put(delta)
            if abandoned.is_set():
                return
        queue.put(None)
    except ProviderError as error:
        queue.put(error)
    except Exception:
        queue.put(ProviderError("The model failed in an unknown way."))


# Notices a model that does not come to an end.

MOST_CHARACTERS = 60_000
WINDOW = 4_000  # characters looked at for repetition
SAMPLE = 60  # characters that come again and again
MOST_REPEATS = 8
STEP = 500  # characters between two looks


class RepetitionGuard:
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
