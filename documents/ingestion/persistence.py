"""Store a parsed document: replace pages, units and chunks by COPY in one transaction."""

from __future__ import annotations

import hashlib
import re
import unicodedata
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import msgspec
from django.contrib.postgres.fields import ArrayField
from django.db import connections, models, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg import sql

from documents.chunking import ChunkDraft
from documents.ingestion.leases import Lease
from documents.ingestion.parser import Content
from documents.ingestion.source_files import forget_previous
from documents.models import CitationUnit, Document, Page, RetrievalChunk
from documents.page_labels import printed_labels
from pdf import word_boxes
from pdf.structure import ParsedPage, ParsedUnit

Row = TypeVar("Row", bound=models.Model)
Prepare = Callable[[Any], Any]

# Fields whose Python values psycopg writes without conversion.
PLAIN = (
    models.IntegerField,
    models.FloatField,
    models.CharField,
    models.TextField,
    models.BooleanField,
    models.UUIDField,
    models.BinaryField,
    models.ForeignKey,
    models.DateTimeField,
)
BRACES = str.maketrans("[]", "{}")
INVISIBLE = re.compile(r"[\s\u00ad\u200b-\u200f\u2060\ufeff]+")
LEAST_CHARACTERS = 100  # shorter texts may be equal in unrelated files: "Page left blank"
IN_QUOTES = str.maketrans({"\\": "\\\\", '"': '\\"'})


def copy_rows(model: type[Row], rows: Sequence[Row]) -> None:
    """Insert unsaved instances by COPY, without signals. The database assigns null keys."""
    if not rows:
        return
    connection = connections["default"]
    fields = [
        field
        for field in model._meta.concrete_fields
        if not field.generated and not (field.primary_key and rows[0].pk is None)
    ]
    columns = sql.SQL(", ").join([sql.Identifier(field.column or "") for field in fields])
    statement = sql.SQL("COPY {} ({}) FROM STDIN").format(sql.Identifier(model._meta.db_table), columns)
    writers = [(field.attname, preparation(field, connection)) for field in fields]
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for row in rows:
            values = row.__dict__
            copy.write_row([prepare(values[name]) if prepare else values[name] for name, prepare in writers])


def replace_rows(model: type[Row], before: Mapping[Any, Row], rows: Sequence[Row]) -> list[Row]:
    """Replace the rows ``before`` (by primary key) by ``rows``. Return those that are new or changed.

    Equal rows are not written. References to a changed row survive, since foreign keys are checked at the end
    of the transaction.
    """
    kept = {row.pk for row in rows}
    if gone := before.keys() - kept:
        model._default_manager.filter(pk__in=gone).delete()
    new = [row for row in rows if row.pk not in before]
    changed = [row for row in rows if row.pk in before and is_changed(row, before[row.pk])]
    if changed:
        table, key = sql.Identifier(model._meta.db_table), sql.Identifier(model._meta.pk.attname)
        with connections["default"].cursor() as cursor:
            statement = sql.SQL("DELETE FROM {} WHERE {} = ANY(%s)").format(table, key)
            cursor.execute(statement, [[row.pk for row in changed]])
    copy_rows(model, changed)
    copy_rows(model, new)
    return [*new, *changed]


def is_changed(row: models.Model, before: models.Model) -> bool:
    """Return whether a new row differs from the stored one."""
    return any(
        stored(field, getattr(row, field.attname)) != stored(field, getattr(before, field.attname))
        for field in row._meta.concrete_fields
        if not field.generated
    )


def stored(field: models.Field, value: Any) -> Any:
    """Return the value as the database would return it."""
    if isinstance(field, models.BinaryField):
        return bytes(value)
    if isinstance(field, models.JSONField):
        return msgspec.json.decode(as_json(value) or "null")
    return value


def preparation(field: models.Field, connection: BaseDatabaseWrapper) -> Prepare | None:
    """Return the conversion of a field's values for COPY; None where none is needed."""
    if isinstance(field, PLAIN):
        return None
    if isinstance(field, ArrayField):
        if isinstance(innermost(field), models.FloatField):
            return array_of_numbers
        if isinstance(field.base_field, models.TextField | models.UUIDField):
            return array_of_texts
    if isinstance(field, models.JSONField):
        return as_json
    return lambda value: field.get_db_prep_save(value, connection)


def as_json(value: Any) -> str | None:
    """Encode with msgspec, which knows its structs."""
    return None if value is None else msgspec.json.encode(value).decode()


