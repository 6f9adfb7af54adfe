"""Amounts in brackets said of one another's names: all words are there, and it is not said."""

from __future__ import annotations

import re

_WITH_AMOUNT = re.compile(r"(?<![\w’'-])([^\W_][\w’'-]*)\s?\(\s?([^()]{0,6}\d[^()]{0,12})\)")


def amounts_exchanged_in_brackets(claim: str, passage: str) -> tuple[str, ...]:
    """Return the claim's amounts in brackets that the page prints behind one another's names; () without.

    True: "Democrats (71%) and Republicans (53%)" of "Republicans (71%) and Democrats (53%)".
    False: of "Democrats (71%) and, less often, Republicans (53%)".
    """
    claimed, held = _with_amounts(claim), _with_amounts(passage)
    moved = [(name, amount) for name, amount in claimed if (name, amount) not in held]
    names, amounts = {name for name, _ in held}, {amount for _, amount in held}
    exchanged = len(moved) > 1 and all(name in names and amount in amounts for name, amount in moved)
    return tuple(amount for _, amount in moved) if exchanged else ()


def _with_amounts(text: str) -> set[tuple[str, str]]:
    found = _WITH_AMOUNT.findall(text)
    return {(name.casefold(), "".join(amount.split())) for name, amount in found}
