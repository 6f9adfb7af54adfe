"""Numbers computed from two cells or amounts: change, sum, ratio and share, with their formula."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise
from operator import ge, gt, le, lt
from typing import Literal

from citing.comparison.phrases import change_role, counted_behind_whole, places_of_phrases
from citing.comparison.token import Token, denials_at, is_marker
from text.quantities import Quantity
from text.semantics import Lexicon

Operation = Literal["change", "difference", "sum", "ratio", "share"]


@dataclass(frozen=True, slots=True)
class Operands:
    """A number and its reference: the later and the earlier, the first and the second named.

    ``texts``: both as printed; ``scale``: that of the table.
    """

    subject: Quantity
    reference: Quantity
    texts: tuple[str, str]
    scale: Decimal = Decimal(1)

    @property
    def comparable(self) -> bool:
        return (self.subject.dimension, self.subject.unit) == (self.reference.dimension, self.reference.unit)


@dataclass(frozen=True, slots=True)
class Result:
    """A computed number in the unit of the claim, compared within the claim's rounding."""

    amount: Decimal
    step: Decimal
    formula: str

    def agrees(self, claimed: Decimal, *, signed: bool = False) -> bool:
        """Return whether it is the claimed amount; ``signed``: with its sign, which "fell by 5 %" omits."""
        other = claimed if signed else abs(claimed).copy_sign(self.amount)
        return abs(self.amount - other) <= self.step / 2


def computed(claimed: Quantity, operands: Operands, operation: Operation) -> tuple[Result, Decimal] | None:
    """Return the result to compare with a claim's number, and that number in the unit of the result.

    None where the units do not fit.
    """
    if not operands.comparable:
        return None
    return _OPERATIONS[operation](claimed, operands)


def _change(claimed: Quantity, held: Operands) -> tuple[Result, Decimal] | None:
    subject, reference = held.subject, held.reference
    if claimed.unit == "%" or (claimed.dimension == "ratio" and subject.dimension != "ratio"):
        return _growth(claimed, held)
    if claimed.dimension == "points" and subject.dimension == "ratio":
        return _difference(held, Decimal(100), claimed.base, max(claimed.step, Decimal("0.0001")))
    counted = claimed.dimension == "money" and not subject.dimension and not subject.bare  # "in millions"
    scaled = claimed.scale != 1 and not claimed.dimension and subject.dimension == "money"  # "427 million"
    if counted or scaled or (claimed.dimension == subject.dimension and claimed.unit in ("", subject.unit)):
        return _difference(held, Decimal(1), claimed.base, claimed.step)
    if claimed.bare and not reference.bare:  # as printed, without the scale of the table
        return _difference(held, _unscaled(reference), claimed.value, claimed.step)
    return None


def _unscaled(quantity: Quantity) -> Decimal:
    """Return the factor from an amount to the number printed for it."""
    return quantity.value / quantity.base if quantity.base else Decimal(1)


def _difference(held: Operands, factor: Decimal, claimed: Decimal, step: Decimal) -> tuple[Result, Decimal]:
    amount = (held.subject.base - held.reference.base) * factor
    formula = f"{held.texts[0]} − {held.texts[1]} = {_plain(amount / held.scale)}"
    return Result(amount, step, formula), claimed


def _growth(claimed: Quantity, held: Operands) -> tuple[Result, Decimal] | None:
    reference = held.reference.base
    if not reference:
        return None
    amount = (held.subject.base - reference) / abs(reference) * 100
    later, earlier = held.texts
    formula = f"({later} − {earlier}) / {earlier} = {_plain(round(amount, 1))} %"
    value = claimed.base * 100
    return Result(amount, _place(claimed.value), formula), value


def _sum(claimed: Quantity, held: Operands) -> tuple[Result, Decimal] | None:
    amount = held.subject.base + held.reference.base
    formula = f"{held.texts[0]} + {held.texts[1]} = {_plain(amount / held.scale)}"
    if claimed.bare and not held.subject.bare and claimed.dimension != held.subject.dimension:
        factor = _unscaled(held.subject)
        return Result(amount * factor, claimed.step, formula), claimed.value
    return Result(amount, claimed.step, formula), claimed.base


