"""Write a report without a model: under each heading of its outline the passages on it, cited; no prose.

Each section is stored when it is done, so paused or interrupted work goes on with the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import uuid4

import msgspec
from django.db import transaction
from django.utils import timezone

from chat.answers.answer_builder import AnswerBuilder
from chat.answers.context import AnswerSources
from chat.answers.without_model.answer import answer_without_model
from chat.answers.without_model.evidence import find_evidence
from chat.models import Citation, Note, Report
from chat.notes import change_note
from chat.providers.base import NativeCitation, TextDelta
from citing.marker_decoder import defused_line, format_marker, with_marks
from documents.models import Document
from retrieval.provider_calls import ProviderError
from retrieval.query.scope import Scope

MOST_SECTIONS = 100
State = Report.State


class ReportSection(msgspec.Struct):
    """A section of the outline; ``title`` is what is searched for."""

    title: str
    is_done: bool = False


def outline_of(text: str) -> list[ReportSection]:
    """Return the sections of an outline, one a line."""
    titles = [" ".join(line.replace("\x00", "").split())[:300] for line in text.splitlines()]
    return [ReportSection(title) for title in titles if title]


def proposed_outline(question: str) -> list[ReportSection]:
    """Return a section for each question or clause that a semicolon ends."""
    return outline_of(question.replace("?", "?\n").replace(";", "\n"))


def write_report(report: Report) -> None:
    """Write the sections that are not done, until it is paused. Raises ProviderError without documents."""
    visible = Document.objects.visible_to(report.owner)
    documents = tuple(visible.filter(pk__in=report.documents).values_list("pk", flat=True))
    if report.documents and not documents:
        raise ProviderError("The documents of this report were deleted, or you can no longer see them.")
    scope = Scope(report.owner, document_ids=documents or None)
    sections = [msgspec.convert(one, ReportSection) for one in report.outline]
    for section in sections:
        if section.is_done:
            continue
        if not Report.objects.filter(pk=report.pk, state=State.RUNNING).exists():
            return
        content, citations = evidence_on(section.title, find_evidence(section.title, scope))
        section.is_done = True
        add_section(report, section, content, citations, sections)


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


def add_section(
    report: Report,
    section: ReportSection,
    content: str,
    citations: Sequence[Citation],
    sections: Sequence[ReportSection],
) -> None:
    """Append a section to the report's note, which keeps the text before as a version."""
    with transaction.atomic():
        if report.note is None:
            report.note = Note.objects.create(owner=report.owner, title=report.title[:200])
        note = Note.objects.select_for_update().get(pk=report.note.pk)
        for position, citation in enumerate(citations):
            citation.message_id, citation.position = None, position
        Citation.objects.bulk_create(citations)
        note.citations.add(*citations)
        text = f"{note.content}\n\n## {defused_line(section.title)}\n\n{content}\n"
        change_note(note, content=text.lstrip())
        report.outline = msgspec.to_builtins(sections)
        report.alive_at = timezone.now()
        report.save(update_fields=["note", "outline", "alive_at", "updated_at"])
