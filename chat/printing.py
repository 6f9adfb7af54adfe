"""An answer as plain Markdown: superscripts as [1], and a list of sources."""

from __future__ import annotations

from collections.abc import Sequence

from chat.events import CitationShown
from chat.stored_markers import with_marks


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
