"""OCR of scanned pages in the background, until each is recognised or has a failure.

The parser marks such pages (``ParsedPage.awaits``), so that a document with text is searchable at once.
Here they are recognised page by page under the document's lease, and each result is stored at once.
``pipeline.add_recognised_pages`` repeats the layout at intervals with the results so far; unchanged pages,
units and chunks keep their ids, citations and vectors.

A worker that dies loses only its current page. Documents in the ingestion queue go first.
"""

from __future__ import annotations

import logging
import os
import time
import uuid
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.db.models import F, Max, OuterRef, Q, QuerySet, Subquery, Sum
from django.utils import timezone

from documents.failures import IngestionFailure
from documents.ingestion.leases import (
    UNLEASED,
    Lease,
    acquire_for_recognition,
    free,
    host,
    locked,
    sigterm_deferred,
)
from documents.ingestion.parser import local_file, parse_limits
from documents.ingestion.pipeline import (
    add_recognised_pages,
    give_up_pages,
    mark_failed,
    mark_ready,
    release,
    work_on,
)
from documents.ingestion.queue import issue_recognition_tickets, waiting_documents
from documents.models import UNFINISHED, Document, Page
from documents.models.content import PageQuerySet
from pdf.api import recognise_pages
from pdf.failures import FailureCode, ParseFailure, recognition_failure
from pdf.sandbox.messages import PageNotRecognised, PageRecognised
from pdf.sandbox.progress import processor_seconds

logger = logging.getLogger(__name__)

# Processor time after which a worker turns to another document: starting a reader costs some two seconds.
SLICE_SECONDS = 30.0
# Repeat the layout when recognition has taken this many times as long as the last layout.
LAYOUT_INTERVAL = 5.0
FIRST_LAYOUT_SECONDS = 3.0
# Pages after the displayed one that are recognised early.
READ_AHEAD = 3

Yields = Callable[[], bool]


@dataclass(slots=True)
class LayoutSchedule:
    """Decide when to repeat the layout with the pages recognised so far."""

    due_after: float = FIRST_LAYOUT_SECONDS
    since: float = field(default_factory=time.monotonic)

    @property
    def is_due(self) -> bool:
        return time.monotonic() - self.since >= self.due_after

    def laid_out(self, seconds: float) -> None:
        self.due_after = max(FIRST_LAYOUT_SECONDS, LAYOUT_INTERVAL * seconds)
        self.since = time.monotonic()


def recognise_document(
    document_id: uuid.UUID, yields: Yields = lambda: False, *, background: bool = False
) -> bool:
    """Recognise the waiting pages of one document in this process, until ``yields()``.

    ``background``: at a low priority, except for pages that a user is looking at.

    Return False when the document is leased, or no page waits.
    """
    with sigterm_deferred():
        lease = acquire_for_recognition(document_id)
        if lease is not None:
            work_on(lease, lambda held: recognise(held, yields, background), requeue_or_fail)
    return lease is not None


def next_to_recognise() -> uuid.UUID | None:
    """Return the document requested last; else the oldest of the owner served least recently."""
    wanted = Page.objects.filter(document__in=recognisable(), wanted_at__isnull=False)
    if key := wanted.awaiting_recognition().order_by("-wanted_at").values_list("document", flat=True).first():
        return key
    owned = Document.objects.filter(owner=OuterRef("owner")).order_by().values("owner")
    found = recognisable().annotate(
        served=Subquery(owned.annotate(last=Max("started_at")).values("last")),
        only_pictures=Q(pages_waiting=0),
    )
    order = ("only_pictures", F("served").asc(nulls_first=True), "created_at")
    return found.order_by(*order).values_list("pk", flat=True).first()


def is_limit_reached() -> bool:
    """Return whether this machine's limit is reached: all workers but one, at least one."""
    here = Document.objects.filter(
        status=Document.Status.RECOGNISING,
        lease_expires_at__gte=timezone.now(),
        lease_holder__startswith=f"{host()}:",
    )
    return here.count() >= max(1, settings.Q_CLUSTER["workers"] - 1)


def recognisable() -> QuerySet[Document]:
    return Document.objects.filter(free(), status=Document.Status.RECOGNISING, deleted_at=None)


def in_turn() -> Yields:
    """Yield to queued documents at once, and to other scanned documents after ``SLICE_SECONDS``."""
    own = [os.getpid()]
    ends = processor_seconds(own) + SLICE_SECONDS
    return lambda: waiting_documents().exists() or (processor_seconds(own) > ends and recognisable().exists())


def prioritise_pages(document: Document, number: int, ahead: int = READ_AHEAD) -> None:
    """Prioritise a page that a user is looking at, and those after it.

    A repeated request changes nothing: a waiting reader repeats it every few seconds, and each change of the
    order restarts the recognition process.
    """
    if not (document.pages_waiting or document.pictures_waiting):
        return
    waiting_pages = document.pages.awaiting_recognition()
    pages = waiting_pages.filter(number__range=(number, number + ahead))
    last = waiting_pages.aggregate(last=Max("wanted_at"))["last"]
    if set(pages.values_list("wanted_at", flat=True)) - ({last} if last else set()):
        pages.update(wanted_at=timezone.now())


def want_documents(documents: QuerySet[Document]) -> None:
    """Prioritise the pages of documents that a user asks about."""
    unread = documents.filter(status__in=UNFINISHED)
    Page.objects.filter(document__in=unread).awaiting_recognition().update(wanted_at=timezone.now())


