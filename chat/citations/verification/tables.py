"""Judges a claim against a table: the cell of the named row and column, two cells, or a whole column."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property

from chat.citations.claims import Conflict
from chat.citations.verification.alignment import difference, rounded, same, same_quantity
from chat.citations.verification.prose import Judgement
from chat.citations.verification.tokens import Token, tokens_of
from text.numbers import number_words, same_characters
from text.quantities import Quantity, currency_names, quantities_in
from text.semantics import known_language, lexicon
from text.units import unit_names, units_by_symbol

_COUNTED = re.compile(r"[(（\[]([^)）\]]*)[)）\]]")
_MOST_WORDS = 5  # of a head that only says what the table counts in
_LEVELS = ("direction", "amount", "height", "size", "money")


@dataclass(frozen=True, slots=True)
class CellText:
    """A cell: its text and its characters in the passage."""

    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Grid:
    """A table: heads by column, rows of cells by column, and what is written over it."""

    heads: tuple[str, ...]
    rows: tuple[tuple[CellText, ...], ...]
    caption: str
    language: str

    @cached_property
    def counted(self) -> _Counted:
        """What the whole table counts in, from its caption and its corner."""
        corner = self.heads[0] if self.heads else ""
        return (
            counted_in(self.caption, self.language)
            or counted_in(corner, self.language, whole=True)
            or _Counted()
        )

    def label(self, row: int) -> tuple[Token, ...]:
        return _words(self.rows[row][0].text, self.language) if self.rows[row] else ()

    def head(self, column: int) -> tuple[Token, ...]:
        text = self.heads[column] if column < len(self.heads) else ""
        if counted_in(text, self.language):
            text = _COUNTED.sub("", text)
        return _words(text, self.language)

    @property
    def columns(self) -> range:
        return range(1, len(self.heads))

    def printed(self, row: int, column: int) -> Quantity | None:
        """The cell's number as it stands there."""
        if column >= len(self.rows[row]):
            return None
        found = quantities_in(self.rows[row][column].text, self.language)
        return found[0] if len(found) == 1 else None

    def quantity(self, row: int, column: int) -> Quantity | None:
        """The cell's number in the unit its head, the caption or the corner names."""
        found = self.printed(row, column)
        if found is None:
            return None
        head = self.heads[column] if column < len(self.heads) else ""
        return (counted_in(head, self.language) or self.counted).applied(found)


@dataclass(frozen=True, slots=True)
class _Counted:
    """What numbers count in: a scale, a currency or a unit."""

    scale: Decimal = Decimal(1)
    currency: str = ""
    symbol: str = ""

    def applied(self, quantity: Quantity) -> Quantity:
        if not quantity.bare and quantity.dimension:
            return quantity
        value, step = quantity.value * self.scale, quantity.step * self.scale
        if self.currency:
            return replace(
                quantity,
                value=value,
                dimension="money",
                base=value,
                unit=self.currency,
                step=step,
                bare=False,
            )
        if unit := units_by_symbol().get(self.symbol):
            base = value * unit.factor + unit.offset
            return replace(
                quantity,
                value=value,
                dimension=unit.dimension,
                base=base,
                unit=self.symbol,
                step=step * unit.factor,
                bare=False,
            )
        dimension = "" if self.scale != 1 else quantity.dimension
        return replace(
            quantity, value=value, base=value, step=step, dimension=dimension, bare=self.scale == 1
        )


def counted_in(text: str, language: str, whole: bool = False) -> _Counted | None:
    """The scale, currency and unit a head names in brackets; ``whole``: or in all of its few words."""
    parts = [match[1] for match in _COUNTED.finditer(text)]
    if whole and not parts and len(text.split()) <= _MOST_WORDS:
        parts = [text]
    for part in parts:
        if found := _counted(same_characters(part), language):
            return found
    return None


