"""The Review: documents as rows, questions as columns; every cell has its evidence and a verdict."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Self

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from chat.models.conversation import Hideable
from documents.access import Given
from documents.models import Document
from documents.models.library import reachable

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User

    from chat.models import Citation

DEAD_AFTER = timedelta(minutes=10)  # without a heartbeat: the cell is filled again


class SharedQuerySet(models.QuerySet[Any]):
    """Reviews or templates: rows with an ``owner`` and ``shares``."""

    def visible_to(self, user: User | AnonymousUser) -> Self:
        """Return rows that the user owns, or that are shared with the user or a group of the user."""
        return self._reached_by(user, ReviewShare.objects.all())

    def editable_by(self, user: User | AnonymousUser) -> Self:
        return self._reached_by(user, ReviewShare.objects.filter(can_write=True))

    def _reached_by(self, user: User | AnonymousUser, shares: models.QuerySet[ReviewShare]) -> Self:
        if not user.is_authenticated:
            return self.none()
        given = shares.filter(Q(user=user) | Q(group__in=user.groups.values("pk")))
        shared = "review" if self.model is Review else "template"
        ids = given.exclude(**{shared: None}).values(shared)
        return self.filter(Q(owner=user) | Q(pk__in=ids, owner__is_active=True), deleted_at=None)


class Review(Hideable):
    """A table of answers. A user sees only rows of documents that the user may see."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="reviews")
    name = models.CharField(max_length=200)
    question = models.CharField(
        max_length=1000, blank=True, help_text="put to every document; its answer is computed from the cells"
    )
    collection = models.ForeignKey(
        "documents.Collection",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="reviews",
        help_text="its documents become rows",
    )
    search = models.ForeignKey(
        "retrieval.SavedSearch",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="reviews",
        help_text="the documents it finds become rows",
    )
    joins = models.BooleanField(
        default=True, help_text="new documents of the collection or search are added as rows"
    )
    blind = models.BooleanField(default=False, help_text="reviewers see only their own marks and comments")
    tokens_left = models.BigIntegerField(
        null=True, blank=True, help_text="tokens that a model may still use; null: no limit"
    )
    provider = models.CharField(max_length=20, blank=True, help_text="'' is the server's default")
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = SharedQuerySet.as_manager()

    class Meta:
        ordering = ["-updated_at"]
        indexes = [models.Index(fields=["owner", "-updated_at"])]

    def __str__(self) -> str:
        return self.name


class ReviewTemplate(Hideable):
    """A set of columns that its owner keeps for other reviews.

    ``columns`` are as in the API: ``{"title", "question", "kind", "unit", "choices", "condition",
    "note"}``.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="review_templates"
    )
    name = models.CharField(max_length=200)
    columns = models.JSONField(default=list)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = SharedQuerySet.as_manager()

    class Meta:
        ordering = ["name", "created_at"]

    def __str__(self) -> str:
        return self.name


class ReviewShare(models.Model):
    """Access to one review or template for one user or group. It gives no access to documents."""

    review = models.ForeignKey(Review, null=True, blank=True, on_delete=models.CASCADE, related_name="shares")
    template = models.ForeignKey(
        ReviewTemplate, null=True, blank=True, on_delete=models.CASCADE, related_name="shares"
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.CASCADE, related_name="+"
    )
    group = models.ForeignKey("auth.Group", null=True, blank=True, on_delete=models.CASCADE, related_name="+")
    can_write = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(review=None) ^ Q(template=None), name="review_share_of_one_thing"
            ),
            models.CheckConstraint(condition=Q(user=None) ^ Q(group=None), name="review_share_one_party"),
            models.UniqueConstraint(fields=["review", "user"], name="one_review_share_user"),
            models.UniqueConstraint(fields=["review", "group"], name="one_review_share_group"),
            models.UniqueConstraint(fields=["template", "user"], name="one_template_share_user"),
            models.UniqueConstraint(fields=["template", "group"], name="one_template_share_group"),
        ]

    def __str__(self) -> str:
        return f"{self.review or self.template} → {self.user or self.group}"


def given_reviews(user: User) -> Iterator[Given]:
    """Yield the shares of the user's reviews and templates, for ``documents.access``."""
    own = Q(review__owner=user, review__deleted_at=None) | Q(template__owner=user)
    for share in ReviewShare.objects.filter(own).select_related("review", "template", "user", "group"):
        url = reverse("review", args=[share.review_id]) if share.review_id else reverse("review-templates")
        people = share.user.get_username() if share.user else str(share.group)
        yield Given(str(share.review or share.template), url, people, share.can_write, share.created_at)


