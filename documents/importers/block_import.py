"""Store documents from another parser's blocks: no file is parsed."""

from __future__ import annotations

import gzip
import json
import uuid
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import transaction

from documents.chunking import chunk_pages
from documents.importers import Block, read_blocks, recognise
from documents.ingestion.leases import Lease, acquire
from documents.ingestion.metadata import DocumentMetadata
from documents.ingestion.parser import Content, chunk_sizes
from documents.ingestion.persistence import replace_content
from documents.ingestion.pipeline import mark_failed, mark_ready
from documents.ingestion.queue import open_job, start_job
from documents.models import CitationUnit, Document, Job, RetrievalChunk
from documents.signals import document_parsed
from pdf.geometry import PageFrame, Rect
from pdf.structure import Cell, ParsedDocument, ParsedPage, ParsedUnit, TableRow, UnitType

FRAME = PageFrame(612.0, 792.0)
"""A page of US letter: boxes come as fractions, so the size only sets their unit."""

UNIT_TYPES: dict[str, UnitType] = {"text": "prose", "media": "caption"}


def parsed_document(blocks: Sequence[Block], engine: str) -> ParsedDocument:
    """Pages in the order of their numbers; those without blocks are empty."""
    on_page = {number: list(found) for number, found in groupby(sorted(blocks, key=_page), _page)}
    headings: list[tuple[int, str]] = []
    tables = iter(range(len(blocks)))
    pages, line = [], 1
    for number in range(1, max(on_page) + 1):
        page = _PageWriter(number, line, headings, tables)
        for block in on_page.get(number, []):
            page.write(block)
        pages.append(page.finished())
        line = page.line
    return ParsedDocument(engine=engine, version="1", page_count=len(pages), pages=tuple(pages))


def _page(block: Block) -> int:
    return block.page


class _PageWriter:
    """Writes blocks one under the other into a page's text, and keeps where each stands."""

    def __init__(
        self, number: int, line: int, headings: list[tuple[int, str]], tables: Iterator[int]
    ) -> None:
        self.number = number
        self.line = line
        self._headings = headings
        self._tables = tables
        self._text = ""
        self._units: list[ParsedUnit] = []

    def write(self, block: Block) -> None:
        if block.type == "table" and block.rows:
            table = next(self._tables)
            head = block.rows[0] if block.has_head else ()
            for row, cells in enumerate(block.rows):
                self._write_row(block, table, row, cells, head)
            return
        path = self._path_of(block)
        self._add(block, block.text.strip(), path, None)

    def _path_of(self, block: Block) -> tuple[str, ...]:
        """Headings above the block; a heading takes the place of those of its level and below."""
        if block.type == "heading":
            level = block.level or 1
            while self._headings and self._headings[-1][0] >= level:
                self._headings.pop()
            path = tuple(title for _, title in self._headings)
            self._headings.append((level, block.text.strip()[:300]))
            return path
        return tuple(title for _, title in self._headings)

    def _write_row(
        self, block: Block, table: int, row: int, cells: tuple[str, ...], head: tuple[str, ...]
    ) -> None:
        text = "\t".join(cell.strip() for cell in cells)
        if not text.strip():
            return
        start = self._next_start()
        placed, at = [], start
        for column, cell in enumerate(cell.strip() for cell in cells):
            placed.append(Cell(column, cell, char_start=at, char_end=at + len(cell)))
            at += len(cell) + 1
        is_head = bool(head) and row == 0
        place = TableRow(
            index=table,
            row=row,
            cells=tuple(placed),
            header=is_head,
            head_rows=() if is_head else head,
            caption=block.caption,
        )
        self._add(block, text, self._path_of(block), place)

    def _next_start(self) -> int:
        return len(self._text) + 1 if self._text else 0

    def _add(self, block: Block, text: str, path: tuple[str, ...], table: TableRow | None) -> None:
        start = self._next_start()
        self._text += ("\n" if self._text else "") + text
        rect = _rect(block)
        lines = text.count("\n") + 1
        self._units.append(
            ParsedUnit(
                index=len(self._units),
                type=UNIT_TYPES.get(block.type, block.type),  # type: ignore[arg-type]
                text=text,
                char_start=start,
                char_end=start + len(text),
                line_start=self.line,
                line_end=self.line + lines - 1,
                bbox=rect,
                rects=(rect,) if block.quad else (),
                level=block.level,
                section_title=path[-1] if path else "",
                section_path=path,
                table=table,
                list_marker=block.list_style,
                code_language=block.code_language,
            )
        )
        self.line += lines

    def finished(self) -> ParsedPage:
        return ParsedPage(
            number=self.number,
            label=str(self.number),
            frame=FRAME,
            text=self._text,
            words=(),
            units=tuple(self._units),
        )


