"""Decide which conflicts may be shown as a difference between a claim and its page.

A true claim called different costs a reader's trust; a false one left unjudged does not. So a
difference needs exactly one conflict, of a typed kind, between two things of the same dimension, while every
other word of the claim was matched. Conflicts of other kinds (roles, entities, modality, conditions, bounds)
keep a claim from being verified, and are given as the reason why it was not judged.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from citing.claims import Conflict
from citing.comparison.words.phrases import change_role
from citing.comparison.words.prose import Judgement
from citing.comparison.words.token import Token, denials_at, is_marker
from citing.comparison.words.tokens import tokens_of
from text.quantities import Quantity, quantities_in
from text.semantics import lexicon

# Least share of the claim's words on the page for another number: fewer do not show that it is of the same
# thing. Chosen on two authors' sets (tests/citing/verdicts, corpus/verdicts): of 29 none was a true claim.
LEAST_COVERAGE = 0.6
LEAST_COVERAGE_OF_COUNTS = 0.8  # for a number without a unit, which may count something else
_WHOLE = 0.999
_LONGEST_BOUND = 24  # characters before an amount that may hold the words of its bound
_INVERTED_BOUNDS = ({"lt", "gt"}, {"lt", "ge"}, {"le", "gt"}, {"le", "ge"})


@dataclass(frozen=True, slots=True)
class DifferenceKind:
    """A kind of conflict that may be shown, with examples that are run as its test.

    Attributes:
        differs: a claim and a page that differ so.
        same: a true claim and its page, which look alike.
    """

    name: str
    sentence: str
    differs: tuple[str, str]
    same: tuple[str, str]


KINDS = (
    DifferenceKind(
        "digit",
        "The same measure with another number.",
        ("The bridge is 84 m long.", "The bridge is 48 m long."),
        ("A stay of 48 hours is free.", "A stay of two days is free."),
    ),
    DifferenceKind(
        "unit",
        "The same number with another unit of one dimension, or another amount of it.",
        ("The dose is 5 g a day.", "The dose is 5 mg a day."),
        ("The dose is 1 g a day.", "The dose is 1,000 mg a day."),
    ),
    DifferenceKind(
        "scale",
        "The same digits in thousands, millions or billions.",
        ("Revenue was $12 billion in 2021.", "Revenue was $12 million in 2021."),
        ("Revenue was $1.2 billion in 2021.", "Revenue was $1,200 million in 2021."),
    ),
    DifferenceKind(
        "currency",
        "The same amount in another currency.",
        ("The deposit is €500.", "The deposit is £500."),
        ("The deposit is 500 euros.", "The deposit is €500."),
    ),
    DifferenceKind(
        "sign",
        "A loss for a gain of the same size.",
        ("The change was 3.1 %.", "The change was -3.1 %."),
        ("The change was minus 3.1 %.", "The change was -3.1 %."),
    ),
    DifferenceKind(
        "percent_points",
        "Percent for percentage points, or the other way round.",
        ("The rate rose by 2 %.", "The rate rose by 2 percentage points."),
        ("The rate rose by 2 percentage points.", "The rate rose by 2 points."),
    ),
    DifferenceKind(
        "ordinal",
        "Another place in a series.",
        ("The second edition appeared in Delft.", "The first edition appeared in Delft."),
        ("The 1st edition appeared in Delft.", "The first edition appeared in Delft."),
    ),
    DifferenceKind(
        "quantifier",
        "All, most, some or none of the same things.",
        ("All tenants signed the letter.", "Some tenants signed the letter."),
        ("Every tenant signed the letter.", "All tenants signed the letter."),
    ),
    DifferenceKind(
        "comparator",
        "An upper bound for a lower one, at the same amount.",
        ("Deliveries are accepted below 30 °C.", "Deliveries are accepted above 30 °C."),
        ("No more than 6 V may be applied.", "Do not apply more than 6 V."),
    ),
    DifferenceKind(
        "date",
        "Another day, month or year of the same event.",
        ("The lease began on 3 May 2019.", "The lease began on 5 March 2019."),
        ("The lease began in May 2019.", "The lease began on 3 May 2019."),
    ),
    DifferenceKind(
        "time",
        "Before for after, another year, or another frequency.",
        ("Meters are read before the audit.", "Meters are read after the audit."),
        ("Meters are read once a week.", "Meters are read weekly."),
    ),
    DifferenceKind(
        "negation",
        "A “not” that only one side has, in a sentence that is otherwise the same.",
        ("The garden is open in winter.", "The garden is not open in winter."),
        ("Pets aren't allowed in the garden.", "Pets are not allowed in the garden."),
    ),
    DifferenceKind(
        "direction",
        "Up for down, more for less, longer for shorter.",
        ("Prices rose in May.", "Prices fell in May."),
        ("Prices increased in May.", "Prices rose in May."),
    ),
    DifferenceKind(
        "computed",
        "A value that the page's own numbers do not give.",
        ("Sales rose by 30 from 2020 to 2021.", "| | 2020 | 2021 |\n| Sales | 100 | 120 |"),
        ("Sales rose by 20 from 2020 to 2021.", "| | 2020 | 2021 |\n| Sales | 100 | 120 |"),
    ),
    DifferenceKind(
        "table_swap",
        "The cell of another row or column.",
        (
            "In 2021, copper output was 40.",
            "Output (kt)\n| Metal | 2021 | 2022 |\n| Copper | 31 | 35 |\n| Zinc | 40 | 44 |",
        ),
        (
            "In 2021, copper output was 31.",
            "Output (kt)\n| Metal | 2021 | 2022 |\n| Copper | 31 | 35 |\n| Zinc | 40 | 44 |",
        ),
    ),
)
OF_VALUES = frozenset({"digit", "unit", "scale", "currency", "percent_points"})  # which one unit has or lacks
_TYPED = frozenset(kind.name for kind in KINDS)
# Pairs of opposites that say which way a measure goes; roles ("landlord", "tenant") are no direction.
_DIRECTIONS = frozenset(
    [
        "age", "amount", "direction", "excess", "height", "length", "level", "size", "speed", "time_order",
        "weight",
    ]
)  # fmt: skip


def shown_difference(
    judged: Judgement, claim: str, passage: str, language: str, passage_start: int = 0
) -> Conflict | None:
    """Return the conflict that readers may be shown as a difference; None where there is none.

    The conflict's spans count characters of ``claim``, and of the page, on which ``passage`` starts at
    ``passage_start``.
    """
    if judged.outcome != "conflict" or len(judged.conflicts) != 1 or judged.missing or judged.unchecked:
        return None
    conflict = judged.conflicts[0]
    alone = conflict.kind != "negation" and not (conflict.claim and conflict.source)
    if (
        conflict.kind not in _TYPED
        or alone
        or groups_digits_otherwise(conflict, f"{passage} {conflict.source}")
    ):
        return None
    claimed, printed = tokens_of(claim, language), tokens_of(passage, language)
    if conflict.kind == "direction" and _of_other_cells(claimed, conflict.source, language):
        return None
    one = _token_at(claimed, conflict.claim_span[0])
    first, last = (place - passage_start for place in conflict.source_span)
    other = _token_at(printed, first)
    if other is None or conflict.kind == "table_swap":  # the number of a cell may stand behind words
        other = next((t for t in printed if first <= t.start < last and t.quantity), other)
    if conflict.kind == "negation":
        return conflict if _is_only_denied(conflict, judged, claimed) else None
    if one is None or other is None:
        return conflict
    if conflict.kind == "ordinal" and _is_relative(one) != _is_relative(other):
        return None  # "Q3", "in the prior quarter"
    if conflict.kind == "direction":
        pairs = {pair for pair, _ in one.poles} & {pair for pair, _ in other.poles}
        return conflict if pairs <= _DIRECTIONS else None
    if one.quantity is None or other.quantity is None:
        return conflict
    if _is_same_day(one.quantity, other.quantity) or _is_extent_of(one, claimed, other, printed, language):
        return None
    if conflict.kind == "comparator":
        inverted = {one.bound, other.bound} in _INVERTED_BOUNDS
        denied = _denied(one, claimed) or _denied(other, printed)
        if not inverted or denied or judged.coverage < LEAST_COVERAGE:
            return None
        return _with_bounds(conflict, claim, passage, passage_start)
    if conflict.kind == "digit" and not _is_digit_changed(one.quantity, claim, printed, judged):
        return None
    return conflict if _measure_the_same(one, other, conflict.kind) else None


_GROUPED = re.compile(r"(?<![\d.,])\d{1,3}(?:[.,]\d{3})+(?![\d.,]*\d)")


def groups_digits_otherwise(conflict: Conflict, passage: str) -> bool:
    """Return whether the page prints the claim's number with another mark: "1.726" for "1,726"."""
    claimed = _GROUPED.search(conflict.claim)
    if claimed is None:
        return False
    wanted = re.sub(r"\D", "", claimed[0])
    return any(re.sub(r"\D", "", own) == wanted and own != claimed[0] for own in _GROUPED.findall(passage))


