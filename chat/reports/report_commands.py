"""Make reports. All raise InvalidReport with a message for the user."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
from django.contrib.auth.models import User

from chat.answers.without_model.answer import NAME as EXTRACTIVE
from chat.models import Report
from chat.providers.registry import provider_named
from chat.reports.compared_versions import MOST_VERSIONS
from chat.reports.report_queue import start
from chat.reports.report_sections import (
    MOST_SECTIONS,
    ReportSection,
    outline_of,
    proposed_outline,
    sections_of,
)
from documents.labels import distinct_labels
from documents.models import Document
from retrieval.provider_calls import ProviderError


class InvalidReport(Exception):
    """The report cannot be made so; the message is for the user."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The budget of a report, in all; None: no limit."""

    tokens: int | None = None
    minutes: int | None = None


NO_LIMITS = Limits()


def new_report(
    user: User,
    question: str,
    documents: Sequence[Document],
    outline: str = "",
    provider: str = "",
    limits: Limits = NO_LIMITS,
) -> Report:
    """Write on each line of an outline in the background.

    Without an outline, it is proposed, by the model if there is one; the report is a draft until ``begin``.
    """
    title = " ".join(question.replace("\x00", " ").split())[:1000]
    if not title:
        raise InvalidReport("Write the question of the report.")
    try:
        writes = provider_named(provider).name != EXTRACTIVE
    except ProviderError as error:
        raise InvalidReport(error.message) from None
    made = Report(owner=user, title=title, documents=[one.pk for one in documents], provider=provider)
    set_plan(made, outline if outline.strip() or writes else proposed_outline(title), limits)
    made.save()
    if outline.strip() or writes:
        start(made)
    return made


def begin(report: Report, outline: str | None = None, limits: Limits | None = None) -> None:
    """Start a draft or go on with a report, with a changed outline or budget. Sections done stay."""
    if report.is_working or report.state in (Report.State.DONE, Report.State.CANCELLED):
        raise InvalidReport("This report is being written, or ended already.")
    if report.kind == Report.Kind.REPORT:
        set_plan(report, outline, limits)
        report.save(update_fields=["outline", "most_tokens", "most_minutes", "updated_at"])
    start(report)


def set_plan(report: Report, outline: str | list[ReportSection] | None, limits: Limits | None) -> None:
    """Set what is not done of the outline, and the budget. None leaves it."""
    if outline is not None:
        done = [one for one in sections_of(report) if one.is_done]
        before = {one.title: one for one in sections_of(report) if not one.is_done}
        given = outline_of(outline) if isinstance(outline, str) else outline
        sections = done + [before.get(one.title, one) for one in given]
        if not sections and report.outline:
            raise InvalidReport("Write at least one section.")
        if len(sections) > MOST_SECTIONS:
            raise InvalidReport(f"A report has at most {MOST_SECTIONS} sections.")
        report.outline = msgspec.to_builtins(sections)
    if limits is not None:
        report.most_tokens, report.most_minutes = limits.tokens, limits.minutes


def new_versions(user: User, documents: Sequence[Document], title: str = "") -> Report:
    """Compare documents, in this order, in the background."""
    if len({document.pk for document in documents}) < 2:
        raise InvalidReport("Choose at least two documents to compare.")
    if len(documents) > MOST_VERSIONS:
        raise InvalidReport(f"At most {MOST_VERSIONS} versions are compared at once.")
    made = Report.objects.create(
        owner=user,
        kind=Report.Kind.VERSIONS,
        title=(title or " → ".join(distinct_labels(documents).values()))[:1000],
        documents=[document.pk for document in documents],
    )
    start(made)
    return made
