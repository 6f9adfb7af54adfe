"""Fill cells in the background: claim a row, answer, verify, store.

The cells are the queue. A task in django-q2 is only a ticket that means "fill the
next row", so a ticket that is lost or delivered twice does no harm. The owner with
the fewest cells in work comes next, so no user waits behind another's thousand.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import F, Q, QuerySet
from django.dispatch import Signal
from django.utils import timezone
from django_q.tasks import async_task

from chat.answers.without_model.answer import NAME as EXTRACTIVE
from chat.models import Citation
from chat.providers.base import Provider
from chat.providers.registry import provider_named
from documents.models import Document
from retrieval.provider_calls import ProviderError
from reviews.cell_answers import BrokenOff, Budget, answered, answered_together
from reviews.models import Review, ReviewCell, ReviewCellVersion, ReviewRow
from reviews.typed_values import FilledCell

review_filled = Signal()
"""Sent with ``review_id`` once the last waiting cell of a review has been filled. Receivers must be quick."""

logger = logging.getLogger(__name__)
TICKET = "reviews.tasks.fill_row"
CELLS_AT_ONCE = 10  # of one row; then the queue chooses again
MOST_ATTEMPTS = 3
TICKETS_AT_ONCE = 2
OUR_FAULT = "Something went wrong on the server. Ask again."
CUT_OFF = "Filling this cell was interrupted each time. Ask again."
State = ReviewCell.State


# --- The queue ---


def waiting_cells() -> QuerySet[ReviewCell]:
    """Return waiting cells that can be filled, and those of unreadable or deleted documents, which fail.

    Reviews of deactivated owners wait until these are active again.
    """
    is_ready = Q(row__document__in=Document.objects.searchable())
    is_ready |= Q(row__document__status=Document.Status.FAILED)
    is_ready |= Q(row__document__deleted_at__isnull=False) | Q(row__document=None)
    reviews = Review.objects.filter(deleted_at=None, owner__is_active=True)
    return ReviewCell.objects.filter(is_ready, state=State.WAITING, row__review__in=reviews)


def issue_tickets(count: int) -> None:
    for _ in range(min(count, TICKETS_AT_ONCE)):
        async_task(TICKET, group="review")


def fill_next_row() -> int:
    """Fill cells of the next row. Return their number. Issue another ticket while cells wait."""
    cells = claim_row()
    if not cells:
        return 0
    fill_row(cells)
    review = cells[0].row.review_id
    unfilled = ReviewCell.objects.filter(row__review=review, state__in=[State.WAITING, State.RUNNING])
    if not unfilled.exists():
        review_filled.send_robust(ReviewCell, review_id=review)
    if waiting_cells().exists():
        issue_tickets(1)
    return len(cells)


def claim_row() -> list[ReviewCell]:
    """Claim waiting cells of one row: of the owner with the fewest in work, then of the oldest review."""
    running = ReviewCell.objects.filter(state=State.RUNNING)
    in_work = Counter(running.values_list("row__review__owner", flat=True))
    owners = ("row__review__owner", "row__review__updated_at", "row__review")
    reviews = sorted(
        waiting_cells().order_by().values_list(*owners).distinct(),
        key=lambda found: (in_work[found[0]], *found[1:]),
    )
    ordered = waiting_cells().order_by("row__position", "row").values_list("row", flat=True).distinct()
    for row in (row for *_, review in reviews for row in ordered.filter(row__review=review)[:5]):
        with transaction.atomic():
            mine = waiting_cells().filter(row=row).order_by("column__position").select_for_update(
                skip_locked=True, of=("self",)
            )  # fmt: skip
            ids = list(mine.values_list("pk", flat=True)[:CELLS_AT_ONCE])
            ReviewCell.objects.filter(pk__in=ids).update(
                state=State.RUNNING,
                alive_at=timezone.now(),
                attempts=F("attempts") + 1,
                revision=F("revision") + 1,
                updated_at=timezone.now(),
            )
        if ids:
            cells = ReviewCell.objects.filter(pk__in=ids).select_related(
                "row__review__owner", "row__document", "row__added_by", "column"
            )
            return sorted(cells, key=lambda cell: cell.column.position)
    return []


def recover() -> None:
    """Requeue the cells of dead workers; issue a ticket if cells wait and none is being filled."""
    dead = ReviewCell.objects.dead()
    dead.filter(attempts__gte=MOST_ATTEMPTS).update(state=State.FAILED, error=CUT_OFF, alive_at=None)
    dead.update(state=State.WAITING, alive_at=None)
    if not ReviewCell.objects.filter(state=State.RUNNING).exists() and waiting_cells().exists():
        issue_tickets(1)


# --- One row ---


def fill_row(cells: Sequence[ReviewCell]) -> None:
    """Answer these cells of one row, and store answers or failures.

    A model answers them in one call. Cells missing from a truncated reply are tried again, up to
    ``MOST_ATTEMPTS`` times. A permanent failure stops the filling of the whole review.
    """
    row, start = cells[0].row, time.monotonic()
    try:
        user, document = reader_of(row)
        provider = provider_named(row.review.provider)
        if provider.name == EXTRACTIVE:
            for cell in cells:
                keep_alive(cells)
                fill(cell, document, user, provider)
            return
        budget = Budget(row.review_id)
        given = answered_together([cell.column for cell in cells], document, user, provider, budget)
    except ProviderError as error:
        give_up(cells, error)
        return
    except Exception:
        logger.exception("row %s failed", row.pk)
        give_up(cells, ProviderError(OUR_FAULT, permanent=True), whole_review=False)
        return
    share: dict[str, float] = {name: tokens // len(cells) for name, tokens in given.usage.items()}
    share["seconds"] = round((time.monotonic() - start) / len(cells), 2)
    for cell, filled in zip(cells, given.cells, strict=True):
        if filled is not None:
            store_or_requeue(cell, replace(filled, usage=share), provider.model or provider.name)
    if given.error and (
        left := [cell for cell, filled in zip(cells, given.cells, strict=True) if not filled]
    ):
        give_up(left, given.error)


def reader_of(row: ReviewRow) -> tuple[User, Document]:
    """Return the user whose rights apply to the row, and its document. Raise ProviderError without access."""
    if row.document is None:
        raise ProviderError("This document was deleted for good. The values in its row are kept.")
    if row.document.deleted_at:
        raise ProviderError("This document has been deleted. Restore it from the bin, then ask again.")
    if row.document.status == Document.Status.FAILED and not row.document.indexed_at:
        reason = row.document.failure_message or row.document.get_failure_code_display()
        raise ProviderError(f"This document could not be read: {reason}")
    if (
        row.added_by is None
        or not Document.objects.visible_to(row.added_by).filter(pk=row.document.pk).exists()
    ):
        raise ProviderError("The person who added this document no longer has access to it. Add it again.")
    return row.added_by, row.document


def fill(cell: ReviewCell, document: Document, user: User, provider: Provider) -> None:
    """Answer the cell's question without a model."""
    start = time.monotonic()
    try:
        filled = answered(cell.column, document, user, provider)
    except ProviderError as error:
        filled = FilledCell(State.FAILED, error=error.message)
    except Exception:
        logger.exception("cell %s failed", cell.pk)
        filled = FilledCell(State.FAILED, error=OUR_FAULT)
    store_or_requeue(
        cell, replace(filled, usage={"seconds": round(time.monotonic() - start, 2)}), provider.name
    )


