"""Content of a document: pages with word boxes, citation units, retrieval chunks and their metadata."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import reduce
from itertools import groupby
from operator import or_
from typing import TYPE_CHECKING, Any, Self, TypeVar

import msgspec
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, OuterRef, Q, Subquery
from django.db.models.functions import Length
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from documents.models.document import Document
from documents.page_labels import place_in_words
from pdf.geometry import PageFrame
from pdf.structure import Location, TableRow
from text.semantics import detected_language

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User


Row = TypeVar("Row", bound=models.Model)


class ContentQuerySet(models.QuerySet[Row]):
    """Rows of documents, visible with their document."""

    def visible_to(self, user: User | AnonymousUser) -> Self:
        return self.filter(document__in=Document.objects.visible_to(user))

    def on_pages(self, places: Iterable[tuple[uuid.UUID, int]], number: str = "page_number") -> Self:
        """Return the rows on these pages of documents; ``number`` is the field of the page."""
        wanted: dict[uuid.UUID, set[int]] = defaultdict(set)
        for document, page in places:
            wanted[document].add(page)
        found = (Q(document=key, **{f"{number}__in": pages}) for key, pages in wanted.items())
        return self.filter(reduce(or_, found, Q(pk__in=())))


class RetrievalChunk(models.Model):
    """A few consecutive units of one section, as search ranks them; ``context_header`` gives its section."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="chunks")
    index = models.IntegerField(help_text="position in the document, from 0")
    unit_ids = ArrayField(models.UUIDField(), default=list)

    content = models.TextField()
    context_header = models.TextField(blank=True, help_text="title › section path › table caption")
    summary = models.TextField(blank=True, help_text="written by a language model, if one is configured")
    chunk_type = models.CharField(max_length=12, default="prose")
    section_path = ArrayField(models.TextField(), default=list)
    section_type = models.CharField(max_length=20, blank=True)
    page_start = models.IntegerField()
    page_end = models.IntegerField()
    token_count = models.IntegerField()
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = ContentQuerySet["RetrievalChunk"].as_manager()

    class Meta:
        ordering = ["document", "index"]
        constraints = [models.UniqueConstraint(fields=["document", "index"], name="one_chunk_per_index")]

    def __str__(self) -> str:
        return f"{self.context_header} #{self.index}"


MOST_TRIES = 2  # OCR attempts for one page


Place = tuple[uuid.UUID | None, int]  # a document and a page number


class PrintedFrame(PageFrame, frozen=True):
    """A page's geometry, its printed number ('' without one) and its first line's number in the document."""

    label: str = ""
    first_line: int = 0


Frames = dict[Place, PrintedFrame]


FRAME_FIELDS = ("width", "height", "rotation", "crop_x", "crop_y", "user_unit")
SIZE_FIELDS = ("width", "height", "crop_x", "crop_y", "rotation", "user_unit")


class PageQuerySet(ContentQuerySet["Page"]):
    def frames(self, places: Iterable[Place]) -> Frames:
        """Return the frames of these pages in one query. Deleted pages are left out."""
        if not (wanted := set(places)):
            return {}
        rows = self.filter(
            document__in={document for document, _ in wanted if document},
            number__in={number for _, number in wanted},
        ).only("document_id", "number", "label", "first_line", *FRAME_FIELDS)
        return {(page.document_id, page.number): page.printed_frame for page in rows}

    def frame_of_each(self, numbers: Iterable[int]) -> dict[int, PageFrame]:
        """Return the frames of these pages of one document by number. One query."""
        rows = self.filter(number__in=set(numbers)).only("document_id", "number", *FRAME_FIELDS)
        return {page.number: page.frame for page in rows}

    def sizes(self) -> list[tuple[int, float, float, float, float, int, float]]:
        """Return ``number, width, height, crop_x, crop_y, rotation, user_unit`` of each page of one document
        that is of another size than the page before."""
        rows = self.order_by("number").values_list("number", *SIZE_FIELDS)
        return [next(run) for _size, run in groupby(rows, key=lambda row: row[1:])]

    def awaiting_recognition(self) -> Self:
        """Return pages that await OCR."""
        return self.exclude(awaits="").filter(recognised=b"", tries__lt=MOST_TRIES)

    def awaiting_layout(self) -> Self:
        """Return pages recognised or given up since the last layout of the document."""
        return self.exclude(awaits="").exclude(recognised=b"", tries__lt=MOST_TRIES)

    def in_order_of_need(self) -> Self:
        """Order by requests of users, then scanned pages before pictures on text pages; failed ones last."""
        return self.order_by("tries", F("wanted_at").desc(nulls_last=True), "awaits", "number")


