"""Comparisons in words: "more often with A than with B" of "in 3.1 % of A and in 1.4 % of B"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from citing.comparison.alignment import Pairing, content_places
from citing.comparison.computation import DATES, Calculation
from citing.comparison.phrases import change_role, places_of_phrases
from citing.comparison.token import COORDINATORS, Token, is_marker, same
from text.semantics import Lexicon

_FITS: dict[str, frozenset[str] | None] = {
    "amount": None,
    "height": None,
    "size": frozenset({"area", "volume", "length", "money"}),
    "length": frozenset({"length", "time", "calendar"}),
    "weight": frozenset({"mass"}),
    "depth": frozenset({"length"}),
    "width": frozenset({"length"}),
    "age": frozenset({"time", "calendar"}),
    "temperature": frozenset({"temperature"}),
}
"""Pairs of opposites, and the dimensions whose larger number is the first of them; None: all."""
_OPEN, _CLOSE = frozenset("(（["), frozenset(")）]")
_NEAR = 2  # tokens between a comma and "difference"


@dataclass(frozen=True, slots=True)
class _Comparison:
    """A comparison in a claim: ``subject`` ``turn`` "than" ``standard``; ``turn`` is a word like "more".

    ``side``: 0 for more, 1 for less. ``share``: it compares shares, so only percentages count.
    """

    subject: tuple[Token, ...]
    standard: tuple[Token, ...]
    turn: Token
    kinds: frozenset[str]
    side: int
    share: bool

    def fits(self, dimension: str, words: Lexicon) -> bool:
        """Return whether amounts of this dimension decide the comparison.

        A larger share among men than among women does not mean more men than women.
        """
        if self.share:
            return dimension == "ratio"
        if dimension == "ratio" and self.turn.word in words.more | words.less:
            return False
        return any((of := _FITS[kind]) is None or dimension in of for kind in self.kinds)


def compared_in_words(claim: Sequence[Token], source: Sequence[Token], words: Lexicon) -> Calculation | None:
    """Compare the two amounts of a sentence as the claim does, each with the words it belongs to.

    None where the claim has no such comparison, or where a word of either side is unexplained.
    """
    comparison = _comparison(claim, words)
    if comparison is None or any(token.word in words.than or token.marker for token in source):
        return None  # the sentence compares them itself, or adds a condition
    for held in _without_brackets(source, words):
        amounts = _only_two(held, comparison, words)
        pair = amounts and _AmountPair(held, amounts, words).pair_of(comparison)
        if not pair:
            continue
        first, second = (q.base for token in pair if (q := token.quantity))
        sign = "=" if first == second else "<" if first < second else ">"
        wrong = None if sign == "><"[comparison.side] else comparison.turn
        return Calculation(pair, f"{pair[0].word} {sign} {pair[1].word}", wrong)
    return None


def _comparison(claim: Sequence[Token], words: Lexicon) -> _Comparison | None:
    """Return the only comparison of a claim that has no number and no condition."""
    than = [at for at, token in enumerate(claim) if _ends_in_than(token, words)]
    if len(than) != 1:
        return None
    turn = next((at for at in range(than[0], -1, -1) if _turn(claim[at])), None)
    if turn is None or (turned := _turn(claim[turn])) is None:
        return None
    before, standard = [*claim[:turn], *claim[turn + 1 : than[0]]], claim[than[0] + 1 :]
    subject = [token for token in before if token.word not in words.shares]
    others = [*subject, *standard]
    if any(token.marker or (token.quantity and not token.bound and not _is_date(token)) for token in others):
        return None
    kinds, side = turned
    return _Comparison(tuple(subject), tuple(standard), claim[turn], kinds, side, len(subject) < len(before))


def _ends_in_than(token: Token, words: Lexicon) -> bool:
    return token.word in words.than or (_turn(token) is not None and token.word.split()[-1] in words.than)


def _turn(token: Token) -> tuple[frozenset[str], int] | None:
    """Return the kinds of comparison a word makes, and its side: 0 for more, 1 for less."""
    if is_marker(token, "ordinal", "top") or is_marker(token, "ordinal", "bottom"):
        return frozenset({"amount"}), int(is_marker(token, "ordinal", "bottom"))  # "más frecuente … que"
    found = {(pair, side) for pair, side in token.poles if pair in _FITS}
    sides = {side for _, side in found}
    if len(sides) != 1 or token.marker:
        return None
    return frozenset(pair for pair, _ in found), sides.pop()


def _is_date(token: Token) -> bool:
    """Return whether a number is a date or an ordinal: "the first"."""
    return token.quantity is not None and token.quantity.dimension in (*DATES, "ordinal")


def _without_brackets(source: Sequence[Token], words: Lexicon) -> Iterator[Sequence[Token]]:
    """Yield the sentence without its brackets and without the difference, then with them."""
    depth, found = 0, []
    for at, token in enumerate(source):
        if token.kind == "break" and any(t.word in words.minus for t in source[at + 1 : at + 1 + _NEAR]):
            break  # "…, a difference of 1.3 points"
        depth += token.word in _OPEN
        if not depth:
            found.append(token)
        depth = max(0, depth - (token.word in _CLOSE))
    yield found
    if len(found) < len(source):
        yield [token for token in source if token.word not in _OPEN | _CLOSE]


def _only_two(tokens: Sequence[Token], comparison: _Comparison, words: Lexicon) -> tuple[int, int] | None:
    """Return the places of the only two amounts, where their dimension decides the comparison."""
    labels = [token for token in (*comparison.subject, *comparison.standard) if token.quantity]
    amounts: dict[str, list[int]] = {}
    for at, token in enumerate(tokens):
        if token.quantity and not _is_date(token) and not any(same(label, token) for label in labels):
            amounts.setdefault(token.quantity.dimension, []).append(at)
    if tokens and tokens[0].word in words.among and len(amounts.get("", ())) == 3:
        del amounts[""][0]  # "Of 48 patients, 12 relapsed in group A and 7 in group B"
    pairs = [places for places in amounts.values() if len(places) > 1]
    if len(pairs) != 1 or len(pairs[0]) != 2 or any(tokens[at].bound for at in pairs[0]):
        return None
    (first, last), others = pairs[0], [places[0] for places in amounts.values() if len(places) == 1]
    one, other = (q for at in (first, last) if (q := tokens[at].quantity))
    of_one = one.dimension or one.unit == other.unit
    fits = of_one and min(one.base, other.base) >= 0 and comparison.fits(one.dimension, words)
    return (first, last) if fits and all(at < first for at in others) else None  # "At week 12, …"


_START, _BEHIND_FIRST, _BEFORE_LAST, _END = range(4)
_LAYOUTS = (
    (_START, _BEFORE_LAST),  # "A 3.1 % and B 1.4 %"
    (_START, _END),  # "A … 3.1 %, compared with 1.4 % in B"
    (_BEHIND_FIRST, _END),  # "3.1 % of A and 1.4 % of B"
)
"""The parts of a sentence with the words of its first amount, and those with the words of its second."""


class _AmountPair:
    """A sentence with two amounts and the words before, between and after them.

    The words between are split at "and", a comma or "compared with".
    """

    def __init__(self, tokens: Sequence[Token], amounts: tuple[int, int], words: Lexicon) -> None:
        self.tokens, self.amounts, self.words = tokens, amounts, words
        first, last = amounts
        self.compared = places_of_phrases(tokens, words.compared)
        parting = COORDINATORS | words.breaks
        cut = next((at for at in range(first + 1, last) if at in self.compared or tokens[at].kind == "break"
                    or tokens[at].word in parting), last)  # fmt: skip
        self.parts = (range(first), range(first + 1, cut), range(cut, last), range(last + 1, len(tokens)))

    def pair_of(self, comparison: _Comparison) -> tuple[Token, Token] | None:
        """Return the amounts of the comparison's subject and of its standard; None where unclear."""
        subject = [self._places(token) for token in comparison.subject if self._counts(token)]
        standard = [self._places(token) for token in comparison.standard if self._counts(token)]
        known = self._places(comparison.turn).union(*subject, *standard)
        if (
            not all(subject)
            or not all(standard)
            or self._has_other_word(known)
            or self._mixes_levels(comparison)
        ):
            return None
        for one, other in _LAYOUTS:
            if self._answers(subject, standard, one, other):
                return self.tokens[self.amounts[0]], self.tokens[self.amounts[1]]
            if self._answers(standard, subject, one, other):
                return self.tokens[self.amounts[1]], self.tokens[self.amounts[0]]
        return None

    def _answers(
        self, first: Sequence[frozenset[int]], last: Sequence[frozenset[int]], one: int, other: int
    ) -> bool:
        """Return whether these words belong to the first and to the last amount, in these parts."""
        own, far = self.parts[one], self.parts[other]
        if (one, other) == (_START, _END) and not self._is_only_standard():
            return False
        if not self._label(first, own, far) or not self._label(last, far, own):
            return False
        opening, behind, before, end = (set(part) for part in self.parts)
        shared = {at for at in end if at > min(end) + 1} if one == _BEHIND_FIRST else set()
        of_first = opening | behind | shared  # the start and the end of the sentence belong to both
        of_last = opening | before | end | (behind if one == _START else set())
        return all(places & of_first for places in first) and all(places & of_last for places in last)

    def _is_only_standard(self) -> bool:
        """Return whether the second amount is alone after "compared with"."""
        between = self.parts[_BEFORE_LAST]
        return not any(self._counts(self.tokens[at]) for at in between if at not in self.compared)

    def _counts(self, token: Token) -> bool:
        """Return whether a word must occur in both: not a verb like "had", nor "group" or "patients"."""
        words = self.words
        return token.content and token.word not in words.light | words.counted | words.copula | words.have

    def _places(self, token: Token) -> frozenset[int]:
        return frozenset(
            at for at, other in enumerate(self.tokens) if other.kind != "break" and same(token, other)
        )

    def _label(self, label: Sequence[frozenset[int]], own: range, far: range) -> bool:
        """Return whether one of the words occurs in this part and not in the other."""
        return any(any(k in own for k in places) and not any(k in far for k in places) for places in label)

    def _mixes_levels(self, comparison: _Comparison) -> bool:
        """Return whether the amounts are changes and the claim compares levels, or the reverse."""
        changes = any(change_role(self.tokens, at, self.words) == "by" for at in self.amounts)
        turns = {
            side for token in comparison.subject for pair, side in token.poles
            if pair == "direction" and not any(other == "money" for other, _ in token.poles)
        }  # fmt: skip
        if not changes:
            return bool(turns)
        sides = {side for token in self.tokens for pair, side in token.poles if pair == "direction"}
        before = {self.tokens[at - 1].word for at in self.amounts}  # "by 2.4 with A and by 1.1 with B"
        return len(turns) != 1 or sides != turns or "amount" not in comparison.kinds or len(before) > 1

    def _has_other_word(self, known: frozenset[int]) -> bool:
        """Return whether a word at or after the amounts is of something that the claim does not name."""
        return any(
            self._counts(token) and at not in known | self.compared and token.kind == "word"
            for at, token in enumerate(self.tokens)
            if at > self.amounts[0] and not self._is_unit(at)
        )

    def _is_unit(self, at: int) -> bool:
        """Return whether a word is the unit of the amounts: "by 2.4 points with A and 1.1 points with B"."""
        behind = [self.tokens[amount + 1].word for amount in self.amounts if amount + 1 < len(self.tokens)]
        return at - 1 in self.amounts and behind.count(self.tokens[at].word) == 2


