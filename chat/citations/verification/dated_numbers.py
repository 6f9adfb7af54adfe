"""Dates and numbers of a sentence that states several: which number belongs to which date."""

from __future__ import annotations

from collections.abc import Container, Sequence

from chat.citations.verification.alignment import Pairing
from chat.citations.verification.prepositions import (
    lead,
)
from chat.citations.verification.token import Token


def first_and_last(pairing: Pairing, said_so: bool = False) -> tuple[int, int] | None:
    """Indexes of the claim's numbers in "from 688 to 604"; only where the source has both in other words.

    ``said_so``: also where the source says "from" and "to".
    """
    claim, words = pairing.claim, pairing.words
    values = [i for i, _ in pairing.ordered if claim[i].quantity]
    first = next((i for i in values if lead(claim, i, words) in words.starts), None)
    last = next((i for i in values if lead(claim, i, words) in words.ends), None)
    if first is None or last is None:
        return None
    one, other = claim[first].quantity, claim[last].quantity
    same_measure = one is not None and other is not None and one.dimension == other.dimension
    source = pairing.source
    written = lead(source, pairing.partners[first], words), lead(source, pairing.partners[last], words)
    other_words = said_so or not set(written) & (words.starts | words.ends)
    return (first, last) if same_measure and other_words else None


def dates_kept(pairing: Pairing) -> bool:
    """Whether each date stands nearest to the same number on both sides."""
    return all(
        (near := _nearest_number(pairing.claim, i, pairing.partners)) is None
        or pairing.partners[near] == _nearest_number(pairing.source, j, pairing.matched_source)
        for i, j in pairing.ordered
        if _is_date(pairing.claim[i])
    )


def misdated(pairing: Pairing) -> tuple[int, int] | None:
    """A claim's date (index), and the number (the source's) it belongs to there; None where it fits."""
    claim, source, partners = pairing.claim, pairing.source, pairing.partners
    for i, j in pairing.ordered:
        near = _nearest_number(claim, i, partners) if _is_date(claim[i]) else None
        if near is None:
            continue
        held = source[partners[near]].quantity
        rivals = {
            at for at, t in enumerate(source)
            if t.quantity and held and t.quantity.dimension == held.dimension and t.part == source[j].part
        }  # fmt: skip
        closest = _nearest_number(source, j, rivals)
        if closest is not None and closest not in pairing.matched_source and _beside(source, closest, j):
            return i, closest
    return None


def _beside(tokens: Sequence[Token], number: int, date: int) -> bool:
    """Whether nothing but small words stands between a number and its date."""
    between = tokens[min(number, date) + 1 : max(number, date)]
    return all(token.kind == "function" for token in between)


def _nearest_number(tokens: Sequence[Token], at: int, known: Container[int]) -> int | None:
    """The number with a partner that stands nearest to a date; of two as near, the one before it."""
    numbers = [k for k, t in enumerate(tokens) if t.quantity and not _is_date(t) and k in known]
    return min(numbers, key=lambda k: (abs(k - at), k), default=None)


def _is_date(token: Token) -> bool:
    return token.quantity is not None and token.quantity.dimension in ("year", "date")
