"""Judge a claim against a citation unit: word for word, by its prose, or by its row within a table."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import lru_cache

from citing.claims import Conflict, SourceUnit
from citing.comparison.cell_words import LEVELS, CellComparison
from citing.comparison.doubts import DOUBTS, OTHER_ROW, Row
from citing.comparison.grid import CellText, Grid, grid_of
from citing.comparison.prose import Judgement, judge_prose
from citing.comparison.respective import RESPECTIVELY, is_paired_otherwise
from citing.comparison.stated_cell import stated_cell, stated_text
from citing.comparison.support import (
    FALLING,
    ValueSupport,
    column_of,
    head_text,
    heads_of,
)
from citing.comparison.tables import UNSCALED, judge_table
from citing.comparison.token import (
    Token,
    names_in_topics,
    same,
    with_names,
)
from citing.comparison.tokens import tokens_of
from citing.comparison.verbatim import (
    repeats_sentences,
    single_difference,
    verbatim_span,
)
from citing.tables import SHORT_LINE
from domains import pack_names
from domains.items import span_of_label
from text.quantities import Quantity, quantities_in
from text.semantics import known_language
from text.sentences import Span, sentence_spans
from text.units import unit_at
from text.values import values_in

OTHER_PAIR = "The page pairs these words differently."


def judge_unit(
    sentence: str,
    unit: SourceUnit,
    around: Sequence[SourceUnit],
    language: str,
    claim_language: str,
    found: ValueSupport | None,
) -> Judgement:
    """Judge a claim by one unit.

    Args:
        language: the unit's.
        claim_language: the claim's language, in which the words of a table row are compared.
        found: the places of the claim's values in the unit, where it has any.
    """
    if repeats_sentences(sentence, unit.text, language):
        return Judgement("holds", (verbatim_span(sentence, unit.text),), coverage=1.0)
    if unit.type == "table":
        return _judge_row(sentence, unit, around, language, claim_language, found)
    topics = [*reversed(unit.section_path), unit.title]
    judged = judge_prose(sentence, unit.text, language, topics)
    if (
        judged.outcome == "open"
        and found
        and found.complete
        and (lists := _in_two_lists(unit.text, language, found))
    ):
        alone = replace(unit, text=unit.text[lists.start : lists.end])
        judged = _by_values(sentence, alone, around, language, found)
    if judged.outcome == "holds" and is_paired_otherwise(sentence, unit.text, language):
        return replace(judged, outcome="open", unchecked=(OTHER_PAIR,))
    if judged.outcome == "holds" and (wrong := single_difference(sentence, unit.text, language, topics)):
        return replace(judged, outcome="conflict", conflicts=(wrong,))
    return judged


def _in_two_lists(text: str, language: str, found: ValueSupport) -> Span | None:
    """Return the sentence with "respectively" that has all values, in the order of the claim; else None."""
    starts = [place.printed.start for place in found.places]
    near = next((s for s in sentence_spans(text, language or "en") if s.start <= starts[0] < s.end), None)
    years = near and [value for value in values_in(text[near.start : near.end]) if value.year is not None]
    inside = near is not None and all(near.start <= start < near.end for start in starts)
    ordered = inside and (len(starts) > 1 or bool(years)) and starts == sorted(starts)
    return near if ordered and near and RESPECTIVELY.search(text[near.start : near.end]) else None


# Rows of tables.


def _judge_row(
    sentence: str,
    unit: SourceUnit,
    around: Sequence[SourceUnit],
    language: str,
    claim_language: str,
    found: ValueSupport | None,
) -> Judgement:
    if said := stated_cell(sentence, unit, around, language) or stated_text(sentence, unit, around, language):
        return said
    judged = None
    grid = grid_of(unit, around, language)
    if grid is not None:
        sentence = _in_words_of_row(sentence, grid, language)
    row = Row(sentence, unit, around, grid, claim_language, found)
    if grid is not None:
        topics = [*unit.section_path, unit.title]
        judged = _of_own_row(judge_table(sentence, grid, language, topics, row.own), unit)
        if row.own is not None and (wrong := _other_bound(sentence, grid.rows[row.own][0], language)):
            return replace(judged, outcome="conflict", conflicts=(wrong,), coverage=1.0, formula="")
        judged = _doubted(judged, row)
        reasons = {*judged.unchecked} & {UNSCALED, *(doubt.reason for doubt in DOUBTS)}
        if judged.outcome == "holds" or reasons:
            return judged
    if found is None or not found.complete:
        return judged or Judgement("open", missing=found.missing if found else ())
    by_values = _doubted(
        _by_values(sentence, unit, around, claim_language, found), replace(row, by_values=True)
    )
    unknown_unit = judged is not None and judged.outcome == "conflict" and judged.coverage < 1
    return by_values if judged is None or judged.outcome == "open" or unknown_unit else judged


def _in_words_of_row(sentence: str, grid: Grid, language: str) -> str:
    """Replace a synonym of a row's label in the claim by the label: "revenue" by "Net sales".

    Unchanged where a row has the claim's own words, or several rows are the item.
    """
    if language != "en":
        return sentence
    labels = [row[0].text.strip() for row in grid.rows if row and row[0].text.strip()]
    named = [(span, label) for label in labels if (span := span_of_label(sentence, label, pack_names()))]
    if len(named) != 1:
        return sentence
    (start, end), label = named[0]
    synonym = sentence[start:end].lower()
    if any(synonym in other.lower() for other in labels) or label.lower() in sentence.lower():
        return sentence
    return f"{sentence[:start]}{label}{sentence[end:]}"


def _of_own_row(judged: Judgement, unit: SourceUnit) -> Judgement:
    """Return the judgement; an open one if it is about another row than the unit."""
    own = [start >= 0 and end <= len(unit.text) for start, end in judged.spans]
    if judged.outcome != "open" and not any(own):
        return Judgement("open", unchecked=(OTHER_ROW,), coverage=1.0)
    return judged


def _doubted(judged: Judgement, row: Row) -> Judgement:
    """Return the judgement; an open one where it may be about another cell."""
    for doubt in DOUBTS:
        if judged.outcome in doubt.outcomes and not judged.formula and doubt.applies(row):
            return Judgement("open", judged.spans, unchecked=(doubt.reason,), coverage=1.0)
    return judged


def _by_values(
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


_CHANGE = re.compile(r"%\s*(?:change|growth)|(?:change|growth)\b.*%|[Vv]eränderung|variation|variación", re.I)
_BELOW, _ABOVE = frozenset({"lt", "le"}), frozenset({"gt", "ge"})


def _other_bound(sentence: str, label: CellText, language: str) -> Conflict | None:
    """Return the conflict where the claim inverts the bound of its row's label: "over 18", "Under 18"."""
    for held in tokens_of(label.text, language):
        for token in tokens_of(sentence, language):
            one, other = token.quantity, held.quantity
            alike = one is not None and other is not None and one.value == other.value
            if alike and {token.bound, held.bound} & _BELOW and {token.bound, held.bound} & _ABOVE:
                place = label.start + held.start, label.start + held.end
                return Conflict("comparator", token.word, label.text, (token.start, token.end), place)
    return None


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
        and not compared.has_amount(token, row.own, column or 0)
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
        and not (unit.type == "table" and _is_predicate(token, claimed, stems, unit, found))
    ]


