"""Look up papers, their references and citations in Semantic Scholar and OpenAlex; list a library of Zotero.

Responses are cached for a day. A process sends one request at a time, and after
a 429 waits as long as its ``Retry-After`` says.
"""

from __future__ import annotations

import hashlib
import re
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol
from urllib.parse import quote

import httpx
import msgspec
from django.conf import settings
from django.core.cache import cache
from django.db.models import Q
from django.db.models.functions import Lower

from documents.models import Document
from documents.papers.bibliography import PaperRecord, bare_arxiv_id, bare_doi, from_csl, record_of

if TYPE_CHECKING:
    from django.contrib.auth.models import User

Direction = Literal["citing", "references"]
ATTEMPTS = 3
LONGEST_WAIT = 20.0  # seconds; give up if a service demands more
KEPT_SECONDS = 24 * 3600
MOST = 100  # papers in one answer
MOST_ON_A_TOPIC = 50
_one_at_a_time = threading.Lock()


class CatalogueError(Exception):
    """The catalogue did not respond; the message is for the user."""


class NotListed(CatalogueError):
    """The catalogue does not know the paper."""


KEY_REFUSED = "This key is not accepted. It must be allowed to read the library and its files."


class KeyRefused(CatalogueError):
    """The service refused the key."""


class Catalogue(Protocol):
    def paper(self, record: PaperRecord) -> PaperRecord: ...
    def around(self, record: PaperRecord, direction: Direction) -> list[PaperRecord]: ...
    def about(self, topic: str) -> list[PaperRecord]: ...


def get_json(
    base: str, path: str, query: dict[str, str], headers: dict[str, str], attempts: int = ATTEMPTS
) -> Any:
    """Return the JSON of a URL, from the cache if it is there. Raises CatalogueError."""
    url = f"{base.rstrip('/')}/{path}"
    key = "catalogue-" + hashlib.sha256(f"{url}{sorted(query.items())}".encode()).hexdigest()
    kept = cache.get(key)
    if kept is None:
        with _one_at_a_time:
            kept = _fetched_json(url, query, headers, attempts)
        cache.set(key, kept, KEPT_SECONDS)
    return kept


def _fetched_json(url: str, query: dict[str, str], headers: dict[str, str], attempts: int = ATTEMPTS) -> Any:
    for attempt in range(attempts):
        try:
            answer = httpx.get(url, params=query, headers=headers, timeout=settings.CATALOGUE_SECONDS)
            if answer.status_code in (401, 403):
                raise KeyRefused(KEY_REFUSED)
            if answer.status_code == 429 or answer.status_code >= 500:
                if attempt == attempts - 1:
                    break
                _wait(answer.headers.get("Retry-After", ""), attempt)
                continue
            if answer.status_code >= 300:
                raise NotListed("This paper is not listed there.")
            return answer.json()
        except (httpx.HTTPError, ValueError):
            if attempt == attempts - 1:
                break
            _wait("", attempt)
    raise CatalogueError("Paper lookup is unavailable. Try again later.")


def _wait(said: str, attempt: int) -> None:
    seconds = float(said) if said.isdecimal() else settings.CATALOGUE_BACKOFF_SECONDS * 2**attempt
    if seconds > LONGEST_WAIT:
        raise CatalogueError("Paper lookup is busy. Try again later.")
    time.sleep(seconds)


class SemanticScholar:
    """https://api.semanticscholar.org/api-docs/graph"""

    FIELDS = "title,authors,year,abstract,tldr,externalIds,venue,url,openAccessPdf,citationCount"

    def paper(self, record: PaperRecord) -> PaperRecord:
        return _from_semantic_scholar(self._get(f"paper/{self._id(record)}", self.FIELDS))

    def around(self, record: PaperRecord, direction: Direction) -> list[PaperRecord]:
        kind, inner = ("citations", "citingPaper") if direction == "citing" else ("references", "citedPaper")
        fields = self.FIELDS.replace("tldr,", "")  # not given for lists
        rows = self._get(f"paper/{self._id(record)}/{kind}", fields, limit=str(MOST)).get("data") or []
        found = (row.get(inner) or {} for row in rows)
        return [_from_semantic_scholar(paper) for paper in found if paper.get("title")]

    def about(self, topic: str) -> list[PaperRecord]:
        found = self._get("paper/search", self.FIELDS, query=topic, limit=str(MOST_ON_A_TOPIC))
        return [_from_semantic_scholar(paper) for paper in found.get("data") or [] if paper.get("title")]

    def _id(self, record: PaperRecord) -> str:
        if record.doi:
            return f"DOI:{quote(record.doi, safe='/')}"
        if record.arxiv_id:
            return f"ARXIV:{record.arxiv_id}"
        match = self._get("paper/search/match", "title", query=record.title)
        return str((match.get("data") or [{}])[0].get("paperId", ""))

    def _get(self, path: str, fields: str, **query: str) -> Any:
        key = settings.SEMANTIC_SCHOLAR_KEY
        headers = {"x-api-key": key} if key else {}
        return get_json(settings.SEMANTIC_SCHOLAR_URL, path, {"fields": fields, **query}, headers)


