"""What every export says of an answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chat.asking import question_of
from chat.events import CitationShown
from chat.models import Citation, Message
from chat.reading import shown_message


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