class Page(models.Model):
    """One parsed page of a document."""

    class Awaits(models.TextChoices):
        PAGE = "page", "OCR of the whole page"
        PICTURES = "pictures", "OCR of pictures on a page with text"

    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="pages")
    number = models.IntegerField(help_text="from 1")
    label = models.CharField(
        max_length=40, blank=True, help_text="printed on the page, else the PDF's page label: iv, A-3"
    )
    first_line = models.IntegerField(default=0, help_text="number of its first line through the document")

    width = models.FloatField(help_text="of the CropBox, page space, not rotated")
    height = models.FloatField()
    rotation = models.SmallIntegerField(default=0, help_text="degrees clockwise")
    crop_x = models.FloatField(default=0, help_text="lower left corner of the CropBox in PDF user space")
    crop_y = models.FloatField(default=0)
    user_unit = models.FloatField(default=1)

    text = models.TextField(blank=True)
    word_boxes = models.BinaryField(default=bytes, help_text="packed by pdf.word_boxes")
    furniture = models.JSONField(default=list, help_text="[{text, char_start, char_end, rects}, …]")
    figures = models.JSONField(default=list, help_text="[{rect, caption}, …]")

    ocr = models.BooleanField(default=False)
    recognised = models.BinaryField(default=bytes, help_text="packed OCR result, kept for the next parsing")
    awaits = models.CharField(max_length=8, choices=Awaits, blank=True, help_text="what still awaits OCR")
    tries = models.SmallIntegerField(default=0, help_text="failed OCR attempts")
    wanted_at = models.DateTimeField(null=True, blank=True, help_text="when a user last requested the page")
    confidence = models.FloatField(default=1)
    hidden_words = models.IntegerField(default=0)
    failure = models.CharField(max_length=200, blank=True)

    objects = PageQuerySet.as_manager()

    class Meta:
        ordering = ["document", "number"]
        constraints = [models.UniqueConstraint(fields=["document", "number"], name="one_page_per_number")]
        indexes = [models.Index(fields=["document"], condition=~Q(awaits=""), name="pages_to_recognise")]

    def __str__(self) -> str:
        return f"p. {self.number}"

    @property
    def frame(self) -> PageFrame:
        return PageFrame(self.width, self.height, self.rotation, self.crop_x, self.crop_y, self.user_unit)

    @property
    def printed_frame(self) -> PrintedFrame:
        return PrintedFrame(*(getattr(self, name) for name in (*FRAME_FIELDS, "label", "first_line")))


class UnitQuerySet(ContentQuerySet["CitationUnit"]):
    def with_printed_page(self) -> Self:
        """Annotate ``page_label``, the printed page number, and ``page_first_line``; null without a page."""
        page = Page.objects.filter(document=OuterRef("document"), number=OuterRef("page_number"))
        label, first = (Subquery(page.values(name)[:1]) for name in ("label", "first_line"))
        return self.annotate(page_label=label, page_first_line=first)

    def neighbours(self, unit: CitationUnit, distance: int = 2) -> Self:
        """Return other units of the document at most ``distance`` away in reading order."""
        return self.filter(
            document=unit.document_id,
            position__range=(unit.position - distance, unit.position + distance),
        ).exclude(pk=unit.pk)


