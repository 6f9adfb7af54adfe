"""The ``Provider`` protocol of language models, its stream events, and the translation of SDK errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Literal, Protocol

from chat.answers.prompt import Prompt
from retrieval.provider_calls import ProviderError


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
    """

    alias: str
    quote: str = ""
    block: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of the whole request, as far as known; the last event counts."""

    input_tokens: int = 0
    output_tokens: int = 0


NO_USAGE = Usage()


@dataclass(frozen=True, slots=True)
class Finished:
    """The regular end of the stream; without it, the stream was cut off."""

    reason: Literal["stop", "length", "refused"] = "stop"


Delta = TextDelta | NativeCitation | Usage | Finished


class Provider(Protocol):
    """Writes answers.

    Attributes:
        name: as in settings and conversations.
        model: the model's name, '' when there is only one.
        passages: the number of passages it can use well.
        rewrites: whether it can rewrite questions.
        sees: whether it accepts images.
        is_local: whether it runs on this machine's processors, so that parallel requests are not faster.
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
    def sees(self) -> bool: ...

    @property
    def is_local(self) -> bool: ...

    def stream(self, prompt: Prompt) -> Iterator[Delta]:
        """Yield the answer piece by piece; ``Finished`` is the last. Raises only ProviderError."""
        ...


# --- Errors of the SDKs: only ProviderError leaves a provider ---

SENTENCES = {
    400: "{name} refused the request.",
    401: "{name} does not accept the key. Check its setting.",
    402: "{name} asks for payment before it answers.",
    403: "{name} does not allow this with the key that is set.",
    404: "{name} does not know this model or address. Check the model's name and the base URL.",
    408: "{name} took too long to answer.",
    413: "The question with its passages is too long for {name}.",
    422: "{name} refused the request.",
    429: "{name} is receiving too many requests, or the account's quota is used up.",
    529: "{name} is overloaded.",
}
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
    except sdk.APITimeoutError as error:
        raise failed("{name} did not answer in time.", name) from error
    except sdk.APIConnectionError as error:
        reached = not isinstance(error.__cause__, http.ConnectError)
        sentence = "The connection to {name} broke off." if reached else "{name} cannot be reached."
        raise failed(sentence, name) from error
    except http.TimeoutException as error:
        raise failed("{name} stopped answering.", name) from error
    except http.HTTPError as error:
        raise failed("The connection to {name} broke off.", name) from error
    except sdk.APIError as error:
        raise failed("{name} reported an error in the middle of its answer.", name) from error
    except (ValueError, AttributeError, TypeError) as error:
        raise failed("{name} sent something that cannot be read.", name) from error
    except Exception as error:
        raise failed("{name} failed in an unknown way.", name) from error


def from_status(name: str, error: Any) -> ProviderError:
    """Convert an HTTP status: 4xx is permanent, except ``TRY_AGAIN``; 5xx is not."""
    status = int(error.status_code)
    sentence = SENTENCES.get(status, "{name} has a problem of its own." if status >= 500 else SENTENCES[400])
    permanent = 400 <= status < 500 and status not in TRY_AGAIN
    return failed(sentence, name, permanent, retry_after(error))


def failed(sentence: str, name: str, permanent: bool = False, after: float | None = None) -> ProviderError:
    message = sentence.format(name=label(name))
    return ProviderError(message[0].upper() + message[1:], permanent, after)


def retry_after(error: Any) -> float | None:
    try:
        return float(error.response.headers["retry-after"])
    except (KeyError, ValueError, AttributeError):
        return None


def label(name: str) -> str:
    """Return the provider's display name."""
    return {
        "openai": "OpenAI",
        "anthropic": "Anthropic",
        "gemini": "Gemini",
        "compatible": "the model server",
    }.get(name, name)
