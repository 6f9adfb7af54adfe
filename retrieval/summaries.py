"""A sentence in front of each chunk that says what it is about, written by a language model.

A chunk cut out of its document loses who "the company" was. What is written here is embedded
with the chunk ("contextual retrieval", Anthropic 2024). Off unless ``CHUNK_SUMMARIES`` says
how many chunks of a document may cost something.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from functools import partial

import msgspec
from django.conf import settings

from documents.models import Document, RetrievalChunk
from retrieval.deadlines import ask
from retrieval.providers.errors import ProviderError
from retrieval.providers.language import LanguageModel, configured_language_model
from retrieval.questions import readable

logger = logging.getLogger(__name__)

CHUNKS_A_CALL = 10
EXCERPT_CHARACTERS = 1500
LONGEST_SUMMARY = 300  # characters
PROMPT = """For each numbered excerpt of the document “{title}” write one sentence that says what it is \
about, and of whom or what and of which period it speaks, so that it can be found. Reply with a JSON list \
of {count} strings and nothing else.

{excerpts}"""


def add_summaries(document: Document, chunks: Sequence[RetrievalChunk]) -> int:
    """Writes summaries of those that may have one and have none: the document's first chunks; how many.

    A model that fails, is slow or answers nonsense is not asked again for this document,
    whose other chunks go without.
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
    """One call. Raises ProviderError."""
    excerpts = "\n\n".join(
        f"{number}. {chunk.context_header}\n{chunk.content[:EXCERPT_CHARACTERS]}"
        for number, chunk in enumerate(chunks, 1)
    )
    prompt = PROMPT.format(title=document.title, count=len(chunks), excerpts=excerpts)
    answer = ask(partial(model.complete, prompt), settings.PROVIDER_SECONDS).answer()
    for chunk, summary in zip(chunks, read_summaries(answer, len(chunks)), strict=True):
        chunk.summary = summary
        RetrievalChunk.objects.filter(pk=chunk.pk).update(summary=summary)
    return len(chunks)


def read_summaries(answer: str, count: int) -> list[str]:
    """The model's list. Raises ProviderError when it is not one of ``count`` texts."""
    listed = re.search(r"\[.*\]", answer, re.S)  # models like to say a word before and after
    try:
        texts = msgspec.json.decode(listed[0] if listed else answer, type=list[str])
    except msgspec.MsgspecError:
        raise ProviderError("The model did not reply with a list.") from None
    if len(texts) != count:
        raise ProviderError(f"The model wrote {len(texts)} summaries of {count} excerpts.")
    return [readable(text)[:LONGEST_SUMMARY] for text in texts]
