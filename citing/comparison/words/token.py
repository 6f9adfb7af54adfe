"""Tokens of a claim or a passage: a quantity, a marker of meaning, a word, a function word or a break."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from citing.budget import check_budget
from citing.comparison.values.quantities import kind_of_difference, same_quantity
from text.quantities import Quantity
from text.semantics import Marker

Kind = Literal["quantity", "marker", "word", "function", "break"]


HARD_BREAKS = frozenset(";；؛.。!?！？؟")
COORDINATORS = frozenset(["and", "or", "und", "oder", "et", "ou", "y", "e", "o", "u", "و", "او"])
LIST_WORDS = COORDINATORS | frozenset(
    ["と", "や", "及び", "および", "または", "和", "与", "及", "以及", "或"]
)
EITHER = frozenset(["or", "oder", "ou", "o", "u", "او"])


@dataclass(frozen=True, slots=True)
class Token:
    """A word, phrase or number: ``text[start:end]``.

    Attributes:
        word: in lower case.
        stem: for a marker ``category:value``.
        marker: its category and value, where it is a marker of meaning.
        poles, synonyms: see ``text.semantics.Sense``.
        quantity: the number with its unit; ``bound``: "le", "gt", "approx" …
        clause: number of its stretch between breaks; ``part``: between semicolons.
        capital: whether it has a capital inside a sentence: a name, or a German noun.
        name: whether the capital makes it a name; never in German.
        root: its stem without the endings of nouns made of verbs.
    """

    kind: Kind
    word: str
    start: int
    end: int
    stem: str = ""
    marker: Marker | None = None
    poles: frozenset[tuple[str, int]] = frozenset()
    synonyms: frozenset[int] = frozenset()
    quantity: Quantity | None = None
    bound: str = ""
    clause: int = 0
    part: int = 0
    capital: bool = False
    name: bool = False
    root: str = ""

    @property
    def content(self) -> bool:
        """Return whether it must have a partner."""
        return self.kind in ("quantity", "marker", "word")


DENIALS = (Marker("negation", "not"), Marker("quantifier", "none"))


def is_date(token: Token) -> bool:
    return token.quantity is not None and token.quantity.dimension in ("year", "date")


def is_marker(token: Token, category: str, value: str = "") -> bool:
    """Return whether the token is a marker of this category, and of this value where one is given."""
    return (
        token.marker is not None and token.marker.category == category and value in ("", token.marker.value)
    )


def denials_at(places: Sequence[int], tokens: Sequence[Token]) -> list[int]:
    """Return those of the places that hold a negation."""
    return [at for at in places if is_marker(tokens[at], "negation") or tokens[at].marker == DENIALS[1]]


# Whether two tokens mean the same, and how they differ.


_POSSESSIVE = re.compile(r"['’]s?$")


def names_in_topics(topics: Iterable[str]) -> frozenset[str]:
    """Return words of headings and titles that look like amounts, in lower case: "3m"."""
    words = (word for topic in topics for word in re.findall(r"[^\W_]+", topic.lower()))
    return frozenset(word for word in words if word[0].isdigit() and word.isalnum() and not word.isdigit())


def with_names(tokens: Sequence[Token], names: Container[str]) -> Sequence[Token]:
    """Return the tokens with amounts among ``names`` as words: "3M spent", not three million."""
    if not names:
        return tokens
    return tuple(_as_name(token, names) for token in tokens)


def _as_name(token: Token, names: Container[str]) -> Token:
    name = _POSSESSIVE.sub("", token.word)
    if token.quantity is None or token.bound or name not in names:
        return token
    return replace(token, kind="word", quantity=None, word=name, stem=name, capital=True, name=True)


def same(claim: Token, source: Token) -> bool:
    """Return whether the two tokens mean the same."""
    check_budget()
    if claim.quantity or source.quantity:
        return _same_bound_quantity(claim, source)
    if claim.marker and source.marker:
        return _canonical(claim.marker) == _canonical(source.marker) and not opposite(claim, source)
    if claim.stem == source.stem or claim.word == source.word or (claim.root and claim.root == source.root):
        return True
    if claim.name and source.name:  # "the Board" is not "the Committee"
        return False
    if claim.marker or source.marker:
        return bool(claim.poles & source.poles)
    return bool(claim.synonyms & source.synonyms or claim.poles & source.poles)


_SAME_MARKERS = {Marker("quantifier", "none"): Marker("negation", "not"),
    Marker("quantifier", "only"): Marker("condition", "onlyif")}  # fmt: skip


def _canonical(marker: Marker) -> Marker:
    """Return one marker for synonyms: "none of the", "no"; "only", "only if"."""
    return _SAME_MARKERS.get(marker, marker)


def opposite(claim: Token, source: Token) -> frozenset[str]:
    """Return the pairs of opposites that have the two on different sides."""
    return frozenset(
        pair for pair, side in claim.poles for other, far in source.poles if pair == other and side != far
    )


def _same_bound_quantity(claim: Token, source: Token) -> bool:
    if not claim.quantity or not source.quantity:
        return False
    if not same_quantity(claim.quantity, source.quantity, hedged=claim.bound == "approx"):
        return False
    if "span" in (claim.bound, source.bound):
        return claim.bound in ("span", "gt") and source.bound in ("", "span", "gt")
    return claim.bound == source.bound or (claim.bound == "approx" and source.bound == "")


def difference(claim: Token, source: Token) -> str:
    """Return the kind of conflict between two quantities in the same role."""
    one, other = claim.quantity, source.quantity
    assert one is not None
    assert other is not None
    if {one.dimension, other.dimension} == {"ratio", "points"}:
        return "percent_points"
    if one.dimension == other.dimension:
        return kind_of_difference(one, other, claim.bound, source.bound)
    if "date" in (one.dimension, other.dimension) or "year" in (one.dimension, other.dimension):
        return "date"
    if one.value == other.value or (one.dimension and other.dimension):
        return "unit"
    return "digit"


def in_other_units(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """Yield the sentence with each amount in brackets in place of the same in another unit."""
    found: list[Token] = []
    for at, token in enumerate(tokens):
        marks = [t.word for t in (*tokens[at - 1 : at], *tokens[at + 1 : at + 2])]
        if marks == ["(", ")"] and _in_other_unit(found[:-1], token):
            del found[-1]
            found[-1] = replace(token, clause=found[-1].clause, part=found[-1].part, bound=found[-1].bound)
        elif not (token.word == ")" and found and found[-1] is not tokens[at - 1]):
            found.append(token)
    if len(found) < len(tokens):
        yield found


def _in_other_unit(before: Sequence[Token], token: Token) -> bool:
    """Return whether brackets repeat an amount in another unit: "13 °C (55 °F)"."""
    held = before[-1].quantity if before else None
    own = token.quantity
    same_measure = held and own and held.dimension == own.dimension not in ("", "money", "date", "year")
    return bool(same_measure and held and own and held.unit != own.unit)
