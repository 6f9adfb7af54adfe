"""Papers in a library: added by their metadata, completed by their PDF."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.core.files.base import ContentFile
from django.db import transaction
from django.db.models import Q

from documents.fetching import fetch
from documents.models import CitationUnit, Document
from documents.scholarly.record import PaperRecord
from documents.scholarly.sheet import record_sheet
from documents.uploads import UploadRefused, store_upload
from documents.versions import replace_file

if TYPE_CHECKING:
    from django.contrib.auth.models import User


def find_paper(owner: User, record: PaperRecord) -> Document | None:
    """The owner's document of the same paper: same DOI, arXiv id, or title and year."""
    same = Q(title__iexact=record.title, year=record.year)
    if record.doi:
        same |= Q(doi__iexact=record.doi)
    if record.arxiv_id:
        same |= Q(metadata__paper__arxiv_id=record.arxiv_id)
    return Document.objects.filter(same, owner=owner, deleted_at=None).order_by("created_at").first()


def add_paper(owner: User, record: PaperRecord) -> Document:
    """The paper as a document of the owner: the one that is there, or a new one made of its record."""
    if found := find_paper(owner, record):
        return found
    sheet = ContentFile(record_sheet(record))
    with transaction.atomic():
        try:
            document = store_upload(owner, sheet, f"{record.title[:200]}.pdf")
        except UploadRefused as refused:
            if refused.existing is None:
                raise
            return refused.existing
        document.kind = Document.Kind.PAPER
        document.title, document.authors = record.title[:500], [name[:200] for name in record.authors]
        document.year, document.abstract, document.tldr = record.year, record.abstract, record.tldr
        document.doi, document.source_url = record.doi[:200], record.url[:2000]
        document.metadata = {
            "paper": {
                "arxiv_id": record.arxiv_id,
                "venue": record.venue,
                "kind": record.kind,
                "pdf_url": record.pdf_url,
                "citation_count": record.citation_count,
            }
        }
        document.save()
    return document


def fetch_pdf(document_id: str) -> str:
    """A task: fetches the open-access PDF that the paper's record names. Returns what came of it."""
    document = Document.objects.filter(pk=document_id, kind=Document.Kind.PAPER, deleted_at=None).first()
    url = document.metadata.get("paper", {}).get("pdf_url", "") if document else ""
    if document is None or not url:
        return "nothing to fetch"
    with fetch(url) as fetched:
        replace_file(document, fetched.file)
    return "fetched"


def mark_abstracts(document: Document) -> None:
    """What a paper's record says is cited as its abstract, not as words of the paper itself."""
    if document.kind == Document.Kind.PAPER:
        prose = CitationUnit.objects.filter(document=document, unit_type=CitationUnit.Type.PROSE)
        prose.update(unit_type=CitationUnit.Type.ABSTRACT)
