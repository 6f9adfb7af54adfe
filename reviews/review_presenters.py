"""Present a review for its page and the API: columns, visible rows and their cells."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec
from django.contrib.auth.models import User
from django.db.models import Max, Q, QuerySet
from django.utils.translation import gettext

from chat.citations.stored_citations import reader_link
from chat.models import Citation
from documents.labels import distinct_labels
from documents.translation import translated
from reviews.column_sets import values_of
from reviews.models import Review, ReviewCell, ReviewMark, ReviewRow
from reviews.typed_values import normalised

SHOWN = 300  # characters of a cell in the table; its panel shows all


class ShownCell(msgspec.Struct, frozen=True):
    """One cell. ``page``, ``quote``, ``verdict`` and ``href`` are those of its first citation.

    ``normal`` is the value in normal form, if it is printed in another form; ``printed_page`` is for people.
    """

    id: UUID
    row: UUID
    column: UUID
    state: str
    text: str
    value: Any
    revision: int
    answered_by: str
    by_person: bool
    mark: str
    comment: str
    error: str
    normal: str = ""
    page: int | None = None
    printed_page: str = ""
    quote: str = ""
    verdict: str = ""
    href: str = ""


class ShownColumn(msgspec.Struct, frozen=True):
    id: UUID
    title: str
    question: str
    kind: str
    unit: str
    choices: list[str]
    note: str
    condition: str = ""


class ShownRow(msgspec.Struct, frozen=True):
    """One document; ``ready``: it can be searched; ``deleted``: it is in the bin or deleted for good."""

    id: UUID
    document: UUID | None
    title: str
    ready: bool
    deleted: bool = False


class ReviewGrid(msgspec.Struct, frozen=True):
    """The table; or columns, rows and the cells changed since ``now`` of an earlier one."""

    columns: list[ShownColumn]
    rows: list[ShownRow]
    cells: list[ShownCell]
    now: datetime | None = None


def grid(review: Review, user: User, since: datetime | None = None) -> ReviewGrid:
    """Return the part of the review that the user may see; with ``since`` the changed cells. Five queries."""
    cells = ReviewCell.objects.filter(row__review=review).visible_to(user)
    now = ReviewCell.objects.filter(row__review=review).aggregate(last=Max("updated_at"))["last"]
    own = ReviewMark.objects.filter(cell__row__review=review, user=user)
    if review.blind and (marked := own.aggregate(last=Max("updated_at"))["last"]):
        now = max(now, marked)
    if since:
        changed = Q(updated_at__gte=since)
        cells = cells.filter(
            changed | Q(pk__in=own.filter(changed).values("cell")) if review.blind else changed
        )
    return ReviewGrid(
        shown_columns(review), shown_rows(review, user), shown_cells(blinded(cells, review, user)), now
    )


def blinded(cells: Iterable[ReviewCell], review: Review, user: User) -> list[ReviewCell]:
    """Return the cells for the user: while marks are blind, with the user's own marks only."""
    listed = list(cells)
    if not review.blind:
        return listed
    own = {mark.cell_id: mark for mark in ReviewMark.objects.filter(cell__in=listed, user=user)}
    for cell in listed:
        mark = own.get(cell.pk)
        cell.mark, cell.comment = (mark.mark, mark.comment) if mark else ("", "")
        cell.marked_by = user if cell.mark else None
    return listed


def shown_columns(review: Review) -> list[ShownColumn]:
    return [ShownColumn(column.pk, **values_of(column)) for column in review.columns.order_by("position")]


def visible_rows(review: Review, user: User) -> QuerySet[ReviewRow]:
    return ReviewRow.objects.filter(review=review).visible_to(user).order_by("position")


def shown_rows(review: Review, user: User) -> list[ShownRow]:
    rows = list(visible_rows(review, user).select_related("document"))
    labels = row_labels(rows)
    return [
        ShownRow(
            row.pk,
            row.document_id,
            labels[row.pk],
            row.document is not None and row.document.indexed_at is not None,
            row.is_deleted,
        )
        for row in rows
    ]


def row_labels(rows: Iterable[ReviewRow]) -> dict[UUID, str]:
    """Return the label of each row's document among those of the others; its title where it was deleted."""
    listed = list(rows)
    labels = distinct_labels(row.document for row in listed if row.document)
    return {row.pk: labels[row.document_id] if row.document_id else row.title for row in listed}


def shown_cells(cells: Iterable[ReviewCell]) -> list[ShownCell]:
    """Return the cells, each with its first citation. Two queries."""
    listed = list(cells)
    first = first_citations(listed)
    return [shown_cell(cell, first.get(cell.pk)) for cell in listed]


def first_citations(cells: Iterable[ReviewCell]) -> dict[UUID, Citation]:
    """Return the first citation of each cell, which supports its value."""
    through = ReviewCell.citations.through.objects
    links = through.filter(reviewcell__in=[cell.pk for cell in cells], citation__position=0)
    return {link.reviewcell_id: link.citation for link in links.select_related("citation")}


def shown_cell(cell: ReviewCell, citation: Citation | None) -> ShownCell:
    return ShownCell(
        id=cell.pk,
        row=cell.row_id,
        column=cell.column_id,
        state=cell.state,
        text=cell.text[:SHOWN],
        value=cell.value,
        revision=cell.revision,
        answered_by=cell.answered_by,
        by_person=cell.by_person,
        mark=cell.mark,
        comment=cell.comment,
        error=translated(cell.error),
        normal=normalised(cell.value, cell.text)[:SHOWN],
        page=citation.page_number if citation else None,
        printed_page=gettext("p. %(page)s") % {"page": citation.page_label or citation.page_number}
        if citation
        else "",
        quote=citation.quote[:SHOWN] if citation else "",
        verdict=citation.verdict if citation else "",
        href=reader_link(citation) if citation else "",
    )
