"""The content of an export, in any format: texts, sources, and cited works."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from chat.answers.events import CitationShown
from chat.answers.presenters import Exchange, exchange_of, exchanges_of
from chat.citations.marker_decoder import with_marks
from chat.citations.values.written_values import values_in
from chat.models import Citation, Conversation, Message, Note
from chat.notes import numbered_note
from documents.models import Document
from documents.papers.bibliography import record_of, reference_list


@dataclass(frozen=True, slots=True)
class Part:
    """One text of an export: an answer under its question, or a note.

    Attributes:
        heading: '' where the export's title serves as heading.
        citations: in the order of the markers of ``content``.
    """

    heading: str
    content: str
    citations: tuple[CitationShown, ...]
    summary: str = ""


@dataclass(frozen=True, slots=True)
class Export:
    """The content of an exported file.

    Attributes:
        rows: the stored citations, in the order of ``citations``.
        works: the cited documents that the reader may see, by id, in order of first use.
        references: formatted references of the works; empty where none are requested.
        site: this site's URL without a slash, for links to the cited words; '' omits them.
    """

    title: str
    parts: tuple[Part, ...]
    rows: tuple[Citation, ...] = ()
    works: dict[str, Document] | None = None
    references: tuple[str, ...] = ()
    site: str = ""

    @property
    def citations(self) -> tuple[CitationShown, ...]:
        return tuple(citation for part in self.parts for citation in part.citations)

    @property
    def sources(self) -> list[CitationShown]:
        """The first citation of each number, in order."""
        return by_number(self.citations)

    def byline(self, source: CitationShown) -> str:
        """Return authors and year of the source, ``(Wile E. Coyote, 2018)``; '' where unknown."""
        work = (self.works or {}).get(source.document)
        return f"({work.byline})" if work and work.byline else ""

    @property
    def file_name(self) -> str:
        """A file name that is safe in file systems and HTTP headers."""
        words = "".join(character if character.isalnum() else " " for character in self.title).split()
        return "-".join(words[:8])[:60] or "answer"


def exported(answer: Message, style: str = "") -> Export:
    """Export an answer with its question; ``style`` is the CSL style of its references, '' omits them."""
    exchange = exchange_of(answer)
    part = Part("", answer.content, exchange.shown.citations, exchange.shown.summary.text)
    rows = answer.citations.select_related("document").order_by("position")
    return _export(exchange.question.content, [part], rows, answer.conversation, style)


def exported_conversation(conversation: Conversation, style: str = "") -> Export:
    """Export all finished answers with their questions; numbers continue through the conversation."""
    ended = [found for found in exchanges_of(conversation) if not found.answer.is_unfinished]
    rows = Citation.objects.filter(message__in=[found.answer.pk for found in ended])
    rows = rows.select_related("document").order_by("message__position", "position")
    parts = [_part(found) for found in ended]
    return _export(str(conversation), parts, rows, conversation, style)


def _part(found: Exchange) -> Part:
    return Part(found.question.content, found.answer.content, found.shown.citations, found.shown.summary.text)


def exported_note(note: Note, style: str = "") -> Export:
    """Export a note with its citations, numbered by first use."""
    content, citations = numbered_note(note, note.owner)
    rows = Citation.objects.filter(pk__in=[UUID(citation.id) for citation in citations])
    part = Part("", content, tuple(citations))
    return _export(str(note), [part], rows.select_related("document"), note, style)


def _export(
    title: str, parts: Sequence[Part], rows: Iterable[Citation], of: Conversation | Note, style: str
) -> Export:
    """Build the export, without works that the owner can no longer see."""
    listed = tuple(rows)
    order = dict.fromkeys(citation.document for part in parts for citation in part.citations)
    found = Document.objects.visible_to(of.owner).in_bulk([key for key in order if key])
    works = {key: found[UUID(key)] for key in order if key and UUID(key) in found}
    references = reference_list([record_of(work) for work in works.values()], style) if style else []
    return Export(title, tuple(parts), listed, works, tuple(references))


def by_number(citations: Sequence[CitationShown]) -> list[CitationShown]:
    first: dict[int, CitationShown] = {}
    for citation in citations:
        first.setdefault(citation.number, citation)
    return [first[number] for number in sorted(first)]


LONGEST_PASSAGE = 300  # characters


def quotes_of(export: Export, number: int) -> list[tuple[str, str, str]]:
    """Return quote, passage and standing of each distinct quote under one number.

    The passage gives the context of a bare value; it is '' for other quotes.
    """
    same = [citation for citation in export.citations if citation.number == number]
    stored = {str(row.pk): row for row in export.rows}
    return [
        (words, passage_of(words, stored.get(citation.id)), citation.standing)
        for words, citation in {" ".join(citation.quote.split()): citation for citation in same}.items()
    ]


def passage_of(words: str, row: Citation | None) -> str:
    """Return the table row or the clause of a bare value; '' for a quote with other words."""
    letters = sum(map(str.isalpha, words)) - sum(sum(map(str.isalpha, v.text)) for v in values_in(words))
    if row is None or letters > 0 or not words:
        return ""
    cells = [" ".join(cell.split()) for cell in row.unit_text.split("\t")]
    passage = " | ".join(filter(None, cells))
    if len(passage) > LONGEST_PASSAGE:
        passage = " ".join(f"…{row.prefix[-120:]}{row.quote}{row.suffix[:120]}…".split())
    return "" if passage == words else passage


# --- Plain Markdown: superscripts as [1], and a list of sources ---


def numbered(content: str, citations: Sequence[CitationShown]) -> str:
    """Replace each marker of stored content by ``[1]``; remove markers without a citation."""
    return with_marks(content, lambda at, mark: f"[{citations[at].number}]" if at < len(citations) else "")


def source_line(citation: CitationShown) -> str:
    """Format a line of the list of sources."""
    section = f", {citation.section}" if citation.section else ""
    quote = " ".join(citation.quote.split())
    return f"[{citation.number}] {citation.title}, {citation.place}{section}: “{quote}” ({citation.standing})"


def source_lines(citations: Sequence[CitationShown]) -> list[str]:
    """Return the lines of the list of sources by number, without duplicates."""
    return list(dict.fromkeys(map(source_line, sorted(citations, key=lambda citation: citation.number))))
