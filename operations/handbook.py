"""Draw the Pincite handbook, the sample document of a new installation.

Its pages hold common elements: headings of two levels, a two-column page, tables, lists and footers.
"""

from __future__ import annotations

import re
from pathlib import Path

import pymupdf
from markdown_it import MarkdownIt

TITLE = "The Pincite Handbook"
SUBTITLE = "Answers from your PDFs, each claim linked to the exact words behind it"
SUGGESTED_QUESTIONS = [
    "What happens when a document is deleted?",
    "What is a chunk?",
    "How large may a file be?",
    "Which key leads to the next citation?",
]
PAGE = pymupdf.paper_rect("a4")
TEXT = pymupdf.Rect(72, 84, PAGE.width - 72, PAGE.height - 84)  # points
BELOW_TITLE = 196.0
GUTTER = 24.0
ACCENT, GREY = (0.08, 0.33, 0.42), (0.45, 0.48, 0.52)
STYLE = """
body { font-family: sans-serif; font-size: 10.5pt; line-height: 1.4; color: #21262f; }
p, ul, ol { margin: 0 0 8pt; } li { margin-bottom: 3pt; } ul, ol { padding-left: 20pt; }
h1, h2 { color: #14546b; } h1 { font-size: 18pt; margin: 0 0 8pt; }
h2 { font-size: 13pt; margin: 10pt 0 6pt; }
table { font-size: 9.5pt; margin-bottom: 12pt; } th { background-color: #ebf5f5; text-align: left; }
th, td { padding: 3pt 6pt; border-bottom: 0.4pt solid #737a85; }
"""


def draw_handbook() -> bytes:
    """Return the PDF. The bytes are the same on every call, so the library stores it once."""
    text = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8")
    document, texts = pymupdf.open(), text.split("\n---\n")
    for number, written in enumerate(texts, 1):
        page = document.new_page(width=PAGE.width, height=PAGE.height)
        top = draw_title(page) if number == 1 else TEXT.y0
        draw(page, written, top)
        draw_footer(page, f"{number} / {len(texts)}")
    document.set_metadata({"title": TITLE, "author": "The Pincite authors"})
    headings = [(number, re.search("^# (.+)$", written, re.M)) for number, written in enumerate(texts, 1)]
    document.set_toc([[1, found[1], number] for number, found in headings if found])
    document.subset_fonts()
    return bytes(document.tobytes(garbage=3, deflate=True, no_new_id=True))


def draw(page: pymupdf.Page, text: str, top: float) -> None:
    """Draw Markdown from ``top`` downwards; ``[left]``, ``[right]`` and ``[both]`` stand around columns."""
    whole, *columns = re.split(r"\n\[(?:left|right|both)\]\n", text)
    bottom = place(page, whole, pymupdf.Rect(TEXT.x0, top, TEXT.x1, TEXT.y1))
    if columns:
        left, right, below = columns
        middle = (TEXT.x0 + TEXT.x1) / 2
        ends = [
            place(page, left, pymupdf.Rect(TEXT.x0, bottom, middle - GUTTER / 2, TEXT.y1)),
            place(page, right, pymupdf.Rect(middle + GUTTER / 2, bottom, TEXT.x1, TEXT.y1)),
        ]
        place(page, below, pymupdf.Rect(TEXT.x0, max(ends), TEXT.x1, TEXT.y1))


def place(page: pymupdf.Page, text: str, inside: pymupdf.Rect) -> float:
    """Draw the text; return its bottom. Raises ValueError where it does not fit."""
    html = MarkdownIt("commonmark").enable("table").render(text)
    height, _scale = page.insert_htmlbox(inside, html, css=STYLE, scale_low=1)
    if height < 0:
        raise ValueError(f"page {page.number + 1} of the handbook is too long")
    return inside.y1 - height


def draw_title(page: pymupdf.Page) -> float:
    page.draw_rect(pymupdf.Rect(0, 0, PAGE.width, 150), color=None, fill=ACCENT)
    page.insert_text((TEXT.x0, 92), TITLE, fontname="tibo", fontsize=30, color=(1, 1, 1))
    page.insert_text((TEXT.x0, 118), SUBTITLE, fontsize=12, color=(0.92, 0.96, 0.96))
    return BELOW_TITLE


def draw_footer(page: pymupdf.Page, label: str) -> None:
    line, baseline = PAGE.height - 56, PAGE.height - 42
    page.draw_line((TEXT.x0, line), (TEXT.x1, line), color=GREY, width=0.4)
    page.insert_text((TEXT.x0, baseline), TITLE, fontsize=8, color=GREY)
    x = TEXT.x1 - pymupdf.get_text_length(label, fontsize=8)
    page.insert_text((x, baseline), label, fontsize=8, color=GREY)