def _is_same_day(one: Quantity, other: Quantity) -> bool:
    """Return whether two dates are one: "08/05/1702", "8 May 1702"."""
    return one.dimension == "date" and (one.dimension, one.base) == (other.dimension, other.base)


def _is_extent_of(
    one: Token, claim: Sequence[Token], other: Token, page: Sequence[Token], language: str
) -> bool:
    """Return whether the claim says by how much, and the page from what to what: "rose from 12 to 15"."""
    words = lexicon(language)
    by = change_role(claim, claim.index(one), words) == "by"
    levels = change_role(page, page.index(other), words) in ("from", "to")
    return by and levels and one.quantity != other.quantity


def _of_other_cells(claim: Sequence[Token], cells: str, language: str) -> bool:
    """Return whether the claim has several amounts, but none of the cells compared: "268 → 233"."""
    amounts = [t.quantity for t in claim if t.quantity and t.quantity.dimension not in ("year", "date")]
    printed = {q.value for q in quantities_in(cells, language)}
    return "→" in cells and len(amounts) > 1 and not any(abs(q.value) in printed for q in amounts)


def _is_relative(token: Token) -> bool:
    return is_marker(token, "ordinal", "previous") or is_marker(token, "ordinal", "next")


def _token_at(tokens: Sequence[Token], start: int) -> Token | None:
    """Return the token that begins there, which knows its unit and bound; None without one."""
    return next((token for token in tokens if token.start == start), None)


