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
LISTED = re.compile(rf"\s*,?\s*(?:{_AND}\s)?\s*|[、和与及と]")
# "Ashford Mill", "federal"; atomic, as "A" is both, and a list of them would be read in 2^n ways
_NAME = r"(?>[A-ZÀ-ÞА-Я][\w’'-]*(?: [A-ZÀ-ÞА-Я][\w’'-]*)*|[^\W\d_][\w’'-]*)"
_MOST_LISTED = 30  # names of a list: a longer one would be read from each of its names again
_WORDS = re.compile(rf"{_NAME}(?:, {_NAME}){{0,{_MOST_LISTED}}},? {_AND} {_NAME}")
_UNSPACED = re.compile(r"[^\W\d]+(?:、[^\W\d]+)*[和与及と、][^\W\d]+?(?=分别|はそれぞれ)")
_SEPARATOR = re.compile(rf",? {_AND} |, |、|(?<=[^、])[和与及と]")


def is_paired_otherwise(claim: str, text: str, language: str) -> bool:
    """Return whether a claim joins a name of one list with the value of another name.

    True:  "State losses were $2.3 billion." of the sentence above.
    False: "State losses were $1.2 billion."; a claim with more names than values.
    """
    plain, values = claim.casefold(), [_key(one) for one in quantities_in(claim, language)]
    for names, amounts in _pairs(text, language):
        named = _in_order([_said(n, plain) if isinstance(n, str) else _place(n, values) for n in names])
        valued = _in_order([_place(amount, values) for amount in amounts])
        if named and len(named) == len(valued) and named != valued:
            return True
    return False


def _in_order(places: Sequence[int]) -> list[int]:
    """Return the items of a list that a claim has, in the claim's order; ``places``: of each, or -1."""
    return sorted((at for at, place in enumerate(places) if place >= 0), key=lambda at: places[at])


def _said(name: str, claim: str) -> int:
    """Return the place of a name in a claim, both casefolded; -1 without one."""
    apart = r"\b" if max(name) < "\u3000" else ""
    found = re.search(f"{apart}{re.escape(name)}{apart}", claim)
    return found.start() if found else -1


def _place(item: object, values: Sequence[object]) -> int:
    return values.index(item) if item in values else -1


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
        words = (*_WORDS.findall(sentence), *_UNSPACED.findall(sentence))
        lists: list[Sequence[_Item]] = [*values, *(_SEPARATOR.split(run.casefold()) for run in words)]
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
