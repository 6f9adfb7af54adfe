"""What every export says of an answer: its numbered text and its sources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chat.answers.events import CitationShown
from chat.answers.presenters import shown_message
from chat.answers.question_commands import question_of
from chat.citations.marker_decoder import with_marks
from chat.models import Citation, Message


@dataclass(frozen=True, slots=True)
class ExportedAnswer:
    """One question and its answer.

    Attributes:
        citations: in the order of the markers of ``content``.
        sources: one citation for each number, by number; the first use stands for all.
        rows: the stored citations, in the order of ``citations``.
    """

    question: str
    content: str
    citations: tuple[CitationShown, ...]
    sources: tuple[CitationShown, ...]
    rows: tuple[Citation, ...]
    summary: str

    def byline(self, source: CitationShown) -> str:
        """Who wrote the source and when, as ``(Wile E. Coyote, 2018)``; '' where nobody knows."""
        documents = {str(row.pk): row.document for row in self.rows}
        document = documents.get(source.id)
        return f"({document.byline})" if document and document.byline else ""

    @property
    def file_name(self) -> str:
        """A name without anything a file system or a header would stumble over."""
        words = "".join(character if character.isalnum() else " " for character in self.question).split()
        return "-".join(words[:8])[:60] or "answer"


def exported(answer: Message) -> ExportedAnswer:
    """The answer as exports need it."""
    seen = shown_message(answer)
    return ExportedAnswer(
        question_of(answer).content,
        answer.content,
        seen.citations,
        tuple(by_number(seen.citations)),
        tuple(answer.citations.select_related("document").order_by("position")),
        seen.summary.text,
    )


def by_number(citations: Sequence[CitationShown]) -> list[CitationShown]:
    first: dict[int, CitationShown] = {}
    for citation in citations:
        first.setdefault(citation.number, citation)
    return [first[number] for number in sorted(first)]


def quotes_of(exported_answer: ExportedAnswer, number: int) -> list[CitationShown]:
    """All citations under one number that light different words."""
    same = [citation for citation in exported_answer.citations if citation.number == number]
    return list({citation.quote: citation for citation in same}.values())


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
