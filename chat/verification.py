"""Verification: does the page say what a claim says, and with which words.

The quoted words are looked for first; without a quote, the claim's values; and
for a claim without values, its words. Always first in the cited unit, then in
its neighbours, then in the other units the model was shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, pairwise

from chat.anchoring import Anchor, find_quote
from chat.claims import Claim, SourceUnit, Verdict, Verification
from chat.matching.columns import row_head
from chat.matching.highlights import Span, highlight_rects, text_of
from chat.matching.page_text import PageText
from chat.matching.support import Support, heads_of, may_support, support
from chat.matching.terms import shared_terms, title_names
from chat.values import values_in
from documents.pdf.geometry import PageFrame, Rect
from documents.pdf.structure import Word

LEAST_TERMS = 0.2  # share of the claim's words a passage must have, for its values to be the claim's
LEAST_TERMS_ELSEWHERE = 0.4  # the same, for a passage the model did not cite
SAME_WORDS = 0.8  # share of the words of a claim without values, for it to be what the passage says
SOME_WORDS = 0.3

_UNUSED_FRAME = PageFrame(1.0, 1.0)
_NEGATION = re.compile(r"\b(?:not|no|never|none|neither|nor|without|cannot)\b|n['’]t\b", re.IGNORECASE)


def verify(
    claim: Claim,
    cited: SourceUnit,
    neighbours: Sequence[SourceUnit] = (),
    shown: Sequence[SourceUnit] = (),
) -> Verification:
    """What the pages say of a claim.

    Args:
        cited: the unit the model cites.
        neighbours: the other units of its page (heads of tables and "in millions" are read there)
            and, where there are any, the units before and after on the pages beside it. In order.
        shown: all units the model was shown in this turn.
    """
    scene = _Scene(claim, cited, neighbours, shown)
    if other := scene.named_elsewhere():
        return Verification("unsupported", cited, cited.page, reason=f"The claim speaks of {other}.")
    if claim.quote.strip():
        return _verify_quote(scene)
    return _verify_values(scene) if values_in(claim.sentence) else _verify_words(scene)


class _Scene:
    """A claim and all units that may be read for it."""

    def __init__(
        self, claim: Claim, cited: SourceUnit, neighbours: Sequence[SourceUnit], shown: Sequence[SourceUnit]
    ) -> None:
        self.claim, self.cited, self.neighbours, self.shown = claim, cited, neighbours, shown

    def elsewhere(self) -> Iterator[SourceUnit]:
        """The units beside the cited one, nearest first, then the others that were shown."""
        nearest = sorted(self.neighbours, key=lambda unit: abs(unit.char_start - self.cited.char_start))
        seen = {self.cited.id}
        for unit in chain(nearest, self.shown):
            if unit.id not in seen:
                seen.add(unit.id)
                yield unit

    def around(self, unit: SourceUnit) -> list[SourceUnit]:
        """The other known units of a unit's page, in order."""
        others = {other.id: other for other in (self.cited, *self.neighbours, *self.shown)}
        same_page = [u for u in others.values() if (u.document, u.page) == (unit.document, unit.page)]
        return sorted((u for u in same_page if u.id != unit.id), key=lambda u: u.char_start)

    def support(self, unit: SourceUnit, sentence: str = "") -> Support:
        return support(sentence or self.claim.sentence, unit, self.around(unit))

    def named_elsewhere(self) -> str:
        """The title of another shown document the claim names; empty when the cited page names it, too."""
        said = title_names(self.claim.sentence)
        own = title_names(self.cited.title)
        if said & own:
            return ""
        said -= title_names("\n".join(unit.text for unit in (self.cited, *self.around(self.cited))))
        others = {unit.title: title_names(unit.title) - own for unit in self.shown}
        return next((title for title, names in others.items() if names and names <= said), "")


def _verify_quote(scene: _Scene) -> Verification:
    claim = scene.claim
    here = _find(scene.cited, claim)
    if here and here.verdict != "partial":
        return _with_sentence_checked(scene, _anchored(here.verdict, scene.cited, here))
    for unit in scene.elsewhere():
        there = _find(unit, claim)
        if there and there.verdict != "partial" and _is_telling(claim.quote, unit, claim.sentence):
            return _anchored("moved", unit, there)
    if here:
        return replace(_anchored("partial", scene.cited, here), missing=(claim.quote,))
    if values_in(claim.quote):
        sentence = claim.sentence if claim.quote in claim.sentence else f"{claim.sentence} {claim.quote}"
        return _verify_values(scene, sentence)
    found = _verify_values(scene) if values_in(claim.sentence) else _verify_words(scene)
    verdict: Verdict = "partial" if found.supported else found.verdict
    reason = found.reason or "The quoted words do not stand there."
    return replace(found, verdict=verdict, missing=(claim.quote, *found.missing), reason=reason)


def _find(unit: SourceUnit, claim: Claim) -> Anchor | None:
    return find_quote([page_of_unit(unit)], claim.quote, claim.sentence)


def _is_telling(quote: str, unit: SourceUnit, sentence: str) -> bool:
    """Whether finding a quote in a unit nobody cited proves anything: a bare number stands anywhere."""
    long = sum(map(str.isalpha, quote)) >= 12
    return long or shared_terms(sentence, [unit.text, *heads_of(unit)]) >= LEAST_TERMS_ELSEWHERE


