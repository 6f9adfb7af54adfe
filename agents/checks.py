"""Claims and quotes checked against what is not in the library: a text, or a file that is not kept."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from django.core.files.base import File

from agents.evidence import VERIFIED_AGAINST, Refused, differences_of, preference
from agents.results import LocatedText, VerifiedText, part
from chat.citations.anchoring.page_sources import FilePages, find_in_file
from chat.citations.claim_spans import terms_of
from chat.citations.claims import VERIFIED, Claim, SourceUnit, Verification
from chat.citations.verification.batch import page_units, passage_units
from chat.citations.verification.verify import verify
from documents.files.uploads import Infected, NotScanned, scan
from documents.ingestion.parser import parse_limits
from pdf.api import ParseFailure, parse_file
from pdf.geometry import PageFrame

MOST_PAGES = 60  # of a file that is read while the caller waits
TOO_LONG = (
    "This file has {pages} pages; {most} can be checked at once. Add it to the library, which reads it "
    "in the background, and check against the document."
)


class Checker:
    """Verifies claims against the units of one text or file."""

    def __init__(self, units: Sequence[SourceUnit], frames: dict[int, PageFrame]) -> None:
        self._units = [(unit, terms_of(unit.text)) for unit in units]
        self._frames = frames

    @classmethod
    def of_text(cls, text: str, language: str = "", title: str = "") -> Checker:
        """Over a text in Markdown. Raises Refused for one without words."""
        units = passage_units(text, language, title)
        if not units:
            raise Refused("The text is empty.")
        return cls(units, {})

    @classmethod
    def of_file(cls, file: File, title: str = "") -> Checker:
        """Over a PDF. Raises Refused for what cannot be read, or not while the caller waits."""
        with kept_for_now(file) as path:
            try:
                parsed = parse_file(path, limits=parse_limits(), pages=range(1, MOST_PAGES + 1))
            except ParseFailure as failure:
                raise Refused(failure.message) from None
        if parsed.page_count > MOST_PAGES:
            raise Refused(TOO_LONG.format(pages=parsed.page_count, most=MOST_PAGES))
        units = [unit for page in parsed.pages for unit in page_units(page, "file", title)]
        if not units:
            raise Refused("No words were found in this file.")
        return cls(units, {page.number: page.frame for page in parsed.pages})

    def verify(self, claim: str, quote: str = "", page: int | None = None) -> VerifiedText:
        """The verdict by the units that share most words with the claim and its quote."""
        said = terms_of(f"{claim} {quote}")
        near = [(unit, terms) for unit, terms in self._units if page in (None, unit.page)]
        if not near:
            raise Refused(f"There are no words on page {page}.")
        near.sort(key=lambda pair: -len(said & pair[1]))
        made = Claim(claim, quote)
        verified = (verify(made, unit, self._beside(unit)) for unit, _ in near[:VERIFIED_AGAINST])
        return self._result(min(verified, key=preference))

    def _beside(self, unit: SourceUnit) -> list[SourceUnit]:
        return [other for other, _ in self._units if other.page == unit.page and other is not unit]

    def _result(self, found: Verification) -> VerifiedText:
        frame = self._frames.get(found.page)
        return VerifiedText(
            verified=found.verdict in VERIFIED,
            verdict=found.verdict,
            reason=found.reason,
            differences=differences_of(found),
            missing=list(found.missing),
            quote=found.quote,
            page=found.page if frame else None,
            rects=part(found.page, frame, found.rects).rects if frame else [],
            char_start=found.char_start,
            char_end=found.char_end,
        )


def locate_in_file(file: File, quotes: Sequence[tuple[str, str]]) -> list[LocatedText]:
    """Where each (quote, context) stands in a PDF. Raises Refused."""
    with kept_for_now(file) as path:
        pages = FilePages(path)
        try:
            count = len(pages.printed)
        except ParseFailure as failure:
            raise Refused(failure.message) from None
        if count > MOST_PAGES:
            raise Refused(TOO_LONG.format(pages=count, most=MOST_PAGES))
        return [_located(pages, quote, context) for quote, context in quotes]


def _located(pages: FilePages, quote: str, context: str) -> LocatedText:
    anchor = find_in_file(pages, quote, context)
    if anchor is None:
        return LocatedText(verdict="none", text="", parts=[])
    parts = [part(found.page.number, found.page.frame, found.rects) for found in anchor.parts]
    return LocatedText(verdict=anchor.verdict, text=anchor.text, parts=parts)


@contextmanager
def kept_for_now(file: File) -> Iterator[Path]:
    """The file on disk while it is read; scanned for viruses first, where that is set. Raises Refused."""
    try:
        scan(file)
    except (Infected, NotScanned) as refused:
        raise Refused(str(refused)) from None
    with tempfile.NamedTemporaryFile(suffix=".pdf") as kept:
        for piece in file.chunks():
            kept.write(piece)
        kept.flush()
        yield Path(kept.name)
