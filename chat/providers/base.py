"""The ``Provider`` protocol of language models, the translation of SDK errors, and the reader of streams."""

from __future__ import annotations

import re
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from queue import Empty, Queue
from types import ModuleType
from typing import Any, Literal, Protocol

from chat.answers.prompt import Prompt, prompt_tokens, shortened
from chat.providers.catalogue import PROVIDERS
from chat.providers.context_window import (
    PromptTooLong,
    fitting,
    learn_density,
    recalled,
    remember,
    shows_example,
    too_long,
)
from chat.providers.open_requests import OpenRequests
from chat.providers.reply_filter import ReplyFilter
from retrieval.provider_calls import ProviderError, seconds_of


@dataclass(frozen=True, slots=True)
class TextDelta:
    """The next characters of the answer, including markers."""

    text: str


@dataclass(frozen=True, slots=True)
class NativeCitation:
    """A citation by the provider for the text just streamed.

    Attributes:
        quote: the cited words; '' when the provider cites the whole passage.
        block: the whole text that the citation supports, which may be several sentences.
        is_passage: the text is the page's own words, shown and not claimed: no verdict is given.
        before: text to write before the citation; both are rendered at once.
    """

    alias: str
    quote: str = ""
    block: str = ""
    is_passage: bool = False
    before: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of the whole request, as far as known; the last event counts."""

    input_tokens: int = 0
    output_tokens: int = 0


NO_USAGE = Usage()


@dataclass(frozen=True, slots=True)
class StreamEnd:
    """The regular end of the stream; without it, the stream was cut off."""

    reason: Literal["stop", "length", "refused"] = "stop"


@dataclass(frozen=True, slots=True)
class Progress:
    """What a server does before it writes. ``read`` of ``total`` tokens of the prompt, or it thinks."""

    read: int = 0
    total: int = 0
    thinks: bool = False


@dataclass(frozen=True, slots=True)
class Waiting:
    """No word has come yet; sent every ``WAITING_SECONDS``.

    Attributes:
        seconds: since the request.
        tokens: of the prompt, as the server counts them, else estimated.
        is_connected: the server has accepted the connection.
    """

    seconds: int
    tokens: int
    progress: Progress
    is_connected: bool = True


@dataclass(frozen=True, slots=True)
class TakenBack:
    """All text so far was the model's reasoning, of which only the end was marked."""


@dataclass(frozen=True, slots=True)
class Shortened:
    """The server refused the prompt for its length, and ``left_out`` passages are not sent again."""

    left_out: int


Delta = TextDelta | NativeCitation | Usage | StreamEnd | Progress | Waiting | Shortened | TakenBack


def reply_text(deltas: Iterable[Delta]) -> str:
    """Return the text of a whole reply."""
    pieces: list[str] = []
    for delta in deltas:
        if isinstance(delta, TextDelta):
            pieces.append(delta.text)
        elif isinstance(delta, TakenBack):
            pieces.clear()
    return "".join(pieces)


class Provider(ABC):
    """Writes answers.

    Attributes:
        name: as in settings and conversations.
        model: the model's name, '' when there is only one.
        passages: the number of passages it can use well.
        rewrites: whether it can rewrite questions.
        sees: whether it accepts images.
        is_local: whether it runs on this machine's processors, so that parallel requests are not faster.
        base_url: of a server; '' is the provider's own, or none.
    """

    name: str
    model: str
    passages: int = 60
    rewrites: bool = True
    sees: bool = False
    is_local: bool = False
    base_url: str = ""

    @abstractmethod
    def stream(self, prompt: Prompt) -> Iterator[Delta]:
        """Yield the answer piece by piece; ``StreamEnd`` is the last. Raises only ProviderError."""


@dataclass(eq=False)
class HostedModel(Provider):
    """A model behind an HTTP API.

    Attributes:
        max_tokens: of an answer.
        timeout: seconds without data; the first token may take that long.
    """

    name: str
    model: str
    api_key: str
    base_url: str = ""
    max_tokens: int = 2000
    timeout: float = 60
    sees: bool = False


