"""Cuts a document's units into passages: stretches of one page that keyword search ranks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from documents.models import CitationUnit, Document
from retrieval.analysis import YEAR, run_together
from retrieval.postings import Field

TARGET_CHARACTERS = 2000  # measured: chunks of eight rows and whole pages both find fewer right pages
COVER_CHARACTERS = 1500

NAME_WEIGHT = 3.0
COVER_WEIGHT = 0.4


class IndexedUnit(NamedTuple):
    """What is indexed of a unit; ``caption`` is that of the table it is a row of, if any."""

    position: int
    page_number: int
    content: str
    section_path: list[str]
    caption: str | None = None


@dataclass(frozen=True, slots=True)
class PassageDraft:
    """Consecutive units of one page."""

    units: tuple[IndexedUnit, ...]

    @property
    def page_number(self) -> int:
        return self.units[0].page_number

    @property
    def text(self) -> str:
        return "\n".join(unit.content for unit in self.units)

    def fields(self, names: str) -> list[Field]:
        """What the passage is found by: its words, the headings above it, the document's names."""
        headings = {title for unit in self.units for title in unit.section_path}
        captions = {unit.caption for unit in self.units if unit.caption}
        return [
            Field(self.text),
            Field("\n".join(headings | captions), measured=False),
            Field(names, measured=False),
        ]


def read_units(document: Document) -> list[IndexedUnit]:
    """The document's units in reading order."""
    rows = CitationUnit.objects.filter(document=document).order_by("position")
    columns = ("position", "page_number", "content", "section_path", "cells__caption")
    return [IndexedUnit(*row) for row in rows.values_list(*columns)]


def cut_passages(units: Sequence[IndexedUnit]) -> list[PassageDraft]:
    """Units in reading order, cut into passages."""
    pages = groupby((unit for unit in units if unit.content.strip()), lambda unit: unit.page_number)
    return [PassageDraft(tuple(run)) for _, page in pages for run in _runs(list(page))]


def _runs(units: list[IndexedUnit]) -> list[list[IndexedUnit]]:
    runs: list[list[IndexedUnit]] = []
    size = TARGET_CHARACTERS
    for unit in units:
        if size + len(unit.content) > TARGET_CHARACTERS:
            runs.append([])
            size = 0
        runs[-1].append(unit)
        size += len(unit.content) + 1
    return runs


def names_of(document: Document) -> str:
    """What people may call the document: title, file name, authors, year, DOI.

    A year in title or file name goes before the document's own, which is when the file was made:
    the report of a year comes out in the next.
    """
    file_name = re.sub(r"\.pdf$", "", document.original_name, flags=re.IGNORECASE)
    dated = YEAR.search(f"{document.title} {file_name}")
    year = "" if dated or not document.year else str(document.year)
    return "\n".join(
        dict.fromkeys(
            word for word in (document.title, file_name, *document.authors, year, document.doi) if word
        )
    )


def name_fields(document: Document) -> list[Field]:
    """The document's names; the words of each also written as one, as handles are."""
    names = names_of(document)
    together = "\n".join(word for line in names.splitlines() for word in run_together(line))
    return [Field(names, NAME_WEIGHT, measured=False), Field(together, NAME_WEIGHT, measured=False)]


def cover_fields(document: Document, passages: Sequence[PassageDraft]) -> list[Field]:
    """What else tells this document from others: its abstract and first page."""
    cover = "\n".join(draft.text for draft in passages if draft.page_number == 1)[:COVER_CHARACTERS]
    return [Field(f"{document.abstract}\n{cover}", COVER_WEIGHT, measured=False)]
