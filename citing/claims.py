"""Value classes of verification: source units, claims, conflicts and results.

The verifier is a pure function of these and reads no database. Callers make ``SourceUnit`` values from rows
(``source_units``), call ``citing.verdict.verify``, and store the ``Verification``.

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
from text.numbers import DecimalMark, decimal_mark

Verdict = Literal["exact", "normalized", "moved", "computed", "found", "partial", "unsupported"]
VERIFIED: frozenset[Verdict] = frozenset({"exact", "normalized", "moved", "computed"})
CONTRADICTED: frozenset[Verdict] = frozenset({"partial", "unsupported"})
Outcome = Literal["verified", "found", "differs"]


def outcome_of(verdict: str) -> Outcome | Literal[""]:
    """Return the word of the three that readers see; '' without a verdict."""
    if verdict in VERIFIED:
        return "verified"
    if verdict in CONTRADICTED:
        return "differs"
    return "found" if verdict else ""


@dataclass(frozen=True, slots=True)
class SourceUnit:
    """A citation unit with its words, as the verifier reads it.

    Attributes:
        id: the caller's id of the unit.
        document: id of its document; only compared.
        text: the unit's content.
        words: the unit's words; their character ranges count from the start of the *page's* text.
        char_start: start of ``text`` in the page's text.
        title: the document's title, file name or company: a claim may name it.
        language: the document's (BCP 47), '' when unknown.
        byline: authors and year, '' when unknown: ``McMurray et al. 2019``.
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

    def __hash__(self) -> int:
        """Return a hash of few fields, as caches of pages hash all units of a page."""
        return hash((self.id, self.char_start, len(self.text)))


@dataclass(frozen=True, slots=True)
class Claim:
    """One citation as the model wrote it.

    Attributes:
        sentence: the sentence of the answer that ends in the marker, without markers.
        quote: the words inside the marker (``[[cite:u7:5|these words]]``), or ''.
        question: what was asked, or ''. It chooses among equal values, and has no part in the verdict.
    """

    sentence: str
    quote: str = ""
    question: str = ""


@dataclass(frozen=True, slots=True)
class Conflict:
    """One difference of meaning between the claim and the passage.

    Attributes:
        kind: ``unit``, ``direction``, ``negation``, ``role_swap``, …
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
    """The result of verifying one claim.

    Attributes:
        verdict: ``exact``: the quoted words, or all values, are in the unit as written;
            ``normalized``: likewise, except for spacing, hyphens, quotes, number format or scale;
            ``moved``: they are in another unit, which is now ``unit``;
            ``computed``: the claim's value follows from cited values (``reason`` has the formula);
            ``found``: the words are there, but the claim was not judged;
            ``partial``: the page supports only a part of the claim;
            ``unsupported``: the page contradicts it or has nothing of it (see ``missing``, ``reason``).
        unit: the unit finally cited (the one given, unless moved).
        page: its page.
        quote: the anchor's words as printed ('' when nothing was found).
        char_start, char_end: range of the anchor in the page's text (first to last character).
        rects: the anchor: one rectangle per line; for a table the cell(s). Empty when nothing was found.
        head_rects: row and column heads of the highlighted cells, painted pale.
        missing: values and quoted words of the claim that were not found, as written in the claim.
        reason: one sentence for people, '' when the verdict needs none.
        conflicts: differences of meaning.
        unchecked: words of the claim that could not be judged, or the reason.
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
    def difference(self) -> tuple[str, str] | None:
        """Return what the claim and the page say, where they differ and both say something."""
        shown = self.conflicts[0] if self.conflicts and self.verdict in CONTRADICTED else None
        return (shown.claim, shown.source) if shown and shown.claim and shown.source else None

    @property
    def supported(self) -> bool:
        """Return whether the cited unit itself supports the claim."""
        return self.verdict in ("exact", "normalized", "computed")


def words_between(words: Sequence[Word], start: int, end: int) -> tuple[Word, ...]:
    """Return the words that begin in ``[start, end)``; ``words`` in the order of the page's text."""
    first = bisect_left(words, start, key=lambda word: word.char_start)
    last = bisect_left(words, end, lo=first, key=lambda word: word.char_start)
    return tuple(words[first:last])


def page_mark(unit: SourceUnit, around: Sequence[SourceUnit], language: str = "") -> DecimalMark | None:
    """Return the decimal mark of a unit and the others of its page; ``language`` if its own is unknown."""
    return decimal_mark(unit.text, *(other.text for other in around), language=unit.language or language)
