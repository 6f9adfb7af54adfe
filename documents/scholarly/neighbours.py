"""Papers around a paper, and which of them the library has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import Q
from django.db.models.functions import Lower

from documents.models import Document
from documents.scholarly.catalogues import Direction, NotListed, papers_around
from documents.scholarly.record import PaperRecord, record_of

if TYPE_CHECKING:
    from django.contrib.auth.models import User


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A paper that cites another, or that another cites; ``document`` when the library has it."""

    record: PaperRecord
    document: Document | None


def neighbours(owner: User, document: Document, direction: Direction) -> list[Neighbour]:
    """Most cited first; [] for a paper that no catalogue lists. Raises CatalogueError."""
    try:
        records = papers_around(record_of(document), direction)
    except NotListed:
        return []
    kept = in_library(owner, records)
    return [Neighbour(record, kept.get(record.key)) for record in records]


def in_library(owner: User, records: Sequence[PaperRecord]) -> dict[str, Document]:
    """The owner's documents of these papers by ``PaperRecord.key``: same DOI, arXiv id, or title and year.

    One query, however many.
    """
    wanted = Q(doi_folded__in=_filled(record.doi for record in records))
    wanted |= Q(metadata__paper__arxiv_id__in=_filled(record.arxiv_id for record in records))
    wanted |= Q(title_folded__in=_filled(record.title.lower() for record in records))
    rows = Document.objects.filter(owner=owner, deleted_at=None).defer("outline", "abstract")
    folded = rows.annotate(doi_folded=Lower("doi"), title_folded=Lower("title")).filter(wanted)
    by_mark = {mark: row for row in folded.order_by("-created_at") for mark in _marks(record_of(row))}
    found = ((record.key, mark) for record in records for mark in reversed(_marks(record)))
    return {key: by_mark[mark] for key, mark in found if mark in by_mark}


def _marks(record: PaperRecord) -> list[str]:
    """What tells that two records are the same paper, the surest first."""
    title = f"{record.title.lower()} ({record.year})"
    return [*_filled((record.doi.lower(), record.arxiv_id)), title]


def _filled(texts: Iterable[str]) -> list[str]:
    return [text for text in texts if text]
