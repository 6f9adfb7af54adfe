"""Make reports. All raise InvalidReport with a message for the user."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from django.contrib.auth.models import User

from chat.models import Report
from chat.reports.compared_versions import MOST_VERSIONS
from chat.reports.evidence_report import MOST_SECTIONS, outline_of, proposed_outline
from chat.reports.report_queue import start
from documents.models import Document


class InvalidReport(Exception):
    """The report cannot be made so; the message is for the user."""


def new_report(user: User, question: str, documents: Sequence[Document], outline: str = "") -> Report:
    """Gather the evidence on each line of an outline, of the question if there is none, in the background."""
    title = " ".join(question.replace("\x00", " ").split())[:1000]
    if not title:
        raise InvalidReport("Write the question of the report.")
    sections = outline_of(outline) or proposed_outline(title)
    if len(sections) > MOST_SECTIONS:
        raise InvalidReport(f"A report has at most {MOST_SECTIONS} sections.")
    made = Report.objects.create(
        owner=user,
        title=title,
        documents=[document.pk for document in documents],
        outline=msgspec.to_builtins(sections),
    )
    start(made)
    return made


def new_versions(user: User, documents: Sequence[Document], title: str = "") -> Report:
    """Compare documents, in this order, in the background."""
    if len({document.pk for document in documents}) < 2:
        raise InvalidReport("Choose at least two documents to compare.")
    if len(documents) > MOST_VERSIONS:
        raise InvalidReport(f"At most {MOST_VERSIONS} versions are compared at once.")
    made = Report.objects.create(
        owner=user,
        kind=Report.Kind.VERSIONS,
        title=(title or " → ".join(document.title for document in documents))[:1000],
        documents=[document.pk for document in documents],
    )
    start(made)
    return made
