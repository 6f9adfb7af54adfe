"""A claim that says cells of a table and nothing else: "North had 5 in 2022 and 7 in 2023"."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property, lru_cache
from itertools import islice, pairwise, product

from citing.budget import check_budget
from citing.claims import SourceUnit
from citing.comparison.cells.claim_words import ways_to_say, with_years_apart
from citing.comparison.cells.grid import has_other_sign, places_of, readings_of, words_of
from citing.comparison.values.quantities import same_quantity
from citing.comparison.words.phrases import begins_comparison, takes_amount_away
from citing.comparison.words.prose import Judgement
from citing.comparison.words.token import LIST_WORDS, Token, is_date, same
from citing.comparison.words.tokens import tokens_of
from citing.comparison.words.verbatim import verbatim_span
from citing.tables import SHORT_LINE, CellReading
from pdf.gc_control import cleared_with_memory
from text.languages import base_language
from text.numbers import YEAR
from text.quantities import Quantity
from text.semantics import Lexicon, lexicon, split_words

MOST_BETWEEN = 3  # tokens from an amount to the one in brackets behind it
MOST_READINGS = 64  # choices of cells for the amounts of a claim
MOST_PREDICATES = 1  # words beside an amount that the table need not have: "totaled"
LEAST_TEXT = 4  # content words of a cell that a claim repeats
_SET_ASIDE = ("direction", "money")  # pairs of opposites of which a word may not be left out
_BULLETS = " \t\n•–-*"


def stated_cells(
    sentence: str, unit: SourceUnit, around: Sequence[SourceUnit], language: str
) -> Judgement | None:
    """Return that the claim holds, where it says cells of the unit's table and nothing else; else None.

    True: "15 (6.0%) on 10 mg, 31 (12.5%) on 20 mg", each amount beside the head of its column.
    False: "31 on 10 mg, 15 on 20 mg"; "31 of 248", of which the table has no 248.

    Each amount is that of one cell, which the words beside it name, with those that name the cells of all
    amounts. No other row or column is named as well; no word is in no name and in no text over the table.
    """
    page = tuple(sorted((unit, *around), key=lambda other: other.char_start))
    said = cells_said(sentence, page, unit.table.index, language) if unit.table else ()
    if all(cell.unit.id != unit.id for cell in said):
        return None
    shift = unit.char_start
    return Judgement("holds", tuple((c.start - shift, c.end - shift) for c in said), coverage=1.0)


@lru_cache(maxsize=32)
def cells_said(
    sentence: str, page: tuple[SourceUnit, ...], table: int, language: str
) -> tuple[CellReading, ...]:
    """Return the cells of one of a page's tables that a claim says, if it says nothing else; else ()."""
    cells = [
        cell
        for row in readings_of(page).values()
        for cell in row
        if cell.unit.table and cell.unit.table.index == table and cell.is_certain and cell.numbers
    ]
    for way in ways_to_say(sentence, cells, language) if cells else ():
        claim = _Claim(tokens_of(way.text, language), cells, page, language)
        found = {reading for reading in claim.readings() if claim.says(reading)}
        said = tuple(cells[at] for at in next(iter(found))) if len(found) == 1 else ()
        if said and way.fits(said):
            return said
    return ()


cleared_with_memory(cells_said.cache_clear)


def stated_text(
    sentence: str, unit: SourceUnit, around: Sequence[SourceUnit], language: str
) -> Judgement | None:
    """Return that the claim holds, where it says a cell's words, its row's label and its head; else None.

    "Under “Reproducibility”, the reason for change is unstable scores over time." No other row may have the
    label or the words.
    """
    cells = unit.table.cells if unit.table else ()
    label = verbatim_span(cells[0].text, sentence) if cells else (0, 0)
    if not label[1] or not any(map(str.isalnum, cells[0].text)):
        return None
    others = [o for o in around if o.table and unit.table and o.table.index == unit.table.index]
    for cell in cells[1:]:
        words = cell.text.strip(_BULLETS).rstrip(".")
        said = verbatim_span(words, sentence)
        if not said[1] or sum(t.content for t in tokens_of(words, language)) < LEAST_TEXT:
            continue
        if any(verbatim_span(words, o.text)[1] or _names_row(sentence, o, label) for o in others):
            return None
        above = (*_heads(unit), unit.table.caption if unit.table else "", unit.title, *unit.section_path)
        over = [token for text in above for token in tokens_of(text, language)]
        known = {*split_words(" ".join(above).casefold()), *lexicon(base_language(language)).articles}
        spans = (label, said)
        rest = [t for t in tokens_of(sentence, language) if not any(s <= t.start < e for s, e in spans)]
        if all(
            {*t.word.split()} <= known or (not t.marker and any(same(t, other) for other in over))
            for t in rest
            if t.content
        ):
            start = cell.char_start - unit.char_start
            return Judgement("holds", ((start, start + len(cell.text)),), coverage=1.0)
    return None