# --- Errors of the SDKs: only ProviderError leaves a provider ---

SENTENCES = {
    400: "{name} refused the request.",
    401: "{name} does not accept the key: it is wrong or has expired. "
    "Paste another under Models and providers.",
    402: "The account at {name} has no credit left. Add some there, or choose another model.",
    403: "{name} does not allow this with the key that is set. "
    "Choose another model or key under Models and providers.",
    404: "{name} does not know this model: it may have been deleted. "
    "Choose another under Models and providers.",
    408: "{name} took too long to answer. Try again, or choose a faster model.",
    413: "The question with its passages is too long for {name}. Ask a shorter one, or choose another model.",
    429: "{name} is receiving too many requests. Wait a minute, then try again.",
    500: "{name} reported an internal error. Try again later.",
    529: "{name} is overloaded. Try again in a few minutes.",
}
# OpenAI, DeepSeek, Anthropic, OpenRouter, Gemini, 2026-11
NO_CREDIT = re.compile(
    r"insufficient_quota|exceeded your current quota|insufficient (?:balance|credits)|credit balance|billing",
    re.I,
)
NOT_REACHED = "{name} cannot be reached. Check its address, and that it is running."
HOST_NOT_REACHED = "{name} cannot be reached. Check this server's connection to the internet, then try again."
TOO_LATE = "{name} did not answer in time. Try again, or choose a faster model."
BROKE_OFF = "The connection to {name} broke off. Try again."
UNREADABLE = "{name} sent something that cannot be read. Try again, or choose another model."
WEB_PAGE = "{name} answered with a web page instead of an answer. Check its address, which ends in /v1."
TRY_AGAIN = {408, 409, 425, 429}


@contextmanager
def at_the_border(name: str, sdk: ModuleType, http: ModuleType) -> Iterator[None]:
    """Convert errors of the SDK and its HTTP client to ProviderError."""
    try:
        yield
    except ProviderError:
        raise
    except sdk.APIStatusError as error:
        raise from_status(name, error) from error
    except sdk.APIConnectionError as error:
        is_hosted = name in PROVIDERS and PROVIDERS[name].takes_key
        if isinstance(error.__cause__, http.ConnectError | http.ConnectTimeout):
            sentence = HOST_NOT_REACHED if is_hosted else NOT_REACHED
            raise NotReached(failed(sentence, name).message) from error
        in_time = not isinstance(error, sdk.APITimeoutError)
        raise failed(BROKE_OFF if in_time else TOO_LATE, name) from error
    except http.TimeoutException as error:
        raise failed("{name} stopped answering. Try again.", name) from error
    except http.HTTPError as error:
        raise failed(BROKE_OFF, name) from error
    except sdk.APIError as error:
        if sizes := too_long(str(error), error.body):
            raise PromptTooLong(failed(SENTENCES[413], name).message, *sizes) from error
        raise failed("{name} reported an error in the middle of its answer. Try again.", name) from error
    except (ValueError, AttributeError, TypeError) as error:
        raise failed(UNREADABLE, name) from error
    except Exception as error:
        raise failed("{name} failed for an unknown reason.", name) from error


class NotReached(ProviderError):
    """No connection to a server came about."""


class RequestRefused(ProviderError):
    """A server did not take a request for how it is written, such as one with a schema."""


def from_status(name: str, error: Any) -> ProviderError:
    """Convert an HTTP status: 4xx is permanent, except ``TRY_AGAIN``; 5xx is not."""
    status = int(error.status_code)
    if 400 <= status < 500 and (sizes := too_long(str(error), getattr(error, "body", None))):
        message = failed(SENTENCES[413], name).message
        return PromptTooLong(message, *sizes)
    if 400 <= status < 500 and NO_CREDIT.search(f"{error} {getattr(error, 'body', '')}"):
        return failed(SENTENCES[402], name, permanent=True)
    sentence = SENTENCES.get(status, SENTENCES[500 if status >= 500 else 400])
    if status in (400, 422):
        return RequestRefused(failed(sentence, name).message, permanent=True)
    permanent = 400 <= status < 500 and status not in TRY_AGAIN
    return failed(sentence, name, permanent, seconds_of(error.response.headers.get("retry-after")))


