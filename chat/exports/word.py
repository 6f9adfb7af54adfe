"""Export as a Word document with real footnotes: Word numbers them, and each opens the cited words.

python-docx writes no footnotes (its issue 1), so this module adds their part to the package, as in
ECMA-376 part 1, section 17.11.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple, cast

from docx import Document as new_document
from docx.document import Document as WordDocument
from docx.enum.style import WD_STYLE_TYPE
from docx.opc.constants import CONTENT_TYPE, RELATIONSHIP_TYPE
from docx.opc.packuri import PackURI
from docx.opc.part import XmlPart
from docx.oxml import OxmlElement, parse_xml
from docx.oxml.ns import nsdecls, qn
from docx.oxml.xmlchemy import BaseOxmlElement
from docx.shared import Pt, RGBColor
from docx.styles.style import CharacterStyle
from docx.text.paragraph import Paragraph
from markdown_it.token import Token

from chat.answers.events import CitationShown
from chat.exports.markdown import Export, ExportPart, passage_of, reader_address
from chat.markdown.html import ON_A_PAGE, HeadingLevels
from chat.markdown.overlay import laid_out, marked_text
from chat.models import Citation
from citing.claims import VERIFIED
from text.terms import one_line

_UNWRITABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")  # XML 1.0, 2.2
ENDED = re.compile(r"[.!?…]”?$")
QUOTE_INDENT = Pt(18)  # as much as a level of lists
CELL_SPACE, BELOW_TABLE = Pt(3), Pt(12)  # above and below a cell's text; above the paragraph after a table
LEAST_SHARE = 3.0  # of a table's width, of which a column of 100 characters has 10
TEXT, REFERENCE, LINK = "footnote text", "footnote reference", "Hyperlink"  # names of Word's own styles
_SEPARATORS = """<w:footnotes {namespaces}>
<w:footnote w:type="separator" w:id="-1"><w:p><w:r><w:separator/></w:r></w:p></w:footnote>
<w:footnote w:type="continuationSeparator" w:id="0">
<w:p><w:r><w:continuationSeparator/></w:r></w:p></w:footnote>
</w:footnotes>"""  # the lines above footnotes, which Word expects first


class Footnote(NamedTuple):
    """A footnote: its text, and the address that opens the cited words; '' for none."""

    text: str
    address: str


def as_docx(export: Export) -> bytes:
    """Return a DOCX file. Each citation is a footnote; the cited documents are listed at the end."""
    document = new_document()
    document.core_properties.title = writable(one_line(export.title))[:250]
    document.add_heading(writable(one_line(export.title)), level=1)
    notes = _Footnotes(document)
    rows = {str(row.pk): row for row in export.rows}
    before: list[CitationShown] = []
    for part in export.parts:
        footnotes = []
        for citation in part.citations:
            footnotes.append(_footnote(export, citation, before, rows.get(citation.id)))
            before.append(citation)
        _write_part(document, part, footnotes, notes)
    listed = export.references or tuple(_titles(export))
    if listed:
        document.add_heading("Sources", level=2)
    for line in listed:
        document.add_paragraph(writable(line))
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def _footnote(
    export: Export, citation: CitationShown, before: Sequence[CitationShown], stored: Citation | None
) -> Footnote:
    """Return ``Title (Author, 2021), p. 31, line 12, Section: “words”.``, with what a reader must doubt."""
    section = f", {one_line(citation.section)}" if citation.section else ""
    quote = " ".join(citation.quote.split())
    passage = passage_of(quote, stored)
    words = f": “{quote}”{f' in “{passage}”' if passage else ''}" if quote else ""
    is_quotation = citation.outcome == "found" and " ".join(citation.claim.split()) == quote
    is_sound = (citation.verdict in VERIFIED or is_quotation) and not citation.is_outdated
    doubt = "" if is_sound or not citation.standing else f" ({citation.standing})"
    text = f"{export.named(citation, before)}{section}{words}{doubt}"
    return Footnote(text if ENDED.search(text) else f"{text}.", reader_address(export, citation))


def _titles(export: Export) -> Iterator[str]:
    """Yield title, authors and year of each cited document once."""
    named = (one_line(f"{source.title} {export.byline(source)}") for source in export.sources)
    yield from dict.fromkeys(named)


def _write_part(
    document: WordDocument, part: ExportPart, footnotes: Sequence[Footnote], notes: _Footnotes
) -> None:
    if part.heading:
        document.add_heading(writable(one_line(part.heading)), level=2)
    text, _ = marked_text(part.content)
    tokens = [token for block in laid_out(text.text, text.places).blocks for token in block]
    HeadingLevels(ON_A_PAGE + bool(part.heading)).settle(tokens)
    _Writer(document, footnotes, notes).write(tokens)
    if part.summary:
        document.add_paragraph().add_run(part.summary).italic = True


def writable(text: str) -> str:
    return _UNWRITABLE.sub("", text)


class _Footnotes:
    """The part of the package that holds footnotes; it is added with the first one."""

    def __init__(self, document: WordDocument) -> None:
        self._document = document
        self._part: XmlPart | None = None
        self._count = 0
        self._style_ids: dict[str, str] = {}
        self._links: dict[str, str] = {}  # python-docx compares each with all before it

    def add(self, paragraph: Paragraph, note: Footnote) -> None:
        """Add a footnote, with its reference at the end of the paragraph."""
        self._part = self._part or self._new_part()
        self._count += 1
        mark = OxmlElement("w:footnoteReference")
        mark.set(qn("w:id"), str(self._count))
        paragraph._p.append(self._run(mark, REFERENCE))
        footnote = OxmlElement("w:footnote")
        footnote.set(qn("w:id"), str(self._count))
        footnote.append(self._paragraph(note, self._part))
        self._part.element.append(footnote)

    def _new_part(self) -> XmlPart:
        main = self._document.part
        root = parse_xml(_SEPARATORS.format(namespaces=nsdecls("w", "r")))
        part = XmlPart(PackURI("/word/footnotes.xml"), CONTENT_TYPE.WML_FOOTNOTES, root, main.package)
        main.relate_to(part, RELATIONSHIP_TYPE.FOOTNOTES)
        self._style(TEXT, WD_STYLE_TYPE.PARAGRAPH).font.size = Pt(9)
        self._style(REFERENCE, WD_STYLE_TYPE.CHARACTER).font.superscript = True
        link = self._style(LINK, WD_STYLE_TYPE.CHARACTER)
        link.font.underline, link.font.color.rgb = True, RGBColor(0x05, 0x63, 0xC1)
        return part

    def _style(self, name: str, kind: WD_STYLE_TYPE) -> CharacterStyle:
        """Return the built-in style of this name, which the template may lack."""
        styles = self._document.styles
        style = styles[name] if name in styles else styles.add_style(name, kind, builtin=True)
        self._style_ids[name] = style.style_id
        return cast(CharacterStyle, style)  # a ParagraphStyle is one, too

    def _paragraph(self, note: Footnote, part: XmlPart) -> BaseOxmlElement:
        paragraph = OxmlElement("w:p")
        properties, style = OxmlElement("w:pPr"), OxmlElement("w:pStyle")
        style.set(qn("w:val"), self._style_ids[TEXT])
        properties.append(style)
        paragraph.append(properties)
        paragraph.append(self._run(OxmlElement("w:footnoteRef"), REFERENCE))
        paragraph.append(self._run(_text(f" {note.text}")))
        if note.address:
            link = OxmlElement("w:hyperlink")
            link.set(qn("r:id"), self._link(note.address, part))
            link.append(self._run(_text("Open"), LINK))
            paragraph.append(self._run(_text(" ")))
            paragraph.append(link)
        return paragraph

    def _link(self, address: str, part: XmlPart) -> str:
        if address not in self._links:
            name = self._links[address] = f"rId{len(self._links) + 1}"
            part.rels.add_relationship(RELATIONSHIP_TYPE.HYPERLINK, address, name, is_external=True)
        return self._links[address]

    def _run(self, content: BaseOxmlElement, style: str = "") -> BaseOxmlElement:
        run = OxmlElement("w:r")
        if style:
            properties, named = OxmlElement("w:rPr"), OxmlElement("w:rStyle")
            named.set(qn("w:val"), self._style_ids[style])
            properties.append(named)
            run.append(properties)
        run.append(content)
        return run


def _text(words: str) -> BaseOxmlElement:
    element = OxmlElement("w:t")
    element.text = writable(words)
    element.set(qn("xml:space"), "preserve")
    return element


class _Writer:
    """Write Markdown tokens to the document."""

    def __init__(self, document: WordDocument, footnotes: Sequence[Footnote], notes: _Footnotes) -> None:
        self._document, self._footnotes, self._notes = document, footnotes, notes
        self._lists: list[str] = []
        self._heading = self._quotes = 0
        self._rows: list[list[Token]] | None = None
        self._is_below_table = False

    def write(self, tokens: Sequence[Token]) -> None:
        for token in tokens:
            self._write(token)

    def _write(self, token: Token) -> None:
        match token.type:
            case "bullet_list_open" | "ordered_list_open":
                self._lists.append("List Bullet" if token.type.startswith("bullet") else "List Number")
            case "bullet_list_close" | "ordered_list_close":
                self._lists.pop()
            case "blockquote_open":
                self._quotes += 1
            case "blockquote_close":
                self._quotes -= 1
            case "heading_open":
                self._heading = int(token.tag[1])
            case "heading_close":
                self._heading = 0
            case "table_open":
                self._rows = []
            case "tr_open" if self._rows is not None:
                self._rows.append([])
            case "table_close":
                self._end_table()
            case "inline" if self._rows is not None:
                self._rows[-1].append(token)
            case "inline":
                self._runs(self._paragraph(), token.children or [])
            case "fence" | "code_block":
                self._document.add_paragraph().add_run(writable(token.content)).font.name = "Courier New"

    def _paragraph(self) -> Paragraph:
        is_below_table, self._is_below_table = self._is_below_table, False
        if self._heading:
            return self._document.add_heading(level=self._heading)
        paragraph = self._document.add_paragraph(style=self._lists[-1] if self._lists else None)
        if is_below_table:
            paragraph.paragraph_format.space_before = BELOW_TABLE
        if self._quotes:
            paragraph.paragraph_format.left_indent = QUOTE_INDENT * (self._quotes + len(self._lists))
        return paragraph

    def _end_table(self) -> None:
        rows, self._rows = self._rows or [], None
        if not rows:
            return
        table = self._document.add_table(len(rows), max(map(len, rows)), style="Table Grid")
        widths = self._widths(rows)
        for column, width in zip(table.columns, widths, strict=True):
            column.width = width  # of the grid, which LibreOffice reads; Word reads those of cells
        for row, cells in zip(table.rows, rows, strict=True):
            for cell, token, width in zip(row.cells, cells, widths, strict=False):
                cell.width, paragraph = width, cell.paragraphs[0]
                paragraph.paragraph_format.space_before = paragraph.paragraph_format.space_after = CELL_SPACE
                self._runs(paragraph, token.children or [])
        for run in (run for cell in table.rows[0].cells for run in cell.paragraphs[0].runs):
            run.bold = True
        self._is_below_table = True

    def _widths(self, rows: Sequence[Sequence[Token]]) -> list[int]:
        """Return the widths of the columns, by the square root of their longest texts."""
        longest = [max(len(token.content) for token in column if token) for column in zip_longest(*rows)]
        shares = [max(math.sqrt(length), LEAST_SHARE) for length in longest]
        page = self._document.sections[0]
        whole = (page.page_width or 0) - (page.left_margin or 0) - (page.right_margin or 0)
        return [int(whole * share / sum(shares)) for share in shares]

    def _runs(self, paragraph: Paragraph, tokens: Sequence[Token]) -> None:
        bold = italic = False
        for token in tokens:
            if token.type in ("strong_open", "strong_close"):
                bold = token.type == "strong_open"
            elif token.type in ("em_open", "em_close"):
                italic = token.type == "em_open"
            elif token.type in ("softbreak", "hardbreak"):
                paragraph.add_run(" ")
            elif token.type == "citation":
                self._cite(paragraph, int(token.meta["index"]))
            elif token.content:
                run = paragraph.add_run(writable(token.content))
                if bold or italic:
                    run.bold, run.italic = bold or None, italic or None

    def _cite(self, paragraph: Paragraph, index: int) -> None:
        if index < len(self._footnotes):
            self._notes.add(paragraph, self._footnotes[index])
