"""Judge a claim by a row of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from citing.claims import Conflict, SourceUnit
from citing.comparison.cells.doubts import DOUBTS, OTHER_ROW, Row
from citing.comparison.cells.grid import CellText, Grid, grid_of
from citing.comparison.cells.row_values import judge_by_values
from citing.comparison.cells.stated_cells import stated_cells, stated_text
from citing.comparison.cells.tables import UNSCALED, judge_table
from citing.comparison.values.support import ValueSupport
from citing.comparison.words.prose import Judgement
from citing.comparison.words.tokens import tokens_of
from domains import pack_names
from domains.items import span_of_label


def judge_row(
    sentence: str,
    unit: SourceUnit,
    around: Sequence[SourceUnit],
    language: str,
    claim_language: str,
    found: ValueSupport | None,
) -> Judgement:
    """Judge a claim by one row: by a cell that says it, else by the cells that it names.

    Arguments as those of ``units.judge_unit``.
    """
    if said := stated_text(sentence, unit, around, language):
        return said
    grid = grid_of(unit, around, language)
    if grid is not None:
        sentence = _in_words_of_row(sentence, grid, language)
    row = Row(sentence, unit, around, grid, claim_language, found)
    if said := stated_cells(row.sentence, unit, around, language):
        return said
    judged = None
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
    by_values = judge_by_values(sentence, unit, around, claim_language, found)
    by_values = _doubted(by_values, replace(row, by_values=True))
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
        counts = doubt.of_computed or not judged.formula
        if judged.outcome in doubt.outcomes and counts and doubt.applies(row):
            return Judgement("open", judged.spans, unchecked=(doubt.reason,), coverage=1.0)
    return judged


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
