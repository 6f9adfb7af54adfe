"""``manage.py parse FILE``: what the parser makes of a PDF. Needs no database."""

from __future__ import annotations

import argparse
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from documents.configured import parse_limits
from documents.page_ranges import page_numbers
from documents.pdf.page_json import page_line
from documents.pdf.parsing import PARSER_NAME, ParseFailure, parse_file
from documents.pdf.structure import ParsedPage

# ``ml`` and ``auto`` asked the layout model of PyMuPDF, which was worse than our own engine on every set.
ENGINES = (PARSER_NAME, "ml", "auto")


class Command(BaseCommand):
    help = "Reads a PDF and prints its pages: units in reading order, as text or as a line of JSON a page."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file")
        parser.add_argument("--engine", choices=ENGINES, default=PARSER_NAME, help="kept for old scripts")
        parser.add_argument("--pages", type=_pages, help="3-9 or 1,4-6; all pages where left out")
        parser.add_argument("--password")
        parser.add_argument("--json", action="store_true", help="a line of JSON for each page")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["engine"] != PARSER_NAME:
            self.stderr.write(f"The {options['engine']} engine was removed. Using {PARSER_NAME}.")
        try:
            document = parse_file(
                options["file"],
                pages=options["pages"],
                password=options["password"],
                limits=parse_limits(),
            )
        except ParseFailure as failure:
            raise CommandError(f"{options['file']}: {failure.message} ({failure.code})") from None
        show = page_line if options["json"] else _readable
        for page in document.pages:
            if page.failure:
                self.stderr.write(f"{options['file']}: page {page.number}: {page.failure}")
            self.stdout.write(show(page))


def _pages(text: str) -> list[int]:
    try:
        return page_numbers(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _readable(page: ParsedPage) -> str:
    lines = [f"── page {page.number} ──"]
    lines += [f"{unit.type:9} {unit.line_start:5}  {unit.text}" for unit in page.units]
    return "\n".join(lines)