class CitationUnit(models.Model):
    """A paragraph, heading, list item, table row, caption, footnote, code block or formula.

    ``content == page.text[char_start:char_end]``, always. Rectangles are in page space.
    """

    class Type(models.TextChoices):
        PROSE = "prose", _("Prose")
        HEADING = "heading", _("Heading")
        LIST = "list", _("List")
        TABLE = "table", _("Table")
        CODE = "code", _("Code")
        CAPTION = "caption", _("Caption")
        FOOTNOTE = "footnote", _("Footnote")
        FORMULA = "formula", _("Formula")
        ABSTRACT = "abstract", _("Abstract")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="units")
    chunk = models.ForeignKey(RetrievalChunk, null=True, on_delete=models.SET_NULL, related_name="units")
    position = models.IntegerField(help_text="reading order through the document, from 0")
    page_number = models.IntegerField(help_text="from 1")
    paragraph_index = models.IntegerField(help_text="reading order in the page, from 0")

    content = models.TextField()
    unit_type = models.CharField(max_length=10, choices=Type, default=Type.PROSE)
    char_start = models.IntegerField()
    char_end = models.IntegerField()
    line_start = models.IntegerField(help_text="through the document, from 1")
    line_end = models.IntegerField()
    bbox = ArrayField(models.FloatField(), size=4)
    rects = ArrayField(ArrayField(models.FloatField(), size=4), default=list, help_text="one per line")

    heading_level = models.SmallIntegerField(null=True)
    section_title = models.TextField(blank=True)
    section_path = ArrayField(models.TextField(), default=list)
    section_type = models.CharField(max_length=20, blank=True)
    from_picture = models.BooleanField(default=False, help_text="recognised in a picture on a page with text")
    continues = models.BooleanField(default=False, help_text="continues the unit before it")

    table_index = models.IntegerField(null=True)
    table_row = models.IntegerField(null=True)
    cells = models.JSONField(null=True, help_text="a structure.TableRow as JSON; null when not in a table")
    list_style = models.CharField(max_length=20, blank=True)
    code_language = models.CharField(max_length=20, blank=True)
    location = models.JSONField(null=True, help_text="a structure.Location as JSON; of imported blocks")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = UnitQuerySet.as_manager()

    class Meta:
        ordering = ["document", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["document", "page_number", "paragraph_index"], name="one_unit_per_place"
            )
        ]
        indexes = [
            models.Index(fields=["document", "position"]),
            models.Index(fields=["document", "table_index", "table_row"]),
        ]

    def __str__(self) -> str:
        return self.content[:80]

    @property
    def place(self) -> str:
        """Return the location of an imported block: ``slide 4``, ``sheet Q2, B7``, ``12:04``; else ''."""
        return self.cited_location(self.char_start, self.char_end).in_words

    def printed_place(self, page_label: str, first_line: int) -> str:
        """Return the location, or printed page and lines on it: ``p. 31 (33 in the file), lines 2–7``.

        ``page_label``, ``first_line``: of its page, as ``with_printed_page`` annotates them.
        """
        lines = self.line_start, self.line_end
        return place_in_words(self.page_number, lines, page_label, first_line, self.place)

    def cited_location(self, start: int, end: int) -> Location:
        """Return the location of a character range of the page; in a row of a sheet, of the cell it is in."""
        found = msgspec.convert(self.location or {}, Location)
        return found.within(msgspec.convert(self.cells, TableRow) if self.cells else None, start, end)


def chunk_metadata(chunk: RetrievalChunk, units: Sequence[CitationUnit]) -> dict[str, Any]:
    """Return the metadata of the chunk, given its units in reading order. Empty values are left out."""
    document = chunk.document
    above = chunk.section_path
    found = {
        "media_id": str(document.pk),
        "file_name": document.original_name,
        "chunk_index": chunk.index,
        "total_chunks": document.chunk_count,
        **_offsets(chunk, units),
        "chunk_type": chunk.chunk_type,
        "unit_types": list(dict.fromkeys(unit.unit_type for unit in units)),
        "section_path": chunk.section_path,
        "ancestry_titles": above if above[:1] == [document.title] else [document.title, *above],
        "language": detected_language(chunk.content, document.language),
        "code_language": next((unit.code_language for unit in units if unit.code_language), ""),
        "list_style": next((list_style(unit.list_style) for unit in units if unit.list_style), ""),
        **_table_place(units),
        "context_header": chunk.context_header,
        "contextual_summary_ref": f"/api/chunks/{chunk.pk}/#summary" if chunk.summary else "",
        "citation": citation_anchor(units) if units else {},
    }
    return {name: value for name, value in found.items() if value not in ("", None, [], {})}


