"""Changes of reviews by users: rows, columns, cells. All raise InvalidReview with a message for the user."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import IntegrityError, transaction
from django.db.models import F, Max, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from documents.ingestion.recognition import want_documents
from documents.models import Collection, Document
from retrieval.views import documents_found
from reviews.column_sets import MOST_COLUMNS, InvalidColumns, InvalidReview, check_column, template_columns
from reviews.fill_queue import issue_tickets, keep_version, recover
from reviews.models import Review, ReviewCell, ReviewColumn, ReviewMark, ReviewRow
from reviews.question_columns import columns_for
from reviews.typed_values import InvalidValue, written_value

logger = logging.getLogger(__name__)

MOST_ROWS = 1000
State = ReviewCell.State
ASKED_BY = ("question", "kind", "unit", "choices")  # fields of a column that its cells depend on
FILLABLE = (State.EMPTY, State.FAILED, State.STALE)


class StaleCell(InvalidReview):
    """The cell was changed after the user read it."""


# --- Reviews, rows and columns ---


def start_review(
    user: User,
    name: str,
    documents: Sequence[Document] = (),
    collection: Collection | None = None,
    template: str = "",
    provider: str = "",
    columns: Sequence[ReviewColumn] = (),
    **others: Any,
) -> Review:
    """Create a review of documents or a collection, with the columns of a template (a name or an id).

    With a ``question`` and no columns, those proposed for it. ``others`` are further fields of the review.
    """
    question = others.get("question", "")
    if question and not (columns or template):
        columns = columns_for(question)
    with transaction.atomic():
        review = Review.objects.create(
            owner=user,
            name=" ".join((name or question).split())[:200],
            collection=collection,
            provider=provider,
            **others,
        )
        if not review.name:
            raise InvalidReview(_("Give the review a name."))
        add_columns(review, [ReviewColumn(**values) for values in template_columns(user, template)])
        add_columns(review, columns)
        add_rows(review, documents, user)
        join_sources(review)
    return review


def add_rows(review: Review, documents: Iterable[Document], user: User) -> int:
    """Add documents as rows, unless they are rows. Return the number of new rows."""
    known = set(documents_of(review))
    new = [document for document in documents if document.pk not in known]
    if new and review.rows.count() + len(new) > MOST_ROWS:
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


def join_sources(review: Review) -> int:
    """Add the documents of the review's collection and saved search as rows. Return the number of new rows.

    Only documents that the owner may see are added. They are queued if other rows were filled before.
    """
    there = Document.objects.visible_to(review.owner).exclude(pk__in=documents_of(review))
    documents: list[Document] = []
    if review.collection:
        documents += there.filter(collections=review.collection).order_by("title")[:MOST_ROWS]
    if review.search:
        documents += there.filter(pk__in=documents_found(review.search) - {one.pk for one in documents})
    was_filled = ReviewCell.objects.filter(row__review=review).exclude(state=State.EMPTY).exists()
    added = add_rows(review, documents, review.owner) if documents else 0
    if added and was_filled:
        fill_cells(ReviewCell.objects.filter(row__review=review, row__document__in=documents))
    return added


def documents_of(review: Review) -> QuerySet[ReviewRow, UUID | None]:
    """Return the ids of the documents that are rows, without NULL, for use in NOT IN."""
    return review.rows.exclude(document=None).values_list("document", flat=True)


def keep_rows(instance: Document, **signal: Any) -> None:
    """Receiver of ``pre_delete``: rows of a document visible to their adder keep its title.

    Other rows are deleted, since access to them could no longer be checked.
    """
    rows = ReviewRow.objects.filter(document=instance)
    people = User.objects.filter(pk__in=rows.values("added_by"))
    kept = [user.pk for user in people if rows.filter(pk__in=ReviewRow.objects.visible_to(user)).exists()]
    rows.exclude(added_by__in=kept).delete()
    rows.update(title=(instance.title or instance.original_name)[:500])


def save_column(review: Review, column: ReviewColumn) -> ReviewColumn:
    """Add or change a column. A change of question or type marks its filled cells as outdated."""
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
    """Add all of these columns, or none. Raise InvalidColumns with the error of each."""
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
    """Create the missing cells."""
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
    """Mark filled cells as outdated, except those written by users. Requeue cells that are being filled."""
    cells.filter(state=State.RUNNING).update(state=State.WAITING, revision=F("revision") + 1)
    filled = cells.filter(
        state__in=[State.FOUND, State.NOT_STATED, State.UNCLEAR, State.FAILED], by_person=False
    )
    return filled.update(state=State.STALE, revision=F("revision") + 1, updated_at=timezone.now())


def outdate_document(document: Document, **signal: Any) -> int:
    """Receiver of ``document_parsed``: mark cells as outdated that were filled from another version."""
    cells = ReviewCell.objects.filter(row__document=document).exclude(document_sha256="")
    return outdate(cells.exclude(document_sha256=document.sha256))


# --- Cells ---


def fillable(cells: QuerySet[ReviewCell], *, again: bool = False) -> QuerySet[ReviewCell]:
    """Return the cells that can be queued. ``again``: including filled ones."""
    chosen = cells.exclude(state__in=[State.WAITING, State.RUNNING])
    chosen = chosen.exclude(marks__revealed=False)  # the value must stay while reviewers mark it
    return chosen if again else chosen.filter(state__in=FILLABLE)


def fill_cells(cells: QuerySet[ReviewCell], *, again: bool = False) -> int:
    """Queue cells. Return their number."""
    chosen = fillable(cells, again=again)
    documents = Document.objects.filter(review_rows__cells__in=chosen).distinct()
    want_documents(documents)
    count = chosen.update(
        state=State.WAITING, error="", attempts=0, revision=F("revision") + 1, updated_at=timezone.now()
    )
    if count:
        transaction.on_commit(lambda: issue_tickets(count), robust=True)
    return count


def cancel_filling(review: Review) -> int:
    """Remove all waiting cells from the queue. Return their number. Cells being filled are finished."""
    waiting = ReviewCell.objects.filter(row__review=review, state=State.WAITING)
    stale = waiting.exclude(text="").update(
        state=State.STALE, revision=F("revision") + 1, updated_at=timezone.now()
    )
    return stale + waiting.update(state=State.EMPTY, revision=F("revision") + 1, updated_at=timezone.now())


def change_cell(cell_id: UUID, user: User, revision: int, changes: Mapping[str, str]) -> ReviewCell:
    """Write a cell's value (``text``), its ``mark`` or its ``comment``. Raise InvalidReview.

    ``revision`` is the one the user read. Raise StaleCell if the cell was changed after it.
    """
    with transaction.atomic():
        cells = ReviewCell.objects.select_for_update(of=("self",)).select_related("column", "row__review")
        cell = cells.get(pk=cell_id)
        if cell.revision != revision:
            raise StaleCell("This cell has changed since you opened it. Check it again.")
        if cell.row.review.blind:
            mark_blind(cell, user, changes)
            return cell
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
            check_mark(changes["mark"])
            cell.mark, cell.marked_by = changes["mark"], user if changes["mark"] else None
        if "comment" in changes:
            cell.comment = as_comment(changes["comment"])
        cell.revision += 1
        cell.save()
    return cell


def check_mark(mark: str) -> None:
    if mark not in ("", *ReviewCell.Mark.values):
        raise InvalidReview(_("A mark is “accepted”, “wrong” or empty."))


def as_comment(text: str) -> str:
    return text.replace("\x00", "").strip()[:2000]


# --- Blind marks ---


def mark_blind(cell: ReviewCell, user: User, changes: Mapping[str, str]) -> None:
    """Store the user's mark and comment separately from the cell, hidden from others. Raise InvalidReview."""
    if "text" in changes:
        raise InvalidReview(
            _("Values cannot be edited while marks are blind. Write the correct value in a comment.")
        )
    if cell.marks.filter(revealed=True).exists():
        raise InvalidReview(_("The marks of this cell were already shown, so they are final."))
    own = cell.marks.filter(user=user).first() or ReviewMark(cell=cell, user=user)
    if "mark" in changes:
        check_mark(changes["mark"])
        own.mark = changes["mark"]
    if "comment" in changes:
        own.comment = as_comment(changes["comment"])
    own.save()


