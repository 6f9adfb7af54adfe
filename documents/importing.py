"""Documents from another parser's blocks: no file is read, the blocks are the content."""

from __future__ import annotations

import gzip
import json
import uuid
from collections.abc import Sequence
from typing import Any

from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import transaction

from documents.adapters import Block, read_blocks, recognise
from documents.adapters.pages import parsed_document
from documents.chunking import chunk_pages
from documents.configured import chunk_sizes
from documents.describing import Description
from documents.ingestion import mark_failed, mark_ready
from documents.jobs import open_job, start_job
from documents.leases import Lease, take
from documents.models import CitationUnit, Document, Job, RetrievalChunk
from documents.pdf.structure import ParsedDocument
from documents.reading import Content
from documents.signals import document_parsed
from documents.storing import replace_content

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
    lease = take(document.pk)
    if lease is not None:
        open_job(document, Job.Kind.IMPORT)
        start_job(document)
        store(lease, parsed, blocks, title)
    document.refresh_from_db()
    return document


def store(lease: Lease, parsed: ParsedDocument, blocks: Sequence[Block], title: str) -> None:
    """Stores and indexes; what fails is said on the document."""
    chunks = tuple(chunk_pages(parsed.pages, title, chunk_sizes()))
    content = Content(parsed, chunks, title, stage_seconds={}, description=Description())
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
