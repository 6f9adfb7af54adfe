"""Running heads, feet and page numbers: on the page, in no unit."""

from __future__ import annotations

import pymupdf
import pytest

from documents.page_labels import lines_on_page, printed_labels
from tests.pdf.layout_drawing import LEFT, OTHER, PROSE, Drawing, justified, texts


def book(pages: int = 4, foot: float = 810) -> Drawing:
    drawing = Drawing()
    for number in range(1, pages + 1):
        if number > 1:
            drawing.new_page()
        drawing.text(LEFT, 40, "Annual Report 2023", size=8)
        drawing.lines(justified(f"Part {'ABCDEFGH'[number]}. {PROSE}", 430))
        drawing.text(290, foot, str(number), size=8)
    return drawing


def test_heads_and_page_numbers_are_furniture() -> None:
    for page in book().read():
        assert [piece.text for piece in page.furniture] == ["Annual Report 2023", str(page.number)]
        assert len(page.units) == 1 and page.units[0].text.startswith("Part")


def test_furniture_stands_around_the_units_in_the_page_s_text() -> None:
    page = book().read()[1]
    assert page.text.startswith("Annual Report 2023\n") and page.text.endswith("\n2\n")
    for piece in page.furniture:
        assert page.text[piece.char_start : piece.char_end] == piece.text


def test_page_numbers_below_a_page_cut_short_are_found_by_their_count() -> None:
    drawing = Drawing()
    for number in range(1, 5):
        if number > 1:
            drawing.new_page()
        below = drawing.lines(justified(PROSE if number % 2 else f"{PROSE} {OTHER}", 430))
        drawing.text(290, below + 20, str(number + 10), size=8)
    assert all([piece.text for piece in page.furniture] == [str(page.number + 10)] for page in drawing.read())


def test_what_stands_on_one_page_only_is_no_furniture() -> None:
    drawing = Drawing()
    drawing.text(LEFT, 40, "A letter to the owners", size=8)
    drawing.lines(justified(PROSE, 430))
    assert texts(drawing.units()) == ["A letter to the owners", PROSE]


def test_the_title_of_a_table_printed_on_each_page_stays_with_it() -> None:
    drawing = Drawing()
    for number in range(1, 5):
        if number > 1:
            drawing.new_page()
        drawing.text(LEFT, 60, "Smith and Company", font="hebo")
        drawing.text(LEFT, 73, f"Statement of item {'ABCDE'[number]}", font="hebo")
        drawing.lines(justified(PROSE, 430), y=100)
    assert all(not page.furniture for page in drawing.read())


def test_entries_of_a_contents_page_are_no_page_numbers() -> None:
    drawing = Drawing()
    for part in range(2):
        if part:
            drawing.new_page()
        drawing.lines(
            [f"Chapter {n + 30 * part} {'.' * 60} {n + 40 * part}" for n in range(1, 40)], y=50, leading=14
        )
    assert all(not page.furniture for page in drawing.read())


def test_a_foot_right_below_texts_of_any_length_is_known_by_its_number() -> None:
    drawing = Drawing()
    for number in range(1, 6):
        if number > 1:
            drawing.new_page()
        end = drawing.lines(justified(PROSE * (number % 3 + 1), 430), y=90)
        drawing.text(430, end + 24, f"2019 Form 10-K {number + 2}")
    pages = drawing.read()
    assert [[piece.text for piece in page.furniture] for page in pages] == [
        [f"2019 Form 10-K {number + 2}"] for number in range(1, 6)
    ]


def test_a_foot_that_touches_a_table_is_known_by_the_page_s_own_number() -> None:
    drawing = Drawing()
    for number in range(1, 6):
        if number > 1:
            drawing.new_page()
        for row in range(8):
            for x, text in (
                (LEFT, f"Item {row} of part {'ABCDEF'[number]}"),
                (300, f"{row},{number}47"),
                (430, "12"),
            ):
                drawing.text(x, 716 + 12 * row, text)
        drawing.text(LEFT, 812, "The standard of verification")
        drawing.text(430, 812, str(number))
    for page in drawing.read():
        assert [piece.text for piece in page.furniture] == ["The standard of verification", str(page.number)]
        assert len(page.units) == 8


