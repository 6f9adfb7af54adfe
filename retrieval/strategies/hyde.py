"""HyDE (Gao et al. 2022): searches by the vector of an answer that a model makes up."""

from __future__ import annotations

from retrieval.questions import readable
from retrieval.strategies.derivation import Reply

LONGEST = 2000  # characters
WANTED = """\
the passage of a document that would answer the question, three sentences at most, in the tone \
of such a document; invent what you do not know, it is only used to find the real one"""


def passage_of(reply: Reply) -> str:
    """Raises ProviderError."""
    return readable(reply.read("passage", str))[:LONGEST]