def pages_left(documents: QuerySet[Document]) -> int:
    """Return the number of pages that await OCR and cannot be found yet.

    Includes documents that are being indexed again with recognised pages.
    """
    unread = documents.filter(status__in=UNFINISHED)
    return unread.aggregate(pages=Sum("pages_waiting"))["pages"] or 0


def recognise(lease: Lease, yields: Yields, background: bool) -> None:
    """Recognise pages, repeat the layout, release. Raises LostLease, ParseFailure, IngestionFailure."""
    schedule = LayoutSchedule()
    while pages_of(lease).awaiting_recognition().exists() and not yields():
        recognise_in_order(lease, schedule, yields, background)
    if pages_of(lease).awaiting_layout().exists():
        add_recognised_pages(lease)
    if pages_of(lease).awaiting_recognition().exists():
        release(lease, Document.Status.RECOGNISING)
    else:
        mark_ready(lease)
    if recognisable().exists():
        transaction.on_commit(lambda: issue_recognition_tickets(1), robust=True)


def recognise_in_order(lease: Lease, schedule: LayoutSchedule, yields: Yields, background: bool) -> None:
    """Recognise waiting pages until none is left, ``yields()``, or a user requests another page."""
    document = lease.row.get()
    pages = list(pages_of(lease).awaiting_recognition().in_order_of_need())
    wanted = max((page.wanted_at for page in pages if page.wanted_at), default=None)
    if urgent := urgent_pages(pages, wanted):
        pages, background = urgent, False
    numbers = [page.number for page in pages]
    with (
        local_file(document.file) as path,
        closing(results_of(path, numbers, background, lambda: requested_since(lease, wanted))) as answers,
    ):
        # Let the child finish a single page: then the layout can use it. Starting another takes seconds.
        for page, answer in zip(pages, answers if len(pages) > 1 else list(answers), strict=False):
            store_result(lease, answer)
            if schedule.is_due or (page.wanted_at and page is pages[0]):
                began = time.monotonic()
                add_recognised_pages(lease)
                schedule.laid_out(time.monotonic() - began)
            if yields() or requested_since(lease, wanted):
                return


def urgent_pages(pages: Sequence[Page], wanted: datetime | None) -> list[Page]:
    """Return the page requested last, once it is done those after it; [] for a request of a whole document.

    Pages recognised beside it would compete for the processor with it and with the layout that shows it.
    """
    latest = [page for page in pages if wanted and page.wanted_at == wanted]
    if len(latest) > 1 + READ_AHEAD:
        return []
    return latest[:1] if len(latest) == 1 + READ_AHEAD else latest


def results_of(
    path: Path, numbers: Sequence[int], background: bool, is_over: Yields
) -> Generator[PageRecognised | PageNotRecognised]:
    """Yield the result of each page, in order. A crash of the child fails the page it was at."""
    answered = 0
    with closing(
        recognise_pages(path, numbers, limits=parse_limits(), background=background, is_over=is_over)
    ) as answers:
        try:
            for answer in answers:
                yield answer
                answered += 1
        except ParseFailure as failure:
            logger.info("recognition failed", extra={"code": failure.code, "detail": failure.detail})
            if answered < len(numbers):
                yield PageNotRecognised(numbers[answered], failure.code, failure.detail)


def requested_since(lease: Lease, wanted: datetime | None) -> bool:
    """Return whether a page was requested later than ``wanted``."""
    latest = pages_of(lease).awaiting_recognition().aggregate(latest=Max("wanted_at"))["latest"]
    return latest is not None and (wanted is None or latest > wanted)


def pages_of(lease: Lease) -> PageQuerySet:
    return Page.objects.filter(document=lease.document_id)


def store_result(lease: Lease, answer: PageRecognised | PageNotRecognised) -> None:
    """Store the result of one page. Raises LostLease."""
    with locked(lease):
        page = pages_of(lease).filter(number=answer.number)
        if isinstance(answer, PageRecognised):
            page.update(recognised=answer.packed)
            lease.update(attempts=0)
        else:
            more = {"page": answer.number, "code": answer.code, "detail": answer.detail}
            logger.info("page not recognised", extra=more)
            page.update(tries=F("tries") + 1, failure=recognition_failure(answer.code))


def requeue_or_fail(lease: Lease, error: Exception) -> None:
    """Requeue a document whose recognition failed as a whole, or give up after the last attempt."""
    is_final = isinstance(error, ParseFailure) and error.code == FailureCode.NO_TEXT
    if is_final or isinstance(error, IngestionFailure):  # e.g. the embedding service is unreachable
        mark_failed(lease, error)
        return
    document = lease.row.first()
    if document is None:
        return
    is_indexed = document.status == Document.Status.RECOGNISING
    if document.attempts < settings.INGEST_MAX_ATTEMPTS:
        status = Document.Status.RECOGNISING if is_indexed else Document.Status.UPLOADED
        lease.row.update(status=status, **UNLEASED)
    elif is_indexed:
        give_up(lease.row)
    else:
        mark_failed(lease, error)


def give_up(documents: QuerySet[Document]) -> None:
    """End the recognition of documents that failed each time; record it on their waiting pages."""
    give_up_pages(documents, recognition_failure(FailureCode.INTERNAL))
    documents.update(status=Document.Status.READY, progress=1, attempts=0, **UNLEASED)