def _from_semantic_scholar(paper: dict[str, Any]) -> PaperRecord:
    ids = paper.get("externalIds") or {}
    return PaperRecord(
        title=paper.get("title") or "",
        authors=tuple(author.get("name") or "" for author in paper.get("authors") or []),
        year=paper.get("year"),
        abstract=paper.get("abstract") or "",
        tldr=(paper.get("tldr") or {}).get("text") or "",
        doi=bare_doi(ids.get("DOI") or ""),
        arxiv_id=bare_arxiv_id(ids.get("ArXiv") or ""),
        venue=paper.get("venue") or "",
        url=paper.get("url") or "",
        pdf_url=(paper.get("openAccessPdf") or {}).get("url") or "",
        citation_count=paper.get("citationCount"),
    )


class OpenAlex:
    """https://docs.openalex.org"""

    def paper(self, record: PaperRecord) -> PaperRecord:
        return _from_open_alex(self._work(record))

    def around(self, record: PaperRecord, direction: Direction) -> list[PaperRecord]:
        own = str(self._work(record).get("id", "")).rpartition("/")[2]
        relation = "cites" if direction == "citing" else "cited_by"
        found = self._get("works", filter=f"{relation}:{own}", sort="cited_by_count:desc")
        return [_from_open_alex(work) for work in found.get("results") or [] if work.get("display_name")]

    def about(self, topic: str) -> list[PaperRecord]:
        found = self._get("works", search=topic).get("results") or []
        return [_from_open_alex(work) for work in found[:MOST_ON_A_TOPIC] if work.get("display_name")]

    def _work(self, record: PaperRecord) -> dict[str, Any]:
        doi = record.doi or (f"10.48550/arxiv.{record.arxiv_id}" if record.arxiv_id else "")
        if doi:
            return dict(self._get(f"works/doi:{quote(doi, safe='/')}"))
        found = self._get("works", search=record.title).get("results") or []
        if not found:
            raise NotListed("This paper is not listed there.")
        return dict(found[0])

    def _get(self, path: str, **query: str) -> Any:
        if path == "works":
            query["per-page"] = str(MOST)
        return get_json(settings.OPENALEX_URL, path, query, {})


def _from_open_alex(work: dict[str, Any]) -> PaperRecord:
    place = (work.get("primary_location") or {}).get("source") or {}
    open_access = work.get("best_oa_location") or {}
    return PaperRecord(
        title=work.get("display_name") or "",
        authors=tuple(_names(work.get("authorships") or [])),
        year=work.get("publication_year"),
        abstract=uninverted(work.get("abstract_inverted_index") or {}),
        doi=bare_doi(work.get("doi") or ""),
        venue=place.get("display_name") or "",
        url=work.get("doi") or work.get("id") or "",
        pdf_url=open_access.get("pdf_url") or "",
        citation_count=work.get("cited_by_count"),
    )


def _names(authorships: Iterable[dict[str, Any]]) -> Iterator[str]:
    for authorship in authorships:
        if name := (authorship.get("author") or {}).get("display_name"):
            yield name


def uninverted(index: dict[str, list[int]]) -> str:
    """Return an abstract, of which OpenAlex gives the positions of each word."""
    places = sorted((place, word) for word, found in index.items() for place in found)
    return " ".join(word for _, word in places)


class Zotero:
    """A library at zotero.org, of a person or a group. https://www.zotero.org/support/dev/web_api/v3/basics"""

    PAGE = 100  # rows of one answer: the most it gives
    MOST_ROWS = 20_000

    def __init__(self, key: str, group: str = "") -> None:
        """Find the library of the key's user, unless a group is given. Raises CatalogueError."""
        self.headers = {"Zotero-API-Key": key, "Zotero-API-Version": "3"}
        base = settings.ZOTERO_URL.rstrip("/")
        own = "" if group else _fetched_json(f"{base}/keys/current", {}, self.headers)["userID"]
        self._library = f"{base}/groups/{group}" if group else f"{base}/users/{own}"

    def records(self) -> list[PaperRecord]:
        """Return the works with tags, collections and URLs of their PDFs. Raises CatalogueError."""
        names = {row["key"]: row["data"]["name"] for row in self._rows("collections")}
        files: dict[str, str] = {}  # by the key of their work
        for row in self._rows("items", itemType="attachment"):
            data = row["data"]
            stored = data.get("linkMode", "").startswith("imported")
            if stored and data.get("contentType") == "application/pdf":
                address = f"{self._library}/items/{row['key']}/file"
                files.setdefault(data.get("parentItem") or row["key"], address)
        rows = self._rows("items/top", itemType="-note", include="data,csljson")
        found = (_from_zotero(row, names, files.get(row["key"], "")) for row in rows)
        return [record for record in found if record.title]

    def _rows(self, path: str, **query: str) -> Iterator[dict[str, Any]]:
        for start in range(0, self.MOST_ROWS, self.PAGE):
            asked = {**query, "limit": str(self.PAGE), "start": str(start)}
            page = _fetched_json(f"{self._library}/{path}", asked, self.headers)
            yield from page
            if len(page) < self.PAGE:
                return