class ReviewColumn(models.Model):
    """One question asked of every document, and the type of its values."""

    class Kind(models.TextChoices):
        TEXT = "text", _("Text")
        NUMBER = "number", _("Number")
        MONEY = "money", _("Money")
        DATE = "date", _("Date")
        BOOLEAN = "boolean", _("Yes or no")
        CHOICE = "choice", _("One of a list")
        CHOICES = "choices", _("Several of a list")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    review = models.ForeignKey(Review, on_delete=models.CASCADE, related_name="columns")
    position = models.IntegerField(default=0)
    title = models.CharField(max_length=120)
    question = models.CharField(max_length=1000)
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.TEXT)
    unit = models.CharField(max_length=40, blank=True, help_text="of a number: “mg”, “%”")
    choices = ArrayField(models.CharField(max_length=120), default=list, blank=True)
    condition = models.CharField(
        max_length=40, blank=True, help_text="of values that are counted: “< 0.8”, “>= 2020-01-01”"
    )
    note = models.CharField(max_length=1000, blank=True, help_text="for readers, not part of the question")

    class Meta:
        ordering = ["review", "position"]
        constraints = [models.UniqueConstraint(fields=["review", "title"], name="one_column_per_title")]

    def __str__(self) -> str:
        return self.title


class ReviewRowQuerySet(models.QuerySet["ReviewRow"]):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        """Return rows of documents that the user may see, including those in the bin.

        The row of a document that was deleted for good is visible to the user who added it.
        """
        if not user.is_authenticated:
            return self.none()
        here = Document.objects.sources().filter(reachable(user))
        return self.filter(Q(document__in=here) | Q(document=None, added_by=user))


