"""Judge a claim by one citation unit. The steps, in the order in which they are tried:

- the claim repeats sentences of the page word for word: it holds (``words.verbatim``);
- the unit is a row of a table: it is judged by cells (``cells.rows``);
- else by its prose (``words.prose``): it holds, conflicts, or stays open;
- what holds must pair two lists as the page does (``values.respective``), and must not differ from a sentence
  by one word that turns its meaning (``words.verbatim``).

The caller takes off lead-ins before (``words.framing``), and shows only typed differences
(``citing/differences.py``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from citing.claims import Conflict, SourceUnit
from citing.comparison.cells.row_values import judge_by_values
from citing.comparison.cells.rows import judge_row
from citing.comparison.values.respective import RESPECTIVELY, is_paired_otherwise
from citing.comparison.values.support import ValueSupport
from citing.comparison.words.prose import Judgement, judge_prose
from citing.comparison.words.verbatim import repeats_sentences, single_difference, verbatim_span
from text.sentences import Span, sentence_spans
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
        return judge_row(sentence, unit, around, language, claim_language, found)
    topics = [*reversed(unit.section_path), unit.title]
    judged = judge_prose(sentence, unit.text, language, topics)
    lists = _in_two_lists(unit.text, language, found) if found and found.complete else None
    if judged.outcome == "open" and found and lists:
        alone = replace(unit, text=unit.text[lists.start : lists.end])
        judged = judge_by_values(sentence, alone, around, language, found)
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