def failed(sentence: str, name: str, permanent: bool = False, after: float | None = None) -> ProviderError:
    message = sentence.format(name=label(name))
    return ProviderError(message[0].upper() + message[1:], permanent, after)


def label(name: str) -> str:
    """Return the provider's name in messages."""
    return PROVIDERS[name].named or PROVIDERS[name].label if name in PROVIDERS else name


# --- Reading a provider's stream with timeouts, retries and cancellation ---
#
# A server's stream is read in a separate thread, so that cancellation is noticed while the server is silent.
# A local provider is read in the answer's thread.

LISTEN_SECONDS = 0.1  # delay until a cancellation is noticed
LONGEST_BACKOFF = 20.0
MOST_UPDATES = 20  # a second, of one answer's page
MOST_UPDATES_OF_ALL = 100  # a second, of the pages of all answers that this process writes
MOST_TOGETHER = 200  # pieces joined to one update
WAITING_SECONDS = 5.0
CONNECTING_SECONDS = 10.0  # after that, a server that cannot be reached is not tried again


class Cancelled(Exception):
    """The user cancelled the answer."""


class Cancellation(Protocol):
    """What ends the reading of a stream: an event, or one of two."""

    def is_set(self) -> bool: ...

    def wait(self, timeout: float) -> bool: ...


@dataclass(frozen=True, slots=True)
class EitherEvent:
    """Set when one of two events is: the user stopped the answer, or a search waited long enough."""

    first: threading.Event
    second: threading.Event | None

    def is_set(self) -> bool:
        return self.first.is_set() or (self.second is not None and self.second.is_set())

    def wait(self, timeout: float) -> bool:
        """Wait until one is set, up to ``timeout`` seconds. Return whether one is."""
        deadline = time.monotonic() + timeout
        while not self.is_set() and (left := deadline - time.monotonic()) > 0:
            self.first.wait(min(left, LISTEN_SECONDS))
        return self.is_set()


@dataclass(frozen=True, slots=True)
class ProviderLimits:
    """Limits of one answer, in seconds.

    Attributes:
        silence: between two tokens.
        total: from the first token to the last.
        attempts: how often the request is sent if it fails before the first token.
        backoff: pause before the second attempt; it doubles with each.
        first: until the first token, or until the server says again how much it has read; a model on a slow
            machine reads a long prompt for minutes.
    """

    silence: float = 60
    total: float = 300
    attempts: int = 3
    backoff: float = 1
    first: float = 60


