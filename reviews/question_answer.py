"""Compute the answer of a review from its cells: counts, sums, ranges and lists, each with its denominator.

A value counts if it was found or written by a person, and nobody marked it wrong. The denominator is the
number of documents that the user may see.
"""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any
from uuid import UUID

import msgspec
from django.utils.translation import ngettext_lazy
from msgspec.structs import replace

from chat.answers.without_model.question import analyse
from domains import pack_names
from domains.items import items_asked
from reviews.column_sets import BOUND
from reviews.models import ReviewCell, ReviewColumn
from reviews.review_presenters import ReviewGrid, ShownCell, ShownColumn
from reviews.typed_values import number, unit_of

State, Kind = ReviewCell.State, ReviewColumn.Kind
UNCOUNTED = "wrong"  # a state beside those of cells: values that a person marked as wrong
UNREAD = (State.EMPTY, State.WAITING, State.RUNNING)


Titles = dict[UUID, tuple[UUID | None, str]]  # by row: its document and title


class CountedCell(msgspec.Struct, frozen=True):
    """A value with its document; ``number`` of an amount or a number; ``share`` of the largest, 0..1."""

    cell: UUID
    document: UUID | None
    title: str
    text: str
    href: str
    verdict: str
    number: int | float | None = None
    share: float = 0.0


class ValueGroup(msgspec.Struct, frozen=True):
    """Documents with one value; ``total``: the sum of the amounts grouped by it, in ``unit``."""

    value: str
    count: int
    cells: list[CountedCell]
    share: float = 0.0
    total: int | float | None = None
    unit: str = ""


class NumberSummary(msgspec.Struct, frozen=True):
    """The numbers of one unit or currency, largest first; costs and payments without their sign.

    ``total`` is None where a sum has no meaning; ``negative``: the number of values below 0.
    ``groups``: sums by the values of another column.
    """

    unit: str
    count: int
    least: int | float
    most: int | float
    median: int | float
    total: int | float | None
    cells: list[CountedCell]
    groups: list[ValueGroup] = []
    negative: int = 0


class ColumnAnswer(msgspec.Struct, frozen=True):
    """What the documents say to one column's question.

    Attributes:
        documents: the denominator, divided by ``states``: ``found``, ``not_stated``, …, ``wrong``.
        within: values within the column's bound; None without one. They alone are summed and listed.
        numbers: by unit, for numbers and amounts; ``groups``: by value, for other kinds.
        earliest, latest: ISO dates; '' for other kinds.
        others: documents without a counted value, by state.
    """

    column: ShownColumn
    documents: int
    stated: int
    states: dict[str, int]
    within: int | None
    numbers: list[NumberSummary]
    groups: list[ValueGroup]
    earliest: str
    latest: str
    others: dict[str, list[CountedCell]]

    @property
    def read(self) -> int:
        """Return the number of documents that were asked; the others are still waiting or were not asked."""
        return self.documents - sum(self.states.get(state, 0) for state in UNREAD)

    @property
    def remarks(self) -> list[tuple[str, list[CountedCell]]]:
        """Return the documents without a counted value by state, in words, those without an answer first."""
        others: dict[str, list[CountedCell]] = defaultdict(list)
        for state, cells in self.others.items():  # what is being read is still to be read
            others[State.WAITING if state == State.RUNNING else state] += cells
        order = sorted(others, key=lambda state: (state != State.NOT_STATED, state))
        return [(str(REMARKS[state] % {"n": len(others[state])}), others[state]) for state in order]


REMARKS = {
    State.NOT_STATED: ngettext_lazy(
        "in %(n)d document nothing was found", "in %(n)d documents nothing was found", "n"
    ),
    State.UNCLEAR: ngettext_lazy("%(n)d document is unclear", "%(n)d documents are unclear", "n"),
    State.FAILED: ngettext_lazy(
        "%(n)d document could not be asked", "%(n)d documents could not be asked", "n"
    ),
    State.STALE: ngettext_lazy("%(n)d value is out of date", "%(n)d values are out of date", "n"),
    UNCOUNTED: ngettext_lazy("%(n)d value is marked as wrong", "%(n)d values are marked as wrong", "n"),
    State.EMPTY: ngettext_lazy("%(n)d document was not asked", "%(n)d documents were not asked", "n"),
    State.WAITING: ngettext_lazy(
        "%(n)d document is still to be read", "%(n)d documents are still to be read", "n"
    ),
}


def column_answers(grid: ReviewGrid) -> list[ColumnAnswer]:
    """Return the answers in the order of the columns."""
    titles = {row.id: (row.document, row.title) for row in grid.rows}
    by_column: dict[UUID, list[ShownCell]] = defaultdict(list)
    for cell in grid.cells:
        if cell.row in titles:
            by_column[cell.column].append(cell)
    labels = group_labels(grid, by_column)
    return [column_answer(column, by_column[column.id], titles, labels) for column in grid.columns]


def group_labels(grid: ReviewGrid, by_column: dict[UUID, list[ShownCell]]) -> dict[UUID, str]:
    """Return the value by row of the first column after the first that holds texts or choices."""
    for column in grid.columns[1:]:
        if column.kind in (Kind.TEXT, Kind.CHOICE, Kind.BOOLEAN):
            return {cell.row: cell.text for cell in by_column[column.id] if is_counted(cell)}
    return {}


def is_counted(cell: ShownCell) -> bool:
    return cell.state == State.FOUND and cell.mark != ReviewCell.Mark.WRONG and cell.value is not None


