"""Align the words of a claim with the words of the source that they correspond to: its partners."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from citing.budget import check_budget
from citing.claims import Conflict
from citing.comparison.values.quantities import are_comparable
from citing.comparison.words.token import COORDINATORS, Token, is_marker, opposite, same
from text.semantics import Lexicon

_CLAUSE_COST = 0.15
_SKIP_COST = 0.01
_OPPOSITE = 0.6  # share of a partner's score for an opposite, as in an inverted statement

Partners = dict[int, int]  # index of a claim's token: index of the source's


def content_places(tokens: Sequence[Token]) -> list[int]:
    """Return the indexes of the tokens that must have a partner."""
    check_budget()
    return [at for at, token in enumerate(tokens) if token.content]


def worth(claim: Token, source: Token) -> float:
    """Return 1 for the same, less for its opposite, 0 for anything else."""
    if same(claim, source):
        return 1.0
    if claim.quantity or source.quantity:
        return 0.0
    return _OPPOSITE if opposite(claim, source) else 0.0


def partners(claim: Sequence[Token], source: Sequence[Token]) -> Partners:
    """Align within the fewest neighbouring clauses of the source that give as many partners as all of it."""
    rows, columns = content_places(claim), content_places(source)
    table = [[worth(claim[i], source[j]) for j in columns] for i in rows]
    _forbid_synonyms(table, [claim[i] for i in rows], [source[j] for j in columns])
    clauses = [source[j].clause for j in columns]
    found = _aligned(table, clauses)
    wanted = sum(table[i][j] for i, j in found)
    for first, last in _runs(clauses):
        inside = [k for k, clause in enumerate(clauses) if first <= clause <= last]
        part = [[row[k] for k in inside] for row in table]
        if sum(max(row, default=0) for row in part) < wanted:
            continue
        closer = _aligned(part, [clauses[k] for k in inside])
        if sum(part[i][k] for i, k in closer) >= wanted:
            return {rows[i]: columns[inside[k]] for i, k in _closer(closer, part)}
    return {rows[i]: columns[j] for i, j in _closer(found, table)}


def _forbid_synonyms(table: list[list[float]], claim: Sequence[Token], source: Sequence[Token]) -> None:
    """Forbid synonyms as partners where both sides contain both words: there they mean two things.

    Also where the source contains the very word, unless that is the partner of another word of the claim.
    """
    in_claim, in_source = (Counter(t.stem for t in side if t.kind == "word") for side in (claim, source))
    wanted = [sum(row[at] == 1 for row in table) for at in range(len(source))]
    for row, one in zip(table, claim, strict=True):
        if not in_source[one.stem] or one.kind != "word":
            continue
        own = [at for at, other in enumerate(source) if other.stem == one.stem]
        enough = len(own) >= in_claim[one.stem] and all(wanted[at] <= in_claim[one.stem] for at in own)
        for at, other in enumerate(source):
            if one.stem != other.stem and (in_claim[other.stem] or (enough and row[at] == 1)):
                row[at] = 0.0


def _closer(found: list[tuple[int, int]], table: list[list[float]]) -> list[tuple[int, int]]:
    """Among equal words, prefer the partner nearest the neighbours' partners."""
    known = dict(found)
    for i, j in found:
        beside = [known[k] for k in (i - 1, i + 1) if k in known]
        others = [
            m
            for m, value in enumerate(table[i])
            if value == table[i][j] and (m == j or m not in known.values())
        ]
        known[i] = min(
            others, key=lambda m: (min((abs(m - place) for place in beside), default=0), abs(m - j))
        )
    return sorted(known.items())


