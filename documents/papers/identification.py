"""Complete a document's metadata by the DOI, arXiv number or ISBN that its first pages print.

Only the number is sent: to Crossref and DataCite, or to Open Library. What they know is used if the document
prints that title as its own; otherwise the number belongs to a work that it cites. Metadata that a person has
edited stay.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from html import unescape
from typing import Any
from urllib.parse import quote

import msgspec
from django.conf import settings
from django.core.cache import cache
from django.db import transaction
from django_q.tasks import async_task

from documents.models import CitationUnit, Document
from documents.papers.bibliography import DOI, PaperRecord, bare_doi, from_csl, year_in
from documents.papers.catalogues import CatalogueError, NotListed, get_json

IDENTIFY_TASK = "documents.papers.identification.identify"
FIRST_PAGES = 6  # a book states its ISBN behind half title and title page
LATEST_PAGE = {"DOI": 3, "arXiv": 2, "ISBN": FIRST_PAGES}
MOST_TRIED = 3  # numbers of one document
PAUSE_SECONDS = 3600  # after a look-up without a response
UNREACHABLE = "identification-unreachable"
ARXIV_NUMBER = re.compile(r"arxiv[:.\s]+(?:abs/)?(\d{4}\.\d{4,5})", re.IGNORECASE)
ISBN = re.compile(r"\bISBN(?:-1[03])?\b[^\d\n]{0,24}((?:97[89][- ]?)?(?:\d[- ]?){9}[\dX])\b", re.IGNORECASE)
LEAST_SHARE = 0.5  # of the title in its first printed line
LONGEST_UNIT = 1.6  # times the title: a subtitle or a series may follow it
LEAST_TITLE = 4  # characters
OF_FILE = re.compile(r"(10\.\d+/[^/]+)(?:/\d+)?/[^/]+\.pdf$")
TAG = re.compile(r"<[^>]+>")
CSL = "application/vnd.citationstyles.csl+json"


class Identifier(msgspec.Struct, frozen=True):
    """A number that names a work, bare. ``kind`` is its name for display: DOI, arXiv or ISBN."""

    kind: str
    value: str


class Identified(msgspec.Struct, frozen=True):
    """Where metadata come from: the service, and the number it was asked for."""

    source: str
    kind: str
    value: str


def identify_later(document: Document, **signal: Any) -> None:
    """Receiver of ``document_parsed``: queue a look-up where the first pages print a number."""
    if not settings.IDENTIFY or not _may_be_identified(document) or not identifiers_of(document):
        return
    task = (IDENTIFY_TASK, str(document.pk))
    transaction.on_commit(lambda: async_task(*task, group="identify"), robust=True)


def _may_be_identified(document: Document) -> bool:
    is_file = document.kind == Document.Kind.PDF and "payload" not in document.metadata
    return is_file and not {"identified", "edited"} & document.metadata.keys()


def identify(document_id: str) -> str:
    """Look up the document's metadata and store them (a task). Return the outcome."""
    document = Document.objects.filter(pk=document_id, deleted_at=None).first()
    if document is None or not _may_be_identified(document) or cache.get(UNREACHABLE):
        return "nothing to do"
    titles = [document.title, *printed_lines(document)]
    for identifier in identifiers_of(document)[:MOST_TRIED]:
        try:
            source, record = look_up(identifier)
        except NotListed:
            continue
        except CatalogueError as error:
            cache.set(UNREACHABLE, True, PAUSE_SECONDS)
            return str(error)
        if is_printed(record.title, titles):
            store(document, record, Identified(source, identifier.kind, identifier.value))
            return f"{identifier.kind} {identifier.value}: {source}"
        if identifier.value not in str(document.metadata.get("pdf")).lower():
            Document.objects.filter(pk=document.pk, doi=identifier.value).update(doi="")  # of a cited work
    return "no match"


def identifiers_of(document: Document) -> list[Identifier]:
    """Return the numbers on the first pages in the order of trust: DOI, arXiv, ISBN; each once."""
    pages = list(
        document.pages.filter(number__lte=FIRST_PAGES).order_by("number").values_list("number", "text")
    )
    known = document.metadata.get("paper", {}).get("arxiv_id", "")
    found = [Identifier("DOI", document.doi)] if document.doi else []
    found += [Identifier("arXiv", known)] if known else []
    for kind, read in READERS.items():
        near = (text for number, text in pages if number <= LATEST_PAGE[kind])
        found += [Identifier(kind, value) for text in near for value in read(text)]
    return list(dict.fromkeys(found))


def dois_in(text: str) -> list[str]:
    """Return DOIs, also of files: ``10.1234/tides/2369509/tides.pdf`` is of the work ``10.1234/tides``."""
    return [OF_FILE.sub(r"\1", doi) for printed in DOI.findall(text) if (doi := bare_doi(printed))]


def arxiv_numbers_in(text: str) -> list[str]:
    return ARXIV_NUMBER.findall(text)