def column_answer(
    column: ShownColumn, cells: Sequence[ShownCell], titles: Titles, labels: dict[UUID, str]
) -> ColumnAnswer:
    counted = [cell for cell in cells if is_counted(cell)]
    within = [cell for cell in counted if is_within(column.condition, cell.value)]
    others: dict[str, list[CountedCell]] = defaultdict(list)
    for cell in cells:
        if not is_counted(cell):
            name = UNCOUNTED if cell.state == State.FOUND else cell.state
            others[name].append(replace(as_counted(cell, titles), verdict=""))
    is_number = column.kind in (Kind.NUMBER, Kind.MONEY)
    dates = sorted(str(cell.value) for cell in within) if column.kind == Kind.DATE else []
    return ColumnAnswer(
        column=column,
        documents=len(titles),
        stated=len(counted),
        states={"found": len(counted)} | {name: len(found) for name, found in others.items()},
        within=len(within) if column.condition else None,
        numbers=number_summaries(column, within, titles, labels) if is_number else [],
        groups=[] if is_number else value_groups(column, within, titles),
        earliest=dates[0] if dates else "",
        latest=dates[-1] if dates else "",
        others=dict(others),
    )


def as_counted(cell: ShownCell, titles: Titles, largest: float = 0) -> CountedCell:
    document, title = titles[cell.row]
    amount = cell.value["number"] if isinstance(cell.value, dict) else None
    share = abs(amount) / largest if amount and largest else 0.0
    return CountedCell(cell.id, document, title, cell.text, cell.href, cell.verdict, amount, round(share, 4))


def number_summaries(
    column: ShownColumn, cells: Sequence[ShownCell], titles: Titles, labels: dict[UUID, str]
) -> list[NumberSummary]:
    if is_outflow(column.question):
        cells = [replace(cell, value=cell.value | {"number": abs(cell.value["number"])}) for cell in cells]
    by_unit: dict[str, list[ShownCell]] = defaultdict(list)
    for cell in cells:
        by_unit[unit_of(cell.value)].append(cell)
    found = []
    for unit, same in sorted(by_unit.items(), key=lambda item: -len(item[1])):
        same.sort(key=lambda cell: -cell.value["number"])
        amounts = [Decimal(str(cell.value["number"])) for cell in same]
        largest = float(max(map(abs, amounts)))
        found.append(
            NumberSummary(
                unit,
                len(same),
                number(amounts[-1]),
                number(amounts[0]),
                number(statistics.median(amounts)),
                number(sum(amounts, Decimal())) if adds_up(column) else None,
                [as_counted(cell, titles, largest) for cell in same],
                sums_by(labels, same, titles, unit) if adds_up(column) else [],
                sum(amount < 0 for amount in amounts),
            )
        )
    return found


def adds_up(column: ShownColumn) -> bool:
    """Return whether a sum over documents has a meaning: of amounts and of counted things, not of ratios."""
    kinds = analyse(column.question).kinds
    return column.kind == Kind.MONEY or (column.unit != "%" and "count" in kinds)


def is_outflow(question: str) -> bool:
    """Return whether a pack knows what is asked for as a cost or payment, printed with either sign."""
    items = items_asked(question, pack_names())
    return len(items) == 1 and items[0].is_outflow


def sums_by(
    labels: dict[UUID, str], cells: Iterable[ShownCell], titles: Titles, unit: str
) -> list[ValueGroup]:
    """Return the sums by the values of another column, largest first; [] where each has one document."""
    by_label: dict[str, list[ShownCell]] = defaultdict(list)
    for cell in cells:
        if cell.row in labels:
            by_label[labels[cell.row]].append(cell)
    if not by_label:
        return []
    totals = {
        label: sum((Decimal(str(cell.value["number"])) for cell in same), Decimal())
        for label, same in by_label.items()
    }
    largest = max(map(abs, totals.values())) or 1
    return [
        ValueGroup(
            label,
            len(by_label[label]),
            [as_counted(cell, titles) for cell in by_label[label]],
            round(float(abs(total) / largest), 4),
            number(total),
            unit,
        )
        for label, total in sorted(totals.items(), key=lambda item: -item[1])
    ]


def value_groups(column: ShownColumn, cells: Iterable[ShownCell], titles: Titles) -> list[ValueGroup]:
    """Return the documents by value, most frequent first; dates in their order."""
    by_value: dict[str, list[ShownCell]] = defaultdict(list)
    spelt: dict[str, str] = {}
    for cell in cells:
        for value in cell.value if isinstance(cell.value, list) else [shown_value(cell)]:
            key = " ".join(value.casefold().split())
            spelt.setdefault(key, value)
            by_value[key].append(cell)
    counts = Counter({key: len(same) for key, same in by_value.items()})
    largest = max(counts.values(), default=1)
    order = sorted(counts) if column.kind == Kind.DATE else [key for key, _ in counts.most_common()]
    return [
        ValueGroup(
            spelt[key],
            counts[key],
            [as_counted(cell, titles) for cell in by_value[key]],
            round(counts[key] / largest, 4),
        )
        for key in order
    ]


def shown_value(cell: ShownCell) -> str:
    return cell.text if isinstance(cell.value, bool) else str(cell.value)


# --- Bounds ---


def is_within(condition: str, value: Any) -> bool:
    """Return whether a cell's number or ISO date is within a bound, “< 0.8”; True without a bound."""
    if not condition:
        return True
    if (match := BOUND.fullmatch(condition)) is None:
        return False
    sign, limit = match.groups()
    if isinstance(value, dict):
        return sign in signs_between(Decimal(str(value["number"])), Decimal(limit))
    return sign in signs_between(str(value)[: len(limit)], limit)


def signs_between(one: Any, other: Any) -> tuple[str, ...]:
    """Return the signs of comparison that hold between two numbers, or two ISO dates."""
    if one == other:
        return ("=", "<=", ">=")
    return ("<", "<=") if one < other else (">", ">=")