def _heads(unit: SourceUnit) -> Sequence[str]:
    return unit.table.head_rows if unit.table else ()


def _names_row(sentence: str, other: SourceUnit, label: tuple[int, int]) -> bool:
    """Return whether the claim has another row's label, not within the one it has."""
    first = other.table.cells[0].text if other.table and other.table.cells else ""
    start, end = verbatim_span(first, sentence) if any(map(str.isalnum, first)) else (0, 0)
    return bool(end) and not label[0] <= start < end <= label[1]


@dataclass(frozen=True)
class _Name:
    """The words that name a cell: of its label, of each group and of its head.

    ``label``: without a short form in brackets, "(LCR)", that ``whole`` has.
    """

    label: Sequence[Token]
    whole: Sequence[Token]
    groups: Sequence[Sequence[Token]]
    head: Sequence[Token]

    @cached_property
    def words(self) -> Sequence[Token]:
        return [*self.of_row, *self.head]

    @cached_property
    def of_row(self) -> Sequence[Token]:
        return [token for part in (self.whole, *self.groups) for token in part]

    def places_of_row(self, said: Sequence[Token], words: Lexicon) -> set[int]:
        """Return the places of the label, and of the groups that are named whole."""
        groups = (places_of(said, group, words) for group in self.groups if group)
        return places_of(said, self.label, words).union(*groups)


_LIST_DASH = re.compile(r"[-–—]\s")
_SHORT_FORM = re.compile(r"\s*\([A-Z][A-Za-z]{0,7}[A-Z]s?\)$")


@dataclass(frozen=True)
class _Mention:
    """An amount of a claim, or a count with its share; ``cells``: those that have it."""

    places: tuple[int, ...]
    cells: frozenset[int]