def store_or_requeue(cell: ReviewCell, filled: FilledCell, answered_by: str) -> None:
    """Store the cell. Requeue it if its document was parsed again meanwhile, which replaced its passages."""
    try:
        store(cell, filled, answered_by)
    except IntegrityError:
        ReviewCell.objects.filter(pk=cell.pk, state=State.RUNNING).update(state=State.WAITING)


def give_up(cells: Sequence[ReviewCell], error: ProviderError, whole_review: bool = True) -> None:
    """Record a failure of cells. Retry after a temporary one; a permanent one stops the whole review.

    Earlier values stay, marked as outdated.
    """
    if not error.permanent and cells[0].attempts < MOST_ATTEMPTS and isinstance(error, BrokenOff):
        ReviewCell.objects.filter(pk__in=[cell.pk for cell in cells], state=State.RUNNING).update(
            state=State.WAITING, alive_at=None
        )
        return
    for cell in cells:
        store_or_requeue(cell, FilledCell(State.FAILED, error=error.message), "")
    if error.permanent and whole_review:
        waiting_too = ReviewCell.objects.filter(row__review=cells[0].row.review_id, state=State.WAITING)
        failed = {"error": error.message[:300], "revision": F("revision") + 1, "updated_at": timezone.now()}
        waiting_too.exclude(text="").update(state=State.STALE, **failed)
        waiting_too.update(state=State.FAILED, **failed)


def keep_alive(cells: Sequence[ReviewCell]) -> None:
    """Renew the heartbeat of these cells."""
    ReviewCell.objects.filter(pk__in=[cell.pk for cell in cells], state=State.RUNNING).update(
        alive_at=timezone.now()
    )


def store(cell: ReviewCell, filled: FilledCell, answered_by: str) -> None:
    """Store the answer, unless the cell was changed meanwhile; the earlier content becomes a version.

    After a failure an earlier value stays, marked as outdated.
    """
    with transaction.atomic():
        locked = ReviewCell.objects.select_for_update().get(pk=cell.pk)
        if locked.state != State.RUNNING or locked.revision != cell.revision:
            return
        locked.alive_at, locked.attempts = None, 0
        locked.revision += 1
        if filled.state == State.FAILED and locked.text:
            locked.state, locked.error = State.STALE, filled.error[:300]
            locked.save()
            return
        keep_version(locked)
        locked.citations.all().delete()
        locked.state, locked.value, locked.text = filled.state, filled.value, filled.text
        locked.error, locked.usage = filled.error[:300], filled.usage or {}
        locked.answered_by, locked.by_person, locked.mark, locked.marked_by = answered_by, False, "", None
        locked.document_sha256 = cell.row.document.sha256 if cell.row.document else ""
        locked.save()
        for number, citation in enumerate(filled.citations):
            citation.message_id, citation.position, citation.number = None, number, number + 1
        Citation.objects.bulk_create(filled.citations)
        locked.citations.set(filled.citations)


def keep_version(cell: ReviewCell) -> None:
    """Store the content of a cell as a version before it changes, unless it is empty."""
    if cell.text or cell.mark:
        ReviewCellVersion.objects.create(
            cell=cell,
            state=cell.state,
            value=cell.value,
            text=cell.text,
            answered_by=cell.answered_by,
            mark=cell.mark,
        )
