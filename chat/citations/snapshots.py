"""Citations as snapshots: made from verified or selected words, re-anchored after a new parse.

A citation keeps what it said. Re-anchoring changes where it points and its durability: the same, moved,
changed, or gone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID, uuid4

from rapidfuzz import fuzz, process

from chat.citations.source_units import Sources, UnitPlace, load_sources, sources_of
from chat.citations.stored_citations import LinkTarget, find_target
from chat.models import Citation
from citing.anchoring.find_quote import PageAnchor, find_quote
from citing.claims import Claim, SourceUnit, Verification
from citing.verdict import page_of_unit, verify
from documents.models import CitationUnit, Document
from pdf.geometry import Rect

CONTEXT_CHARACTERS = 120  # of the page before and after the quote, for finding it again


def snapshot(found: Verification, place: UnitPlace, number: int) -> Citation:
    """Return the citation as a row that is not saved and has no parent; ``place`` is its unit's."""
    unit = found.unit
    quote = found.quote or unit.text
    start, end = (
        (found.char_start, found.char_end)
        if found.quote
        else (unit.char_start, unit.char_start + len(unit.text))
    )
    lines = highlighted_lines(found, place)
    return Citation(
        id=uuid4(),
        number=number,
        document_id=UUID(unit.document),
        unit_id=UUID(unit.id),
        quote=quote,
        prefix=place.page_text[max(0, start - CONTEXT_CHARACTERS) : start],
        suffix=place.page_text[end : end + CONTEXT_CHARACTERS],
        char_start=start,
        char_end=end,
        unit_text=unit.text,
        section_path=list(unit.section_path),
        page_number=found.page,
        page_label=place.label,
        first_line=place.first_line,
        line_start=lines[0],
        line_end=lines[1],
        where=unit.location.within(unit.table, start, end).in_words[:300] if unit.location else "",
        rects=[list(rect) for rect in found.rects],
        unit_rects=[list(rect) for rect in place.rects],
        head_rects=[list(rect) for rect in found.head_rects],
        document_title=place.title,
        document_sha256=place.sha256,
        verdict=found.verdict,
        reason=found.reason[:300],
        missing=list(found.missing),
        difference=list(found.difference or ()),
    )


def highlighted_lines(found: Verification, place: UnitPlace) -> tuple[int, int]:
    """Return first and last line of the cited words; those of the unit if it has not one box per line."""
    first, last = place.lines
    if len(place.rects) != last - first + 1:
        return place.lines
    lit = [
        first + offset
        for offset, line in enumerate(place.rects)
        if any(line.y0 <= rect.center[1] <= line.y1 and rect.overlap_x(line) > 0 for rect in found.rects)
    ]
    return (lit[0], lit[-1]) if lit else place.lines


# --- Words selected on a page as citations: one for each passage that they span ---


def quoted(document: Document, page: int, words: str) -> list[Citation]:
    """Return unsaved citations of the words in reading order; none when no passage contains them."""
    anchor = find_target(document, LinkTarget(page, quote=words))
    parts = anchor.parts if anchor else ()
    return [citation for part in parts for citation in _quoted_on(document, part)]


def _quoted_on(document: Document, part: PageAnchor) -> list[Citation]:
    start, end = min(span[0] for span in part.spans), max(span[1] for span in part.spans)
    held = document.units.filter(page_number=part.page.number, char_start__lt=end, char_end__gt=start)
    sources = load_sources(list(held.order_by("position").values_list("pk", flat=True)))
    found = []
    for unit in sources.shown:
        piece = part.page.text[max(start, unit.char_start) : min(end, unit.char_start + len(unit.text))]
        checked = verify(Claim(piece, piece), unit, sources.neighbours(unit), sources.shown)
        found.append(snapshot(checked, sources.places[checked.unit.id], number=1))
    return found


PIECES = " … "  # joins the pieces of a quote that does not stand in one stretch
SAME_PLACE = 3.0  # points by which a rectangle may shift without having moved
SIMILAR = 60.0  # fuzz.ratio above which a passage is the old one with other words
STORED = [
    *("unit", "page_number", "char_start", "char_end", "line_start", "line_end", "page_label", "first_line"),
    *("rects", "unit_rects", "head_rects", "durability", "document_sha256"),
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
    """Re-anchor all citations of the document with five queries. Return their number."""
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
    """Return the unit that contains the cited words, else the most similar one, or None."""
    same = content.by_words.get(words_of(citation.unit_text), [])
    holding = same or [row for row in content.rows if holds(row, citation.quote)]
    if holding:
        return min(holding, key=lambda row: unlikeness(row, citation))
    return most_like(citation, content.rows)


def holds(row: CitationUnit, quote: str) -> bool:
    text = words_of(row.content)
    return all(words_of(piece) in text for piece in quote.split(PIECES))


def unlikeness(row: CitationUnit, citation: Citation) -> tuple[float, int]:
    """Sort key, smaller is more alike: difference of the words, then distance in pages."""
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
    citation.page_label, citation.first_line = place.label, place.first_line
    citation.unit_rects = [list(rect) for rect in place.rects]
    if not same_place(citation.rects, rects):
        citation.head_rects = []
    citation.rects = [list(rect) for rect in rects]


def quote_rects(citation: Citation, unit: SourceUnit) -> list[Rect] | None:
    """Return the places of the quote's pieces in the unit, and set the citation's characters; else None.

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
    """Return whether both begin at the same place of the page."""
    return all(abs(a - b) <= SAME_PLACE for a, b in zip(before[0][:2], now[0][:2], strict=True))


def same_place(before: Sequence[Sequence[float]], now: Sequence[Rect]) -> bool:
    return len(before) == len(now) and bool(now) and near(before, now)


def words_of(text: str) -> str:
    """Return the text without differences of spacing and case."""
    return "".join(text.split()).casefold()