# Comparisons that both sides write: the words on each side of "than".


def both_compare(pairing: Pairing) -> bool:
    """Return whether both sides contain a comparison: "than", "as fast as"."""
    return compares(pairing.claim, pairing.words) and compares(pairing.source, pairing.words)


def comparison_turned(pairing: Pairing) -> bool:
    """Return whether the comparison is inverted: "A is less than B", "B is more than A"."""
    return (
        bool(pairing.opposites)
        and compares(pairing.claim, pairing.words)
        and compares(pairing.source, pairing.words)
    )


def compares(tokens: Sequence[Token], words: Lexicon) -> bool:
    """Return whether the tokens contain a comparison: "more than"."""
    return any(token.word in words.than | words.than_behind for token in tokens)


def only_claim_compares(pairing: Pairing) -> str:
    """Return the comparative that only the claim has: "longer than" of "is 420 m long"; '' without one."""
    if not compares(pairing.claim, pairing.words) or compares(pairing.source, pairing.words):
        return ""
    if any(pair == "excess" for token in pairing.source for pair, _ in token.poles):
        return ""
    than = next((at for at, token in enumerate(pairing.claim) if token.word in pairing.words.than), 0)
    return next((t.word for t in pairing.claim[:than][::-1] if any(p in _COMPARED for p, _ in t.poles)), "")