def _with_sentence_checked(scene: _Scene, found: Verification) -> Verification:
    """The quote stands there; but the sentence around it may say other values than the unit."""
    if not values_in(scene.claim.sentence):
        return found
    whole = scene.support(scene.cited)
    if whole.missing:
        return replace(found, verdict="unsupported", missing=whole.missing, reason=whole.reason)
    return replace(found, head_rects=_heads(whole, scene.around(scene.cited)))


def _verify_values(scene: _Scene, sentence: str = "") -> Verification:
    here = scene.support(scene.cited, sentence)
    if here.complete and here.terms >= LEAST_TERMS:
        return _supported(scene, here)
    for unit in scene.elsewhere():
        if not may_support(sentence or scene.claim.sentence, unit):
            continue
        there = scene.support(unit, sentence)
        if there.complete and there.terms >= max(LEAST_TERMS_ELSEWHERE, here.terms):
            return replace(_supported(scene, there), verdict="moved")
    if here.complete:
        found = _supported(scene, here)
        return replace(found, verdict="partial", reason="The values stand there, but of something else.")
    found = _supported(scene, here)
    return replace(found, verdict="unsupported", missing=here.missing, reason=here.reason)


def _supported(scene: _Scene, found: Support) -> Verification:
    unit = found.unit
    spans = sorted({_cell_span(unit, place.printed.start, place.printed.end) for place in found.places})
    exact = all(place.agreement == "exact" for place in found.places)
    heads = _heads(found, scene.around(unit))
    return _lit("exact" if exact else "normalized", unit, spans, heads)


def _cell_span(unit: SourceUnit, start: int, end: int) -> Span:
    """The table cell a value stands in, when it says little more; else the value itself."""
    for cell in unit.table.cells if unit.table else ():
        first, last = cell.char_start - unit.char_start, cell.char_end - unit.char_start
        if first <= start < last and last - first <= end - start + 4:
            return first, last
    return start, end


def _heads(found: Support, around: Sequence[SourceUnit]) -> tuple[Rect, ...]:
    """Row and column heads of the lit cells, each once."""
    rows = [rect for place in found.places for rect in row_head(found.unit, place.printed.start, around)]
    columns = [rect for place in found.places for rect in place.heads]
    return tuple(dict.fromkeys(rows + columns))


def _verify_words(scene: _Scene) -> Verification:
    """A claim without values: its own words on the page, else how many of them the passage has."""
    sentence = scene.claim.sentence
    here = find_quote([page_of_unit(scene.cited)], sentence)
    if here and here.verdict != "partial":
        return _anchored(here.verdict, scene.cited, here)
    share = _shared(sentence, scene.cited)
    for unit in scene.elsewhere():
        there = find_quote([page_of_unit(unit)], sentence)
        said = there is not None and there.verdict != "partial"
        if (there and said) or (share < SOME_WORDS and _shared(sentence, unit) >= SAME_WORDS):
            return replace(_best_sentence(unit, sentence), verdict="moved")
    found = _anchored("partial", scene.cited, here) if here else _best_sentence(scene.cited, sentence)
    if share < SOME_WORDS:
        return replace(found, verdict="unsupported", reason="The passage does not speak of this.")
    if share >= SAME_WORDS and bool(_NEGATION.search(sentence)) == bool(_NEGATION.search(found.quote)):
        return replace(found, verdict="normalized")
    return replace(found, verdict="partial", reason="The passage says some of this in other words.")


def _shared(sentence: str, unit: SourceUnit) -> float:
    return shared_terms(sentence, [unit.text, *heads_of(unit)])


def _best_sentence(unit: SourceUnit, claim: str) -> Verification:
    """The sentence of the unit that has most of the claim's words."""
    ends = [match.end() for match in re.finditer(r"[.!?。]\s+|[。！？]", unit.text)]
    borders = sorted({0, *ends, len(unit.text)})
    spans = list(pairwise(borders)) or [(0, len(unit.text))]
    best = max(spans, key=lambda span: shared_terms(claim, [unit.text[slice(*span)]]))
    return _lit("partial", unit, [best])


def page_of_unit(unit: SourceUnit) -> PageText:
    """A unit as a page of its own; characters count from the unit's start, boxes stay in page space."""
    start = unit.char_start
    words = [Word(word.char_start - start, word.char_end - start, *word.rect) for word in unit.words]
    return PageText(unit.page, _UNUSED_FRAME, unit.text, words)


def _anchored(verdict: Verdict, unit: SourceUnit, anchor: Anchor) -> Verification:
    return _lit(verdict, unit, list(anchor.parts[0].spans))


def _lit(
    verdict: Verdict, unit: SourceUnit, spans: Sequence[Span], head_rects: tuple[Rect, ...] = ()
) -> Verification:
    if not spans:
        return Verification(verdict, unit, unit.page, head_rects=head_rects)
    page = page_of_unit(unit)
    return Verification(
        verdict,
        unit,
        unit.page,
        text_of(page, spans),
        unit.char_start + min(start for start, _ in spans),
        unit.char_start + max(end for _, end in spans),
        highlight_rects(page, spans),
        head_rects,
    )
