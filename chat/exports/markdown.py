"""The content of an export in any format, and its rendering as Markdown, plain text and rich text.

Other Markdown renderers show raw HTML and load pictures. Text that our parser reads as plain words is
escaped, so that they cannot read an element, picture, reference or footnote in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple
from uuid import UUID

from django.utils.html import format_html, format_html_join
from markdown_it.token import Token
from msgspec import structs

from chat.answers.events import CitationShown
from chat.answers.message_presenters import Exchange, exchange_of, exchanges_of
from chat.citations.stored_citations import reader_query
from chat.markdown.html import ON_A_PAGE, rendered_blocks
from chat.markdown.overlay import LaidOut, laid_out, marked_text, placed_texts
from chat.models import Citation, Conversation, Message, Note
from chat.notes import numbered_note
from citing.marker_decoder import with_marks
from documents.labels import distinct_labels
from documents.models import Document
from documents.models.document import surname
from documents.papers.bibliography import (
    BLUEBOOK,
    PaperRecord,
    bluebook_reference,
    record_of,
    reference_list,
)
from text.terms import one_line
from text.values import values_in


@dataclass(frozen=True, slots=True)
class ExportPart:
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
        style: name of the style of the references; '' without them.
        site: this site's URL without a slash, for links to the cited words; '' omits them.
    """

    title: str
    parts: tuple[ExportPart, ...]
    rows: tuple[Citation, ...] = ()
    works: dict[str, Document] | None = None
    references: tuple[str, ...] = ()
    style: str = ""
    site: str = ""

    @property
    def citations(self) -> tuple[CitationShown, ...]:
        return tuple(citation for part in self.parts for citation in part.citations)

    @property
    def sources(self) -> list[CitationShown]:
        """Return the first citation of each number, in order."""
        return by_number(self.citations)

    def byline(self, source: CitationShown) -> str:
        """Return authors and year of the source, ``(Wile E. Coyote, 2018)``; '' where unknown."""
        work = (self.works or {}).get(source.document)
        return f"({work.byline})" if work and work.byline else ""

    def named(self, source: CitationShown, before: Sequence[CitationShown] = ()) -> str:
        """Return what a footnote says before the words: title, byline and place, in the chosen style.

        ``before``: the sources of the footnotes above, for Bluebook's short forms: ``Id. at 31:12``.
        """
        if self.style != BLUEBOOK:
            return f"{one_line(f'{source.title} {self.byline(source)}')}, {source.place}"
        notes = [note for note, cited in enumerate(before, start=1) if cited.document == source.document]
        work = (self.works or {}).get(source.document)
        record = structs.replace(record_of(work), title=source.title) if work else PaperRecord(source.title)
        if notes and notes[-1] == len(before):
            return f"Id. at {source.pinpoint}"
        if notes:
            short = " & ".join(map(surname, record.authors[:2])) if len(record.authors) < 3 else ""
            short = short or (f"{surname(record.authors[0])} et al." if record.authors else record.title)
            return one_line(f"{short}, supra note {notes[0]}, at {source.pinpoint}")
        return one_line(bluebook_reference(record, source.pinpoint))

    @property
    def file_name(self) -> str:
        """Return a file name that is safe in file systems and HTTP headers."""
        words = "".join(character if character.isalnum() else " " for character in self.title).split()
        return "-".join(words[:8])[:60] or "answer"


def exported(answer: Message, style: str = "") -> Export:
    """Export an answer with its question; ``style`` is the CSL style of its references, '' omits them."""
    exchange = exchange_of(answer)
    part = ExportPart("", answer.content, from_one(exchange.shown.citations), exchange.shown.summary.text)
    numbers = {citation.id: citation.number for citation in part.citations}
    rows = list(answer.citations.select_related("document").order_by("position"))
    for row in rows:
        row.number = numbers.get(str(row.pk), row.number)
    return _export(exchange.question.content, [part], rows, answer.conversation, style)


def from_one(citations: Sequence[CitationShown]) -> tuple[CitationShown, ...]:
    """Return the citations of an answer that leaves its conversation, numbered from 1 by first use."""
    used = {number: at for at, number in enumerate(dict.fromkeys(one.number for one in citations), start=1)}
    return tuple(structs.replace(one, number=used[one.number]) for one in citations)