class ReviewRow(models.Model):
    """One document of a review; its ``title`` stays when the document is deleted."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    review = models.ForeignKey(Review, on_delete=models.CASCADE, related_name="rows")
    document = models.ForeignKey(Document, null=True, on_delete=models.SET_NULL, related_name="review_rows")
    title = models.CharField(max_length=500, blank=True, help_text="of a document that was deleted for good")
    added_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="the user whose access rights apply when its cells are filled",
    )
    position = models.IntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ReviewRowQuerySet.as_manager()

    class Meta:
        ordering = ["review", "position"]
        constraints = [models.UniqueConstraint(fields=["review", "document"], name="one_row_per_document")]

    def __str__(self) -> str:
        return self.document_title

    @property
    def document_title(self) -> str:
        return (self.document.title or self.document.original_name) if self.document else self.title

    @property
    def is_deleted(self) -> bool:
        """Return whether the document is in the bin or deleted for good."""
        return self.document is None or self.document.deleted_at is not None


class ReviewCellQuerySet(models.QuerySet["ReviewCell"]):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        """Return cells of reviews and documents that the user may see."""
        return self.filter(
            row__review__in=Review.objects.visible_to(user), row__in=ReviewRow.objects.visible_to(user)
        )

    def dead(self) -> Self:
        """Return cells whose worker died."""
        return self.filter(state=ReviewCell.State.RUNNING, alive_at__lt=timezone.now() - DEAD_AFTER)


class ReviewCell(models.Model):
    """The answer to a column's question from a row's document.

    ``value`` is typed data, by the column's kind: a string; ``{"number", "unit"}``;
    ``{"number", "currency"}`` in whole units of the currency, each with "period" if it is of a
    part of a year; an ISO date; true or false; one of the choices; a list of them. ``text`` is the
    printed form. Without evidence there is no value, unless a person wrote it.
    """

    class State(models.TextChoices):
        EMPTY = "empty", _("Not asked")
        WAITING = "waiting", _("Waiting")
        RUNNING = "running", _("Being filled")
        FOUND = "found", _("Found")
        NOT_STATED = "not_stated", _("Not stated")
        UNCLEAR = "unclear", _("Unclear")
        FAILED = "failed", _("Failed")
        STALE = "stale", _("Out of date")

    class Mark(models.TextChoices):
        ACCEPTED = "accepted", _("Accepted")
        WRONG = "wrong", _("Wrong")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    row = models.ForeignKey(ReviewRow, on_delete=models.CASCADE, related_name="cells")
    column = models.ForeignKey(ReviewColumn, on_delete=models.CASCADE, related_name="cells")
    state = models.CharField(max_length=10, choices=State, default=State.EMPTY)
    value = models.JSONField(null=True, blank=True)
    text = models.TextField(blank=True)
    citations = models.ManyToManyField("chat.Citation", related_name="review_cells", blank=True)
    answered_by = models.CharField(max_length=150, blank=True, help_text="a provider, or a user's name")
    by_person = models.BooleanField(default=False, help_text="a person wrote the value")
    mark = models.CharField(max_length=10, choices=Mark, blank=True, help_text="mark by a user")
    marked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    comment = models.CharField(max_length=2000, blank=True)
    error = models.CharField(max_length=300, blank=True)
    usage = models.JSONField(default=dict, blank=True, help_text="seconds, and tokens if a model was used")
    document_sha256 = models.CharField(max_length=64, blank=True, help_text="of the file it was read from")
    attempts = models.IntegerField(default=0)
    alive_at = models.DateTimeField(null=True, blank=True, help_text="heartbeat of its worker")
    revision = models.IntegerField(default=0, help_text="number of changes, for optimistic locking")
    updated_at = models.DateTimeField(auto_now=True)

    objects = ReviewCellQuerySet.as_manager()

    class Meta:
        ordering = ["row", "column"]
        constraints = [models.UniqueConstraint(fields=["row", "column"], name="one_cell_per_row_and_column")]
        indexes = [
            models.Index(
                fields=["row"], condition=Q(state__in=["waiting", "running"]), name="unfilled_review_cells"
            )
        ]

    def __str__(self) -> str:
        return f"{self.row}, {self.column}: {self.text[:60]}"

    @property
    def has_value(self) -> bool:
        """Return whether its citations support a value; else their words may not answer the question."""
        return self.state in (self.State.FOUND, self.State.STALE)

    def outcome_text(self, citation: Citation) -> str:
        """Return the verdict on a citation of its value, in words for people."""
        if self.has_value:
            return citation.outcome_text
        return gettext("On the page, but it may not answer the question")


class ReviewCellVersion(models.Model):
    """The content of a cell before a change."""

    cell = models.ForeignKey(ReviewCell, on_delete=models.CASCADE, related_name="versions")
    state = models.CharField(max_length=10)
    value = models.JSONField(null=True)
    text = models.TextField(blank=True)
    answered_by = models.CharField(max_length=150, blank=True)
    mark = models.CharField(max_length=10, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["cell", "-pk"]

    def __str__(self) -> str:
        return f"{self.cell_id}: {self.text[:60]}"


class ReviewMark(models.Model):
    """One reviewer's mark of a cell while marks were blind; ``revealed`` once all could see it.

    A cell with revealed marks accepts no further blind mark: it would not be independent.
    """

    cell = models.ForeignKey(ReviewCell, on_delete=models.CASCADE, related_name="marks")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="review_marks")
    mark = models.CharField(max_length=10, choices=ReviewCell.Mark, blank=True)
    comment = models.CharField(max_length=2000, blank=True)
    revealed = models.BooleanField(default=False)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["cell", "pk"]
        constraints = [models.UniqueConstraint(fields=["cell", "user"], name="one_blind_mark_a_reviewer")]

    def __str__(self) -> str:
        return f"{self.user}: {self.mark}"


def citations_shown_to(user: User) -> models.QuerySet[Any, Any]:
    """Return ids of the citations in cells of reviews that the user may see, whatever their documents."""
    cited = ReviewCell.citations.through.objects
    return cited.filter(reviewcell__row__review__in=Review.objects.visible_to(user)).values("citation")
