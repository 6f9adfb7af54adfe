"""Add papers to a library by their metadata, and fetch their PDFs."""

from __future__ import annotations

import shutil
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import PurePosixPath
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any
from zipfile import BadZipFile, ZipFile, ZipInfo

import msgspec
from django.conf import settings
from django.core.files.base import ContentFile, File
from django.db import transaction
from django_q.tasks import async_task

from documents.access import add_to_collection
from documents.files.uploads import UploadRefused, clean_name, store_upload
from documents.files.url_fetch import FetchRefused, fetch
from documents.ingestion.queue import cancel_jobs, independent_job, issue_tickets, new_job
from documents.ingestion.source_files import replace_file
from documents.models import CitationUnit, Collection, Document, Job, RetrievalChunk, Tag
from documents.models.library import colour_for
from documents.papers.bibliography import RECORD_SECTIONS, PaperRecord, read_bibliography, record_sheet
from documents.papers.catalogues import CatalogueError, Zotero, in_library, look_up

if TYPE_CHECKING:
    from django.contrib.auth.models import User

BATCH = 500
FIRST_TICKETS = 50
FETCH_TASK = "documents.papers.acquisition.fetch_pdf"


def completed(record: PaperRecord) -> PaperRecord:
    """Complete a record from the catalogues, if they respond. Values of the record are kept.

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
    own = {name: value for name, value in msgspec.structs.asdict(record).items() if value and name != "kind"}
    return msgspec.structs.replace(listed, **own)


def add_and_fetch(owner: User, record: PaperRecord) -> Document:
    """Add the paper, and queue the fetch of its open-access PDF, if any."""
    document = add_paper(owner, record)
    if record.pdf_url and document.kind == Document.Kind.PAPER:
        fetch_later(document)
    return document


Headers = Mapping[str, str]


def add_papers(owner: User, records: Sequence[PaperRecord], headers: Headers | None = None) -> list[Document]:
    """Add all papers of a list, in a constant number of queries.

    Workers then draw the record sheet of each, and parse and index it like a file.
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
            fetch_later(document, headers)
    for key, document in known.items():
        if headers and single[key].pdf_url and document.kind == Document.Kind.PAPER:
            fetch_from(document, single[key].pdf_url, headers)
    return [*made, *known.values()]


def fetch_from(document: Document, url: str, headers: Headers) -> None:
    """Fetch the PDF of a paper that was added without it, or whose PDF could not be fetched before."""
    document.metadata["paper"] = {**document.metadata.get("paper", {}), "pdf_url": url}
    document.save(update_fields=["metadata", "updated_at"])
    fetch_later(document, headers)


# A library exported by Zotero or another reference manager: a list of references, with its PDFs or without.

LISTS = (".rdf", ".bib", ".json", ".ris")
MOST_FILES = 20_000  # entries of a ZIP
LARGEST_LIST = 50_000_000  # bytes
BOMB = 100  # compression ratio of a zip bomb, which no PDF and no list of references has


class ExportUnreadable(Exception):
    """The ZIP is not an exported library; the message is for the user."""


def add_export(owner: User, archive: IO[bytes]) -> list[Document]:
    """Add the works of an exported library, a ZIP of its folder.

    A work whose PDF is refused (duplicate, too large) is added with its record only.
    Raises ExportUnreadable, BibliographyUnreadable.
    """
    try:
        with ZipFile(archive) as packed:
            listed = _list_of(packed)
            records = read_bibliography(packed.read(listed).decode("utf-8", "replace"))
            folder = PurePosixPath(listed).parent
            for record in records:
                for path in record.files[:1]:
                    _store_packed(owner, packed, _packed_name(folder, path))
    except (BadZipFile, zlib.error, NotImplementedError, RuntimeError, OSError) as error:
        raise ExportUnreadable("This ZIP cannot be read.") from error
    return add_records(owner, records)


def add_zotero(owner: User, key: str, group: str = "") -> list[Document]:
    """Add the works of a library at zotero.org; workers fetch their PDFs. Raises CatalogueError.

    The key is stored only in the tasks that fetch PDFs.
    """
    library = Zotero(key, group)
    return add_records(owner, library.records(), library.headers)


def add_records(
    owner: User, records: Sequence[PaperRecord], headers: Headers | None = None
) -> list[Document]:
    """Add the papers, with the files, tags and collections of an exported library.

    A document of the owner whose file name is in a record gets this record. Other records become documents.
    """
    names = {clean_name(PurePosixPath(path).name): record for record in records for path in record.files}
    files = Document.objects.sources().filter(owner=owner, deleted_at=None, kind=Document.Kind.PDF)
    for document in files.filter(original_name__in=names):
        kind, record = document.kind, names[document.original_name]
        described(document, record).kind = kind
        document.save(update_fields=[*RECORD_FIELDS, "metadata", "updated_at"])
    documents = add_papers(owner, records, headers)
    by_key = in_library(owner, records)
    for record in records:
        if (filed := by_key.get(record.key)) and (record.tags or record.collections):
            file_as(filed, record)
    return documents


