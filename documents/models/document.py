"""The Document: its file, its state from upload to ready, its previous version; page ranges."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Self

from django.conf import settings
from django.contrib.postgres.expressions import ArraySubquery
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import OuterRef, Q, Value
from django.db.models.fields.files import FieldFile
from django.db.models.functions import JSONObject
from django.utils.translation import get_language_info
from django.utils.translation import gettext_lazy as _

from documents.models.library import reachable
from pdf.failures import FailureCode
from text.numbers import whole_number

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User
    from django.db.backends.base.base import BaseDatabaseWrapper
    from django.db.models.sql.compiler import SQLCompiler


def language_name(code: str, own: bool = False) -> str:
    """Return 'Spanish' for ``es``, or as Spaniards call it; the code itself where Django has no name."""
    try:
        return str(get_language_info(code.lower())["name_local" if own else "name_translated"])
    except KeyError:
        return code


_RANGE = re.compile(r"(\d{1,6})(?:-(\d{1,6}))?")
_MOST = 100_000
MOST_SAME_TEXT = 5  # other documents with the text of one


def page_numbers(text: str) -> list[int]:
    """Parse ``1,4-6`` to ascending 1-based numbers. Raises ValueError with a message for the user."""
    numbers: set[int] = set()
    for part in text.replace(" ", "").split(","):
        if not (match := _RANGE.fullmatch(part)):
            raise ValueError(f"“{part}” is not a page or a range of pages: write 3, 3-9 or 1,4-6.")
        first, last = whole_number(match[1], _MOST), whole_number(match[2] or match[1], _MOST)
        if not first or not last or first > last:
            raise ValueError(f"“{part}” is not a range of pages: pages count from 1.")
        numbers.update(range(first, last + 1))
    return sorted(numbers)


def ranges(numbers: Iterable[int]) -> str:
    """Format page numbers for display: ``3, 7–9``."""
    in_order = enumerate(sorted(set(numbers)))
    runs = [[number for _, number in run] for _, run in groupby(in_order, lambda pair: pair[1] - pair[0])]
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in runs)


FAILURES = [(code.value, code.label) for code in FailureCode]

_CORPORATE = re.compile(
    r"\b(?:inc|ltd|llc|plc|corp|co|company|corporation|limited|gmbh|ag|sa|agency|organi[sz]ation|university"
    r"|institute|department|ministry|association|society|council|commission|committee|group|team|bank"
    r"|foundation|office|project|consortium|division|of|the|and)\b|[\d&]",
    re.IGNORECASE,
)


def surname(author: str) -> str:
    """Return the surname for citations; the whole name of an organisation or of one word."""
    family, comma, _ = author.partition(",")
    if comma and not _CORPORATE.search(author):
        return family.strip()
    names = author.split()
    if _CORPORATE.search(author) or not 1 < len(names) < 6:
        return " ".join(names)
    particles = [place for place, name in enumerate(names[1:-1], start=1) if name.islower()]
    return " ".join(names[particles[0] if particles else -1 :])


def storage_name(document: Document, filename: str) -> str:
    """Return a random name: the uploader's file name never reaches the file system."""
    return f"documents/{document.pk.hex[:2]}/{document.pk.hex}/{uuid.uuid4().hex}.pdf"


def original_storage_name(document: Document, filename: str) -> str:
    """Return a random name with the file's suffix, which converters need."""
    return str(PurePath(storage_name(document, filename)).with_suffix(Path(filename).suffix.lower()))


class Constant(Value):
    """A member of a choices class as an SQL literal.

    A prepared statement is planned without its parameters' values, so PostgreSQL cannot estimate how many
    rows a parameter selects; of a literal it can.
    """

    def as_sql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper
    ) -> tuple[str, tuple[str | int, ...]]:
        return f"'{self.value.value}'", ()


FACT_LABELS = {
    "organisation": _("Organisation"),
    "date": _("Date"),
    "party": _("Party"),
    "number": _("Number"),
    "presenter": _("Presenter"),
    "contact": _("Contact"),
    "officer": _("Officer"),
}
"""Names of the kinds of ``documents.ingestion.facts.Fact``; authors have a field of their own."""