@dataclass(frozen=True)
class _Claim:
    """A claim and the cells of a table. A reading is the choice of one cell for each amount."""

    tokens: Sequence[Token]
    cells: Sequence[CellReading]
    page: Sequence[SourceUnit]
    language: str

    @cached_property
    def words(self) -> Lexicon:
        return lexicon(base_language(self.language))

    @cached_property
    def _parts(self) -> dict[str, Sequence[Token]]:
        texts = {text for cell in self.cells for text in (cell.label, *cell.groups, cell.head)}
        texts |= {_SHORT_FORM.sub("", text) for text in texts}
        return {text: words_of(with_years_apart(text), self.language) for text in texts}

    @cached_property
    def names(self) -> Sequence[_Name]:
        parts = self._parts
        return [
            _Name(
                parts[_SHORT_FORM.sub("", cell.label)],
                parts[cell.label],
                [parts[group] for group in cell.groups],
                parts[cell.head],
            )
            for cell in self.cells
        ]

    @cached_property
    def over(self) -> Sequence[Token]:
        texts = _texts_over(self.cells[0].unit, self.page)
        return [token for text in texts for token in tokens_of(text, self.language)]

    @cached_property
    def mentions(self) -> Sequence[_Mention]:
        """Return the amounts of the claim that are no part of a name."""
        found: list[_Mention] = []
        numbers = [t for part in self._parts.values() for t in part if t.quantity]
        for at, token in enumerate(self.tokens):
            named = is_date(token) or any(same(token, other) for other in numbers) or self._is_number_of(at)
            if not token.quantity or named:
                continue
            token = self._in_measure_behind(at)
            own = frozenset(k for k, cell in enumerate(self.cells) if _agrees(token, cell, self.words))
            if found and (both := self._with_part(found[-1], at)):
                found[-1] = _Mention((*found[-1].places, at), both)
            else:
                found.append(_Mention((at,), own))
        return found

    def _with_part(self, mention: _Mention, at: int) -> frozenset[int]:
        """Return the cells of an amount that hold the next behind it: "88 (14.4%)", "0.71 (0.54–0.94)"."""
        part, token = len(mention.places), self.tokens[at]
        between = [t.word for t in self.tokens[mention.places[-1] + 1 : at]]
        goes_on = part > 1 or between[-1:] == ["("]
        return frozenset(
            k
            for k in mention.cells
            if part < len(numbers := self.cells[k].numbers)
            if goes_on or (self.cells[k].is_estimate and not {*between} & {")", "."})
            if token.bound in ("", "approx") and token.quantity and _is_part(token.quantity, numbers[part])
        )

    def _is_number_of(self, at: int) -> bool:
        """Return whether a number follows the word that it follows over the table too: "Table 4"."""
        token, before = self.tokens[at], self.tokens[at - 1] if at else None
        return before is not None and any(
            same(before, one) and same(token, other) for one, other in pairwise(self.over)
        )

    def _in_measure_behind(self, at: int) -> Token:
        """Return a bare amount in the scale and unit of the one it is joined to: "from 5 to 7 million"."""
        token, behind = self.tokens[at], self.tokens[at + 1 : at + 3]
        if token.quantity and _LIST_DASH.match(token.word):  # "10 mg – 7 (4.6%)"
            held = token.quantity
            token = replace(token, quantity=replace(held, value=abs(held.value), base=abs(held.base)))
        own, last = token.quantity, behind[1].quantity if len(behind) == 2 else None
        joined = behind[:1] and behind[0].word in self.words.ends | LIST_WORDS
        if own is None or last is None or not joined or not own.bare or own.dimension or not last.dimension:
            return token
        value, unit = own.value * last.scale, last.base / last.value if last.value else Decimal(1)
        step = own.step * last.scale * unit
        return replace(token, quantity=replace(last, value=value, base=value * unit, step=step))

    @cached_property
    def groups(self) -> Sequence[range]:
        """Return the amounts that stand together, with one in brackets behind another: "31 events (2.6%)"."""
        starts = [
            number
            for number, mention in enumerate(self.mentions)
            if not number or self.tokens[mention.places[0] - 1].word != "(" or self._is_apart(number)
        ]
        return [range(start, end) for start, end in pairwise([*starts, len(self.mentions)])]

    def _is_apart(self, number: int) -> bool:
        """Return whether more than a word stands between an amount and the one before."""
        return self.mentions[number].places[0] - self.mentions[number - 1].places[-1] > MOST_BETWEEN

    @cached_property
    def segments(self) -> Sequence[range]:
        """Return the stretch of the claim that belongs to each amount; () where they cannot be told apart."""
        cuts = [0]
        for group, after in pairwise(self.groups):
            between = range(self.mentions[group[-1]].places[-1] + 1, self.mentions[after[0]].places[0])
            words = [self.tokens[at].word for at in between]
            opened = [at for at, word in zip(between, words, strict=True) if word == "("]
            opened = (
                [at for at in opened if at > between.start + len(words) - 1 - words[::-1].index(")")]
                if ")" in words
                else opened
            )
            cut = next(
                (at for joins in self._joints for at in between if joins(at) or at in opened[-1:]), None
            )
            if cut is None:
                return ()
            cuts.append(cut)
        stretches = [range(start, end) for start, end in pairwise([*cuts, len(self.tokens)])]
        return [own for own, group in zip(stretches, self.groups, strict=True) for _ in group]

    def _mates(self, number: int) -> range:
        """Return the amounts that stand together with one."""
        return next(group for group in self.groups if number in group)

    @property
    def _joints(self) -> Iterator[Callable[[int], bool]]:
        """Yield what parts two amounts: an "and", else a comma, else the "to" of a change."""
        tokens, words = self.tokens, self.words
        joins = LIST_WORDS | words.breaks | {";", "；"}
        yield lambda at: tokens[at].word in joins or begins_comparison(tokens, at, words)
        yield lambda at: tokens[at].kind == "break" and tokens[at].word not in "()"
        ends = words.starts | words.ends
        yield lambda at: tokens[at].word in ends and tokens[at + 1].quantity is not None
        yield lambda at: tokens[at].word in words.prepositions and tokens[at + 1].quantity is not None
        yield lambda at: tokens[at + 1].quantity is not None  # "5 mg every 6 hours"

    def readings(self) -> Iterator[tuple[int, ...]]:
        """Yield choices of a cell of its own for each amount, of the first 64 choices."""
        if self.mentions and self.segments:
            choices = islice(product(*(sorted(mention.cells) for mention in self.mentions)), MOST_READINGS)
            yield from (choice for choice in choices if len({*choice}) == len(choice))

    def says(self, reading: Sequence[int]) -> bool:
        """Return whether the claim says just these cells, one for each amount."""
        check_budget()
        numbers = range(len(reading))
        return all(self._is_covered(reading, n) for n in numbers) and all(
            self._is_meant(reading, n) for n in numbers
        )

    def _owners(self, token: Token, reading: Sequence[int]) -> frozenset[int]:
        """Return the amounts whose cell has a word of the claim in its name."""
        return frozenset(
            n for n, cell in enumerate(reading) if any(_names(token, w) for w in self.names[cell].words)
        )

    # -- whether each word names the cell that it stands beside, or what all cells have over them

    def _is_covered(self, reading: Sequence[int], number: int) -> bool:
        amounts = {at for mention in self.mentions for at in mention.places}
        first, cell = self.mentions[number].places[0], self.cells[reading[number]]
        left, turns = [], set[int]()
        if cell.is_change and self._role(number) in self.words.ends:
            return False  # "rose to 25 %"
        for at in self.segments[number]:
            token = self.tokens[at]
            if not token.content or at in amounts or not any(map(str.isalnum, token.word)):
                continue
            owners = self._owners(token, reading)
            of_result = cell.is_change and is_date(token)
            if owners and owners.isdisjoint(self._mates(number)) and not of_result:
                return False
            if is_date(token) and not _is_dated(token, self._dates_of(reading[number])):
                return False
            if not owners and token.word.rstrip("s") in self.words.spent | self.words.outflow:
                return False  # its side is yet to be compared
            sides = {side for pair, side in token.poles if pair == "direction"}
            if not owners and len(sides) == 1 and not token.marker:
                turns |= sides
            elif not owners and not self._is_known(token) and not self._is_in_cell(token, reading[number]):
                left.append(at)
        if any(q.base < 0 < self._said(number) and cell.is_change and turns != {1} for q in cell.numbers):
            return False
        if not all(self._turns(reading, number, side) for side in turns):
            return False
        if not self._has_words_of(reading[number], number):
            return False
        return len(left) <= MOST_PREDICATES and all(self._is_predicate(at, first) for at in left)

    def _dates_of(self, index: int) -> Sequence[Token]:
        """Return the words that may date a cell; a change is dated by the newest of its row."""
        cell = self.cells[index]
        row = [
            k for k, other in enumerate(self.cells) if other.unit.id == cell.unit.id and not other.is_change
        ]
        newest = max(row, key=lambda k: self.cells[k].year, default=index) if cell.is_change else index
        return [*self.names[index].words, *self.names[newest].head, *self.over]

    def _is_in_cell(self, token: Token, cell: int) -> bool:
        return any(same(token, held) for held in self._texts[cell])

    def _has_words_of(self, cell: int, number: int) -> bool:
        """Return whether the claim has what the cell says of its amount: "up to 5 mg", "each session"."""
        said = [self.tokens[at] for at in self.segments[number]]
        bound = self.tokens[self.mentions[number].places[0]].bound
        return all(
            held.bound in ("", "approx", "span", bound) if held.quantity else any(same(t, held) for t in said)
            for held in self._texts[cell]
            if held.quantity or held.marker
        )

    @cached_property
    def _texts(self) -> Sequence[Sequence[Token]]:
        """Return the tokens of each cell that has words."""
        texts = (cell.text if any(map(str.isalpha, cell.text)) else "" for cell in self.cells)
        return [tokens_of(text, self.language) if text else () for text in texts]

    def _said(self, number: int) -> Decimal:
        quantity = self.tokens[self.mentions[number].places[0]].quantity
        return quantity.base if quantity else Decimal(0)

    def _is_known(self, token: Token) -> bool:
        words = self.words
        light = words.tabled | words.light | words.together | words.counted | words.company | words.period
        compared = {word for phrase in words.compared for word in phrase.split()}
        if token.marker is None and not token.quantity and token.word in light | compared:
            return True
        return is_date(token) or any(same(token, other) for other in self.over)

    def _turns(self, reading: Sequence[int], number: int, side: int) -> bool:
        """Return whether cells rise (0) or fall (1): a change, and two of one row in order of time."""
        cells = [self.cells[k] for k in reading]
        changes = [cell.quantity.base for cell in cells if cell.is_change and cell.quantity]
        ends = [n for n, cell in enumerate(cells) if not cell.is_change]
        if any((change > 0) != (side == 0) for change in changes) or not (changes or len(ends) == 2):
            return False
        times = [self._time(reading[n]) for n in ends]
        first = [self._role(n) in self.words.starts for n in ends]
        if len(ends) > 2 or len({cells[n].unit.id for n in ends}) > 1 or (ends and not all(times)):
            return False
        if len(ends) < 2:
            return not any(first)
        early, late = sorted(range(2), key=lambda at: times[at])
        values = [self._said(n) for n in ends]
        is_rise = values[late] > values[early]
        return times[0] != times[1] and values[0] != values[1] and is_rise == (side == 0) and first[early]

    def _time(self, cell: int) -> Decimal:
        """Return the year or date of a cell's head; 0 without one."""
        dates = [t.quantity.value for t in self.names[cell].head if t.quantity and is_date(t)]
        return dates[-1] if dates else Decimal(0)

    def _role(self, number: int) -> str:
        """Return the word right before an amount."""
        at = self.mentions[number].places[0]
        return self.tokens[at - 1].word if at else ""

    def _is_predicate(self, at: int, amount: int) -> bool:
        """Return whether a word is the verb between a row's name and its amount: "Jo received 54 votes"."""
        token = self.tokens[at]
        plain = token.kind == "word" and not token.capital and not token.name and token.marker is None
        apart = any(pair in _SET_ASIDE for pair, _ in token.poles) or takes_amount_away(token, self.words)
        between = self.tokens[at + 1 : amount]
        return plain and not apart and at < amount and not any(t.content and not is_date(t) for t in between)

    # -- whether the words for an amount name its row and column, and no others

    def _is_meant(self, reading: Sequence[int], number: int) -> bool:
        index = reading[number]
        cell, name = self.cells[index], self.names[index]
        said = [self.tokens[at] for at in self._places_for(reading, number)]
        label = places_of(said, name.label, self.words)
        if not label or any(has_other_sign(said, name.label, q) for q in cell.numbers):
            return False
        own = name.places_of_row(said, self.words)
        for other, rival in zip(self.cells, self.names, strict=True):
            if other.unit.id == cell.unit.id or other.cell.column != cell.cell.column:
                continue
            is_named = places_of(said, rival.label, self.words)
            if is_named and not rival.places_of_row(said, self.words) < own:
                return False
        mates = {reading[mate] for mate in self._mates(number)}
        return self._is_only_column(index, said, label, self.tokens[self.mentions[number].places[0]], mates)

    def _places_for(self, reading: Sequence[int], number: int) -> list[int]:
        """Return the places of the words for an amount: beside it, and those that go on from before.

        Words that name the cells of all amounts are for each. From the amount before go on its row, and the
        words of its head that fit those beside this one.
        """
        places = set(self.segments[number])
        places |= {
            at
            for at, t in enumerate(self.tokens)
            if t.content and len(self._owners(t, reading)) == len(reading)
        }
        if not number:
            return sorted(places)
        index, before = reading[number], reading[number - 1]
        own = [self.tokens[at] for at in sorted(places)]
        row_goes_on = self.cells[index].unit.id == self.cells[before].unit.id
        row_goes_on = row_goes_on and not places_of(own, self.names[index].label, self.words)
        old = self.names[before]
        for at in self._places_for(reading, number - 1):
            token = self.tokens[at]
            of_row = row_goes_on and any(_names(token, w) for w in old.of_row)
            of_head = any(_names(token, w) for w in old.head) and self._fits_head(token, own)
            of_change = self.cells[before].is_change and is_date(token)  # "fell in 2024 by 3 % to 5"
            places |= {at} if of_row or of_head or of_change else set()
        return sorted(places)

    def _fits_head(self, token: Token, own: Sequence[Token]) -> bool:
        """Return whether some head has a word together with all the head words beside an amount."""
        heads = {_keys(name.head, self.words) for name in self.names}
        known = _keys(own, self.words) & frozenset().union(*heads)
        return any({*_key(token)} | known <= head for head in heads)

    def _is_only_column(
        self, index: int, said: Sequence[Token], of_label: set[int], amount: Token, mates: Container[int]
    ) -> bool:
        """Return whether the claim names the column by what its head has and the others' have not.

        Only columns with amounts of one measure are told apart by names. A change has the year of its result.
        """
        cell = self.cells[index]
        row = [k for k, other in enumerate(self.cells) if other.unit.id == cell.unit.id]
        alike = [k for k in row if k == index or _may_be(amount, self.cells[k])]
        if cell.is_change and any(pair == "direction" for token in said for pair, _ in token.poles):
            alike = [k for k in alike if self.cells[k].is_change]  # "down $5 million"
        own = places_of(said, self.names[index].head, self.words) | of_label
        measured = amount.quantity is not None and amount.quantity.dimension not in ("", "ratio", "money")
        rivals = [k for k in (alike if cell.is_change or measured else row) if k == index or k not in mates]
        others = (places_of(said, self.names[k].head, self.words) for k in rivals)
        if not all(places <= own for places in others):
            return False
        heads = {k: _keys(self.names[k].head, self.words) for k in alike}
        shared = frozenset.intersection(*heads.values())
        words = _keys([token for at, token in enumerate(said) if at not in of_label], self.words)
        fits = {k: len((head - shared) & words) for k, head in heads.items()}
        return all(fits[index] > fits[k] for k in alike if k != index)


