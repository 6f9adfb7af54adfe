"""Judge a claim whose values a row prints, where it does not name the row and column in full."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import lru_cache

from citing.claims import SourceUnit
from citing.comparison.cells.cell_words import LEVELS, CellComparison
from citing.comparison.cells.doubts import Row
from citing.comparison.cells.grid import grid_of
from citing.comparison.values.support import FALLING, ValueSupport, column_of, head_text, heads_of
from citing.comparison.words.phrases import takes_amount_away
from citing.comparison.words.prose import Judgement
from citing.comparison.words.token import Token, names_in_topics, same, with_names
from citing.comparison.words.tokens import tokens_of
from citing.tables import SHORT_LINE
from text.languages import base_language
from text.quantities import Quantity, quantities_in
from text.semantics import known_language, lexicon
from text.sentences import sentence_spans
from text.units import unit_at
from text.values import values_in

_CHANGE = re.compile(r"%\s*(?:change|growth)|(?:change|growth)\b.*%|[Vv]eränderung|variation|variación", re.I)


def judge_by_values(
    sentence: str, unit: SourceUnit, around: Sequence[SourceUnit], language: str, found: ValueSupport
) -> Judgement:
    """Judge a claim whose values are in the row, by whether its other words are in the row or above it."""
    spans = tuple(sorted({(place.printed.start, place.printed.end) for place in found.places}))
    left = words_left(sentence, unit, around, language, found)
    if not known_language(language) and left:
        return Judgement("open", spans, unchecked=(f"There are no rules for the language {language}.",))
    if left := left or _of_other_amount(sentence, unit, around, language, found):
        markers = tuple(token.word for token in left if token.marker)
        return Judgement(
            "open",
            spans,
            missing=tuple(t.word for t in left if not t.marker),
            unchecked=markers,
            coverage=0.6,
        )
    return Judgement("holds", spans, coverage=1.0)


def _of_other_amount(
    sentence: str, unit: SourceUnit, around: Sequence[SourceUnit], language: str, found: ValueSupport
) -> list[Token]:
    """Return the claim's amounts of which only the digits agree: with another unit, scale or bound."""
    grid = grid_of(unit, around, language)
    row = Row(sentence, unit, around, grid, language, found)
    if grid is None or row.own is None:
        return _of_unknown_unit(sentence, unit, around, language)
    compared = CellComparison(sentence, grid, language, ())
    return [
        token
        for token in compared.tokens
        for place in found.places
        if token.quantity and place.claimed.start < token.end and token.start < place.claimed.end
        if (column := column_of(unit, place.printed.start)) in grid.columns
        and not (
            compared.has_amount(token, row.own, column or 0)
            if grid.numbers(row.own, column or 0)
            else not _has_other_unit(token.quantity, quantities_in(unit.text, language))
        )
    ]


def _of_unknown_unit(
    sentence: str, unit: SourceUnit, around: Sequence[SourceUnit], language: str
) -> list[Token]:
    """Return the claim's amounts in a unit that is neither in the passage nor above it; only digits agree."""
    amounts = [token for token in tokens_of(sentence, language) if token.quantity and token.quantity.unit]
    if not amounts:
        return []
    over = "\n".join([unit.text, *heads_of(unit), *_lines_over(unit, around)])
    known = _units_of(over, language)
    counted = {q.unit for q in quantities_in(over, language) if q.dimension == "money"}
    printed = quantities_in(unit.text, language)
    return [
        token
        for token in amounts
        if (claimed := token.quantity)
        and (
            _has_other_unit(claimed, printed)
            or (claimed.dimension == "money" and counted and claimed.unit not in counted)
            or (claimed.dimension not in ("money", "ratio", "points") and claimed.unit not in known)
        )
    ]


def _has_other_unit(claimed: Quantity, printed: Sequence[Quantity]) -> bool:
    """Return whether the number is printed with another unit only: "1.5 kg" beside "0.7 kg (1.5 lbs.)"."""
    units = {q.unit for q in printed if (q.value, q.dimension) == (claimed.value, claimed.dimension)}
    return bool(units) and claimed.unit not in units