def citation_anchor(units: Sequence[CitationUnit]) -> dict[str, Any]:
    """Return the location of the units: from the first line to the last, from the first second to the last.

    Numbers count from 1. ``bbox_quad`` is around the units on the first one's page. Its corners go clockwise
    from the top left, in points; those of imported blocks in 0..1 of the page as shown.
    """
    unit, known = units[0], units[0].location or {}
    anchor = {
        "page_number": unit.page_number,
        "paragraph_number": known.get("paragraph", unit.paragraph_index + 1),
        "line_number": known.get("line", unit.line_start),
        "line_start": unit.line_start,
        "line_end": units[-1].line_end,
        "slide_number": _first(units, "slide"),
        "sheet_name": _first(units, "sheet"),
        "row_number": _first(units, "row") or (None if unit.table_row is None else unit.table_row + 1),
        "column_number": _first(units, "column"),
        "start_timestamp_ms": min(_all(units, "start_ms"), default=None),
        "end_timestamp_ms": max(_all(units, "end_ms"), default=None),
        "bbox_quad": [{"x": x, "y": y} for x, y in _corners(units)] or None,
    }
    return {name: value for name, value in anchor.items() if value is not None}


def _corners(units: Sequence[CitationUnit]) -> Sequence[Sequence[float]]:
    """Return the corners around the units on the first one's page; none where no box is known."""
    placed = [unit for unit in units if unit.page_number == units[0].page_number and unit.rects]
    quads = [quad for unit in placed if (quad := (unit.location or {}).get("quad"))]
    if len(quads) == len(placed) == 1:
        return quads[0]
    points = [point for quad in quads for point in quad]
    points = points or [corner for unit in placed for corner in (unit.bbox[:2], unit.bbox[2:])]
    if not points:
        return []
    (x0, y0), (x1, y1) = map(min, zip(*points, strict=True)), map(max, zip(*points, strict=True))
    return [(x0, y0), (x1, y0), (x1, y1), (x0, y1)]


def _first(units: Sequence[CitationUnit], name: str) -> Any:
    """Return the field ``name`` of the first location that has it."""
    return next(iter(_all(units, name)), None)


def _all(units: Sequence[CitationUnit], name: str) -> list[Any]:
    return [unit.location[name] for unit in units if unit.location and name in unit.location]


def _table_place(units: Sequence[CitationUnit]) -> dict[str, int | None]:
    """Return row and column, from 0, of the chunk's first table cell."""
    row = next((unit for unit in units if unit.table_row is not None), None)
    if row is None:
        names = {"table_row": "row", "table_col": "column"}
        return {name: at - 1 for name, known in names.items() if (at := _first(units, known))}
    cells = (row.cells or {}).get("cells", [])
    return {"table_row": row.table_row, "table_col": cells[0]["column"] if cells else None}


def list_style(marker: str) -> str:
    """Return ``numbered`` for markers such as '1.', '(a)' and 'iv)', else ``bullet``."""
    core = marker.strip().strip("().")
    return "numbered" if core.isalnum() and core != "o" and core != "bullet" else "bullet"


def _offsets(chunk: RetrievalChunk, units: Sequence[CitationUnit]) -> dict[str, int]:
    """Return [start, end) in the document's text: its pages, joined by one newline each. One query."""
    if not units:
        return {}
    pages = Page.objects.filter(document=chunk.document_id, number__lt=units[-1].page_number)
    lengths = dict(pages.annotate(characters=Length("text")).values_list("number", "characters"))

    def before(number: int) -> int:
        return sum(length + 1 for page, length in lengths.items() if page < number)

    first, last = units[0], units[-1]
    return {
        "start_char": before(first.page_number) + first.char_start,
        "end_char": before(last.page_number) + last.char_end,
    }
