"""BM25F (Robertson, Zaragoza 2009): impacts of terms packed beside the tsvector, and document frequencies."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from retrieval.index.postgres import term_number

K1 = 1.2
B = 0.5
AVERAGE_LENGTH = 250.0  # terms
MAX_IMPACT = K1 + 1
IMPACT_STEPS = 255
IMPACT_STEP = np.float32(MAX_IMPACT / IMPACT_STEPS)
TERM = np.dtype([("term", "<i4"), ("impact", "u1")])
"""One term of a text: ``postgres.term_number`` and its impact in steps of ``IMPACT_STEP``."""


class Field(NamedTuple):
    """Terms that stand for a text, and how many times each counts.

    ``measured``: whether they make the text longer; a heading or title that all chunks of a section
    share does not.
    """

    terms: Collection[str]
    weight: float = 1.0
    measured: bool = True


def impacts(fields: Iterable[Field]) -> dict[str, float]:
    """tf · (k1 + 1) / (tf + k1 · (1 − b + b · length / average)) of each term; below k1 + 1."""
    weights: defaultdict[str, float] = defaultdict(float)
    length = 0
    for terms, weight, measured in fields:
        length += len(terms) if measured else 0
        for term, count in Counter(terms).items():
            weights[term] += weight * count
    norm = K1 * (1 - B + B * length / AVERAGE_LENGTH)
    return {term: weight * MAX_IMPACT / (weight + norm) for term, weight in weights.items()}


def pack_terms(values: Mapping[str, float]) -> bytes:
    """Return the impacts as ``TERM`` records, unordered."""
    packed = np.empty(len(values), TERM)
    packed["term"] = list(map(term_number, values))
    steps = np.rint(np.fromiter(values.values(), np.float32, len(values)) / IMPACT_STEP)
    packed["impact"] = np.clip(steps, 1, IMPACT_STEPS)
    return packed.tobytes()


def unpack_terms(packed: bytes, sizes: NDArray[np.int64], terms: Iterable[str]) -> NDArray[np.float32]:
    """Impacts of the terms in many texts: texts × terms.

    ``packed`` joins the texts' records, ``sizes`` counts those of each.
    """
    records = np.frombuffer(packed, TERM)
    numbers = np.array(list(map(term_number, terms)), np.int32)
    wanted, column = np.unique(numbers, return_inverse=True)
    matrix = np.zeros((len(sizes), len(wanted)), np.float32)
    if len(wanted) and len(records):
        likely = np.zeros(1 << 16, np.bool_)
        likely[wanted & 0xFFFF] = True  # half of the number distinguishes most records: 15 times as fast
        some = np.flatnonzero(likely[records["term"].astype(np.uint16)])
        place = np.minimum(np.searchsorted(wanted, records["term"][some]), len(wanted) - 1)
        same = wanted[place] == records["term"][some]
        row = np.searchsorted(np.cumsum(sizes), some[same], side="right")
        matrix[row, place[same]] = records["impact"][some[same]] * IMPACT_STEP
    return matrix[:, column]


def idf(frequency: float, count: float) -> float:
    """Return the inverse document frequency of a term in ``frequency`` of ``count`` texts; at least 0."""
    return float(np.log1p(max(0.0, count - frequency + 0.5) / (frequency + 0.5)))


# Document frequencies of terms, from PostgreSQL's statistics of the indexed tsvectors (``ANALYZE``).

REFRESH_SECONDS = 300.0
GROWN_BY = 0.2
"""Share of rows that were written since the last ANALYZE, from which it is done again."""
GROWN_AT_LEAST = 500

STATISTICS = """
SELECT most_common_elems::text::text[], most_common_elem_freqs[1:cardinality(most_common_elems::text::text[])]
FROM pg_stats WHERE schemaname = ANY(current_schemas(false))
    AND tablename = 'retrieval_indexedchunk' AND attname = 'words'
"""
WRITTEN = """
SELECT n_mod_since_analyze, n_live_tup FROM pg_stat_user_tables
WHERE relid = 'retrieval_indexedchunk'::regclass
"""


@dataclass(frozen=True, slots=True)
class DocumentFrequencies:
    """The shares of all chunks that contain each term. A term that is not listed is rarer than all listed
    ones.
    """

    shares: Mapping[str, float]
    rarest: float

    def share(self, term: str) -> float:
        return self.shares.get(term, self.rarest / 2)


_known: tuple[float, DocumentFrequencies] | None = None


def document_frequencies() -> DocumentFrequencies:
    """Return the statistics, read once per process in ``REFRESH_SECONDS`` with one statement."""
    global _known
    if _known is None or time.monotonic() - _known[0] > REFRESH_SECONDS:
        _known = (time.monotonic(), _read())
    return _known[1]


def forget() -> None:
    """Discard the statistics, so that the next search reads them."""
    global _known
    _known = None


def _read() -> DocumentFrequencies:
    with connection.cursor() as cursor:
        cursor.execute(STATISTICS)
        row = cursor.fetchone()
    shares = dict(zip(row[0], row[1], strict=False)) if row and row[0] else {}
    return DocumentFrequencies(shares, min(shares.values(), default=0.001))


def analyze_if_grown() -> None:
    """Refresh PostgreSQL's statistics when a fifth of the rows is new. Skip if another worker is doing it."""
    with connection.cursor() as cursor:
        cursor.execute(WRITTEN)
        changed, rows = cursor.fetchone() or (0, 0)
        if changed > max(GROWN_AT_LEAST, GROWN_BY * rows):
            cursor.execute("ANALYZE (SKIP_LOCKED) retrieval_indexedchunk (words)")
            forget()