def test_heads_of_a_table_that_goes_on_over_pages_are_no_running_heads() -> None:
    drawing = Drawing()
    for n in range(4):
        if n:
            drawing.new_page()
        drawing.text(72, 40, "Standard of Verification")
        for y in (62, 84, 110):
            drawing.rule(70, y, 500, y)
        for x, head, text in (
            (72, "#", f"9.{n}"),
            (130, "Description", f"Part {n}"),
            (450, "Level", "2"),
        ):
            drawing.text(x, 78, head)
            drawing.text(x, 100, text)
    pages = drawing.read()
    assert [[piece.text for piece in page.furniture] for page in pages] == [["Standard of Verification"]] * 4
    assert all(unit.type == "table" for page in pages for unit in page.units)


TOWNS = ("Dover", "Deal", "Rye", "Hythe")


def transcript(numbers_x: float) -> Drawing:
    """Four pages of questions and answers in a typewriter face, their lines numbered from 1 to 25."""
    drawing = Drawing(612, 792)
    words = f"{PROSE} {OTHER}".lower().replace(",", "").replace(".", "").split()
    for page in range(4):
        if page:
            drawing.new_page()
        for n in range(25):
            first = "QA"[n % 2]
            text = " ".join([TOWNS[page], *words[7 * n % 80 :][:6]])
            drawing.text(numbers_x - (6 if n > 8 else 0), 90 + 25 * n, str(n + 1), 10, "cour")
            drawing.text(110, 90 + 25 * n, f"{first}.", 10, "cour")
            drawing.text(140, 90 + 25 * n, f"{text}{'?.'[n % 2]}", 10, "cour")
    return drawing


def test_the_numbers_of_a_transcript_s_lines_are_furniture() -> None:
    for page in transcript(76).read():
        assert [piece.text for piece in page.furniture] == [str(n) for n in range(1, 26)]
        assert {unit.type for unit in page.units} <= {"list", "prose"}
        assert len(page.units) == 25
        assert page.units[0].text.startswith("Q. ") and page.units[0].text.endswith("?")


def test_the_numbers_of_a_draft_s_lines_are_furniture_though_they_go_on() -> None:
    drawing = Drawing()
    for page in range(2):
        if page:
            drawing.new_page()
        words = f"{PROSE} {OTHER}" if page else f"{TOWNS[page]} came first. {OTHER} {PROSE}"
        for n, line in enumerate(justified(words, 150)[:18]):
            drawing.text(50, 90 + 14 * n, str(18 * page + n + 1), 6)
            drawing.text(LEFT, 90 + 14 * n, line)
    for page, read in enumerate(drawing.read()):
        assert [piece.text for piece in read.furniture] == [str(18 * page + n) for n in range(1, 19)]
        assert [unit.type for unit in read.units] == ["prose"]


def test_numbers_of_a_list_of_names_that_goes_on_are_text() -> None:
    drawing = Drawing()
    for page in range(2):
        if page:
            drawing.new_page()
        for n in range(18):
            drawing.text(50, 90 + 14 * n, str(18 * page + n + 1))
            drawing.text(LEFT, 90 + 14 * n, f"Harbour master of {TOWNS[n % 4]}, pier {'ABCDEFG'[n % 7]}")
    for page, read in enumerate(drawing.read()):
        assert not read.furniture
        assert str(18 * page + 18) in read.units[-1].text


def test_numbers_of_rows_with_values_are_cells() -> None:
    drawing = Drawing()
    for page in range(4):
        if page:
            drawing.new_page()
        for n in range(1, 21):
            cells = (str(n), TOWNS[(n + page) % 4], f"{n}{page},{n + 10}7")
            for x, cell in zip((LEFT, 110, 300), cells, strict=True):
                drawing.text(x, 90 + 20 * n, cell)
    for page in drawing.read():
        assert not page.furniture
        assert [unit.type for unit in page.units] == ["table"] * 20


