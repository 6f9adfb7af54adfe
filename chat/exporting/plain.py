"""An answer as plain text with [1] marks and its references, for pasting anywhere."""

from __future__ import annotations

from chat.exporting.answer import ExportedAnswer
from chat.printing import numbered, source_lines


def as_plain(answer: ExportedAnswer) -> str:
    """The answer's Markdown, and a line for each of its references."""
    references = "\n".join(source_lines(answer.citations))
    return f"{numbered(answer.content, answer.citations).strip()}\n\n{references}".strip() + "\n"
