"""Cells are filled in the background: claimed row by row, answered, checked, stored.

The cells are the queue. A task of django-q2 is a ticket that says "fill the next
row in turn": one lost or delivered twice changes nothing. Whoever has the fewest
cells being filled comes next, so nobody waits behind another's thousand.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Count, F, IntegerField, Min, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.dispatch import Signal
from django.utils import timezone
from django_q.tasks import async_task

from chat.answers.answer_builder import AnswerBuilder
from chat.answers.context import ANSWER_SEARCH, AnswerSources, find_context
from chat.answers.prompt import prompt_for
from chat.answers.without_model.answer import bullet, holding
from chat.answers.without_model.evidence import find_evidence
from chat.answers.without_model.lines import AnswerLine, lines_of
from chat.answers.without_model.question import analyse, language_of, message
from chat.answers.without_model.ranking import rank, relevance
from chat.answers.write_answer import AnswerContext, check, drafted
from chat.citations.claims import CONTRADICTED, VERIFIED
from chat.citations.marker_decoder import without_markers
from chat.models import Citation, ReviewCell, ReviewCellVersion, ReviewColumn
from chat.providers.base import Provider
from chat.providers.extractive import NAME as EXTRACTIVE
from chat.providers.registry import language_model, provider_named
from chat.reviews.typed_values import QUANTITIES, Evidence, typed_value
from chat.reviews.value_lines import SAME, ValueLine, value_lines
from documents.models import Document
from retrieval.provider_calls import ProviderError
from retrieval.query.scope import Scope

review_filled = Signal()
"""Sent with ``review_id`` once the last waiting cell of a review has been filled. Receivers must be quick."""

logger = logging.getLogger(__name__)
TICKET = "chat.tasks.fill_row"
CELLS_AT_ONCE = 10  # of one row; then the next owner's turn comes
MOST_ATTEMPTS = 3
TICKETS_AT_ONCE = 2
CUT_OFF = "Filling this cell was cut off each time. Ask again."
MOST_NEAR = 3  # passages shown where nothing is stated
MOST_TRIED = 8  # values that are put to the verifier
State = ReviewCell.State


@dataclass(frozen=True, slots=True)
class FilledCell:
    """What a question found: its state, the typed value, the printed form and the citations, unsaved."""

    state: ReviewCell.State
    value: Any = None
    text: str = ""
    citations: Sequence[Citation] = ()
    error: str = ""
    usage: dict[str, float] | None = None


# --- The queue ---


def waiting() -> QuerySet[ReviewCell]:
    """Cells to fill whose documents can be searched."""
    return ReviewCell.objects.filter(
        state=State.WAITING,
        row__review__deleted_at=None,
        row__document__in=Document.objects.searchable(),
    )


def issue_tickets(count: int) -> None:
    for _ in range(min(count, TICKETS_AT_ONCE)):
        async_task(TICKET, group="review")


def fill_next_row() -> int:
    """Fill cells of the next row in turn; returns how many. Another ticket is issued while cells wait."""
    cells = claim_row()
    for cell in cells:
        ReviewCell.objects.filter(pk__in=[other.pk for other in cells], state=State.RUNNING).update(
            alive_at=timezone.now()
        )
        fill(cell)
    if not cells:
        return 0
    review = cells[0].row.review_id
    unfilled = ReviewCell.objects.filter(row__review=review, state__in=[State.WAITING, State.RUNNING])
    if not unfilled.exists():
        review_filled.send_robust(ReviewCell, review_id=review)
    if waiting().exists():
        issue_tickets(1)
    return len(cells)


def claim_row() -> list[ReviewCell]:
    """Take waiting cells of one row: of the owner with the fewest in work, then of the oldest review."""
    running = ReviewCell.objects.filter(
        state=State.RUNNING, row__review__owner=OuterRef("row__review__owner")
    )
    in_work = running.order_by().values("row__review__owner").annotate(n=Count("pk")).values("n")
    rows = (
        waiting()
        .order_by()
        .values("row")
        .annotate(
            oldest=Min("row__review__updated_at"),
            in_work=Coalesce(Subquery(in_work, output_field=IntegerField()), 0),
        )
        .order_by("in_work", "oldest", "row__position", "row")
    )
    for row in list(rows.values_list("row", flat=True)[:5]):
        with transaction.atomic():
            mine = waiting().filter(row=row).order_by("column__position").select_for_update(
                skip_locked=True, of=("self",)
            )  # fmt: skip
            ids = list(mine.values_list("pk", flat=True)[:CELLS_AT_ONCE])
            ReviewCell.objects.filter(pk__in=ids).update(
                state=State.RUNNING,
                alive_at=timezone.now(),
                attempts=F("attempts") + 1,
                revision=F("revision") + 1,
                updated_at=timezone.now(),
            )
        if ids:
            cells = ReviewCell.objects.filter(pk__in=ids).select_related(
                "row__review__owner", "row__document", "row__added_by", "column"
            )
            return sorted(cells, key=lambda cell: cell.column.position)
    return []


def recover() -> None:
    """Put back the cells of workers that are gone, and issue a ticket where cells wait and none is filled."""
    dead = ReviewCell.objects.dead()
    dead.filter(attempts__gte=MOST_ATTEMPTS).update(state=State.FAILED, error=CUT_OFF, alive_at=None)
    dead.update(state=State.WAITING, alive_at=None)
    if not ReviewCell.objects.filter(state=State.RUNNING).exists() and waiting().exists():
        issue_tickets(1)


# --- One cell ---


def fill(cell: ReviewCell) -> None:
    """Answer the cell's question and store what was found, whatever happens."""
    start = time.monotonic()
    user = cell.row.added_by
    try:
        if user is None or not Document.objects.visible_to(user).filter(pk=cell.row.document_id).exists():
            raise ProviderError("The person who added this document can no longer read it. Add it again.")
        provider = provider_named(cell.row.review.provider)
        filled = answered(cell.column, cell.row.document, user, provider)
        name = provider.model or provider.name
    except ProviderError as error:
        filled, name = FilledCell(State.FAILED, error=error.message), ""
    except Exception:
        logger.exception("cell %s failed", cell.pk)
        filled, name = FilledCell(State.FAILED, error="Something went wrong on our side. Ask again."), ""
    usage = (filled.usage or {}) | {"seconds": round(time.monotonic() - start, 2)}
    try:
        store(cell, replace(filled, usage=usage), name)
    except IntegrityError:  # the document was read anew meanwhile: its passages are others now
        ReviewCell.objects.filter(pk=cell.pk, state=State.RUNNING).update(state=State.WAITING)


