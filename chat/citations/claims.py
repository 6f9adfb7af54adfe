"""What a claim rests on: the values that travel between answering and the verifier.

The verifier is a pure function over these: it reads no database. Whoever calls
it makes ``SourceUnit`` values from rows (``source_units``), asks
``chat.citations.verification.verify.verify``, and stores what the ``Verification`` says.

All rectangles are in page space (see ``pdf.geometry``), one per line
of text per column. Pages are 1-based; characters count from 0.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from pdf.geometry import Rect
from pdf.structure import Location, TableRow, UnitType, Word

Verdict = Literal["exact", "normalized", "moved", "computed", "found", "partial", "unsupported"]
VERIFIED: frozenset[Verdict] = frozenset({"exact", "normalized", "moved", "computed"})
CONTRADICTED: frozenset[Verdict] = frozenset({"partial", "unsupported"})


@dataclass(frozen=True, slots=True)
class SourceUnit:
    """A citation unit with its words, as the verifier reads it.

    Attributes:
        id: the unit's id as the caller knows it.
        document: id of its document; only compared.
        text: the unit's content.
        words: the unit's words; their character ranges count from the start of the *page's* text.
        char_start: where ``text`` begins in the page's text.
        title: the document's title, file name or company: a claim may name it.
        language: the document's (BCP 47), '' when it does not say.
        byline: who wrote the document and when, '' where nobody knows: ``McMurray et al. 2019``.
        location: of an imported block.
    """

    id: str
    document: str
    page: int
    text: str
    char_start: int
    words: Sequence[Word] = field(compare=False)
    type: UnitType = "prose"
    section_path: tuple[str, ...] = ()
    table: TableRow | None = None
    title: str = ""
    language: str = ""
    byline: str = ""
    location: Location | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """One citation as the model wrote it.

    Attributes:
        sentence: the sentence of the answer that ends in the marker, without markers.
        quote: the words inside the marker (``[[cite:u7:5|these words]]``), or ''.
    """

    sentence: str
    quote: str = ""


@dataclass(frozen=True, slots=True)
class Conflict:
    """One thing the passage says otherwise than the claim.

    Attributes:
        kind: ``unit``, ``direction``, ``negation``, ``role_swap``, …: what differs.
        claim, source: the words on both sides; either may be empty.
        claim_span: their characters in the claim.
        source_span: their characters in the passage.
    """

    kind: str
    claim: str
    source: str
    claim_span: tuple[int, int] = (0, 0)
    source_span: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class Verification:
    """What the page says of one claim.

    Attributes:
        verdict: ``exact``: the quoted words, or every value, stand there as written;
            ``normalized``: they do but for spacing, hyphens, quotes, number format or scale;
            ``moved``: they stand in another unit, which is now ``unit``;
            ``computed``: the claim's value follows from cited values (``reason`` has the formula);
            ``found``: the words stand there, but the claim was not judged;
            ``partial``: the page says part of the claim, and not the rest;
            ``unsupported``: the page says otherwise or nothing (``missing`` and ``reason`` tell why).
        unit: the unit finally cited (the one given, unless moved).
        page: its page.
        quote: the anchor's words as they stand on the page ('' when nothing was found).
        char_start, char_end: range of the anchor in the page's text (first to last character).
        rects: the anchor: one rectangle per line; for a table the cell(s). Empty when nothing was found.
        head_rects: row and column heads of the lit cells, painted pale.
        missing: values and quoted words of the claim that were not found, as the claim writes them.
        reason: one sentence for people, '' when the verdict needs none.
        conflicts: what the passage says otherwise.
        unchecked: words of the claim that could not be judged, or why nothing was.
    """

    verdict: Verdict
    unit: SourceUnit
    page: int
    quote: str = ""
    char_start: int = 0
    char_end: int = 0
    rects: tuple[Rect, ...] = ()
    head_rects: tuple[Rect, ...] = ()
    missing: tuple[str, ...] = ()
    reason: str = ""
    conflicts: tuple[Conflict, ...] = ()
    unchecked: tuple[str, ...] = ()

    @property
    def supported(self) -> bool:
        """Whether the cited unit itself bears the claim out."""
        return self.verdict in ("exact", "normalized", "computed")


def words_between(words: Sequence[Word], start: int, end: int) -> tuple[Word, ...]:
    """The words whose characters begin in ``[start, end)``; ``words`` in the order of the page's text."""
    first = bisect_left(words, start, key=lambda word: word.char_start)
    last = bisect_left(words, end, lo=first, key=lambda word: word.char_start)
    return tuple(words[first:last])
