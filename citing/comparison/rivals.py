"""A predicate of one clause said of the subject of another: its words are all there, and it is not said."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import permutations

from citing.budget import check_budget
from text.sentences import sentence_spans
from text.terms import terms_of

_CLAUSE = re.compile(r"[,;:]|\s(?:and|und|et|y|e|while|während|tandis que|mientras)\s")
_WORD = re.compile(r"[^\W_]+")


def of_other_subject(claim: str, passage: str, language: str) -> bool:
    """Return whether the claim takes its subject from one clause and its predicate from another.

    Two clauses name things alike ("plant in Gera", "plant in Posen"); the claim names the one of the second
    clause, and has words that only the first clause has.

    True: "The plant in Posen was closed." of "The plant in Gera was closed, the plant in Posen is extended."
    False: "The plant in Gera was closed." of the same sentence.
    """
    named = set(_named(claim, language))
    if not named:
        return False
    said = set(terms_of(claim, language))
    for start, end in sentence_spans(passage, language):
        clauses = [
            (clause, set(_named(clause, language)), set(terms_of(clause, language)))
            for clause in _CLAUSE.split(passage[start:end])
        ]
        for (one, its_names, its_terms), (_, other_names, other_terms) in permutations(clauses, 2):
            check_budget()
            shared = {head for head, name in named & other_names if name not in one}
            rivals = {head for head, name in its_names if name not in claim}
            if shared & rivals and said & its_terms - other_terms:
                return True
    return False


_WITH_AMOUNT = re.compile(r"(?<![\w’'-])([^\W_][\w’'-]*)\s?\(\s?([^()]{0,6}\d[^()]{0,12})\)")


def amounts_exchanged_in_brackets(claim: str, passage: str) -> bool:
    """Return whether the amounts in brackets stand behind one another's names.

    True: "Democrats (71%) and Republicans (53%)" of "Republicans (71%) and Democrats (53%)".
    False: of "Democrats (71%) and, less often, Republicans (53%)".
    """
    claimed, held = _with_amounts(claim), _with_amounts(passage)
    moved = [(name, amount) for name, amount in claimed if (name, amount) not in held]
    names, amounts = {name for name, _ in held}, {amount for _, amount in held}
    return len(moved) > 1 and all(name in names and amount in amounts for name, amount in moved)


def _with_amounts(text: str) -> set[tuple[str, str]]:
    found = _WITH_AMOUNT.findall(text)
    return {(name.casefold(), "".join(amount.split())) for name, amount in found}


def _named(text: str, language: str) -> Iterator[tuple[str, str]]:
    """Yield each thing that is named by a function word and a capital, with its name: "plant in", "Gera"."""
    words = _WORD.findall(text)
    for before, between, name in zip(words, words[1:], words[2:], strict=False):
        head = terms_of(before, language)
        if head and name[0].isupper() and terms_of(name, language) and not terms_of(between, language):
            yield f"{head[0]} {between.casefold()}", name
