"""The library: search, filter and sort documents; move them to the trash; delete them for good."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.core.paginator import Page, Paginator
from django.db import IntegrityError, connections, transaction
from django.db.models import Case, Exists, OuterRef, Prefetch, Q, QuerySet, Subquery, When
from django.db.models.fields.files import FieldFile
from django.http import QueryDict
from django.utils import timezone

from documents.models import UNFINISHED, Collection, Document, Job, PreviousVersion, Tag
from documents.models.document import DocumentQuerySet, files_of
from documents.models.library import reachable, uuid_or_none
from documents.signals import document_deleted

ORDERS = {
    "newest": ("-created_at",),
    "oldest": ("created_at",),
    "title": ("title", "-created_at"),
    "pages": ("-page_count", "title"),
    "year": ("-year", "title"),
}
CARDS_A_PAGE = 48
STATES: dict[str, tuple[str, ...]] = {
    "ready": (Document.Status.READY,),
    "working": UNFINISHED,
    "failed": (Document.Status.FAILED,),
}


@dataclass(frozen=True, slots=True)
class Sidebar:
    """The contents of the sidebar of the library."""

    collections: list[Collection]
    tags: list[Tag]
    total: int  # documents
    working: int  # of these, being processed
    failed: int

    def number_of(self, view: LibraryView) -> int | None:
        """Return the number of documents in the view, if the sidebar has counted it; else None."""
        if not view.is_filtered:
            return self.total
        if view.words or sum(map(bool, (view.state, view.tag, view.collection))) > 1:
            return None
        if view.state:
            return {"working": self.working, "failed": self.failed}.get(view.state)
        rows: list[Any] = [*self.collections, *self.tags]
        return next((row.number for row in rows if row.pk in {view.tag, view.collection}), None)

    def name_of(self, view: LibraryView) -> str:
        """Return the name of the shown collection or tag; '' for other views."""
        shown = {view.collection, view.tag}
        rows: list[Collection | Tag] = [*self.collections, *self.tags]
        return next((row.name for row in rows if row.pk in shown), "")


@dataclass(frozen=True, slots=True)
class LibraryView:
    """Filters, order and layout of the library by its URL; unknown values become the defaults."""

    words: str = ""
    state: str = ""
    order: str = "newest"
    tag: uuid.UUID | None = None
    collection: uuid.UUID | None = None
    as_list: bool = False

    @classmethod
    def from_query(cls, query: QueryDict, as_list: bool = False) -> LibraryView:
        return cls(
            words=query.get("q", "").strip()[:200],
            state=query.get("state", "") if query.get("state") in STATES else "",
            order=query.get("order", "newest") if query.get("order") in ORDERS else "newest",
            tag=uuid_or_none(query.get("tag", "")),
            collection=uuid_or_none(query.get("collection", "")),
            as_list=query.get("as", "list" if as_list else "grid") == "list",
        )

    @property
    def is_filtered(self) -> bool:
        return bool(self.words or self.state or self.tag or self.collection)

    def documents(self, user: User) -> DocumentQuerySet:
        """Return the documents to show, in order."""
        found = Document.objects.visible_to(user)
        for word in self.words.split():
            found = found.filter(
                Q(title__icontains=word) | Q(authors__icontains=word) | Q(original_name__icontains=word)
            )
        if self.state:
            found = found.filter(status__in=STATES[self.state])
        if self.tag:
            found = found.filter(tags=self.tag, tags__owner=user)
        if self.collection:
            found = found.filter(
                collections__in=Collection.objects.visible_to(user).filter(pk=self.collection)
            )
        return found.order_by(*ORDERS[self.order], "pk")

    def page(self, user: User, sidebar: Sidebar, number: str | None) -> Page[Document]:
        """Return one page of documents with the fields of a card, in three queries.

        Sorting and skipping keys costs a tenth of doing so with annotated rows. If the number of documents is
        unknown, fetching all keys costs no more than counting them.
        """
        keys = self.documents(user).values_list("pk", flat=True)
        known = sidebar.number_of(self)
        paginator = Paginator(list(keys) if known is None else keys, CARDS_A_PAGE)
        if known is not None:
            paginator.count = known
        page: Page[Any] = paginator.get_page(number)
        page.object_list = cards_of(page.object_list, user)
        return page

    def further(self, user: User, start: int) -> tuple[list[Document], bool]:
        """Return the documents of one page from ``start`` on, and whether more follow, in three queries."""
        keys = list(self.documents(user).values_list("pk", flat=True)[start : start + CARDS_A_PAGE + 1])
        return cards_of(keys[:CARDS_A_PAGE], user), len(keys) > CARDS_A_PAGE


def cards_of(keys: Iterable[uuid.UUID], user: User) -> list[Document]:
    """Return the rows of these documents, which the user may see, in this order."""
    shown = list(keys)
    rows = for_cards(Document.objects.filter(pk__in=shown), user).in_bulk()
    return [rows[key] for key in shown if key in rows]


NOT_ON_CARDS = (
    *("abstract", "tldr", "outline", "failed_pages", "stage_seconds", "parser_name", "parser_version"),
    *("attempts", "lease", "lease_expires_at", "lease_holder", "started_at", "updated_at", "indexed_at"),
)


def for_cards(documents: DocumentQuerySet, user: User) -> QuerySet[Document]:
    """Return the rows of cards, without long texts, annotated with ``may_edit`` and ``own_tags``.

    For the user's own papers, ``fetching`` tells whether the full text is being fetched, and
    ``fetch_failure`` why that failed.
    """
    fetches = Job.objects.filter(document=OuterRef("pk"), kind=Job.Kind.FETCH, owner=user).order_by(
        "-created_at"
    )
    is_paper = Q(kind=Document.Kind.PAPER)
    return (
        documents.with_same_text(user)
        .select_related("owner")
        .defer(*NOT_ON_CARDS)
        .annotate(
            may_edit=reachable(user, to_edit=True),
            fetch_failure=Case(When(is_paper, then=Subquery(fetches.values("failure_message")[:1]))),
            fetching=is_paper & Exists(fetches.filter(finished_at=None)),
        )
        .prefetch_related(Prefetch("tags", Tag.objects.visible_to(user), to_attr="own_tags"))
    )


# Visible documents are found once: checking each placement costs twice as much.
NUMBERS = """
WITH seen (id, status) AS MATERIALIZED ({documents})
SELECT 'state', status, count(*) FROM seen GROUP BY status
UNION ALL
SELECT 'collection', collection_id::text, count(*)
FROM documents_document_collections JOIN seen ON seen.id = document_id GROUP BY collection_id
UNION ALL
SELECT 'tag', tag_id::text, count(*)
FROM documents_document_tags JOIN seen ON seen.id = document_id GROUP BY tag_id
"""


def sidebar_of(user: User) -> Sidebar:
    """Count the documents of the user's collections, tags and states. Three queries."""
    documents = Document.objects.visible_to(user).order_by().values_list("pk", "status")
    sql, parameters = documents.query.get_compiler(documents.db).as_sql()
    with connections[documents.db].cursor() as cursor:
        cursor.execute(NUMBERS.format(documents=sql), parameters)
        numbers = {(kind, key): number for kind, key, number in cursor.fetchall()}
    states = {state: number for (kind, state), number in numbers.items() if kind == "state"}
    collections = list(Collection.objects.visible_to(user).select_related("owner"))
    tags = list(Tag.objects.visible_to(user))
    rows: list[tuple[str, Any]] = [("collection", row) for row in collections]
    for kind, row in rows + [("tag", row) for row in tags]:
        row.number = numbers.get((kind, str(row.pk)), 0)
    return Sidebar(
        collections=collections,
        tags=tags,
        total=sum(states.values()),
        working=sum(states.get(state, 0) for state in STATES["working"]),
        failed=sum(states.get(state, 0) for state in STATES["failed"]),
    )


def move_to_trash(document: Document) -> None:
    Document.objects.filter(pk=document.pk, deleted_at=None).update(deleted_at=timezone.now())


def restore_from_trash(document: Document) -> bool:
    """Restore the document. Return False if the same file was uploaded again meanwhile."""
    try:
        with transaction.atomic():
            Document.objects.filter(pk=document.pk).update(deleted_at=None)
    except IntegrityError:
        return False
    return True


logger = logging.getLogger(__name__)


def delete_document(document: Document) -> None:
    """Delete the document and everything made from it. A worker that leases it stores nothing more."""
    with transaction.atomic():
        locked = Document.objects.select_for_update(of=("self",)).filter(pk=document.pk).first()
        if locked is None:
            return
        document_deleted.send(Document, document_id=locked.pk)
        files = files_of(locked)
        if version := PreviousVersion.objects.filter(document=locked).first():
            files += files_of(version)
        locked.delete()
        transaction.on_commit(lambda: remove_files(files))


def remove_files(files: list[FieldFile]) -> None:
    """Delete stored files. Log those that cannot be deleted: the sweep of the storage finds them."""
    for file in files:
        if not file.name:
            continue
        try:
            file.storage.delete(file.name)
        except OSError:
            logger.exception("could not remove %s", file.name)
