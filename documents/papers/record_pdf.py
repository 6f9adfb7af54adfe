"""The record of a paper as a page of its own: read, searched, cited and lit like any other."""

from __future__ import annotations

from html import escape

import pymupdf

from documents.papers.bibliography import RECORD_SECTIONS, PaperRecord

PAGE = pymupdf.paper_rect("a4")
MARGIN = 72.0
STYLE = """
body { font-family: serif; font-size: 11pt; line-height: 1.4; }
h1 { font-size: 20pt; line-height: 1.2; } h2 { font-size: 13pt; } .from { color: #555; }
"""


def record_sheet(record: PaperRecord) -> bytes:
    """A PDF of one page or more; equal records give equal bytes. All text is escaped."""
    story = pymupdf.Story(html=sheet_html(record), user_css=STYLE)
    frame = pymupdf.Rect(MARGIN, MARGIN, PAGE.width - MARGIN, PAGE.height - MARGIN)
    document = story.write_with_links(lambda number, filled: (PAGE, frame, None))
    document.set_metadata({"title": record.title, "author": "; ".join(record.authors)})
    return bytes(document.tobytes(garbage=3, deflate=True, no_new_id=True))


def sheet_html(record: PaperRecord) -> str:
    names = ", ".join(record.authors)
    place = ", ".join(filter(None, (record.venue, str(record.year or ""))))
    identifier = f"doi:{record.doi}" if record.doi else f"arXiv:{record.arxiv_id}" if record.arxiv_id else ""
    lines = [f"<h1>{escape(record.title)}</h1>"]
    lines += [f'<p class="from">{escape(text)}</p>' for text in (names, place, identifier) if text]
    for heading, text in zip(RECORD_SECTIONS, (record.abstract, record.tldr), strict=True):
        if text:
            paragraphs = "".join(f"<p>{escape(part)}</p>" for part in text.split("\n\n"))
            lines.append(f"<h2>{heading}</h2>{paragraphs}")
    return "".join(lines)