def _ratio(claimed: Quantity, held: Operands) -> tuple[Result, Decimal] | None:
    if not held.reference.base:
        return None
    amount = held.subject.base / held.reference.base
    formula = f"{held.texts[0]} / {held.texts[1]} = {round(amount, 2)}"
    return Result(amount, _place(claimed.value), formula), claimed.value


def _share(claimed: Quantity, held: Operands) -> tuple[Result, Decimal] | None:
    if not held.reference.base or claimed.dimension != "ratio":
        return None
    amount = held.subject.base / held.reference.base * 100
    formula = f"{held.texts[0]} / {held.texts[1]} = {round(amount, 1)} %"
    step = _place(claimed.value) if claimed.unit == "%" else Decimal(1)
    return Result(amount, step, formula), claimed.base * 100


@dataclass(frozen=True, slots=True)
class Equation:
    """A calculation that a claim writes down: "(84 − 80) ÷ 80 = 5 %".

    Attributes:
        operation: of the first two of ``operands``.
        operands: places of their tokens, as written; one that is written twice is twice in it.
        results: places of the results; of a ratio also of the percentage after it.
    """

    operation: Operation
    operands: tuple[int, ...]
    results: tuple[int, ...]

    @property
    def places(self) -> set[int]:
        return {*self.operands, *self.results}

    def order(self, agreeing: Sequence[Set[int]]) -> tuple[int, int] | None:
        """Return which of two cells is the first operand, and which the second; None without a match.

        ``agreeing``: for each of ``operands`` the cells (0, 1) with its value.
        """
        for first, second in ((0, 1), (1, 0)):
            if first in agreeing[0] and all(second in cells for cells in agreeing[1:]):
                return first, second
        return None


_EQUATIONS: tuple[tuple[re.Pattern[str], Operation, int], ...] = (
    (re.compile(r"(?<![-+*/N])\(N-N\)/N=N(?![-+*/N])"), "change", 3),
    (re.compile(r"(?<![-+*/N])N-N=N(?![-+*/N])"), "difference", 2),
    (re.compile(r"(?<![-+*/N])N\+N=N(?![-+*/N])"), "sum", 2),
    (re.compile(r"(?<![-+*/N])N/N=N(?:\(N\))?(?![-+*/N])"), "ratio", 2),
)
"""Calculations with ``N`` for each number, and the number of operands."""
_SIGNS = str.maketrans({"−": "-", "–": "-", "÷": "/", "×": "*", "≈": "="})
_BESIDE = re.compile(r"[^-+*/=()\s]+")  # words, and marks that end a phrase


def _shape(text: str) -> str:
    """Return the signs of a calculation between two numbers, with ``w`` for other text."""
    return "".join(_BESIDE.sub("w", text.translate(_SIGNS)).split())


def equals_signs(tokens: Sequence[Token]) -> set[int]:
    """Return the places of equals signs between two numbers: "€5 million = €5,000 thousand"."""
    return {
        at
        for at, token in enumerate(tokens[1:-1], 1)
        if token.word in ("=", "≈") and tokens[at - 1].quantity and tokens[at + 1].quantity
    }


def written_equation(claim: str, tokens: Sequence[Token]) -> tuple[Equation | None, tuple[Token, ...]]:
    """Return the calculation written in a claim, if any, and its tokens; a minus between numbers is no sign.

    Without a calculation the tokens are unchanged.
    """
    shape, places, read, at = "", [], list(tokens), 0
    for place, token in enumerate(tokens):
        if token.quantity is None:
            continue
        shape += _shape(claim[at : token.start])
        is_minus = shape.endswith("N") and claim[token.start].translate(_SIGNS) == "-"
        if is_minus:
            quantity = replace(token.quantity, value=-token.quantity.value, base=-token.quantity.base)
            read[place] = replace(token, quantity=quantity)
        shape += "-N" if is_minus else "N"
        places.append(place)
        at = token.end
    shape += _shape(claim[at:])
    for pattern, operation, count in _EQUATIONS:
        if found := pattern.search(shape):
            before = shape[: found.start()].count("N")
            own = places[before : before + found[0].count("N")]
            return Equation(operation, tuple(own[:count]), tuple(own[count:])), tuple(read)
    return None, tuple(tokens)


