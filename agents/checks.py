"""Verify claims and locate quotes in a text or file that is not in the library.

A worker checks long files. The rows are the queue; a ticket in django-q only makes a worker look at it.
"""

from __future__ import annotations

import json
import logging
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.files.base import ContentFile, File
from django.db import transaction
from django.utils import timezone
from django_q.tasks import async_task

from agents.evidence import TOO_MUCH, VERIFIED_AGAINST, Refused, preference
from agents.models import Event, FileCheck
from agents.results import LocatedText, VerifiedText, part, verdict_read
from agents.webhooks import announce
from citing.anchoring.file_pages import FilePages, find_in_file
from citing.anchoring.find_quote import find_quote
from citing.batch import page_units, passage_units
from citing.claim_spans import terms_of
from citing.claims import Claim, SourceUnit, Verification
from citing.verdict import page_of_unit, verify, with_quote_sought
from documents.files.uploads import UploadRefused, scan
from documents.ingestion.parser import parse_limits
from pdf.api import ParseFailure, parse_file
from pdf.geometry import PageFrame
from text.budget import OverBudget, ProcessorBudget, Stopped

logger = logging.getLogger(__name__)
MOST_PAGES = 60  # of a file that is checked within the request
MOST_PAGES_LATER = 2000  # of a file that a worker checks
MOST_CHECKS = 5  # of one user, waiting or running
BESIDE = 30  # units before and after a unit that are read with it, as heads of tables
CHECK_SECONDS_LATER = 300.0  # of processor time, in a worker
TICKET = "agents.checks.check_due"
TOO_LONG = "This file has {pages} pages; {most} can be checked. Add it to the library and check it there."
TOO_MANY = "{} checks of yours are waiting. Send this one when they have ended."
FAILED = "This check could not be made."


class TooLong(Refused):
    """The file has more pages than a request may read."""


class Checker:
    """Verify claims by the units of one text or file."""

    def __init__(self, units: Sequence[SourceUnit], frames: dict[int, PageFrame]) -> None:
        self._units = [(unit, terms_of(unit.text)) for unit in units]
        self._places = {id(unit): place for place, unit in enumerate(units)}
        self._frames = frames

    @classmethod
    def of_text(cls, text: str, language: str = "", title: str = "") -> Checker:
        """Return a checker of a Markdown text. Raises Refused for a text without words."""
        units = passage_units(text, language, title)
        if not units:
            raise Refused("The text is empty.")
        return cls(units, {})

    @classmethod
    def of_file(
        cls, file: File, title: str, most: int = MOST_PAGES, budget: ProcessorBudget | None = None
    ) -> Checker:
        """Return a checker of a PDF. Raises TooLong for more pages, Refused for an unreadable file."""
        with kept_for_now(file) as path:
            try:
                progress = (lambda *_: budget.check()) if budget else None
                pages = range(1, most + 1)
                parsed = parse_file(path, limits=parse_limits(), pages=pages, on_progress=progress)
            except ParseFailure as failure:
                raise Refused(failure.message) from None
        if parsed.page_count > most:
            raise TooLong(TOO_LONG.format(pages=parsed.page_count, most=most))
        units = [unit for page in parsed.pages for unit in page_units(page, "file", title)]
        if not units:
            raise Refused("No words were found in this file.")
        return cls(units, {page.number: page.frame for page in parsed.pages})

    def verify(
        self, claim: str, quote: str = "", page: int | None = None, budget: ProcessorBudget | None = None
    ) -> VerifiedText:
        """Return the verdict by the units that share most words with the claim and its quote.

        Raises OverBudget between two units.
        """
        said = terms_of(f"{claim} {quote}")
        near = [(unit, terms) for unit, terms in self._units if page in (None, unit.page)]
        if not near:
            raise Refused(f"There are no words on page {page}.")
        near.sort(key=lambda pair: -len(said & pair[1]))
        made = Claim(claim, quote)
        shortlist = [unit for unit, _ in near[:VERIFIED_AGAINST]]
        verified = []
        for unit in shortlist:
            if budget:
                budget.check()
            verified.append(verify(made, unit, self._beside(unit, shortlist)))
            if verified[-1].verdict == "exact":
                break
        pages = (page_of_unit(unit) for unit, _ in self._units)
        best = with_quote_sought(min(verified, key=preference), lambda: find_quote(list(pages), quote))
        return self._result(best)

    def _beside(self, unit: SourceUnit, shortlist: Sequence[SourceUnit]) -> list[SourceUnit]:
        """Return the units around this one on its page, in order, and those of the shortlist there."""
        listed = {id(other) for other in shortlist}
        at = self._places[id(unit)]
        return [
            other
            for place, (other, _) in enumerate(self._units)
            if other.page == unit.page
            and other is not unit
            and (abs(place - at) <= BESIDE or id(other) in listed)
        ]

    def _result(self, found: Verification) -> VerifiedText:
        frame = self._frames.get(found.page)
        return verdict_read(
            VerifiedText,
            found,
            page=found.page if frame else None,
            rects=part(found.page, frame, found.rects).rects if frame else [],
        )


def check_file(
    kind: FileCheck.Kind,
    file: File,
    title: str,
    wanted: Sequence[dict[str, Any]],
    budget: ProcessorBudget,
    most: int = MOST_PAGES,
) -> list[dict[str, Any]]:
    """Return a result for each claim or quote, as JSON. Raises TooLong, Refused, OverBudget."""
    if kind == FileCheck.Kind.LOCATE:
        quotes = [(quoted["quote"], quoted["context"]) for quoted in wanted]
        return [found.model_dump() for found in locate_in_file(file, quotes, budget, most)]
    if str(file.name).endswith(TEXT):
        kept = json.load(file)
        checker = Checker.of_text(kept["text"], kept["language"], title)
    else:
        checker = Checker.of_file(file, title, most, budget)
    return [checker.verify(**claim, budget=budget).model_dump() for claim in wanted]


