"""Columns: where they begin and end, and what stands over them."""

from __future__ import annotations

from pdf.extract.words import RawWord, Style
from pdf.layout.gutters import runs_on
from pdf.layout.lines import Line
from tests.pdf.layout_drawing import OTHER, PROSE, Drawing, justified, texts


def two_columns(page: Drawing, y: float) -> None:
    page.lines(justified(PROSE, 205), y=y)
    page.lines(justified(OTHER, 205), x=300, y=y)


def test_the_short_last_line_of_a_paragraph_over_both_columns_stays_with_it() -> None:
    page = Drawing()
    over = f"{PROSE} And so it ends here."
    lines = justified(over, 433)
    assert len(lines[-1]) < 40
    page.lines(lines, y=80)
    two_columns(page, 80 + 12 * len(lines) + 24)
    assert texts(page.units()) == [over, PROSE, OTHER]


def test_a_line_that_opens_the_left_column_stays_in_it() -> None:
    page = Drawing()
    page.lines(justified(PROSE, 433), y=80)
    page.text(72, 140, "What it found")
    two_columns(page, 158)
    assert texts(page.units())[-3:] == ["What it found", PROSE, OTHER]


def test_heads_in_large_type_over_columns_that_stand_near_are_read_with_them() -> None:
    page = Drawing()
    for x, name in ((72, "Left"), (226, "Right")):
        page.text(x - 10, 100, f"{name} part", size=22)
        for n in range(5):
            page.text(x, 126 + 15 * n, f"- {name} item which is number {n}")
    found = texts(page.units())
    assert found.index("Right part") == 6


def test_names_in_a_list_that_happen_to_be_of_one_length_are_not_centred_lines() -> None:
    page = Drawing()
    names = ["Abrin", "Ricin and others of its kind that are long enough to fill the line", "Junin", "Sabin"]
    page.lines([*names, "Ebola virus", "Marburg fever", "Lassa", "Machupo"], y=100)
    page.text(90, 196, "Guanarito of one kind")
    page.text(90, 208, "Flexalito of one kind")
    page.text(90, 220, "Sabia")
    page.text(90, 232, "Chapare virus")
    page.text(90, 244, "Junin, the other")
    found = texts(page.units())
    assert "Guanarito of one kind" in found and "Flexalito of one kind" in found


def test_a_heading_in_the_left_column_beside_the_right_one_stays_there() -> None:
    page = Drawing()
    right = justified(f"{OTHER} {OTHER}", 205)
    page.lines(right, x=300, y=80)
    left = page.lines(justified(PROSE, 205), y=80)
    page.text(72, left + 24, "What follows", size=14, font="hebo")
    page.lines(["It was short."], y=left + 44)
    page.lines(justified(PROSE, 433), y=80 + 12 * len(right) + 24)
    assert texts(page.units())[:2] == [PROSE, "What follows"]


def test_three_columns_on_common_baselines_under_heads_of_their_own_are_read_one_after_the_other() -> None:
    drawing = Drawing()
    text = f"{PROSE} {OTHER} {PROSE}"
    for n, title in enumerate(("First matter", "Second matter", "Third matter")):
        x = 40 + 180 * n
        drawing.text(x, 78, title, size=12)
        drawing.lines(justified(f"{title}: {text}", 155), x=x)
    units = drawing.units()
    assert "table" not in {unit.type for unit in units}
    assert [unit.text.split()[0] for unit in units if len(unit.text) > 100] == ["First", "Second", "Third"]


def test_links_beside_a_text_are_a_column_of_their_own() -> None:
    drawing = Drawing()
    links = ["Home", "Publications", "News", "Events", "Press releases", "Resources", "Board members"]
    drawing.lines(links, x=50, y=101, leading=27.5)
    y = drawing.lines(justified(PROSE, 330), x=190, y=90)
    drawing.lines(justified(OTHER, 330), x=190, y=y + 12)
    assert texts(drawing.units()) == [*links, PROSE, OTHER]


def test_a_table_that_stands_first_in_a_row_of_a_note_is_no_small_letter() -> None:
    lines = [Line([RawWord(50, 14 * n, 90, 14 * n + 10, "note", Style(10), 14 * n + 8, n)]) for n in range(6)]
    table = Line([RawWord(50, 28, 90, 38, "", Style(10), 36, 9)])
    assert runs_on([[line] for line in lines])
    assert runs_on([[table] if n == 2 else [line] for n, line in enumerate(lines)])


