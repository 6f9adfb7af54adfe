"""Partners: which word of the source each word of a claim stands for."""

from __future__ import annotations

from collections.abc import Sequence

from chat.citations.verification.compare import opposite, same
from chat.citations.verification.tokens import Token

_CLAUSE_COST = 0.15
_SKIP_COST = 0.01
_OPPOSITE = 0.6  # of a partner's worth: the same thing said the other way round

Partners = dict[int, int]  # index of a claim's token: index of the source's


def content_places(tokens: Sequence[Token]) -> list[int]:
    """Indexes of the tokens that must have a partner."""
    return [at for at, token in enumerate(tokens) if token.content]


def worth(claim: Token, source: Token) -> float:
    """1 for the same, less for its opposite, 0 for anything else."""
    if same(claim, source):
        return 1.0
    if claim.quantity or source.quantity:
        return 0.0
    return _OPPOSITE if opposite(claim, source) else 0.0


def partners(claim: Sequence[Token], source: Sequence[Token]) -> Partners:
    """Partners in the same order where that finds as many; else block by block."""
    rows, columns = content_places(claim), content_places(source)
    table = [[worth(claim[i], source[j]) for j in columns] for i in rows]
    ordered = _in_order(table, [source[j].clause for j in columns])
    reachable = sum(max(row, default=0) == 1 for row in table)
    if sum(table[i][j] == 1 for i, j in ordered) < reachable:
        blocks = _in_blocks(table)
        if sum(table[i][j] for i, j in blocks) > sum(table[i][j] for i, j in ordered) + 0.5:
            ordered = blocks
    return {rows[i]: columns[j] for i, j in ordered}


def _in_order(table: list[list[float]], clauses: Sequence[int]) -> list[tuple[int, int]]:
    """The best partners in one order: few words left out between, few clauses crossed."""
    if not table or not table[0]:
        return []
    best: dict[tuple[int, int], tuple[float, tuple[int, int] | None]] = {}
    ends: list[tuple[float, tuple[int, int]]] = []
    for i, row in enumerate(table):
        fresh: list[tuple[float, tuple[int, int]]] = []
        for j, value in enumerate(row):
            if not value:
                continue
            score, back = value, None
            for before, (k, m) in ends:
                if m < j:
                    gap = _SKIP_COST * (j - m - 1) + _CLAUSE_COST * (clauses[j] - clauses[m])
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
    """Partners in runs, longest first, wherever they stand (greedy tiling); opposites last."""
    free_rows, free_columns = set(range(len(table))), set(range(len(table[0])))
    found: list[tuple[int, int]] = []
    least = 1.0
    while True:
        best: list[tuple[int, int]] = []
        best_score = 0.0
        for i in free_rows:
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
