"""How common a term is, by PostgreSQL's own statistics of the indexed tsvectors (``ANALYZE``)."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

from django.db import connection

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
    """Shares of all chunks that hold a term. A term that is not listed is rarer than all that are."""

    shares: Mapping[str, float]
    rarest: float

    def share(self, term: str) -> float:
        return self.shares.get(term, self.rarest / 2)


_known: tuple[float, DocumentFrequencies] | None = None


def document_frequencies() -> DocumentFrequencies:
    """Read once in ``REFRESH_SECONDS`` by each process; one statement then."""
    global _known
    if _known is None or time.monotonic() - _known[0] > REFRESH_SECONDS:
        _known = (time.monotonic(), _read())
    return _known[1]


def forget() -> None:
    """Have the next search read the statistics."""
    global _known
    _known = None


def _read() -> DocumentFrequencies:
    with connection.cursor() as cursor:
        cursor.execute(STATISTICS)
        row = cursor.fetchone()
    shares = dict(zip(row[0], row[1], strict=False)) if row and row[0] else {}
    return DocumentFrequencies(shares, min(shares.values(), default=0.001))


def analyze_if_grown() -> None:
    """Refresh the statistics once a fifth of the rows is new. Skips what another worker is doing."""
    with connection.cursor() as cursor:
        cursor.execute(WRITTEN)
        changed, rows = cursor.fetchone() or (0, 0)
        if changed > max(GROWN_AT_LEAST, GROWN_BY * rows):
            cursor.execute("ANALYZE (SKIP_LOCKED) retrieval_indexedchunk (words)")
            forget()
