"""Kinds of pages that others' files have, each drawn in two ways: other words, sizes and geometry."""

from __future__ import annotations

from collections.abc import Sequence

import pymupdf
import pytest

from pdf.layout.pipeline import read_pages
from tests.pdf.layout_drawing import Drawing, justified, texts
from tests.pdf.tables.test_tables import cells, rows_of

# --- Type 3 fonts whose nominal size is not that of their glyphs ---

TYPE3 = [
    [["Ki", "lns"], ["w", "ere"], ["fi", "red"], ["twice"]],
    [["Gla", "ze"], ["h", "olds"], ["at"], ["1280"]],
]


def type3_page(matrix: float, size: float, box: str, unit: float) -> pymupdf.Document:
    """Two lines in a font of rectangles, ``unit`` of its units an em; each part of a word is kerned back."""
    document = pymupdf.open()
    page = document.new_page(width=400, height=200)
    letters = sorted({letter for line in TYPE3 for word in line for part in word for letter in part})

    def new(source: str, stream: str | None = None) -> int:
        number = document.get_new_xref()
        document.update_object(number, source)
        if stream is not None:
            document.update_stream(number, stream.encode())
        return int(number)

    glyphs = {
        c: new("<<>>", f"{unit / 2} 0 0 0 {unit * 0.45} {unit / 2} d1 0 0 {unit * 0.4} {unit / 2} re f")
        for c in letters
    }
    codes = "\n".join(f"<{ord(c):02x}> <{ord(c):04x}>" for c in letters)
    to_unicode = new(
        "<<>>",
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def 1 begincodespacerange "
        f"<00> <ff> endcodespacerange {len(letters)} beginbfchar\n{codes}\nendbfchar endcmap end end",
    )
    names = " ".join(f"{ord(c)} /g{ord(c)}" for c in letters)
    procedures = " ".join(f"/g{ord(c)} {number} 0 R" for c, number in glyphs.items())
    font = new(
        f"<</Type/Font/Subtype/Type3/FontMatrix[{matrix} 0 0 {matrix} 0 0]/FontBBox[{box}]"
        f"/FirstChar 0/LastChar 255/Widths[{' '.join([str(unit / 2)] * 256)}]"
        f"/Encoding<</Type/Encoding/Differences[{names}]>>"
        f"/CharProcs<<{procedures}>>/ToUnicode {to_unicode} 0 R>>"
    )
    em, shown = size * matrix * unit, []
    for n, line in enumerate(TYPE3):
        x = 50.0
        for word in line:
            for part in word:
                shown.append(f"1 0 0 1 {x:.3f} {150 - 18 * n} Tm ({part}) Tj")
                x += len(part) * em / 2 - 0.3
            x += 0.28 * em + 0.3
    content = new("<<>>", f"BT /T3 {size} Tf {' '.join(shown)} ET")
    document.xref_set_key(page.xref, "Contents", f"{content} 0 R")
    document.xref_set_key(page.xref, "Resources", f"<</Font<</T3 {font} 0 R>>>>")
    return pymupdf.open("pdf", document.tobytes())


@pytest.mark.parametrize(
    ("matrix", "size", "box", "unit"),
    [(1, 0.24, "0 0 60 60", 50), (0.01, 1, "0 0 0 0", 1000), (1, 0.3, "0 0 0 0", 30)],
)
def test_words_in_type3_fonts_are_whole_whatever_their_nominal_size(
    matrix: float, size: float, box: str, unit: float
) -> None:
    (page,) = read_pages(type3_page(matrix, size, box, unit), [1])
    assert [unit.text for unit in page.units] == ["Kilns were fired twice Glaze holds at 1280"]
    assert {unit.type for unit in page.units} == {"prose"}


# --- Items in one frame below boxed heads ---


def framed(
    xs: Sequence[float], heads: Sequence[str], rows: Sequence[Sequence[str]], leading: float
) -> Drawing:
    """Heads in boxes, and all rows in one frame below, with uprights between the columns."""
    page = Drawing()
    bottom = 124 + leading * (len(rows) + 0.5)
    for y in (100, 120, bottom):
        page.rule(xs[0], y, xs[-1], y)
    for x in xs:
        page.rule(x, 100, x, bottom)
    for n, row in enumerate([heads, *rows]):
        y = 114 if n == 0 else 120 + leading * n
        for x0, x1, text in zip(xs, xs[1:], row, strict=False):
            x = x0 + 5 if x0 == xs[0] else x1 - 5 - page.width_of(text)
            page.text(x, y, text)
    return page


