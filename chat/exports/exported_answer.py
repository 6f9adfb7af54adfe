"""What every export says: an answer, a conversation or a note, its sources, and the works they are of."""

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
from documents.papers.bibliography import reference_list
from documents.papers.record import record_of


@dataclass(frozen=True, slots=True)
class Part:
    """One text of an export: an answer under its question, or a note.

    Attributes:
        heading: '' where the export's title is its heading.
        citations: in the order of the markers of ``content``.
    """

    heading: str
    content: str
    citations: tuple[CitationShown, ...]
    summary: str = ""


@dataclass(frozen=True, slots=True)
class Export:
    """What is written into a file.

    Attributes:
        rows: the stored citations, in the order of ``citations``.
        works: the cited documents that the reader may see, by id, in the order of first use.
        references: the works as a list of references; empty where none is wanted.
        site: the product's address without a slash, for links that open the words; '' leaves them out.
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
        """One citation for each number, by number; the first use stands for all."""
        return by_number(self.citations)

    def byline(self, source: CitationShown) -> str:
        """Who wrote the source and when, as ``(Wile E. Coyote, 2018)``; '' where nobody knows."""
        work = (self.works or {}).get(source.document)
        return f"({work.byline})" if work and work.byline else ""

    @property
    def file_name(self) -> str:
        """A name without anything a file system or a header would stumble over."""
        words = "".join(character if character.isalnum() else " " for character in self.title).split()
        return "-".join(words[:8])[:60] or "answer"


def exported(answer: Message, style: str = "") -> Export:
    """An answer under its question; ``style`` names the CSL style of its references, '' leaves them out."""
    exchange = exchange_of(answer)
    part = Part("", answer.content, exchange.shown.citations, exchange.shown.summary.text)
    rows = answer.citations.select_related("document").order_by("position")
    return _export(exchange.question.content, [part], rows, answer.conversation, style)


def exported_conversation(conversation: Conversation, style: str = "") -> Export:
    """All finished answers under their questions, in order; numbers run through the conversation."""
    ended = [found for found in exchanges_of(conversation) if not found.answer.is_unfinished]
    rows = Citation.objects.filter(message__in=[found.answer.pk for found in ended])
    rows = rows.select_related("document").order_by("message__position", "position")
    parts = [_part(found) for found in ended]
    return _export(str(conversation), parts, rows, conversation, style)


def _part(found: Exchange) -> Part:
    return Part(found.question.content, found.answer.content, found.shown.citations, found.shown.summary.text)


def exported_note(note: Note, style: str = "") -> Export:
    """A note with its live citations, numbered by first use."""
    content, citations = numbered_note(note, note.owner)
    rows = Citation.objects.filter(pk__in=[UUID(citation.id) for citation in citations])
    part = Part("", content, tuple(citations))
    return _export(str(note), [part], rows.select_related("document"), note, style)


def _export(
    title: str, parts: Sequence[Part], rows: Iterable[Citation], of: Conversation | Note, style: str
) -> Export:
    """The documents that the owner may see no longer are not described."""
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
    """Of all citations under one number that light different words: words, passage, standing.

    The passage is where a bare value stands, which says little by itself; '' for other words.
    """
    same = [citation for citation in export.citations if citation.number == number]
    stored = {str(row.pk): row for row in export.rows}
    return [
        (words, passage_of(words, stored.get(citation.id)), citation.standing)
        for words, citation in {" ".join(citation.quote.split()): citation for citation in same}.items()
    ]


def passage_of(words: str, row: Citation | None) -> str:
    """The row of a table, or the clause, in which a bare value was cited; '' for words that say more."""
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
    """Stored content with ``[1]`` for each marker; a marker without a citation vanishes."""
    return with_marks(content, lambda at, mark: f"[{citations[at].number}]" if at < len(citations) else "")


def source_line(citation: CitationShown) -> str:
    """One line of a list of sources."""
    section = f", {citation.section}" if citation.section else ""
    quote = " ".join(citation.quote.split())
    return f"[{citation.number}] {citation.title}, {citation.place}{section}: “{quote}” ({citation.standing})"


def source_lines(citations: Sequence[CitationShown]) -> list[str]:
    """The sources in the order of their numbers, each line once."""
    return list(dict.fromkeys(map(source_line, sorted(citations, key=lambda citation: citation.number))))