class DocumentQuerySet(models.QuerySet["Document"]):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        """Return the documents the user may read, by ``documents.models.library``."""
        return self._reachable_by(user, to_edit=False)

    def editable_by(self, user: User | AnonymousUser) -> Self:
        """Return the documents the user may edit and share."""
        return self._reachable_by(user, to_edit=True)

    def notes_of(self, user: User | AnonymousUser) -> Self:
        """Return the user's notes that are indexed for search."""
        return self.filter(kind=Document.Kind.NOTE, owner=user) if user.is_authenticated else self.none()

    def sources(self) -> Self:
        """Exclude notes."""
        return self.exclude(kind=Constant(Document.Kind.NOTE))

    def searchable(self) -> Self:
        """Return indexed documents that are not deleted."""
        return self.filter(deleted_at=None, indexed_at__isnull=False)

    def in_bin_of(self, user: User | AnonymousUser) -> Self:
        """Return the user's own deleted documents, which only they can restore."""
        return self.filter(owner=user).exclude(deleted_at=None) if user.is_authenticated else self.none()

    def in_progress(self) -> Self:
        """Return documents that are queued or being processed."""
        return self.filter(status__in=UNFINISHED)

    def with_same_text(self, user: User | AnonymousUser) -> Self:
        """Annotate ``same_text``: ``{"id", "title"}`` of other documents the user may read, oldest first.

        The bytes of their files differ: of one owner, equal files are refused as duplicates.
        """
        others = Document.objects.visible_to(user).exclude(pk=OuterRef("pk"))
        found = others.filter(text_digest__gt="", text_digest=OuterRef("text_digest")).order_by("created_at")
        listed = found.values(found=JSONObject(id="pk", title="title"))[:MOST_SAME_TEXT]
        return self.annotate(same_text=ArraySubquery(listed))

    def _reachable_by(self, user: User | AnonymousUser, *, to_edit: bool) -> Self:
        if not user.is_authenticated:
            return self.none()
        return self.sources().filter(reachable(user, to_edit=to_edit), deleted_at=None)


