"""Build an answer while it is streamed: its text, its citations and their verdicts.

A builder is pure: it reads no database and sends nothing. ``write`` and ``cite`` return the events to send.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from uuid import UUID

from chat.answers.events import CitationShown, CitedEvent, Event, TextEvent, VerifiedEvent
from chat.answers.prompt import shown_text
from chat.citations.model_judge import LONGEST_PASSAGE, ConfiguredJudge, JudgedClaim
from chat.citations.snapshots import snapshot
from chat.citations.source_units import Sources
from chat.citations.stored_citations import shown
from chat.citations.stored_pages import locate
from chat.markdown.html import StreamRenderer
from chat.models import Citation
from citing.claim_spans import PassageMatcher, claim_before, plain, uncited_claims
from citing.claims import Claim, SourceUnit, Verification
from citing.marker_decoder import defused, format_marker, stored_marks
from citing.verdict import located, verify, with_quote_sought
from text.sentences import Span

_SENTENCE_END = re.compile(r"(?:(?<![.!?。！？…])[.!?。！？…]+[\"'”’)\]*_]*)?$")
MOST_CITATIONS = 400  # of one answer; a model that cites everything is stopped from filling the database


@dataclass(frozen=True, slots=True)
class _CitedBlock:
    """A range of ``content`` for all of which a provider cites ``unit``."""

    start: int
    end: int
    unit: SourceUnit


@dataclass(slots=True)
class AnswerBuilder:
    """The answer to one question.

    Attributes:
        question: it chooses among equal values of a passage.
        shows_only: it shows passages and claims nothing.
        is_open: it asks who, how much, …: a sentence that only repeats it claims nothing.
        numbers: the superscript of each unit (by id) that the conversation has cited so far.
        content: the stored text: Markdown with ``[[cite:<unit>:<page>]]`` markers.
        citations: in the order of the markers in ``content``.
        dropped: citations left out because the answer has too many.
        saved: ids of the citations that are rows already.
        saved_content: the content that is stored.
        changed: ids of citations that changed after they were sent.
        lock: held while content and citations change, so that another thread can save both in step.
        saving: held while they are saved, by the recorder or the writer.
    """

    message_id: UUID
    sources: Sources
    numbers: dict[str, int] = field(default_factory=dict)
    content: str = ""
    citations: list[Citation] = field(default_factory=list)
    dropped: int = 0
    question: str = ""
    is_open: bool = False
    shows_only: bool = False
    saved: set[UUID] = field(default_factory=set)
    saved_content: str = ""
    changed: set[UUID] = field(default_factory=set)
    lock: threading.Lock = field(default_factory=threading.Lock)
    saving: threading.Lock = field(default_factory=threading.Lock)
    renderer: StreamRenderer = field(default_factory=StreamRenderer)
    _blocks: list[_CitedBlock] = field(default_factory=list)
    _known: dict[str, int] = field(default_factory=dict)  # numbers from before this answer
    _begun: tuple[str, list[Citation], list[CitationShown]] = ("", [], [])  # what is continued

    def __post_init__(self) -> None:
        self._known = dict(self.numbers)

    def write(self, text: str) -> Iterator[Event]:
        """Add text, in which nothing passes for a marker; return its events."""
        text = defused(text)
        with self.lock:
            self.content += text
        yield from text_events(text, self.renderer.write(text))

    def cite(self, unit: SourceUnit, quote: str = "") -> Iterator[Event]:
        """Add a verified citation of ``unit`` for the last sentence; return its events."""
        if len(self.citations) >= MOST_CITATIONS:
            self.dropped += 1
            return
        span = claim_before(self.content, quote)
        found = self._verified(plain(self.content[span.start : span.end]), unit, quote)
        yield from self._add(found, span)
        yield from self._joint_support(self.citations[-1])

    def cite_passage(self, unit: SourceUnit, quote: str, before: str = "") -> Iterator[Event]:
        """Add text and a citation of it. It is shown, not claimed: it is located, and gets no verdict."""
        text = defused(before)
        with self.lock:
            self.content += text
        span = claim_before(self.content, quote)
        claim = Claim(plain(self.content[span.start : span.end]), quote)
        yield from self._add(located(claim, unit, self.sources.neighbours(unit)), span, text)

    def _add(self, found: Verification, span: Span, text: str = "") -> Iterator[Event]:
        citation = snapshot(found, self.sources.places[found.unit.id], self._number_of(found.unit))
        citation.message_id, citation.position = self.message_id, len(self.citations)
        citation.claim = plain(self.content[span.start : span.end])
        with self.lock:
            self.content += format_marker(found.unit.id, found.unit.page)
            citation.claim_start, citation.claim_end = span.start, len(self.content)
            self.citations.append(citation)
        seen = self.shown(citation)
        yield from text_events(text, self.renderer.cite(seen, text))
        yield CitedEvent(unchecked(seen))
        yield VerifiedEvent(seen)

    def cite_block(self, unit: SourceUnit, block: str) -> None:
        """Record that a provider cites ``unit`` for all sentences of the block it has just written."""
        start = self.content.rfind(block.strip())
        if start >= 0:
            self._blocks.append(_CitedBlock(start, start + len(block.strip()), unit))

    def complete(self) -> Iterator[Event]:
        """Cite the sentences without a marker: by their block's citation, or by a matching passage."""
        matcher = PassageMatcher(self.sources.shown, self.sources.neighbours, self.question)
        spans = self.uncited()[: max(0, MOST_CITATIONS - len(self.citations))]
        found = [self._matched(span, matcher) for span in reversed(spans)]  # from the end: spans stay valid
        added = [citation for citation in found if citation]
        if not added:
            return
        with self.lock:
            self._settle_order()
        for citation in reversed(added):
            seen = self.shown(citation)
            yield CitedEvent(unchecked(seen))
            yield VerifiedEvent(seen)

    def judge(self, judging: ConfiguredJudge) -> Iterator[Event]:
        """Ask a judge about citations that are only found; its judgement is shown beside the verdict."""
        found = [citation for citation in self.citations if citation.verdict == Citation.Verdict.FOUND]
        questions = [JudgedClaim(self._passage(citation), citation.claim) for citation in found]
        for place, supported in judging.judged(questions):
            citation, word = found[place], Citation.ModelJudgement
            citation.judged_by = judging.name[:120]
            citation.judgement = word.SUPPORTED if supported else word.UNSUPPORTED
            self.changed.add(citation.pk)
            yield VerifiedEvent(self.shown(citation))

    def _passage(self, citation: Citation) -> str:
        """Return the cited unit as a model reads it, under its headings."""
        unit = self.sources.units[str(citation.unit_id)]
        headings = " › ".join(unit.section_path)
        return f"{headings}\n{shown_text(unit)}".strip()[:LONGEST_PASSAGE]

    def _matched(self, span: Span, matcher: PassageMatcher) -> Citation | None:
        claim = plain(self.content[span.start : span.end])
        inside = [block.unit for block in self._blocks if block.start <= span.start < block.end]
        found = matcher.match(claim, inside)
        by_provider = bool(inside) and (found is None or found.unit in inside)
        if inside and found is None:
            found = self._verified(claim, inside[0], "")
        if found is None:
            return None
        citation = snapshot(found, self.sources.places[found.unit.id], self._number_of(found.unit))
        citation.message_id, citation.claim, citation.matched = self.message_id, claim, not by_provider
        self._insert(citation, span, format_marker(found.unit.id, found.unit.page))
        return citation

    def _insert(self, citation: Citation, span: Span, marker: str) -> None:
        """Insert a citation at the end of its sentence, before the full stop; later positions move."""
        sentence = self.content[span.start : span.end]
        at = span.end - len(_SENTENCE_END.search(sentence)[0])  # type: ignore[index]
        with self.lock:
            before = sum(mark.start < at for mark in stored_marks(self.content))
            self.content = self.content[:at] + marker + self.content[at:]
            for other in self.citations:
                other.claim_start += len(marker) * (other.claim_start >= at)
                other.claim_end += len(marker) * (other.claim_end > at)
            citation.claim_start, citation.claim_end = span.start, at + len(marker)
            self.citations.insert(before, citation)

    def _settle_order(self) -> None:
        """Set positions and numbers in reading order; numbers of earlier answers stay."""
        self.numbers.clear()
        self.numbers.update(self._known)
        for position, citation in enumerate(self.citations):
            citation.position = position
            citation.number = self._numbered(str(citation.unit_id))
            self.changed.add(citation.pk)

    def begin_with(self, content: str, citations: list[Citation], shown_before: list[CitationShown]) -> None:
        """Continue an answer that was begun before; ``citations`` are its rows, by position."""
        self.content, self.saved_content, self.citations = content, content, citations
        self.saved = {citation.pk for citation in citations}
        self._begun = (content, list(citations), shown_before)
        self._render_begun()

    def take_back(self) -> Iterator[Event]:
        """Remove what was written, but for what is continued; return the events that show it."""
        with self.lock:
            content, citations, _ = self._begun
            self.content, self.citations = content, list(citations)
            self.numbers.clear()
            self.numbers.update(self._known)
            self._blocks.clear()
        blocks, self.renderer = self.renderer.blocks, StreamRenderer()
        kept = self._render_begun()
        yield from (TextEvent("", number, kept.get(number, "")) for number in range(blocks))

    def _render_begun(self) -> dict[int, str]:
        """Render what is continued; return the HTML of its blocks."""
        content, _, shown_before = self._begun
        htmls: dict[int, str] = {}
        at = 0
        for mark, citation in zip(stored_marks(content), shown_before, strict=False):
            htmls |= dict(self.renderer.write(content[at : mark.start]))
            htmls |= dict(self.renderer.cite(citation))
            at = mark.end
        return htmls | dict(self.renderer.write(content[at:]))

    def shown(self, citation: Citation) -> CitationShown:
        return shown(citation, self.sources.places[str(citation.unit_id)].frame)

    def uncited(self) -> list[Span]:
        """Return the claims without a citation."""
        if self.shows_only:
            return []
        cited = [Span(citation.claim_start, citation.claim_end) for citation in self.citations]
        return uncited_claims(self.content, cited, self.question if self.is_open else "")

    def _verified(self, claim: str, unit: SourceUnit, quote: str) -> Verification:
        made = Claim(claim, quote, self.question)
        found = verify(made, unit, self.sources.neighbours(unit), self.sources.shown)
        return with_quote_sought(found, lambda: locate(UUID(unit.document), quote))

    def _number_of(self, unit: SourceUnit) -> int:
        return self._numbered(unit.id)

    def _numbered(self, unit_id: str) -> int:
        return self.numbers.setdefault(unit_id, max(self.numbers.values(), default=0) + 1)

    def _joint_support(self, last: Citation) -> Iterator[Event]:
        """Mark adjacent citations as joint support of one claim if each lacks only words that another has."""
        group = [
            citation
            for citation in self.citations
            if citation.claim_start == last.claim_start and str(citation.unit_id) in self.sources.places
        ]
        weak = [citation for citation in group if citation.verdict == Citation.Verdict.UNSUPPORTED]
        if len(group) < 2 or not weak or not all(citation.missing for citation in weak):
            return
        lacking = set.intersection(*(set(citation.missing) for citation in group))
        if lacking:
            return
        for citation in weak:
            citation.verdict, citation.difference = Citation.Verdict.FOUND, []
            citation.reason = "Other citations of this sentence support the rest of the claim."
            self.changed.add(citation.pk)
            self.renderer.replace(self.shown(citation))
            yield VerifiedEvent(self.shown(citation))


def unchecked(citation: CitationShown) -> CitationShown:
    """Return the citation as it is sent before its verdict."""
    return CitationShown(
        id=citation.id,
        number=citation.number,
        document=citation.document,
        title=citation.title,
        page=citation.page,
        unit=citation.unit,
        section=citation.section,
        lines=citation.lines,
        claim=citation.claim,
        quote="",
        href=citation.href,
        where=citation.where,
        page_label=citation.page_label,
        first_line=citation.first_line,
    )


def text_events(text: str, changed: list[tuple[int, str]]) -> Iterator[TextEvent]:
    """Return one event for each changed block; the last one has the new text."""
    for place, (number, html) in enumerate(changed, start=1):
        yield TextEvent(text if place == len(changed) else "", number, html)
    if text and not changed:
        yield TextEvent(text, 0, "")
