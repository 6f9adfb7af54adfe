"""Create documents from another parser's blocks, without parsing a file."""

from __future__ import annotations

import gzip
import json
import logging
import re
import uuid
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any

import msgspec
from django.conf import settings
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import transaction

from documents.failures import IngestionFailure
from documents.importers.block import AdapterError, ImportedBlock
from documents.importers.parser_outputs import read_blocks, recognise
from documents.ingestion.queue import open_job
from documents.models import Document, Job
from pdf.failures import FailureCode
from pdf.geometry import PageFrame, Rect, bounding_box
from pdf.structure import (
    Cell,
    ParsedDocument,
    ParsedPage,
    ParsedUnit,
    TableRow,
    UnitType,
    Word,
    section_type,
)

logger = logging.getLogger(__name__)
VERSION = "4"
"""The version of imported documents; ``backfill`` imports older ones again."""

FRAME = PageFrame(612.0, 792.0)
"""US letter. Boxes are fractions, so the size only sets their unit."""

UNIT_TYPES: dict[str, UnitType] = {"text": "prose", "media": "caption"}


def parsed_document(
    blocks: Sequence[ImportedBlock], engine: str, file: ParsedDocument | None = None
) -> ParsedDocument:
    """Convert blocks to pages, in the order of their numbers; pages without blocks are empty.

    ``file``: the parsed PDF of the blocks; it provides page frames and word boxes.
    """
    on_page: dict[int, list[ImportedBlock]] = {}
    for block in blocks:
        on_page.setdefault(block.page or 1, []).append(block)  # a note has no pages
    printed = {page.number: page for page in file.pages} if file else {}
    headings: list[tuple[int, str]] = []
    tables = iter(range(len(blocks)))
    pages, line = [], 1
    for number in range(1, max([1, *on_page, *printed]) + 1):
        page = _PageWriter(number, line, headings, tables, printed.get(number))
        for block in on_page.get(number, []):
            page.write(block)
        pages.append(page.finished())
        line = page.line
    return ParsedDocument(
        engine=engine,
        version=VERSION,
        page_count=len(pages),
        pages=tuple(pages),
        metadata=file.metadata if file else {},
        outline=file.outline if file else (),
    )


