"""Stored citations for pages and API, as pictures, and the links that open a document at a citation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode
from uuid import UUID

import msgspec
from django.utils.translation import gettext, ngettext
from PIL.ImageColor import getrgb

from chat.answers.events import CitationShown, Summary
from chat.citations.stored_pages import locate, pages_of_rows
from chat.models import Citation
from citing.anchoring.find_quote import Anchor, find_quote
from citing.claims import CONTRADICTED, VERIFIED
from documents.contents import trail
from documents.files.page_pictures import Dpi, Highlight, PictureFailed, page_picture
from documents.models import CitationUnit, Document, Page
from documents.page_labels import place_in_words
from documents.translation import translated
from pdf.geometry import Box, PageFrame


def shown(citation: Citation, frame: PageFrame, is_binned: bool = False) -> CitationShown:
    """Return the citation with its rectangles in display fractions of its page.

    ``is_binned``: its document is in the bin.
    """
    verdict = citation.verdict
    durability = Citation.Durability.BINNED if is_binned else Citation.Durability(citation.durability)
    return CitationShown(
        id=str(citation.pk),
        number=citation.number,
        document=str(citation.document_id or ""),
        title=citation.document_title,
        page=citation.page_number,
        unit=str(citation.unit_id or ""),
        section=trail(citation.section_path, citation.document_title),
        lines=(citation.line_start, citation.line_end),
        claim=citation.claim,
        quote=citation.quote,
        verdict=verdict,
        outcome=citation.outcome,
        outcome_text=citation.outcome_text,
        difference=tuple(citation.difference),
        verdict_text=str(Citation.Verdict(verdict).label) if verdict else "",
        missing=tuple(citation.missing),
        reason=translated(citation.reason),
        rects=frame.display_boxes(citation.rects),
        unit_rects=frame.display_boxes(citation.unit_rects),
        head_rects=frame.display_boxes(citation.head_rects),
        durability=durability.value,
        durability_text=str(durability.label),
        matched=citation.matched,
        judged_by=citation.judged_by,
        judgement=citation.judgement,
        feedback=citation.feedback,
        href=reader_link(citation),
        where=citation.where,
        page_label=citation.page_label,
        first_line=citation.first_line,
    )


def shown_citations(citations: Iterable[Citation]) -> list[CitationShown]:
    """Citations in the given order. One query for the pages' sizes, one for deleted documents."""
    if not (listed := list(citations)):
        return []
    cited = {citation.document_id for citation in listed if citation.document_id}
    binned = set(Document.objects.filter(pk__in=cited).exclude(deleted_at=None).values_list("pk", flat=True))
    frames = Page.objects.frames((citation.document_id, citation.page_number) for citation in listed)
    return [
        shown(
            citation,
            frames.get((citation.document_id, citation.page_number), PageFrame(612, 792)),
            citation.document_id in binned,
        )
        for citation in listed
    ]


def reader_link(citation: Citation) -> str:
    """Return the reader, open at the words: ``/documents/<id>/?page=5&unit=…&citation=…``."""
    if not citation.document_id:
        return ""
    place = {"page": citation.page_number, "unit": citation.unit_id or "", "citation": citation.pk}
    return f"/documents/{citation.document_id}/?{urlencode(place)}"


def summary_of(
    citations: Sequence[CitationShown], claims: Iterable[str], uncited: int, quotes_only: bool = False
) -> Summary:
    """Summarise the claims. ``claims[i]`` names the claim of ``citations[i]``; equal names are one claim.

    ``quotes_only``: the answer was written without a model. It claims nothing, so nothing was verified.
    """
    made, verified, holding = set[str](), set[str](), set[str]()
    found, contradicted = set[str](), set[str]()
    for citation, claim in zip(citations, claims, strict=True):
        made.add(claim)
        if citation.verdict in VERIFIED:
            verified.add(claim)
            if not citation.is_outdated:
                holding.add(claim)
        elif citation.verdict in CONTRADICTED:
            contradicted.add(claim)
        elif citation.verdict:
            found.add(claim)
    contradicted -= verified
    found -= verified | contradicted
    total = len(made) + uncited
    changed = len(outdated(citations))
    if changed:
        text = ngettext(
            "%(held)s of %(total)s claim still holds", "%(held)s of %(total)s claims still hold", total
        ) % {"held": len(holding), "total": total}
    elif quotes_only:
        text = passages_shown(len({citation.number for citation in citations}))
    else:
        text = ", ".join(claims_checked(total, len(verified), len(found), len(contradicted)))
    return Summary(total, len(verified), text, changed, changes_of(citations), len(found), len(contradicted))


