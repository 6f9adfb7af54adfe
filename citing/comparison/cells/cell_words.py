"""Read how a claim refers to the cells of a table: signs, comparisons, and the columns it means."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal

from citing.comparison.cells.computation import Operands, Operation, as_money
from citing.comparison.cells.grid import Grid, loss_in_brackets, places_of, words_of
from citing.comparison.values.quantities import rounded, same_quantity
from citing.comparison.words.phrases import change_role
from citing.comparison.words.token import Token, is_marker, names_in_topics, opposite, same, with_names
from citing.comparison.words.tokens import tokens_of
from text.measures import Measure
from text.numbers import decimal_mark
from text.quantities import Quantity
from text.semantics import lexicon

LEVELS = ("direction", "level", "amount", "height", "size", "excess", "money")  # pairs of opposites
_JOINED_THAN = frozenset({"于", "於"})  # at the end of a comparison in one word: 高于
_MEASURED = {"weight": "mass", "temperature": "temperature", "speed": "speed", "price": "money"}


class CellComparison:
    """A claim and a table. ``used``: indexes of the claim's words that are accounted for."""

    def __init__(self, claim: str, grid: Grid, language: str, topics: Sequence[str]) -> None:
        self.claim, self.grid, self.language = claim, grid, language
        self.words = lexicon(language)
        self.topics = [*topics, grid.caption, *(grid.heads[:1])]
        self.names = names_in_topics(topics)
        self.tokens = tuple(with_names(words_of(claim, language), self.names))
        self.tokens = self._with_side_of_brackets()
        self.used: set[int] = set()
        self.outflow = False  # the row's label names an outflow of money: "Dividends paid"
        self.shares = False  # all values of the claim are shares: in "24 (11.9)" they mean the second number

    def _with_side_of_brackets(self) -> tuple[Token, ...]:
        """Return the claim's words, with a side for what the caption has in brackets: "(outflow)"."""
        signs = "|".join(map(re.escape, self.words.bracketed)) or r"(?!)"
        names = re.findall(rf"\(([^()]*) (?:{signs})\)", self.grid.caption, re.IGNORECASE)
        named = [token for text in names for token in words_of(text, self.language) if token.poles]
        tokens: list[Token] = []
        for token in self.tokens:
            loss = any(same(token, other) for other in named)
            gain = any(opposite(token, other) for other in named)
            side = {("money", 1)} if loss else {("money", 0)} if gain else set()
            tokens.append(replace(token, poles=token.poles | side))
        return tuple(tokens)

    def direction(self, column: int, row: int | None = None) -> set[int]:
        """Return words of rise and fall where the cells are changes, whose sign is compared already."""
        words = self.words.change
        if row is not None and self.grid.is_change(row):
            return {at for at, token in enumerate(self.tokens) if self.side(token) is not None}
        over = " ".join([*self.topics, self.grid.heads[column]]).lower()
        if not any(word in over for word in words):
            return set()
        return {at for at, token in enumerate(self.tokens) if self.side(token) is not None}

    def side(self, token: Token) -> int | None:
        """Return 0 for a word of rise or profit, 1 for fall or loss, None in brackets: "income (loss)"."""
        if self.claim[max(0, token.start - 1) : token.start] == "(":
            return None
        sides = {side for pair, side in token.poles if pair in ("direction", "money")}
        return sides.pop() if len(sides) == 1 and not token.marker else None

    def is_extent(self, at: int) -> bool:
        """Return whether a number is the extent of a change."""
        return self._role(at) == "by"

    def may_be_extent(self, at: int) -> bool:
        """Return whether a number of a rise or fall is not surely the amount reached."""
        free = (token for place, token in enumerate(self.tokens) if place not in self.used)
        turns = any(pair == "direction" for token in free for pair, _ in token.poles)
        timed = sum(self.grid.time(column) > 0 for column in self.grid.columns) > 1
        return self.is_extent(at) or (turns and timed and self._role(at) != "to")

    def _role(self, at: int) -> str:
        words = tokens_of(self.claim, self.language, limits=False)
        place = next((k for k, token in enumerate(words) if token.start == self.tokens[at].start), None)
        return "" if place is None else change_role(words, place, self.words)

    def agrees(self, token: Token, printed: Quantity) -> bool:
        claimed = token.quantity
        assert claimed is not None
        if token.bound not in ("", "approx"):
            return False
        printed = as_money(claimed, printed)
        return any(
            same_quantity(value, printed, hedged=token.bound == "approx")
            or (
                value.scale > 1
                and value.dimension == printed.dimension
                and value.unit == printed.unit
                and rounded(value, printed)
            )
            for value in (claimed, self._turned(claimed, printed), self._grouped_by_commas(claimed))
        )

    def has_amount(self, token: Token, row: int, column: int) -> bool:
        """Return whether a cell has an amount of the claim, whatever its bound."""
        token = replace(token, bound="")
        numbers = self.numbers(token, row, column) or self.grid.ends_of_range(row, column)
        return self.repeats(token, row, column) or any(self.agrees(token, number) for number in numbers)

    def numbers(self, token: Token, row: int, column: int) -> Sequence[Quantity]:
        """Return the numbers of a cell that may be an amount: of "33 (13.3)" a share is the second."""
        numbers = self.grid.numbers(row, column)
        is_share = token.quantity is not None and token.quantity.dimension == "ratio"
        return numbers[-1:] if is_share and len(numbers) > 1 else numbers

    def repeats(self, token: Token, row: int, column: int) -> bool:
        """Return whether the claim repeats the cell's digits without the table's scale."""
        claimed, printed = token.quantity, self.grid.printed(row, column)
        if claimed is None or printed is None or token.bound not in ("", "approx"):
            return False
        plain = claimed.bare or (claimed.dimension == "money" and claimed.scale == 1)
        other_currency = claimed.unit and printed.unit not in ("", claimed.unit)
        other_counted = claimed.unit and self.grid.currency(row, column) not in ("", claimed.unit)
        turned = self._turned(claimed, printed)
        return plain and not other_currency and not other_counted and turned.value == printed.value

    def drops_scale(self, at: int, row: int, column: int) -> bool:
        """Return whether the claim omits the table's scale of a count: "8,699 passengers", in thousands."""
        claimed, held = self.tokens[at].quantity, self.grid.quantity(row, column)
        printed = self.grid.printed(row, column)
        behind = self.tokens[at + 1] if at + 1 < len(self.tokens) else None
        counted = behind is not None and behind.kind == "word" and not behind.capital
        counted = counted and at + 1 not in self.used  # "5 in total"
        return bool(
            counted and claimed and held and printed and claimed.bare and claimed.value == printed.value
            and not printed.dimension and abs(held.base) >= 1000 * abs(printed.base) > 0
        )  # fmt: skip

    def adds_scale(self, at: int, printed: Quantity) -> bool:
        """Return whether the claim adds a scale that the page states nowhere: "$5 million" of "$5"."""
        claimed = self.tokens[at].quantity
        unstated = (
            self.grid.text.measure == Measure() and printed.scale == 1 and printed.base == printed.value
        )
        if claimed is None or claimed.scale < 1000 or not unstated or printed.dimension not in ("", "money"):
            return False
        scales = (Decimal(1000) ** power for power in range(1, 5))
        scaled = (replace(printed, value=printed.value * s, base=printed.base * s) for s in scales)
        return any(
            same_quantity(replace(claimed, unit=printed.unit, dimension=printed.dimension), own, hedged=True)
            for own in scaled
        )

    def _grouped_by_commas(self, claimed: Quantity) -> Quantity:
        """Return the amount with its commas read as thousands separators, not as decimal commas."""
        grouped = re.search(r"\d{1,3}(?:,\d{3})+(?!\d)", self.claim[claimed.start : claimed.end])
        if grouped is None or decimal_mark(self.claim, language=self.language) != ",":
            return claimed
        scale = Decimal(1000) ** grouped[0].count(",")
        value, base, step = (part * scale for part in (claimed.value, claimed.base, claimed.step))
        return replace(claimed, value=value, base=base, step=step)

    def _turned(self, claimed: Quantity, printed: Quantity) -> Quantity:
        """Return the claimed amount as negative where the claim states a loss or fall."""
        bracketed = (
            self.claim.startswith("(", claimed.start)
            or (  # "(54)%", "(54%)"
                self.claim[max(0, claimed.start - 1) : claimed.start] == "("
                and self.claim[claimed.end :].lstrip()[:1] == ")"
            )
        )
        gains = any(self.side(token) == 0 for at, token in enumerate(self.tokens) if at not in self.used)
        spent = not gains and any(self._says_spent(token) for token in self.tokens)
        falls = (
            bracketed
            or spent
            or self.outflow
            or any(self.side(token) == 1 for at, token in enumerate(self.tokens) if at not in self.used)
        )
        negative = falls and printed.value < 0 < claimed.value
        return replace(claimed, value=-claimed.value, base=-claimed.base) if negative else claimed

    def names_outflow(self, row: int) -> bool:
        """Return whether the row's label, without its brackets, or the claim calls the amount a cost."""
        label = re.sub(r"\([^)]*\)", "", self.grid.rows[row][0].text).lower()
        of_result = any(token.word in self.words.results for token in self.grid.label(row))
        loss = (of_result or bool(loss_in_brackets(self.grid.label(row)))) and self._says_loss()
        spent = any(word in label for word in self.words.outflow) and not self.changes_sign(row)
        return loss or spent or self.says_expense()

    def _says_loss(self) -> bool:
        return any(("money", 1) in token.poles and self.side(token) == 1 for token in self.tokens)

    def is_outflow(self, cells: Sequence[tuple[int, int]]) -> bool | None:
        """Return whether two negative amounts are outflows, of which the more negative is the larger.

        None if the label names neither a cost nor a profit.
        """
        if self._says_loss() or any(self.names_outflow(row) for row, _ in cells):
            return True
        names = " ".join(token.word for row, _ in cells for token in self.grid.label(row))
        profit = any(
            ("money", 0) in token.poles for word in names.split() for token in words_of(word, self.language)
        )
        return False if profit else None

    def says_expense(self) -> bool:
        """Return whether the claim calls the amount a cost right after its name: "research expense"."""
        words = [at for at in self.used if self.tokens[at].kind == "word"]
        behind = range(max(words), min(max(words) + 2, len(self.tokens))) if words else ()
        outflows = {at for at in behind if self.tokens[at].word.rstrip("s") in self.words.outflow}
        named = {at for at in outflows if not self._is_alternative(self.tokens[at])}
        self.used |= named
        return bool(named)

    def wrong_sign(self, printed: Quantity, row: int) -> int | None:
        """Return the word of the claim, not of the row's label, that contradicts the sign of the number."""
        label = self.grid.label(row)
        both = any(self._is_alternative(token) for token in self.tokens)
        for at, token in enumerate(self.tokens):
            side = self.side(token)
            neutral = loss_in_brackets(label) or any(other.word in self.words.results for other in label)
            neutral = neutral and not both
            if ("money", 1) in token.poles and printed.value > 0 and neutral:
                return at
            if ("money", 0) in token.poles and printed.value < 0 and neutral and at in self.used:
                return at
            if self._says_spent(token) and printed.value > 0 and self._has_negative(row):
                return at
            if side is None or at in self.used or any(token.word == other.word for other in label):
                continue
            loss = side == 1 and any(pair == "money" for pair, _ in token.poles) and not self.outflow
            counts = self.direction_counts() or loss
            if (side == 0 and printed.value < 0) or (side == 1 and printed.value > 0 and counts):
                return at
        return None

    def _says_spent(self, token: Token) -> bool:
        return token.word in self.words.spent and not self._is_alternative(token)

    def _is_alternative(self, token: Token) -> bool:
        """Return whether a token is in brackets that a row's label has too: "provided by (used in)"."""
        start, end = self.claim.rfind("(", 0, token.start), self.claim.find(")", token.end)
        if start < 0 or end < 0 or ")" in self.claim[start : token.start]:
            return False
        brackets = self.claim[start : end + 1].lower()
        return any(bool(cells) and brackets in cells[0].text.lower() for cells in self.grid.rows)

    def _has_negative(self, row: int) -> bool:
        amounts = (self.grid.quantity(row, column) for column in self.grid.columns)
        return any(amount is not None and amount.value < 0 for amount in amounts)

    def changes_sign(self, row: int) -> bool:
        """Return whether a row has amounts on both sides of 0, so that brackets are a sign."""
        amounts = [q.value for column in self.grid.columns if (q := self.grid.quantity(row, column))]
        return min(amounts, default=Decimal(0)) < 0 < max(amounts, default=Decimal(0))

    def direction_counts(self) -> bool:
        return any(self.direction(column) for column in self.grid.columns)

    def agreeing_cells(self, at: int, cells: Sequence[tuple[int, int]]) -> set[int]:
        """Return the indexes of the cells that a number of the claim repeats."""
        return {
            number
            for number, (row, column) in enumerate(cells)
            if any(
                self.agrees(self.tokens[at], printed)
                for printed in self.numbers(self.tokens[at], row, column)
            )
            or self.repeats(self.tokens[at], row, column)
        }

    def plain_words(self) -> Iterator[str]:
        return (token.word for token in tokens_of(self.claim, self.language, limits=False))

    def comparison_word(self, cells: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
        """Return the word that tells which cell is larger, and its side: 0 for more, 1 for less."""
        times = self.grid.order([column for _, column in cells]) != 0
        wanted = ("direction", "level") if times else ("level", *LEVELS[1:])
        wanted = (*wanted, *LEVELS[1:]) if times and self.by_than(cells) else wanted
        measures = {q.dimension for cell in cells if (q := self.first(*cell))}
        turns = [
            (at, side)
            for at, token in enumerate(self.tokens)
            for pair, side in token.poles
            if (pair in wanted or measures == {_MEASURED.get(pair)})
            and at not in self.used
            and not any(other == "money" for other, _ in token.poles)
        ]
        return turns[0] if len({side for _, side in turns}) == 1 else None

    def of_comparison(self, rows: Sequence[int]) -> list[int]:
        """Return the only column of the compared measure: the masses for "A is heavier than B"."""
        pairs = {pair for at, t in enumerate(self.tokens) if at not in self.used for pair, _ in t.poles}
        about = {_MEASURED[pair] for pair in pairs if pair in _MEASURED}
        columns = [
            column
            for column in self.grid.columns
            if {q.dimension for row in rows if (q := self.grid.quantity(row, column))} == about
        ]
        return columns if len(about) == len(columns) == 1 else []

    def _exceeds(self) -> bool:
        """Return whether a verb like "exceeded" is between the names of two cells."""
        named = range(min(self.used, default=0), max(self.used, default=0))
        return any(pair == "excess" for at in named for pair, _ in self.tokens[at].poles)

    def names_reference_last(self) -> bool:
        """Return whether the subject precedes its reference: "A … than B", "A exceeded B"."""
        words = list(self.plain_words())
        return self._exceeds() or any(word in self.words.than for word in words[2:])

    def by_than(self, cells: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        """Return the subject's cell and the cell after "than"; empty where they are unknown."""
        than = self._than_word()
        if than is None or len(cells) != 2:
            return []
        rows = cells[0][0] != cells[1][0]
        labels = [self.grid.label(row) if rows else self.grid.head(column) for row, column in cells]
        own = [
            [token for token in label if not any(same(token, other) for other in labels[1 - at])]
            for at, label in enumerate(labels)
        ]
        places = [places_of(self.tokens, label, self.words) for label in own]
        starts = [min((self.tokens[at].start for at in at_cell), default=-1) for at_cell in places]
        if -1 in starts:
            return []
        if than.word in self.words.than_behind:
            before = [start if start < than.start else -1 for start in starts]
            reference = before.index(max(before)) if max(before) >= 0 else None
        else:
            behind = [at for at, start in enumerate(starts) if start > than.start]
            reference = behind[0] if len(behind) == 1 else None
        return [] if reference is None else [cells[1 - reference], cells[reference]]

    def _than_word(self) -> Token | None:
        """Return the word that marks the reference of a comparison: "than", "als", 于; より follows it."""
        words = self.words
        tokens = [t for t in tokens_of(self.claim, self.language, limits=False) if t.start > 0]
        wanted = words.than | words.than_behind
        found = (t for t in tokens if t.word.rpartition(" ")[2] in wanted)  # "larger than"
        return next(found, None) or next((t for t in tokens if t.word[-1:] in _JOINED_THAN), None)

    def subtracts(self) -> bool:
        """Return whether the claim names a difference: "A less B", "the difference between A and B".

        The "less" between two labels is then accounted for.
        """
        words = list(self.plain_words())
        named = range(min(self.used, default=0), max(self.used, default=0))
        less = {at for at in named if at not in self.used and self.tokens[at].word in self.words.less}
        if set(words) & self.words.than or not (less or any(word in self.words.minus for word in words)):
            return False
        self.used |= less
        return True

    def is_ratio(self, at: int) -> bool:
        quantity = self.tokens[at].quantity
        return quantity is not None and quantity.dimension == "ratio"

    def extreme(self) -> int | None:
        free = (at for at in range(len(self.tokens)) if at not in self.used)
        ranks = (("ordinal", "top"), ("ordinal", "bottom"))
        return next((at for at in free if any(is_marker(self.tokens[at], *rank) for rank in ranks)), None)

    def first(self, row: int, column: int) -> Quantity | None:
        numbers = self.grid.numbers(row, column)
        return next(iter(numbers[::-1] if self.shares else numbers), None)

    def spans(self, cells: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
        return tuple((cell.start, cell.end) for cell in (self.grid.rows[row][at] for row, at in cells))

    def only_total(self, token: Token) -> bool:
        """Return whether a word only names the whole of a share: "all", "total"."""
        return (is_marker(token, "quantifier") or not token.marker) and token.word in self.words.total

    def beside_caption(self, values: Sequence[int]) -> list[int]:
        """Return the values without those in the caption: "over 12 weeks"."""
        over = (t for text in (self.grid.caption, *self.grid.over) for t in words_of(text, self.language))
        quantities = [t for t in over if t.quantity and t.quantity.dimension not in ("", "money", "ratio")]
        self.used |= {at for at in values if any(same(self.tokens[at], t) for t in quantities)}
        rows = sum(not self.grid.is_total(row) for row in range(len(self.grid.rows)))
        ranked = any(is_marker(token, "ordinal") for token in self.tokens)  # "of the four models the highest"
        counts = (
            at for at in values if ranked and (q := self.tokens[at].quantity) and q.bare and q.value == rows
        )
        self.used |= set(counts)
        return [at for at in values if at not in self.used]

    def operation(self, left: Sequence[int]) -> Operation | None:
        words = self.words
        if any(self.tokens[at].quantity.unit == "times" for at in left if self.tokens[at].quantity):  # type: ignore[union-attr]
            return "ratio"
        heads = {token.word for column in self.grid.columns for token in self.grid.head(column)}
        if any(word in words.together - heads for word in self.plain_words()):
            return "sum"
        if self.subtracts():
            return "difference"
        turning = {*LEVELS, *_MEASURED}
        turns = any(pair in turning for token in self.tokens for pair, _ in token.poles)
        return "change" if turns else None

    def operands(self, cells: Sequence[tuple[int, int]]) -> Operands:
        """Return the two cells in the order of "than"; else the later first, or as they are named."""
        if compared := self.by_than(cells):
            return self.held_against(compared)
        if self.grid.order([column for _, column in cells]) > 0:
            cells = cells[::-1]
        return self.held_against(cells)

    def held_against(self, cells: Sequence[tuple[int, int]]) -> Operands:
        """Return the first cell with the second as its reference."""
        subject, reference = (self.first(row, column) for row, column in cells)
        assert subject is not None
        assert reference is not None
        texts = [self.grid.rows[row][column].text for row, column in cells]
        printed = self.grid.printed(*cells[0])
        in_points = subject.dimension == "ratio"  # their difference is counted in points
        scaled = printed is not None and printed.base and not in_points
        scale = subject.base / printed.base if scaled and printed else Decimal(1)
        return Operands(subject, reference, (texts[0], texts[1]), scale)

    def with_year_before(self, column: int) -> list[int]:
        """Return a named year and the year before, the reference of "rose in 2023"."""
        if self.grid.says_change(column):
            return [column]
        before = [c for c in self.grid.columns if 0 < self.grid.time(c) < self.grid.time(column)]
        turns = any(pair == "direction" for token in self.tokens for pair, _ in token.poles)
        return [max(before, key=self.grid.time), column] if before and turns else [column]

    def date_by_caption(self) -> None:
        """Read "31 December 2023" as 2023 where the caption says "year ended 31 December"."""
        over = (t for text in (self.grid.caption, *self.grid.over) for t in words_of(text, self.language))
        days = {int(q.value) for t in over if (q := t.quantity) and q.dimension == "date" and q.value < 10000}
        found = []
        for token in self.tokens:
            own = token.quantity
            of_month = (
                own and int(own.value) % 100 == 0 and token.word.split()[0] in self.grid.caption.lower()
            )
            if (
                own
                and own.dimension == "date"
                and own.value > 10000
                and (int(own.value) % 10000 in days or of_month)
            ):
                year = own.value // 10000
                token = replace(token, quantity=replace(own, value=year, base=year, dimension="year"))
            found.append(token)
        self.tokens = tuple(found)

    def quantifier_places(self) -> set[int]:
        """Return the places of "any" in "not … any"."""
        return {at for at, token in enumerate(self.tokens) if is_marker(token, "quantifier")}

    def meant(self, columns: list[int], rows: Sequence[int], values: Sequence[int]) -> list[int]:
        """Return the named columns without those that only repeat the corner or have another measure."""
        corner = words_of(self.grid.heads[0], self.language)
        other = [c for c in columns if not all(any(same(t, o) for o in corner) for t in self.grid.head(c))]
        columns = self.beside_counted(other or columns, values)
        measures = {q.dimension for at in values if (q := self.tokens[at].quantity)} - {""}
        fitting = [
            c for c in columns
            if any((q := self.grid.quantity(row, c)) and {q.dimension} == measures for row in rows)
        ]  # fmt: skip
        return fitting if len(fitting) == 1 and len(values) == 1 else columns

    def beside_counted(self, columns: list[int], values: Sequence[int]) -> list[int]:
        """Return the columns without those that only name the counted whole: "14 % of women used the pill".

        A column named before a number has that number: "weighs 22 kg and costs £385".
        """
        if len(columns) == len(values) > 1:  # "64 % of the men and 55 % of the women"
            return columns
        behind = {at + 1 for at in values if not any(t.quantity for t in self.tokens[at + 1 : at + 3])}
        named_here = {c: places_of(self.tokens, self.grid.head(c), self.words) for c in columns}
        return [c for c in columns if not named_here[c] or not named_here[c] <= behind] or columns
