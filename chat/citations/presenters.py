"""A stored citation for pages and API, and as a picture."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import urlencode

from django.utils.translation import gettext, ngettext
from PIL.ImageColor import getrgb

from chat.answers.events import CitationShown, Summary
from chat.citations.claims import CONTRADICTED, VERIFIED
from chat.models import Citation
from documents.contents import trail
from documents.files.page_pictures import Dpi, Highlight, PictureFailed, page_picture
from documents.models import Page
from documents.translation import translated
from pdf.geometry import PageFrame


def shown(citation: Citation, frame: PageFrame) -> CitationShown:
    """The citation with its rectangles in display fractions of its page."""
    verdict = citation.verdict
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
        verdict_text=str(Citation.Verdict(verdict).label) if verdict else "",
        missing=tuple(citation.missing),
        reason=translated(citation.reason),
        rects=frame.display_boxes(citation.rects),
        unit_rects=frame.display_boxes(citation.unit_rects),
        head_rects=frame.display_boxes(citation.head_rects),
        durability=citation.durability,
        durability_text=str(Citation.Durability(citation.durability).label),
        matched=citation.matched,
        judged_by=citation.judged_by,
        judgement=citation.judgement,
        feedback=citation.feedback,
        href=reader_link(citation),
        where=citation.where,
    )


def shown_citations(citations: Iterable[Citation]) -> list[CitationShown]:
    """Citations in the given order. One query for the pages' sizes."""
    listed = list(citations)
    frames = Page.objects.frames((citation.document_id, citation.page_number) for citation in listed)
    return [
        shown(citation, frames.get((citation.document_id, citation.page_number), PageFrame(612, 792)))
        for citation in listed
    ]


def reader_link(citation: Citation) -> str:
    """The reader, open at the words: ``/documents/<id>/?page=5&unit=…&citation=…``."""
    if not citation.document_id:
        return ""
    place = {"page": citation.page_number, "unit": citation.unit_id or "", "citation": citation.pk}
    return f"/documents/{citation.document_id}/?{urlencode(place)}"


def summary_of(
    citations: Sequence[CitationShown], claims: Iterable[str], uncited: int, quotes_only: bool = False
) -> Summary:
    """How the claims fared. ``claims[i]`` names the claim of ``citations[i]``; equal names are one claim.

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
        text = quotes_found(len(made), len(verified | found))
    else:
        text = ", ".join(claims_checked(total, len(verified), len(found), len(contradicted)))
    return Summary(total, len(verified), text, changed, changes_of(citations), len(found), len(contradicted))


def claims_checked(total: int, verified: int, found: int, contradicted: int) -> Iterator[str]:
    """``3 of 5 claims verified``, ``2 quotes found``, ``1 contradicted``: those that there are."""
    if total:
        yield ngettext(
            "%(verified)s of %(total)s claim verified", "%(verified)s of %(total)s claims verified", total
        ) % {"verified": verified, "total": total}
    if found:
        yield ngettext("%(found)s quote found", "%(found)s quotes found", found) % {"found": found}
    if contradicted:
        yield gettext("%(number)s contradicted") % {"number": contradicted}


def quotes_found(total: int, found: int) -> str:
    """``3 quotes, all found on the page``."""
    if total < 2:
        alone = gettext("1 quote, found on the page") if found else gettext("1 quote, not found")
        return alone if total else ""
    if found == total:
        return gettext("%(total)s quotes, all found on the page") % {"total": total}
    return gettext("%(total)s quotes, %(found)s found on the page") % {"total": total, "found": found}


def outdated(citations: Iterable[CitationShown]) -> list[CitationShown]:
    return [citation for citation in citations if citation.is_outdated]


def changes_of(citations: Iterable[CitationShown]) -> str:
    """Which citations the documents no longer bear out; '' when there is none."""
    found = outdated(citations)
    if not found:
        return ""
    numbers = ", ".join(f"[{number}]" for number in sorted({citation.number for citation in found}))
    return ngettext(
        "A document has changed since this answer: %(numbers)s rests on words that are no longer there.",
        "A document has changed since this answer: %(numbers)s rest on words that are no longer there.",
        len(found),
    ) % {"numbers": numbers}


# The cited words as a picture, for chats, mails and reports.

# Pale and strong, by a citation's number: the same in static/css/chat.css.
COLOURS = (
    ("#fff3bf", "#ffd43b"),
    ("#dcecfd", "#8fc3fb"),
    ("#dff5e3", "#92deaa"),
    ("#fde3ec", "#fba9c4"),
    ("#ece5fb", "#c5adf7"),
    ("#ffe8d6", "#ffbb85"),
)
CONTRADICTED_COLOURS = ("#ffe8e6", "#ffb3ae")


def colours_of(citation: Citation) -> tuple[str, str]:
    """Those of its number; a contradicted claim has its own, and what was only found stays pale."""
    if citation.verdict in CONTRADICTED:
        return CONTRADICTED_COLOURS
    pale, strong = COLOURS[(citation.number - 1) % len(COLOURS)]
    return (pale, pale) if citation.verdict == Citation.Verdict.FOUND else (pale, strong)


def citation_picture(citation: Citation, *, dpi: Dpi = 144, crop: bool = True) -> bytes:
    """A PNG of the cited page in the citation's colour: the passage pale, the anchor strong.

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
        Highlight(citation.head_rects, pale, underline=strong, framed=False),
        Highlight(citation.rects, strong),
    ]
    return page_picture(found, layers, dpi=dpi, crop=crop)
