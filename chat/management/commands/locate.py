"""``manage.py locate FILE|DOCUMENT QUOTE``: find quoted words. With a FILE it needs no database."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
from django.core.management.base import BaseCommand, CommandError, CommandParser

from chat.citations.stored_pages import locate
from citing.anchoring.file_pages import FilePages, find_in_file
from citing.anchoring.find_quote import Anchor
from documents.ingestion.parser import parse_limits
from pdf.api import ParseFailure


class QuoteCase(msgspec.Struct, frozen=True):
    """A line of a batch. ``pdf`` is a path below the root."""

    id: str
    pdf: str
    quote: str
    context: str = ""


class QuoteLocation(msgspec.Struct, frozen=True):
    """The location of a quote. ``page`` is 1-based; ``rects`` are display fractions of that page."""

    page: int | None
    rects: list[list[float]]
    verdict: str
    text: str


NOWHERE = QuoteLocation(None, [], "unsupported", "")


class Command(BaseCommand):
    help = "Finds quoted words in a PDF file or a stored document and prints their page and rectangles."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("source", nargs="?", metavar="FILE|DOCUMENT")
        parser.add_argument("quote", nargs="?")
        parser.add_argument("--context", default="", help="the sentence, row or column heads around it")
        parser.add_argument("--batch", type=argparse.FileType("rb"), help='lines of {"id","pdf","quote"}')
        parser.add_argument("--root", type=Path, default=Path(), help="base folder of the paths in a batch")
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["batch"]:
            cases = [msgspec.json.decode(line, type=QuoteCase) for line in options["batch"] if line.strip()]
            self._locate_all(cases, options["root"])
        elif options["source"] is None or options["quote"] is None:
            raise CommandError("Give a FILE or DOCUMENT and a QUOTE, or --batch.")
        else:
            self._locate_one(options["source"], options["quote"], options["context"], options["json"])

    def _locate_one(self, source: str, quote: str, context: str, as_json: bool) -> None:
        try:
            located = _located(source, quote, context)
        except ParseFailure as failure:
            raise CommandError(f"{source}: {failure.message} ({failure.code})") from None
        self.stdout.write(msgspec.json.encode(located).decode() if as_json else _sentence(located))

    def _locate_all(self, cases: list[QuoteCase], root: Path) -> None:
        """Print a line for each case, grouped by file, so that each file is read once."""
        for pdf, same_file in groupby(sorted(cases, key=lambda case: case.pdf), lambda case: case.pdf):
            for case, located in self._locate_in_file(root / pdf, list(same_file)):
                self.stdout.write(json.dumps({"id": case.id, **msgspec.to_builtins(located)}))

    def _locate_in_file(
        self, path: Path, cases: list[QuoteCase]
    ) -> Iterator[tuple[QuoteCase, QuoteLocation]]:
        pages = FilePages(path, parse_limits())
        try:
            _ = pages.printed
        except ParseFailure as failure:
            self.stderr.write(f"{path}: {failure.message} ({failure.code})")
            yield from ((case, NOWHERE) for case in cases)
            return
        for case in cases:
            try:
                located = found(find_in_file(pages, case.quote, case.context))
            except Exception as error:  # any: one bad case must not end the batch
                self.stderr.write(f"{path}: {case.id}: {type(error).__name__}: {error}")
                located = NOWHERE
            yield case, located


def found(anchor: Anchor | None) -> QuoteLocation:
    """Convert an anchor for output."""
    if anchor is None:
        return NOWHERE
    part = anchor.parts[0]
    rects = [[round(x, 5) for x in part.page.frame.to_display(rect)] for rect in part.rects]
    return QuoteLocation(part.page.number, rects, anchor.verdict, anchor.text)


def _located(source: str, quote: str, context: str) -> QuoteLocation:
    if Path(source).is_file():
        return found(find_in_file(FilePages(source, parse_limits()), quote, context))
    try:
        return found(locate(UUID(source), quote, context))
    except ValueError:
        raise CommandError(f"{source} is neither a file nor a document id.") from None


def _sentence(located: QuoteLocation) -> str:
    if located.page is None:
        return "not found"
    return f"page {located.page} · {located.verdict} · {len(located.rects)} line(s) · {located.text}"
