"""An answer as Markdown with footnotes."""

from __future__ import annotations

from chat.events import CitationShown
from chat.exporting.answer import ExportedAnswer, quotes_of
from chat.stored_markers import with_marks


def as_markdown(answer: ExportedAnswer) -> str:
    """Question, answer, and one footnote for each source (``[^1]``, as Pandoc and GitHub write them)."""
    notes = [f"[^{source.number}]: {footnote(answer, source)}" for source in answer.sources]
    summary = [f"*{answer.summary}*"] if answer.summary else []
    parts = [f"# {one_line(answer.question)}", with_footnotes(answer).strip(), *summary, *notes]
    return "\n\n".join(parts) + "\n"


def with_footnotes(answer: ExportedAnswer) -> str:
    numbers = [citation.number for citation in answer.citations]
    return with_marks(answer.content, lambda at, mark: f"[^{numbers[at]}]" if at < len(numbers) else "")


def footnote(answer: ExportedAnswer, source: CitationShown) -> str:
    quotes = "; ".join(f"“{one_line(c.quote)}” ({c.standing})" for c in quotes_of(answer, source.number))
    section = f", {one_line(source.section)}" if source.section else ""
    named = one_line(f"{source.title} {answer.byline(source)}")
    return f"{named}, p. {source.page}{section}: {quotes}"


def one_line(text: str) -> str:
    return " ".join(text.split())