def test_headings_in_the_margin_are_read_before_the_text_beside_them() -> None:
    drawing = Drawing()
    y = 100.0
    for head, text in (("Duties", PROSE), ("Rights and fees", OTHER), ("Meetings", PROSE)):
        drawing.text(72, y, head, font="hebo")
        for paragraph in (text, OTHER):
            y = drawing.lines(justified(paragraph, 300), x=200, y=y) + 10
    expected = ["Duties", PROSE, OTHER, "Rights and fees", OTHER, OTHER, "Meetings", PROSE, OTHER]
    assert texts(drawing.units()) == expected


GLOSSARY = [
    ("Adze", "A tool like an axe with an arched blade at right angles to its handle"),
    ("Anvil", "A block of iron on which metal is hammered and shaped"),
    ("Auger", "A tool that bores holes in wood or in the ground"),
    ("Awl", "A pointed tool for piercing leather"),
    ("Bevel", "An edge that is cut to a slope, and the tool that marks such edges on wood or stone"),
    ("Broach", "A tapered bit that widens holes"),
    ("Burr", "A rough edge that is left on metal when it has been cut"),
    ("Chisel", "A long blade with an edge at its end"),
]


def test_a_ruling_between_the_columns_of_a_table_parts_no_row() -> None:
    page = Drawing()
    rows = [
        ("Adze", "Dechsel, wie ihn der Böttcher nutzt"),
        ("Anvil of a smith", "Amboss"),
        ("Auger", "Bohrer für tiefe Löcher"),
        ("Awl that pierces leather", "Ahle"),
        ("Bevel", "Schmiege"),
        ("Broach that widens holes", "Reibahle, die das Loch weitet"),
        ("Chisel", "Stechbeitel"),
    ]
    for n, (english, german) in enumerate(rows):
        page.text(72, 100 + 18 * n, english)
        page.text(300, 100 + 18 * n, german)
    page.rule(286, 90, 286, 100 + 18 * 6 + 4)
    assert all(
        english in text and german in text
        for text, (english, german) in zip(texts(page.units()), rows, strict=True)
    )


def test_a_paragraph_that_grows_narrower_beside_a_picture_is_one() -> None:
    drawing = Drawing()
    wide = justified(f"{PROSE} {OTHER}", 450)
    at = next(n for n in range(2, 5) if not wide[n - 1].endswith(".") and wide[n][0].islower())
    y = drawing.lines(wide[:at], y=100)
    narrow = justified(" ".join(wide[at:]), 200)
    drawing.lines(narrow, y=y)
    drawing.lines(justified(PROSE, 220, size=8), x=300, y=y + 30, leading=10, size=8)
    units = drawing.units()
    assert texts(units)[0] == f"{PROSE} {OTHER}"
    assert len(units) == 2


ENTRIES = (
    (
        "adzes 10, 11",
        "anvils 27",
        "augers 30-34",
        "awls 9",
        "bevels 51",
        "braces 7",
        "chisels 16",
        "dowels 61",
    ),
    (
        "files 12, 44",
        "gauges 8",
        "hammers 3",
        "hinges 19, 20",
        "jigs 55",
        "knives 2",
        "lathes 70",
        "mallets 5",
    ),
    ("nails 22", "planes 31, 36", "rasps 41", "saws 13", "squares 26", "tongs 68", "vices 1, 4", "wedges 33"),
)


def index_page(columns: tuple[tuple[str, ...], ...]) -> Drawing:
    """Columns of short lines on common baselines."""
    page = Drawing()
    for x, entries in zip((72, 232, 392), columns, strict=True):
        page.lines(list(entries), x=x, y=100, leading=14)
    return page


def test_an_index_in_three_columns_on_common_baselines_is_read_column_by_column() -> None:
    units = index_page(ENTRIES).units()
    assert not [unit.text for unit in units if unit.table]
    assert " ".join(texts(units)) == " ".join(entry for column in ENTRIES for entry in column)


def test_words_and_numbers_that_are_in_no_order_of_letters_are_no_index() -> None:
    mixed = ("Rent 12", "Wages 40", "Heat 7", "Tax 31", "Fees 9", "Light 4", "Post 2", "Bank 1")
    units = index_page((mixed, mixed[3:] + mixed[:3], mixed[5:] + mixed[:5])).units()
    assert [unit.text.split("\t") for unit in units if unit.table][:1] == [["Rent 12", "Tax 31", "Light 4"]]


