"""Multi-query: the question in other terms.

The lexicon's terms (``retrieval.questions``) are always there; a language model
writes three variants on top.
"""

from __future__ import annotations

from retrieval.strategies.derivation import Reply

VARIANTS = 3
LONGEST = 500  # characters
WANTED = f"""\
a list of {VARIANTS} other ways to ask, for documents that use other words: the terms of the \
documents' own field, spelled-out abbreviations, synonyms; every name, number and year is kept"""


def variants_of(reply: Reply) -> list[str]:
    """Up to three variants. Raises ProviderError."""
    return reply.texts("variants", LONGEST)[:VARIANTS]