def answered(column: ReviewColumn, document: Document, user: User, provider: Provider) -> FilledCell:
    """The column's question put to the document. Raises ProviderError."""
    cancelled = threading.Event()
    question, scope = asked(column, provider), Scope(user, document_ids=(document.pk,))
    if provider.name == EXTRACTIVE:
        found = find_evidence(question, scope, ANSWER_SEARCH)
        if column.kind in QUANTITIES:
            return quantity(column, found)
    else:
        helper = language_model(provider, cancelled)
        tokens = settings.CHAT_PROMPT_TOKENS
        found = find_context(question, scope, provider.passages, tokens, helper, ANSWER_SEARCH)
    prompt = replace(prompt_for(question, found.passages, (), ""), notes=found.notes)
    draft, usage = AnswerBuilder(uuid4(), found.sources, {}), dict[str, float]()
    for _ in drafted(draft, provider, prompt, cancelled, usage):
        pass
    if provider.name != EXTRACTIVE:
        check(draft, provider, AnswerContext(lambda event: None, cancelled))
    return replace(judged(column, draft, question), usage=usage)


def quantity(column: ReviewColumn, found: AnswerSources) -> FilledCell:
    """A number, an amount or a date, without a model: the best value that its page bears out.

    Where nothing is directly on the question it is not stated; where two values fit alike it is unclear.
    """
    languages = list(dict.fromkeys(passage.unit.language for passage in found.passages))
    question = analyse(column.question, languages)
    lines = lines_of(question, found.passages)
    pages = rank(question, lines, found.passages, found.notes.packs)
    best = pages[0] if pages else None
    is_direct = best is not None and relevance(question, best, found.notes).is_direct
    values = value_lines(column, question, pages, found.notes.packs) if is_direct else []
    held = held_values(values, found)
    if not held:
        near = [line for page in pages[:MOST_NEAR] for line in page.lines[:1]]
        return FilledCell(State.NOT_STATED, citations=cited(list(holding(near, found.passages)), found))
    citations = cited([line for _, line in held], found)
    if len({size_of(one.value.value) for one, _ in held}) > 1:
        return FilledCell(State.UNCLEAR, text="\n".join(line.text for _, line in held), citations=citations)
    first = held[0][0].value
    return FilledCell(State.FOUND, first.value, first.text, citations)