def isbns_in(text: str) -> list[str]:
    """Return ISBNs whose check digit holds, without hyphens."""
    bare = (re.sub(r"[^\dX]", "", found.upper()) for found in ISBN.findall(text))
    return [isbn for isbn in bare if is_isbn(isbn)]


def is_isbn(digits: str) -> bool:
    values = [10 if digit == "X" else int(digit) for digit in digits]
    if len(digits) == 10:
        return sum(weight * value for weight, value in zip(range(10, 0, -1), values, strict=True)) % 11 == 0
    return len(digits) == 13 and sum(value * (3 if n % 2 else 1) for n, value in enumerate(values)) % 10 == 0


READERS: dict[str, Callable[[str], list[str]]] = {
    "DOI": dois_in,
    "arXiv": arxiv_numbers_in,
    "ISBN": isbns_in,
}


def look_up(identifier: Identifier) -> tuple[str, PaperRecord]:
    """Return the service that knows the work, and its record. Raises CatalogueError."""
    if identifier.kind == "ISBN":
        return "Open Library", _from_open_library(identifier.value)
    doi = f"10.48550/arxiv.{identifier.value}" if identifier.kind == "arXiv" else identifier.value
    named = quote(doi, safe="/")
    services = [
        ("Crossref", settings.CROSSREF_URL, f"works/{named}/transform/{CSL}"),
        ("DataCite", settings.DATACITE_URL, f"dois/{CSL}/{named}"),
    ]
    for service, base, path in services[identifier.kind == "arXiv" :]:
        try:
            return service, _cleaned(from_csl(get_json(base, path, {}, {}, attempts=1)), identifier)
        except NotListed:
            continue
    raise NotListed("This paper is not listed there.")


def _cleaned(record: PaperRecord, identifier: Identifier) -> PaperRecord:
    """Drop the markup and the character references of texts."""
    plain = {
        name: " ".join(unescape(TAG.sub(" ", getattr(record, name))).split())
        for name in ("title", "abstract", "venue")
    }
    arxiv = identifier.value if identifier.kind == "arXiv" else ""
    return msgspec.structs.replace(record, **plain, arxiv_id=arxiv)


def _from_open_library(isbn: str) -> PaperRecord:
    query = {"bibkeys": f"ISBN:{isbn}", "format": "json", "jscmd": "data"}
    book = get_json(settings.OPEN_LIBRARY_URL, "api/books", query, {}, attempts=1).get(f"ISBN:{isbn}")
    if not book:
        raise NotListed("This paper is not listed there.")
    title, subtitle = str(book.get("title") or ""), str(book.get("subtitle") or "")
    return PaperRecord(
        title=f"{title}: {subtitle}" if subtitle else title,
        authors=tuple(_names(book.get("authors") or [])),
        year=year_in(str(book.get("publish_date") or "")),
        venue=next(_names(book.get("publishers") or []), ""),
        kind="book",
    )


def _names(rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    yield from (str(row["name"]) for row in rows if row.get("name"))


def printed_lines(document: Document) -> list[str]:
    """Return the text of units on the first pages, in which the title of the document itself stands."""
    units = CitationUnit.objects.filter(document=document, page_number__lte=FIRST_PAGES)
    return list(units.values_list("content", flat=True))


def is_printed(title: str, lines: Sequence[str]) -> bool:
    """Return whether a line is the title, or its beginning: a reference begins with its authors.

    ``title`` may have a subtitle that is printed apart.
    """
    wanted = _letters(title)
    if len(wanted) < LEAST_TITLE:
        return False
    return any(_is_title_line(wanted, _letters(line[: len(title) * 3])) for line in lines)


def _is_title_line(title: str, line: str) -> bool:
    if title.startswith(line):
        return len(line) >= LEAST_SHARE * len(title)
    return line.startswith(title) and len(line) <= LONGEST_UNIT * len(title)


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", text).casefold())


def store(document: Document, record: PaperRecord, found: Identified) -> None:
    """Set the fields that the record has, unless a person edited the document meanwhile."""
    with transaction.atomic():
        row = Document.objects.select_for_update().get(pk=document.pk)
        if not _may_be_identified(row):
            return
        row.title = record.title[:500]
        row.authors = [name[:200] for name in record.authors] or row.authors
        row.year, row.abstract = record.year or row.year, record.abstract or row.abstract
        row.doi = record.doi[:200] or row.doi
        isbn = {"isbn": found.value} if found.kind == "ISBN" else {}
        own = {"venue": record.venue, "kind": record.kind, "arxiv_id": record.arxiv_id, **isbn}
        paper = row.metadata.get("paper", {}) | {name: value for name, value in own.items() if value}
        row.metadata = {**row.metadata, "paper": paper, "identified": msgspec.to_builtins(found)}
        row.save(update_fields=["title", "authors", "year", "abstract", "doi", "metadata", "updated_at"])