@pytest.mark.parametrize(
    ("xs", "heads", "rows", "leading"),
    [
        (
            (60, 260, 330, 430, 530),
            ("Service", "Hours", "Rate", "Amount"),
            [
                ("Survey of the roof", "4", "35.00 USD", "140.00 USD"),
                ("Report", "2", "40.00 USD", "80.00 USD"),
                ("Travel", "1", "18.50 USD", "18.50 USD"),
                ("", "", "Total", "238.50 USD"),
            ],
            18,
        ),
        (
            (50, 300, 400, 545),
            ("Vare", "Antal", "Pris"),
            [
                ("Forhjul", "2", "4 980,00 kr"),
                ("Kæde", "1", "790,00 kr"),
                ("Montering", "3", "1 200,00 kr"),
            ],
            30,
        ),
    ],
)
def test_items_in_one_frame_are_rows(
    xs: Sequence[float], heads: Sequence[str], rows: Sequence[Sequence[str]], leading: float
) -> None:
    found = [cells(row) for row in rows_of(framed(xs, heads, rows, leading).units())]
    assert found == [[text for text in row if text] for row in (heads, *rows)]


# --- A column of numbers right before a column of texts ---


BOLTS = [("A1", "3", "Bolt, long", "0.40"), ("A2", "250", "Washer", "0.02"), ("A3", "16", "Hinge", "1.75")]
CHAIRS = [("7", "8", "Stuhl", "49,00"), ("8", "12", "Tisch", "120,00"), ("9", "140", "Schraube", "0,10")]


@pytest.mark.parametrize(("edge", "gap", "size", "items"), [(140, 6, 9, BOLTS), (190, 9, 11, CHAIRS)])
def test_numbers_right_before_texts_are_a_column_of_their_own(
    edge: float, gap: float, size: float, items: list[tuple[str, ...]]
) -> None:
    page = Drawing()
    for n, (item, count, name, price) in enumerate([("Item", "Qty", "Name", "Price"), *items]):
        y = 100 + 2 * size * n
        page.text(60, y, item, size)
        page.text(edge - page.width_of(count, size), y, count, size)
        page.text(edge + gap, y, name, size)
        page.text(400 - page.width_of(price, size), y, price, size)
    assert [cells(row) for row in rows_of(page.units())] == [
        ["Item", "Qty", "Name", "Price"],
        *map(list, items),
    ]


def test_a_period_below_a_description_of_several_lines_is_part_of_it() -> None:
    page = Drawing()
    for n, (item, name, price) in enumerate(
        [("1", "Mailbox", "3.89"), ("2", "Archive", "5.39"), ("3", "Domain", "1.10")]
    ):
        y = 100 + 60 * n
        page.text(60, y, item)
        page.text(500 - page.width_of(price), y, price)
        page.lines([name, "fee for each unit", "01.05.31-31.05.31"], x=120, y=y, leading=12)
    assert cells(rows_of(page.units())[1]) == ["2", "Archive fee for each unit 01.05.31-31.05.31", "5.39"]


# --- Pairs of columns one below the other, each below a heading at the left margin ---


def bands(
    size: float, width: float, right: float, heads: Sequence[str], gap: float
) -> tuple[Drawing, list[str]]:
    """Below each head two texts side by side; the whole texts in reading order."""
    page, expected, y = Drawing(), list[str](), 80.0
    for n, head in enumerate(heads):
        page.text(60, y, head, size, "hebo")
        expected.append(head)
        top = y + 2 * size
        for x, word in ((60.0, "old"), (right, "new")):
            text = (
                f"The {word} text of part {n + 1} says that the fee is due within {20 + n} days of the "
                "notice, and that no notice is needed where the parties have agreed so in writing before."
            )
            lines = justified(text, width, size, "helv")
            y = max(y, page.lines(lines, x, top, 1.2 * size, size))
            expected.append(text)
        y += gap
    return page, expected


@pytest.mark.parametrize(
    ("size", "width", "right", "heads", "gap"),
    [
        (10, 200, 310, ["Article 4", "Article 5", "Article 9"], 28),
        (12, 190, 290, ["Prva promena", "Druga promena"], 40),
    ],
)
def test_columns_in_bands_are_read_band_by_band(
    size: float, width: float, right: float, heads: Sequence[str], gap: float
) -> None:
    page, expected = bands(size, width, right, heads, gap)
    assert texts(page.units()) == expected


def test_notes_marked_by_asterisks_are_items() -> None:
    page = Drawing()
    notes = ["* Prices without tax", "** Delivery within ten days", "*** See the list of offices"]
    page.lines(["The offer is open until May.", *notes], leading=12)
    assert texts(page.units())[-3:] == notes
