"""Multi-query: the question in other terms.

The lexicon's terms (``retrieval.questions``) are always there; a language model
writes three variants on top.
"""

from __future__ import annotations

import re

from retrieval.providers.language import LanguageModel

VARIANTS = 3
PROMPT = """Rewrite the search below in {count} other ways, to find the passages that answer it in
documents that use other words: the terms of the document's own field, spelled-out abbreviations,
synonyms. Keep every name, number and year. One variant a line, nothing else.

Search: {question}"""


def write_variants(question: str, model: LanguageModel) -> list[str]:
    """Up to three variants. Raises ProviderError."""
    return lines_of(model.complete(PROMPT.format(count=VARIANTS, question=question)))[:VARIANTS]


def lines_of(answer: str) -> list[str]:
    """The answer's lines without bullets, numbers and quotation marks."""
    lines = (
        re.sub(r"^\s*(?:[-*•]|\d+[.)])\s*", "", line).strip().strip('"“”') for line in answer.splitlines()
    )
    return [line[:500] for line in lines if line]
