"""Lists of references: BibTeX, RIS and CSL-JSON in, records out."""

from __future__ import annotations

import re
from typing import Any

import msgspec
import rispy
from bibtexparser.entrypoint import parse_string
from bibtexparser.middlewares import (
    LatexDecodingMiddleware,
    MergeNameParts,
    SeparateCoAuthors,
    SplitNameParts,
)

from documents.scholarly.record import PaperRecord, bare_arxiv_id, bare_doi, printed_name

MOST_RECORDS = 2000
YEAR = re.compile(r"\b(1[5-9]|20)\d\d\b")


class BibliographyUnreadable(Exception):
    """The text is none of the three formats; the message is for people."""


def read_bibliography(text: str) -> list[PaperRecord]:
    """The records of a text in any of the three formats. Raises BibliographyUnreadable."""
    start = text.lstrip("\ufeff \t\r\n")
    try:
        if start.startswith(("[", "{")):
            records = read_csl(start)
        elif re.match(r"TY\s+-", start):
            records = read_ris(start)
        else:
            records = read_bibtex(start)
    except Exception as error:  # each parser has errors of its own
        raise BibliographyUnreadable("This list of references cannot be read.") from error
    records = [record for record in records if record.title]
    if not records:
        raise BibliographyUnreadable("No reference with a title was found: paste BibTeX, RIS or CSL-JSON.")
    if len(records) > MOST_RECORDS:
        raise BibliographyUnreadable(f"At most {MOST_RECORDS} references at once.")
    return records


def read_bibtex(text: str) -> list[PaperRecord]:
    middleware = [
        SeparateCoAuthors(),
        LatexDecodingMiddleware(),
        SplitNameParts(),
        MergeNameParts(style="first"),
    ]
    library = parse_string(text, append_middleware=middleware)
    return [
        _from_bibtex({key: field.value for key, field in entry.fields_dict.items()})
        for entry in library.entries
    ]


def _from_bibtex(fields: dict[str, Any]) -> PaperRecord:
    def text(*names: str) -> str:
        return next((_plain(fields[name]) for name in names if fields.get(name)), "")

    authors = fields.get("author", [])
    return PaperRecord(
        title=text("title"),
        authors=tuple(_plain(name) for name in (authors if isinstance(authors, list) else [authors])),
        year=year_in(text("year", "date")),
        abstract=text("abstract"),
        doi=bare_doi(text("doi", "url")),
        arxiv_id=bare_arxiv_id(text("eprint")),
        venue=text("journal", "booktitle", "publisher"),
        url=text("url"),
    )


def _plain(value: Any) -> str:
    return " ".join(re.sub(r"[{}]", "", str(value)).split())


def read_ris(text: str) -> list[PaperRecord]:
    return [
        PaperRecord(
            title=entry.get("title") or entry.get("primary_title") or "",
            authors=tuple(
                printed_name(name) for name in entry.get("authors") or entry.get("first_authors") or []
            ),
            year=year_in(str(entry.get("year") or entry.get("publication_year") or "")),
            abstract=entry.get("abstract") or entry.get("notes_abstract") or "",
            doi=bare_doi(entry.get("doi") or ""),
            venue=entry.get("journal_name") or entry.get("secondary_title") or "",
            url=(entry.get("urls") or [""])[0],
        )
        for entry in rispy.loads(text)
    ]


def read_csl(text: str) -> list[PaperRecord]:
    try:
        items = msgspec.json.decode(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return [_from_csl(item) for item in (items if isinstance(items, list) else [items])]


def _from_csl(item: dict[str, Any]) -> PaperRecord:
    names = item.get("author") or []
    parts = (item.get("issued") or {}).get("date-parts") or [[None]]
    return PaperRecord(
        title=str(item.get("title") or ""),
        authors=tuple(
            name.get("literal") or f"{name.get('given', '')} {name.get('family', '')}".strip()
            for name in names
        ),
        year=year_in(str(parts[0][0] if parts and parts[0] else "")),
        abstract=str(item.get("abstract") or ""),
        doi=bare_doi(str(item.get("DOI") or "")),
        venue=str(item.get("container-title") or ""),
        url=str(item.get("URL") or ""),
        kind=str(item.get("type") or "article-journal"),
    )


def year_in(text: str) -> int | None:
    found = YEAR.search(text)
    return int(found.group()) if found else None
