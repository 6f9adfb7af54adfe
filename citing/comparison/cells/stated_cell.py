"""A claim that says one cell and nothing else: its row, the groups above it, its column and its amount."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from citing.claims import SourceUnit
from citing.comparison.cells.grid import has_other_sign, places_of, readings_of, words_of
from citing.comparison.values.quantities import same_quantity
from citing.comparison.words.prose import Judgement
from citing.comparison.words.token import Token, is_date, same
from citing.comparison.words.tokens import tokens_of
from citing.comparison.words.verbatim import verbatim_span
from citing.tables import SHORT_LINE, CellReading
from text.languages import base_language
from text.numbers import YEAR
from text.semantics import lexicon, split_words

MOST_PREDICATES = 1  # words of the claim's verb that the table need not have: "totaled"
LEAST_TEXT = 4  # content words of a cell that a claim repeats
_BULLETS = " \t\n•–-*"
_SET_ASIDE = ("direction", "money")  # pairs of opposites of which a word may not be left out


@dataclass(frozen=True)
class _Name:
    """The words that name a cell: of its label, of each group and of its head."""

    label: Sequence[Token]
    groups: Sequence[Sequence[Token]]
    head: Sequence[Token]


def stated_cell(
    sentence: str, unit: SourceUnit, around: Sequence[SourceUnit], language: str
) -> Judgement | None:
    """Return that the claim holds, where it says one cell of the row and nothing else; else None.

    Every word of the claim must be in the label, a group, the head, or a text over the table; no other row
    and no other column of the table may be named as well.
    """
    claim = tokens_of(sentence, language)
    if not any(token.quantity and not is_date(token) for token in claim):
        return None
    page = tuple(sorted((unit, *around), key=lambda other: other.char_start))
    rows = readings_of(page)
    found = [
        cell
        for cell in rows.get(unit.id, ())
        if cell.is_certain and cell.quantity and _says(claim, cell, rows, page, language)
    ]
    if len(found) != 1:
        return None
    start, end = found[0].start - unit.char_start, found[0].end - unit.char_start
    return Judgement("holds", ((start, end),), coverage=1.0)


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


def _says(
    claim: Sequence[Token],
    cell: CellReading,
    rows: dict[str, tuple[CellReading, ...]],
    page: Sequence[SourceUnit],
    language: str,
) -> bool:
    name = _name(cell, language)
    amounts = [at for at, t in enumerate(claim) if t.quantity and not is_date(t) and not _is_named(t, name)]
    if len(amounts) != 1 or not _agrees(claim[amounts[0]], cell):
        return False
    if cell.quantity is None or has_other_sign(claim, name.label, cell.quantity):
        return False
    named = _places(claim, name, language)
    own = places_of(claim, name.label, lexicon(base_language(language)))
    if not own or not _is_only_row(claim, cell, rows, named, language):
        return False
    if not _is_only_column(claim, cell, rows[cell.unit.id], own, language):
        return False
    over = [*name.label, *name.head, *(token for group in name.groups for token in group)]
    over += [token for text in _texts_over(cell.unit, page) for token in tokens_of(text, language)]
    left = [at for at, t in enumerate(claim) if t.content and at != amounts[0] and at not in named]
    left = [at for at in left if not _is_covered(claim[at], over, cell)]
    return len(left) <= MOST_PREDICATES and all(_is_predicate(claim, at, amounts[0]) for at in left)


def _name(cell: CellReading, language: str) -> _Name:
    groups = [words_of(group, language) for group in cell.groups]
    return _Name(words_of(cell.label, language), groups, words_of(cell.head, language))


def _is_named(token: Token, name: _Name) -> bool:
    """Return whether a number is part of a name: "Level 3", "12 weeks"."""
    parts = (*name.label, *name.head, *(other for group in name.groups for other in group))
    return any(other.quantity and same(token, other) for other in parts)


def _agrees(token: Token, cell: CellReading) -> bool:
    claimed, held = token.quantity, cell.quantity
    return (
        claimed is not None
        and held is not None
        and token.bound in ("", "approx")
        and same_quantity(claimed, held, hedged=token.bound == "approx" or claimed.scale > 1)
    )


def _places(claim: Sequence[Token], name: _Name, language: str) -> set[int]:
    words = lexicon(base_language(language))
    return set().union(*(places_of(claim, part, words) for part in (name.label, *name.groups) if part))


def _is_only_row(
    claim: Sequence[Token],
    cell: CellReading,
    rows: dict[str, tuple[CellReading, ...]],
    named: set[int],
    language: str,
) -> bool:
    """Return whether no other row of the table has as many of the claim's words in its name."""
    table = cell.unit.table
    for row, cells in rows.items():
        other = next((c for c in cells if c.cell.column == cell.cell.column), None)
        if row == cell.unit.id or other is None or other.unit.table is None or table is None:
            continue
        if other.unit.table.index != table.index:
            continue
        theirs = _places(claim, _name(other, language), language)
        label = places_of(claim, words_of(other.label, language), lexicon(base_language(language)))
        if label and not theirs < named:
            return False
    return True


