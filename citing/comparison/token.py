"""Tokens of a claim or a passage: a quantity, a marker of meaning, a word, a function word or a break."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache
from typing import Literal

from citing.budget import check_budget
from text.quantities import Quantity
from text.semantics import Marker
from text.units import ANY_CURRENCY

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

NEAR = Decimal("0.000001")  # relative error of converting units
FARTHEST_ROUNDING = Decimal("0.05")  # largest relative error of rounding
# A weaker bound that follows from the page's bound is not the same bound.
_PART_OF_DATE = 10000


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


def same_quantity(claim: Quantity, source: Quantity, hedged: bool = False) -> bool:
    """Return whether both amounts are equal, with dimension and currency; a hedged claim may be rounded."""
    if claim.dimension != source.dimension:
        return _year_as_number(claim, source)
    if claim.dimension == "date":
        return _same_date(int(claim.value), int(source.value))
    if _other_currency(claim, source):
        return False
    if claim.base == source.base:
        return True
    if claim.unit != source.unit and abs(claim.base - source.base) <= NEAR * abs(source.base):
        return True
    hedged = hedged or {claim.unit, source.unit} == {"fraction", "%"}  # "a third" for 33 %
    return hedged and rounded(claim, source)


def _other_currency(claim: Quantity, source: Quantity) -> bool:
    both_named = ANY_CURRENCY not in (claim.unit, source.unit)
    return claim.dimension == "money" and both_named and claim.unit != source.unit


def are_comparable(claim: Quantity, source: Quantity) -> bool:
    """Return whether two amounts can contradict each other.

    Not a share and a count ("a quarter", "6 of 24"), nor the same number with and without its unit
    ("21 or older", "21 years").
    """
    kinds = {claim.dimension, source.dimension}
    if "" in kinds and len(kinds) == 2:
        return "fraction" not in (claim.unit, source.unit) and claim.value != source.value
    return True


def rounded(claim: Quantity, source: Quantity) -> bool:
    """Return whether the claim is the source rounded to the claim's last written digit."""
    near = abs(claim.base - source.base) <= FARTHEST_ROUNDING * abs(source.base)
    step = max(claim.step, _trailing_step(claim))
    return near and abs(claim.base - source.base) <= step / 2


def _trailing_step(quantity: Quantity) -> Decimal:
    """Return the value of one step of the last non-zero digit, in base units."""
    if not quantity.value:
        return Decimal(0)
    exponent = quantity.value.normalize().as_tuple().exponent
    return Decimal(1).scaleb(exponent if isinstance(exponent, int) else 0) * abs(
        quantity.base / quantity.value
    )


def _year_as_number(claim: Quantity, source: Quantity) -> bool:
    """Return whether one is a year of the other's date, or a number that looks like the year."""
    if {claim.dimension, source.dimension} == {"year", ""}:
        return claim.value == source.value
    return (
        claim.dimension == "year"
        and source.dimension == "date"
        and int(source.value) // _PART_OF_DATE == claim.value
    )


def _same_date(claim: int, source: int) -> bool:
    """Return whether day, month and year agree as far as the claim has them."""
    parts = ((10000, 10**9), (100, 100), (1, 100))
    return all(not (own := claim // unit % size) or own == source // unit % size for unit, size in parts)


def difference(claim: Token, source: Token) -> str:
    """Return the kind of conflict between two quantities in the same role."""
    one, other = claim.quantity, source.quantity
    assert one is not None
    assert other is not None
    if {one.dimension, other.dimension} == {"ratio", "points"}:
        return "percent_points"
    if one.dimension == other.dimension:
        return _of_one_dimension(one, other, claim.bound, source.bound)
    if "date" in (one.dimension, other.dimension) or "year" in (one.dimension, other.dimension):
        return "date"
    if one.value == other.value or (one.dimension and other.dimension):
        return "unit"
    return "digit"


def _of_one_dimension(one: Quantity, other: Quantity, claimed: str, printed: str) -> str:
    if _other_currency(one, other):
        return "currency"
    if same_quantity(one, other):
        return "comparator" if claimed != printed else "digit"
    if one.dimension == "date":
        return "date"
    if one.dimension == "year":
        return "time"
    if one.base == -other.base:
        return "sign"
    ratio = abs(one.base / other.base) if other.base else Decimal(0)
    if ratio and ratio.normalize().as_tuple().digits == (1,) and ratio not in (1, 10):
        same_unit = one.unit == other.unit
        return "scale" if same_unit else "unit"
    if one.unit != other.unit and one.value == other.value:
        return "unit"
    return "digit"


# Abbreviations that a passage defines: "Lassa fever (LF)".

_DEFINED = re.compile(r"\s\(([A-Z][A-Za-z0-9&-]*[A-Z][A-Z0-9]*)(s?)\)")
_LONGEST_FORM = 80  # characters


@lru_cache(maxsize=512)
def abbreviations(text: str) -> tuple[tuple[str, str], ...]:
    """Return abbreviations in brackets with their long forms (Schwartz and Hearst, 2003)."""
    found = {m[1]: _long_form(m[1], text[max(0, m.start() - _LONGEST_FORM) : m.start()]) for m in
             _DEFINED.finditer(text)}  # fmt: skip
    return tuple((short, form) for short, form in found.items() if form)


def _long_form(short: str, before: str) -> str:
    """Return the shortest end of a text with an abbreviation's letters in order, the first as an initial."""
    at = len(before)
    for place in range(len(short) - 1, -1, -1):
        if not short[place].isalnum():
            continue
        at -= 1
        while at >= 0 and (
            before[at].lower() != short[place].lower()
            or (place == 0 and at > 0 and (before[at - 1].isalnum() or before[at - 1] == "-"))
        ):
            at -= 1
        if at < 0:
            return ""
    words = before[at:].split()
    return before[at:] if len(words) <= min(len(short) + 5, 2 * len(short)) else ""


def written_out(
    tokens: Sequence[Token], text: str, forms: Mapping[str, Sequence[Token]]
) -> tuple[Token, ...]:
    """Return the tokens with abbreviations expanded and without the brackets that define them.

    ``text``: what the tokens' characters count in; ``forms``: tokens of the words by abbreviation.
    """
    found: list[Token] = []
    skipped = 0
    for at, token in enumerate(tokens):
        written = text[token.start : token.end]
        form = forms.get(written) or forms.get(written.removesuffix("s"))
        defines = at > 0 and tokens[at - 1].word == "(" and tokens[at + 1 : at + 2]
        if skipped:
            skipped -= 1
        elif form is None:
            found.append(token)
        elif defines and tokens[at + 1].word == ")":
            found.pop()
            skipped = 1
        else:
            found += [
                replace(part, start=token.start, end=token.end, clause=token.clause, part=token.part)
                for part in form
            ]
    return tuple(found)


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