def _counted(text: str, language: str) -> _Counted | None:
    scales = number_words(language).scales
    scale, currency, symbol = Decimal(1), "", ""
    plain = text.strip()
    names = unit_names(language)
    if plain in units_by_symbol():
        return _Counted(symbol=plain)
    lowered = plain.lower()
    for word in sorted(scales, key=len, reverse=True):
        if (len(word) > 2 or language in ("zh", "ja")) and _has_word(lowered, word, language):
            scale = scales[word]
            lowered = lowered.replace(word, " ", 1)
            break
    for name, code in sorted(currency_names(language).items(), key=lambda pair: -len(pair[0])):
        if _has_word(lowered, name, language):
            currency = code
            break
    for name in sorted(names, key=len, reverse=True):
        if not currency and _has_word(lowered, name, language):
            symbol = names[name]
            break
    if scale == 1 and not currency and not symbol:
        return None
    return _Counted(scale, currency, symbol)


def _has_word(text: str, word: str, language: str) -> bool:
    if language in ("zh", "ja") or not word[0].isalnum():
        return word in text
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) is not None


def _words(text: str, language: str) -> tuple[Token, ...]:
    return tuple(token for token in tokens_of(text, language) if token.kind not in ("break", "function"))


def judge_table(
    claim: str, grid: Grid, language: str, topics: Sequence[str] = (), own_row: int | None = None
) -> Judgement:
    """Judge a claim against a table; ``own_row``: the row the citation names."""
    if not known_language(language):
        return Judgement("open", unchecked=(f"There are no rules for the language {language or '?'}.",))
    return _Reading(claim, grid, language, topics).judgement()