def test_large_headings_that_are_numbered_from_page_to_page_stay_headings() -> None:
    drawing = Drawing()
    for step in range(1, 5):
        if step > 1:
            drawing.new_page()
        drawing.text(LEFT, 40, f"{step}   Assembly", size=8)
        drawing.text(LEFT, 80, f"2.{step}. Step {step}", size=16)
        drawing.lines(justified(f"Part {'ABCDE'[step]}. {PROSE}", 430), y=110)
    pages = drawing.read()
    assert [page.units[0].text for page in pages] == [f"2.{step}. Step {step}" for step in range(1, 5)]
    assert all(page.units[0].type == "heading" for page in pages)
    assert [len(page.furniture) for page in pages] == [1] * 4


def test_page_numbers_larger_than_the_text_are_no_headings() -> None:
    drawing = Drawing()
    for page in range(4):
        if page:
            drawing.new_page()
        drawing.text(290, 40, f"A - {page + 7}", size=12)
        drawing.lines(justified(f"Part {'ABCDE'[page]}. {PROSE}", 430, size=7), y=90, size=7)
    assert [[piece.text for piece in page.furniture] for page in drawing.read()] == [
        [f"A - {n}"] for n in range(7, 11)
    ]


def test_values_at_the_top_of_pages_do_not_repeat_one_another() -> None:
    places = (LEFT, 200, 280, 360, 440)
    drawing = Drawing()
    for page in range(4):
        if page:
            drawing.new_page()
        for x, head in zip(places, ("Model", "Length", "Width", "Height", "Weight"), strict=True):
            drawing.text(x, 60, head, font="hebo")
        for n in range(4):
            cells = ("Rye", f"3{n}0{page}", f"5{page}{n}", f"2{page}{n}", f"1{n}{page}")
            for x, cell in zip(places, cells, strict=True):
                drawing.text(x, 80 + 130 * n, cell)
            drawing.lines(["long", "wheel", "base"], y=92 + 130 * n)
    for page in drawing.read():
        assert not page.furniture
        assert all(text in page.text for text in ("Weight", f"30 0{page.number - 1}".replace(" ", "")))


def test_heads_over_columns_that_are_mostly_empty_are_no_running_heads() -> None:
    heads = ("Symbol", "Share", "Spin", "bc", "b+", "b-", "Diff", "Way", "Source")
    places = (60, 120, 170, 210, 270, 330, 390, 450, 500)
    drawing = Drawing()
    for page in range(4):
        if page:
            drawing.new_page()
        for x, head in zip(places, heads, strict=True):
            drawing.text(x, 60, head, font="hebo")
        drawing.rule(58, 64, 540, 64)
        for n in range(15):
            cells = {60: f"Zn-{n}{page}", 210: f"5.{n}{page}", 450: "CF", 500: f"{n + 60}K{page}"}
            for x, cell in cells.items():
                drawing.text(x, 82 + 20 * n, cell)
    for page in drawing.read():
        assert not page.furniture
        assert page.units[1].table is not None and page.units[1].table.head_rows[3] == "bc"


def test_a_watermark_written_slantwise_is_furniture() -> None:
    drawing = Drawing()
    slant = pymupdf.Matrix(45)
    for page in range(4):
        if page:
            drawing.new_page()
        drawing.lines(justified(f"Part {'ABCDE'[page]}. {PROSE}", 430))
        place = pymupdf.Point(200, 600)
        drawing.page.insert_text(place, "Confidential", fontsize=40, morph=(place, slant))
    for page in drawing.read():
        assert [piece.text for piece in page.furniture] == ["Confidential"]
        assert len(page.units) == 1


def test_a_running_head_beside_the_first_line_and_a_number_below_the_last_are_furniture() -> None:
    drawing = Drawing()
    for number in range(1, 6):
        if number > 1:
            drawing.new_page()
        drawing.text(430, 60, "CONFIDENTIAL", size=9)
        lines = [
            f"The {number * 7 + n}th clause of the terms binds both of the parties."
            for n in range(3 + number)
        ]
        end = drawing.lines(lines, y=72)
        drawing.text(290, end + 8, str(number))
    for number, page in enumerate(drawing.read(), 1):
        assert {piece.text for piece in page.furniture} == {"CONFIDENTIAL", str(number)}
        assert not any("CONFIDENTIAL" in unit.section_path for unit in page.units)


