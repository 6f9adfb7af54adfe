"""Numbers that name a column, and are no values: ``52 weeks``, ``Level 2``, ``FY23``."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from chat.claims import SourceUnit
from chat.values import Value

_LAST_WORD = re.compile(r"[^\W\d_]+\W?\s$")
_NEXT_WORD = re.compile(r"\s[^\W\d_]+")
_LETTER = re.compile(r"[^\W\d_]")


def heads_of_columns(unit: SourceUnit, columns: Collection[int | None] = ()) -> Sequence[str]:
    """What stands over these columns of the unit's table; over all when none of them is known."""
    heads = unit.table.head_rows if unit.table else ()
    known = [heads[column] for column in columns if column is not None and column < len(heads)]
    return known or heads


def repeats_head(sentence: str, value: Value, heads: Sequence[str]) -> bool:
    """Whether the value stands in one of the heads as in the sentence: in or beside the same word."""
    phrases = [re.compile(rf"(?<!\w){re.escape(said)}(?!\w)", re.I) for said in _phrases(sentence, value)]
    return any(phrase.search(head) for head in heads for phrase in phrases)


def _phrases(sentence: str, value: Value) -> Iterator[str]:
    """The value with the letters it is joined to; else with the word before it, and with the one after."""
    start, end = value.start, value.end
    while start and sentence[start - 1].isalnum():
        start -= 1
    while end < len(sentence) and sentence[end].isalnum():
        end += 1
    if _LETTER.search(sentence[start:end]):
        yield sentence[start:end]
        return
    if before := _LAST_WORD.search(sentence, 0, start):
        yield sentence[before.start() : end]
    if after := _NEXT_WORD.match(sentence, end):
        yield sentence[start : after.end()]