_OPERATIONS: dict[Operation, Callable[[Quantity, Operands], tuple[Result, Decimal] | None]] = {
    "change": _change,
    "difference": _change,
    "sum": _sum,
    "ratio": _ratio,
    "share": _share,
}


def _place(value: Decimal) -> Decimal:
    """Return the value of the last written digit."""
    exponent = value.as_tuple().exponent
    return Decimal(1).scaleb(exponent if isinstance(exponent, int) else 0)


def _plain(amount: Decimal) -> str:
    return f"{amount.normalize():,f}".replace("-", "−")


# Calculations with the two amounts of a sentence.


@dataclass(frozen=True, slots=True)
class Calculation:
    """A calculation of a claim from two amounts of a sentence.

    ``wrong``: the word or number of the claim that the formula contradicts; None where it holds.
    """

    amounts: tuple[Token, Token]
    formula: str
    wrong: Token | None = None


Holds = Callable[[Sequence[Token]], bool]
"""Whether the sentence supports a statement."""


def computed_in_prose(
    claim: Sequence[Token], source: Sequence[Token], words: Lexicon, holds: Holds
) -> Calculation | None:
    """Compute the change, share, remainder or comparison that a claim makes of a sentence's amounts.

    None where the claim has none of them, or where its other words do not hold.
    """
    ways = (_changed, _turned, _part_of_whole, _bounded)
    return next((found for way in ways if (found := way(claim, source, words, holds))), None)


def _changed(
    claim: Sequence[Token], source: Sequence[Token], words: Lexicon, holds: Holds
) -> Calculation | None:
    """Check "Rent rose by 3 to 15" against "Rent was 12 in 2020 and 15 in 2021"."""
    numbers = [at for at, t in enumerate(claim) if t.quantity and t.quantity.dimension not in DATES]
    extents = [at for at in numbers if change_role(claim, at, words) == "by"]
    turns = _turns(claim)
    if len(extents) != 1 or len(turns) != 1:
        return None
    (extent,), ((turn, side),) = extents, turns
    pair, claimed = _amounts_in_order(source, words), claim[extent].quantity
    if pair is None or claimed is None:
        return None
    held = _operands(*pair)
    found = computed(claimed, held, "change")
    begin = next(k for k in range(extent, -1, -1) if k == 0 or claim[k - 1].kind != "function")
    rest = [t for k, t in enumerate(claim) if not begin <= k <= extent and k != turn]
    if found is None or not holds(rest):
        return None
    result, amount = found
    rises = held.subject.base > held.reference.base
    agrees = rises == (side == 0)
    wrong = None if agrees and result.agrees(amount) else claim[extent if agrees else turn]
    return Calculation((pair[1], pair[0]), result.formula, wrong)


def _turned(
    claim: Sequence[Token], source: Sequence[Token], words: Lexicon, holds: Holds
) -> Calculation | None:
    """Check "Rent rose between 2020 and 2022" against "Rent was 12 in 2020 and 15 in 2022"."""
    turns, dates = _turns(claim), [t.quantity for t in claim if t.quantity]
    pair = None if len(turns) != 1 or _turns(source) else _amounts_in_order(source, words)
    if pair is None or any(q.dimension not in DATES for q in dates) or any(t.marker for t in source):
        return None
    claim_years, source_years = (
        {q.base for q in dates},
        {q.base for t in source if (q := t.quantity) and q.dimension in DATES},
    )
    if (
        not claim_years <= source_years
        or (claim_years and max(claim_years) != max(source_years))
        or len(dates) > len(claim_years)
    ):
        return None
    (turn, side), (later, earlier) = turns[0], pair
    if not holds([t for at, t in enumerate(claim) if at != turn and not t.quantity]):
        return None
    amounts = _operands(later, earlier)
    first, last = amounts.reference.base, amounts.subject.base
    agrees = first != last and (last > first) == (side == 0)
    return Calculation((earlier, later), f"{earlier.word} → {later.word}", None if agrees else claim[turn])