def set_blind(review: Review, is_blind: bool) -> None:
    """Start or end blind marking. At the end, cells get the mark on which their reviewers agree."""
    with transaction.atomic():
        locked = Review.objects.select_for_update().get(pk=review.pk)
        if locked.blind and not is_blind:
            reveal(locked)
        Review.objects.filter(pk=review.pk).update(blind=is_blind)
    review.blind = is_blind


def reveal(review: Review) -> None:
    """Reveal the blind marks. A cell with equal marks gets that mark; any other stays unmarked."""
    cells = ReviewCell.objects.filter(row__review=review, marks__revealed=False).distinct()
    for cell in cells.prefetch_related("marks__user"):
        given = [mark for mark in cell.marks.all() if mark.mark]
        notes = [f"{mark.user.get_username()}: {mark.comment}" for mark in cell.marks.all() if mark.comment]
        keep_version(cell)
        if given:
            is_one = len({mark.mark for mark in given}) == 1
            cell.mark, cell.marked_by = (given[0].mark, given[0].user) if is_one else ("", None)
        cell.comment = "\n".join(filter(None, [cell.comment, *notes]))[:2000]
        cell.revision += 1
        cell.save()
    ReviewMark.objects.filter(cell__row__review=review).update(revealed=True)


@dataclass(frozen=True, slots=True)
class Agreement:
    """The agreement of two reviewers on the cells that both marked blindly.

    Attributes:
        cells: their number.
        agreed: the number with equal marks.
        both_accepted, both_wrong, first_only, second_only: the contingency table; ``first_only`` counts the
            cells that only the first accepted.
        kappa: Cohen's kappa, -1..1; None if chance agreement is complete, or there is no cell.
        disputed: the cells with different marks.
    """

    first: str
    second: str
    cells: int
    agreed: int
    both_accepted: int
    both_wrong: int
    first_only: int
    second_only: int
    kappa: float | None
    disputed: tuple[UUID, ...] = ()


