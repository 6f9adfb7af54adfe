"""What the stream of an answer says, event by event: the contract with the browser and the API.

Each event travels as a server-sent event (WHATWG HTML, 9.2): ``id`` is its
sequence number in the answer, from 1; ``event`` is its kind; ``data`` is the
JSON of the struct below. An answer's stream is::

    status* sources? (status | text | citation | verdict)* error? done

``done`` always comes last, whatever happened, and holds the whole answer: a
client that has lost events needs nothing else. Rectangles are display
fractions ``[x0, y0, x1, y1]`` of the page as shown; pages count from 1; spans
count characters of the stored message, markers included.

In the browser each element an event speaks of can be found by its attributes::

    <div data-block="3">…</div>                     one top-level block of the answer
    <sup><a data-citation="ID" data-number="2" data-verdict="exact"
            data-document="ID" data-page="5" data-unit="ID" href="…">2</a></sup>
"""

from __future__ import annotations

from typing import ClassVar, Literal, get_args

import msgspec

from chat.models import Citation
from chat.models.citation import place_in_words
from pdf.geometry import Box

Stage = Literal["waiting", "searching", "reading", "writing", "checking"]
MessageStatus = Literal["pending", "streaming", "complete", "incomplete", "failed"]


class StatusEvent(msgspec.Struct, frozen=True):
    """What is being done now. ``text`` is for people: "Searching…", "Reading 24 passages…".

    Attributes:
        passages: how many passages were found, once that is known.
        question: the question as it was searched for, when it differs from the one asked.
        tokens: about how many a model is about to read of a whole document; told before it reads any.
    """

    kind: ClassVar[str] = "status"
    stage: Stage
    text: str
    passages: int | None = None
    question: str = ""
    tokens: int | None = None


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
    """New words of the answer.

    ``html`` is the safe HTML of the whole block ``block`` so far, citations as
    ``<sup>`` links included: set it as the inner HTML of the element with that
    ``data-block``, making one at the end when there is none ('' empties it: its
    words belong to the block before now). ``text`` holds
    only the new words, as Markdown, for clients that render by themselves.
    """

    kind: ClassVar[str] = "text"
    text: str
    block: int
    html: str


class CitationShown(msgspec.Struct, frozen=True):
    """A citation as the browser and the API see it.

    Attributes:
        id: of the stored Citation (the id is given before it is stored).
        number: the superscript; equal for equal units through the conversation.
        verdict: '' until it was checked.
        verdict_text: the verdict in words for people.
        missing: values and words of the claim that the page does not have.
        reason: one sentence that explains the verdict; '' when none is needed.
        rects: the anchor, painted strong: one per line, or the cells.
        unit_rects: the whole unit, painted pale.
        head_rects: row and column heads of the cited cells.
        durability: whether the document still says it there: same, moved, changed, gone.
        lines: first and last line of the unit, through the document.
        matched: the model cited nothing here; Pincite matched the sentence to the passage.
        judged_by: the model that was asked what no rule could compare; '' when none was.
        judgement: its word, which changes no verdict: supported, unsupported.
        href: opens the reader at the words.
        where: of an imported block: ``slide 4``, ``sheet Q2, B7``, ``12:04``.
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

    @property
    def place(self) -> str:
        """Page and lines, for people: ``p. 5, lines 20–25``."""
        return place_in_words(self.page, *self.lines, self.where)

    @property
    def is_outdated(self) -> bool:
        return Citation.Durability(self.durability).is_outdated

    @property
    def standing(self) -> str:
        """The verdict, and what became of the words in their document since: ``exact, changed since``."""
        since = f"{self.durability} since" if self.durability != "same" else ""
        return ", ".join(part for part in (self.verdict, *self.origin, since) if part)

    @property
    def origin(self) -> tuple[str, ...]:
        """Who made the citation, where the model did not, and what a judge said of it."""
        matched = ("matched by Pincite",) if self.matched else ()
        if not self.judged_by:
            return matched
        said = "supported" if self.judgement == Citation.ModelJudgement.SUPPORTED else "not supported"
        return (*matched, f"{said}, judged by {self.judged_by}")


class CitedEvent(msgspec.Struct, frozen=True):
    """A marker was read; its superscript stands in the block's HTML. It is not yet checked."""

    kind: ClassVar[str] = "citation"
    citation: CitationShown


class VerifiedEvent(msgspec.Struct, frozen=True):
    """A citation was checked: the same citation (by ``id``) with its verdict, quote and rectangles.

    Page and unit may have changed, when the words stood in another passage (``moved``).
    """

    kind: ClassVar[str] = "verdict"
    citation: CitationShown


class FailedEvent(msgspec.Struct, frozen=True):
    """The answer ended early. What was written is kept; ``done`` follows.

    Attributes:
        message: one sentence for people.
        permanent: trying again will not help until something is changed.
        can_continue: part of the answer is there and can be continued.
    """

    kind: ClassVar[str] = "error"
    message: str
    permanent: bool
    can_continue: bool = False


class Summary(msgspec.Struct, frozen=True):
    """How the claims fared; ``text`` is for people: "3 of 5 claims verified, 2 quotes found".

    Attributes:
        changed: citations whose words are changed or gone since a document was replaced or read anew.
        changes: that, for people; '' when all words still stand there.
        found: claims whose words stand on the page, but that were not judged.
        contradicted: claims that the page contradicts or does not say, and no citation verifies.
    """

    claims: int
    verified: int
    text: str
    changed: int = 0
    changes: str = ""
    found: int = 0
    contradicted: int = 0


class DoneEvent(msgspec.Struct, frozen=True):
    """The end, with the whole answer as it is stored.

    Attributes:
        html: the safe HTML of all blocks, each in its ``data-block`` element.
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
    """The event's JSON."""
    return msgspec.json.encode(event).decode()


def decode(kind: str, data: str | bytes) -> Event:
    """The inverse of ``encode``. Raises KeyError for an unknown kind, ValidationError for other data."""
    return msgspec.json.decode(data, type=KINDS[kind])


def as_server_sent(sequence: int, kind: str, data: str) -> str:
    """One server-sent event; JSON holds no line feed, so one ``data`` line is enough."""
    return f"id: {sequence}\nevent: {kind}\ndata: {data}\n\n"
