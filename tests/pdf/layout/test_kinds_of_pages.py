"""Kinds of pages that others' files have, each drawn in two ways: other words, sizes and geometry."""

from __future__ import annotations

from collections.abc import Sequence

import pymupdf
import pytest

from pdf.layout.pipeline import read_pages
from tests.pdf.layout_drawing import OTHER, PROSE, Drawing, justified, texts
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


# --- Texts whose words others' files draw apart ---


@pytest.mark.parametrize("tracking", [3.2, 4.5])
def test_letterspaced_sentences_are_words_of_any_length(tracking: float) -> None:
    page, x = Drawing(), 60.0
    for letter in "The list of ports is on page two":
        if letter != " ":
            page.text(x, 100, letter)
        x += page.width_of(letter) + tracking
    assert texts(page.units()) == ["The list of ports is on page two"]


@pytest.mark.parametrize(("size", "distance"), [(28, 1.5), (40, 3.0)])
def test_the_shadow_of_a_large_text_is_not_read(size: float, distance: float) -> None:
    page = Drawing()
    for x in (60 + distance, 60):
        page.text(x, 100 + x - 60, "Harbour news", size)
    assert texts(page.units()) == ["Harbour news"]


def test_letters_drawn_one_below_the_other_are_a_word() -> None:
    page = Drawing()
    lines = justified(f"{PROSE} {OTHER}", 380)
    page.lines(lines, x=110, y=100)
    for n, letter in enumerate("SECTION"):
        page.text(60, 100 + 14 * n, letter, 12)
    assert texts(page.units()) == [f"{PROSE} {OTHER}", "SECTION"]


def test_columns_of_vertical_writing_are_read_from_the_right() -> None:
    page = Drawing()
    for n, column in enumerate(["東京の港は開かれた。", "船は毎日出て行った。"]):
        for row, letter in enumerate(column):
            page.text(400 - 20 * n, 100 + 13 * row, letter, 11, "japan")
    assert "".join(texts(page.units())).replace(" ", "") == "東京の港は開かれた。船は毎日出て行った。"


QUANTITIES = [
    [
        "The beam had an energy of between 2.2 and",
        "4.5 MeV at the window, and it was cooled to",
        "1.9 K there.",
    ],
    ["Der Verlust lag in allen drei Läufen unter", "0,3 % und in einem weiteren Lauf bei", "2,5 kg."],
]


@pytest.mark.parametrize("lines", QUANTITIES)
def test_a_line_of_prose_may_begin_with_a_quantity(lines: list[str]) -> None:
    page = Drawing()
    page.lines(lines)
    assert texts(page.units()) == [" ".join(lines)]


# --- Texts side by side ---


def test_notes_beside_an_address_are_read_one_after_the_other() -> None:
    page = Drawing()
    notes = [
        "Please quote this number in all letters",
        "and have it at hand when you call us.",
        "Our offices are closed on Fridays and",
        "on the day before public holidays.",
    ]
    page.lines(notes, x=60, leading=11, size=9)
    page.lines(["Ms A. Berg", "14 Quay Street", "Port Example", "EX1 2QQ"], x=380, leading=11, size=9)
    page.lines(justified(PROSE, 450), x=60, y=180)
    found = " ".join(texts(page.units()))
    assert found == f"{' '.join(notes)} Ms A. Berg 14 Quay Street Port Example EX1 2QQ {PROSE}"


def test_texts_of_two_lines_side_by_side_are_whole() -> None:
    page = Drawing()
    columns = [
        ["The chair opened the", "meeting at nine."],
        ["The minutes of May", "were approved."],
        ["There was no other", "business that day."],
    ]
    page.lines(justified(PROSE, 450), x=60, y=100)
    for n, lines in enumerate(columns):
        page.lines(lines, x=60 + 170 * n, y=200)
    assert [cells(row) for row in rows_of(page.units())] == [[" ".join(lines) for lines in columns]]


# --- Furniture ---


def furniture(page: Drawing) -> list[list[str]]:
    return [[line.text for line in sheet.furniture] for sheet in page.read()]


def test_a_notice_up_the_side_of_several_pages_is_furniture() -> None:
    page = Drawing()
    for n in range(3):
        page.new_page() if n else None
        page.lines(justified(PROSE[9 * n :], 380), x=70, y=140)
        page.page.insert_text((575, 700), "Downloaded by a reader in March", fontsize=7, rotate=90)
    assert furniture(page) == [["Downloaded by a reader in March"]] * 3


