"""The sections of a report: its outline, and the note that they are written into.

Each section is stored when it is done, so paused or interrupted work goes on with the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import shorten

import msgspec
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext, ngettext

from chat.models import Citation, Note, Report
from chat.notes import change_note
from citing.marker_decoder import defused_line
from documents.labels import distinct_labels
from documents.models import Document
from documents.models.document import DocumentQuerySet
from retrieval.provider_calls import ProviderError
from retrieval.query.scope import Scope

MOST_SECTIONS = 100
LONGEST_TITLE = 300
LONGEST_REMARK = 600  # characters that name documents
NONE_READ = (
    "No document of this report can be used: each was deleted, could not be read, or is hidden from you."
)


class ReportSection(msgspec.Struct):
    """A section of the outline.

    Attributes:
        title: what is searched for.
        step: what is done at present: ``searching``, ``reading``, ``writing`` or ``checking``; '' before.
        questions: what else a model searches for.
        passages: ids of the units that it writes from.
        notes: its notes on them, where they did not fit one prompt.
        counts: sentences by ``Standing``; also ``rewritten`` and ``removed``.
    """

    title: str
    is_done: bool = False
    step: str = ""
    questions: list[str] = []
    passages: list[str] = []
    notes: str = ""
    counts: dict[str, int] = {}


def outline_of(text: str) -> list[ReportSection]:
    """Return the sections of an outline, one a line."""
    titles = [" ".join(line.replace("\x00", "").split())[:LONGEST_TITLE] for line in text.splitlines()]
    return [ReportSection(title) for title in titles if title]


def proposed_outline(question: str) -> list[ReportSection]:
    """Return a section for each question or clause that a semicolon ends."""
    return outline_of(question.replace("?", "?\n").replace(";", "\n"))


def sections_of(report: Report) -> list[ReportSection]:
    return [msgspec.convert(one, ReportSection) for one in report.outline]


def store_sections(report: Report, sections: Sequence[ReportSection]) -> None:
    """Store the progress of the sections."""
    report.outline = msgspec.to_builtins(sections)
    Report.objects.filter(pk=report.pk).update(outline=report.outline, alive_at=timezone.now())


def scope_of_report(report: Report) -> Scope:
    """Return the scope with its owner's rights. Raises ProviderError when none can be read."""
    if not report.documents:
        return Scope(report.owner)
    found = set(chosen_documents(report).searchable().values_list("pk", flat=True))
    if not found:
        raise ProviderError(NONE_READ)
    return Scope(report.owner, document_ids=tuple(pk for pk in report.documents if pk in found))


def chosen_documents(report: Report) -> DocumentQuerySet:
    """Return the report's chosen documents that its owner may see."""
    return Document.objects.visible_to(report.owner).filter(pk__in=report.documents)


def unread_remark(report: Report) -> str:
    """Name the chosen documents that are not in every section; '' if all are."""
    visible = chosen_documents(report)
    unread = visible.exclude(pk__in=visible.searchable())
    names = [defused_line(label) for label in distinct_labels(unread).values()]
    if gone := len(set(report.documents)) - visible.count():
        deleted = ngettext(
            "%(n)d document that was deleted or is hidden from you",
            "%(n)d documents that were deleted or are hidden from you",
            gone,
        )
        names.insert(0, deleted % {"n": gone})
    named = shorten("; ".join(names), LONGEST_REMARK, placeholder=" …")
    return (
        gettext("Missing from some or all sections: %(documents)s.") % {"documents": named} if names else ""
    )


def cited_remark(report: Report) -> str:
    """Say how many of the chosen documents are cited: the best passages on a question are not of each."""
    cited = report.note.citations.values("document").distinct().count() if report.note else 0
    numbers = {"cited": cited, "all": chosen_documents(report).count()}
    remark = gettext(
        "%(cited)d of %(all)d documents are cited. Ask every document to have an answer of each."
    )
    return remark % numbers if cited < numbers["all"] else ""


def add_section(
    report: Report,
    section: ReportSection,
    content: str,
    citations: Sequence[Citation],
    sections: Sequence[ReportSection],
) -> None:
    """Append a section, now done, to the report's note, which keeps the text before as a version."""
    section.is_done, section.step = True, ""
    with transaction.atomic():
        note = note_of(report)
        for position, citation in enumerate(citations):
            citation.message_id, citation.position = None, position
        Citation.objects.bulk_create(citations)
        note.citations.add(*citations)
        text = f"{note.content.rstrip()}\n\n## {defused_line(section.title)}\n\n{content}\n"
        change_note(note, content=text.lstrip())
        report.outline, report.attempts = msgspec.to_builtins(sections), 0
        report.alive_at = timezone.now()
        report.save(update_fields=["note", "outline", "attempts", "alive_at", "updated_at"])


def note_of(report: Report) -> Note:
    """Return the report's note, locked; a new one if there is none, or it was deleted."""
    kept = Note.objects.select_for_update(of=("self",)).filter(deleted_at=None, reports=report)
    found = kept.first() if report.note_id else None
    if found is None:
        found = Note.objects.create(owner=report.owner, title=report.title[:200])
        report.note = found
    return found