def claims_checked(total: int, verified: int, found: int, contradicted: int) -> Iterator[str]:
    """Return ``3 of 5 claims verified``, ``2 found``, ``1 differs``, without zeros."""
    if total:
        yield ngettext(
            "%(verified)s of %(total)s claim verified", "%(verified)s of %(total)s claims verified", total
        ) % {"verified": verified, "total": total}
    if found:
        yield gettext("%(number)s found") % {"number": found}
    if contradicted:
        yield ngettext("%(number)s differs", "%(number)s differ", contradicted) % {"number": contradicted}


def passages_shown(total: int) -> str:
    """Return ``3 passages``; '' without any."""
    return ngettext("%(total)s passage", "%(total)s passages", total) % {"total": total} if total else ""


def outdated(citations: Iterable[CitationShown]) -> list[CitationShown]:
    return [citation for citation in citations if citation.is_outdated]


def changes_of(citations: Iterable[CitationShown]) -> str:
    """Return which citations the documents no longer support, and which are in the bin; '' without any."""
    cited = list(citations)
    sentences = []
    if numbers := numbers_of(outdated(cited)):
        sentence = ngettext(
            "A document has changed since this answer: %(numbers)s rests on words that are no longer there.",
            "A document has changed since this answer: %(numbers)s rest on words that are no longer there.",
            len(numbers),
        )
        sentences.append(sentence % {"numbers": ", ".join(numbers)})
    if numbers := numbers_of(one for one in cited if one.durability == Citation.Durability.BINNED):
        sentences.append(gettext("In the bin: %(numbers)s.") % {"numbers": ", ".join(numbers)})
    return " ".join(sentences)


def numbers_of(citations: Iterable[CitationShown]) -> list[str]:
    """Return ``[1]``, ``[2]``, each once."""
    return [f"[{number}]" for number in sorted({citation.number for citation in citations})]


# The cited words as a picture, for chats, mails and reports.

# Pale and strong, by a citation's number and by its verdict: the same in static/css/chat.css.
COLOURS = (
    ("#fff3bf", "#ffd43b"),
    ("#dcecfd", "#8fc3fb"),
    ("#d8f1f6", "#86d5e3"),
    ("#fde3ec", "#fba9c4"),
    ("#ece5fb", "#c5adf7"),
    ("#ece6dc", "#cfc0a6"),
)
VERIFIED_COLOURS = ("#dff5e3", "#92deaa")  # green
DIFFERING_COLOURS = ("#ffeccc", "#ffbe5c")  # amber


def colours_of(citation: Citation) -> tuple[str, str]:
    """Return green where verified, amber where it differs, and the pale colour of its number where found."""
    if citation.verdict in VERIFIED:
        return VERIFIED_COLOURS
    if citation.verdict in CONTRADICTED:
        return DIFFERING_COLOURS
    pale, strong = COLOURS[(citation.number - 1) % len(COLOURS)]
    return (pale, pale) if citation.verdict == Citation.Verdict.FOUND else (pale, strong)


def citation_picture(citation: Citation, *, dpi: Dpi = 144, crop: bool = True) -> bytes:
    """Return a PNG of the cited page in the citation's colour: the passage pale, the anchor strong.

    Raises PictureFailed. Cut, it shows the anchor; the anchor's whole row when it is the cell of a table.
    """
    if citation.durability == Citation.Durability.GONE:
        raise PictureFailed("The cited words are no longer in the document.")
    page = Page.objects.filter(document=citation.document_id, number=citation.page_number)
    found = page.select_related("document").defer("text", "word_boxes").first()
    if found is None:
        raise PictureFailed("The cited page is no longer in the document.")
    pale, strong = map(getrgb, colours_of(citation))
    layers = [
        Highlight(citation.unit_rects, pale, framed=bool(citation.head_rects)),
        Highlight(citation.head_rects, pale, underline=strong, framed=False, headers=True),
        Highlight(citation.rects, strong),
    ]
    return page_picture(found, layers, dpi=dpi, crop=crop)


