"""Cuts a document's units into passages: stretches of one page that keyword search ranks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from documents.models import CitationUnit, Document
from retrieval.postings import Field

TARGET_CHARACTERS = 2000  # measured: 1,000 and whole pages both find fewer right pages

TITLE_WEIGHT = 1.0
SECTION_WEIGHT = 1.0


@dataclass(frozen=True, slots=True)
class PassageDraft:
    """Consecutive units of one page."""

    units: tuple[CitationUnit, ...]

    @property
    def page_number(self) -> int:
        return self.units[0].page_number

    def fields(self, names: str) -> list[Field]:
        """What the passage is found by: its words, the headings above it, the document's names."""
        body = "\n".join(unit.content for unit in self.units)
        headings = {title for unit in self.units for title in unit.section_path}
        captions = {caption for unit in self.units if (caption := caption_of(unit))}
        return [
            Field(body),
            Field("\n".join(headings | captions), SECTION_WEIGHT, measured=False),
            Field(names, TITLE_WEIGHT, measured=False),
        ]


def cut_passages(units: Sequence[CitationUnit]) -> list[PassageDraft]:
    """Units in reading order, cut into passages."""
    pages = groupby((unit for unit in units if unit.content.strip()), lambda unit: unit.page_number)
    return [PassageDraft(tuple(run)) for _, page in pages for run in _runs(list(page))]


def _runs(units: list[CitationUnit]) -> list[list[CitationUnit]]:
    runs: list[list[CitationUnit]] = []
    size = TARGET_CHARACTERS
    for unit in units:
        if size + len(unit.content) > TARGET_CHARACTERS:
            runs.append([])
            size = 0
        runs[-1].append(unit)
        size += len(unit.content) + 1
    return runs


def caption_of(unit: CitationUnit) -> str:
    """The caption of the table the unit is a row of; '' when there is none."""
    return str(unit.cells.get("caption") or "") if unit.cells else ""


def names_of(document: Document) -> str:
    """What people may call the document: title, file name, authors, year, identifiers."""
    file_name = re.sub(r"[_\W]+", " ", re.sub(r"\.pdf$", "", document.original_name, flags=re.IGNORECASE))
    words = [document.title, file_name, *document.authors, str(document.year or ""), document.doi]
    return "\n".join(dict.fromkeys(word for word in words if word))
