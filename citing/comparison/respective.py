"""Pairs of two lists with "respectively": which value belongs to which name.

Of "federal, state and foreign losses of $509 million, $1.2 billion and $2.3 billion, respectively" those of
the state are $1.2 billion; "State losses of $2.3 billion" has the page's words and is not what it says.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from text.quantities import Quantity, quantities_in
from text.sentences import sentence_spans

RESPECTIVELY = re.compile(
    r"respectively|respectivement|respectivamente|beziehungsweise|分别|それぞれ|على التوالي"
)
_AND = r"(?:and|or|und|oder|y|o|et|ou|e)"
LISTED = re.compile(rf"\s*,?\s*(?:{_AND}\s)?\s*")
_WORDS = re.compile(rf"[^\W\d_][\w’'-]*(?:, [^\W\d_][\w’'-]*)*,? {_AND} [^\W\d_][\w’'-]*")
_SEPARATOR = re.compile(rf",? {_AND} |, ")


def is_paired_otherwise(claim: str, text: str, language: str) -> bool:
    """Return whether a claim joins a name of one list with the value of another name.

    True:  "State losses were $2.3 billion." of the sentence above.
    False: "State losses were $1.2 billion."; a claim with more names than values.
    """
    words = {word.casefold() for word in re.findall(r"[^\W\d_][\w’'-]*", claim)}
    values = {_key(one) for one in quantities_in(claim, language)}
    for names, amounts in _pairs(text, language):
        named = [at for at, name in enumerate(names) if name in (words if isinstance(name, str) else values)]
        valued = [at for at, amount in enumerate(amounts) if amount in values]
        if named and len(named) == len(valued) and named != valued:
            return True
    return False


_Item = str | tuple[object, ...]


@lru_cache(maxsize=1024)
def _pairs(text: str, language: str) -> tuple[tuple[Sequence[_Item], Sequence[_Item]], ...]:
    """Return the two lists of each sentence that pairs two; the second has values."""
    found: list[tuple[Sequence[_Item], Sequence[_Item]]] = []
    if not RESPECTIVELY.search(text):
        return ()
    for span in sentence_spans(text, language or "en"):
        sentence = text[span.start : span.end]
        if RESPECTIVELY.search(sentence) is None:
            continue
        runs = _runs(sentence, quantities_in(sentence, language))
        values = [[_key(one) for one in run] for run in runs]
        lists: list[Sequence[_Item]] = [*values, *map(_SEPARATOR.split, _WORDS.findall(sentence.casefold()))]
        for amounts in values:
            others = [items for items in lists if items is not amounts and len(items) == len(amounts)]
            if len(others) == 1 and len(set(amounts)) == len(amounts):
                found.append((others[0], amounts))
    return tuple(found)


def _runs(sentence: str, quantities: Sequence[Quantity]) -> list[list[Quantity]]:
    """Return lists of two values or more of one dimension, with nothing but commas and "and" between them."""
    runs: list[list[Quantity]] = []
    for one in quantities:
        last = runs[-1][-1] if runs else None
        joined = last and last.dimension == one.dimension
        if last and joined and LISTED.fullmatch(sentence, last.end, one.start):
            runs[-1].append(one)
        else:
            runs.append([one])
    return [run for run in runs if len(run) > 1]


def _key(one: Quantity) -> tuple[object, ...]:
    return (one.dimension, one.unit, one.base)