def _is_predicate(
    token: Token, claimed: Sequence[Token], stems: Collection[str], unit: SourceUnit, found: ValueSupport
) -> bool:
    """Return whether a word is the verb between a row's name and its value: "Johnson received 54 votes".

    A word of rise is one where the value is a positive change: "grew 15 %" under "% change".
    """
    at = next(k for k, other in enumerate(claimed) if other.start == token.start)
    sides = {side for pair, side in token.poles if pair == "direction" or pair in LEVELS}
    if token.kind != "word" or token.capital or not 0 < at < len(claimed) - 1:
        return False
    if sides:
        heads = [head_text(unit, place.printed.start) for place in found.places]
        rises = all(place.printed.number > 0 for place in found.places)
        return sides == {0} and rises and all(_CHANGE.search(head) for head in heads)
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


def with_conflicts_as_written(judged: Judgement, sentence: str, unit: SourceUnit) -> Judgement:
    """Return the judgement with its conflicts' words as written, and spans in the page's text."""
    return replace(judged, conflicts=tuple(_as_written(c, sentence, unit) for c in judged.conflicts))


def _as_written(conflict: Conflict, sentence: str, unit: SourceUnit) -> Conflict:
    claimed, held = sentence[slice(*conflict.claim_span)], unit.text[slice(*conflict.source_span)]
    start, end = (place + unit.char_start for place in conflict.source_span)
    return replace(
        conflict,
        claim=claimed if claimed.lower() == conflict.claim.lower() else conflict.claim,
        source=held if held.lower() == conflict.source.lower() else conflict.source,
        source_span=(start, end) if conflict.source else conflict.source_span,
    )