def draw_sheet(drawing: Drawing, numbers: tuple[str, str]) -> None:
    """Two pages of courses on one sheet, level with one another."""
    for x, names in ((40, ("Painting", "Singing", "Dancing")), (480, ("Weaving", "Pottery", "Carving"))):
        for n, name in enumerate(names):
            y = 90 + 100 * n
            drawing.text(x, y, f"{name} for teachers", font="hebo")
            drawing.text(x, y + 20, "For")
            drawing.text(x + 50, y + 20, f"Teachers of {name.lower()}.")
            drawing.text(x, y + 40, "Outline")
            drawing.lines(justified(f"{name} is taught here. {PROSE[:150]}", 270), x=x + 50, y=y + 40)
    for x, number in zip((40, 780), numbers, strict=True):
        drawing.text(x, 570, number, size=8)


def test_two_pages_on_one_sheet_are_read_one_after_the_other() -> None:
    """The sheet without numbers, too: others of its size have two."""
    drawing = Drawing(width=842, height=595)
    for sheet, numbers in enumerate((("2", "3"), ("4", "5"), ("6", "7"), ("", "9"))):
        if sheet:
            drawing.new_page()
        draw_sheet(drawing, numbers)
    for page in drawing.read():
        assert all(unit.type != "table" for unit in page.units)
        names = [unit.text.split()[0] for unit in page.units if unit.text.endswith("for teachers")]
        assert names == ["Painting", "Singing", "Dancing", "Weaving", "Pottery", "Carving"]


ARTICLES = [(PROSE, OTHER), (OTHER, PROSE), (f"A third. {PROSE}", OTHER)]


def test_pairs_of_columns_below_centred_headings_are_read_one_after_the_other() -> None:
    page, y, expected = Drawing(), 90.0, list[str]()
    for n, (left, right) in enumerate(ARTICLES):
        page.text(282, y, f"Article {n + 4}", font="hebo")
        page.lines(justified(left, 218), x=60, y=y + 16)
        page.lines(justified(right, 218), x=320, y=y + 16)
        y += 16 + 12 * max(len(justified(text, 218)) for text in (left, right)) + 14
        expected += [f"Article {n + 4}", left, right]
    assert texts(page.units()) == expected


def test_pairs_of_columns_of_other_widths_below_headings_are_read_one_after_the_other() -> None:
    page, y, expected = Drawing(), 135.0, list[str]()
    page.lines(justified(OTHER, 410), x=60, y=60)
    for n, gutter in enumerate((272, 362, 222)):
        left, right = ARTICLES[n]
        page.text(60, y, f"On article {n + 1}", font="hebo", size=11)
        for x, head in ((110, "Old"), (gutter + 60, "New")):
            page.text(x, y + 18, head, font="heit")
        below = (justified(left, gutter - 72), justified(right, 523 - gutter))
        page.lines(below[0], x=60, y=y + 34, leading=11.5)
        page.lines(below[1], x=gutter + 12, y=y + 34, leading=11.5)
        y += 34 + 11.5 * max(map(len, below)) + 24
        expected += [f"On article {n + 1}", "Old", left, "New", right]
    assert texts(page.units()) == [OTHER, *expected]


def test_notes_beside_an_address_on_the_same_baselines_are_read_whole() -> None:
    notes = [
        ("* Der Grundpreis gilt seit dem 1. Mai. Er enthält die", "Miete für den Zähler und die Ablesung."),
        (
            "** Den Aushang mit allen Preisen finden Sie auf der",
            "Seite des Werks und im Büro bei der Brücke.",
        ),
        (
            "*** Einspruch gegen diese Rechnung ist binnen der",
            "Frist von sechs Wochen möglich bei der Stadt.",
        ),
    ]
    page = Drawing()
    page.lines([line for note in notes for line in note], x=60, y=400, size=7, leading=10.5)
    address = ["Versorger:", "Stadtwerk Hain", "Kundenbüro", "Am Werk 7", "04720 Hain", "8 bis 16 Uhr"]
    page.lines(address, x=330, y=400, size=7, leading=10.5)
    found = texts(page.units())
    assert all(" ".join(note) in found for note in notes)