def _runs(clauses: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield (first, last) of every proper run of neighbouring clauses, the shortest first."""
    known = sorted(set(clauses))
    for size in range(1, len(known)):
        for at in range(len(known) - size + 1):
            check_budget()
            yield known[at], known[at + size - 1]


def _aligned(table: list[list[float]], clauses: Sequence[int]) -> list[tuple[int, int]]:
    """Partners in the same order where that finds as many; else block by block."""
    ordered = _in_order(table, clauses)
    reachable = sum(max(row, default=0) == 1 for row in table)
    if sum(table[i][j] == 1 for i, j in ordered) < reachable:
        blocks = _in_blocks(table)
        if sum(table[i][j] for i, j in blocks) > sum(table[i][j] for i, j in ordered) + 0.5:
            ordered = blocks
    return _kept_adjacent(ordered, table)


def _kept_adjacent(found: list[tuple[int, int]], table: list[list[float]]) -> list[tuple[int, int]]:
    """Move partners so that words adjacent in both stay together: "north valley", not "south valley"."""
    known = dict(found)
    for i, j in found:
        if table[i][j] == 1 or known.get(i - 1) != j - 1:
            continue
        taken = set(known.values())
        for m in range(1, len(table[i])):
            if table[i][m] == table[i - 1][m - 1] == 1 and not taken & {m - 1, m}:
                known[i - 1], known[i] = m - 1, m
    return sorted(known.items())


def _in_order(table: list[list[float]], clauses: Sequence[int]) -> list[tuple[int, int]]:
    """Return the best partners in the same order: few words omitted between, few clauses crossed."""
    if not table or not table[0]:
        return []
    best: dict[tuple[int, int], tuple[float, tuple[int, int] | None]] = {}
    ends: list[tuple[float, tuple[int, int]]] = []
    for i, row in enumerate(table):
        check_budget()
        fresh: list[tuple[float, tuple[int, int]]] = []
        for j, value in enumerate(row):
            if not value:
                continue
            score, back = value, None
            for before, (k, m) in ends:
                if m < j:
                    gap = _SKIP_COST * (j - m - 1) + _CLAUSE_COST * abs(clauses[j] - clauses[m])
                    reached = before + value - min(gap, 0.9) - (0.02 if i - k > 1 else 0)
                    if reached > score:
                        score, back = reached, (k, m)
            best[i, j] = score, back
            fresh.append((score, (i, j)))
        ends += fresh
    if not best:
        return []
    at: tuple[int, int] | None = max(best, key=lambda cell: best[cell][0])
    found = []
    while at is not None:
        found.append(at)
        at = best[at][1]
    return found[::-1]


def _in_blocks(table: list[list[float]]) -> list[tuple[int, int]]:
    """Return partners in runs, longest first, in any order (greedy tiling); opposites last."""
    free_rows, free_columns = set(range(len(table))), set(range(len(table[0])))
    found: list[tuple[int, int]] = []
    least = 1.0
    while True:
        best: list[tuple[int, int]] = []
        best_score = 0.0
        for i in free_rows:
            check_budget()
            for j in free_columns:
                if not table[i][j]:
                    continue
                if table[i][j] < least:
                    continue
                run = _run(table, i, j, free_rows, free_columns, least)
                score = sum(table[a][b] for a, b in run) - 0.001 * _distance(run[0], found)
                if score > best_score:
                    best, best_score = run, score
        if not best and least == 1.0:
            least = _OPPOSITE
            continue
        if not best:
            return sorted(found)
        found += best
        free_rows -= {i for i, _ in best}
        free_columns -= {j for _, j in best}


def _run(
    table: list[list[float]], i: int, j: int, rows: set[int], columns: set[int], least: float
) -> list[tuple[int, int]]:
    run = []
    while i in rows and j in columns and table[i][j] >= least:
        run.append((i, j))
        i, j = i + 1, j + 1
    return run


def _distance(place: tuple[int, int], found: Sequence[tuple[int, int]]) -> int:
    i, j = place
    return min((abs((j - b) - (i - a)) for a, b in found), default=0)


@dataclass(frozen=True)
class Pairing:
    """A claim and a sentence of the source with the partners of their words."""

    claim: Sequence[Token]
    source: Sequence[Token]
    partners: Partners
    words: Lexicon

    @cached_property
    def ordered(self) -> list[tuple[int, int]]:
        return sorted(self.partners.items())

    @cached_property
    def matched_source(self) -> frozenset[int]:
        return frozenset(self.partners.values())

    @cached_property
    def unmatched_claim(self) -> list[int]:
        return [at for at in content_places(self.claim) if at not in self.partners]

    @cached_property
    def unmatched_source(self) -> list[int]:
        return [at for at in content_places(self.source) if at not in self.matched_source]

    @cached_property
    def clauses(self) -> frozenset[int]:
        """Return the clauses of the source that contain partners."""
        return frozenset(self.source[at].clause for at in self.matched_source)

    @cached_property
    def opposites(self) -> list[tuple[int, int]]:
        """Return partners of opposite meaning."""
        return [
            (i, j)
            for i, j in self.ordered
            if not same(self.claim[i], self.source[j]) and opposite(self.claim[i], self.source[j])
        ]


# Partners that changed places.


def amounts_exchanged(pairing: Pairing) -> tuple[int, int] | None:
    """Return two amounts, quantifiers or frequencies that changed places with each other.

    "Whites (46 %) and Hispanics (42 %)" for "(42 %)" and "(46 %)"; "cleaned yearly, replaced monthly".
    """
    amounts = [(i, j) for i, j in pairing.ordered if pairing.claim[i].quantity]
    amounts += [
        (i, j)
        for i, j in pairing.ordered
        if is_marker(pairing.claim[i], "frequency") or is_marker(pairing.claim[i], "quantifier")
    ]
    amounts.sort()
    for at, (i, j) in enumerate(amounts):
        for k, m in amounts[at + 1 :]:
            alike = _kind_of(pairing.claim[i]) == _kind_of(pairing.claim[k])
            if (
                alike
                and m < j
                and (places_exchanged(pairing, (i, j), (k, m)) or _listed(pairing, (i, j), (k, m)))
            ):
                return i, k
    return None


def _kind_of(token: Token) -> str:
    if is_marker(token, "quantifier"):
        return ""  # "none", "most": as a number that counts
    return token.quantity.dimension if token.quantity else token.kind


def places_exchanged(pairing: Pairing, one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Return whether two partners changed places while the words around them did not move."""
    (i, j), (k, m) = one, other
    first, second = _neighbours(pairing, i, {i, k}), _neighbours(pairing, k, {i, k})
    held = {place: at for at, place in pairing.ordered}
    own, far = (
        tuple(None if at is None else pairing.partners[at] for at in side) for side in (first, second)
    )
    there, here = (_neighbours(pairing, place, {j, m}, held) for place in (m, j))
    moved = first != second or small_words_stay(pairing, one, other)
    return moved and own == there and far == here


def small_words_stay(pairing: Pairing, one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Return whether two partners changed places but not the words before them: "to B from A".

    Not in a list, nor where the same word precedes both.
    """
    (i, j), (k, m) = one, other
    before = [pairing.claim[at - 1].word if at else "" for at in (i, k)]
    in_source = [pairing.source[at - 1].word if at else "" for at in (m, j)]
    between = (*pairing.claim[i + 1 : k], *pairing.source[m + 1 : j])
    listed = all(token.word in COORDINATORS or token.word == "," for token in between)
    return before == in_source and before[0] != before[1] and not listed


def _neighbours(
    pairing: Pairing, at: int, but: Container[int], held: Mapping[int, int] | None = None
) -> tuple[int | None, int | None]:
    """Return the neighbouring partners of another kind, in the claim (with ``held``: in the source)."""
    tokens, known = (pairing.claim, pairing.partners) if held is None else (pairing.source, held)
    others = [k for k in sorted(known) if k not in but and _kind_of(tokens[k]) != _kind_of(tokens[at])]
    if tokens[at].kind == "word":
        others = [k for k in sorted(known) if k not in but]
    return max((k for k in others if k < at), default=None), min((k for k in others if k > at), default=None)


def _listed(pairing: Pairing, one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Return whether two amounts of a list changed places, and those of a list beside it did not.

    "28 % and 36 % of sales and income, respectively"; "by 5 and 7 in 2018 and 2019".
    """
    (i, j), (k, m) = one, other
    claim, source = pairing.claim, pairing.source
    between = (*claim[i + 1 : k], *source[m + 1 : j])
    if not all(t.word in COORDINATORS or t.kind in ("break", "quantity") for t in between):
        return False
    text = " ".join(t.word for t in (*claim, *source))
    is_respective = any(word in text for word in pairing.words.respectively)
    rest = [(a, b) for a, b in pairing.ordered if not i <= a <= k and (not is_respective or a > k)]
    if any(b > d for (_, b), (_, d) in pairwise(rest)):
        return False  # the words moved along
    kinds = {_kind_of(claim[a]) for a, _ in rest if claim[a].quantity} - {_kind_of(claim[i])}
    lists = any(sum(_kind_of(claim[a]) == kind for a, _ in rest) == 2 for kind in kinds)
    return is_respective or (lists and any(t.word in COORDINATORS for t in between))


def _has_place(token: Token) -> bool:
    """Return whether exchanging a token changes the meaning: not so for "not" or "may", which move along."""
    return token.kind in ("word", "quantity") or (
        token.marker is not None and token.marker.category in ("ordinal", "cause", "quantifier")
    )


def inversions(pairing: Pairing) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Yield pairs of partners whose order differs in the source."""
    placed = (pair for pair in pairing.ordered if _has_place(pairing.claim[pair[0]]))
    pairs = [(i, j) for i, j in placed if pairing.claim[i].word not in pairing.words.period_end]  # "as of"
    for at, (i, j) in enumerate(pairs):
        check_budget()
        for k, m in pairs[at + 1 :]:
            if m < j:
                yield (i, j), (k, m)


def blocks_exchanged(pairing: Pairing) -> tuple[list[int], list[int]] | None:
    """Return two runs of the claim's words that changed places around words that did not move."""
    pairs = pairing.ordered
    moved = [at for at, (_, j) in enumerate(pairs) if j != sorted(m for _, m in pairs)[at]]
    if not moved:
        return None
    window = pairs[moved[0] : moved[-1] + 1]
    places = [j for _, j in window]
    falls = [at for at in range(1, len(places)) if places[at] < places[at - 1]]
    if len(falls) != 2:
        return None
    first, middle, last = places[: falls[0]], places[falls[0] : falls[1]], places[falls[1] :]
    stems = [{pairing.source[j].stem for j in run} for run in (first, last)]
    if not last[-1] < middle[0] <= middle[-1] < first[0] or stems[0] & stems[1]:
        return None
    return [i for i, _ in window[: falls[0]]], [i for i, _ in window[falls[1] :]]


def subjects_of_amounts_exchanged(pairing: Pairing) -> tuple[int, int] | None:
    """Return two amounts that the claim has in clauses with the words beside the other amount.

    "Group A 12 months, group B 18" for "group A 18 months, group B 12".
    """
    claim, source = pairing.claim, pairing.source
    amounts = [(i, j) for i, j in pairing.ordered if claim[i].quantity]
    for at, (i, j) in enumerate(amounts):
        for k, m in amounts[at + 1 :]:
            if claim[i].clause == claim[k].clause or source[j].clause == source[m].clause:
                continue
            if _of_clause(pairing, i, m) and _of_clause(pairing, k, j):
                return i, k
    return None


def _of_clause(pairing: Pairing, i: int, m: int) -> bool:
    """Return whether most words in the clause of claim word ``i`` come from that of source word ``m``."""
    claim, source = pairing.claim, pairing.source
    own = [b for a, b in pairing.ordered if a != i and claim[a].clause == claim[i].clause]
    return 2 * sum(source[b].clause == source[m].clause for b in own) > len(own)


# Differences between a claim and one sentence of its source.

_NEAR_WHOLE = 4  # tokens between a part and its whole


class Differences:
    """Collect conflicts, missing words and open questions of a pairing.

    ``explained_claim`` and ``explained_source`` hold indexes of tokens without a partner that another
    rule has accounted for.
    """

    def __init__(self, pairing: Pairing) -> None:
        self.pairing = pairing
        self.claim, self.source, self.words = pairing.claim, pairing.source, pairing.words
        self.conflicts: list[Conflict] = []
        self.missing: list[str] = []
        self.open: list[str] = []
        self.explained_source: set[int] = set()
        self.explained_claim: set[int] = set()

    def relevant_unmatched(self) -> list[int]:
        """Return indexes of source tokens without a partner in the clauses that the claim uses."""
        return [at for at in self.pairing.unmatched_source if self.source[at].clause in self.pairing.clauses]

    def is_change(self, at: int) -> bool:
        """Return whether a number is the amount of a rise or fall."""
        if self.words.language == "ja" and at and self.source[at - 1].word == "の":
            return False  # "3.8%増の2兆円": the result of the rise
        for before in reversed(self.source[max(0, at - 3) : at]):
            if before.word in self.words.starts | self.words.ends:
                return False
            if before.kind not in ("function", "marker"):
                return any(pair == "direction" for pair, _ in before.poles)
        return False

    def has_whole(self, own: Sequence[int]) -> bool:
        """Return whether all these tokens of the source have a partner."""
        return len(own) > 1 and all(at in self.pairing.matched_source for at in own)

    def replaced(self, at: int, own: Sequence[int]) -> bool:
        """Return whether another token replaces this one: an amount of the same unit, or an ordinal."""
        token = self.source[at]
        for other in (self.source[j] for j in own):
            if token.quantity and other.quantity and token.quantity.dimension == other.quantity.dimension:
                return True
            if token.marker and other.marker and token.marker.category == other.marker.category == "ordinal":
                return True
        return bool(token.quantity) and self.is_whole(at)

    def is_whole(self, at: int) -> bool:
        """Return whether a number is the whole that another counts a part of: "two thirds of the 1,860"."""
        before = [token.word for token in self.source[max(0, at - 2) : at]]
        near = (*self.source[max(0, at - _NEAR_WHOLE) : at], *self.source[at + 1 : at + 1 + _NEAR_WHOLE])
        part = any(token.quantity for token in near)
        return part and any(word in self.words.genitive or word in self.words.among for word in before)

    def conflict(self, kind: str, i: int | None, j: int | None) -> None:
        """Record a conflict between claim token ``i`` and source token ``j``; either may be None."""
        claim = self.claim[i] if i is not None else None
        source = self.source[j] if j is not None else None
        self.conflicts.append(
            Conflict(
                kind,
                claim.word if claim else "",
                source.word if source else "",
                (claim.start, claim.end) if claim else (0, 0),
                (source.start, source.end) if source else (0, 0),
            )
        )

    def can_contradict(self, at: int, rival: int) -> bool:
        """Return whether two amounts can contradict each other; "twelve tons" has an unknown unit."""
        parts = Counter(self.source[j].part for j in self.pairing.matched_source)
        if parts and parts[self.source[rival].part] < max(parts.values()):
            return False  # most of the claim is after the semicolon
        own, other = self.claim[at].quantity, self.source[rival].quantity
        if own is None or other is None or are_comparable(own, other):
            return True
        bare, place = (self.source, rival) if own.dimension else (self.claim, at)
        counted = bare[place + 1 : place + 2]
        return own.value == other.value and bool(counted) and counted[0].kind == "word"