def innermost(field: ArrayField) -> models.Field:
    base = field.base_field
    return innermost(base) if isinstance(base, ArrayField) else base


def array_of_numbers(value: Any) -> str | None:
    """Convert ``[[1.5, 2.0]]`` to PostgreSQL's ``{{1.5, 2.0}}``: ten times as fast as psycopg's dumper."""
    return None if value is None else str(value).translate(BRACES)


def array_of_texts(value: Any) -> str | None:
    """Convert texts or UUIDs, ``['a "b"']``, to PostgreSQL's ``{"a \\"b\\""}``."""
    if value is None:
        return None
    return "{" + ",".join([f'"{str(text).translate(IN_QUOTES)}"' for text in value]) + "}"


def replace_content(lease: Lease, content: Content, *, searchable: bool = False) -> None:
    """Replace the stored content of the document. Raises LostLease, and stores nothing then.

    Unchanged units keep their rows and citations, unchanged chunks their vectors. The document leaves search
    until it is indexed again, unless ``searchable`` (when OCR only added pages).
    """
    with transaction.atomic():
        document = lease.lock()
        ids = chunk_ids(document, content.chunks)
        units = unit_rows(document, content, ids)
        store_chunks(
            document, [chunk_row(document, *each, units) for each in zip(content.chunks, ids, strict=True)]
        )
        before = document.units.in_bulk()
        for unit in units:
            unit.created_at = before[unit.pk].created_at if unit.pk in before else unit.created_at
        changed = replace_rows(CitationUnit, before, units)
        store_pages(document, content, {unit.page_number for unit in changed})
        describe(document, content)
        if not searchable:
            document.indexed_at = None
        document.save()
        forget_previous(document)


def store_pages(document: Document, content: Content, changed: set[int]) -> None:
    """Replace the pages, but keep the state of their OCR attempts.

    A page that changed, or whose units did (``changed``), gets a new primary key, which tells an open reader.
    """
    before = {page.number: page for page in document.pages.all()}
    labels = printed_labels(content.parsed.pages)
    rows = [page_row(document, page, labels.get(page.number, "")) for page in content.parsed.pages]
    for row in rows:
        if old := before.get(row.number):
            row.pk, row.tries, row.wanted_at = old.pk, old.tries, old.wanted_at
            if row.number in changed or is_changed(row, old):
                row.pk = None
    replace_rows(Page, {page.pk: page for page in before.values()}, rows)


def store_chunks(document: Document, rows: list[RetrievalChunk]) -> None:
    """Replace the chunks; those that stay keep their summary."""
    before = document.chunks.in_bulk()
    for row in rows:
        if old := before.get(row.pk):
            row.summary, row.created_at = old.summary, old.created_at
    replace_rows(RetrievalChunk, before, rows)


def describe(document: Document, content: Content) -> None:
    """Set the document's fields that describe its content."""
    parsed, units = content.parsed, [unit for page in content.parsed.pages for unit in page.units]
    found = content.description
    document.title = content.title
    document.authors = document.authors or list(found.authors)
    document.year = document.year or found.year
    document.language = found.language
    document.doi = document.doi or found.doi[:200]
    document.metadata = {**document.metadata, "pdf": parsed.metadata}
    if not document.metadata.get("facts_edited"):
        document.metadata["facts"] = msgspec.to_builtins(found.facts)
    if found.arxiv_id:
        paper = {"arxiv_id": found.arxiv_id, **document.metadata.get("paper", {})}
        document.metadata["paper"] = paper
    document.page_count = parsed.page_count
    document.word_count = sum(len(page.words) for page in parsed.pages)
    document.unit_count = len(units)
    document.chunk_count = len(content.chunks)
    document.table_count = len({unit.table.index for unit in units if unit.table})
    document.hidden_word_count = sum(page.hidden_words for page in parsed.pages)
    document.failed_pages = [[page.number, page.failure] for page in parsed.pages if page.failure]
    document.outline = [[entry.level, entry.title, entry.page] for entry in parsed.outline]
    awaits = Counter(page.awaits for page in parsed.pages)
    is_complete = not (document.failed_pages or awaits["page"])
    document.text_digest = text_digest(page.text for page in parsed.pages) if is_complete else ""
    document.parser_name, document.parser_version = parsed.engine, parsed.version
    document.pages_waiting, document.pictures_waiting = awaits["page"], awaits["pictures"]


