"""One call to a language model for all that a question may be searched by besides itself.

Each strategy says what it wants under a key of one JSON object, and reads that
key alone: a key that makes no sense costs one strategy, a model that is slow
costs its time once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

import msgspec

from retrieval.providers.errors import ProviderError
from retrieval.providers.language import LanguageModel
from retrieval.questions import readable

Value = TypeVar("Value")
PROMPT = """Documents will be searched for the question below. Reply with one JSON object and nothing else.
Its keys:
{wanted}

Question: {question}"""


@dataclass(frozen=True, slots=True)
class Reply:
    """The model's object, key by key unread."""

    values: Mapping[str, msgspec.Raw]

    def read(self, key: str, kind: type[Value]) -> Value:
        """Raises ProviderError when the key is absent or holds something else."""
        try:
            return msgspec.json.decode(self.values[key], type=kind)
        except (KeyError, msgspec.MsgspecError):
            raise ProviderError(f"The model's {key} could not be read.") from None

    def texts(self, key: str, longest: int) -> list[str]:
        """The texts of a list that say something, as a person might have typed them. Raises ProviderError."""
        return [text for said in self.read(key, list[str]) if (text := readable(said)[:longest].strip())]


def derive(question: str, wanted: Mapping[str, str], model: LanguageModel) -> Reply:
    """Asks for the keys of ``wanted``; its values say what each is to hold. Raises ProviderError."""
    lines = "\n".join(f'"{key}": {what}' for key, what in wanted.items())
    answer = model.complete(PROMPT.format(wanted=lines, question=question))
    written = re.search(r"\{.*\}", answer, re.S)  # models like to say a word before and after
    try:
        return Reply(msgspec.json.decode(written[0] if written else answer, type=dict[str, msgspec.Raw]))
    except msgspec.MsgspecError:
        raise ProviderError("The model did not reply with JSON.") from None
