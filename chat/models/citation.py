"""The Citation: a snapshot of the words that support a claim."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from chat.models.conversation import Conversation, Message
from citing.claims import outcome_of
from documents.models import CitationUnit, Document
from documents.page_labels import lines_on_page, place_in_words

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User


def outcome_in_words(outcome: str, difference: Sequence[str] = ()) -> str:
    """Return ``verified``, or ``differs (claim: 5 mg · page: 5 g)``, in the reader's language."""
    word = str(Citation.Outcome(outcome).label) if outcome else ""
    if not difference:
        return word
    claim, page = difference
    sides = {"outcome": word, "claim": claim, "page": page}
    return gettext("%(outcome)s (claim: %(claim)s · page: %(page)s)") % sides


CITATION_KEEPERS: list[Callable[[User], models.QuerySet[Any, Any]]] = []
"""Functions of apps above this one, each to return ids of citations that it shows to the user."""


class CitationQuerySet(models.QuerySet["Citation"]):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        """Return citations in the user's conversations, notes and reviews, of documents the user may see."""
        return self._of(user).filter(document__in=Document.objects.visible_to(user))

    def lost_to(self, user: User | AnonymousUser) -> Self:
        """Return those of the same places whose document is deleted, or in the user's own bin."""
        binned = models.Q(document__in=Document.objects.in_bin_of(user))
        return self._of(user).filter(binned | models.Q(document=None))

    def _of(self, user: User | AnonymousUser) -> Self:
        if not user.is_authenticated:
            return self.none()
        noted = Citation.notes.through.objects.filter(note__owner=user, note__deleted_at=None)
        own = models.Q(message__conversation__in=Conversation.objects.visible_to(user))
        kept = models.Q(pk__in=noted.values("citation"))
        for keeper in CITATION_KEEPERS:
            kept |= models.Q(pk__in=keeper(user))
        return self.filter(own | (models.Q(message=None) & kept))


