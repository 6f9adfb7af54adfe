"""Draw the Pincite handbook, the sample document of a new installation.

Its pages hold common elements: headings of two levels, a two-column page, tables, lists and footers.
"""

from __future__ import annotations

from dataclasses import dataclass

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

PAGES: list[list[Element]] = [
    [
        Heading("What Pincite is for"),
        Prose(
            "Pincite answers questions from your PDFs. Every claim in an answer is numbered; a click on the "
            "number opens the page at the exact words behind it, highlighted. Lawyers call a citation that "
            "names the exact spot a pincite, and that is where the name comes from."
        ),
        Prose(
            "An answer without its source asks you to believe. An answer with a link to a hundred-page "
            "report asks you to search. Pincite asks for neither: it shows the sentence, the table cell or "
            "the footnote, and you judge."
        ),
        Heading("Your first five minutes", 2),
        Bullets(
            (
                "Drop a PDF on the library page. Reading takes about a second for a hundred pages.",
                "Open the document and ask a question in the panel beside it.",
                (
                    "Click a number in the answer. The page scrolls, the passage turns pale, the words turn "
                    "strong."
                ),
                "Press j for the next citation, k for the one before, and ? to see all keys.",
            ),
            numbered=True,
        ),
        Heading("What it does not do", 2),
        Prose(
            "Pincite sends none of your text to anybody by default; it only looks up titles and authors by "
            "the DOI, arXiv number or ISBN of a file. Without a key it answers with sentences taken word "
            "for word from your documents. When you give it a key, or the address of a model of your "
            "own, answers are written by that model and still checked against the page before you see them."
        ),
    ],
    [
        Heading("How a page is read"),
        Prose(
            "A PDF does not hold paragraphs. It holds characters at positions, and often nothing else. "
            "Pincite rebuilds what a person sees, and keeps for each word the place where it stands."
        ),
        TwoColumns(
            left=[
                Heading("Units", 2),
                Prose(
                    "The smallest thing that can be cited is a unit: a paragraph, a heading, a list item, a "
                    "row of a table, a caption, a footnote or a block of code. A unit knows its page, its "
                    "lines and its section."
                ),
                Prose(
                    "Running heads, page numbers and footers are kept as furniture. They belong to the "
                    "page, but they are never cited and never found by a search."
                ),
                Prose(
                    "Text that nobody can see, such as white words on white paper, is counted and left out. "
                    "A document cannot whisper to the model behind your back."
                ),
            ],
            right=[
                Heading("Chunks", 2),
                Prose(
                    "A chunk is what a search finds: two to eight units of one section, about five hundred "
                    "tokens long. Each chunk carries the title of the document and the headings above it."
                ),
                Prose(
                    "A search compares words and meaning at once. The two lists are merged by reciprocal "
                    "rank fusion, so that a passage which is good in both comes first."
                ),
                Prose(
                    "Scanned pages have no text at all. They are recognised on your own machine, and the "
                    "words are laid under the picture so that they can be selected."
                ),
            ],
        ),
        Heading("When a file cannot be read", 2),
        Prose(
            "A damaged page costs that page, not the document. A file that needs a password, has no pages, "
            "or takes too long to read ends with a reason in plain words and a button to try again."
        ),
    ],
    [
        Heading("How a citation is checked"),
        Prose(
            "Before an answer is shown, each of its claims is compared with the passage it cites: its "
            "numbers and their units, its names, who does what, and words such as not, unless, at most and "
            "may. Three words say what came of it."
        ),
        HandbookTable(
            "Table 1. The three verdicts of a citation",
            (0.2, 0.5, 0.3),
            (
                ("Verdict", "What it means", "What you see"),
                (
                    "verified",
                    "The page says all of it: in these words, in other words, or by a computation.",
                    "a green number",
                ),
                ("found", "The words are there; the claim was not judged.", "a pale, dotted number"),
                (
                    "differs",
                    "The page says something else, and both are shown; or the quoted words are not there.",
                    "an amber number",
                ),
            ),
        ),
        Prose(
            "Sentences that claim something but cite nothing are underlined. A claim that differs is never "
            "hidden: you should know what the model made up."
        ),
        Heading("Keyboard", 2),
        HandbookTable(
            "Table 2. Keys in the reader",
            (0.25, 0.75),
            (
                ("Key", "Action"),
                ("j", "next citation"),
                ("k", "previous citation"),
                ("a", "put the cursor in the question field"),
                ("/", "find words in the document"),
                ("y, n", "mark the citation right or wrong"),
                ("?", "all keys"),
            ),
        ),
    ],
    [
        Heading("Your data"),
        Prose(
            "Documents belong to the person who uploaded them. Nobody else can open, search or cite them "
            "unless the owner shares the document or a collection that holds it. A deleted document "
            "can be restored from the bin for 7 days; then its file, its text and its vectors are removed. "
            "Citations in old answers keep the quoted words."
        ),
        Heading("Backup and restore", 2),
        Prose(
            "One command writes the database and all files into a folder, with checksums: manage.py backup "
            "DIR. Another one brings them back on any machine: manage.py restore DIR. Practise it before "
            "you need it."
        ),
        Heading("Limits", 2),
        Bullets(
            (
                "A file may have 200 megabytes and 5,000 pages unless your administrator says otherwise.",
                "Reading a file may take 20 seconds, and a fifth of a second more for each page.",
                "A document that brings its reader down is tried twice, and then marked as failed.",
            )
        ),
        Heading("Where to go next", 2),
        Prose(
            "Try one of the questions in the panel. Then upload something you know well, and ask it "
            "something you already know the answer to: that is the quickest way to learn how far you can "
            "trust any tool, this one included."
        ),
    ],
]


WIDTH, HEIGHT = 595.0, 842.0  # A4
LEFT, RIGHT, TOP, BOTTOM = 72.0, WIDTH - 72.0, 84.0, HEIGHT - 84.0
GUTTER = 24.0
BODY, LEADING = 10.5, 15.0
INK, ACCENT, PALE, GREY = (0.13, 0.15, 0.19), (0.08, 0.33, 0.42), (0.92, 0.96, 0.96), (0.45, 0.48, 0.52)
ROMAN, BOLD, SERIF = "helv", "hebo", "tibo"
FONTS = {name: pymupdf.Font(name) for name in (ROMAN, BOLD, SERIF)}


def draw_handbook() -> bytes:
    """Return the PDF. The bytes are the same on every call, so the library stores it once."""
    document = pymupdf.open()
    for number, elements in enumerate(PAGES, 1):
        page = document.new_page(width=WIDTH, height=HEIGHT)
        draw(page, elements, LEFT, RIGHT, draw_title(page) if number == 1 else TOP)
        draw_footer(page, number)
    document.set_metadata({"title": TITLE, "author": "The Pincite authors"})
    document.set_toc(
        [[1, element.text, number] for number, page in enumerate(PAGES, 1) for element in headings(page)]
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


def draw_footer(page: pymupdf.Page, number: int) -> None:
    page.draw_line((LEFT, HEIGHT - 56), (RIGHT, HEIGHT - 56), color=GREY, width=0.4)
    page.insert_text((LEFT, HEIGHT - 42), TITLE, fontname=ROMAN, fontsize=8, color=GREY)
    label = f"{number} / {len(PAGES)}"
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