TEXT = ".text.json"


def check_text_later(
    owner: User, text: str, language: str, title: str, wanted: Sequence[dict[str, Any]]
) -> FileCheck:
    """Store the text until a worker has checked it. Raises Refused for a user with too many checks."""
    kept = ContentFile(json.dumps({"text": text, "language": language}).encode())
    return check_later(owner, FileCheck.Kind.VERIFY, kept, title, wanted, TEXT)


def check_later(
    owner: User,
    kind: FileCheck.Kind,
    file: File,
    title: str,
    wanted: Sequence[dict[str, Any]],
    end: str = ".pdf",
) -> FileCheck:
    """Store the file until a worker has checked it. Raises Refused for a user with too many checks."""
    if FileCheck.objects.visible_to(owner).unfinished().count() >= MOST_CHECKS:
        raise Refused(TOO_MANY.format(MOST_CHECKS))
    file.seek(0)
    check = FileCheck(owner=owner, kind=kind, title=title, wanted=list(wanted))
    check.file.save(f"{check.pk}{end}", file)
    transaction.on_commit(lambda: async_task(TICKET, group="checks"), robust=True)
    return check


def check_due() -> int:
    """Run the checks that are due; return their number."""
    checked = 0
    while check := _claimed():
        check.status, check.error = FileCheck.Status.DONE, ""
        budget = CancellableBudget(check)
        try:
            kind = FileCheck.Kind(check.kind)
            with check.file.open("rb") as file:
                check.results = check_file(kind, file, check.title, check.wanted, budget, MOST_PAGES_LATER)
        except Stopped:
            check.file.delete(save=False)
            continue
        except OverBudget:
            check.status, check.error = FileCheck.Status.FAILED, TOO_MUCH
        except Refused as refused:
            check.status, check.error = FileCheck.Status.FAILED, str(refused)[:500]
        except Exception:
            logger.exception("a check of a file failed")
            check.status, check.error = FileCheck.Status.FAILED, FAILED
        check.file.delete(save=False)
        check.save(update_fields=["status", "results", "error", "file"])
        announce(Event.CHECK_DONE, check.owner_id, {"check": str(check.pk), "status": check.status})
        checked += 1
    return checked


class CancellableBudget(ProcessorBudget):
    """The budget of a check by a worker. It is stopped when the check's row is deleted.

    Each call of ``check`` renews the time since which the check makes progress, at most once a second.
    """

    __slots__ = ("_renewed", "_row")

    def __init__(self, check: FileCheck) -> None:
        super().__init__(CHECK_SECONDS_LATER)
        self._renewed = 0.0
        self._row = FileCheck.objects.filter(pk=check.pk, owner__is_active=True)

    def check(self) -> None:
        if (now := time.monotonic()) - self._renewed >= 1:
            self._renewed = now
            if not self._row.update(started_at=timezone.now()):
                self.stop()
        super().check()


def _claimed() -> FileCheck | None:
    """Claim the first check that is due, or None. A check whose worker died before fails."""
    with transaction.atomic():
        while check := FileCheck.objects.due().select_for_update(skip_locked=True).first():
            was_lost = check.status == FileCheck.Status.RUNNING
            check.status = FileCheck.Status.FAILED if was_lost else FileCheck.Status.RUNNING
            check.started_at, check.error = timezone.now(), FAILED if was_lost else ""
            check.save(update_fields=["status", "started_at", "error"])
            if not was_lost:
                return check
            check.file.delete()
    return None


def sweep(sender: object, **more: Any) -> None:
    """Issue a ticket if a check is due; delete old checks with their files."""
    FileCheck.objects.outdated().delete()
    if FileCheck.objects.due().exists():
        async_task(TICKET, group="checks")


def forget_file(sender: object, instance: FileCheck, **more: Any) -> None:
    instance.file.delete(save=False)


def locate_in_file(
    file: File, quotes: Sequence[tuple[str, str]], budget: ProcessorBudget, most: int = MOST_PAGES
) -> list[LocatedText]:
    """Locate each (quote, context) in a PDF. Raises TooLong for more pages, Refused if it is unreadable."""
    with kept_for_now(file) as path:
        pages = FilePages(path, parse_limits())
        try:
            count = len(pages.printed)
        except ParseFailure as failure:
            raise Refused(failure.message) from None
        if count > most:
            raise TooLong(TOO_LONG.format(pages=count, most=most))
        found = []
        for quote, context in quotes:
            budget.check()
            found.append(_located(pages, quote, context))
        return found


def _located(pages: FilePages, quote: str, context: str) -> LocatedText:
    anchor = find_in_file(pages, quote, context)
    if anchor is None:
        return LocatedText(verdict="none", text="", parts=[])
    parts = [part(found.page.number, found.page.frame, found.rects) for found in anchor.parts]
    return LocatedText(verdict=anchor.verdict, text=anchor.text, parts=parts)


@contextmanager
def kept_for_now(file: File) -> Iterator[Path]:
    """Write the file to disk during the block, after the virus scan if configured. Raises Refused."""
    try:
        scan(file)
    except UploadRefused as refused:
        raise Refused(str(refused)) from None
    with tempfile.NamedTemporaryFile(suffix=".pdf") as kept:
        for piece in file.chunks():
            kept.write(piece)
        kept.flush()
        yield Path(kept.name)
