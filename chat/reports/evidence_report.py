"""The evidence on a section, without a model: the passages on it, cited; no prose."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import uuid4

from chat.answers.answer_builder import AnswerBuilder
from chat.answers.context import AnswerSources
from chat.answers.without_model.answer import answer_without_model
from chat.models import Citation
from chat.providers.base import NativeCitation, TextDelta
from citing.marker_decoder import format_marker, with_marks


def evidence_on(question: str, found: AnswerSources) -> tuple[str, Sequence[Citation]]:
    """Return the passages on a question as a note's Markdown, and their unsaved citations."""
    builder = AnswerBuilder(uuid4(), found.sources, {}, question=question)
    units = {passage.alias: passage.unit for passage in found.passages}
    for delta in answer_without_model(question, found.passages, found.notes):
        events = (
            builder.write(delta.text)
            if isinstance(delta, TextDelta)
            else (builder.cite_passage if delta.is_passage else builder.cite)(units[delta.alias], delta.quote)
            if isinstance(delta, NativeCitation)
            else ()
        )
        for _ in events:
            pass
    markers = [format_marker(one.pk, one.page_number) for one in builder.citations]
    return with_marks(builder.content, lambda at, mark: markers[at]).strip(), builder.citations
