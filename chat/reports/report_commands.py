"""Make reports. All raise InvalidReport with a message for the user."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib.auth.models import User

from chat.models import Report
from chat.reports.compared_versions import MOST_VERSIONS
from chat.reports.report_queue import start
from documents.models import Document


class InvalidReport(Exception):
    """The report cannot be made so; the message is for the user."""


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