def text_digest(pages: Iterable[str]) -> str:
    """Return a digest of the pages' text, the same for a file that was saved again; '' for too little text.

    Compatible characters, white space and invisible characters such as soft hyphens do not count: writers of
    PDFs differ in them.
    """
    characters = INVISIBLE.sub("", unicodedata.normalize("NFKC", "\n".join(pages)))
    if len(characters) < LEAST_CHARACTERS:
        return ""
    return hashlib.sha256(characters.encode(errors="replace")).hexdigest()[:32]


def page_row(document: Document, page: ParsedPage, printed: str) -> Page:
    """``printed``: the number on the page, if it has one."""
    frame = page.frame
    return Page(
        document_id=document.pk,
        number=page.number,
        label=(printed or page.label)[:40],
        first_line=page.first_line or min((unit.line_start for unit in page.units), default=0),
        width=frame.width,
        height=frame.height,
        rotation=frame.rotation,
        crop_x=frame.crop_x,
        crop_y=frame.crop_y,
        user_unit=frame.user_unit,
        text=page.text,
        word_boxes=word_boxes.pack(page.words, frame.width, frame.height),
        furniture=page.furniture,
        figures=page.figures,
        ocr=page.ocr,
        recognised=page.recognised,
        awaits=page.awaits,
        confidence=page.confidence,
        hidden_words=page.hidden_words,
        failure=page.failure[:200],
    )


def chunk_ids(document: Document, chunks: Iterable[ChunkDraft]) -> list[uuid.UUID]:
    """Derive ids from content and headings, so that an unchanged chunk keeps its id and its vectors."""
    seen: Counter[str] = Counter()
    ids = []
    for chunk in chunks:
        text = f"{chunk.context_header}\n{chunk.content}"
        ids.append(uuid.uuid5(document.pk, f"chunk {seen[text]} {text}"))
        seen[text] += 1
    return ids


def unit_id(document: Document, page: ParsedPage, unit: ParsedUnit) -> uuid.UUID:
    """Derive the id from place and text, so that an unchanged unit keeps its id."""
    return uuid.uuid5(document.pk, f"unit {page.number} {unit.index} {unit.text}")


def chunk_row(
    document: Document, chunk: ChunkDraft, pk: uuid.UUID, units: list[CitationUnit]
) -> RetrievalChunk:
    return RetrievalChunk(
        id=pk,
        document_id=document.pk,
        index=chunk.index,
        unit_ids=[units[position].pk for position in chunk.unit_positions],
        content=chunk.content,
        context_header=chunk.context_header,
        chunk_type=chunk.chunk_type,
        section_path=list(chunk.section_path),
        section_type=chunk.section_type,
        page_start=chunk.page_start,
        page_end=chunk.page_end,
        token_count=chunk.token_count,
    )


def unit_rows(document: Document, content: Content, chunk_ids: Sequence[uuid.UUID]) -> list[CitationUnit]:
    """Return the units in reading order. A unit longer than a chunk belongs to the first chunk it is in."""
    chunk_of: dict[int, uuid.UUID] = {}
    for chunk, pk in reversed([*zip(content.chunks, chunk_ids, strict=True)]):
        chunk_of |= dict.fromkeys(chunk.unit_positions, pk)
    in_order = ((page, unit) for page in content.parsed.pages for unit in page.units)
    return [
        unit_row(document, page, unit, position, chunk_of.get(position))
        for position, (page, unit) in enumerate(in_order)
    ]


def unit_row(
    document: Document, page: ParsedPage, unit: ParsedUnit, position: int, chunk: uuid.UUID | None
) -> CitationUnit:
    return CitationUnit(
        id=unit_id(document, page, unit),
        document_id=document.pk,
        chunk_id=chunk,
        position=position,
        page_number=page.number,
        paragraph_index=unit.index,
        content=unit.text,
        unit_type=unit.type,
        char_start=unit.char_start,
        char_end=unit.char_end,
        line_start=unit.line_start,
        line_end=unit.line_end,
        bbox=list(unit.bbox),
        rects=[list(rect) for rect in unit.rects],
        heading_level=unit.level if unit.type == "heading" else None,
        section_title=unit.section_title,
        section_path=list(unit.section_path),
        section_type=unit.section_type,
        continues=unit.continues,
        from_picture=unit.from_picture,
        table_index=unit.table.index if unit.table else None,
        table_row=unit.table.row if unit.table else None,
        cells=unit.table,
        list_style=unit.list_marker[:20],
        code_language=unit.code_language[:20],
        location=unit.location,
    )