class _Reading:
    """Reads one claim off one table."""

    def __init__(self, claim: str, grid: Grid, language: str, topics: Sequence[str]) -> None:
        self.claim, self.grid, self.language = claim, grid, language
        self.tokens = [
            token for token in tokens_of(claim, language) if token.kind not in ("break", "function")
        ]
        self.topics = [*topics, grid.caption, *(grid.heads[:1])]
        self.used: set[int] = set()

    def judgement(self) -> Judgement:
        rows = self._named([self.grid.label(row) for row in range(len(self.grid.rows))])
        heads = {column: self.grid.head(column) for column in self.grid.columns}
        columns = [list(heads)[at] for at in self._named(list(heads.values()))]
        if len(heads) == 1 and not columns:
            columns = list(heads)
        if len(columns) > 1 and not self._compares():
            return Judgement("open", unchecked=("The claim names several columns.",))
        named = [token for column in columns for token in heads[column] if token.quantity]
        values = [
            at
            for at, token in enumerate(self.tokens)
            if token.quantity and at not in self.used and not any(same(token, other) for other in named)
        ]
        self.used |= {
            at for at, token in enumerate(self.tokens) if any(same(token, other) for other in named)
        }
        if len(rows) == 1 and len(columns) == 1 and values:
            return self._cell(rows[0], columns[0], values)
        if len(rows) == 1 and len(columns) == 1 and self._extreme() is not None:
            return self._top(rows[0], columns[0])
        if len(rows) == 1 and len(columns) == 2:
            return self._computed(rows[0], columns, values) if values else self._change(rows[0], columns)
        if len(rows) == 2 and len(columns) == 1 and not values:
            return Judgement("open", unchecked=("The claim compares two rows.",))
        return Judgement("open", unchecked=("The claim names no one cell.",))

    def _named(self, labels: Sequence[Sequence[Token]]) -> list[int]:
        """Indexes of the labels all of whose words the claim has; not those that are part of longer ones."""
        found: dict[int, set[int]] = {}
        for index, label in enumerate(labels):
            places = [self._place(token) for token in label]
            if label and None not in places:
                found[index] = {place for place in places if place is not None}
        kept = [i for i in found if not any(found[i] < found[k] for k in found)]
        for index in kept:
            self.used |= found[index]
        return kept

    def _place(self, wanted: Token) -> int | None:
        return next((at for at, token in enumerate(self.tokens) if same(token, wanted)), None)

    def _compares(self) -> bool:
        return any(pair in _LEVELS for token in self.tokens for pair, _ in token.poles)

    def _cell(self, row: int, column: int, values: Sequence[int]) -> Judgement:
        cell, printed = self.grid.rows[row][column], self.grid.quantity(row, column)
        spans = ((cell.start, cell.end),)
        if printed is None:
            return Judgement("open", spans, unchecked=("The cell holds no single number.",))
        as_printed = self.grid.printed(row, column)
        for at in values:
            if not self._agrees(self.tokens[at], printed) and not self._repeats(self.tokens[at], as_printed):
                sure = (
                    0.0 if printed.bare and not printed.dimension and not _is_bare(self.tokens[at]) else 1.0
                )
                return Judgement("conflict", spans, (self._wrong(at, row, column, printed),), coverage=sure)
        if (wrong := self._wrong_sign(printed)) is not None:
            return Judgement("conflict", spans, (self._conflict("sign", wrong, cell),), coverage=1.0)
        return self._rest(spans, set(values) | self._direction(column))

    def _direction(self, column: int) -> set[int]:
        """Words of rising and falling, where the table counts changes: their sign has been compared."""
        words = lexicon(self.language).change
        over = " ".join([*self.topics, self.grid.heads[column]]).lower()
        if not any(word in over for word in words):
            return set()
        return {at for at, token in enumerate(self.tokens) if self._side(token) is not None}

    def _side(self, token: Token) -> int | None:
        """0 for a word of rise or profit, 1 for one of fall or loss."""
        sides = {side for pair, side in token.poles if pair in ("direction", "money")}
        return sides.pop() if len(sides) == 1 and not token.marker else None

    def _agrees(self, token: Token, printed: Quantity) -> bool:
        claimed = token.quantity
        assert claimed is not None
        if token.bound not in ("", "approx"):
            return False
        if printed.dimension == "" and not printed.bare and claimed.dimension == "money":
            printed = replace(printed, dimension="money", unit=claimed.unit)
        return any(
            same_quantity(value, printed, hedged=token.bound == "approx")
            or (
                _is_scaled(value)
                and value.dimension == printed.dimension
                and value.unit == printed.unit
                and rounded(value, printed)
            )
            for value in (claimed, self._turned(claimed, printed))
        )

    def _repeats(self, token: Token, printed: Quantity | None) -> bool:
        """Whether the claim repeats the cell's digits, without the scale the table counts in."""
        claimed = token.quantity
        if claimed is None or printed is None or token.bound not in ("", "approx"):
            return False
        plain = claimed.bare or (claimed.dimension == "money" and claimed.scale == 1)
        other_currency = claimed.unit and printed.unit not in ("", claimed.unit)
        other_counted = claimed.unit and self.grid.counted.currency not in ("", claimed.unit)
        turned = self._turned(claimed, printed)
        return plain and not other_currency and not other_counted and turned.value == printed.value

    def _turned(self, claimed: Quantity, printed: Quantity) -> Quantity:
        """The claimed amount as a loss or fall, where the claim says one."""
        bracketed = (
            self.claim[max(0, claimed.start - 1) : claimed.start] == "("
            and self.claim[claimed.end :].lstrip()[:1] == ")"
        )
        falls = bracketed or any(
            self._side(token) == 1 for at, token in enumerate(self.tokens) if at not in self.used
        )
        negative = falls and printed.value < 0 < claimed.value
        return replace(claimed, value=-claimed.value, base=-claimed.base) if negative else claimed

    def _wrong_sign(self, printed: Quantity) -> int | None:
        for at, token in enumerate(self.tokens):
            side = self._side(token)
            if side is None or at in self.used:
                continue
            if (side == 0 and printed.value < 0) or (
                side == 1 and printed.value > 0 and self._direction_counts()
            ):
                return at
        return None

    def _direction_counts(self) -> bool:
        return any(self._direction(column) for column in self.grid.columns)

    def _wrong(self, at: int, row: int, column: int, printed: Quantity) -> Conflict:
        token, cell = self.tokens[at], self.grid.rows[row][column]
        source = Token("quantity", cell.text, cell.start, cell.end, quantity=printed)
        kind = difference(token, source)
        if kind == "digit":
            same_row = [
                c for c in self.grid.columns if (q := self.grid.quantity(row, c)) and self._agrees(token, q)
            ]
            elsewhere = same_row or [
                r for r in range(len(self.grid.rows)) for c in self.grid.columns
                if (q := self.grid.quantity(r, c)) and self._agrees(token, q)
            ]  # fmt: skip
            kind = "table_swap" if elsewhere else kind
        return self._conflict(kind, at, cell)

    def _conflict(self, kind: str, at: int, cell: CellText) -> Conflict:
        token = self.tokens[at]
        return Conflict(kind, token.word, cell.text, (token.start, token.end), (cell.start, cell.end))

    def _change(self, row: int, columns: Sequence[int]) -> Judgement:
        """ "It rose from 2010 to 2020": two cells of a row."""
        sides = {
            (at, side)
            for at, token in enumerate(self.tokens)
            for pair, side in token.poles
            if pair == "direction"
        }
        values = [self.grid.quantity(row, column) for column in columns]
        if len(sides) != 1 or None in values or any(self._is("negation", token) for token in self.tokens):
            return Judgement("open", unchecked=("The claim compares cells.",))
        at, side = next(iter(sides))
        first, last = (value.base for value in values if value is not None)
        if self._order(columns) < 0:
            first, last = last, first
        cells = [self.grid.rows[row][column] for column in columns]
        spans = tuple((cell.start, cell.end) for cell in cells)
        if first == last or (last > first) != (side == 0):
            ordered = cells if self._order(columns) > 0 else cells[::-1]
            both = CellText(" → ".join(cell.text for cell in ordered), *spans[-1])
            return Judgement("conflict", spans, (self._conflict("direction", at, both),), coverage=1.0)
        numbers = {place for place, token in enumerate(self.tokens) if token.quantity}
        return self._rest(spans, {at, *numbers})

    def _computed(self, row: int, columns: Sequence[int], values: Sequence[int]) -> Judgement:
        """ "It rose by 204, or 14.9 %": the difference or growth of two cells of a row."""
        changed = self._change(row, columns)
        if changed.outcome != "holds":
            return changed
        ordered = list(columns) if self._order(columns) > 0 else list(reversed(columns))
        cells = [self.grid.quantity(row, column) for column in ordered]
        first, last = (cell for cell in cells if cell is not None)
        texts = [self.grid.rows[row][column].text for column in ordered]
        formula = ""
        for at in values:
            if any(self._agrees(self.tokens[at], cell) for cell in (first, last)):
                return Judgement(
                    "open", changed.spans, unchecked=("The claim names the cells and their change.",)
                )
            result = change_of(first, last, self.tokens[at])
            if result is None:
                return Judgement("open", changed.spans, unchecked=(self.tokens[at].word,), coverage=1.0)
            said = result.formula(*texts)
            if not result.agrees(self.tokens[at]):
                wrong = self._conflict("computed", at, CellText(said, *changed.spans[-1]))
                return Judgement("conflict", changed.spans, (wrong,), coverage=1.0)
            formula = formula or said
        return replace(changed, formula=formula)

    def _order(self, columns: Sequence[int]) -> int:
        """1 when the columns run from the earlier to the later time, -1 the other way round."""
        times = [
            [token.quantity.value for token in self.grid.head(column) if token.quantity] for column in columns
        ]
        return -1 if times[0] and times[1] and times[0][-1] > times[1][-1] else 1

    def _extreme(self) -> int | None:
        return next(
            (
                at
                for at, token in enumerate(self.tokens)
                if token.marker
                and token.marker.category == "ordinal"
                and token.marker.value in ("top", "bottom")
            ),
            None,
        )

    def _top(self, row: int, column: int) -> Judgement:
        at = self._extreme()
        assert at is not None
        marker = self.tokens[at].marker
        values = [self.grid.quantity(r, column) for r in range(len(self.grid.rows))]
        if marker is None or None in values:
            return Judgement("open", unchecked=("The column is not all numbers.",))
        numbers = [value.base for value in values if value is not None]
        wanted = max(numbers) if marker.value == "top" else min(numbers)
        cell = self.grid.rows[row][column]
        spans = ((cell.start, cell.end),)
        if numbers[row] != wanted or numbers.count(wanted) > 1:
            return Judgement("conflict", spans, (self._conflict("ordinal", at, cell),), coverage=1.0)
        return self._rest(spans, {at})

    def _rest(self, spans: tuple[tuple[int, int], ...], known: set[int]) -> Judgement:
        """Verified only when every other word of the claim stands over or in the table."""
        said = [token for text in self.topics for token in _words(text, self.language)]
        said += [
            token for column in self.grid.columns for token in _words(self.grid.heads[column], self.language)
        ]
        left = [
            token
            for at, token in enumerate(self.tokens)
            if at not in self.used | known and not any(same(token, other) for other in said)
            and not (token.marker is None and self._is_sign_word(token))
        ]  # fmt: skip
        if left:
            markers = tuple(token.word for token in left if token.marker)
            missing = tuple(token.word for token in left if not token.marker)
            return Judgement("open", spans, missing=missing, unchecked=markers, coverage=0.5)
        return Judgement("holds", spans, coverage=1.0)

    def _is_sign_word(self, token: Token) -> bool:
        return any(pair == "money" for pair, _ in token.poles)

    def _is(self, category: str, token: Token) -> bool:
        return token.marker is not None and token.marker.category == category


