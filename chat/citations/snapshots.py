"""Verified or selected words as a Citation that can be shown without its document."""

from __future__ import annotations

from uuid import UUID, uuid4

from chat.citations.anchoring.find_quote import PageAnchor
from chat.citations.claims import Claim, Verification
from chat.citations.deep_links import LinkTarget, find_target
from chat.citations.source_units import UnitPlace, load_sources
from chat.citations.verification.verify import verify
from chat.models import Citation
from documents.models import Document

CONTEXT_CHARACTERS = 120  # of the page before and after the quote, for finding it again


def snapshot(found: Verification, place: UnitPlace, number: int) -> Citation:
    """The citation as a row that is not yet saved and belongs to nothing yet; ``place`` is its unit's."""
    unit = found.unit
    quote = found.quote or unit.text
    start, end = (
        (found.char_start, found.char_end)
        if found.quote
        else (unit.char_start, unit.char_start + len(unit.text))
    )
    lines = lit_lines(found, place)
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
    )


def lit_lines(found: Verification, place: UnitPlace) -> tuple[int, int]:
    """First and last line of the lit words; the unit's lines where it has not one box for each line."""
    first, last = place.lines
    if len(place.rects) != last - first + 1:
        return place.lines
    lit = [
        first + offset
        for offset, line in enumerate(place.rects)
        if any(line.y0 <= rect.center[1] <= line.y1 and rect.overlap_x(line) > 0 for rect in found.rects)
    ]
    return (lit[0], lit[-1]) if lit else place.lines


# Words selected on a page, as citations: one for each passage they run over.


def quoted(document: Document, page: int, words: str) -> list[Citation]:
    """Citations of the words, not saved yet, in reading order; none when no passage holds them."""
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
