"""What people do with reviews: rows, columns, cells. Each raises InvalidReview with a sentence for people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import F, Max, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from chat.models import Review, ReviewCell, ReviewColumn, ReviewRow
from chat.reviews.column_sets import (
    MOST_COLUMNS,
    InvalidColumns,
    InvalidReview,
    check_column,
    template_columns,
)
from chat.reviews.fill_queue import issue_tickets, keep_version
from chat.reviews.typed_values import InvalidValue, written_value
from documents.ingestion.recognition import want_documents
from documents.models import Collection, Document

MOST_ROWS = 1000
State = ReviewCell.State
ASKED_BY = ("question", "kind", "unit", "choices")  # what of a column its cells depend on
FILLABLE = (State.EMPTY, State.FAILED, State.STALE)


class StaleCell(InvalidReview):
    """Somebody else changed the cell since it was read."""


# --- Reviews, rows and columns ---


def start_review(
    user: User,
    name: str,
    documents: Sequence[Document] = (),
    collection: Collection | None = None,
    template: str = "",
    provider: str = "",
    **others: Any,
) -> Review:
    """A review over documents or a collection, with the columns of a template (its name, or the id of one's
    own); ``others`` are its fields."""
    with transaction.atomic():
        review = Review.objects.create(
            owner=user, name=" ".join(name.split())[:200], collection=collection, provider=provider, **others
        )
        if not review.name:
            raise InvalidReview(_("Give the review a name."))
        add_columns(review, [ReviewColumn(**values) for values in template_columns(user, template)])
        add_rows(review, documents, user)
        join_collection(review)
    return review


def add_rows(review: Review, documents: Iterable[Document], user: User) -> int:
    """Make documents rows, those that are rows already left out; returns how many are new."""
    known = set(review.rows.values_list("document", flat=True))
    new = [document for document in documents if document.pk not in known]
    if len(known) + len(new) > MOST_ROWS:
        raise InvalidReview(f"A review holds {MOST_ROWS} documents at most. Make another for the rest.")
    last = review.rows.aggregate(last=Max("position"))["last"]
    first = 0 if last is None else last + 1
    rows = [
        ReviewRow(review=review, document=document, position=first + at, added_by=user)
        for at, document in enumerate(new)
    ]
    with transaction.atomic():
        ReviewRow.objects.bulk_create(rows, ignore_conflicts=True)
        complete(review)
        Review.objects.filter(pk=review.pk).update(updated_at=timezone.now())
    return len(new)


def join_collection(review: Review) -> int:
    """Make rows of the documents that came into the review's collection; returns how many.

    They are filled at once where others were filled before.
    """
    if review.collection is None:
        return 0
    there = Document.objects.visible_to(review.owner).filter(collections=review.collection)
    new = there.exclude(pk__in=review.rows.values("document"))
    documents = list(new.order_by("title")[:MOST_ROWS])
    was_filled = ReviewCell.objects.filter(row__review=review).exclude(state=State.EMPTY).exists()
    added = add_rows(review, documents, review.owner) if documents else 0
    if added and was_filled:
        fill_cells(ReviewCell.objects.filter(row__review=review, row__document__in=documents))
    return added


def save_column(review: Review, column: ReviewColumn) -> ReviewColumn:
    """Add a column, or change one. Another question or type makes its filled cells out of date."""
    check_column(column)
    with transaction.atomic():
        locked = Review.objects.select_for_update().get(pk=review.pk)
        before = locked.columns.filter(pk=column.pk).first()
        if before is None:
            if locked.columns.count() >= MOST_COLUMNS:
                raise InvalidReview(f"A review has {MOST_COLUMNS} columns at most.")
            last = locked.columns.aggregate(last=Max("position"))["last"]
            column.position = column.position or (0 if last is None else last + 1)
        column.review = locked
        try:
            with transaction.atomic():
                column.save()
        except IntegrityError:
            raise InvalidReview(f"There is a column “{column.title}” already.") from None
        if before is None:
            complete(locked)
        elif any(getattr(before, name) != getattr(column, name) for name in ASKED_BY):
            outdate(ReviewCell.objects.filter(column=column))
        locked.save(update_fields=["updated_at"])
    return column


def add_columns(review: Review, columns: Sequence[ReviewColumn]) -> None:
    """Add all of these columns, or none: raise InvalidColumns with what is wrong with each."""
    errors = []
    with transaction.atomic():
        for column in columns:
            try:
                save_column(review, column)
            except InvalidReview as error:
                errors.append(f"{column.title}: {error}")
        if errors:
            raise InvalidColumns(errors)


def complete(review: Review) -> None:
    """Make the cells that are not there yet."""
    there = set(ReviewCell.objects.filter(row__review=review).values_list("row", "column"))
    columns = list(review.columns.values_list("pk", flat=True))
    ReviewCell.objects.bulk_create(
        (
            ReviewCell(row_id=row, column_id=column)
            for row in review.rows.values_list("pk", flat=True)
            for column in columns
            if (row, column) not in there
        ),
        ignore_conflicts=True,
        batch_size=2000,
    )


def outdate(cells: QuerySet[ReviewCell]) -> int:
    """Mark filled cells as out of date. What a person wrote stays; what is being filled is filled anew."""
    cells.filter(state=State.RUNNING).update(state=State.WAITING, revision=F("revision") + 1)
    filled = cells.filter(
        state__in=[State.FOUND, State.NOT_STATED, State.UNCLEAR, State.FAILED], by_person=False
    )
    return filled.update(state=State.STALE, revision=F("revision") + 1, updated_at=timezone.now())


def outdate_document(document: Document) -> int:
    """Mark the cells that were read from another version of the document."""
    cells = ReviewCell.objects.filter(row__document=document).exclude(document_sha256="")
    return outdate(cells.exclude(document_sha256=document.sha256))


# --- Cells ---


def fill_cells(cells: QuerySet[ReviewCell], *, again: bool = False) -> int:
    """Put cells in the queue; returns how many. ``again``: those that are filled, too."""
    chosen = cells.exclude(state__in=[State.WAITING, State.RUNNING])
    if not again:
        chosen = chosen.filter(state__in=FILLABLE)
    documents = Document.objects.filter(review_rows__cells__in=chosen).distinct()
    want_documents(documents)
    count = chosen.update(
        state=State.WAITING, error="", attempts=0, revision=F("revision") + 1, updated_at=timezone.now()
    )
    if count:
        transaction.on_commit(lambda: issue_tickets(count), robust=True)
    return count


def cancel_filling(review: Review) -> int:
    """Take all waiting cells out of the queue; returns how many. Those being filled end by themselves."""
    waiting = ReviewCell.objects.filter(row__review=review, state=State.WAITING)
    said = waiting.exclude(text="").update(
        state=State.STALE, revision=F("revision") + 1, updated_at=timezone.now()
    )
    return said + waiting.update(state=State.EMPTY, revision=F("revision") + 1, updated_at=timezone.now())


def change_cell(cell_id: UUID, user: User, revision: int, changes: Mapping[str, str]) -> ReviewCell:
    """Write a cell's value (``text``), its ``mark`` or its ``comment``. Raise InvalidReview.

    ``revision`` is the one its writer saw: of two who change a cell at once the second is told.
    """
    with transaction.atomic():
        cell = ReviewCell.objects.select_for_update(of=("self",)).select_related("column").get(pk=cell_id)
        if cell.revision != revision:
            raise StaleCell("This cell was changed meanwhile. Look at it again.")
        keep_version(cell)
        if "text" in changes:
            try:
                cell.value, cell.text = written_value(cell.column, changes["text"])
            except InvalidValue as error:
                raise InvalidReview(str(error)) from None
            cell.state = State.FOUND if cell.text else State.NOT_STATED
            cell.answered_by, cell.by_person, cell.error = user.get_username(), True, ""
            cell.mark, cell.marked_by = "", None
        if "mark" in changes:
            if changes["mark"] not in ("", *ReviewCell.Mark.values):
                raise InvalidReview("A cell is accepted, wrong, or neither.")
            cell.mark, cell.marked_by = changes["mark"], user if changes["mark"] else None
        if "comment" in changes:
            cell.comment = changes["comment"].replace("\x00", "").strip()[:2000]
        cell.revision += 1
        cell.save()
    return cell