class _PageWriter:
    """Append blocks to a page's text, and record the range of each."""

    def __init__(
        self,
        number: int,
        line: int,
        headings: list[tuple[int, str]],
        tables: Iterator[int],
        printed: ParsedPage | None,
    ) -> None:
        self.number = number
        self.line = line
        self._headings = headings
        self._tables = tables
        self._printed = printed
        self._frame = printed.frame if printed else FRAME
        self._text = ""
        self._units: list[ParsedUnit] = []

    def write(self, block: ImportedBlock) -> None:
        if block.type == "table" and block.rows:
            table = next(self._tables)
            head = block.rows[0] if block.has_head else ()
            for row, cells in enumerate(block.rows):
                self._write_row(block, table, row, cells, head)
            return
        path = self._path_of(block)
        self._add(block, block.text.strip(), path, None)

    def _path_of(self, block: ImportedBlock) -> tuple[str, ...]:
        """Return the headings above the block; a heading replaces those of its level and below."""
        if block.type == "heading":
            level = block.level or 1
            while self._headings and self._headings[-1][0] >= level:
                self._headings.pop()
            path = tuple(title for _, title in self._headings)
            self._headings.append((level, block.text.strip()[:300]))
            return path
        return tuple(title for _, title in self._headings)

    def _write_row(
        self, block: ImportedBlock, table: int, row: int, cells: tuple[str, ...], head: tuple[str, ...]
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

    def _add(self, block: ImportedBlock, text: str, path: tuple[str, ...], table: TableRow | None) -> None:
        start = self._next_start()
        self._text += ("\n" if self._text else "") + text
        rect = self._rect(block)
        lines = text.count("\n") + 1
        first = self.line if table or not block.line else block.line
        self._units.append(
            ParsedUnit(
                index=len(self._units),
                type=UNIT_TYPES.get(block.type, block.type),  # type: ignore[arg-type]
                text=text,
                char_start=start,
                char_end=start + len(text),
                line_start=first,
                line_end=first + lines - 1,
                bbox=rect,
                rects=(rect,) if block.quad else (),
                level=block.level,
                section_title=path[-1] if path else "",
                section_path=path,
                section_type=next(filter(None, map(section_type, reversed(path))), ""),
                table=table,
                list_marker=block.list_style,
                code_language=block.code_language,
                location=block.location(table.row if table else 0),
            )
        )
        self.line += lines

    def _rect(self, block: ImportedBlock) -> Rect:
        """Return the bounding box of the block's corners in page space, or the whole page without corners."""
        if not block.quad:
            return Rect(0.0, 0.0, self._frame.width, self._frame.height)
        xs, ys = [x for x, _ in block.quad], [y for _, y in block.quad]
        return self._frame.from_display(Rect(min(xs), min(ys), max(xs), max(ys)))

    def finished(self) -> ParsedPage:
        words = aligned_words(self._text, self._units, self._printed) if self._printed else ()
        units = [_boxed(unit, words) for unit in self._units] if words else self._units
        return ParsedPage(
            number=self.number,
            label=self._printed.label if self._printed else str(self.number),
            frame=self._frame,
            text=self._text,
            words=tuple(words),
            units=tuple(units),
        )


MOST_WORDS = 20_000  # of one page that are aligned with its PDF
ALIGNED = 0.8  # share of a unit's words that must be found for their boxes to be used


def aligned_words(text: str, units: Sequence[ParsedUnit], printed: ParsedPage) -> list[Word]:
    """Align the blocks' words with the printed page's and return them with the boxes of the latter."""
    own = [(match.start(), match.end()) for match in re.finditer(r"\S+", text)]
    theirs = printed.words
    if max(len(own), len(theirs)) > MOST_WORDS:
        return []
    names = [text[start:end] for start, end in own]
    printed_names = [printed.text[word.char_start : word.char_end] for word in theirs]
    found: dict[int, Word] = {}
    for at, other, size in SequenceMatcher(None, names, printed_names, autojunk=False).get_matching_blocks():
        for offset in range(size):
            start, end = own[at + offset]
            found[start] = msgspec.structs.replace(theirs[other + offset], char_start=start, char_end=end)
    words: list[Word] = []
    for unit in units:
        starts = [start for start, _ in own if unit.char_start <= start < unit.char_end]
        boxed = [found[start] for start in starts if start in found]
        words += boxed if len(boxed) >= ALIGNED * len(starts) else []
    return words


def _boxed(unit: ParsedUnit, words: Sequence[Word]) -> ParsedUnit:
    """Give a table row, or a block without a box, the boxes of its words."""
    inside = [word.rect for word in words if unit.char_start <= word.char_start < unit.char_end]
    if not inside or (unit.rects and unit.table is None):
        return unit
    lines: list[Rect] = []
    for rect in inside:
        if lines and lines[-1].overlap_y(rect) > rect.height / 2:
            lines[-1] = lines[-1].union(rect)
        else:
            lines.append(rect)
    return msgspec.structs.replace(unit, bbox=bounding_box(lines), rects=tuple(lines))


PAYLOADS = "payloads"
UNREADABLE = "The imported blocks are no longer stored."


def import_blocks(owner: User, payload: object, title: str, kind: str = "") -> Document:
    """Create a document and its job from external blocks; the caller queues it.

    ``kind`` names an adapter, '' detects the format. The compressed payload is kept in the file storage under
    the name in ``metadata["payload"]``. Raises AdapterError for an invalid payload, and stores nothing then.
    """
    kind = kind or recognise(payload)
    check_size(read_blocks(payload, kind))
    document = Document(owner=owner, kind=Document.Kind.PAPER, title=title[:500], original_name=title[:255])
    document.metadata = {"payload": keep_payload(payload), "payload_kind": kind}
    with transaction.atomic():
        document.save()
        open_job(document, Job.Kind.IMPORT)
    return document


def check_size(blocks: Sequence[ImportedBlock]) -> None:
    """Raise AdapterError for more pages or words than the server accepts."""
    if max(block.page for block in blocks) > settings.PARSE_MAX_PAGES:
        raise AdapterError(f"There are more than {settings.PARSE_MAX_PAGES:,} pages.")
    if sum(block.text.count(" ") + 1 for block in blocks) > settings.PARSE_MAX_WORDS:
        raise AdapterError(f"There are more than {settings.PARSE_MAX_WORDS:,} words.")


def read_import(document: Document, file: ParsedDocument | None) -> ParsedDocument:
    """Read the document's blocks, aligned with its PDF where there is one. Raises IngestionFailure."""
    try:
        with default_storage.open(document.metadata["payload"]) as stored:
            payload = json.loads(gzip.decompress(stored.read()))
        kind = document.metadata.get("payload_kind") or recognise(payload)
        blocks = read_blocks(payload, kind)
    except (OSError, EOFError, ValueError, zlib.error):
        raise IngestionFailure(FailureCode.INTERNAL, UNREADABLE) from None
    except AdapterError as error:
        raise IngestionFailure(FailureCode.INTERNAL, str(error)[:200]) from None
    parsed = parsed_document(blocks, f"imported {kind}"[:20], file)
    logger.info("imported", extra={"blocks": len(blocks), "located": located(parsed)})
    return parsed


def located(parsed: ParsedDocument) -> dict[str, int]:
    """Count the units with each field of a location."""
    fields: Counter[str] = Counter()
    for page in parsed.pages:
        for unit in page.units:
            fields.update(list(msgspec.to_builtins(unit.location)) if unit.location else ())
    return dict(fields)


def keep_payload(payload: object) -> str:
    """Store the payload and return its name."""
    packed = gzip.compress(json.dumps(payload, ensure_ascii=False).encode("utf-8", "replace"))
    return default_storage.save(f"{PAYLOADS}/{uuid.uuid4().hex}.json.gz", ContentFile(packed))


def forget_payload(document_id: uuid.UUID, **signal: Any) -> None:
    """Receiver of ``document_deleted``: delete the payload once the rows are deleted."""
    metadata = Document.objects.filter(pk=document_id).values_list("metadata", flat=True).first()
    name = (metadata or {}).get("payload")
    if isinstance(name, str) and name.startswith(f"{PAYLOADS}/"):
        transaction.on_commit(lambda: default_storage.delete(name))