def _turns(tokens: Sequence[Token]) -> list[tuple[int, int]]:
    """Return the places of words of change, and their sides: 0 for a rise."""
    return [(at, side) for at, t in enumerate(tokens) for pair, side in t.poles if pair == "direction"]


def _operands(subject: Token, reference: Token) -> Operands:
    assert subject.quantity is not None
    assert reference.quantity is not None
    return Operands(subject.quantity, reference.quantity, (subject.word, reference.word))


DATES = ("year", "date")


def _amounts_in_order(tokens: Sequence[Token], words: Lexicon) -> tuple[Token, Token] | None:
    """Return the later and the earlier of a sentence's only two amounts of one unit, by their years.

    Or the end and the start of a change, where a sentence has both ("from 96 to 81").
    """
    changed = [(change_role(tokens, k, words), t) for k, t in enumerate(tokens) if t.quantity and not t.bound]
    for (role, before), (following, after) in pairwise(changed):
        if _of_one_measure(before, after) and (role, following) == ("from", "to"):
            return after, before
    for (role, before), (following, after) in pairwise(changed):
        together = before.clause == after.clause and before.part == after.part  # "fell to 81 from 96"
        if together and _of_one_measure(before, after) and (role, following) == ("to", "from"):
            return before, after
    amounts = [at for at, t in enumerate(tokens) if t.quantity and t.quantity.dimension not in DATES]
    years = [at for at, t in enumerate(tokens) if t.quantity and t.quantity.dimension in DATES]
    if len(amounts) == 2 and _of_one_measure(*(tokens[at] for at in amounts)):
        one, other = amounts
        if _is_compared(tokens, other, words) and not (tokens[one].bound or tokens[other].bound):
            return tokens[one], tokens[other]
    if len(amounts) != 2 or len(years) != 2:
        return None
    one, other = amounts
    measures = {(q.dimension, q.unit) for at in amounts if (q := tokens[at].quantity)}
    if len(measures) != 1 or any(tokens[at].bound for at in amounts):
        return None
    known = places_of_phrases(tokens, words.compared)
    between = (tokens[at] for at in range(one + 1, other) if at not in known)
    if any(t.kind == "word" and t.word not in words.light | words.counted for t in between):
        return None  # "revenue was 12 in 2022 and income 10 in 2021"
    of_year = [min(years, key=lambda year, at=at: (abs(year - at), year < at)) for at in amounts]  # type: ignore[misc]
    if of_year[0] == of_year[1]:
        return None
    first, last = (tokens[at].quantity for at in of_year)
    if first is None or last is None or first.base == last.base:
        return None
    return (tokens[other], tokens[one]) if last.base > first.base else (tokens[one], tokens[other])


def _is_compared(tokens: Sequence[Token], at: int, words: Lexicon) -> bool:
    """Return whether an amount is that of the period before: "compared with 20 % in the prior year"."""
    before = " ".join(token.word for token in tokens[max(0, at - 3) : at])
    behind = tokens[at + 1 : at + 1 + _NEAR_PERIOD]
    return before.endswith(tuple(words.compared)) and any(
        is_marker(t, "ordinal", "previous") or t.word in words.year_before or ("time_order", 0) in t.poles
        for t in behind
    )


_NEAR_PERIOD = 4  # tokens between an amount and its period


def _of_one_measure(one: Token, other: Token) -> bool:
    first, second = one.quantity, other.quantity
    return bool(first and second and first.dimension == second.dimension not in DATES)


