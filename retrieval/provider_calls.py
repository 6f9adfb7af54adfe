"""Calls to outside services: their common error, retries, time limits, and the language model."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar, cast

from django.conf import settings
from django.utils.module_loading import import_string

PERMANENT_STATUSES = frozenset({400, 401, 403, 404, 413, 422})


class ProviderError(Exception):
    """An outside service did not do what was asked.

    Attributes:
        message: one sentence for people; holds no key, no address with a secret, no traceback.
        permanent: True when trying again cannot help (wrong key, unknown model, refused input).
        retry_after: seconds the service asked to wait, None when it did not say.
    """

    def __init__(self, message: str, permanent: bool = False, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.permanent = permanent
        self.retry_after = retry_after


def seconds_of(header: str | None) -> float | None:
    """Return a Retry-After header in seconds; None where it is absent or a date."""
    try:
        return None if header is None else max(0.0, float(header))
    except ValueError:
        return None


# Retries.

Answer = TypeVar("Answer")
FIRST_PAUSE = 0.5  # seconds; doubled each time
LONGEST_PAUSE = 20.0


def with_retries(
    call: Callable[[], Answer], attempts: int = 4, pause: Callable[[float], None] = time.sleep
) -> Answer:
    """Return the call's result; try up to ``attempts`` times, with the pauses of the service, else growing
    ones.

    Raises ProviderError: the last one, or the first that is permanent.
    """
    for attempt in range(1, attempts + 1):
        try:
            return call()
        except ProviderError as error:
            if error.permanent or attempt == attempts:
                raise
            wait = FIRST_PAUSE * 2 ** (attempt - 1) if error.retry_after is None else error.retry_after
            pause(min(wait, LONGEST_PAUSE))
    raise AssertionError("unreachable")


# Time limits of calls that may hang.

# A call that outlives its deadline keeps its thread until its own time-out ends it.
_threads = ThreadPoolExecutor(max_workers=32, thread_name_prefix="search")


@dataclass(frozen=True, slots=True)
class PendingCall(Generic[Answer]):
    """A call in another thread, with a limit of ``seconds`` from ``start``."""

    future: Future[Answer]
    seconds: float
    start: float
    given_up: threading.Event

    def answer(self) -> Answer:
        """Return the call's result; it may be called again. Raises ProviderError: the call's own, or a
        timeout.
        """
        left = self.start + self.seconds - time.monotonic()
        try:
            return self.future.result(timeout=max(0.0, left))
        except FutureTimeout:
            self.future.cancel()
            self.given_up.set()
            raise ProviderError(f"No answer within {self.seconds:g} s.") from None


def start_call(call: Callable[[], Answer], seconds: float) -> PendingCall[Answer]:
    """Start the call, which must not touch the database. It may watch ``nobody_waits``."""
    given_up = threading.Event()

    def watched() -> Answer:
        _given_up.set(given_up)
        return call()

    return PendingCall(_threads.submit(watched), seconds, time.monotonic(), given_up)


_given_up: ContextVar[threading.Event | None] = ContextVar("given_up", default=None)


def nobody_waits() -> threading.Event | None:
    """Return the event that is set when the time of this thread's call is over; None outside a call."""
    return _given_up.get()


# The language model for search and indexing, provided by ``chat``.


Schema = dict[str, Any]
"""A JSON schema, in the subset that every provider enforces."""


def closed_object(**members: Schema) -> Schema:
    """Return the schema of an object with just these members, all required."""
    return {
        "type": "object",
        "properties": members,
        "required": list(members),
        "additionalProperties": False,
    }


class LanguageModel(Protocol):
    def complete(self, prompt: str, schema: Schema | None = None) -> str:
        """Return the model's answer, which follows ``schema`` where its server can do so.

        Raises ProviderError.
        """
        ...


def configured_language_model() -> LanguageModel | None:
    """Return the model of the settings for background work; None without one.

    Raises ProviderError if it is not configured completely.
    """
    return cast("LanguageModel | None", import_string(settings.LANGUAGE_MODEL)())


@dataclass(slots=True)
class ScriptedModel:
    """A LanguageModel that answers by the first key found in its prompt; for tests and demonstrations."""

    answers: Mapping[str, str]
    prompts: list[str] = field(default_factory=list)

    def complete(self, prompt: str, schema: Schema | None = None) -> str:
        self.prompts.append(prompt)
        return next((answer for key, answer in self.answers.items() if key in prompt), "")
