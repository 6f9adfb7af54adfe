"""What a document's file says: its pages, what is searched in them, and what the document is called."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile

import msgspec
from django.conf import settings
from django.db.models.fields.files import FieldFile

from documents.chunking import Chunk, chunk
from documents.describing import Description, describe
from documents.failures import IngestionFailure
from documents.leases import Lease
from documents.models import Document, FailureCode
from documents.pdf.parsing import parse_file
from documents.pdf.structure import ParsedDocument


class Content(msgspec.Struct, frozen=True):
    """All that is stored of a document's file."""

    parsed: ParsedDocument
    chunks: tuple[Chunk, ...]
    description: Description


def read(lease: Lease, document: Document) -> Content:
    """Parses (in the limited child) and chunks. Raises ParseFailure, IngestionFailure, LostLease."""
    with local_file(document.file) as path:
        parsed = parse_file(path, engine=document.engine or settings.PARSE_ENGINE)
    if not any(page.units for page in parsed.pages):
        raise IngestionFailure(FailureCode.NO_TEXT)
    return Content(parsed, tuple(chunk(parsed, document.title)), describe(parsed))


@contextmanager
def local_file(file: FieldFile) -> Iterator[Path]:
    """The stored file as a path; a copy when the storage is not a disk of this machine."""
    try:
        yield Path(file.path)
        return
    except NotImplementedError:
        pass
    with NamedTemporaryFile(suffix=".pdf") as copy:
        for part in file.chunks():
            copy.write(part)
        copy.flush()
        yield Path(copy.name)