@dataclass(frozen=True, slots=True)
class Change:
    """The change between two cells: their difference, or with ``growth`` its percentage of the first."""

    amount: Decimal
    growth: bool
    step: Decimal

    def agrees(self, token: Token) -> bool:
        """Whether a claim's number is this one, within its own rounding."""
        claimed = token.quantity
        assert claimed is not None
        value = claimed.value if self.growth else claimed.base
        return abs(abs(self.amount) - abs(value)) <= self.step / 2

    def formula(self, first: str, last: str) -> str:
        """How it is computed, with the cells as they are printed."""
        if self.growth:
            return f"({last} − {first}) / {first} = {round(self.amount, 1)} %"
        return f"{last} − {first} = {_plain(self.amount)}"


def change_of(first: Quantity, last: Quantity, token: Token) -> Change | None:
    """The change a claim's number is to be held against; None where the measures do not fit."""
    claimed = token.quantity
    if claimed is None or first.dimension != last.dimension or token.bound not in ("", "approx"):
        return None
    difference = last.base - first.base
    if claimed.dimension == "ratio" and claimed.unit == "%" and first.base:
        growth = difference / abs(first.base) * 100
        return Change(growth, True, Decimal(1).scaleb(_exponent(claimed.value)))
    if claimed.dimension == "points" and first.dimension == "ratio":
        return Change(difference * 100, False, max(claimed.step, Decimal("0.0001")))
    if claimed.dimension == first.dimension and claimed.unit in ("", first.unit):
        return Change(difference, False, claimed.step)
    if claimed.bare and not first.bare:  # as printed, without the scale of the table
        scale = first.base / first.value if first.value else Decimal(1)
        return Change(difference / scale, False, claimed.step)
    return None


def _exponent(value: Decimal) -> int:
    exponent = value.as_tuple().exponent
    return exponent if isinstance(exponent, int) else 0


def _plain(amount: Decimal) -> str:
    return f"{amount.normalize():,f}"


def _is_scaled(quantity: Quantity) -> bool:
    return quantity.scale > 1


def _is_bare(token: Token) -> bool:
    return token.quantity is None or token.quantity.bare