def exported_conversation(conversation: Conversation, style: str = "") -> Export:
    """Export all finished answers with their questions; numbers continue through the conversation.

    The first question is often the title, too; it is printed once.
    """
    ended = [found for found in exchanges_of(conversation) if not found.answer.is_unfinished]
    rows = Citation.objects.filter(message__in=[found.answer.pk for found in ended])
    rows = rows.select_related("document").order_by("message__position", "position")
    title = str(conversation)
    parts = [_part(found) for found in ended]
    if parts and one_line(parts[0].heading) == one_line(title):
        parts[0] = replace(parts[0], heading="")
    return _export(title, parts, rows, conversation, style)


def _part(found: Exchange) -> ExportPart:
    return ExportPart(
        found.question.content, found.answer.content, found.shown.citations, found.shown.summary.text
    )


def exported_note(note: Note, style: str = "") -> Export:
    """Export a note with its citations, numbered by first use."""
    content, citations = numbered_note(note, note.owner)
    rows = Citation.objects.filter(pk__in=[UUID(citation.id) for citation in citations])
    part = ExportPart("", content, tuple(citations))
    return _export(str(note), [part], rows.select_related("document"), note, style)


def _export(
    title: str, parts: Sequence[ExportPart], rows: Iterable[Citation], of: Conversation | Note, style: str
) -> Export:
    """Build the export, without works that the owner can no longer see."""
    listed = tuple(rows)
    order = dict.fromkeys(citation.document for part in parts for citation in part.citations)
    found = Document.objects.visible_to(of.owner).in_bulk([key for key in order if key])
    works = {key: found[UUID(key)] for key in order if key and UUID(key) in found}
    labels = distinct_labels(works.values())
    titles = {key: labels[work.pk] for key, work in works.items()}
    parts = [replace(part, citations=labelled(part.citations, titles)) for part in parts]
    records = [structs.replace(record_of(work), title=labels[work.pk]) for work in works.values()]
    references = reference_list(records, style) if style else []
    return Export(title, tuple(parts), listed, works, tuple(references), style)


def labelled(citations: Sequence[CitationShown], titles: Mapping[str, str]) -> tuple[CitationShown, ...]:
    """Return the citations with the titles, by document, that tell their works apart."""
    return tuple(structs.replace(one, title=titles.get(one.document, one.title)) for one in citations)


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
    """Return the lines of the list of sources by number, without duplicates.

    A quote inside a longer one of the same number and standing has no line.
    """
    ordered = sorted(citations, key=lambda citation: citation.number)
    listed = [one for one in ordered if not any(_says_more(other, one) for other in ordered)]
    return list(dict.fromkeys(map(source_line, listed)))


def _says_more(other: CitationShown, citation: CitationShown) -> bool:
    same = other.number == citation.number and other.standing == citation.standing
    quote, longer = " ".join(citation.quote.split()), " ".join(other.quote.split())
    return same and quote != longer and quote in longer


_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~^&$])")
_MARKUP_START = re.compile(r"[\[\]<{`*~]|!(?=\[)|!$|\\(?=[A-Za-z])")  # characters that could begin markup
_NUMBER = re.compile(r"\[(\d+)\]")  # in the answer's own text: it must not look like a citation
_BREAKS = {"hardbreak": "\n", "softbreak": " "}
_IN_FORMULA = re.compile(r"<(?=[A-Za-z/!?])|!(?=\[)")


class _Edit(NamedTuple):
    """A replacement of ``source[start:end]``."""

    start: int
    end: int
    text: str


def as_markdown(export: Export) -> str:
    """Return the texts, references, and a footnote per source (``[^1]``, as in Pandoc and GitHub)."""
    sources = export.sources
    notes = [
        f"[^{source.number}]: {escaped(footnote(export, source, sources[:at]))}{reader_link(export, source)}"
        for at, source in enumerate(sources)
    ]
    listed = ["\n".join(f"- {escaped(one_line(line))}" for line in export.references)]
    references = ["## References", *listed] if export.references else []
    texts = [text for part in export.parts for text in _texts(part)]
    return "\n\n".join([f"# {escaped(one_line(export.title))}", *texts, *references, *notes]) + "\n"


def _texts(part: ExportPart) -> Iterator[str]:
    if part.heading:
        yield f"## {escaped(one_line(part.heading))}"
    yield with_footnotes(part).strip("\n")
    if part.summary:
        yield f"*{escaped(part.summary)}*"


def with_footnotes(part: ExportPart) -> str:
    """Return the text with ``[^1]`` for each citation and all other markup characters escaped."""
    text, _ = marked_text(part.content)
    source = text.text
    laid = laid_out(source, text.places)
    edits = [*_closed_fence(source, laid), *_notes(part, laid), *_escapes(source, laid)]
    pieces, at = [], 0
    for start, end, replacement in sorted(edits, key=lambda edit: edit[:2]):
        pieces += [source[at:start], replacement]
        at = max(at, end)
    return "".join([*pieces, source[at:]])