def test_a_running_head_right_above_the_text_is_furniture() -> None:
    page = Drawing()
    words = f"{PROSE} {OTHER} {PROSE}".split()
    for n in range(3):
        page.new_page() if n else None
        page.text(250, 88, "Lease of the quay")
        page.lines(justified(" ".join(words[7 * n :]), 380), x=70, y=100)
    assert furniture(page) == [["Lease of the quay"]] * 3


def test_numbers_at_each_fifth_line_are_furniture() -> None:
    page = Drawing()
    for n, line in enumerate(justified(" ".join([PROSE, OTHER] * 4), 380)[:27], 1):
        page.text(70, 80 + 18 * n, line)
        if n % 5 == 0:
            page.text(50 - page.width_of(str(n), 7), 80 + 18 * n, str(n), 7)
    assert furniture(page) == [["5", "10", "15", "20", "25"]]


def test_line_numbers_that_begin_anew_are_furniture_on_a_short_page_too() -> None:
    page = Drawing()
    text = " ".join([PROSE, OTHER] * 3)
    for part in (justified(text, 380)[:20], justified(text, 350)[:8]):
        page.new_page() if page.page.get_text() else None
        for n, line in enumerate(part, 1):
            page.text(60 - page.width_of(str(n), 8), 80 + 24 * n, str(n), 8)
            page.text(80, 80 + 24 * n, line)
    assert [len(found) for found in furniture(page)] == [20, 8]


def test_asterisks_that_begin_a_line_of_a_sentence_mark_no_item() -> None:
    page = Drawing()
    lines = ["In this example you create a condition that prints it as", "*** Needs Raise *** in the report."]
    page.lines(lines)
    assert texts(page.units()) == [" ".join(lines)]


# --- Columns whose lines or bands are level with one another ---


@pytest.mark.parametrize(("size", "right", "width"), [(9, 310, 220), (11, 300, 210)])
def test_pairs_of_columns_above_and_below_a_ruling_are_read_one_after_the_other(
    size: float, right: float, width: float
) -> None:
    page, y, expected = Drawing(), 80.0, [PROSE, OTHER, f"{OTHER} {PROSE}", f"{PROSE} {PROSE}"]
    for n in (0, 2):
        ends = [
            page.lines(justified(text, width, size), x, y, 1.2 * size, size)
            for x, text in zip((60, right), expected[n:], strict=False)
        ]
        y = max(ends) + 2 * size
        page.rule(60, y - 1.5 * size, right + width, y - 1.5 * size)
    assert texts(page.units()) == expected


@pytest.mark.parametrize(("number", "size"), [(3, 9), (12, 9.5)])
def test_each_pair_below_its_title_is_read_on_its_own_to_the_last(number: int, size: float) -> None:
    page, y, expected = Drawing(), 70.0, list[str]()
    old = "The council shall report each spring on the state of the quays, the lights and the roads there;"
    new = (
        f"{old[:-1]}, and on the source of the money that is to pay for the work, with the dates of payment;"
    )
    for n in range(number, number + 3):
        page.text(60, y, f"Proposal {n}", 11, "hebo")
        page.text(60, y + 16, "Anna Holm", 11, "hebo")
        for x, title in ((100, "Present text"), (340, "Text as amended")):
            page.text(x, y + 40, title, 9, "heit")
        for x, text in ((60, old), (300, new)):
            end = page.lines(justified(text, 190, size), x, y + 60, 1.2 * size, size)
        y = end + 22
        expected += [old, new]
    assert [text for text in texts(page.units()) if len(text) > 40] == expected


@pytest.mark.parametrize(("pitch", "values"), [(14, "12.40 11.90 21.7"), (17, "8.00 7.60 103.5")])
def test_a_list_of_pairs_beside_a_text_is_never_within_its_sentences(pitch: float, values: str) -> None:
    page = Drawing()
    page.lines(justified(f"{PROSE} {OTHER}", 320), x=60, y=100)
    pairs = [
        [*pair] for pair in zip(["Target price", "Share price", "Market value"], values.split(), strict=True)
    ]
    for n, (label, value) in enumerate(pairs):
        page.text(410, 100 + pitch * n, label, 9)
        page.text(490, 100 + pitch * n, value, 9)
    units = page.units()
    assert f"{PROSE} {OTHER}" in texts(units)
    assert [cells(row) for row in rows_of(units)] == pairs