MOST_LINKED = 300  # characters of words in an address: enough to find them by


@dataclass(frozen=True, slots=True)
class LinkTarget:
    """A place in a document, as its links name it: ``?page=5&unit=…&q=…``; pages count from 1."""

    page: int | None = None
    unit: UUID | None = None
    quote: str = ""


def reader_query(page: int, words: str = "", **rows: object) -> str:
    """Return ``page=5&q=…&unit=…``, which opens the reader at the words and, while they exist, the rows.

    Words outlive a new reading of the document and the deletion of an answer: they are looked up anew.
    """
    words = " ".join(words.split())
    if len(words) > MOST_LINKED:
        words = words[:MOST_LINKED].rpartition(" ")[0] or words[:MOST_LINKED]
    named = {"page": page, "q": words, **rows}
    return urlencode({name: value for name, value in named.items() if value})


class LinkHighlight(msgspec.Struct, frozen=True):
    """Layers of paint on one page, in display fractions, one box per line of text.

    Attributes:
        unit: painted pale: the whole passage.
        anchor: painted strong: the very words.
        heads: row and column heads of a cited cell.
        colour: the number of the citation it shows.
        verdict: that citation's.
    """

    page: int
    unit: tuple[Box, ...] = ()
    anchor: tuple[Box, ...] = ()
    heads: tuple[Box, ...] = ()
    colour: int = 1
    verdict: str = ""


def highlights_at(document: Document, place: LinkTarget) -> list[LinkHighlight]:
    """Return one per page that the place runs over, the first first; empty when nothing was asked for."""
    if place.unit and (unit := document.units.filter(pk=place.unit).first()):
        return [_passage(document, unit, place.quote)]
    if place.quote and (anchor := find_target(document, place)):
        return [
            LinkHighlight(part.page.number, anchor=part.page.frame.display_boxes(part.rects))
            for part in anchor.parts
        ]
    return [LinkHighlight(max(place.page, 1))] if place.page is not None else []


def printed_place(document: Document, place: LinkTarget) -> str:
    """Return printed page and lines of the unit in which the words begin, else the page, for people."""
    anchor = find_target(document, place) if place.quote else None
    number = anchor.page if anchor else max(place.page or 1, 1)
    start = anchor.parts[0].spans[0][0] if anchor else 0
    unit = document.units.filter(page_number=number, char_start__lte=start, char_end__gt=start).first()
    page = Page.objects.frames([(document.pk, number)]).get((document.pk, number))
    label, first = (page.label, page.first_line) if page else ("", 0)
    return unit.printed_place(label, first) if unit and anchor else place_in_words(number, (0, 0), label)


def highlight_of(citation: Citation) -> LinkHighlight:
    """Return a stored citation as it is lit; one query."""
    (seen,) = shown_citations([citation])
    return LinkHighlight(seen.page, seen.unit_rects, seen.rects, seen.head_rects, seen.number, seen.verdict)


def _passage(document: Document, unit: CitationUnit, quote: str) -> LinkHighlight:
    rows = document.pages.filter(number=unit.page_number)
    frame = rows.get().frame
    anchor = find_quote(pages_of_rows(rows), quote, unit.content) if quote else None
    words = anchor.rects if anchor else ()
    return LinkHighlight(unit.page_number, frame.display_boxes(unit.rects), frame.display_boxes(words))


def find_target(document: Document, place: LinkTarget) -> Anchor | None:
    """Return the place of the words: on the named page or over its end, else anywhere."""
    if place.page is None:
        return locate(document.pk, place.quote)
    rows = document.pages.filter(number__range=(place.page, place.page + 1)).order_by("number")
    pages = pages_of_rows(rows)
    here = find_quote([page for page in pages if page.number == place.page], place.quote)
    if here and here.verdict != "partial":
        return here
    over = find_quote(pages, place.quote)
    return over if over and len(over.parts) > 1 else here or locate(document.pk, place.quote)