def _is_only_denied(conflict: Conflict, judged: Judgement, claim: Sequence[Token]) -> bool:
    """Return whether nothing but the "not" differs."""
    words = sum(token.content for token in claim)
    alone = 1 if conflict.claim else 0  # the claim's own "not" has no partner
    return not (conflict.claim and conflict.source) and judged.coverage * words >= words - alone - (
        1 - _WHOLE
    )


_BOUND = re.compile(r"(?:\S+\s+){0,2}\S*$")  # the words before an amount, among them those of its bound


def _with_bounds(conflict: Conflict, claim: str, passage: str, passage_start: int) -> Conflict:
    """Return a conflict of bounds with the words before both amounts, which alone differ."""
    start, end = conflict.claim_span
    first, last = conflict.source_span
    start -= len(_before(claim[:start]))
    first -= len(_before(passage[: first - passage_start]))
    return replace(
        conflict,
        claim=claim[start:end],
        source=passage[first - passage_start : last - passage_start],
        claim_span=(start, end),
        source_span=(first, last),
    )


def _before(text: str) -> str:
    found = _BOUND.search(text[-_LONGEST_BOUND:])
    return found[0] if found else ""


def _denied(amount: Token, tokens: Sequence[Token]) -> bool:
    """Return whether a "not" in an amount's clause inverts its bound: "do not apply more than 6 V"."""
    own = [token for token in tokens if token.clause == amount.clause]
    return bool(denials_at(range(len(own)), own))


def _measure_the_same(one: Token, other: Token, kind: str) -> bool:
    """Return whether two amounts measure the same."""
    claimed, printed = one.quantity, other.quantity
    assert claimed is not None
    assert printed is not None
    if kind == "percent_points":
        return {claimed.dimension, printed.dimension} == {"ratio", "points"}
    if kind == "table_swap":
        return claimed.dimension == printed.dimension or printed.bare
    if kind in ("currency", "computed"):
        return True
    if one.bound != other.bound:
        return False  # "before 16 November", "on 15 November at the latest"
    if claimed.dimension == printed.dimension:
        return True
    return (
        kind == "unit" and claimed.value == printed.value and "" not in (claimed.dimension, printed.dimension)
    )


def _is_digit_changed(claimed: Quantity, claim: str, passage: Sequence[Token], judged: Judgement) -> bool:
    """Return whether a number is the claim's only change: the page does not have it of anything else."""
    known = (token.quantity for token in passage if token.quantity)
    if any(quantity.value == claimed.value for quantity in known):
        return False
    if claim[: claimed.start].endswith(("/", "-", "–")):
        return False  # "2021/22" is one name
    return judged.coverage >= (LEAST_COVERAGE if claimed.dimension else LEAST_COVERAGE_OF_COUNTS)
