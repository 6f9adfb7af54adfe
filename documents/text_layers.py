"""The copy of a scanned file that viewers open: its recognised words lie under the pages, to be selected."""

from __future__ import annotations

import logging

from django.core.files.base import ContentFile

from documents.configured import parse_limits
from documents.deletion import remove_files
from documents.leases import Lease, LostLease
from documents.models import Document
from documents.pdf.parsing import ParseFailure, add_text_layer
from documents.pdf.structure import ParsedDocument
from documents.reading import local_file

logger = logging.getLogger(__name__)


def store_text_layer(lease: Lease, document: Document, parsed: ParsedDocument) -> None:
    """Stores the copy where pages were recognised, in place of an earlier one. Raises LostLease.

    Without the copy the document is as readable as its file; so a copy that cannot be made is only logged.
    """
    before = document.text_layer.name
    document.text_layer.name = ""
    if any(page.ocr for page in parsed.pages):
        try:
            with local_file(document.file) as path:
                data = add_text_layer(path, parsed.pages, limits=parse_limits())
            document.text_layer.save("", ContentFile(data), save=False)
        except (ParseFailure, OSError) as error:
            logger.warning("document %s: no text layer: %s", document.pk, error)
    try:
        lease.update(text_layer=document.text_layer.name)
    except LostLease:
        remove_files([document.text_layer])
        raise
    if before:
        document.text_layer.storage.delete(before)
