"""A sentence before each chunk that describes its subject, written by a language model.

A chunk alone does not say who "the company" is. The sentence is embedded with the chunk ("contextual
retrieval", Anthropic 2024). It is off unless ``CHUNK_SUMMARIES`` sets a number of chunks per document.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from functools import partial

import msgspec
from django.conf import settings

from documents.models import Document, RetrievalChunk
from retrieval.provider_calls import LanguageModel, ProviderError, configured_language_model, start_call
from retrieval.query.question_terms import readable

logger = logging.getLogger(__name__)

CHUNKS_A_CALL = 10
EXCERPT_CHARACTERS = 1500
LONGEST_SUMMARY = 300  # characters
PROMPT = """For each numbered excerpt of the document “{title}” write one sentence that says what it is \
about, and of whom or what and of which period it speaks, so that it can be found. Reply with a JSON list \
of {count} strings and nothing else.

{excerpts}"""


def add_summaries(document: Document, chunks: Sequence[RetrievalChunk]) -> int:
    """Write the missing summaries of the document's first chunks; return their number.

    After a failure, a timeout or an invalid reply the model is not called again for this document.
    """
    lacking = [chunk for chunk in chunks if chunk.index < settings.CHUNK_SUMMARIES and not chunk.summary]
    written = 0
    try:
        model = configured_language_model() if lacking else None
        for at in range(0, len(lacking), CHUNKS_A_CALL):
            if model is not None:
                written += _summarise(document, lacking[at : at + CHUNKS_A_CALL], model)
    except ProviderError as error:
        logger.warning(
            "document %s: %d chunks have no summary: %s", document.pk, len(lacking) - written, error
        )
    return written


def _summarise(document: Document, chunks: Sequence[RetrievalChunk], model: LanguageModel) -> int:
    """Summarise the chunks in one call; return how many. Raises ProviderError."""
    excerpts = "\n\n".join(
        f"{number}. {chunk.context_header}\n{chunk.content[:EXCERPT_CHARACTERS]}"
        for number, chunk in enumerate(chunks, 1)
    )
    prompt = PROMPT.format(title=document.title, count=len(chunks), excerpts=excerpts)
    answer = start_call(partial(model.complete, prompt), settings.PROVIDER_SECONDS).answer()
    for chunk, summary in zip(chunks, read_summaries(answer, len(chunks)), strict=True):
        chunk.summary = summary
        RetrievalChunk.objects.filter(pk=chunk.pk).update(summary=summary)
    return len(chunks)


def read_summaries(answer: str, count: int) -> list[str]:
    """Return the model's list. Raises ProviderError when it is not one of ``count`` texts."""
    listed = re.search(r"\[.*\]", answer, re.S)  # models often write text around the list
    try:
        texts = msgspec.json.decode(listed[0] if listed else answer, type=list[str])
    except msgspec.MsgspecError:
        raise ProviderError("The model did not reply with a list.") from None
    if len(texts) != count:
        raise ProviderError(f"The model wrote {len(texts)} summaries of {count} excerpts.")
    return [readable(text)[:LONGEST_SUMMARY] for text in texts]