RECORD_FIELDS = ("title", "authors", "year", "abstract", "tldr", "doi", "source_url")


def file_as(document: Document, record: PaperRecord) -> None:
    """Add the document to the tags and collections that the record names; create missing ones."""
    owner = document.owner
    for name in {tag[:60] for tag in record.tags[:MOST_TAGS]}:
        tag, _made = Tag.objects.get_or_create(owner=owner, name=name, defaults={"colour": colour_for(name)})
        tag.documents.add(document)
    for name in {collection[:120] for collection in record.collections if collection}:
        found = Collection.objects.filter(owner=owner, name=name).first()
        add_to_collection(document, found or Collection.objects.create(owner=owner, name=name), owner)


MOST_TAGS = 50  # of one work


def _list_of(packed: ZipFile) -> str:
    """Return the name of the list of references: the one nearest to the top, RDF before others."""
    entries = packed.infolist()
    listed = [entry for entry in entries if entry.filename.lower().endswith(LISTS) and not entry.is_dir()]
    if not listed or len(entries) > MOST_FILES:
        raise ExportUnreadable("There is no list of references (.rdf, .bib, .json or .ris) in this ZIP.")
    first = min(
        listed,
        key=lambda one: (one.filename.count("/"), LISTS.index(PurePosixPath(one.filename).suffix.lower())),
    )
    if first.file_size > LARGEST_LIST or _is_bomb(first):
        raise ExportUnreadable("The list of references in this ZIP is too long.")
    return first.filename


def _packed_name(folder: PurePosixPath, path: str) -> str:
    return str(folder / path.replace("\\", "/"))


def _store_packed(owner: User, packed: ZipFile, name: str) -> None:
    """Store one PDF of the ZIP. It is read as a stream: the ZIP's own paths are never written to."""
    entry = packed.NameToInfo.get(name)
    if entry is None or entry.file_size > settings.UPLOAD_MAX_BYTES or _is_bomb(entry):
        return
    with packed.open(entry) as part, TemporaryFile() as body, suppress(UploadRefused):
        shutil.copyfileobj(part, body)
        body.seek(0)
        store_upload(owner, File(body), PurePosixPath(name).name)


def _is_bomb(entry: ZipInfo) -> bool:
    return entry.file_size > BOMB * max(entry.compress_size, 1024)


def described(document: Document, record: PaperRecord) -> Document:
    """Set the document's fields from the record, without saving, and return it."""
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


def fetch_later(document: Document, headers: Headers | None = None) -> None:
    """Queue the download of the PDF that the paper's record names, as a separate job."""
    if not document.jobs.unfinished().filter(kind=Job.Kind.FETCH).exists():
        new_job(document, Job.Kind.FETCH).save()
    task = (FETCH_TASK, str(document.pk), dict(headers or {}))
    transaction.on_commit(lambda: async_task(*task, group="fetch", save=not headers))


def fetch_failure(document: Document) -> str:
    """Return why the last fetch of a paper's full text failed; '' if it did not."""
    last = document.jobs.filter(kind=Job.Kind.FETCH).first() if document.kind == Document.Kind.PAPER else None
    return last.failure_message if last else ""


def add_paper(owner: User, record: PaperRecord) -> Document:
    """Return the owner's document of the paper; create it from the record if there is none."""
    if found := in_library(owner, [record]).get(record.key):
        return found
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


NEEDS_KEY = "Zotero sends this file only with your key. Import from Zotero again."


def fetch_pdf(document_id: str, headers: Headers | None = None) -> str:
    """Fetch the PDF that the paper's record names (a task). Return the outcome."""
    document = Document.objects.filter(pk=document_id, kind=Document.Kind.PAPER, deleted_at=None).first()
    url = document.metadata.get("paper", {}).get("pdf_url", "") if document else ""
    if document is None or not url:
        cancel_jobs(Job.objects.unfinished().filter(document__pk=document_id, kind=Job.Kind.FETCH))
        return "nothing to fetch"
    try:
        with independent_job(document, Job.Kind.FETCH):
            if not headers and url.startswith(settings.ZOTERO_URL):
                raise FetchRefused(NEEDS_KEY)
            with fetch(url, headers=headers) as fetched:
                replace_file(document, fetched.file)
    except (FetchRefused, UploadRefused) as refused:
        return refused.message
    return "fetched"


def mark_abstracts(document: Document, **signal: Any) -> None:
    """Receiver of ``document_parsed``: mark abstract and TLDR on a paper's record sheet as abstract."""
    if document.kind == Document.Kind.PAPER and "payload" not in document.metadata:
        units = CitationUnit.objects.filter(document=document, section_title__in=RECORD_SECTIONS)
        units.update(section_type="abstract")
        units.filter(unit_type=CitationUnit.Type.PROSE).update(unit_type=CitationUnit.Type.ABSTRACT)
        chunks = RetrievalChunk.objects.filter(document=document, pk__in=units.values("chunk"))
        chunks.update(section_type="abstract")
