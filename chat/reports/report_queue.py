"""Work on reports in the background. The rows are the queue; a task of django-q2 is only a ticket."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import override
from django_q.tasks import async_task

from chat.answers.without_model.answer import NAME as EXTRACTIVE
from chat.models import Report
from chat.models.report import DEAD_AFTER
from chat.providers.base import Cancelled
from chat.providers.budget import BudgetSpent
from chat.providers.registry import provider_named
from chat.reports.compared_versions import compare_documents
from chat.reports.evidence_report import evidence_table
from chat.reports.report_sections import add_section, scope_of_report, sections_of
from chat.reports.written_report import conclude, interface_language, propose_outline, write_section
from retrieval.provider_calls import ProviderError
from retrieval.query.scope import Scope

logger = logging.getLogger(__name__)
TICKET = "chat.tasks.work_on_report"
MOST_ATTEMPTS = 3
OUR_FAULT = "Something went wrong on the server. Start it again."
State = Report.State


def start(report: Report) -> None:
    """Queue the work; what was done before is kept."""
    changed = Report.objects.filter(pk=report.pk).exclude(state__in=[State.WAITING, State.RUNNING])
    if changed.update(state=State.WAITING, error="", attempts=0, updated_at=timezone.now()):
        transaction.on_commit(lambda: async_task(TICKET, group="report"), robust=True)
    report.refresh_from_db()


def pause(report: Report) -> None:
    """Stop after the present step, or within seconds while a model writes; ``start`` goes on from there."""
    end(report, State.PAUSED, [State.WAITING, State.RUNNING])


def cancel(report: Report) -> None:
    """Stop for good; what was written stays in its note."""
    end(report, State.CANCELLED, [State.DRAFT, State.WAITING, State.RUNNING, State.PAUSED, State.FAILED])


def end(report: Report, state: State, states: Sequence[State]) -> None:
    found = Report.objects.filter(pk=report.pk, state__in=states)
    found.update(state=state, alive_at=None, updated_at=timezone.now())
    report.refresh_from_db()


def due() -> QuerySet[Report]:
    """Return waiting reports of active owners, and those whose worker died."""
    dead = Q(state=State.RUNNING, alive_at__lt=timezone.now() - DEAD_AFTER)
    return Report.objects.filter(dead | Q(state=State.WAITING), deleted_at=None, owner__is_active=True)


def claim() -> Report | None:
    """Return the oldest waiting report, or one whose worker died, now marked as in progress."""
    with transaction.atomic():
        found = due().order_by("updated_at").select_for_update(skip_locked=True, of=("self",)).first()
        if found is None:
            return None
        found.attempts += 1
        found.state = State.RUNNING if found.attempts <= MOST_ATTEMPTS else State.FAILED
        found.error = "" if found.state == State.RUNNING else OUR_FAULT
        found.alive_at = timezone.now()
        found.save(update_fields=["attempts", "state", "error", "alive_at", "updated_at"])
    return found if found.state == State.RUNNING else None


def work_on_next() -> bool:
    """Work on one report until a section is done, or it is paused or failed. Return whether there was one."""
    report = claim()
    if report is None:
        return False
    started, documents = time.monotonic(), readable_documents(report)
    try:
        WORK[report.kind](report)
    except Cancelled:
        pass  # it was paused or cancelled, which its state says
    except BudgetSpent as spent:
        finish(report, State.PAUSED, error=spent.message[:300])
    except ProviderError as error:
        finish(report, State.FAILED, error=error.message[:300])
    except Exception:
        if readable_documents(report) < documents:  # one was deleted meanwhile: again without it
            finish(report, State.WAITING)
        else:
            logger.exception("report %s failed", report.pk)
            finish(report, State.FAILED, error=OUR_FAULT)
    Report.objects.filter(pk=report.pk).update(seconds=report.seconds + time.monotonic() - started)
    if due().exists():
        async_task(TICKET, group="report")
    return True


def readable_documents(report: Report) -> int:
    return Scope(report.owner, document_ids=tuple(report.documents)).documents().count()


def finish(report: Report, state: State, **changes: Any) -> None:
    """Store the end of the work, unless it was paused meanwhile."""
    running = Report.objects.filter(pk=report.pk, state=State.RUNNING)
    running.update(state=state, alive_at=None, updated_at=timezone.now(), **changes)


def compare_versions(report: Report) -> None:
    result = compare_documents(report)
    finish(report, State.DONE, result=msgspec.to_builtins(result))


def write_next_section(report: Report) -> None:
    """Propose the outline, or write one section; then other reports have their turn."""
    provider = provider_named(report.provider)
    sections = sections_of(report)
    if not sections:
        outline = msgspec.to_builtins(propose_outline(report, provider))
        finish(report, State.DRAFT, outline=outline)
        return
    section = next((one for one in sections if not one.is_done), None)
    if section and provider.name == EXTRACTIVE:
        with override(interface_language(section.title)):
            content, citations = evidence_table(section.title, scope_of_report(report))
        add_section(report, section, content, citations, sections)
    elif section:
        write_section(report, sections, provider)
    if all(one.is_done for one in sections):
        conclude(report, sections)
        finish(report, State.DONE)
    else:
        finish(report, State.WAITING)


WORK: dict[str, Callable[[Report], None]] = {
    Report.Kind.VERSIONS: compare_versions,
    Report.Kind.REPORT: write_next_section,
}


def recover(**signal: Any) -> None:
    """Receiver of ``library_swept``: issue a ticket if a report waits or its worker died."""
    if due().exists():
        async_task(TICKET, group="report")
