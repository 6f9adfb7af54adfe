"""Tables as the verifier reads them: heads, rows of cells, and what their numbers count in."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property

from chat.citations.verification.token import Token
from chat.citations.verification.tokens import tokens_of
from text.numbers import number_words, same_characters
from text.quantities import Quantity, currency_names, quantities_in
from text.units import unit_names, units_by_symbol

_COUNTED = re.compile(r"[(（\[]([^)）\]]*)[)）\]]")
_IN_PERCENT = re.compile(r"(?:^|[,;:]\s*|\b(?:in|en|em)\s+)%")
_MOST_WORDS = 5  # of a head that only says what the table counts in


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
            or (_Counted(symbol="%") if _IN_PERCENT.search(self.caption) else None)
            or _Counted()
        )

    def label(self, row: int) -> tuple[Token, ...]:
        return words_of(self.rows[row][0].text, self.language) if self.rows[row] else ()

    def head(self, column: int) -> tuple[Token, ...]:
        text = self.heads[column] if column < len(self.heads) else ""
        if counted_in(text, self.language):
            text = _COUNTED.sub("", text)
        return words_of(text, self.language)

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


def words_of(text: str, language: str) -> tuple[Token, ...]:
    return tuple(
        token for token in tokens_of(text, language, limits=False) if token.kind not in ("break", "function")
    )