class Citation(models.Model):
    """A snapshot of the words that support a claim; it survives re-parsing of its document.

    Rectangles are in page space: ``unit_rects`` are painted pale, ``rects`` (the
    anchor) strong, ``head_rects`` are the row and column headers of a table cell.
    """

    class Verdict(models.TextChoices):
        EXACT = "exact", _("these words are on the page")
        NORMALIZED = "normalized", _("these words are on the page, spaced or spelt a little differently")
        MOVED = "moved", _("these words are in another passage; the citation now points there")
        COMPUTED = "computed", _("computed from values on the page")
        FOUND = "found", _("words found on the page; the claim was not checked")
        PARTIAL = "partial", _("the source supports only part of this claim")
        UNSUPPORTED = "unsupported", _("the source doesn't support this claim")

    class Outcome(models.TextChoices):
        """What readers see of a verdict; which of the verdicts it is stands in tooltips and in the API."""

        VERIFIED = "verified", _("verified")
        FOUND = "found", _("found")
        DIFFERS = "differs", _("differs")

    class ModelJudgement(models.TextChoices):
        SUPPORTED = "supported", _("judged to be supported")
        UNSUPPORTED = "unsupported", _("judged not to be supported")

    class Durability(models.TextChoices):
        SAME = "same", _("as when it was cited")
        MOVED = "moved", _("the same words, elsewhere in the document")
        CHANGED = "changed", _("the document now says something else here")
        GONE = "gone", _("the words are no longer in the document")
        BINNED = "binned", _("its document is in the bin")  # of a citation shown; never stored

        @property
        def is_outdated(self) -> bool:
            """Return whether the document no longer has the cited words there."""
            return self in (self.CHANGED, self.GONE)

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    message = models.ForeignKey(
        Message,
        null=True,
        on_delete=models.CASCADE,
        related_name="citations",
        help_text="null: it belongs to a note or to a cell of a review",
    )
    position = models.IntegerField(default=0, help_text="of its marker among the markers of the message")
    number = models.IntegerField(help_text="the superscript, in order of first use in the conversation")
    document = models.ForeignKey(Document, null=True, on_delete=models.SET_NULL, related_name="citations")
    unit = models.ForeignKey(CitationUnit, null=True, on_delete=models.SET_NULL, related_name="citations")

    claim = models.TextField(blank=True)
    claim_start = models.IntegerField(
        default=0, help_text="span of the claim in the message, markers included"
    )
    claim_end = models.IntegerField(default=0)

    quote = models.TextField(help_text="the anchor's words as printed")
    prefix = models.CharField(max_length=200, blank=True)
    suffix = models.CharField(max_length=200, blank=True)
    unit_text = models.TextField(blank=True)
    section_path = ArrayField(models.TextField(), default=list)
    page_number = models.IntegerField()
    char_start = models.IntegerField(default=0, help_text="of the quote in the page's text")
    char_end = models.IntegerField(default=0)
    page_label = models.CharField(max_length=40, blank=True, help_text="the printed page number")
    first_line = models.IntegerField(default=0, help_text="of the page, numbered through the document")
    line_start = models.IntegerField(default=0, help_text="numbered through the document")
    line_end = models.IntegerField(default=0)
    where = models.CharField(
        max_length=300, blank=True, help_text="of imported blocks: ‘slide 4’, ‘sheet Q2, B7’, ‘12:04’"
    )
    rects = ArrayField(ArrayField(models.FloatField(), size=4), default=list)
    unit_rects = ArrayField(ArrayField(models.FloatField(), size=4), default=list)
    head_rects = ArrayField(ArrayField(models.FloatField(), size=4), default=list)
    document_title = models.CharField(max_length=500, blank=True)
    document_sha256 = models.CharField(max_length=64, blank=True)

    verdict = models.CharField(max_length=12, choices=Verdict)
    reason = models.CharField(max_length=300, blank=True, help_text="one sentence that explains the verdict")
    difference = models.JSONField(
        default=list, blank=True, help_text="what the claim and the page say, if they differ: ['5 mg', '5 g']"
    )
    missing = models.JSONField(default=list, blank=True, help_text="values of the claim that were not found")
    matched = models.BooleanField(
        default=False, help_text="the model cited nothing here; Pincite matched the sentence to the passage"
    )
    judged_by = models.CharField(
        max_length=120, blank=True, help_text="the model that judged the claim, if no rule could compare it"
    )
    judgement = models.CharField(max_length=12, choices=ModelJudgement, blank=True, help_text="its verdict")
    durability = models.CharField(max_length=8, choices=Durability, default=Durability.SAME)
    feedback = models.CharField(max_length=8, blank=True, help_text="'right' or 'wrong', by a user")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = CitationQuerySet.as_manager()

    class Meta:
        ordering = ["message", "position"]
        indexes = [
            models.Index(fields=["document", "page_number"]),
            models.Index(fields=["verdict"]),
            models.Index(fields=["created_at"]),
        ]

    def __str__(self) -> str:
        return f"[{self.number}] {self.quote[:60]}"

    @property
    def place(self) -> str:
        """Return printed page and lines on it for display: ``p. 5, lines 20–25``."""
        return place_in_words(self.page_number, self.lines, self.page_label, self.first_line, self.where)

    @property
    def lines(self) -> tuple[int, int]:
        """Return first and last line, numbered through the document."""
        return self.line_start, self.line_end

    @property
    def lines_on_page(self) -> tuple[int, int]:
        return lines_on_page(self.lines, self.first_line)

    @property
    def is_outdated(self) -> bool:
        return self.Durability(self.durability).is_outdated

    @property
    def outcome(self) -> str:
        return outcome_of(self.verdict)

    @property
    def outcome_label(self) -> str:
        """Return the outcome for people: one word."""
        return outcome_in_words(self.outcome)

    @property
    def outcome_text(self) -> str:
        """Return the outcome for people, with both sides of a difference: ``differs (claim: …)``."""
        return outcome_in_words(self.outcome, self.difference)
