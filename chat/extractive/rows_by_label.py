"""Rows of tables found by their label, where a question needs a line of the accounts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models.functions import Left

from chat.extractive.lineitems import LineItem, items_asked, statement_of
from chat.sources import HEADING_CHARACTERS
from documents.models import CitationUnit, Page

MOST_ROWS_AN_ITEM = 600  # candidates read; a filing of 300 pages has under a hundred for most items


@dataclass(frozen=True, slots=True)
class _Row:
    pk: UUID
    content: str
    place: tuple[UUID, int]


def line_item_units(question: str, documents: Sequence[UUID], limit: int) -> list[UUID]:
    """Ids of table rows whose label names what the question needs; rows of the right statement first.

    Two queries, however many items; the items take equal shares of ``limit``.
    """
    items = items_asked(question)
    if not items or not documents:
        return []
    rows = _candidates(items, documents)
    headings = _headings(row.place for row in rows)
    share = max(1, limit // len(items))
    found = [pk for item in items for pk in _best(item, rows, headings)[:share]]
    return list(dict.fromkeys(found))


def _candidates(items: Sequence[LineItem], documents: Sequence[UUID]) -> list[_Row]:
    pattern = "|".join(f"({item.sql})" for item in items)
    rows = CitationUnit.objects.filter(
        document__in=documents, unit_type="table", content__iregex=pattern
    ).order_by("document", "position")
    values = rows.values_list("pk", "content", "document_id", "page_number")
    return [
        _Row(pk, content, (document, page))
        for pk, content, document, page in values[: MOST_ROWS_AN_ITEM * len(items)]
        if any(character.isdigit() for character in content)
    ]


def _headings(places: Iterable[tuple[UUID, int]]) -> dict[tuple[UUID, int], str]:
    wanted = set(places)
    pages = Page.objects.filter(
        document__in={document for document, _ in wanted}, number__in={number for _, number in wanted}
    ).annotate(heading=Left("text", HEADING_CHARACTERS))
    return {
        (document, number): heading
        for document, number, heading in pages.values_list("document_id", "number", "heading")
    }


def _best(item: LineItem, rows: Iterable[_Row], headings: dict[tuple[UUID, int], str]) -> list[UUID]:
    fitting = [row for row in rows if item.label.search(row.content)]
    return [
        row.pk
        for row in sorted(
            fitting,
            key=lambda row: (
                statement_of(headings.get(row.place, "")) != item.statement,
                label_excess(item, row.content),
            ),
        )
    ]


def label_excess(item: LineItem, content: str) -> int:
    """Letters of the row that the label's pattern does not cover: 0 is the line itself."""
    letters = sum(map(str.isalpha, content))
    match = item.label.search(content)
    return letters - sum(map(str.isalpha, match[0])) if match else letters
