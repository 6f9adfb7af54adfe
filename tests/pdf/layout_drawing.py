"""Pages drawn at known coordinates, and what the fast engine makes of them."""

from __future__ import annotations

from collections.abc import Sequence

import pymupdf

from pdf.layout.pipeline import read_pages
from pdf.structure import ParsedPage, ParsedUnit

LEFT, TOP, LEADING, SIZE = 72.0, 90.0, 12.0, 10.0


class Drawing:
    """A PDF in the making; each call draws on its last page."""

    def __init__(self, width: float = 595, height: float = 842) -> None:
        self.size = (width, height)
        self.document = pymupdf.open()
        self.new_page()

    def new_page(self) -> None:
        self.page = self.document.new_page(width=self.size[0], height=self.size[1])

    def text(self, x: float, y: float, text: str, size: float = SIZE, font: str = "helv") -> None:
        """One line; (x, y) is where its baseline begins."""
        self.page.insert_text((x, y), text, fontsize=size, fontname=font)

    def lines(
        self,
        texts: Sequence[str],
        x: float = LEFT,
        y: float = TOP,
        leading: float = LEADING,
        size: float = SIZE,
    ) -> float:
        """Lines one below the other; returns the baseline the next would have."""
        for text in texts:
            self.text(x, y, text, size)
            y += leading
        return y

    @staticmethod
    def width_of(text: str, size: float = SIZE, font: str = "helv") -> float:
        return float(pymupdf.get_text_length(text, font, size))

    def rule(self, x0: float, y0: float, x1: float, y1: float) -> None:
        self.page.draw_line((x0, y0), (x1, y1), width=0.5)

    def read(self) -> list[ParsedPage]:
        """The pages as the fast engine reads them, after a trip through a file."""
        document = pymupdf.open("pdf", self.document.tobytes())
        return read_pages(document, range(1, document.page_count + 1))

    def units(self) -> list[ParsedUnit]:
        return [unit for page in self.read() for unit in page.units]


def texts(units: Sequence[ParsedUnit]) -> list[str]:
    return [unit.text for unit in units]


def justified(words: str, width: float, size: float = SIZE, font: str = "helv") -> list[str]:
    """The words broken into lines as a typesetter would: as many as fit."""
    lines: list[str] = []
    for word in words.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and pymupdf.get_text_length(longer, font, size) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


PROSE = (
    "The committee met in the spring and heard the evidence of eleven witnesses over four days. "
    "It found that the records had been kept with care, that the accounts agreed with them, and that "
    "nothing of weight had been left out. It recommends that the practice be continued as it stands."
)
OTHER = (
    "A second body looked into the same matter during the autumn and came to another view. In its "
    "opinion the records were sound but the accounts drawn from them were not, since several entries "
    "had been made twice. It asked for a fresh audit before any further payment was made."
)


def right_to_left(page: pymupdf.Page, x1: float, y: float, text: str, width: float = 300) -> None:
    """One right-to-left line that begins at ``x1``."""
    box = pymupdf.Rect(x1 - width, y, x1, y + 20)
    page.insert_htmlbox(box, f'<p dir="rtl" style="font-size:10px;margin:0">{text}</p>')
