"""Tables as the verifier reads them: heads, rows of cells, and what their numbers count in."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from chat.citations.verification.token import Token
from chat.citations.verification.tokens import tokens_of
from text.measures import Measure, exceptions_of, measure_of, without_measure
from text.quantities import Quantity, quantities_in

_PER_ROW = 2  # words of an exception that a row must share: "per share"


@dataclass(frozen=True, slots=True)
class CellText:
    """A cell: its text and its characters in the passage."""

    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Grid:
    """A table: heads by column, rows of cells by column, and what is written over it.

    Attributes:
        caption: its caption, whose words a claim may repeat.
        over: texts above it that may say what it counts in, the nearest first.
    """

    heads: tuple[str, ...]
    rows: tuple[tuple[CellText, ...], ...]
    caption: str
    language: str
    over: tuple[str, ...] = ()

    @cached_property
    def counted(self) -> Measure:
        """What the whole table counts in, by its corner, its caption and the texts over it."""
        corner = self.heads[0] if self.heads else ""
        for text in (corner, self.caption, *self.over):
            if found := measure_of(text, self.language):
                return found.measure
        return Measure()

    @cached_property
    def _excepted(self) -> tuple[frozenset[str], ...]:
        """What the scale is not for: the words of "except per share data"."""
        texts = (*self.heads[:1], self.caption, *self.over)
        return tuple(words for text in texts for words in exceptions_of(text, self.language))

    def label(self, row: int) -> tuple[Token, ...]:
        if not self.rows[row]:
            return ()
        return words_of(without_measure(self.rows[row][0].text, self.language), self.language)

    def head(self, column: int) -> tuple[Token, ...]:
        text = self.heads[column] if column < len(self.heads) else ""
        return words_of(without_measure(text, self.language), self.language)

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
        """The cell's number in the unit that its row, its head, the corner or the caption names."""
        found = self.printed(row, column)
        return None if found is None else self._measure(row, column).applied(found)

    def is_excepted(self, row: int) -> bool:
        """Whether the table's scale is not for this row: "in millions, except per share data"."""
        words = frozenset(self.rows[row][0].text.lower().split())
        return any(len(words & excepted) >= _PER_ROW for excepted in self._excepted)

    def _measure(self, row: int, column: int) -> Measure:
        label = self.rows[row][0].text
        table = Measure(currency=self.counted.currency) if self.is_excepted(row) else self.counted
        head = self.heads[column] if column < len(self.heads) else ""
        for text in (head, label):
            if (found := measure_of(text, self.language)) is not None:
                table = found.measure.over(table)
        return table


def words_of(text: str, language: str) -> tuple[Token, ...]:
    return tuple(
        token for token in tokens_of(text, language, limits=False) if token.kind not in ("break", "function")
    )
