"""An answer for the clipboard, with its sources: plain words with [1] marks, or rich text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from django.utils.html import format_html, format_html_join
from markdown_it.token import Token

from chat.answers.events import CitationShown
from chat.exports.exported_answer import Export, source_lines
from chat.markdown.html import ON_A_PAGE, rendered_blocks
from chat.markdown.overlay import laid_out, marked_text

_NUMBER = re.compile(r"\[(\d+)\]")  # in the answer's own words: it must not pass for a citation
_BREAKS = {"hardbreak": "\n", "softbreak": " "}


def as_plain(export: Export) -> str:
    """The words without Markdown's signs, and a line for each of the sources."""
    texts = [plain_text(part.content, part.citations) for part in export.parts]
    return "\n\n".join([*texts, "\n".join(source_lines(export.citations))]).strip() + "\n"


def as_rich(export: Export) -> str:
    """The same as an HTML fragment that can be pasted into a text editor."""
    rendered = [
        rendered_blocks(part.content, part.citations, top=ON_A_PAGE, link=_superscript)
        for part in export.parts
    ]
    blocks = [block for part in rendered for block in part]
    lines = format_html_join("", "<p>{}</p>", ((line,) for line in source_lines(export.citations)))
    return "".join(blocks) + lines


def _superscript(citation: CitationShown) -> str:
    return format_html("<sup>{}</sup>", citation.number)


def plain_text(content: str, citations: Sequence[CitationShown]) -> str:
    """A stored message as plain text: lists with dashes, the cells of a table with tabs between them."""
    text, _ = marked_text(content)
    writer = _PlainWriter([citation.number for citation in citations])
    for block in laid_out(text.text, text.places).blocks:
        for token in block:
            writer.write(token)
    return "\n".join(writer.lines).strip("\n")


class _PlainWriter:
    """Writes tokens line by line."""

    def __init__(self, numbers: Sequence[int]) -> None:
        self.lines: list[str] = []
        self._numbers = numbers
        self._lists: list[int | None] = []  # the next number of each open list; None for bullets
        self._head = ""
        self._row: list[str] | None = None

    def write(self, token: Token) -> None:
        match token.type:
            case "bullet_list_open":
                self._lists.append(None)
            case "ordered_list_open":
                self._lists.append(int(token.attrs.get("start", 1)))
            case "bullet_list_close" | "ordered_list_close":
                self._lists.pop()
                self._end_block()
            case "list_item_open":
                self._begin_item()
            case "tr_open":
                self._row = []
            case "tr_close":
                self.lines.append("\t".join(self._row or []))
                self._row = None
            case "inline" if self._row is not None:
                self._row.append(" ".join(self._words(token).split()))
            case "inline":
                self._write_lines(self._words(token))
            case "fence" | "code_block":
                self._write_lines(token.content.rstrip("\n"))
                self._end_block()
            case "paragraph_close" if not token.hidden:
                self._end_block()
            case "heading_close" | "table_close" | "hr":
                self._end_block()

    def _begin_item(self) -> None:
        number = self._lists[-1]
        self._head = "- " if number is None else f"{number}. "
        if number is not None:
            self._lists[-1] = number + 1

    def _write_lines(self, text: str) -> None:
        indent = "  " * (len(self._lists) - 1)
        for line in text.split("\n"):
            self.lines.append(f"{indent}{self._head or '  ' * bool(self._lists)}{line}")
            self._head = ""

    def _end_block(self) -> None:
        if self.lines and self.lines[-1] and not self._lists:
            self.lines.append("")

    def _words(self, token: Token) -> str:
        pieces, own = [], ""
        for child in token.children or []:
            if child.type == "citation":
                index = int(child.meta["index"])
                number = f"[{self._numbers[index]}]" if index < len(self._numbers) else ""
                pieces += [_NUMBER.sub(r"(\1)", own), number]
                own = ""
            else:
                own += _BREAKS.get(child.type, child.content)
        return "".join([*pieces, _NUMBER.sub(r"(\1)", own)])