_COMPARED = frozenset(
    ["amount", "height", "size", "length", "width", "depth", "weight", "strength", "speed", "age",
     "temperature", "quality", "newness", "price", "level"]
)  # fmt: skip


def _ranks(token: Token) -> bool:
    return token.marker is not None and token.marker.category == "ordinal"


def operands_exchanged(pairing: Pairing) -> bool | None:
    """Return whether the words after "than" changed sides; None where that is undecidable."""
    if pairing.words.than_behind:
        held = {pairing.partners.get(k, -1) for k in standard_of(pairing.claim, pairing.words)} - {-1}
        other = standard_of(pairing.source, pairing.words)
        return not held & other if held and other else None
    at = next((k for k, token in enumerate(pairing.claim) if token.word in pairing.words.than), None)
    there = next((k for k, token in enumerate(pairing.source) if token.word in pairing.words.than), None)
    if at is None or there is None:
        return None
    stems = [token.stem for token in pairing.source if token.kind == "word" or _ranks(token)]
    behind = [
        pairing.partners[k]
        for k in range(at + 1, len(pairing.claim))
        if k in pairing.partners and (pairing.claim[k].kind != "marker" or _ranks(pairing.claim[k]))
    ]
    telling = [j for j in behind if stems.count(pairing.source[j].stem) < 2] or behind[:1]
    if not telling:
        return None
    return telling[0] < there


def standard_of(tokens: Sequence[Token], words: Lexicon) -> set[int]:
    """Return the standard of a comparison without spaces: the words before "より" or after "比"."""
    behind = next((at for at, token in enumerate(tokens) if token.word in words.than_behind), None)
    if behind is not None:
        start = behind
        while start and tokens[start - 1].content:
            start -= 1
        return set(range(start, behind))
    than = next((at for at, token in enumerate(tokens) if token.word in words.than), len(tokens))
    return set([at for at in content_places(tokens) if at > than][:1])
