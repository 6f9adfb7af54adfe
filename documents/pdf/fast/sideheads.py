"""Headings set in the margin: each is read before the text that begins beside it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from documents.pdf.fast.lines import Line, rows_of

# So many heads at least, of so many lines at most, with this share of the characters beside them.
HEADS, HEAD_LINES, HEAD_CHARS = 2, 5, 0.3
# Lines of one head are at most this far apart; the text begins so near its first line (ems).
HEAD_LEADING, LEVEL = 1.6, 1.0
# The text leaves so much more than its leading before it begins anew (share); most heads stand there.
OPENED, ALIGNED = 1.15, 0.8


def beside_their_texts(heads: Sequence[Line], text: Sequence[Line]) -> list[list[Line]]:
    """Heads and texts in turn, top to bottom; empty where the first column holds no heads in the margin."""
    groups = _groups(heads)
    chars = sum([line.chars for line in heads])
    if (
        len(groups) < HEADS
        or max(map(len, groups)) > HEAD_LINES
        or chars > HEAD_CHARS * sum([line.chars for line in text])
    ):
        return []
    rows = rows_of(text)
    starts = [rows[0][0], *_openings(rows)]
    aligned = [any(abs(start.y0 - group[0].y0) <= LEVEL * start.size for start in starts) for group in groups]
    if sum(aligned) < ALIGNED * len(groups):
        return []
    tops = [group[0].y0 - LEVEL / 2 * group[0].size for group in groups]
    parts = [[line for line in text if (line.y0 + line.y1) / 2 < tops[0]]]
    for group, (top, bottom) in zip(groups, pairwise([*tops, float("inf")]), strict=True):
        parts += [list(group), [line for line in text if top <= (line.y0 + line.y1) / 2 < bottom]]
    return [part for part in parts if part]


def _groups(lines: Sequence[Line]) -> list[list[Line]]:
    groups: list[list[Line]] = []
    for row in rows_of(lines):
        if groups and row[0].baseline - groups[-1][-1].baseline <= HEAD_LEADING * row[0].size:
            groups[-1] += row
        else:
            groups.append(list(row))
    return groups


def _openings(rows: Sequence[Sequence[Line]]) -> list[Line]:
    """The lines that stand further below the one before than most do."""
    pitches = sorted(b[0].baseline - a[0].baseline for a, b in pairwise(rows))
    usual = pitches[len(pitches) // 2] if pitches else 0.0
    return [b[0] for a, b in pairwise(rows) if b[0].baseline - a[0].baseline > OPENED * usual]