def stream_with_retries(
    provider: Provider, prompt: Prompt, limits: ProviderLimits, cancelled: Cancellation
) -> Iterator[Delta]:
    """Yield the provider's deltas; retry only before the first one.

    A prompt that the server refuses for its length is shortened and sent once more; one with a schema that it
    does not take, without it.

    Raises Cancelled, or ProviderError when it failed for good, timed out, or ended without ``StreamEnd``.
    """
    if provider.is_local:
        for delta in provider.stream(prompt):
            if cancelled.is_set():
                raise Cancelled
            yield delta
        return
    begun = time.monotonic()
    deadline = begun + limits.first
    attempt = 1
    is_shortened = is_without_schema = False
    prompt = replace(prompt, example=shows_example(provider, prompt))
    if (cut := fitting(provider, prompt)) != prompt:
        yield Shortened(len(prompt.passages) - len(cut.passages))
        prompt = cut
    if prompt.schema and recalled(provider, "without-schema"):
        prompt = replace(prompt, schema={})
    while True:
        delivered = False
        try:
            for delta in _read_once(provider, prompt, limits, deadline, cancelled):
                if not delivered and not isinstance(delta, Waiting):
                    delivered = True
                    if is_without_schema:
                        remember(provider, "without-schema", True)
                if isinstance(delta, Usage):
                    learn_density(provider, prompt, delta.input_tokens)
                yield delta
            return
        except PromptTooLong as error:
            cut = shortened(prompt, error.room(provider, prompt))
            if delivered or is_shortened or cut == prompt:
                raise
            is_shortened = True
            yield Shortened(len(prompt.passages) - len(cut.passages))
            prompt = cut
        except ProviderError as error:
            if isinstance(error, RequestRefused) and prompt.schema and not delivered:
                prompt, is_without_schema = replace(prompt, schema={}), True
                continue
            if delivered or error.permanent or attempt == limits.attempts:
                raise
            if isinstance(error, NotReached) and time.monotonic() > begun + CONNECTING_SECONDS:
                raise
            wait = error.retry_after or limits.backoff * 2 ** (attempt - 1)
            if wait > LONGEST_BACKOFF or time.monotonic() + wait > deadline:
                raise
            if cancelled.wait(wait):
                raise Cancelled from None
            attempt += 1


def _read_once(
    provider: Provider, prompt: Prompt, limits: ProviderLimits, deadline: float, cancelled: Cancellation
) -> Iterator[Delta]:
    abandoned, requests = threading.Event(), OpenRequests()
    inbox = _Inbox(limits, deadline, cancelled, requests, prompt_tokens(prompt))
    threading.Thread(
        target=_pump, args=(provider, prompt, inbox.queue, abandoned, requests), daemon=True
    ).start()
    finished = False
    _open.add(inbox)
    try:
        while (delta := inbox.next()) is not None:
            if isinstance(delta, ProviderError):
                raise delta
            finished = finished or isinstance(delta, StreamEnd)
            yield delta
    finally:
        _open.discard(inbox)
        abandoned.set()
        requests.end()
    if not finished:
        raise ProviderError("The model's answer broke off. Continue it, or ask again.")


Item = Delta | ProviderError | None  # None ends the stream
TOO_SLOW = "The model took too long to answer."
NO_FIRST_TOKEN = "The model did not begin to answer in time. Ask again, or choose a faster model."


class _Inbox:
    """The queue of unread deltas; texts that arrive quickly are joined."""

    def __init__(
        self,
        limits: ProviderLimits,
        deadline: float,
        cancelled: Cancellation,
        requests: OpenRequests,
        tokens: int = 0,
    ) -> None:
        self.queue: Queue[Item] = Queue()
        self._limits, self._deadline, self._cancelled = limits, deadline, cancelled
        self._begun = False
        self._held: list[Item] = []
        self._spoken = 0.0
        self._progress = Progress()
        self._tokens, self._requests = tokens, requests
        self._asked = self._told = time.monotonic()

    def next(self) -> Item:
        """Return the next item. Raises Cancelled, or ProviderError after a timeout."""
        item = self._held.pop() if self._held else self._wait()
        return self._joined(item) if isinstance(item, TextDelta) else item

    def _wait(self) -> Item:
        quiet_until = self._patience()
        while True:
            now = time.monotonic()
            if self._cancelled.is_set():
                raise Cancelled
            if now > quiet_until:
                raise ProviderError(TOO_SLOW if self._begun else NO_FIRST_TOKEN)
            if not self._spoken and now > self._told + WAITING_SECONDS:
                self._told = now
                seconds = round(now - self._asked)
                return Waiting(seconds, self._tokens, self._progress, self._requests.is_connected)
            with suppress(Empty):
                item = self.queue.get(timeout=LISTEN_SECONDS)
                self._note(item)
                if not isinstance(item, Progress):
                    return item
                quiet_until = self._patience()

    def _patience(self) -> float:
        """Return until when the next item must have come."""
        return min(time.monotonic() + self._limits.silence, self._deadline) if self._begun else self._deadline

    def _note(self, item: Item) -> None:
        """Note progress, and the first token, from which the time of the answer counts.

        A server that says that it has read on is waited for anew, in all for as long as an answer may take.
        """
        now = time.monotonic()
        if isinstance(item, Progress):
            if item.read > self._progress.read and not self._begun:
                latest = self._asked + self._limits.first + self._limits.total
                self._deadline = max(self._deadline, min(now + self._limits.first, latest))
            self._progress, self._tokens = item, item.total or self._tokens
            if not item.thinks:
                return
        if not self._begun and not isinstance(item, ProviderError):
            self._begun, self._deadline = True, now + self._limits.total

    def _joined(self, first: TextDelta) -> TextDelta:
        """Join the text with those that follow, so that pages are updated no more often than allowed."""
        pieces, pause = [first.text], max(1 / MOST_UPDATES, len(_open) / MOST_UPDATES_OF_ALL)
        while not self._held and len(pieces) < MOST_TOGETHER:
            try:
                item = self.queue.get(timeout=max(0.0, self._spoken + pause - time.monotonic()))
            except Empty:
                break
            if isinstance(item, TextDelta):
                pieces.append(item.text)
            else:
                self._held.append(item)
        self._spoken = time.monotonic()
        return TextDelta("".join(pieces))


