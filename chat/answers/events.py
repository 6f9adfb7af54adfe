"""The events of an answer's stream: the contract with the browser and the API.

Each event is sent as a server-sent event (WHATWG HTML, 9.2): ``id`` is its
sequence number in the answer, from 1; ``event`` is its kind; ``data`` is the
JSON of the struct below. An answer's stream is::

    status* sources? (status | text | citation | verdict)* error? done

``done`` always comes last, also after an error, and contains the whole answer: a
client that has lost events needs nothing else. Rectangles are display
fractions ``[x0, y0, x1, y1]`` of the page as shown; pages count from 1; spans
count characters of the stored message, markers included.

In the browser, attributes identify the elements that events refer to::

    <div data-block="3">…</div>                     one top-level block of the answer
    <sup><a data-citation="ID" data-number="2" data-verdict="exact"
            data-document="ID" data-page="5" data-unit="ID" href="…">2</a></sup>
"""

from __future__ import annotations

from typing import ClassVar, Literal, get_args

import msgspec

from chat.models import Citation
from chat.models.citation import outcome_in_words
from citing.claims import outcome_of
from documents.page_labels import lines_on_page, pinpoint, place_in_words
from pdf.geometry import Box

Stage = Literal["waiting", "searching", "reading", "writing", "checking"]
MessageStatus = Literal["pending", "streaming", "complete", "incomplete", "failed"]


class StatusEvent(msgspec.Struct, frozen=True):
    """The current stage. ``text`` is for people: "Searching…", "Reading 24 passages…".

    Attributes:
        passages: number of passages found; None while unknown.
        question: the question used for the search, when it differs from the one asked.
        added: what the conversation added to it, see ``added_to``.
        tokens: estimated tokens of a whole document that a model will read; sent before it reads.
    """

    kind: ClassVar[str] = "status"
    stage: Stage
    text: str
    passages: int | None = None
    question: str = ""
    tokens: int | None = None
    added: str = ""


class ContextSource(msgspec.Struct, frozen=True):
    """One passage the answer may cite."""

    unit: str
    document: str
    title: str
    page: int
    section: str
    type: str
    text: str


class SourcesEvent(msgspec.Struct, frozen=True):
    """The passages shown to the model, best first."""

    kind: ClassVar[str] = "sources"
    sources: tuple[ContextSource, ...]


class TextEvent(msgspec.Struct, frozen=True):
    """New text of the answer.

    ``html`` is the sanitized HTML of the whole block ``block`` so far, including
    citations as ``<sup>`` links. Set it as the inner HTML of the element with that
    ``data-block``, and append one if there is none. '' empties the element: its
    words have become part of the block before it, or were a model's reasoning.
    ``text`` is only the new text, as Markdown, for clients that render it themselves.
    """

    kind: ClassVar[str] = "text"
    text: str
    block: int
    html: str


class CitationShown(msgspec.Struct, frozen=True):
    """A citation as the browser and the API receive it.

    Attributes:
        id: id of the stored Citation, assigned before it is stored.
        number: the superscript; one number per unit in a conversation.
        verdict: '' until the citation is checked.
        verdict_text: the verdict in words for people.
        outcome: the word that readers see: verified, found, differs; '' until the citation is checked.
        outcome_text: that word for people, with both sides of a difference.
        difference: what the claim and the page say, if they differ.
        missing: values and words of the claim that the page does not have.
        reason: one sentence that explains the verdict; '' when none is needed.
        rects: the anchor, with a strong highlight: one per line, or the cells.
        unit_rects: the whole unit, with a pale highlight.
        head_rects: row and column headers of the cited cells.
        durability: state of the cited words in the document now: same, moved, changed, gone.
        lines: first and last line of the unit, numbered through the document.
        page_label: the printed page number; '' where the page has none.
        first_line: the page's first line, numbered through the document; 0 where it is unknown.
        matched: the model cited nothing here; Pincite matched the sentence to the passage.
        judged_by: the model that judged what no rule could compare; '' when none did.
        judgement: its judgement, which changes no verdict: supported, unsupported.
        href: link that opens the reader at the words.
        where: location in an imported file: ``slide 4``, ``sheet Q2, B7``, ``12:04``.
    """

    id: str
    number: int
    document: str
    title: str
    page: int
    unit: str
    section: str
    lines: tuple[int, int]
    claim: str
    quote: str
    verdict: str = ""
    verdict_text: str = ""
    outcome: str = ""
    outcome_text: str = ""
    difference: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    reason: str = ""
    rects: tuple[Box, ...] = ()
    unit_rects: tuple[Box, ...] = ()
    head_rects: tuple[Box, ...] = ()
    durability: str = "same"
    durability_text: str = ""
    matched: bool = False
    judged_by: str = ""
    judgement: str = ""
    feedback: str = ""
    href: str = ""
    where: str = ""
    page_label: str = ""
    first_line: int = 0

    @property
    def place(self) -> str:
        """Return printed page and lines on it, for people: ``p. 5, lines 20–25``."""
        return place_in_words(self.page, self.lines, self.page_label, self.first_line, self.where)

    @property
    def pinpoint(self) -> str:
        """Return printed page and lines on it, as courts cite: ``31:12-14``."""
        return pinpoint(self.page, self.lines, self.page_label, self.first_line, self.where)

    @property
    def lines_on_page(self) -> tuple[int, int]:
        return lines_on_page(self.lines, self.first_line)

    @property
    def is_outdated(self) -> bool:
        return Citation.Durability(self.durability).is_outdated

    @property
    def standing(self) -> str:
        """Return outcome, origin and later change of the words, for people: ``verified, changed since``."""
        since = f"{self.durability} since" if self.durability != "same" else ""
        return ", ".join(
            part
            for part in (outcome_in_words(outcome_of(self.verdict), self.difference), *self.origin, since)
            if part
        )

    @property
    def origin(self) -> tuple[str, ...]:
        """Return for people that Pincite made the citation, if it did, and the judgement of a model."""
        matched = ("matched by Pincite",) if self.matched else ()
        if not self.judged_by:
            return matched
        judgement = "supported" if self.judgement == Citation.ModelJudgement.SUPPORTED else "not supported"
        return (*matched, f"{judgement}, judged by {self.judged_by}")


