"""``manage.py inspect_page FILE PAGE``: draw what the parser found on a page. Needs no database."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from django.core.management.base import BaseCommand, CommandError, CommandParser
from PIL import Image, ImageDraw

from documents.files.page_pictures import pixels
from documents.ingestion.parser import parse_limits
from pdf.api import ParseFailure, draw_plain_page, parse_file
from pdf.geometry import Rect
from pdf.structure import ParsedPage

LAYERS = ("words", "lines", "units", "tables", "furniture", "figures", "order")
GREY, GREEN, ORANGE, VIOLET, RED = "#999999", "#009933", "#ff8000", "#9900cc", "#d9001a"
UNIT_COLOURS = {
    "prose": "#1a4de6",
    "heading": RED,
    "list": "#008099",
    "table": "#1a991a",
    "caption": "#b36600",
    "footnote": "#808000",
    "code": "#4d4d4d",
    "formula": "#cc0099",
}


class Mark(NamedTuple):
    """A rectangle in page space; ``opacity`` of its inside, 0 to 255."""

    rect: Rect
    colour: str
    label: str = ""
    opacity: int = 0


def marks(page: ParsedPage, layer: str) -> Iterator[Mark]:
    """Yield the rectangles of a layer."""
    match layer:
        case "words":
            yield from (Mark(word.rect, GREY) for word in page.words)
        case "lines":
            yield from (Mark(rect, GREEN, opacity=30) for unit in page.units for rect in unit.rects)
        case "furniture":
            yield from (Mark(rect, ORANGE, opacity=50) for piece in page.furniture for rect in piece.rects)
        case "figures":
            yield from (Mark(one.rect, VIOLET, f"figure {one.caption[:60]}") for one in page.figures)
        case "units":
            for unit in page.units:
                level = "" if unit.level is None else f" {unit.level}"
                yield Mark(unit.bbox, UNIT_COLOURS[unit.type], f"{unit.index} {unit.type}{level}")
        case "tables":
            cells = (cell for unit in page.units if unit.table for cell in unit.table.cells)
            for cell in cells:
                if cell.rect:
                    yield Mark(cell.rect, UNIT_COLOURS["table"], opacity=64 if cell.header else 20)


def drawn(picture: bytes, page: ParsedPage, layers: list[str]) -> Image.Image:
    """Return the picture of the page with the layers over it."""
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    draw = ImageDraw.Draw(image, "RGBA")
    for mark in (mark for layer in layers for mark in marks(page, layer)):
        x0, y0, x1, y1 = pixels(page.frame.to_display(mark.rect), image)
        draw.rectangle((x0, y0, x1, y1), outline=mark.colour, fill=f"{mark.colour}{mark.opacity:02x}")
        draw.text((x0, y0 - 2), mark.label, fill=mark.colour, anchor="ls")
    if "order" in layers:
        boxes = [page.frame.to_display(unit.bbox) for unit in page.units]
        points = [(box.center[0] * image.width, box.center[1] * image.height) for box in boxes]
        draw.line(points, fill=RED, width=2)
        for point in points:
            draw.circle(point, 4, fill=RED)
    return image


class Command(BaseCommand):
    help = "Draws words, lines, units, tables, furniture, figures and reading order over the page."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("page", type=int, help="from 1")
        parser.add_argument("--out", type=Path, help="the PNG file; FILE-pPAGE.png by default")
        parser.add_argument("--layers", nargs="+", choices=LAYERS, default=LAYERS)
        parser.add_argument("--password")

    def handle(self, *args: Any, **options: Any) -> None:
        file, number = options["file"], options["page"]
        reading = {"password": options["password"], "limits": parse_limits()}
        try:
            pages = parse_file(file, pages=[number], **reading).pages
            if not pages:
                raise CommandError(f"{file}: There is no page {number}.")
            picture = draw_plain_page(file, number, **reading)
        except ParseFailure as failure:
            raise CommandError(f"{file}: {failure.message} ({failure.code})") from None
        out = options["out"] or Path(f"{file.stem}-p{number}.png")
        drawn(picture, pages[0], options["layers"]).save(out)
        self.stdout.write(str(out))
