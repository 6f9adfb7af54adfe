"""HyDE (Gao et al. 2022): searches by the vector of an answer that a model makes up."""

from __future__ import annotations

from retrieval.providers.language import LanguageModel

PROMPT = """Write the passage of a document that would answer the question below: three sentences at most,
in the tone of such a document. Invent what you do not know; this is only used to find the real one.

Question: {question}"""


def write_passage(question: str, model: LanguageModel) -> str:
    """Raises ProviderError."""
    return model.complete(PROMPT.format(question=question)).strip()[:2000]