def _is_only_column(
    claim: Sequence[Token], cell: CellReading, row: Sequence[CellReading], of_row: set[int], language: str
) -> bool:
    """Return whether the claim names the column by what its head has and the others' have not."""
    heads = {other.cell.column: _keys(words_of(other.head, language)) for other in row if other.quantity}
    if len(heads) < 2:
        return True
    shared = frozenset.intersection(*heads.values())
    said = _keys([token for at, token in enumerate(claim) if at not in of_row])
    fits = {column: len((head - shared) & said) for column, head in heads.items()}
    own = fits.pop(cell.cell.column)
    return own > max(fits.values())


def _keys(tokens: Sequence[Token]) -> frozenset[str]:
    """Return what the words of a head are told apart by: stems, and the years of dates."""
    return frozenset(key for token in tokens if token.content for key in _key(token))


def _key(token: Token) -> Iterator[str]:
    years = YEAR.findall(token.word) if is_date(token) else ()
    yield from years or [token.stem or token.word]


def _texts_over(unit: SourceUnit, page: Sequence[SourceUnit]) -> Iterator[str]:
    """Yield what stands over the row: caption, section, title, the table's header rows, short lines."""
    table = unit.table
    assert table is not None
    yield from (table.caption, unit.title, *unit.section_path)
    for other in page:
        if other.char_start < unit.char_start:
            if other.table is not None and other.table.index == table.index:
                if other.table.header or not any(map(str.isdigit, other.text)):
                    yield other.text
            elif other.table is None and len(other.text) < SHORT_LINE:
                yield other.text


def _is_covered(token: Token, over: Sequence[Token], cell: CellReading) -> bool:
    if any(same(token, other) for other in over):
        return True
    if is_date(token):
        years = YEAR.findall(token.word)
        day = YEAR.sub("", token.word).strip(" ,.")
        known = {year for other in over if is_date(other) for year in YEAR.findall(other.word)}
        return bool(years) and {*years} <= known and (not day or any(day in t.word for t in over))
    turns = {side for pair, side in token.poles if pair == "direction"}
    if turns and cell.is_change and cell.quantity:
        return turns == {0} if cell.quantity.base > 0 else False
    return False


def _is_predicate(claim: Sequence[Token], at: int, amount: int) -> bool:
    """Return whether a word is the verb between a row's name and its amount: "Johnson received 54 votes"."""
    token = claim[at]
    plain = token.kind == "word" and not token.capital and not token.name and token.marker is None
    apart = any(pair in _SET_ASIDE for pair, _ in token.poles)
    between = claim[at + 1 : amount]
    return plain and not apart and at < amount and not any(t.content and not is_date(t) for t in between)