@lru_cache(maxsize=1024)
def _units_of(text: str, language: str) -> frozenset[str]:
    """Return the symbols of all units a text names, with or without a number."""
    at_words = re.finditer(r"(?<![^\W\d_])[^\W\d_]|[%°]", text)
    found = (unit_at(text, match.start(), language) for match in at_words)
    return frozenset(unit[0] for unit in found if unit)


def words_left(
    sentence: str, unit: SourceUnit, around: Sequence[SourceUnit], language: str, found: ValueSupport
) -> list[Token]:
    """Return the words of the claim that are neither in the unit nor above it."""
    texts = [unit.text, *heads_of(unit), *_lines_over(unit, around)]
    above = [token for text in texts for token in tokens_of(text, language)]
    stems = {token.stem for token in above}
    negative = any(place.printed.number < 0 for place in found.places)
    names = names_in_topics([*unit.section_path, unit.title])
    values = values_in(sentence)
    claimed = with_names(tokens_of(sentence, language), names)
    return [
        token
        for token in claimed
        if token.content
        and token.word not in names
        and not (token.quantity and any(v.start < token.end and token.start < v.end for v in values))
        and (bool(token.quantity) or token.stem not in stems)
        and not any(same(token, other) for other in above)
        and not (negative and FALLING.search(token.word))
        and not (unit.type == "table" and _is_predicate(token, claimed, stems, unit, found, language))
    ]


def _is_predicate(
    token: Token,
    claimed: Sequence[Token],
    stems: Collection[str],
    unit: SourceUnit,
    found: ValueSupport,
    language: str,
) -> bool:
    """Return whether a word is the verb between a row's name and its value: "Johnson received 54 votes".

    A word of rise is one where the value is a positive change: "grew 15 %" under "% change". One that turns
    another is none: "missed 54 votes".
    """
    at = next(k for k, other in enumerate(claimed) if other.start == token.start)
    sides = {side for pair, side in token.poles if pair == "direction" or pair in LEVELS}
    if token.kind != "word" or token.capital or not 0 < at < len(claimed) - 1:
        return False
    if sides:
        heads = [head_text(unit, place.printed.start) for place in found.places]
        rises = all(place.printed.number > 0 for place in found.places)
        return sides == {0} and rises and all(_CHANGE.search(head) for head in heads)
    if takes_amount_away(token, lexicon(base_language(language))):
        return False
    before = next((t for t in reversed(claimed[:at]) if t.content), None)
    after = next((t for t in claimed[at + 1 :] if t.content), None)
    named = before is not None and (before.quantity is not None or before.stem in stems)
    return named and after is not None and after.quantity is not None


def _lines_over(unit: SourceUnit, around: Sequence[SourceUnit]) -> list[str]:
    """Return headings, captions and short lines of the page, and the line before a row without a label."""
    lines = [
        other.text
        for other in around
        if other.type in ("heading", "caption")
        or (other.char_start < unit.char_start and len(other.text) < SHORT_LINE and other.type != "table")
        or (other.table is not None and other.table.header)
    ]
    first = min((o for o in around if _in_table_of(o, unit)), key=lambda o: o.char_start, default=unit)
    over = max(
        (o for o in around if o.table is None and o.char_start < min(first.char_start, unit.char_start)),
        key=lambda o: o.char_start,
        default=None,
    )
    if unit.table and over and over.text.rstrip().endswith(":"):
        lines.append(over.text[sentence_spans(over.text, "en")[-1].start :])
    if not re.search(r"[^\W\d_]{3}", unit.text):
        before = [other for other in around if other.char_start < unit.char_start]
        lines += [max(before, key=lambda other: other.char_start).text] if before else []
    return lines


def _in_table_of(other: SourceUnit, unit: SourceUnit) -> bool:
    return other.table is not None and unit.table is not None and other.table.index == unit.table.index