class CitedEvent(msgspec.Struct, frozen=True):
    """A citation marker was read; the block's HTML has its superscript. The citation is not yet checked."""

    kind: ClassVar[str] = "citation"
    citation: CitationShown


class VerifiedEvent(msgspec.Struct, frozen=True):
    """A citation was checked: the same citation (by ``id``) with its verdict, quote and rectangles.

    Page and unit differ from before when the words were found in another passage (``moved``).
    """

    kind: ClassVar[str] = "verdict"
    citation: CitationShown


class FailedEvent(msgspec.Struct, frozen=True):
    """The answer ended early. The text so far is kept; ``done`` follows.

    Attributes:
        message: one sentence for people.
        permanent: a retry without a change fails again.
        can_continue: the text so far can be continued.
    """

    kind: ClassVar[str] = "error"
    message: str
    permanent: bool
    can_continue: bool = False


class Summary(msgspec.Struct, frozen=True):
    """Counts of the claims by result; ``text`` is for people: "3 of 5 claims verified, 2 found".

    Attributes:
        changed: citations whose words are changed or gone since a document was replaced or parsed again.
        changes: that number in words for people; '' when all words are unchanged.
        found: claims whose quoted words are on the page, but that were not judged.
        contradicted: claims that the page contradicts or does not state, and that no citation verifies.
    """

    claims: int
    verified: int
    text: str
    changed: int = 0
    changes: str = ""
    found: int = 0
    contradicted: int = 0


class DoneEvent(msgspec.Struct, frozen=True):
    """The end of the stream, with the whole answer as stored.

    Attributes:
        html: the sanitized HTML of all blocks, each in its ``data-block`` element.
        uncited: spans of claims that cite nothing; in ``html`` they are ``<mark class="uncited">``.
        usage: {"input_tokens", "output_tokens", "seconds"} as far as known.
    """

    kind: ClassVar[str] = "done"
    message: str
    status: MessageStatus
    html: str
    citations: tuple[CitationShown, ...]
    summary: Summary
    uncited: tuple[tuple[int, int], ...] = ()
    usage: dict[str, float] = {}
    error: str = ""


Event = StatusEvent | SourcesEvent | TextEvent | CitedEvent | VerifiedEvent | FailedEvent | DoneEvent
KINDS: dict[str, type[Event]] = {event.kind: event for event in get_args(Event)}


def encode(event: Event) -> str:
    """Return the event as JSON."""
    return msgspec.json.encode(event).decode()


def decode(kind: str, data: str | bytes) -> Event:
    """Return the event that ``encode`` encoded. Raises KeyError for an unknown kind, else ValidationError."""
    return msgspec.json.decode(data, type=KINDS[kind])


def as_server_sent(sequence: int, kind: str, data: str) -> str:
    """Return one server-sent event. JSON contains no line feed, so one ``data`` line is enough."""
    return f"id: {sequence}\nevent: {kind}\ndata: {data}\n\n"