def _names(token: Token, word: Token) -> bool:
    """Return whether a word of the claim is one of a name; a date, where it has the year of the name."""
    if not (is_date(token) and is_date(word)):
        return same(token, word)
    one, other = (YEAR.sub("", date).strip(" ,.") for date in (token.word, word.word))
    alike = not one or not other or one in other or other in one  # "2024", "June 2024", "June 30, 2024"
    return same(token, word) or (
        alike and not {*YEAR.findall(token.word)}.isdisjoint(YEAR.findall(word.word))
    )


def _may_be(amount: Token, cell: CellReading) -> bool:
    """Return whether a cell may hold an amount of this measure: no share where the claim has money."""
    own = amount.quantity.dimension if amount.quantity else ""
    return any(
        (held.dimension == "ratio") == (own == "ratio")
        and (not own or not held.dimension or own == held.dimension)
        for held in cell.numbers
    )


def _agrees(token: Token, cell: CellReading, words: Lexicon) -> bool:
    """Return whether a cell has the amount; of a change or a cost without its sign, which a word may say."""
    own = token.quantity
    if own is None or token.bound not in ("", "approx"):
        return False
    hedged = token.bound == "approx" or own.scale > 1
    label = cell.label.casefold()
    unsigned = own.value > 0 and (cell.is_change or any(word in label for word in words.outflow))
    numbers = cell.numbers[:1] if cell.is_estimate else cell.numbers
    numbers = numbers[-1:] if own.dimension == "ratio" else numbers
    for held in numbers:
        if unsigned and held.base < 0:
            held = replace(held, value=-held.value, base=-held.base)
        if not own.dimension and not own.bare and held.dimension == "money":  # "and 126 million"
            held = replace(held, dimension="", unit="")
        if same_quantity(own, held, hedged=hedged):
            return True
    return False


