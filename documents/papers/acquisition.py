"""Papers in a library: added by their metadata, completed by their PDF."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec
from django.core.files.base import ContentFile
from django.db import transaction
from django_q.tasks import async_task

from documents.files.uploads import UploadRefused, clean_name, store_upload
from documents.files.url_fetch import FetchRefused, fetch
from documents.ingestion.queue import cancel_jobs, issue_tickets, job_beside, new_job
from documents.ingestion.versions import replace_file
from documents.models import CitationUnit, Document, Job, RetrievalChunk
from documents.papers.catalogues import CatalogueError, in_library, look_up
from documents.papers.record import RECORD_SECTIONS, PaperRecord

if TYPE_CHECKING:
    from django.contrib.auth.models import User

BATCH = 500
FIRST_TICKETS = 50
FETCH_TASK = "documents.papers.acquisition.fetch_pdf"


def completed(record: PaperRecord) -> PaperRecord:
    """What a person wrote stays; the catalogues fill what is missing, when they can.

    Raises CatalogueError for a record without a title that they do not complete.
    """
    if record.title and record.abstract:
        return record
    try:
        listed = look_up(record)
    except CatalogueError:
        if record.title:
            return record
        raise
    said = {name: value for name, value in msgspec.structs.asdict(record).items() if value and name != "kind"}
    return msgspec.structs.replace(listed, **said)


def add_and_fetch(owner: User, record: PaperRecord) -> Document:
    """Adds the paper, and lets a worker fetch its open-access PDF when there is one."""
    document = add_paper(owner, record)
    if record.pdf_url and document.kind == Document.Kind.PAPER:
        fetch_later(document)
    return document


def add_papers(owner: User, records: Sequence[PaperRecord]) -> list[Document]:
    """Add all papers of a list at once; workers draw, read and index them one by one, as they do files.

    A few queries, however long the list is: its progress is that of the documents.
    """
    single = {record.key: record for record in records}
    known = in_library(owner, list(single.values()))
    new = [record for key, record in single.items() if key not in known]
    made = [described(Document(owner=owner), record) for record in new]
    with transaction.atomic():
        Document.objects.bulk_create(made, batch_size=BATCH)
        Job.objects.bulk_create(
            [Job(owner=owner, document=row, title=row.title, kind=Job.Kind.READ) for row in made],
            batch_size=BATCH,
        )
        # The sweep issues more when these are used up.
        transaction.on_commit(lambda: issue_tickets(min(len(made), FIRST_TICKETS)), robust=True)
    for record, document in zip(new, made, strict=True):
        if record.pdf_url:
            fetch_later(document)
    return [*made, *known.values()]


def described(document: Document, record: PaperRecord) -> Document:
    """The document with what the record says of the paper; not saved."""
    document.kind = Document.Kind.PAPER
    document.title, document.authors = record.title[:500], [name[:200] for name in record.authors]
    document.year, document.abstract, document.tldr = record.year, record.abstract, record.tldr
    document.doi, document.source_url = record.doi[:200], record.url[:2000]
    document.original_name = document.original_name or clean_name(f"{record.title[:200]}.pdf")
    document.metadata = {
        "paper": {
            "arxiv_id": record.arxiv_id,
            "venue": record.venue,
            "kind": record.kind,
            "pdf_url": record.pdf_url,
            "citation_count": record.citation_count,
        }
    }
    return document


def fetch_later(document: Document) -> None:
    """Let a worker fetch the open-access PDF that the paper's record names, as a job of its own."""
    if not document.jobs.unfinished().filter(kind=Job.Kind.FETCH).exists():
        new_job(document, Job.Kind.FETCH).save()
    transaction.on_commit(lambda: async_task(FETCH_TASK, str(document.pk), group="fetch"))


def fetch_failure(document: Document) -> str:
    """Why the full text of a paper could not be fetched the last time; empty where it did not fail."""
    last = document.jobs.filter(kind=Job.Kind.FETCH).first() if document.kind == Document.Kind.PAPER else None
    return last.failure_message if last else ""


def add_paper(owner: User, record: PaperRecord) -> Document:
    """The paper as a document of the owner: the one that is there, or a new one made of its record."""
    if found := in_library(owner, [record]).get(record.key):
        return found
    from documents.papers.record_pdf import record_sheet  # MuPDF, which nothing else here needs

    sheet = ContentFile(record_sheet(record))
    with transaction.atomic():
        try:
            document = store_upload(owner, sheet, f"{record.title[:200]}.pdf")
        except UploadRefused as refused:
            if refused.existing is None:
                raise
            return refused.existing
        described(document, record).save()
    return document


def fetch_pdf(document_id: str) -> str:
    """A task: fetches the open-access PDF that the paper's record names. Returns what came of it."""
    document = Document.objects.filter(pk=document_id, kind=Document.Kind.PAPER, deleted_at=None).first()
    url = document.metadata.get("paper", {}).get("pdf_url", "") if document else ""
    if document is None or not url:
        cancel_jobs(Job.objects.unfinished().filter(document__pk=document_id, kind=Job.Kind.FETCH))
        return "nothing to fetch"
    try:
        with job_beside(document, Job.Kind.FETCH), fetch(url) as fetched:
            replace_file(document, fetched.file)
    except (FetchRefused, UploadRefused) as refused:
        return refused.message
    return "fetched"


def mark_abstracts(document: Document) -> None:
    """What a paper's record says is cited as its abstract, the TLDR too; not who wrote it, where and when."""
    if document.kind == Document.Kind.PAPER and "payload" not in document.metadata:
        units = CitationUnit.objects.filter(document=document, section_title__in=RECORD_SECTIONS)
        units.update(section_type="abstract")
        units.filter(unit_type=CitationUnit.Type.PROSE).update(unit_type=CitationUnit.Type.ABSTRACT)
        chunks = RetrievalChunk.objects.filter(units__in=units)
        RetrievalChunk.objects.filter(pk__in=chunks).update(section_type="abstract")