def test_line_numbers_that_go_on_from_page_to_page_are_furniture() -> None:
    drawing = Drawing()
    lines = justified(f"{PROSE} {OTHER} {PROSE} {OTHER}", 330)
    half = len(lines) // 2
    for page, start in enumerate((0, half)):
        if page:
            drawing.new_page()
        for n, line in enumerate(lines[start : start + half]):
            drawing.text(90, 100 + 24 * n, line)
            drawing.text(66, 100 + 24 * n, str(start + n + 1), size=7)
    pages = drawing.read()
    assert [page.first_line for page in pages] == [1, 1]
    assert [page.units[0].line_start for page in pages] == [1, half + 1]
    assert [piece.text for page in pages for piece in page.furniture] == [str(n + 1) for n in range(2 * half)]
    assert " ".join(unit.text for page in pages for unit in page.units).startswith("The committee met in the")


def test_lines_of_a_transcript_have_their_printed_numbers_and_pages_theirs() -> None:
    drawing = Drawing()
    for page in range(31, 35):
        if page > 31:
            drawing.new_page()
        drawing.text(540, 40, str(page))
        for line in range(1, 26):
            drawing.text(60, 60 + 28 * line, str(line))
            if line % 4:  # others are numbered, and empty
                drawing.text(100, 60 + 28 * line, f"Q.  Was bolt {line} of crane {page} loose, as you said?")
    pages = drawing.read()
    assert printed_labels(pages) == {1: "31", 2: "32", 3: "33", 4: "34"}
    for page in pages:
        asked = next(unit for unit in page.units if "bolt 15" in unit.text)
        assert lines_on_page((asked.line_start, asked.line_end), page.first_line) == (15, 15)
    starts = [unit.line_start for page in pages for unit in page.units]
    assert starts == sorted(set(starts))


def test_lines_between_numbers_at_each_fifth_are_counted_from_the_nearest() -> None:
    drawing = Drawing()
    for n, line in enumerate(justified(" ".join([PROSE, OTHER] * 4), 380)[:27], 1):
        drawing.text(70, 80 + 18 * n, line)
        if n % 5 == 0:
            drawing.text(50 - drawing.width_of(str(n), 7), 80 + 18 * n, str(n), 7)
    (page,) = drawing.read()
    (unit,) = page.units
    assert lines_on_page((unit.line_start, unit.line_end), page.first_line) == (1, 27)


@pytest.mark.parametrize(("edge", "lines"), [(500, 17), (66, 17), (500, 24)])
def test_few_numbers_at_each_fifth_line_are_furniture_on_either_side(edge: float, lines: int) -> None:
    drawing = Drawing()
    for n, line in enumerate(justified(" ".join([PROSE, OTHER] * 4), 380)[:lines], 1):
        drawing.text(80, 80 + 18 * n, line)
        if n % 5 == 0:
            drawing.text(edge - drawing.width_of(str(n), 7), 80 + 18 * n, str(n), 7)
    (page,) = drawing.read()
    assert [piece.text for piece in page.furniture] == [str(n) for n in range(5, lines + 1, 5)]
    assert [unit.type for unit in page.units] == ["prose"]


def test_heads_right_above_the_text_that_differ_on_odd_and_even_pages_are_furniture() -> None:
    drawing = Drawing()
    heads = ("Supply Agreement", "Halvorsen and Others")
    for number in range(4):
        if number:
            drawing.new_page()
        drawing.text(LEFT, 64, heads[number % 2])
        drawing.lines(justified(f"Part {'ABCD'[number]}. {PROSE}", 430), y=77)
    for number, page in enumerate(drawing.read()):
        assert [piece.text for piece in page.furniture] == [heads[number % 2]]
