"""Decomposition: a compound question as its parts, each searched for itself."""

from __future__ import annotations

import re

from retrieval.strategies.derivation import Reply

MAX_PARTS = 4
LONGEST = 500  # characters of a part
SENTENCE = re.compile(r"[^?!.]+[?!.]?")
WANTED = f"""\
when the question asks for several separate things, a list of at most {MAX_PARTS} questions \
that can each be understood alone; else an empty list"""


def split_question(text: str) -> list[str]:
    """Parts that can be seen without a model: several questions in a row. [] when there is one."""
    parts = [part.strip() for part in SENTENCE.findall(text) if part.endswith("?")]
    return parts[:MAX_PARTS] if len(parts) > 1 else []


def parts_of(reply: Reply) -> list[str]:
    """[] when the question asks for one thing. Raises ProviderError."""
    parts = reply.texts("parts", LONGEST)
    return parts[:MAX_PARTS] if len(parts) > 1 else []
