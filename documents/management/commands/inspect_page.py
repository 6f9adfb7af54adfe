"""``manage.py inspect_page FILE PAGE``: draw what the parser found on a page. Needs no database."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

from django.core.management.base import BaseCommand, CommandError, CommandParser

from documents.ingestion.parser import parse_limits
from pdf.api import ParseFailure, draw_page
from pdf.structure import Layer


class Command(BaseCommand):
    help = "Draws words, lines, units, tables, furniture, figures and reading order over the page."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("page", type=int, help="from 1")
        parser.add_argument("--out", type=Path, help="the PNG file; FILE-pPAGE.png by default")
        parser.add_argument("--layers", nargs="+", choices=get_args(Layer), default=get_args(Layer))
        parser.add_argument("--password")

    def handle(self, *args: Any, **options: Any) -> None:
        file, page = options["file"], options["page"]
        try:
            picture = draw_page(
                file,
                page,
                tuple(options["layers"]),
                password=options["password"],
                limits=parse_limits(),
            )
        except ParseFailure as failure:
            raise CommandError(f"{file}: {failure.message} ({failure.code})") from None
        out = options["out"] or Path(f"{file.stem}-p{page}.png")
        out.write_bytes(picture)
        self.stdout.write(str(out))