def held_values(values: Sequence[ValueLine], found: AnswerSources) -> list[tuple[ValueLine, AnswerLine]]:
    """The best value that its page bears out, and those that score alike, each as the line that says it."""
    held: list[tuple[ValueLine, AnswerLine]] = []
    for one in values[:MOST_TRIED]:
        if held and one.score < held[0][0].score - SAME:
            break
        held += [(one, line) for line in holding([one.line], found.passages)]
    return held


def size_of(value: Any) -> str:
    """A value for comparison: an amount without its sign, for statements print costs either way."""
    return str(abs(value["number"])) if isinstance(value, dict) else str(value)


def cited(lines: Sequence[AnswerLine], found: AnswerSources) -> list[Citation]:
    """Each line cited and checked as it is in an answer."""
    draft = AnswerBuilder(uuid4(), found.sources, {})
    for line in lines:
        for _ in chain(draft.write(bullet(line.text)), draft.cite(line.unit, line.quote), draft.write("\n")):
            pass
    return draft.citations


def asked(column: ReviewColumn, provider: Provider) -> str:
    """The question; a model is told the choices as well."""
    if provider.name == EXTRACTIVE or not column.choices:
        return column.question
    several = "one or more" if column.kind == ReviewColumn.Kind.CHOICES else "one"
    return f"{column.question}\nAnswer with {several} of: {', '.join(column.choices)}."


def judged(column: ReviewColumn, draft: AnswerBuilder, question: str) -> FilledCell:
    """What an answer says as a cell: its state and value rest on the citations that hold."""
    said = without_markers(draft.content).strip()
    claims = "\n".join(dict.fromkeys(citation.claim for citation in draft.citations))
    direct = not said.startswith((*refusals(question), *refusals(column.question)))
    held = [citation for citation in draft.citations if citation.verdict in VERIFIED]
    if not direct:
        return FilledCell(State.NOT_STATED, citations=draft.citations)
    if any(citation.verdict in CONTRADICTED for citation in draft.citations):
        return FilledCell(State.UNCLEAR, text=claims or said, citations=draft.citations)
    evidence = [
        Evidence(citation.claim, citation.quote, draft.sources.units[str(citation.unit_id)].language or "en")
        for citation in held
    ]
    value = typed_value(column, evidence)
    if value is None:
        return FilledCell(State.UNCLEAR, text=claims or said, citations=draft.citations)
    if column.kind != ReviewColumn.Kind.TEXT:  # the words that give the value come first
        held = [held[value.place], *(citation for citation in held if citation is not held[value.place])]
    return FilledCell(State.FOUND, value.value, value.text, held)


def refusals(question: str) -> tuple[str, ...]:
    """How an answer begins that found nothing direct."""
    language = language_of(question)
    said = (message(language, key).rstrip(".:。：") for key in ("none", "closest"))
    return (*said, "The documents do not say")


def store(cell: ReviewCell, filled: FilledCell, answered_by: str) -> None:
    """Keep what was found, unless the cell was changed meanwhile. What it held before stays as a version."""
    with transaction.atomic():
        locked = ReviewCell.objects.select_for_update().get(pk=cell.pk)
        if locked.state != State.RUNNING or locked.revision != cell.revision:
            return
        keep_version(locked)
        locked.citations.all().delete()
        locked.state, locked.value, locked.text = filled.state, filled.value, filled.text
        locked.error, locked.usage = filled.error[:300], filled.usage or {}
        locked.answered_by, locked.by_person, locked.mark, locked.marked_by = answered_by, False, "", None
        locked.document_sha256 = cell.row.document.sha256
        locked.alive_at, locked.attempts = None, 0
        locked.revision += 1
        locked.save()
        for number, citation in enumerate(filled.citations):
            citation.message_id, citation.position, citation.number = None, number, number + 1
        Citation.objects.bulk_create(filled.citations)
        locked.citations.set(filled.citations)


def keep_version(cell: ReviewCell) -> None:
    """Remember what a cell says before it changes; an empty one says nothing."""
    if cell.text or cell.mark:
        ReviewCellVersion.objects.create(
            cell=cell,
            state=cell.state,
            value=cell.value,
            text=cell.text,
            answered_by=cell.answered_by,
            mark=cell.mark,
        )
