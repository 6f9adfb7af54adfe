"""Add papers to a library by their metadata, and fetch their PDFs."""

from __future__ import annotations

import io
import shutil
import time
import uuid
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import PurePosixPath
from tempfile import TemporaryFile
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import msgspec
from django.conf import settings
from django.contrib.auth.models import User
from django.core.files.base import ContentFile, File
from django.core.files.storage import default_storage
from django.db import transaction
from django.utils import timezone
from django_q.tasks import async_task

from documents.access import add_to_collection
from documents.files.uploads import UploadRefused, clean_name, store_upload
from documents.files.url_fetch import FetchRefused, fetch
from documents.ingestion.queue import cancel_jobs, independent_job, issue_tickets, new_job
from documents.ingestion.source_files import replace_file
from documents.models import CitationUnit, Collection, Document, Job, RetrievalChunk, Tag
from documents.models.library import colour_for
from documents.papers.bibliography import (
    RECORD_SECTIONS,
    BibliographyUnreadable,
    PaperRecord,
    read_bibliography,
    record_sheet,
)
from documents.papers.catalogues import CatalogueError, Zotero, in_library, look_up
from text.budget import OverBudget, ProcessorBudget

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
LARGEST_DIRECTORY = 300 * MOST_FILES  # bytes that describe them: ``ZipFile`` reads all at once
LARGEST_LIST = 50_000_000  # bytes
BOMB = 100  # compression ratio of a zip bomb, which no PDF and no list of references has


EXPORT_SECONDS, EXPORT_SECONDS_LATER = 1.0, 600.0  # of processor time, in a request and in a worker
LIST_IN_REQUEST = 500_000  # bytes of a list that a request reads
ADDED_IN_REQUEST = 500  # works; their rows take half a second of processor time
MOST_UNPACKED_FILES = 20  # of the largest size: bytes that are unpacked of one ZIP
EXPORTS_SHOWN = timedelta(days=3)
PROGRESS_SECONDS = 1.0
TOO_LONG = "This import took too long. Some of its works were added; import the rest in parts."
EXPORT_TASK = "documents.papers.acquisition.add_kept_export"


class ExportUnreadable(Exception):
    """The ZIP is not an exported library; the message is for the user."""


class ExportTooLong(Exception):
    """The list or ZIP takes more processor time than a request has: a worker adds it."""


