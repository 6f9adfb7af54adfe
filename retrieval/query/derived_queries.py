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

from retrieval.provider_calls import LanguageModel, ProviderError
from retrieval.query.question_terms import readable

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


# HyDE (Gao et al. 2022): searches by the vector of an answer that a model makes up.

LONGEST_PASSAGE = 2000  # characters
HYPOTHETICAL_PASSAGE = """\
the passage of a document that would answer the question, three sentences at most, in the tone \
of such a document; invent what you do not know, it is only used to find the real one"""


def hypothetical_passage(reply: Reply) -> str:
    """Raises ProviderError."""
    return readable(reply.read("passage", str))[:LONGEST_PASSAGE]


# Multi-query: the question in other terms.
#
# The lexicon's terms (``retrieval.query.question_terms``) are always there; a language model
# writes three variants on top.

VARIANTS = 3
LONGEST_VARIANT = 500  # characters
VARIANTS_WANTED = f"""\
a list of {VARIANTS} other ways to ask, for documents that use other words: the terms of the \
documents' own field, spelled-out abbreviations, synonyms; every name, number and year is kept"""


def variants_of(reply: Reply) -> list[str]:
    """Up to three variants. Raises ProviderError."""
    return reply.texts("variants", LONGEST_VARIANT)[:VARIANTS]


# Decomposition: a compound question as its parts, each searched for itself.

MAX_PARTS = 4
LONGEST_PART = 500  # characters of a part
SENTENCE = re.compile(r"[^?!.]+[?!.]?")
PARTS_WANTED = f"""\
when the question asks for several separate things, a list of at most {MAX_PARTS} questions \
that can each be understood alone; else an empty list"""


def split_question(text: str) -> list[str]:
    """Parts that can be seen without a model: several questions in a row. [] when there is one."""
    parts = [part.strip() for part in SENTENCE.findall(text) if part.endswith("?")]
    return parts[:MAX_PARTS] if len(parts) > 1 else []


def parts_of(reply: Reply) -> list[str]:
    """[] when the question asks for one thing. Raises ProviderError."""
    parts = reply.texts("parts", LONGEST_PART)
    return parts[:MAX_PARTS] if len(parts) > 1 else []