def _part_of_whole(
    claim: Sequence[Token], source: Sequence[Token], words: Lexicon, holds: Holds
) -> Calculation | None:
    """Check "40 % of the firms train" against "96 of the 240 firms train", and the remainder likewise."""
    pair = _part_and_whole(next(counted_behind_whole(source, words), source), words)
    denied = denials_at(range(len(claim)), claim)
    if pair is None or len(denied) > 1:
        return None
    part, whole = (token.quantity for token in pair)
    assert part is not None
    assert whole is not None
    for at, token in enumerate(claim):
        share = token.quantity is not None and token.quantity.dimension == "ratio"
        count = token.quantity is not None and token.quantity.bare and token.quantity.value != whole.value
        if token.bound or token.quantity is None or not (share or (denied and count)):
            continue
        counted = replace(token, quantity=part)
        statement = [counted if k == at else t for k, t in enumerate(claim) if k not in denied]
        if not holds(statement):
            continue
        if denied and not share:
            rest = Result(whole.value - part.value, token.quantity.step, "")
            formula = f"{pair[1].word} − {pair[0].word} = {_plain(rest.amount)}"
            return Calculation(pair, formula, None if rest.agrees(token.quantity.value) else token)
        if denied:
            return None
        if found := _share(token.quantity, _operands(*pair)):
            result, amount = found
            return Calculation(pair, result.formula, None if result.agrees(amount) else token)
    return None


def _part_and_whole(tokens: Sequence[Token], words: Lexicon) -> tuple[Token, Token] | None:
    """Return the two counts of "96 of the 240 firms"; None without exactly one such pair."""
    pairs = []
    for at, token in enumerate(tokens[:-2]):
        behind = next((t for t in tokens[at + 2 : at + 4] if t.word not in words.articles), token)
        one, other = token.quantity, behind.quantity
        if tokens[at + 1].word in words.among | words.genitive and one and other and behind is not token:
            counts = one.bare and other.bare and not one.dimension and not other.dimension
            pairs += [(token, behind)] if counts and 0 < one.value < other.value else []
    return pairs[0] if len(pairs) == 1 else None


_WITHIN: dict[str, tuple[Callable[[Decimal, Decimal], bool], str, str]] = {
    "lt": (lt, "<", "≥"), "le": (le, "≤", ">"), "gt": (gt, ">", "≤"), "ge": (ge, "≥", "<")
}  # fmt: skip
"""For each bound its comparison, and the signs for a kept and a broken bound."""


def as_money(claimed: Quantity, printed: Quantity) -> Quantity:
    """Return a scaled table number without a unit in the currency of the claim."""
    if printed.dimension == "" and not printed.bare and claimed.dimension == "money":
        return replace(printed, dimension="money", unit=claimed.unit)
    return printed


_NEAREST = Decimal("0.1")  # share of an amount, or of its bound


def within_bound(token: Token, held: Quantity, text: str) -> tuple[bool, str] | None:
    """Return whether an exact amount is within a claim's bound, and the formula; None without a bound."""
    bound = token.quantity
    if bound is None or token.bound not in _WITHIN:
        return None
    held = as_money(bound, held)
    if (held.dimension, held.unit) != (bound.dimension, bound.unit):
        return None
    if held.base and not _NEAREST <= abs(bound.base / held.base) <= 1 / _NEAREST:
        return None  # nobody writes "up to £30 million" of £30,000
    within, kept, broken = _WITHIN[token.bound]
    is_within = within(held.base, bound.base)
    return is_within, f"{text} {kept if is_within else broken} {token.word}"


def _bounded(
    claim: Sequence[Token], source: Sequence[Token], words: Lexicon, holds: Holds
) -> Calculation | None:
    """Check "below 6 %" against "was 5.4 %"; not in a sentence that has the bound itself."""
    printed = {token.quantity.base for token in source if token.quantity}
    for at, own in enumerate(claim):
        if own.quantity and own.quantity.base in printed:
            continue
        for token in source if own.quantity and own.bound in _WITHIN else ():
            held = token.quantity
            if held is None or token.bound or held.dimension in DATES:
                continue
            found = within_bound(own, held, token.word)
            exact = [replace(token, start=t.start, end=t.end) if k == at else t for k, t in enumerate(claim)]
            if found and holds(exact):
                return Calculation((token, token), found[1], None if found[0] else own)
    return None