def _is_part(said: Quantity, held: Quantity) -> bool:
    """Return whether a spread is said; it has the unit of its estimate: "61.3 years (SD 9.8)"."""
    return same_quantity(said, held) or (said.bare and not said.dimension and said.value == held.value)


def _keys(tokens: Sequence[Token], words: Lexicon) -> frozenset[str]:
    """Return what the words of a head are told apart by: stems, years and days, one key for a total."""
    totals = {id(token) for token in tokens if not words.total.isdisjoint(token.word.split()[-1:])}
    return frozenset(
        key
        for token in tokens
        if (token.content and any(map(str.isalnum, token.word))) or id(token) in totals
        for key in (("total",) if id(token) in totals else _key(token))
    )


def _key(token: Token) -> Iterator[str]:
    years = YEAR.findall(token.word) if is_date(token) else ()
    yield from years or [token.stem or token.word]
    if years and token.quantity and token.quantity.dimension == "date":
        yield str(token.quantity.value)


def _texts_over(unit: SourceUnit, page: Sequence[SourceUnit]) -> Iterator[str]:
    """Yield what stands over the row: caption, section, title, the corner of the table, short lines."""
    table = unit.table
    assert table is not None
    yield from (table.caption, unit.title, *unit.section_path, *table.head_rows[:1])
    for other in page:
        if other.char_start < unit.char_start and other.table is None and len(other.text) < SHORT_LINE:
            yield other.text


def _is_dated(token: Token, names: Sequence[Token]) -> bool:
    """Return whether names have a date's year, and its day where it has one."""
    years = YEAR.findall(token.word)
    day = YEAR.sub("", token.word).strip(" ,.")
    known = {year for other in names if is_date(other) for year in YEAR.findall(other.word)}
    dated = not day or any(day in other.word for other in names if is_date(other))
    return (bool(years) and {*years} <= known and dated) or any(same(token, other) for other in names)
