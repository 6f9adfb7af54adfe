"""Decomposition: a compound question as its parts, each searched for itself."""

from __future__ import annotations

import re

from retrieval.providers.language import LanguageModel
from retrieval.strategies.multi_query import lines_of

MAX_PARTS = 4
SENTENCE = re.compile(r"[^?!.]+\?")
PROMPT = """If the question below asks for several separate things, write each as a question that can be
understood alone, one a line (at most {count}). If it asks for one thing, write NONE.

Question: {question}"""


def split_question(text: str) -> list[str]:
    """Parts that can be seen without a model: several questions in a row. [] when there is one."""
    parts = [part.strip() for part in SENTENCE.findall(text)]
    return parts[:MAX_PARTS] if len(parts) > 1 else []


def write_parts(question: str, model: LanguageModel) -> list[str]:
    """[] when the question asks for one thing. Raises ProviderError."""
    parts = lines_of(model.complete(PROMPT.format(count=MAX_PARTS, question=question)))
    return [] if len(parts) < 2 or parts[0].upper() == "NONE" else parts[:MAX_PARTS]
