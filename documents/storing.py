"""A parsed document as rows: pages, units and chunks, replaced in one transaction."""

from __future__ import annotations

import uuid

from django.db import transaction

from documents.chunking import ChunkDraft
from documents.copying import copy_rows
from documents.leases import Lease
from documents.models import CitationUnit, Document, Page, RetrievalChunk
from documents.pdf import wordboxes
from documents.pdf.structure import ParsedPage, ParsedUnit
from documents.reading import Content
from documents.versions import let_go


def replace_content(lease: Lease, content: Content) -> None:
    """Stores the content in place of what was there. Raises LostLease, and then stores nothing.

    A re-read document leaves search until it is indexed again, so that no answer
    rests on half of it.
    """
    with transaction.atomic():
        document = lease.lock()
        delete_content(document)
        units = unit_rows(document, content)
        copy_rows(Page, [page_row(document, page) for page in content.parsed.pages])
        copy_rows(RetrievalChunk, [chunk_row(document, chunk, units) for chunk in content.chunks])
        copy_rows(CitationUnit, units)
        describe(document, content)
        document.save()
        let_go(document)


def delete_content(document: Document) -> None:
    document.units.all().delete()
    document.chunks.all().delete()
    document.pages.all().delete()


def describe(document: Document, content: Content) -> None:
    """What the document's own row says of its content."""
    parsed, units = content.parsed, [unit for page in content.parsed.pages for unit in page.units]
    found = content.description
    document.title = content.title
    document.authors = document.authors or list(found.authors)
    document.year = document.year or found.year
    document.language = found.language
    document.doi = document.doi or found.doi[:200]
    document.metadata = {**document.metadata, "pdf": parsed.metadata}
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
    document.parser_name, document.parser_version = parsed.engine, parsed.version
    document.indexed_at = None


def page_row(document: Document, page: ParsedPage) -> Page:
    frame = page.frame
    return Page(
        document_id=document.pk,
        number=page.number,
        label=page.label[:40],
        width=frame.width,
        height=frame.height,
        rotation=frame.rotation,
        crop_x=frame.crop_x,
        crop_y=frame.crop_y,
        user_unit=frame.user_unit,
        text=page.text,
        word_boxes=wordboxes.pack(page.words, frame.width, frame.height),
        furniture=page.furniture,
        figures=page.figures,
        ocr=page.ocr,
        recognised=page.recognised,
        confidence=page.confidence,
        hidden_words=page.hidden_words,
        failure=page.failure[:200],
    )


def chunk_id(document: Document, index: int) -> uuid.UUID:
    return uuid.uuid5(document.pk, f"chunk {index}")


def unit_id(document: Document, page: ParsedPage, unit: ParsedUnit) -> uuid.UUID:
    """The same words at the same place keep their id when the document is read again."""
    return uuid.uuid5(document.pk, f"unit {page.number} {unit.index} {unit.text}")


def chunk_row(document: Document, chunk: ChunkDraft, units: list[CitationUnit]) -> RetrievalChunk:
    return RetrievalChunk(
        id=chunk_id(document, chunk.index),
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


def unit_rows(document: Document, content: Content) -> list[CitationUnit]:
    """In reading order. A unit that is longer than a chunk belongs to the first that holds it."""
    chunk_of: dict[int, uuid.UUID] = {}
    for chunk in reversed(content.chunks):
        chunk_of |= dict.fromkeys(chunk.unit_positions, chunk_id(document, chunk.index))
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
        table_index=unit.table.index if unit.table else None,
        table_row=unit.table.row if unit.table else None,
        cells=unit.table,
        list_style=unit.list_marker[:20],
        code_language=unit.code_language[:20],
    )
