"""A review as a file: CSV, Excel, JSON, Markdown, PDF; each value with its page, quote and verdict.

Text from documents never becomes a formula: spreadsheets show it as text.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from html import escape
from typing import Any
from urllib.parse import urljoin
from uuid import UUID

import msgspec
from django.contrib.auth.models import User
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from openpyxl import Workbook
from openpyxl.drawing.image import Image
from openpyxl.styles import Alignment, Font, PatternFill
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.worksheet import Worksheet

from chat.citations.stored_citations import citation_picture, reader_link
from chat.exports.markdown import escaped
from chat.models import Citation
from documents.contents import disarmed
from documents.files.page_pictures import PictureFailed
from reviews.column_sets import values_of
from reviews.models import Review, ReviewCell, ReviewColumn, ReviewRow
from reviews.question_answer import is_outflow
from reviews.review_presenters import blinded, first_citations, row_labels, visible_rows
from reviews.typed_values import unit_of
from text.terms import one_line

MOST_PICTURES = 100  # of cited words in one workbook: each takes some hundredths of a second to draw
PICTURE_HEIGHT = 60  # points
LONGEST_VALUE = 3000  # characters of a value or a quote in the PDF
PDF_STYLE = """
body { font-family: sans-serif; font-size: 10pt; line-height: 1.4; }
h1 { font-size: 18pt; } h2 { font-size: 13pt; margin-top: 14pt; } h3 { font-size: 10pt; margin-bottom: 0; }
.asked { color: #666; margin-top: 0; } .words { color: #333; }
"""
COLOURS = {"verified": "DFF5E3", "differs": "FFE0B0", "found": "FFF3BF", "not_stated": "EEEEEE"}
SOURCE_HEADS = (
    "Document",
    "Column",
    "Value",
    "State",
    "Verdict",
    "Page",
    "Lines",
    "Quote",
    "Checked by",
    "Link",
)


@dataclass(frozen=True, slots=True)
class ReviewTable:
    """A review as one user may see it; ``address`` is that of the server, for links."""

    review: Review
    columns: Sequence[ReviewColumn]
    rows: Sequence[ReviewRow]
    cells: dict[tuple[Any, Any], ReviewCell]
    citations: dict[Any, Citation]
    address: str
    labels: dict[UUID, str]

    def cell(self, row: ReviewRow, column: ReviewColumn) -> ReviewCell | None:
        return self.cells.get((row.pk, column.pk))

    def citation(self, cell: ReviewCell) -> Citation | None:
        return self.citations.get(cell.pk)

    def title_of(self, row: ReviewRow) -> str:
        return f"{self.labels[row.pk]} ({_('deleted')})" if row.is_deleted else self.labels[row.pk]

    def link(self, citation: Citation | None) -> str:
        return urljoin(self.address, reader_link(citation)) if citation else ""


def review_table(
    review: Review, user: User, address: str, row: UUID | None = None, column: UUID | None = None
) -> ReviewTable:
    """Return the table, or one row or column of it. Four queries."""
    rows = list(visible_rows(review, user).select_related("document"))
    labels = row_labels(rows)
    rows = [one for one in rows if row in (None, one.pk)]
    cells = blinded(ReviewCell.objects.filter(row__in=rows).select_related("marked_by"), review, user)
    by_place = {(cell.row_id, cell.column_id): cell for cell in cells}
    return ReviewTable(
        review,
        [one for one in review.columns.order_by("position") if column in (None, one.pk)],
        rows,
        by_place,
        first_citations(cells),
        address,
        labels,
    )


def shown_value(cell: ReviewCell | None) -> str:
    """Return the cell for display: its value, else its state."""
    if cell is None:
        return ""
    return (
        cell.text if cell.text and cell.state in ("found", "unclear", "stale") else cell.get_state_display()
    )


def sources(table: ReviewTable) -> Iterator[tuple[str, ...]]:
    """Yield one line for each filled cell, with its value and source (``SOURCE_HEADS``)."""
    for row in table.rows:
        for column in table.columns:
            if (cell := table.cell(row, column)) is None or not cell.answered_by:
                continue
            cited = table.citation(cell)
            yield (
                table.title_of(row),
                column.title,
                shown_value(cell),
                cell.get_state_display(),
                cell.outcome_text(cited) if cited else "",
                str(cited.page_label or cited.page_number) if cited else "",
                "–".join(map(str, dict.fromkeys(cited.lines_on_page))) if cited else "",
                cited.quote if cited else "",
                cell.marked_by.get_username() if cell.marked_by else "",
                table.link(cited),
            )


def as_csv(table: ReviewTable) -> bytes:
    """Return the values, one line per document; ``sources_csv`` has the sources."""
    heads = ["Document", *(column.title for column in table.columns)]
    return csv_of(
        heads,
        (
            [table.title_of(row), *(shown_value(table.cell(row, column)) for column in table.columns)]
            for row in table.rows
        ),
    )


def sources_csv(table: ReviewTable) -> bytes:
    """Return one line for each value with its source."""
    return csv_of(SOURCE_HEADS, sources(table))


def csv_of(heads: Sequence[str], lines: Iterable[Sequence[str]]) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow([disarmed(head) for head in heads])
    writer.writerows([disarmed(text) for text in line] for line in lines)
    return out.getvalue().encode("utf-8-sig")  # Excel recognises UTF-8 by its byte order mark


def as_json(table: ReviewTable) -> bytes:
    rows = [
        {
            "document": row.document_id,
            "title": table.title_of(row),
            "cells": {
                column.title: cell_json(table, cell)
                for column in table.columns
                if (cell := table.cell(row, column))
            },
        }
        for row in table.rows
    ]
    columns = [values_of(column) for column in table.columns]
    return msgspec.json.format(
        msgspec.json.encode({"name": table.review.name, "columns": columns, "rows": rows})
    )


def cell_json(table: ReviewTable, cell: ReviewCell) -> dict[str, Any]:
    cited = table.citation(cell)
    source = {
        "page": cited.page_number,
        "page_label": cited.page_label,
        "lines": list(cited.lines),
        "lines_on_page": list(cited.lines_on_page),
        "quote": cited.quote,
        "outcome": cited.outcome,
        "verdict": cited.verdict,
        "link": table.link(cited),
    } if cited else None  # fmt: skip
    names = ("state", "value", "text", "answered_by", "by_person", "mark", "comment")
    return {name: getattr(cell, name) for name in names} | {"source": source}


def as_markdown(table: ReviewTable) -> str:
    """Return a table, and a numbered list of sources."""
    heads = ["Document", *(column.title for column in table.columns)]
    lines = [f"# {escaped(one_line(table.review.name))}", "", line_of(heads), "|" + " --- |" * len(heads)]
    notes: list[str] = []
    for row in table.rows:
        values = [escaped(one_line(table.title_of(row)))]
        for column in table.columns:
            cell = table.cell(row, column)
            text = escaped(one_line(shown_value(cell)))
            if cell and (cited := table.citation(cell)):
                notes.append(f"[^{len(notes) + 1}]: {escaped(one_line(f'{cited.place}: “{cited.quote}”'))}")
                text += f"[^{len(notes)}]"
            values.append(text)
        lines.append("| " + " | ".join(values) + " |")
    return "\n".join([*lines, "", *notes, ""])


def line_of(texts: Sequence[str]) -> str:
    return "| " + " | ".join(escaped(one_line(text)) for text in texts) + " |"


# --- Excel ---


def as_xlsx(table: ReviewTable) -> bytes:
    """Return a sheet of typed values, coloured by verdict and linked to words, and a sheet of evidence."""
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "Review"
    put(sheet.cell(1, 1), "Document", bold=True)
    columns = list(sheet_columns(table))
    for at, (column, unit) in enumerate(columns, start=2):
        put(sheet.cell(1, at), f"{column.title} ({unit})" if unit else column.title, bold=True)
        sheet.column_dimensions[get_column_letter(at)].width = 28
    sheet.column_dimensions["A"].width = 40
    sheet.freeze_panes = "B2"
    for line, row in enumerate(table.rows, start=2):
        put(sheet.cell(line, 1), table.title_of(row))
        for at, (column, unit) in enumerate(columns, start=2):
            if (cell := table.cell(row, column)) and unit_in(cell) in (None, unit):
                put_value(sheet.cell(line, at), cell, column, table)
    put_evidence(book.create_sheet("Evidence"), table)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def sheet_columns(table: ReviewTable) -> Iterator[tuple[ReviewColumn, str]]:
    """Yield each column, once for each unit or currency of its numbers: a sum over a column has one."""
    for column in table.columns:
        cells = (table.cell(row, column) for row in table.rows)
        units = dict.fromkeys(unit for cell in cells if cell and (unit := unit_in(cell)) is not None)
        yield from ((column, unit) for unit in units or [""])


def unit_in(cell: ReviewCell) -> str | None:
    return unit_of(cell.value) if cell.state == "found" and isinstance(cell.value, dict) else None


def put(place: Any, value: Any, *, bold: bool = False) -> None:
    """Write a value that is never a formula."""
    place.value = value
    if isinstance(value, str):
        place.data_type = "s"
    place.alignment = Alignment(wrap_text=True, vertical="top")
    place.font = Font(bold=bold)


def put_value(place: Any, cell: ReviewCell, column: ReviewColumn, table: ReviewTable) -> None:
    cited = table.citation(cell)
    put(place, typed(cell, column))
    if isinstance(place.value, int | float) and not isinstance(place.value, bool):
        place.number_format = "#,##0.###"
    if cited:
        place.hyperlink = table.link(cited)
    if colour := COLOURS.get(colour_of(cell, cited)):
        place.fill = PatternFill("solid", start_color=colour)


def typed(cell: ReviewCell, column: ReviewColumn) -> Any:
    """Return the value as Excel has it: a number (a cost without its sign), a date, a truth value, words."""
    if cell.state != "found":
        return shown_value(cell)
    if isinstance(cell.value, dict):
        amount = cell.value["number"]
        return abs(amount) if is_outflow(column.question) else amount
    if column.kind == ReviewColumn.Kind.DATE and len(str(cell.value)) == 10:
        return date.fromisoformat(str(cell.value))
    return cell.value if isinstance(cell.value, bool) else cell.text


def colour_of(cell: ReviewCell, cited: Citation | None) -> str:
    if cell.state == ReviewCell.State.NOT_STATED:
        return "not_stated"
    if cited is None:
        return ""
    if cell.state != ReviewCell.State.FOUND:
        return "found"  # the words are on the page, but give no value
    return cited.outcome


def put_evidence(sheet: Worksheet, table: ReviewTable) -> None:
    """Write one line for each source, the first with a picture of the words."""
    for at, head in enumerate((*SOURCE_HEADS, "Words"), start=1):
        put(sheet.cell(1, at), head, bold=True)
        sheet.column_dimensions[get_column_letter(at)].width = 60 if head in ("Quote", "Words") else 22
    sheet.freeze_panes = "A2"
    cited = [
        table.citation(cell)
        for row in table.rows
        for column in table.columns
        if (cell := table.cell(row, column)) and cell.answered_by
    ]
    for line, (texts, citation) in enumerate(zip(sources(table), cited, strict=True), start=2):
        for at, text in enumerate(texts, start=1):
            put(sheet.cell(line, at), text)
        if citation and line - 2 < MOST_PICTURES:
            put_picture(sheet, line, len(SOURCE_HEADS) + 1, citation)


def put_picture(sheet: Worksheet, line: int, at: int, citation: Citation) -> None:
    if not (png := picture_of(citation)):
        return
    picture = Image(io.BytesIO(png))
    scale = min(1.0, PICTURE_HEIGHT / picture.height)
    picture.width, picture.height = int(picture.width * scale), int(picture.height * scale)
    sheet.row_dimensions[line].height = PICTURE_HEIGHT
    sheet.add_image(picture, f"{get_column_letter(at)}{line}")


# --- PDF ---


def as_pdf(table: ReviewTable) -> bytes:
    """Return each value with question, verdict, words and a picture of them. All text is escaped."""
    import pymupdf  # imported here: nothing else in this process needs MuPDF

    pictures, parts = pymupdf.Archive(), [f"<h1>{escape(table.review.name)}</h1>"]
    left = MOST_PICTURES
    for row in table.rows:
        parts.append(f"<h2>{escape(table.title_of(row))}</h2>")
        for column in table.columns:
            if not (cell := table.cell(row, column)):
                continue
            parts.append(f"<h3>{escape(column.title)}</h3><p class='asked'>{escape(column.question)}</p>")
            parts.append(f"<p>{escape(shown_value(cell)[:LONGEST_VALUE])}</p>")
            if cited := table.citation(cell):
                left -= 1
                parts.append(evidence_html(cited, cell, table.link(cited)))
                if left >= 0 and (png := picture_of(cited)):
                    pictures.add((png, f"{left}.png"))
                    width = min(450, Image(io.BytesIO(png)).width)
                    parts.append(f"<p><img src='{left}.png' width='{width}'></p>")
    paper = pymupdf.paper_rect("a4")
    frame = pymupdf.Rect(54, 54, paper.width - 54, paper.height - 54)  # points
    story = pymupdf.Story(html="".join(parts), user_css=PDF_STYLE, archive=pictures)
    document = story.write_with_links(lambda number, filled: (paper, frame, None))
    document.set_metadata({"title": table.review.name})
    return bytes(document.tobytes(garbage=3, deflate=True))


def evidence_html(cited: Citation, cell: ReviewCell, link: str) -> str:
    outcome = escape(capfirst(cell.outcome_text(cited)))
    by = f" · {cell.get_mark_display()}: {cell.marked_by}" if cell.marked_by else ""
    place = f"<a href='{escape(link)}'>{escape(cited.place)}</a>"
    return f"<p class='words'>“{escape(cited.quote[:LONGEST_VALUE])}”<br/>{outcome} · {place}{escape(by)}</p>"


def picture_of(cited: Citation) -> bytes | None:
    try:
        return citation_picture(cited, dpi=72)
    except PictureFailed:
        return None


REVIEW_FORMATS: dict[str, tuple[str, Callable[[ReviewTable], str | bytes]]] = {
    "xlsx": ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", as_xlsx),
    "csv": ("text/csv; charset=utf-8", as_csv),
    "sources-csv": ("text/csv; charset=utf-8", sources_csv),
    "pdf": ("application/pdf", as_pdf),
    "json": ("application/json", as_json),
    "md": ("text/markdown; charset=utf-8", as_markdown),
}
