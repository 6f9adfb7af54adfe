"""Draw the Pincite handbook, the sample document of a new installation.

Its pages hold common elements: headings of two levels, a two-column page, tables, lists and footers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pymupdf

TITLE = "The Pincite Handbook"
SUGGESTED_QUESTIONS = [
    "What happens when a document is deleted?",
    "What is a chunk?",
    "How large may a file be?",
    "Which key leads to the next citation?",
]


@dataclass(frozen=True, slots=True)
class Heading:
    text: str
    level: int = 1


@dataclass(frozen=True, slots=True)
class Prose:
    text: str


@dataclass(frozen=True, slots=True)
class Bullets:
    items: tuple[str, ...]
    numbered: bool = False


@dataclass(frozen=True, slots=True)
class HandbookTable:
    """``rows[0]`` are the column headers; ``shares`` are fractions of the width."""

    caption: str
    shares: tuple[float, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class TwoColumns:
    left: list[Element]
    right: list[Element]


Element = Heading | Prose | Bullets | HandbookTable | TwoColumns


def pages() -> list[list[Element]]:
    """Read the pages of ``handbook.txt``.

    Blocks have an empty line between them: headings and lists of Markdown, paragraphs, tables that begin with
    their caption and shares, and ``[left]``, ``[right]`` and ``[both]`` around columns.
    """
    text = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8")
    return [elements_of(page.strip().split("\n\n")) for page in text.split("\n---\n")]


def elements_of(blocks: list[str]) -> list[Element]:
    if "[left]" in blocks:
        left, right, both = map(blocks.index, ("[left]", "[right]", "[both]"))
        columns = TwoColumns(elements_of(blocks[left + 1 : right]), elements_of(blocks[right + 1 : both]))
        return [*map(element_of, blocks[:left]), columns, *map(element_of, blocks[both + 1 :])]
    return [element_of(block) for block in blocks]


def element_of(block: str) -> Element:
    if block.startswith("#"):
        marks, text = block.split(" ", 1)
        return Heading(text, len(marks))
    if block.startswith("|"):
        (caption, *shares), *rows = (tuple(line.strip("| ").split(" | ")) for line in block.split("\n"))
        return HandbookTable(caption, tuple(map(float, shares)), tuple(rows))
    if block.startswith(("- ", "1. ")):
        items = re.split(r"\n(?! )", block)
        return Bullets(tuple(" ".join(item.split()[1:]) for item in items), block.startswith("1"))
    return Prose(" ".join(block.split()))


WIDTH, HEIGHT = 595.0, 842.0  # A4
LEFT, RIGHT, TOP, BOTTOM = 72.0, WIDTH - 72.0, 84.0, HEIGHT - 84.0
GUTTER = 24.0
BODY, LEADING = 10.5, 15.0
INK, ACCENT, PALE, GREY = (0.13, 0.15, 0.19), (0.08, 0.33, 0.42), (0.92, 0.96, 0.96), (0.45, 0.48, 0.52)
ROMAN, BOLD, SERIF = "helv", "hebo", "tibo"
FONTS = {name: pymupdf.Font(name) for name in (ROMAN, BOLD, SERIF)}


def draw_handbook() -> bytes:
    """Return the PDF. The bytes are the same on every call, so the library stores it once."""
    document, drawn = pymupdf.open(), pages()
    for number, elements in enumerate(drawn, 1):
        page = document.new_page(width=WIDTH, height=HEIGHT)
        draw(page, elements, LEFT, RIGHT, draw_title(page) if number == 1 else TOP)
        draw_footer(page, f"{number} / {len(drawn)}")
    document.set_metadata({"title": TITLE, "author": "The Pincite authors"})
    document.set_toc(
        [[1, element.text, number] for number, page in enumerate(drawn, 1) for element in headings(page)]
    )
    return bytes(document.tobytes(garbage=3, deflate=True, no_new_id=True))


def headings(elements: list[Element]) -> list[Heading]:
    return [element for element in elements if isinstance(element, Heading) and element.level == 1]


def draw_title(page: pymupdf.Page) -> float:
    page.draw_rect(pymupdf.Rect(0, 0, WIDTH, 150), color=None, fill=ACCENT)
    page.insert_text((LEFT, 92), TITLE, fontname=SERIF, fontsize=30, color=(1, 1, 1))
    line = "Answers from your PDFs, each claim linked to the exact words behind it"
    page.insert_text((LEFT, 118), line, fontname=ROMAN, fontsize=12, color=PALE)
    return 196.0


def draw_footer(page: pymupdf.Page, label: str) -> None:
    page.draw_line((LEFT, HEIGHT - 56), (RIGHT, HEIGHT - 56), color=GREY, width=0.4)
    page.insert_text((LEFT, HEIGHT - 42), TITLE, fontname=ROMAN, fontsize=8, color=GREY)
    x = RIGHT - FONTS[ROMAN].text_length(label, 8)
    page.insert_text((x, HEIGHT - 42), label, fontname=ROMAN, fontsize=8, color=GREY)


def draw(page: pymupdf.Page, elements: list[Element], left: float, right: float, y: float) -> float:
    """Draw the elements from ``y`` downwards (points from the top). Return the bottom of the last."""
    for element in elements:
        if isinstance(element, Heading):
            y = draw_heading(page, element, left, y)
        elif isinstance(element, Prose):
            y = draw_text(page, element.text, left, right, y) + 8
        elif isinstance(element, Bullets):
            y = draw_bullets(page, element, left, right, y)
        elif isinstance(element, HandbookTable):
            y = draw_table(page, element, left, right, y)
        else:
            y = draw_columns(page, element, left, right, y)
    if y > BOTTOM + LEADING:
        raise ValueError(f"page {page.number + 1} of the handbook runs over by {y - BOTTOM:.0f} pt")
    return y


def draw_heading(page: pymupdf.Page, heading: Heading, left: float, y: float) -> float:
    size = 18.0 if heading.level == 1 else 13.0
    y += 10 if heading.level == 1 else 8
    page.insert_text((left, y + size * 0.7), heading.text, fontname=BOLD, fontsize=size, color=ACCENT)
    return y + size + 10


def draw_text(
    page: pymupdf.Page, text: str, left: float, right: float, y: float, font: str = ROMAN, size: float = BODY
) -> float:
    """Draw a paragraph, ragged right; ``y`` is the top of its first line. Return the bottom of its last."""
    for line in broken(text, right - left, font, size):
        page.insert_text((left, y + size), line, fontname=font, fontsize=size, color=INK)
        y += LEADING
    return y


def broken(text: str, width: float, font: str, size: float) -> list[str]:
    """Break the text into lines of at most ``width`` points."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if FONTS[font].text_length(longer, size) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def draw_bullets(page: pymupdf.Page, bullets: Bullets, left: float, right: float, y: float) -> float:
    for number, item in enumerate(bullets.items, 1):
        marker = f"{number}." if bullets.numbered else "\u2022"
        page.insert_text((left + 6, y + BODY), marker, fontname=ROMAN, fontsize=BODY, color=ACCENT)
        y = draw_text(page, item, left + 24, right, y) + 3
    return y + 6


