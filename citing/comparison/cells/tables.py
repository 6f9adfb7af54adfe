"""Judge a claim by a table: by the cell of the named row and column, two cells, or a whole column."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from decimal import Decimal

from citing.claims import Conflict
from citing.comparison.cells.cell_words import LEVELS, CellComparison
from citing.comparison.cells.computation import (
    Equation,
    Operands,
    Operation,
    computed,
    equals_signs,
    same_digits,
    within_bound,
    written_equation,
)
from citing.comparison.cells.grid import (
    CellText,
    Grid,
    ends_compound,
    named,
    names_part,
    places_of,
    words_of,
)
from citing.comparison.words.prose import Judgement
from citing.comparison.words.token import Token, denials_at, difference, is_marker, same, with_names
from citing.comparison.words.tokens import tokens_of
from text.quantities import Quantity
from text.semantics import known_language

COMPARES = "The claim compares cells."  # in a form without a rule: its number may be computed
OTHER_CELLS = "The calculation uses values other than those of the cells it names."
NEGATIVE = "The table prints an amount as negative: which is more depends on what it is."
NO_SCALE = "The page does not say in which scale the table counts."
UNSCALED = "The table counts in thousands or more, which the claim leaves out."


def judge_table(
    claim: str, grid: Grid, language: str, topics: Sequence[str] = (), own_row: int | None = None
) -> Judgement:
    """Judge a claim by a table; ``own_row``: the index of the cited row."""
    if not known_language(language):
        return Judgement("open", unchecked=(f"There are no rules for the language {language or '?'}.",))
    return _TableComparison(claim, grid, language, topics).judgement(own_row)


class _TableComparison(CellComparison):
    """Compare one claim with one table."""

    def judgement(self, own_row: int | None) -> Judgement:
        self.date_by_caption()
        equation, self.tokens = written_equation(self.claim, self.tokens)
        self.used |= equals_signs(self.tokens)
        heads = [self.grid.head(column) for column in self.grid.columns]
        longer = named(self.tokens, heads, self.words).values()
        rows = self._named([self.grid.label(row) for row in range(len(self.grid.rows))], within=longer)
        rows = self._of_one_label(rows, own_row)
        of_rows = set(self.used)  # "total" names a row or a column, but not both
        columns = [self.grid.columns[at] for at in self._named(heads, of_rows)]
        if len(heads) == 1:
            columns = [*self.grid.columns]
        of_heads = [token for column in columns for token in self.grid.head(column) if token.quantity]
        repeated = {at for at, t in enumerate(self.tokens) if any(same(t, other) for other in of_heads)}
        values = [
            at
            for at, token in enumerate(self.tokens)
            if token.quantity and at not in self.used and at not in repeated
        ]
        self.used |= repeated
        values = self.beside_caption(values)
        self.shares = bool(values) and all(self.is_ratio(at) for at in values)
        parts = [row for row in rows if not self.grid.is_total(row)]
        if len(columns) == 1 and 0 < len(parts) < len(rows) and self.operation(values) == "sum":
            if len(parts) == 1 and self.shares and (share := self._share(parts[0], columns[0], values)):
                return share  # "is 5 % of the total"
            rows = parts if len(parts) > 1 else rows  # the word "sum" names the row "Total"
        if equation:
            return self._written(equation, rows, columns, values)
        if len(rows) == 1 and (own := self._by_direction(rows[0], columns, values)):
            columns = own
        elif len(rows) == 1 and not columns:
            columns = self._by_values(rows[0], values)
        elif len(columns) > 1:
            columns = self.meant(columns, rows, values)
        elif len(rows) == len(columns) == 1 and not values and self.extreme() is None:
            columns = self.with_year_before(columns[0])
        elif len(rows) == 2 and not columns:
            columns = self.of_comparison(rows)
        if len(columns) > 1 and len(rows) != 1:
            return Judgement("open", unchecked=("The claim names several columns.",))
        if len(rows) == len(columns) == 1:
            return self._one_cell(rows[0], columns[0], values)
        if len(rows) * len(columns) == 2:
            return self._pair([(row, column) for row in rows for column in columns], values)
        sums = len(columns) == 1 and self.operation(values) == "sum"
        if sums and (judged := self._sum(rows, columns[0], values)):
            return judged
        return Judgement(
            "open", unchecked=(COMPARES if len(rows) > 1 else "The claim does not name a single cell.",)
        )

    def _sum(self, rows: Sequence[int], column: int, values: Sequence[int]) -> Judgement | None:
        """Judge a sum of the named rows of a column, or of all: "the three ports had 2,301 together"."""
        rows = rows or [row for row in range(len(self.grid.rows)) if not self.grid.is_total(row)]
        count = {at for at in values if (q := self.tokens[at].quantity) and q.bare and q.value == len(rows)}
        left, cells = [at for at in values if at not in count], [(row, column) for row in rows]
        amounts = [amount for cell in cells if (amount := self.first(*cell))]
        labels = {self.grid.rows[row][0].text for row in rows}
        if len(left) != 1 or len(rows) < 2 or not len(amounts) == len(rows) == len(labels):
            return None
        rest = replace(amounts[0], value=Decimal(0), base=sum((q.base for q in amounts[1:]), Decimal(0)))
        first, *others = (self.grid.rows[row][column].text for row in rows)
        held = replace(self.held_against(cells[:2]), reference=rest, texts=(first, " + ".join(others)))
        return self._computed(held, left, "sum", self.spans(cells), count)

    def _one_cell(self, row: int, column: int, values: Sequence[int]) -> Judgement:
        """Judge a claim about one cell: its number, its rank in the column, or its text."""
        extreme = self.extreme()
        self.outflow = self.names_outflow(row)
        if not values and extreme is None and self.grid.says_change(column):
            return self._direction_of_change(row, column)
        if not values and (judged := self._denial_of_zero(row, column)):
            return judged
        if not values:
            return self._text(row, column) if extreme is None else self._top(row, column, extreme)
        if turned := self._since_year_before(row, column, values):
            return turned
        if extreme is None:
            return self._cell(row, column, values)
        self.used.add(extreme)
        judged = self._cell(row, column, values)
        return self._top(row, column, extreme, values) if judged.outcome == "holds" else judged

    def _denial_of_zero(self, row: int, column: int) -> Judgement | None:
        """Judge "no patient had neutropenia" by a cell that should be 0; None without a negation."""
        denials = denials_at(range(len(self.tokens)), self.tokens)
        held = self.first(row, column)
        if len(denials) != 1 or held is None:
            return None
        spans, known = self.spans([(row, column)]), {*denials, *self.quantifier_places()}
        if held.value == 0:
            return self._open_if_words_remain(spans, known)
        wrong = self._conflict("quantifier", denials[0], self.grid.rows[row][column])
        return Judgement("conflict", spans, (wrong,), coverage=1.0)

    def _direction_of_change(self, row: int, column: int) -> Judgement:
        """Judge a rise or fall without a number by the sign of a change: "it rose from 2015 to 2017"."""
        printed, spans = self.grid.quantity(row, column), self.spans([(row, column)])
        turns = {side: at for at, t in enumerate(self.tokens) for p, side in t.poles if p == "direction"}
        if printed is None or not printed.value or len(turns) != 1:
            return Judgement("open", spans, unchecked=(COMPARES,))
        side, at = next(iter(turns.items()))
        if (printed.value > 0) != (side == 0):
            wrong = self._conflict("direction", at, self.grid.rows[row][column])
            return Judgement("conflict", spans, (wrong,), coverage=1.0)
        return self._open_if_words_remain(spans, {at})

    def _text(self, row: int, column: int) -> Judgement:
        """Judge a claim by the words of the cell, or of the same column in other rows: "accuracy is low"."""
        texts = [words_of(row[column].text, self.language) for row in self.grid.rows if len(row) > column]
        places = {text: at for text in texts if (at := places_of(self.tokens, text, self.words) - self.used)}
        unclear = any(token.quantity or token.marker for text in texts for token in text) or not places
        if unclear or not (own := texts[row]):
            return Judgement("open", unchecked=("The claim does not name a single cell.",))
        cell, spans = self.grid.rows[row][column], self.spans([(row, column)])
        judged = self._open_if_words_remain(spans, set().union(*places.values()))
        longest = max(places, key=lambda text: len(places[text]))
        if longest == own or judged.outcome != "holds":
            return judged
        wrong = self._conflict("table_swap", min(places[longest]), cell)
        return Judgement("conflict", spans, (wrong,), coverage=1.0)

    def _of_one_label(self, rows: list[int], own_row: int | None) -> list[int]:
        """Return the named rows; of several with one label in different sections only the cited one."""
        if own_row is None or rows == [own_row]:
            return rows
        places = named(self.tokens, [self.grid.words_of_row(own_row)], self.words).get(0, set())
        if not places or not self.used <= places:
            return rows
        self.used = places
        return [own_row]

    def _named(
        self,
        labels: Sequence[Sequence[Token]],
        taken: Collection[int] = (),
        within: Collection[Collection[int]] = (),
    ) -> list[int]:
        """Return the labels that a claim names, other than by words ``taken`` or ``within`` longer names."""
        found = named(self.tokens, labels, self.words)
        found = {
            index: places
            for index, places in found.items()
            if not places <= set(taken) and not any(places < set(longer) for longer in within)
        }
        self.used |= {at for places in found.values() for at in places}
        return list(found)

    def _by_values(self, row: int, values: Sequence[int]) -> list[int]:
        """Return columns with the claim's values: two cells of the row, or the only one of their measure."""
        columns = [column for column in self.grid.columns if self.grid.quantity(row, column)]
        agreeing = [self.agreeing_cells(at, [(row, column) for column in columns]) for at in values]
        if len(values) == 2 and all(len(cells) == 1 for cells in agreeing) and agreeing[0] != agreeing[1]:
            return [columns[cell] for cells in agreeing for cell in cells]
        measures = {q.dimension for at in values if (q := self.tokens[at].quantity)}
        fitting = [c for c in columns if (q := self.grid.quantity(row, c)) and {q.dimension} == measures]
        narrowed = [c for c in fitting if names_part(self.tokens, self.grid.head(c), self.words)]
        return fitting if measures != {""} and len(fitting) == 1 and narrowed else []

    def _by_direction(self, row: int, columns: Sequence[int], values: Sequence[int]) -> list[int]:
        """Return the columns of a change: the one with changes in percent, or those of its start and end."""
        if not any(pair == "direction" for token in self.tokens for pair, _ in token.poles):
            return []
        latest = max(self.grid.columns, key=self.grid.time)
        dated = self.grid.time(latest) > 0
        of_latest = not columns or columns == [latest] or not dated
        if len(values) == 1 and self.is_ratio(values[0]) and of_latest:
            changes = [c for c in self.grid.columns if self.grid.says_change(c)]
            return changes if len(changes) == 1 and self.grid.quantity(row, changes[0]) else []
        both = self._by_values(row, values) if len(values) == 2 else []
        if both and dated and set(columns) <= set(both) and all(self.grid.time(c) for c in both):
            return both
        return [*self.grid.columns] if not columns and len(self.grid.columns) == 2 and dated else []

    def _since_year_before(self, row: int, column: int, values: Sequence[int]) -> Judgement | None:
        """Judge a change since the year before: "revenue fell by 427 to 3,504 in 2023".

        None without a word of change or a column of the year before, or if a value fits neither the change
        nor the cell.
        """
        kind = [token.word for token in self.grid.head(column) if not token.quantity]
        columns = [
            c for c in self.with_year_before(column)
            if [token.word for token in self.grid.head(c) if not token.quantity] == kind
        ]  # fmt: skip
        cells = [(row, c) for c in columns]
        if (
            len(cells) != 2
            or self.comparison_word(cells) is None
            or any(self.first(row, c) is None for c in columns)
        ):
            return None
        extents = [at for at in values if self.is_extent(at)]
        label = self.grid.label(row)
        if not extents and self.grid.is_change(row):
            return None  # "a net decrease in cash of 12.7"
        counts_change = self.direction_counts() or any(t.word in self.words.change or t.poles for t in label)
        if any(
            (counts_change if at in extents else True)
            and bool(self.agreeing_cells(at, cells[1:])) == (at in extents)
            for at in values
        ):
            return None  # the cell itself is a change, or the value is neither
        return self._change(cells, values, extents)

    def _cell(self, row: int, column: int, values: Sequence[int]) -> Judgement:
        cell, numbers = self.grid.rows[row][column], self.grid.numbers(row, column)
        spans = ((cell.start, cell.end),)
        if (ends := self.grid.ends_of_range(row, column)) and len(values) == 2:
            off = [at for at, q in zip(values, ends, strict=True) if not self.agrees(self.tokens[at], q)]
            if off:
                wrong = self._conflict("range", off[0], cell)
                return Judgement("conflict", spans, (wrong,), coverage=1.0)
            return self._open_if_words_remain(spans, {*values})
        if not numbers or any(self.drops_scale(at, row, column) for at in values):
            unclear = UNSCALED if numbers else "The cell holds no single number."
            return Judgement("open", spans, unchecked=(unclear,), coverage=1.0)
        if (part := self._share(row, column, values)) is not None:
            return part
        formula = ""
        for at in values:
            if self._prints_bound(self.tokens[at], cell):
                continue
            if kept := within_bound(self.tokens[at], numbers[0], cell.text):
                is_within, formula = kept
                if is_within and self.quantifier_places():  # "all were above 5": the total is not all
                    return Judgement("open", spans, unchecked=(COMPARES,), coverage=1.0)
                if is_within:
                    continue
                broken = self._conflict("computed", at, replace(cell, text=formula))
                return Judgement("conflict", spans, (broken,), coverage=1.0)
            agrees = any(self.agrees(self.tokens[at], printed) for printed in numbers)
            if not agrees and any(self.adds_scale(at, printed) for printed in numbers):
                return Judgement("open", spans, unchecked=(NO_SCALE,), coverage=1.0)
            if not agrees and not self.repeats(self.tokens[at], row, column):
                printed = numbers[-1] if self.is_ratio(at) else numbers[0]
                unknown = (
                    printed.bare
                    and not printed.dimension
                    and not self.grid.text.is_excepted(self.grid.rows[row][0].text)
                )
                of_others = any(
                    self.agrees(self.tokens[other], held)
                    for other in values
                    if other != at
                    for held in numbers
                )
                in_row = len(values) > 1 and bool(self._columns_with(row, at))
                change = self.may_be_extent(at) and not self.grid.says_change(column)  # "rose by 30 to 370"
                if of_others or in_row or change:  # "and EPS $2": of another row
                    return Judgement("open", spans, unchecked=(COMPARES,), coverage=1.0)
                sure = 0.0 if unknown and (q := self.tokens[at].quantity) and not q.bare else 1.0
                wrong = self._wrong(at, row, column, printed)
                if wrong.kind == "comparator":  # a cell prints no bounds: "up to 2.5 km" of "2,500 m"
                    return Judgement("open", spans, unchecked=(COMPARES,), coverage=1.0)
                return Judgement("conflict", spans, (wrong,), coverage=sure)
        if (turned := self.wrong_sign(numbers[0], row)) is not None:
            return Judgement("conflict", spans, (self._conflict("sign", turned, cell),), coverage=1.0)
        self.topics += self.grid.shared_by_summands(row)
        turns = self.direction(column, row)
        return replace(self._open_if_words_remain(spans, set(values) | turns), formula=formula)

    def _prints_bound(self, token: Token, cell: CellText) -> bool:
        """Return whether the cell prints the claim's bound itself: "Greater than $66,900"."""
        return bool(token.bound) and any(
            held.bound == token.bound and same(token, held) for held in tokens_of(cell.text, self.language)
        )

    def _columns_with(self, row: int, at: int) -> list[int]:
        """Return the columns whose cell in the row has the value of a word of the claim."""
        return [
            c
            for c in self.grid.columns
            if (q := self.grid.quantity(row, c)) and self.agrees(self.tokens[at], q)
        ]

    def _wrong(self, at: int, row: int, column: int, printed: Quantity) -> Conflict:
        token, cell = self.tokens[at], self.grid.rows[row][column]
        source = Token("quantity", cell.text, cell.start, cell.end, quantity=printed)
        kind = difference(token, source)
        if kind == "digit":
            elsewhere = self._columns_with(row, at) or [
                r for r in range(len(self.grid.rows)) for c in self.grid.columns
                if (q := self.grid.quantity(r, c)) and self.agrees(token, q)
            ]  # fmt: skip
            kind = "table_swap" if elsewhere else kind
        return self._conflict(kind, at, cell)

    # -- two cells

    def _pair(self, cells: Sequence[tuple[int, int]], values: Sequence[int]) -> Judgement:
        """Judge two cells of a row or a column: values, a comparison, or a number computed from them."""
        quantities = [self.first(row, column) for row, column in cells]
        if None in quantities or any(is_marker(token, "negation") for token in self.tokens):
            return Judgement("open", unchecked=(COMPARES,))
        if len(values) == 2:
            if any(self.grid.says_change(column) for _, column in cells):
                return self._result_and_change(cells, values)
            agreeing = [self.agreeing_cells(at, cells) for at in values]
            if agreeing == [{0}, {1}] and self.comparison_word(cells) is None:
                return self._open_if_words_remain(self.spans(cells), set(values))
            numbers_first = values[0] < min(self.used, default=0)  # "33 of the 50,640 samples taken failed"
            if agreeing == [{1}, {0}] and cells[0][0] != cells[1][0] and not numbers_first:
                row, column = cells[0]
                wrong = self._conflict("table_swap", values[0], self.grid.rows[row][column])
                return Judgement("conflict", self.spans(cells), (wrong,), coverage=1.0)
        counts_change = self.direction_counts()  # "rose by 5" of a table of changes
        left = [
            at for at in values
            if not self.agreeing_cells(at, cells) or (self.is_extent(at) and not counts_change)
        ]  # fmt: skip
        operation = self.operation(left)
        if operation == "change":
            return self._change(cells, values, left)
        if operation is None or not left:
            return Judgement("open", self.spans(cells), unchecked=(COMPARES,))
        return self._computed(self.operands(cells), left, operation, self.spans(cells), set(values))

    def _written(
        self, equation: Equation, rows: Sequence[int], columns: Sequence[int], values: Sequence[int]
    ) -> Judgement:
        """Judge a calculation written in the claim with the two cells it names."""
        cells = [(row, column) for row in rows for column in columns]
        if len(cells) != 2 or not set(values) <= equation.places:
            return Judgement("open", unchecked=(COMPARES,))
        order = equation.order([self.agreeing_cells(at, cells) for at in equation.operands])
        if order is None:
            return Judgement("open", self.spans(cells), unchecked=(OTHER_CELLS,))
        held = self.held_against([cells[at] for at in order])
        signs = {at for at, token in enumerate(self.tokens) if token.word == "/"}  # "Fares / costs"
        known, spans = {*values, *equation.places, *signs}, self.spans(cells)
        result, *shares = equation.results
        judged = self._computed(held, [result], equation.operation, spans, known, signed=True)
        if judged.outcome == "holds" and shares:
            share = self._computed(held, shares, "share", spans, known, signed=True)
            return share if share.outcome != "holds" else judged
        return judged

    def _result_and_change(self, cells: Sequence[tuple[int, int]], values: Sequence[int]) -> Judgement:
        """Judge a change and its result, each by the cell of its measure: "sales rose by 5 % to 84"."""
        for row, column in cells:
            cell = self.grid.quantity(row, column)
            own = [
                at for at in values if self.is_ratio(at) == (cell is not None and cell.dimension == "ratio")
            ]
            judged = self._cell(row, column, own) if len(own) == 1 else Judgement("open")
            self.used |= {*own, *self.direction(column)}
            if judged.outcome == "conflict" or len(own) != 1:
                return judged
        return replace(self._open_if_words_remain(self.spans(cells), set(values)), formula="")

    # -- a whole column

    def _top(self, row: int, column: int, at: int, values: Sequence[int] = ()) -> Judgement:
        """Judge whether the cell is the highest or lowest of its column; ``values``: compared numbers."""
        marker = self.tokens[at].marker
        own = [r for r in range(len(self.grid.rows)) if r == row or not self.grid.is_total(r)]
        amounts = [self.grid.quantity(r, column) for r in own]
        if marker is None or None in amounts:
            return Judgement("open", unchecked=("The column does not contain only numbers.",))
        numbers = [amount.base for amount in amounts if amount is not None]
        wanted = max(numbers) if marker.value == "top" else min(numbers)
        held = numbers[own.index(row)]
        cell = self.grid.rows[row][column]
        spans = ((cell.start, cell.end),)
        timed = [c for c in self.grid.columns if c == column or self.grid.time(c)]
        along = [q.base for c in timed if (q := self.grid.quantity(row, c)) is not None]
        among_rows = held == wanted and numbers.count(wanted) == 1
        among_columns = (max(along) if marker.value == "top" else min(along)) == held
        among_columns = among_columns if len(along) > 1 else among_rows
        has_article = self.tokens[at].word.startswith("the ") or self.claim[: self.tokens[at].start].endswith(
            "the "
        )
        ranked = self.language == "en" and has_article
        if among_rows != among_columns and not ranked:  # "was highest in 2021", "had the highest in 2021"
            return Judgement("open", spans, unchecked=(self.tokens[at].word,), coverage=1.0)
        if not among_rows:
            return Judgement("conflict", spans, (self._conflict("ordinal", at, cell),), coverage=1.0)
        return self._open_if_words_remain(spans, {at, *values})

    # -- two cells

    def _change(
        self, cells: Sequence[tuple[int, int]], values: Sequence[int], left: Sequence[int]
    ) -> Judgement:
        """Judge a change or comparison of two cells: "rose by 204, or 14.9 %", "A has more than B"."""
        turn, spans = self.comparison_word(cells), self.spans(cells)
        timeless = self.grid.order([column for _, column in cells]) == 0
        if turn is None or (timeless and not self.by_than(cells) and not self.names_reference_last()):
            return Judgement("open", spans, unchecked=(COMPARES,))
        at, side = turn
        held = self.operands(cells)
        if not held.of_one_measure:
            return Judgement("open", spans, unchecked=(COMPARES,))
        first, last = held.reference.base, held.subject.base
        if min(first, last) < 0:
            outflow = self.is_outflow(cells)
            if outflow is None or (outflow and max(first, last) > 0):
                return Judgement("open", spans, unchecked=(NEGATIVE,))
            first, last = (-first, -last) if outflow else (first, last)
        if first == last or (last > first) != (side == 0):
            both = CellText(" → ".join(held.texts[::-1]), *spans[-1])
            return Judgement("conflict", spans, (self._conflict("direction", at, both),), coverage=1.0)
        known = {at, *values, *(place for place, token in enumerate(self.tokens) if token.quantity)}
        compares = self.words.than | self.words.than_behind
        known |= {
            place for place, t in enumerate(self.tokens)
            if t.word in compares or any(pair in LEVELS for pair, _ in t.poles)
        }  # fmt: skip
        if left:
            return self._computed(held, left, "change", spans, known)
        return self._open_if_words_remain(spans, known)

    def _computed(
        self,
        held: Operands,
        left: Sequence[int],
        operation: Operation,
        spans: tuple[tuple[int, int], ...],
        known: set[int],
        *,
        signed: bool = False,
    ) -> Judgement:
        formula = ""
        for at in left:
            token = self.tokens[at]
            own = token.quantity if token.bound in ("", "approx") else None
            dated = own is not None and own.dimension in ("year", "date")
            if own is None or dated or (found := computed(own, held, operation)) is None:
                return Judgement("open", spans, unchecked=(token.word,), coverage=1.0)
            result, claimed = found
            if not result.agrees(claimed, signed=signed):
                named = any(same_digits(own, cell) for cell in (held.subject, held.reference))
                if len(left) > 1 and (named or self._is_beside(at, spans)):
                    return Judgement("open", spans, unchecked=(COMPARES,), coverage=1.0)
                wrong = self._conflict("computed", at, CellText(result.formula, *spans[-1]))
                return Judgement("conflict", spans, (wrong,), coverage=1.0)
            formula = formula or result.formula
        judged = self._open_if_words_remain(spans, known | set(left))
        return replace(judged, formula=formula) if judged.outcome == "holds" else judged

    def _is_beside(self, at: int, spans: tuple[tuple[int, int], ...]) -> bool:
        """Return whether a row of the compared cells prints an amount, which is then not computed."""
        starts = {start for start, _ in spans}
        rows = [r for r, row in enumerate(self.grid.rows) if any(cell.start in starts for cell in row[1:])]
        return bool(self.agreeing_cells(at, [(row, column) for row in rows for column in self.grid.columns]))

    def _share(self, row: int, column: int, values: Sequence[int]) -> Judgement | None:
        """Judge the cell's share of its column's total, or of the named row: "A has 44.7 % of all"."""
        cell = self.grid.quantity(row, column)
        if cell is None or cell.dimension == "ratio" or not all(self.is_ratio(at) for at in values):
            return None
        if any(pair == "direction" for token in self.tokens for pair, _ in token.poles):
            return None
        if cell.bare and any(q.value == cell.value for at in values if (q := self.tokens[at].quantity)):
            return None  # the cell itself, in a table of percentages that does not name its unit
        totals = [other for other in range(len(self.grid.rows)) if self.grid.is_total(other)]
        others = totals[:1] or list(range(len(self.grid.rows)))
        parts = [self.grid.quantity(other, column) for other in others]
        if None in parts or row in totals:
            return None
        whole = replace(cell, value=Decimal(0), base=sum((p.base for p in parts if p), Decimal(0)))
        cells = [(row, column), *((other, column) for other in others if other != row)]
        counted = self.grid.rows[row][column].text
        total = " + ".join(self.grid.rows[other][column].text for other in others)
        held = Operands(cell, whole, (counted, total if totals else f"({total})"))
        return self._computed(held, values, "share", self.spans(cells), set(values))

    def _open_if_words_remain(self, spans: tuple[tuple[int, int], ...], known: set[int]) -> Judgement:
        """Return "holds" if every other word of the claim is in or above the table, else "open"."""
        topics = (words_of(text, self.language) for text in self.topics)
        known_words = [token for tokens in topics for token in with_names(tokens, self.names)]
        heads = (self.grid.heads[column] for column in self.grid.columns)
        known_words += [token for head in heads for token in words_of(head, self.language)]
        words = self.words
        light = words.tabled | words.light | words.together | words.minus | words.counted | words.company
        light |= self.grid.periods()
        left = [
            token
            for at, token in enumerate(self.tokens)
            if at not in self.used | known and not any(same(token, other) for other in known_words)
            and not any(ends_compound(token, other) for other in known_words)
            and not any(same(token, self.tokens[place]) for place in self.used)  # "cash and cash equivalents"
            and not (token.marker is None and (token.word in light or "money" in dict(token.poles)))
            and not (token.word in words.need and at + 1 in known)  # "takes 48 minutes"
            and not self.only_total(token)
        ]  # fmt: skip
        if left:
            markers = tuple(token.word for token in left if token.marker)
            missing = tuple(token.word for token in left if not token.marker)
            return Judgement("open", spans, missing=missing, unchecked=markers, coverage=0.5)
        return Judgement("holds", spans, coverage=1.0)

    def _conflict(self, kind: str, at: int, cell: CellText) -> Conflict:
        token = self.tokens[at]
        return Conflict(kind, token.word, cell.text, (token.start, token.end), (cell.start, cell.end))
