"""Citations of a document that was read anew: the same, moved, changed, or gone.

A citation is a snapshot, so nothing of what it said is lost. What changes is
where it points, and what is said of its durability.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from rapidfuzz import fuzz, process

from chat.citations.anchoring.find_quote import find_quote
from chat.citations.claims import SourceUnit
from chat.citations.source_units import Sources, sources_of
from chat.citations.verification.verify import page_of_unit
from chat.models import Citation
from documents.models import CitationUnit, Document
from pdf.geometry import Rect

PIECES = " … "  # joins the pieces of a quote that does not stand in one stretch
SAME_PLACE = 3.0  # points by which a rectangle may shift without having moved
SIMILAR = 60.0  # fuzz.ratio above which a passage is the old one with other words
STORED = [
    *("unit", "page_number", "char_start", "char_end", "line_start", "line_end", "rects", "unit_rects"),
    *("head_rects", "durability", "document_sha256"),
]


@dataclass(slots=True)
class _Content:
    """The units of a document as it is now."""

    rows: list[CitationUnit]
    by_words: dict[str, list[CitationUnit]] = field(default_factory=lambda: defaultdict(list))

    def __post_init__(self) -> None:
        for row in self.rows:
            self.by_words[words_of(row.content)].append(row)


def reanchor_citations(document: Document) -> int:
    """Re-anchors every citation of the document; how many there are. Five queries, however many."""
    citations = list(Citation.objects.filter(document=document))
    if not citations:
        return 0
    content = _Content(list(CitationUnit.objects.filter(document=document)))
    targets = {citation.pk: unit_for(citation, content) for citation in citations}
    sources = sources_of([unit for unit in targets.values() if unit is not None])
    for citation in citations:
        _reanchor(citation, targets[citation.pk], sources)
        citation.document_sha256 = document.sha256
    Citation.objects.bulk_update(citations, STORED, batch_size=500)
    return len(citations)


def unit_for(citation: Citation, content: _Content) -> CitationUnit | None:
    """The unit that now holds the cited words, else the one most like the old; None when there is none."""
    same = content.by_words.get(words_of(citation.unit_text), [])
    holding = same or [row for row in content.rows if holds(row, citation.quote)]
    if holding:
        return min(holding, key=lambda row: unlikeness(row, citation))
    return most_like(citation, content.rows)


def holds(row: CitationUnit, quote: str) -> bool:
    text = words_of(row.content)
    return all(words_of(piece) in text for piece in quote.split(PIECES))


def unlikeness(row: CitationUnit, citation: Citation) -> tuple[float, int]:
    """Smaller is likelier: other words first, then the distance in pages."""
    likeness = fuzz.ratio(row.content, citation.unit_text)
    return -round(likeness / 5), abs(row.page_number - citation.page_number)


def most_like(citation: Citation, rows: Sequence[CitationUnit]) -> CitationUnit | None:
    texts = [row.content for row in rows]
    found = process.extractOne(citation.unit_text, texts, scorer=fuzz.ratio, score_cutoff=SIMILAR)
    return rows[found[2]] if found else None


def _reanchor(citation: Citation, row: CitationUnit | None, sources: Sources) -> None:
    if row is None or str(row.pk) not in sources.units:
        citation.unit, citation.durability = None, Citation.Durability.GONE
        citation.rects = citation.unit_rects = citation.head_rects = []  # other words stand there now
        return
    unit, place = sources.units[str(row.pk)], sources.places[str(row.pk)]
    found = quote_rects(citation, unit)
    rects = found or []
    changed = Citation.Durability.CHANGED
    citation.durability = changed if found is None else durability(citation, unit, rects)
    citation.unit, citation.page_number = row, unit.page
    citation.line_start, citation.line_end = place.lines
    citation.unit_rects = [list(rect) for rect in place.rects]
    if not same_place(citation.rects, rects):
        citation.head_rects = []
    citation.rects = [list(rect) for rect in rects]


def quote_rects(citation: Citation, unit: SourceUnit) -> list[Rect] | None:
    """Where the quote's pieces stand in the unit; sets the citation's characters. None when they do not.

    Imported words have no boxes until their PDF is there.
    """
    page, context = page_of_unit(unit), citation.claim
    found = [find_quote([page], piece, context) for piece in citation.quote.split(PIECES)]
    anchors = [anchor for anchor in found if anchor is not None and anchor.verdict != "partial"]
    if len(anchors) < len(found):
        return None
    spans = [span for anchor in anchors for span in anchor.parts[0].spans]
    citation.char_start = unit.char_start + min(start for start, _ in spans)
    citation.char_end = unit.char_start + max(end for _, end in spans)
    return [rect for anchor in anchors for rect in anchor.rects]


def durability(citation: Citation, unit: SourceUnit, rects: Sequence[Rect]) -> Citation.Durability:
    before = citation.rects
    if citation.page_number == unit.page and (not before or not rects or near(before, rects)):
        return Citation.Durability.SAME
    return Citation.Durability.MOVED


def near(before: Sequence[Sequence[float]], now: Sequence[Rect]) -> bool:
    """Whether both begin at the same place of the page."""
    return all(abs(a - b) <= SAME_PLACE for a, b in zip(before[0][:2], now[0][:2], strict=True))


def same_place(before: Sequence[Sequence[float]], now: Sequence[Rect]) -> bool:
    return len(before) == len(now) and bool(now) and near(before, now)


def words_of(text: str) -> str:
    """Text without differences of spacing and case."""
    return "".join(text.split()).casefold()