_open: set[_Inbox] = set()  # of the answers that are being read


def _pump(
    provider: Provider,
    prompt: Prompt,
    queue: Queue[Item],
    abandoned: threading.Event,
    requests: OpenRequests,
) -> None:
    try:
        with requests.recorded():
            for delta in _filtered(provider, prompt):
                queue.put(delta)
                if abandoned.is_set():
                    return
        queue.put(None)
    except ProviderError as error:
        queue.put(error)
    except Exception:
        queue.put(ProviderError("The model failed for an unknown reason."))


def _filtered(provider: Provider, prompt: Prompt) -> Iterator[Delta]:
    """Yield the provider's deltas; texts without reasoning and the tokens of chat templates."""
    words = ReplyFilter(prompt.schema is None and bool(recalled(provider, "thought")))
    for delta in provider.stream(prompt):
        if isinstance(delta, TextDelta):
            text = words.feed(delta.text)
            if words.took_back:
                remember(provider, "thought", True)
                yield TakenBack()
            if text:
                yield TextDelta(text)
            elif words.thinks:
                yield Progress(thinks=True)
            continue
        if words.thinks and delta == StreamEnd():
            remember(provider, "thought", False)  # what is shown now is an answer
        if isinstance(delta, StreamEnd | NativeCitation) and (text := words.flush(delta == StreamEnd())):
            yield TextDelta(text)
        yield delta


# --- Detection of a model that does not stop ---

MOST_CHARACTERS = 60_000
WINDOW = 4_000  # characters that are checked for repetition
SAMPLE = 60  # characters that are repeated
MOST_REPEATS = 8
STEP = 500  # characters between two checks


class RepetitionGuard:
    """Detect repetition and excessive length of one answer."""

    def __init__(self) -> None:
        self._length = 0
        self._next_look = WINDOW // 2
        self._recent = ""

    def watch(self, delta: Delta) -> None:
        """Raise ProviderError when the answer repeats itself, or is longer than ``MOST_CHARACTERS``."""
        if not isinstance(delta, TextDelta):
            return
        self._length += len(delta.text)
        self._recent = (self._recent + delta.text)[-WINDOW:]
        if self._length > MOST_CHARACTERS:
            raise ProviderError("The answer became too long and was stopped.")
        if self._length >= self._next_look:
            self._next_look = self._length + STEP
            if self._recent.count(self._recent[-SAMPLE:]) >= MOST_REPEATS:
                raise ProviderError(
                    "The model repeated itself and was stopped. Ask again, or choose another model."
                )