def agreements(review: Review, user: User) -> list[Agreement]:
    """Return the agreement of each pair of reviewers on visible cells; [] while marks are blind."""
    if review.blind:
        return []
    cells = ReviewCell.objects.filter(row__review=review).visible_to(user)
    marks = ReviewMark.objects.filter(cell__in=cells, revealed=True).exclude(mark="").select_related("user")
    by_reviewer: dict[str, dict[UUID, bool]] = {}
    for mark in marks.order_by("cell__row__position", "cell__column__position"):
        accepted = mark.mark == ReviewCell.Mark.ACCEPTED
        by_reviewer.setdefault(mark.user.get_username(), {})[mark.cell_id] = accepted
    pairs = combinations(sorted(by_reviewer), 2)
    return [agreement(first, second, by_reviewer[first], by_reviewer[second]) for first, second in pairs]


def agreement(first: str, second: str, one: Mapping[UUID, bool], other: Mapping[UUID, bool]) -> Agreement:
    """Return Cohen's kappa (1960), (observed - chance) / (1 - chance), of the cells that both marked."""
    both = [cell for cell in one if cell in other]
    counts = Counter((one[cell], other[cell]) for cell in both)
    count, agreed = len(both), counts[True, True] + counts[False, False]
    kappa = None
    if count:
        accepted = (counts[True, True] + counts[True, False]) * (counts[True, True] + counts[False, True])
        wrong = (counts[False, False] + counts[False, True]) * (counts[False, False] + counts[True, False])
        chance = (accepted + wrong) / count**2
        kappa = None if chance == 1 else round((agreed / count - chance) / (1 - chance), 4)
    disputed = tuple(cell for cell in both if one[cell] != other[cell])
    table = (counts[True, True], counts[False, False], counts[True, False], counts[False, True])
    return Agreement(first, second, count, agreed, *table, kappa, disputed)


# --- New documents ---


def keep_reviews_going(**signal: Any) -> None:
    """Receiver of ``library_swept``: add rows for new documents, and resume unfinished cells.

    A saved search is repeated only if a document was indexed since the last time.
    """
    ReviewRow.objects.filter(document=None, added_by=None).delete()  # visible to no one
    joining = Review.objects.filter(deleted_at=None, joins=True).exclude(collection=None, search=None)
    newest = Document.objects.searchable().aggregate(newest=Max("indexed_at"))["newest"]
    for review in joining.select_related("owner", "collection", "search__user"):
        key = f"review-joined-{review.pk}"
        if review.search and (review.search_id, newest) == cache.get(key) and not review.collection:
            continue
        try:
            join_sources(review)
        except InvalidReview as error:
            logger.info("review %s: %s", review.pk, error)
        cache.set(key, (review.search_id, newest))
    recover()