def test_lines_of_a_note_far_from_an_address_go_on_below_one_another() -> None:
    page = Drawing()
    note = [
        "Bitte geben Sie bei allen Schreiben die Nummer der",
        "Rechnung an, damit wir die Zahlung zuordnen können. Fragen",
        "richten Sie an die Stelle, die rechts steht.",
    ]
    page.lines(note, x=50)
    page.lines(["Beispiel GmbH", "Abteilung Rechnungen", "Hafenstraße 9", "20457 Hamburg"], x=390)
    assert " ".join(note) in texts(page.units())


# --- Heads that are beside their values, or between two columns ---


@pytest.mark.parametrize(
    ("heads", "edge"), [(("North", "South", "East"), 78), (("2031", "2030", "2029"), 66)]
)
def test_heads_to_the_left_of_their_values_are_over_them(heads: Sequence[str], edge: float) -> None:
    page = Drawing()
    rows = [("Salt", "3.1", "5.0", "1.9"), ("Grain", "14.2", "2.8", "7.7"), ("Timber", "9.5", "8.4", "6.0")]
    for n, head in enumerate(heads):
        page.text(180 + 100 * n, 100, head)
    page.rule(60, 104, 470, 104)
    for k, (label, *values) in enumerate(rows):
        page.text(60, 118 + 14 * k, label)
        for n, value in enumerate(values):
            page.text(180 + 100 * n + edge - page.width_of(value), 118 + 14 * k, value)
    found = [row for row in rows_of(page.units()) if not row.header]
    assert [row.head_rows for row in found] == [("", *heads)] * 3
    assert [cells(row) for row in found] == [[*row] for row in rows]


@pytest.mark.parametrize("groups", [("Area", "Yield"), ("Fläche", "Ertrag")])
def test_a_group_head_between_two_columns_is_over_both(groups: Sequence[str]) -> None:
    page, edges = Drawing(), (220, 300, 400, 480)
    for n, group in enumerate(groups):
        middle = (edges[2 * n] + edges[2 * n + 1]) / 2 - 10
        page.text(middle - page.width_of(group) / 2, 100, group)
    rows = [("Kind", "2030", "2031", "2030", "2031"), ("Wheat", "12.4", "13.1", "88", "91")]
    rows += [("Rye", "3.3", "3.0", "70", "66"), ("Oats", "1.9", "2.2", "54", "58")]
    for k, (label, *values) in enumerate(rows):
        page.text(60, 113 + 14 * k, label)
        for edge, value in zip(edges, values, strict=True):
            page.text(edge - page.width_of(value), 113 + 14 * k, value)
    found = [row for row in rows_of(page.units()) if not row.header]
    expected = [f"{group} {year}" for group in groups for year in ("2030", "2031")]
    assert [row.head_rows for row in found] == [("Kind", *expected)] * 3


@pytest.mark.parametrize("leader", [" .", "."])
def test_a_value_drawn_right_behind_its_leaders_is_a_cell(leader: str) -> None:
    page = Drawing()
    rows = [("Farm work", "12,304.1", "9.5"), ("Fishing", "914.0", "60.5"), ("Trade", "1,324.8", "111.2")]
    for n, (label, value, other) in enumerate(rows):
        y, start = 100 + 13 * n, 330 - page.width_of(value)
        dots = leader * int((start - 60 - page.width_of(label)) / page.width_of(leader))
        page.text(60, y, label)
        page.text(start - page.width_of(dots), y, dots)
        page.text(start, y, value)
        page.text(430 - page.width_of(other), y, other)
    found = [[cell.rstrip(" .") for cell in cells(row)] for row in rows_of(page.units())]
    assert found == [[*row] for row in rows]


def test_line_numbers_at_the_right_edge_are_furniture() -> None:
    page = Drawing()
    lines = justified(" ".join([PROSE, OTHER] * 9), 380)[:48]
    for n, line in enumerate(lines):
        page.new_page() if n == 24 else None
        page.text(70, 80 + 24 * (n % 24), line)
        page.text(540 - page.width_of(str(n % 24 + 1), 8), 80 + 24 * (n % 24), str(n % 24 + 1), 8)
    assert furniture(page) == [[str(n) for n in range(1, 25)]] * 2
    assert " ".join(texts(page.units())) == " ".join(lines)