def _notes(part: ExportPart, laid: LaidOut) -> Iterator[_Edit]:
    for citation, end, apart in zip(part.citations, laid.ends, laid.apart, strict=False):
        note = f"[^{citation.number}]"
        yield _Edit(end, end, f"\n{note}\n\n" if apart else note)


def _escapes(source: str, laid: LaidOut) -> Iterator[_Edit]:
    for text in placed_texts(source, laid.blocks):
        token = text.token
        if token.type == "fence" and "{" in token.info:  # a raw block of Pandoc's
            start = source.index("{", text.begin)
            yield _Edit(start, source.find("\n", start) if "\n" in source[start:] else len(source), "")
        for child in token.children or [] if token.type == "inline" else []:
            if child.type == "text" and child.meta.get("verbatim"):
                yield from _escaped_words(child, text.offsets)


def _escaped_words(child: Token, offsets: list[int]) -> Iterator[_Edit]:
    words, at = str(child.meta["source"]), int(child.meta["at"])
    if child.meta.get("formula"):
        for found in _IN_FORMULA.finditer(words):
            yield _Edit(offsets[at + found.start()] + 1, offsets[at + found.start()] + 1, " ")
        return
    for found in _MARKUP_START.finditer(words):
        place = offsets[at + found.start()]
        yield _Edit(place, place, "\\")


def _closed_fence(source: str, laid: LaidOut) -> Iterator[_Edit]:
    """Close a code block that the answer left open, so that it does not include the sources."""
    last = laid.blocks[-1][0] if laid.blocks else None
    if last is None or last.type != "fence" or last.map is None:
        return
    lines = source.rstrip("\n").split("\n")
    if len(lines) <= last.map[0] + 1 or not lines[-1].strip().startswith(last.markup):
        yield _Edit(len(source), len(source), f"\n{last.markup}")


def escaped(text: str) -> str:
    """Escape text for Markdown."""
    return _SPECIAL.sub(r"\\\1", text)


def footnote(export: Export, source: CitationShown, before: Sequence[CitationShown]) -> str:
    quotes = "; ".join(
        f"“{words}”{f' in “{passage}”' if passage else ''} ({standing})"
        for words, passage, standing in quotes_of(export, source.number)
    )
    section = f", {one_line(source.section)}" if source.section else ""
    return f"{export.named(source, before)}{section}: {quotes}"


def reader_link(export: Export, source: CitationShown) -> str:
    """Return a Markdown link to the cited words in the reader: `` [Open](https://…)``; '' without a site."""
    address = reader_address(export, source)
    return f" [Open]({address})" if address else ""


def reader_address(export: Export, source: CitationShown) -> str:
    """Return the URL that opens the reader at the cited words; '' without a site or document."""
    if not (export.site and source.document):
        return ""
    place = reader_query(source.page, source.quote, citation=source.id)
    return f"{export.site}/documents/{source.document}/?{place}"


# --- For the clipboard, with the sources: plain text with [1] marks, or rich text ---


def as_plain(export: Export) -> str:
    """Return plain text, followed by the list of sources."""
    texts = [plain_text(part.content, part.citations) for part in export.parts]
    return "\n\n".join([*texts, "\n".join(source_lines(export.citations))]).strip() + "\n"


def as_rich(export: Export) -> str:
    """Return the same as an HTML fragment for pasting into a word processor."""
    rendered = [
        rendered_blocks(part.content, part.citations, top=ON_A_PAGE, link=_superscript, formulas=False)
        for part in export.parts
    ]
    blocks = [block for part in rendered for block in part]
    lines = format_html_join("", "<p>{}</p>", ((line,) for line in source_lines(export.citations)))
    return "".join(blocks) + lines


def _superscript(citation: CitationShown) -> str:
    return format_html("<sup>{}</sup>", citation.number)


def plain_text(content: str, citations: Sequence[CitationShown]) -> str:
    """Convert a stored message to plain text: lists with dashes, table cells separated by tabs."""
    text, _ = marked_text(content)
    writer = _PlainWriter([citation.number for citation in citations])
    for block in laid_out(text.text, text.places).blocks:
        for token in block:
            writer.write(token)
    return "\n".join(writer.lines).strip("\n")


class _PlainWriter:
    """Write tokens as lines of text."""

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
