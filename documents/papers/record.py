"""What is known of a paper without its PDF."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from documents.models import Document

DOI = re.compile(r"\b10\.\d{4,9}/[^\s\"<>{}|\\^`\[\]]+")  # Crossref's own pattern for 99.3 % of all DOIs
ARXIV = re.compile(r"(?:arxiv[:./ ]*(?:abs/|pdf/)?)?(\d{4}\.\d{4,5})(?:v\d+)?", re.IGNORECASE)
ARXIV_NAME = re.compile(r"(?:\S*arxiv\S*[:/ ]+)?\d{4}\.\d{4,5}(?:v\d+)?(?:\.pdf)?", re.IGNORECASE)
ORGANISATION = re.compile(  # a word, a sign or an internet name that no person's name has
    r"\b(?:agency|association|authority|bureau|commission|committee|company|consortium|corp|corporation|council|division"
    r"|department|federation|foundation|gmbh|inc|incorporated|institute|institution|laborator(?:y|ies)|llc|ltd"
    r"|ministry|organi[sz]ation|plc|society|universit(?:y|ies|ät|é))\b|\d|&|\s[-–—|]\s|\w{2,}\.[a-z]{2,}\b",
    re.IGNORECASE,
)


RECORD_SECTIONS = ("Abstract", "In short")
"""Headings of a record's sheet: its abstract, its TLDR."""


class PaperRecord(msgspec.Struct, frozen=True):
    """A paper. Lists of authors hold names as they are printed: "Jane Doe".

    Attributes:
        doi, arxiv_id: bare, without a URL before them; lower case.
        pdf_url: where an open-access PDF lies, when one is known.
        citation_count: None when nobody counted.
        source_id: the id by which the source it came from knows it.
        files: of an exported library: paths of its PDFs, from the folder of the list.
        tags, collections: their names in the library it was exported from.
    """

    title: str
    authors: tuple[str, ...] = ()
    year: int | None = None
    abstract: str = ""
    tldr: str = ""
    doi: str = ""
    arxiv_id: str = ""
    venue: str = ""
    url: str = ""
    pdf_url: str = ""
    citation_count: int | None = None
    kind: str = "article-journal"
    source_id: str = ""
    files: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    collections: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """What makes two records the same paper: DOI, else arXiv id, else the folded title."""
        return self.doi or self.arxiv_id or re.sub(r"\W+", " ", self.title.casefold()).strip()


def bare_doi(text: str) -> str:
    """The DOI in a URL or a text, lower case; '' when there is none."""
    found = DOI.search(text or "")
    if not found:
        return ""
    doi = found.group().lower().rstrip(".,;:")
    return doi if doi.count("(") >= doi.count(")") else doi.rstrip(")")


def bare_arxiv_id(text: str) -> str:
    found = ARXIV.search(text or "")
    return found.group(1) if found else ""


def record_named(text: str) -> PaperRecord:
    """What somebody typed to name a paper: a DOI, an arXiv id, the URL of either, or its title."""
    if doi := bare_doi(text):
        return PaperRecord(title="", doi=doi)
    if ARXIV_NAME.fullmatch(text.strip()):
        return PaperRecord(title="", arxiv_id=bare_arxiv_id(text))
    return PaperRecord(title=text.strip())


def record_of(document: Document) -> PaperRecord:
    """The record of a stored document."""
    known = document.metadata.get("paper", {})
    return PaperRecord(
        title=document.title,
        authors=tuple(document.authors),
        year=document.year,
        abstract=document.abstract,
        tldr=document.tldr,
        doi=document.doi,
        arxiv_id=known.get("arxiv_id", ""),
        venue=known.get("venue", ""),
        url=document.source_url,
        kind=known.get("kind", "article-journal"),
    )


def csl_json(record: PaperRecord, key: str = "paper") -> dict[str, Any]:
    """CSL-JSON 1.0 of a record; empty fields are left out."""
    item: dict[str, Any] = {
        "id": key,
        "type": record.kind,
        "title": record.title,
        "author": [name_parts(name) for name in record.authors],
        "container-title": record.venue,
        "DOI": record.doi,
        "URL": record.url,
        "abstract": record.abstract,
    }
    if record.year:
        item["issued"] = {"date-parts": [[record.year]]}
    return {name: value for name, value in item.items() if value}


def name_parts(name: str) -> dict[str, str]:
    """``Doe, Jane`` and ``Jane Doe`` as CSL wants them; what is plainly an organisation stays whole."""
    if ORGANISATION.search(name):
        return {"literal": name.strip()}
    family, comma, given = name.partition(",")
    if not comma:
        given, _, family = name.rpartition(" ")
    parts = {"family": family.strip(), "given": given.strip()}
    return {part: text for part, text in parts.items() if text}


def printed_name(name: str) -> str:
    """``Doe, Jane`` as ``Jane Doe``."""
    family, comma, given = name.partition(",")
    return f"{given.strip()} {family.strip()}".strip() if comma else name.strip()