def add_export(
    owner: User,
    archive: IO[bytes],
    seconds: float = EXPORT_SECONDS,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> list[Document]:
    """Add the works of an exported library, a ZIP of its folder.

    A work whose PDF is refused (duplicate, too large) is added with its record only. A PDF that several works
    name is unpacked once. Raises ExportUnreadable, BibliographyUnreadable; ExportTooLong when unpacking took
    more than ``seconds`` of processor time: what was stored stays, and a second run adds the rest.
    ``progress`` is called with the number of PDFs that are unpacked, and of all.
    """
    budget = ProcessorBudget(seconds)
    try:
        with _opened(archive) as packed:
            listed = _list_of(packed)
            size = packed.NameToInfo[listed].file_size
            if size > LIST_IN_REQUEST and seconds <= EXPORT_SECONDS:
                raise ExportTooLong
            with packed.open(listed) as part:  # not more than the size it states, which may be untrue
                records = read_bibliography(part.read(size).decode("utf-8", "replace"), budget)
            if len(records) > ADDED_IN_REQUEST and seconds <= EXPORT_SECONDS:
                raise ExportTooLong
            folder = PurePosixPath(listed).parent
            names = dict.fromkeys(_packed_name(folder, record.files[0]) for record in records if record.files)
            left = MOST_UNPACKED_FILES * settings.UPLOAD_MAX_BYTES
            for done, name in enumerate(names):
                budget.check()
                progress(done, len(names))
                left -= _store_packed(owner, packed, name)
                if left < 0:
                    raise ExportUnreadable("The PDFs in this ZIP are too large. Import it in parts.")
    except OverBudget:
        raise ExportTooLong from None
    except (BadZipFile, zlib.error, NotImplementedError, RuntimeError, OSError) as error:
        raise ExportUnreadable("This ZIP cannot be read.") from error
    return add_records(owner, records)


def add_list(owner: User, text: str) -> list[Document]:
    """Add the works of a list. Raises BibliographyUnreadable, and ExportTooLong for a long one."""
    if len(text) > LIST_IN_REQUEST:
        raise ExportTooLong
    records = read_bibliography(text)
    if len(records) > ADDED_IN_REQUEST:
        raise ExportTooLong
    return add_records(owner, records)


def add_list_later(owner: User, text: str) -> None:
    """Keep the list, as an exported library without files, until a worker has added its works."""
    packed = io.BytesIO()
    with ZipFile(packed, "w", ZIP_DEFLATED) as archive:
        archive.writestr("list.bib", text)
    add_export_later(owner, packed)


def add_export_later(owner: User, archive: IO[bytes]) -> None:
    """Keep the ZIP until a worker has added its works."""
    archive.seek(0)
    name = default_storage.save(f"imports/{owner.pk}/{uuid.uuid4().hex}.zip", File(archive))
    shown = PurePosixPath(getattr(archive, "name", None) or "").name
    KeptExport(clean_name(shown) if shown else "", timezone.now()).save(name)
    transaction.on_commit(lambda: async_task(EXPORT_TASK, owner.pk, name, group="import"), robust=True)


class KeptExport(msgspec.Struct, frozen=True):
    """How far the import of a kept ZIP is: a JSON file beside it, which stays when the ZIP is deleted.

    Attributes:
        name: of the ZIP; '' for a pasted list.
        done: PDFs that are unpacked, of ``files``.
        added: works, once it has ended; ``problem`` says why it ended without.
    """

    name: str
    at: datetime
    done: int = 0
    files: int = 0
    added: int | None = None
    problem: str = ""

    @property
    def is_running(self) -> bool:
        return self.added is None and not self.problem

    def save(self, archive: str) -> None:
        name = _beside(archive)
        default_storage.delete(name)
        default_storage.save(name, ContentFile(msgspec.json.encode(self)))

    @classmethod
    def of(cls, archive: str) -> KeptExport:
        with default_storage.open(_beside(archive)) as file:
            return msgspec.json.decode(file.read(), type=cls)


def _beside(archive: str) -> str:
    return str(PurePosixPath(archive).with_suffix(".json"))


def kept_exports(owner: User) -> list[KeptExport]:
    """Return the imports of the last days by a worker, latest first, and delete older ones."""
    folder, since = f"imports/{owner.pk}", timezone.now() - EXPORTS_SHOWN
    found: list[KeptExport] = []
    with suppress(FileNotFoundError):
        for name in default_storage.listdir(folder)[1]:
            if name.endswith(".json"):
                with suppress(FileNotFoundError):  # it is being replaced
                    found.append(KeptExport.of(f"{folder}/{name}"))
                    if found[-1].at < since and not found[-1].is_running:
                        default_storage.delete(f"{folder}/{name}")
    return sorted((kept for kept in found if kept.at >= since), key=lambda kept: kept.at, reverse=True)


def add_kept_export(owner_id: int, name: str) -> str:
    """Add the works of a ZIP that a request kept, and delete it (a task). Return the outcome."""
    owner = User.objects.filter(pk=owner_id, is_active=True).first()
    if owner is None or not default_storage.exists(name):
        default_storage.delete(name)
        return "its owner is gone"
    kept, shown_at = KeptExport.of(name), time.monotonic()

    def progress(done: int, files: int) -> None:
        nonlocal shown_at
        if time.monotonic() - shown_at > PROGRESS_SECONDS:
            shown_at = time.monotonic()
            msgspec.structs.replace(kept, done=done, files=files).save(name)

    try:
        with default_storage.open(name) as archive:
            added = len(add_export(owner, archive, EXPORT_SECONDS_LATER, progress))
        ended = msgspec.structs.replace(kept, added=added)
    except (ExportUnreadable, BibliographyUnreadable) as error:
        ended = msgspec.structs.replace(kept, problem=str(error))
    except ExportTooLong:
        ended = msgspec.structs.replace(kept, problem=TOO_LONG)
    ended.save(name)
    default_storage.delete(name)
    return ended.problem or f"{ended.added} works"


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
    file_all(owner, [(filed, record) for record in records if (filed := by_key.get(record.key))])
    return documents


RECORD_FIELDS = ("title", "authors", "year", "abstract", "tldr", "doi", "source_url")


def file_all(owner: User, filed: Sequence[tuple[Document, PaperRecord]]) -> None:
    """Add documents to the tags and collections that their records name; create missing ones."""
    tagged = {(row, tag[:60]) for row, record in filed for tag in record.tags[:MOST_TAGS]}
    named = {name for _, name in tagged}
    made = [Tag(owner=owner, name=name, colour=colour_for(name)) for name in named]
    Tag.objects.bulk_create(made, batch_size=BATCH, ignore_conflicts=True)
    tags = {tag.name: tag.pk for tag in Tag.objects.filter(owner=owner, name__in=named)}
    links = Document.tags.through
    links.objects.bulk_create(
        [links(document_id=row.pk, tag_id=tags[name]) for row, name in tagged],
        batch_size=BATCH,
        ignore_conflicts=True,
    )
    collections: dict[str, Collection] = {}
    for row, record in filed:
        for name in {name[:120] for name in record.collections[:MOST_COLLECTIONS] if name}:
            found = collections.get(name) or Collection.objects.filter(owner=owner, name=name).first()
            collections[name] = found or Collection.objects.create(owner=owner, name=name)
            add_to_collection(row, collections[name], owner)


MOST_COLLECTIONS = 10  # of one work
MOST_TAGS = 50  # of one work


def _opened(archive: IO[bytes]) -> ZipFile:
    """Open a ZIP that can be read in little memory. Raises BadZipFile.

    Only ``deflate`` is unpacked in pieces: a bzip2 of 400 bytes fills 300 MB, whatever size it states.
    """
    end = zipfile._EndRecData(archive)  # type: ignore[attr-defined]  # what ZipFile itself reads first
    if end and end[zipfile._ECD_SIZE] > LARGEST_DIRECTORY:  # type: ignore[attr-defined]
        raise BadZipFile
    packed = ZipFile(archive)
    if any(entry.compress_type not in (ZIP_STORED, ZIP_DEFLATED) for entry in packed.infolist()):
        raise BadZipFile
    return packed


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


def _store_packed(owner: User, packed: ZipFile, name: str) -> int:
    """Store one PDF of the ZIP; return its bytes.

    It is read as a stream: the ZIP's own paths are never written to.
    """
    entry = packed.NameToInfo.get(name)
    if entry is None or entry.file_size > settings.UPLOAD_MAX_BYTES or _is_bomb(entry):
        return 0
    with packed.open(entry) as part, TemporaryFile() as body, suppress(UploadRefused):
        shutil.copyfileobj(part, body)
        body.seek(0)
        store_upload(owner, File(body), PurePosixPath(name).name)
    return entry.file_size


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
