"""Tables whose cells are filled one by one, without rulings between the columns."""

from __future__ import annotations

from itertools import pairwise

import pymupdf

from tests.pdf.layout_drawing import OTHER, Drawing, justified
from tests.pdf.tables.test_tables import cells, rows_of

FORMATS = [
    ("Name", "Born", "Used for", "Tools"),
    ("Tar", "1979", "tapes of folders", "tar"),
    ("Zip", "1989", "files and folders", "zip, unzip"),
    ("Compress", "1985", "single files", "compress"),
    ("Bzip2", "1996", "texts that are long", "bzip2"),
]
PADDING, HEIGHT = 4.0, 22.0


def slide(drawing: Drawing, filled: range) -> None:
    """Draw the rows as presentation programs do: the longest text of a column nearly touches the next one."""
    widths = [
        max(pymupdf.get_text_length(text, fontsize=10) for text in column)
        for column in zip(*FORMATS, strict=True)
    ]
    edges = [72 + sum(widths[:n]) + 2 * PADDING * n for n in range(len(widths) + 1)]
    for n, row in enumerate(FORMATS):
        y = 200 + HEIGHT * n
        for (x0, x1), text in zip(pairwise(edges), row, strict=True):
            if n in filled:
                drawing.page.draw_rect((x0, y, x1, y + HEIGHT), color=None, fill=(0.8, 0.9, 1))
            drawing.text(x0 + PADDING, y + 15, text)


def test_cells_filled_in_every_other_row_show_the_columns_of_all() -> None:
    drawing = Drawing()
    drawing.lines(justified(OTHER, 430))
    slide(drawing, range(0, 5, 2))
    assert [tuple(cells(row)) for row in rows_of(drawing.units())] == FORMATS


def test_a_last_row_that_is_not_filled_belongs_to_the_table() -> None:
    drawing = Drawing()
    drawing.lines(justified(OTHER, 430))
    slide(drawing, range(4))
    assert [tuple(cells(row)) for row in rows_of(drawing.units())] == FORMATS


def test_a_caption_below_filled_cells_is_no_row() -> None:
    drawing = Drawing()
    slide(drawing, range(5))
    drawing.text(120, 200 + HEIGHT * 5 + 14, "Table 3: Formats that are still in use today", size=9)
    assert [tuple(cells(row)) for row in rows_of(drawing.units())] == FORMATS


def test_words_that_are_shaded_are_no_cells() -> None:
    drawing = Drawing()
    for y in (200.0, 214.0):
        for x, width in ((72.0, 40.0), (112.0, 70.0)):
            drawing.page.draw_rect((x, y - 9, x + width, y + 3), color=None, fill=(0.9, 0.9, 0.7))
        drawing.text(72, y, "marked")
        drawing.text(112, y, "and a second")
    assert rows_of(drawing.units()) == []
