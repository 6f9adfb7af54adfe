"""Words selected on a page, as citations: one for each passage they run over."""

from __future__ import annotations

from chat.anchoring import PageAnchor
from chat.claims import Claim
from chat.models import Citation
from chat.places import Place, place_found
from chat.snapshots import snapshot
from chat.sources import load_sources
from chat.verification import verify
from documents.models import Document


def quoted(document: Document, page: int, words: str) -> list[Citation]:
    """Citations of the words, not saved yet, in reading order; none when no passage holds them."""
    anchor = place_found(document, Place(page, quote=words))
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
