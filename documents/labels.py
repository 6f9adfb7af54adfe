"""Label a document among others, so that two with the same title can be told apart."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from uuid import UUID

from django.utils.timezone import localtime

from documents.models import Document
from text.terms import one_line


def file_label(document: Document) -> str:
    return document.original_name


def day_label(document: Document) -> str:
    return localtime(document.created_at).date().isoformat()


def moment_label(document: Document) -> str:
    return localtime(document.created_at).strftime("%Y-%m-%d %H:%M:%S")


def id_label(document: Document) -> str:
    return str(document.pk)[:8]


# What is added to a title that others have, from the most telling to the last resort.
ADDITIONS: tuple[Callable[[Document], str], ...] = (file_label, day_label, moment_label, id_label)


def distinct_labels(documents: Iterable[Document]) -> dict[UUID, str]:
    """Return a label for each document by id: its title, with the file's name where others have the title.

    Where the names are the same too, the day of the upload is added, or its time, or the id.
    """
    listed = {document.pk: document for document in documents}
    labels = {pk: one_line(document.title) or document.original_name for pk, document in listed.items()}
    for addition in ADDITIONS:
        for alike in shared(labels):
            added = {pk: addition(listed[pk]) for pk in alike}
            if len(set(added.values())) > 1:  # one that all have tells nothing apart
                labels |= {pk: f"{labels[pk]} ({text})" if text else labels[pk] for pk, text in added.items()}
    return labels


def labels_in_library(documents: Iterable[Document]) -> dict[UUID, str]:
    """Return a label for each document that no other document of its owner has. One query."""
    listed = list(documents)
    owners, titles = ({getattr(document, name) for document in listed} for name in ("owner_id", "title"))
    alike = Document.objects.filter(owner__in=owners, title__in=titles).sources()
    labels = distinct_labels([*alike, *listed])
    return {document.pk: labels[document.pk] for document in listed}


def shared(labels: dict[UUID, str]) -> Collection[list[UUID]]:
    """Return the groups of ids that have the same label, without regard to case."""
    groups: dict[str, list[UUID]] = defaultdict(list)
    for pk, label in labels.items():
        groups[label.casefold()].append(pk)
    return [alike for alike in groups.values() if len(alike) > 1]