def draw_table(page: pymupdf.Page, table: HandbookTable, left: float, right: float, y: float) -> float:
    """Draw a caption, a tinted header row, and rows separated by hairlines. Return the bottom."""
    y = draw_text(page, table.caption, left, right, y, BOLD, 9.5) + 4
    edges = [left]
    for share in table.shares:
        edges.append(edges[-1] + share * (right - left))
    for number, row in enumerate(table.rows):
        height = LEADING * max(len(broken(cell, width, ROMAN, 9.5)) for cell, width in cells(row, edges)) + 8
        if number == 0:
            page.draw_rect(pymupdf.Rect(left, y, right, y + height), color=None, fill=PALE)
        for cell, edge in zip(row, edges, strict=False):
            width = edges[edges.index(edge) + 1] - edge
            draw_text(page, cell, edge + 6, edge + width - 6, y + 3, BOLD if number == 0 else ROMAN, 9.5)
        y += height
        page.draw_line((left, y), (right, y), color=GREY, width=0.4)
    return y + 14


def cells(row: tuple[str, ...], edges: list[float]) -> list[tuple[str, float]]:
    """Return each cell's text and its inner width in points."""
    return [(text, edges[index + 1] - edges[index] - 12) for index, text in enumerate(row)]


def draw_columns(page: pymupdf.Page, columns: TwoColumns, left: float, right: float, y: float) -> float:
    middle = (left + right) / 2
    ends = [
        draw(page, columns.left, left, middle - GUTTER / 2, y),
        draw(page, columns.right, middle + GUTTER / 2, right, y),
    ]
    return max(ends) + 6