PDF_ENDING = re.compile(r"\.pdf$", re.IGNORECASE)


def _from_zotero(row: dict[str, Any], collections: dict[str, str], file: str) -> PaperRecord:
    """Return a work. A PDF without a parent item becomes a work named after it."""
    data = row["data"]
    work = from_csl(row.get("csljson") or {})
    alone = data.get("itemType") == "attachment"
    name = PDF_ENDING.sub("", data.get("title", ""))
    return msgspec.structs.replace(
        work,
        title=work.title or (name if not alone or file else ""),
        pdf_url=file,
        tags=tuple(tag["tag"] for tag in data.get("tags") or []),
        collections=tuple(collections[key] for key in data.get("collections") or [] if key in collections),
    )


CATALOGUES: tuple[Catalogue, ...] = (SemanticScholar(), OpenAlex())


def look_up(record: PaperRecord) -> PaperRecord:
    """Return the record of the first catalogue that knows the paper. Raises CatalogueError."""
    return _first(lambda catalogue: catalogue.paper(record))


def papers_around(record: PaperRecord, direction: Direction) -> list[PaperRecord]:
    """Return papers that cite this one, or that it cites, most cited first. Raises CatalogueError."""
    found: list[PaperRecord] = _first(lambda catalogue: catalogue.around(record, direction))
    return sorted(found, key=lambda paper: -(paper.citation_count or 0))


def papers_about(topic: str) -> list[PaperRecord]:
    """Return papers on a topic, in the order of the first catalogue that responds. Raises CatalogueError."""
    found: list[PaperRecord] = _first(lambda catalogue: catalogue.about(topic))
    return found


def _first(ask: Any) -> Any:
    failures: list[CatalogueError] = []
    for catalogue in CATALOGUES:
        try:
            return ask(catalogue)
        except CatalogueError as error:
            failures.append(error)
    raise next((error for error in failures if not isinstance(error, NotListed)), failures[0])


@dataclass(frozen=True, slots=True)
class ListedPaper:
    """A paper that a catalogue lists; ``document`` when the library has it."""

    record: PaperRecord
    document: Document | None


def related_papers(owner: User, document: Document, direction: Direction) -> list[ListedPaper]:
    """Return related papers, most cited first; [] if no catalogue lists the paper. Raises CatalogueError."""
    try:
        records = papers_around(record_of(document), direction)
    except NotListed:
        return []
    return marked(owner, records)


def papers_on_topic(owner: User, topic: str) -> list[ListedPaper]:
    """Return papers on a topic; [] if no catalogue lists any. Raises CatalogueError."""
    try:
        return marked(owner, papers_about(topic))
    except NotListed:
        return []


def marked(owner: User, records: Sequence[PaperRecord]) -> list[ListedPaper]:
    kept = in_library(owner, records)
    return [ListedPaper(record, kept.get(record.key)) for record in records]


def in_library(owner: User, records: Sequence[PaperRecord]) -> dict[str, Document]:
    """Return the owner's documents of these papers by ``PaperRecord.key``. One query.

    They have the same DOI, arXiv id, address of the file, or title and year.
    """
    wanted = Q(doi_folded__in=_filled(record.doi for record in records))
    wanted |= Q(metadata__paper__arxiv_id__in=_filled(record.arxiv_id for record in records))
    wanted |= Q(metadata__paper__pdf_url__in=_filled(record.pdf_url for record in records))
    wanted |= Q(title_folded__in=_filled(record.title.lower() for record in records))
    rows = Document.objects.sources().filter(owner=owner, deleted_at=None).defer("outline")
    folded = rows.annotate(doi_folded=Lower("doi"), title_folded=Lower("title")).filter(wanted)
    by_identifier = {
        identifier: row
        for row in folded.order_by("-created_at")
        for identifier in _identifiers(record_of(row))
    }
    found = ((record.key, identifier) for record in records for identifier in reversed(_identifiers(record)))
    return {key: by_identifier[identifier] for key, identifier in found if identifier in by_identifier}


def _identifiers(record: PaperRecord) -> list[str]:
    """Return the identifiers of a paper, the most reliable first."""
    title = f"{record.title.lower()} ({record.year})"
    return [*_filled((record.doi.lower(), record.arxiv_id, record.pdf_url)), title]


def _filled(texts: Iterable[str]) -> list[str]:
    return [text for text in texts if text]