def _rect(block: Block) -> Rect:
    """The box around the block's corners in page space; the whole page where it has none."""
    if not block.quad:
        return Rect(0.0, 0.0, FRAME.width, FRAME.height)
    xs, ys = [x for x, _ in block.quad], [y for _, y in block.quad]
    return FRAME.from_display(Rect(min(xs), min(ys), max(xs), max(ys)))


PAYLOADS = "payloads"


def import_blocks(owner: User, payload: object, title: str, kind: str = "") -> Document:
    """A document of the owner made of external blocks; its status says whether it is ready.

    ``kind`` names an adapter, '' recognises the format. The payload itself is
    kept beside the database, compressed, in ``metadata["payload"]``. Raises
    AdapterError when the payload cannot be read: nothing is stored then.
    """
    kind = kind or recognise(payload)
    blocks = read_blocks(payload, kind)
    parsed = parsed_document(blocks, f"imported {kind}"[:20])
    document = Document.objects.create(
        owner=owner,
        kind=Document.Kind.PAPER,
        title=title[:500],
        original_name=title[:255],
        metadata={"payload": keep_payload(payload)},
    )
    lease = acquire(document.pk)
    if lease is not None:
        open_job(document, Job.Kind.IMPORT)
        start_job(document)
        store(lease, parsed, blocks, title)
    document.refresh_from_db()
    return document


def store(lease: Lease, parsed: ParsedDocument, blocks: Sequence[Block], title: str) -> None:
    """Stores and indexes; what fails is said on the document."""
    chunks = tuple(chunk_pages(parsed.pages, title, chunk_sizes()))
    content = Content(parsed, chunks, title, stage_seconds={}, description=DocumentMetadata())
    try:
        with transaction.atomic():
            replace_content(lease, content)
            keep_extras(lease.document_id, blocks)
        document_parsed.send(Document, document=lease.row.get())
        mark_ready(lease)
    except Exception as error:  # whatever it is, a person learns of it from the document
        mark_failed(lease, error)


Extras = dict[str, int | str]


def keep_extras(document_id: uuid.UUID, blocks: Sequence[Block]) -> None:
    """What blocks say besides their text (times, slides, sheets), on the chunks of their units."""
    extras = extras_of_units(document_id, blocks)
    chunks = list(RetrievalChunk.objects.filter(document=document_id))
    for chunk in chunks:
        chunk.metadata = joined([extras.get(unit, {}) for unit in chunk.unit_ids])
    RetrievalChunk.objects.bulk_update(chunks, ["metadata"], batch_size=500)


def joined(extras: Sequence[Extras]) -> Extras:
    """What the first unit says; a chunk ends when its last unit does."""
    found: Extras = {}
    for extra in extras:
        found = {**extra, **found}
        if "end_ms" in extra:
            found["end_ms"] = extra["end_ms"]
    return found


def extras_of_units(document_id: uuid.UUID, blocks: Sequence[Block]) -> dict[uuid.UUID, Extras]:
    """Units come in the order of the blocks' pages; a table's rows share what their block says."""
    units = CitationUnit.objects.filter(document=document_id).order_by("position")
    in_order = (
        block.extras
        for block in sorted(blocks, key=lambda block: block.page)
        for _ in range(units_made_of(block))
    )
    return dict(zip(units.values_list("pk", flat=True), in_order, strict=True))


def units_made_of(block: Block) -> int:
    if block.type == "table" and block.rows:
        return sum(1 for row in block.rows if "".join(row).strip())
    return 1


def keep_payload(payload: object) -> str:
    """Where the payload was stored."""
    packed = gzip.compress(json.dumps(payload, ensure_ascii=False).encode("utf-8", "replace"))
    return default_storage.save(f"{PAYLOADS}/{uuid.uuid4().hex}.json.gz", ContentFile(packed))


def forget_payload(document_id: uuid.UUID, **signal: Any) -> None:
    """Removes the payload once the document's rows are gone."""
    metadata = Document.objects.filter(pk=document_id).values_list("metadata", flat=True).first()
    name = (metadata or {}).get("payload")
    if isinstance(name, str) and name.startswith(f"{PAYLOADS}/"):
        transaction.on_commit(lambda: default_storage.delete(name))
