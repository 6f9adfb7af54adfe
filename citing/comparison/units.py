"""Judge a claim against a citation unit: word for word, by its prose, or by its row within a table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from citing.claims import Conflict, SourceUnit
from citing.comparison.doubts import DOUBTS, OTHER_ROW, Row
from citing.comparison.grid import CellText, Grid, grid_of
from citing.comparison.prose import Judgement, judge_prose
from citing.comparison.respective import is_paired_otherwise
from citing.comparison.stated_cell import stated_cell, stated_text
from citing.comparison.support import (
    ValueSupport,
)
from citing.comparison.tables import judge_table
from citing.comparison.tokens import tokens_of
from citing.comparison.verbatim import (
    repeats_sentences,
    single_difference,
    verbatim_span,
)
from domains import pack_names
from domains.items import span_of_label

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
    if judged.outcome == "holds" and is_paired_otherwise(sentence, unit.text, language):
        return replace(judged, outcome="open", unchecked=(OTHER_PAIR,))
    if judged.outcome == "holds" and (wrong := single_difference(sentence, unit.text, language, topics)):
        return replace(judged, outcome="conflict", conflicts=(wrong,))
    return judged


# Rows of tables.


def _judge_row(
    sentence: str,
    unit: SourceUnit,
    around: Sequence[SourceUnit],
    language: str,
    claim_language: str,
    found: ValueSupport | None,
) -> Judgement:
    if said := stated_text(sentence, unit, around, language):
        return said
    grid = grid_of(unit, around, language)
    if grid is not None:
        sentence = _in_words_of_row(sentence, grid, language)
    row = Row(sentence, unit, around, grid, claim_language, found)
    judged = stated_cell(row.sentence, unit, around, language)
    if judged is not None and _doubted(judged, row) is judged:
        return judged
    if grid is not None:
        topics = [*unit.section_path, unit.title]
        judged = _of_own_row(judge_table(sentence, grid, language, topics, row.own), unit)
        if row.own is not None and (wrong := _other_bound(sentence, grid.rows[row.own][0], language)):
            return replace(judged, outcome="conflict", conflicts=(wrong,), coverage=1.0, formula="")
        judged = _doubted(judged, row)
    return judged or Judgement("open", missing=found.missing if found else ())


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