class Document(models.Model):
    """One source: a PDF file, or a paper known only by its metadata.

    The text of a note is stored as a document, too, so that it can be searched; users never see it as a
    document (``chat.notes``).
    """

    class Kind(models.TextChoices):
        PDF = "pdf", _("PDF")
        PAPER = "paper", _("paper known by its metadata")
        NOTE = "note", _("note")

    class Status(models.TextChoices):
        UPLOADED = "uploaded", _("waiting")
        PARSING = "parsing", _("reading pages")
        INDEXING = "indexing", _("indexing")
        RECOGNISING = "recognising", _("reading scanned pages")
        READY = "ready", _("ready")
        FAILED = "failed", _("failed")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="documents")
    kind = models.CharField(max_length=8, choices=Kind.choices[:2], default=Kind.PDF)

    title = models.CharField(max_length=500)
    authors = ArrayField(models.CharField(max_length=200), default=list, blank=True)
    year = models.SmallIntegerField(null=True, blank=True)
    abstract = models.TextField(blank=True)
    tldr = models.TextField(blank=True)
    doi = models.CharField(max_length=200, blank=True)
    language = models.CharField(max_length=12, blank=True)
    metadata = models.JSONField(default=dict, blank=True)

    file = models.FileField(upload_to=storage_name, max_length=200, blank=True)
    original = models.FileField(
        upload_to=original_storage_name,
        max_length=200,
        blank=True,
        help_text="the uploaded file, if it was no PDF and was converted",
    )
    original_name = models.CharField(max_length=255, blank=True)
    source_url = models.URLField(max_length=2000, blank=True)
    sha256 = models.CharField(max_length=64, blank=True)
    size = models.BigIntegerField(default=0, help_text="bytes")
    text_layer = models.FileField(
        upload_to=storage_name,
        max_length=200,
        blank=True,
        help_text="copy of the file with an OCR text layer",
    )
    thumbnail = models.ImageField(upload_to="thumbnails/", max_length=200, blank=True)

    status = models.CharField(max_length=12, choices=Status, default=Status.UPLOADED)
    progress = models.FloatField(default=0, help_text="0..1 of the current stage")
    failure_code = models.CharField(max_length=24, choices=FAILURES, blank=True)
    failure_message = models.CharField(max_length=200, blank=True)
    failed_pages = models.JSONField(default=list, blank=True, help_text="[[page number, reason], …]")

    page_count = models.IntegerField(default=0)
    pages_waiting = models.IntegerField(default=0, help_text="scanned pages that await OCR")
    pictures_waiting = models.IntegerField(default=0, help_text="pages with pictures that await OCR")
    text_digest = models.CharField(  # noqa: DJ001 - '' means too little text to compare
        max_length=32,
        null=True,
        editable=False,
        help_text="of the text of all pages; '' when it is short or incomplete, null until it is computed",
    )
    word_count = models.IntegerField(default=0)
    unit_count = models.IntegerField(default=0)
    chunk_count = models.IntegerField(default=0)
    table_count = models.IntegerField(default=0)
    hidden_word_count = models.IntegerField(default=0)
    outline = models.JSONField(default=list, blank=True, help_text="[[level, title, page], …]")

    parser_name = models.CharField(max_length=20, blank=True)
    parser_version = models.CharField(max_length=40, blank=True)
    stage_seconds = models.JSONField(default=dict, blank=True)

    # The lease of the worker that processes the row, and the number of attempts.
    attempts = models.SmallIntegerField(default=0)
    lease = models.UUIDField(null=True, blank=True)
    lease_expires_at = models.DateTimeField(null=True, blank=True)
    lease_holder = models.CharField(max_length=120, blank=True, help_text="host:process id")
    started_at = models.DateTimeField(null=True, blank=True, help_text="when work on it last began")

    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)
    indexed_at = models.DateTimeField(null=True, blank=True)
    deleted_at = models.DateTimeField(null=True, blank=True)

    tags = models.ManyToManyField("documents.Tag", related_name="documents", blank=True)
    collections = models.ManyToManyField(
        "documents.Collection", through="documents.Placement", related_name="documents", blank=True
    )

    objects = DocumentQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["owner", "sha256"],
                condition=Q(deleted_at=None) & ~Q(sha256=""),
                name="one_copy_per_owner",
            )
        ]
        indexes = [
            models.Index(fields=["owner", "-created_at"]),
            models.Index(fields=["status", "lease_expires_at"]),
            models.Index(fields=["text_digest"], condition=Q(text_digest__gt=""), name="same_text"),
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def language_name(self) -> str:
        return language_name(self.language)

    @property
    def facts(self) -> list[dict[str, Any]]:
        """Return kind, label, value, page and quote of what it says of itself; authors are a field."""
        facts = self.metadata.get("facts", ())
        return [
            {**fact, "label": label}
            for kind, label in FACT_LABELS.items()
            for fact in facts
            if fact["kind"] == kind
        ]

    @property
    def named(self) -> str:
        """Return the title, and the organisation that its "we" stands for: "Annual report · Acme Inc."."""
        known = [fact["value"] for fact in self.facts if fact["kind"] == "organisation"]
        return " · ".join([self.title, *(name for name in known if name not in self.title)])

    @property
    def byline(self) -> str:
        """Return authors and year, as far as known: ``Wile E. Coyote et al., 2018``."""
        names = f"{self.authors[0]} et al." if len(self.authors) > 2 else " and ".join(self.authors)
        return ", ".join(filter(None, (names, str(self.year or ""))))

    @property
    def short_byline(self) -> str:
        """Return the byline within a sentence: ``McMurray et al. 2019``; '' without author or year."""
        if not (self.authors and self.year):
            return ""
        names = [surname(author) for author in self.authors]
        return f"{f'{names[0]} et al.' if len(names) > 2 else ' and '.join(names)} {self.year}"

    @property
    def shown_file(self) -> FieldFile:
        """Return the file for viewers: the copy with a text layer where there is one."""
        return self.text_layer or self.file

    @property
    def failed_ranges(self) -> list[tuple[str, str]]:
        """Return the ranges of failed pages and the reason of each, for display."""
        numbers: dict[str, list[int]] = {}
        for number, reason in self.failed_pages:
            numbers.setdefault(reason, []).append(number)
        return [(ranges(found), reason) for reason, found in numbers.items()]

    @property
    def is_working(self) -> bool:
        """Return whether ingestion is unfinished. A document is searchable while its scans are recognised."""
        return self.status in UNFINISHED

    @property
    def is_recognising(self) -> bool:
        """Return whether scanned pages are being recognised, or recognised pages indexed."""
        indexes_more = self.status == self.Status.INDEXING and self.pages_waiting
        return bool(self.status == self.Status.RECOGNISING or indexes_more)

    @property
    def is_readable(self) -> bool:
        """Return whether there is a source to parse again."""
        sources = (self.file, self.original, self.is_imported, self.awaits_fetching, self.awaits_drawing)
        return any(map(bool, sources))

    @property
    def is_imported(self) -> bool:
        """Return whether its units come from another parser; false once its PDF was replaced."""
        return "payload" in self.metadata and self.sha256 in ("", self.metadata.get("payload_pdf"))

    @property
    def awaits_fetching(self) -> bool:
        """Return whether only the URL of its PDF is known."""
        has_none = not self.file and not self.original
        return bool(self.source_url) and has_none and self.kind != self.Kind.PAPER

    @property
    def awaits_drawing(self) -> bool:
        """Return whether it is an imported paper whose record sheet has not been drawn yet."""
        return self.kind == self.Kind.PAPER and not self.file and "paper" in self.metadata

    @property
    def pages_read(self) -> int:
        """Return the number of searchable pages; during parsing, of parsed pages."""
        if self.status == self.Status.PARSING:
            return round(self.progress * self.page_count)
        return self.page_count - self.pages_waiting

    @property
    def needs_password(self) -> bool:
        return self.failure_code == FailureCode.PASSWORD_PROTECTED

    @property
    def chunks_indexed(self) -> int:
        return round(self.progress * self.chunk_count)

    @property
    def is_ready(self) -> bool:
        return self.status == self.Status.READY

    @property
    def file_name_differs(self) -> bool:
        """Return whether the title differs from the file's name."""
        return bool(self.original_name) and self.title != self.title_from(self.original_name)

    @staticmethod
    def title_from(filename: str) -> str:
        """Make a readable title from a file name."""
        return Path(filename).stem.replace("_", " ").strip()[:500] or "Untitled"


WORKING = (Document.Status.UPLOADED, Document.Status.PARSING, Document.Status.INDEXING)
UNFINISHED = (*WORKING, Document.Status.RECOGNISING)


VERSION_FIELDS = (
    *("kind", "file", "original", "text_layer", "thumbnail"),
    *("original_name", "sha256", "size", "page_count", "indexed_at"),
)


class PreviousVersion(models.Model):
    """The previous file of a document while a new one is being parsed.

    The fields are those of ``Document``.
    """

    document = models.OneToOneField(
        Document, primary_key=True, on_delete=models.CASCADE, related_name="previous_version"
    )
    kind = models.CharField(max_length=8)
    file = models.FileField(upload_to=storage_name, max_length=200, blank=True)
    original = models.FileField(upload_to=original_storage_name, max_length=200, blank=True)
    text_layer = models.FileField(upload_to=storage_name, max_length=200, blank=True)
    thumbnail = models.FileField(max_length=200, blank=True)
    original_name = models.CharField(max_length=255, blank=True)
    sha256 = models.CharField(max_length=64, blank=True)
    size = models.BigIntegerField(default=0)
    page_count = models.IntegerField(default=0)
    indexed_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.original_name} before it was replaced"

    @classmethod
    def of(cls, document: Document) -> PreviousVersion:
        """Return an unsaved copy of the document's current state."""
        version = cls(document=document)
        for name in VERSION_FIELDS:
            value = getattr(document, name)
            setattr(version, name, value.name if isinstance(value, FieldFile) else value)
        return version

    def restore(self, document: Document) -> None:
        """Restore the document's fields, without saving."""
        for name in VERSION_FIELDS:
            value = getattr(self, name)
            setattr(document, name, value.name if isinstance(value, FieldFile) else value)


def files_of(row: Document | PreviousVersion) -> list[FieldFile]:
    """Return the stored files by their current names."""
    return [row.file, row.original, row.text_layer, row.thumbnail]
