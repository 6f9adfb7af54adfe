"""Paragraphs, headings, lists, columns: which lines belong together, and in which order they are read."""

from __future__ import annotations

import pymupdf
import pytest

from tests.pdf.layout_drawing import LEFT, OTHER, PROSE, TOP, Drawing, justified, right_to_left, texts
from tests.pdf.layout_invariants import check


def test_more_leading_begins_a_paragraph() -> None:
    drawing = Drawing()
    below = drawing.lines(justified(PROSE, 430))
    drawing.lines(justified(OTHER, 430), y=below + 8)
    assert texts(drawing.units()) == [PROSE, OTHER]


def test_an_indent_begins_a_paragraph_under_uniform_leading() -> None:
    drawing = Drawing()
    y = TOP
    for text in (PROSE, OTHER):
        first, *rest = justified(text, 430)
        drawing.text(LEFT + 14, y, first)
        y = drawing.lines(rest, y=y + 12)
    assert texts(drawing.units()) == [PROSE, OTHER]


def test_a_line_left_short_ends_a_paragraph_under_uniform_leading() -> None:
    short = "This motion was carried by a large majority. " + PROSE + " No one objected."
    drawing = Drawing()
    drawing.lines([*justified(short, 430), *justified(OTHER, 430)])
    assert texts(drawing.units()) == [short, OTHER]


def test_ragged_lines_of_one_paragraph_stay_together() -> None:
    drawing = Drawing()
    drawing.lines(justified(PROSE, 200))
    drawing.lines(justified(OTHER, 430), y=400)
    assert texts(drawing.units())[0] == PROSE


def test_a_paragraph_with_wider_leading_than_the_rest_stays_whole() -> None:
    drawing = Drawing()
    below = drawing.lines(justified(PROSE + " " + OTHER, 430))
    drawing.lines(justified(OTHER, 430), y=below + 20, leading=17)
    assert texts(drawing.units())[-1] == OTHER


def test_centred_lines_are_one_block() -> None:
    drawing = Drawing()
    for n, line in enumerate(
        ["Minutes of the Annual General Meeting", "held in Leeds", "on the third of June"]
    ):
        width = pymupdf.get_text_length(line, "helv", 10)
        drawing.text(297 - width / 2, 100 + 12 * n, line)
    drawing.lines(justified(PROSE, 430), y=180)
    assert len(drawing.units()) == 2


def test_two_columns_are_read_one_after_the_other() -> None:
    drawing = Drawing()
    drawing.text(LEFT, 70, "A title over both of the columns of this page", size=16)
    drawing.lines(justified(PROSE, 210), x=LEFT, y=110)
    drawing.lines(justified(OTHER, 210), x=310, y=110)
    assert texts(drawing.units())[1:] == [PROSE, OTHER]


def test_right_to_left_pages_begin_with_the_right_column() -> None:
    drawing = Drawing()
    words = "בית ספר גדול עומד על הגבעה מול הים הכחול והשמש זורחת בבוקר על כל החלונות שלו "
    for x, name in ((310, "ראשון"), (72, "שני")):
        html = f'<p dir="rtl" style="font-size:11px;text-align:justify">{name} {words * 5}</p>'
        drawing.page.insert_htmlbox(pymupdf.Rect(x, 100, x + 210, 400), html)
    assert [text.split()[0] for text in texts(drawing.units())] == ["ראשון", "שני"]


def test_a_right_to_left_list_of_latin_titles_begins_with_its_marks() -> None:
    drawing = Drawing()
    right_to_left(drawing.page, 500, 80, "ראו את המקורות הבאים למידע נוסף בנושא")
    right_to_left(drawing.page, 500, 94, "הם נבדקו בקפידה על ידי אנשי המקצוע שלנו")
    for n, title in enumerate(["File Handling", "Cross - Site Scripting"]):
        right_to_left(drawing.page, 500, 110 + 30 * n, "•", width=20)
        drawing.text(380, 123 + 30 * n, title)
    assert texts(drawing.units())[1:] == ["• File Handling", "• Cross - Site Scripting"]


def test_headings_have_levels_by_type_and_numbering() -> None:
    drawing = Drawing()
    y = TOP
    for number, size in (("1 Introduction", 16), ("1.1 Scope", 13), ("1.1.1 Terms", 11.5), ("2 Methods", 16)):
        drawing.text(LEFT, y, number, size=size, font="hebo")
        y = drawing.lines(justified(PROSE, 430), y=y + 24) + 20
    headings = [unit for unit in drawing.units() if unit.type == "heading"]
    assert [(unit.text, unit.level) for unit in headings] == [
        ("1 Introduction", 1),
        ("1.1 Scope", 2),
        ("1.1.1 Terms", 3),
        ("2 Methods", 1),
    ]


def test_the_section_sign_before_a_number_is_no_bullet() -> None:
    """Headings of German contracts: "§ 4 Kaution"; without a number it is a bullet of Wingdings."""
    drawing = Drawing()
    y = TOP
    for number, size in (("§ 1 Mieträume", 14), ("§ 2 Kaution", 14)):
        drawing.text(LEFT, y, number, size=size, font="hebo")
        y = drawing.lines(justified(PROSE, 430), y=y + 24) + 20
    drawing.text(LEFT, y, "§ keys of the flat")
    units = drawing.units()
    assert [unit.text for unit in units if unit.type == "heading"] == ["§ 1 Mieträume", "§ 2 Kaution"]
    assert [unit.list_marker for unit in units if unit.type == "list"] == ["§"]


def test_headings_between_two_items_of_a_series_stand_below_them() -> None:
    drawing = Drawing()
    titles = ["Item 7. Analysis", "LIQUIDITY", "Contracts", "Item 8. Statements", "Balance Sheet", "PART III"]
    for n, title in enumerate([*titles, "Item 9. Controls"]):
        drawing.text(LEFT, TOP + 90 * n, title, font="hebo")
        drawing.lines(justified(PROSE, 430), y=TOP + 90 * n + 24)
    paths = {unit.text: unit.section_path for unit in drawing.units() if unit.type == "heading"}
    assert paths["Contracts"] == ("Item 7. Analysis", "LIQUIDITY")
    assert paths["Balance Sheet"] == ("Item 8. Statements",)
    assert paths["Item 9. Controls"] == ("PART III",)


def test_large_type_that_text_is_set_in_makes_no_headings() -> None:
    drawing = Drawing()
    for n in range(5):
        drawing.lines(justified(PROSE, 430), y=TOP + 100 * n)
        drawing.lines(justified(OTHER[:120], 430, size=12), y=TOP + 100 * n + 50, size=12, leading=14)
    drawing.text(LEFT, TOP + 520, "None known", size=12)
    assert {unit.type for unit in drawing.units()} == {"prose"}


def test_each_unit_knows_the_headings_above_it() -> None:
    drawing = Drawing()
    drawing.text(LEFT, 80, "2 Methods", size=16, font="hebo")
    drawing.text(LEFT, 110, "2.1 Sample", size=13, font="hebo")
    drawing.lines(justified(PROSE, 430), y=140)
    drawing.text(LEFT, 240, "3 Results", size=16, font="hebo")
    drawing.lines(justified(OTHER, 430), y=270)
    first, second = (unit for unit in drawing.units() if unit.type == "prose")
    assert first.section_path == ("2 Methods", "2.1 Sample") and first.section_type == "methods"
    assert first.section_title == "2.1 Sample"
    assert second.section_path == ("3 Results",) and second.section_type == "results"


def test_the_outline_sets_the_levels() -> None:
    drawing = Drawing()
    drawing.text(LEFT, 80, "Terms of business", size=14, font="hebo")
    drawing.lines(justified(PROSE, 430), y=110)
    drawing.text(LEFT, 220, "Payment", size=14, font="hebo")
    drawing.lines(justified(OTHER, 430), y=250)
    drawing.document.set_toc([[1, "Terms of business", 1], [2, "Payment", 1]])
    levels = [unit.level for unit in drawing.units() if unit.type == "heading"]
    assert levels == [1, 2]


def test_the_outline_may_leave_out_the_numbers_of_headings() -> None:
    drawing = Drawing()
    drawing.text(LEFT, 80, "I. Terms of business")
    drawing.lines(justified(PROSE, 430), y=110)
    drawing.text(LEFT, 220, "B. Payment")
    drawing.lines(justified(OTHER, 430), y=250)
    drawing.document.set_toc([[1, "Terms of business", 1], [2, "Payment", 1]])
    headings = [unit for unit in drawing.units() if unit.type == "heading"]
    assert [(unit.text, unit.level) for unit in headings] == [("I. Terms of business", 1), ("B. Payment", 2)]


def test_letters_and_roman_numbers_open_headings_that_stand_out() -> None:
    drawing = Drawing()
    for n, (title, font) in enumerate(
        [
            ("I. METHODS", "helv"),
            ("A. Sample of firms", "heit"),
            ("B. Measures", "heit"),
            ("II. RESULTS", "helv"),
        ]
    ):
        drawing.text(LEFT, TOP + 90 * n, title, font=font)
        drawing.lines(justified(PROSE, 430), y=TOP + 90 * n + 24)
    headings = [unit for unit in drawing.units() if unit.type == "heading"]
    assert [(unit.text, unit.level) for unit in headings] == [
        ("I. METHODS", 1),
        ("A. Sample of firms", 2),
        ("B. Measures", 2),
        ("II. RESULTS", 1),
    ]


def test_lettered_items_are_no_headings() -> None:
    drawing = Drawing()
    drawing.lines(justified(PROSE, 430))
    for n, item in enumerate(["A. Paris and London", "B. Rome", "C. Madrid"]):
        drawing.text(LEFT, TOP + 60 + 14 * n, item, font="heit")
    drawing.text(LEFT, TOP + 140, "D. Any other answer that was given")
    drawing.lines(justified(OTHER, 430), y=TOP + 164)
    assert not [unit for unit in drawing.units() if unit.type == "heading"]


def test_a_heading_in_small_capitals_has_the_size_of_its_first_letters() -> None:
    drawing = Drawing()
    drawing.lines(justified(PROSE, 430), y=60)
    x = LEFT
    for letters, size in (("IV. E", 10), ("LECTRICAL", 7.5), (" I", 10), ("NTERLOCKING", 7.5)):
        drawing.text(x, 130, letters, size=size)
        x += pymupdf.get_text_length(letters, "helv", size)
    drawing.lines(justified(OTHER, 430), y=150)
    heading = drawing.units()[1]
    assert (heading.type, heading.text) == ("heading", "IV. ELECTRICAL INTERLOCKING")


def test_list_items_keep_their_markers_and_depth() -> None:
    drawing = Drawing()
    drawing.text(LEFT, 100, "The board resolved as follows:")
    items = [(90, "1.", "to approve the accounts of the year;"), (110, "a)", "those of the parent company;")]
    items += [(110, "b)", "those of the subsidiaries;"), (90, "2.", "to pay a dividend.")]
    for n, (x, marker, text) in enumerate(items):
        drawing.text(x, 116 + 14 * n, marker)
        drawing.text(x + 16, 116 + 14 * n, text)
    units = [unit for unit in drawing.units() if unit.type == "list"]
    assert [(unit.list_marker, unit.level) for unit in units] == [("1.", 0), ("a)", 1), ("b)", 1), ("2.", 0)]
    assert units[1].text == "a) those of the parent company;"


def test_a_paragraph_that_runs_on_over_the_page_break_says_so() -> None:
    drawing = Drawing()
    lines = justified(PROSE, 430)
    drawing.lines(justified(OTHER, 430))
    drawing.lines(lines[:2], y=160)
    drawing.new_page()
    below = drawing.lines(lines[2:])
    drawing.lines(justified(OTHER, 430), y=below + 10)
    assert [unit.continues for unit in drawing.units()] == [False, False, True, False]


@pytest.mark.parametrize(
    "caption", ["Figure 3. Sales by region", "Table 2: Costs", "図3 売上高", "TABLE IV  SUMMARY"]
)
def test_captions_are_known_by_how_they_begin(caption: str) -> None:
    drawing = Drawing()
    drawing.lines(justified(PROSE, 430))
    font = "japan" if not caption.isascii() else "helv"
    drawing.text(LEFT, 300, caption, size=9, font=font)
    assert drawing.units()[-1].type == "caption"


def test_a_sentence_about_a_table_is_no_caption() -> None:
    drawing = Drawing()
    drawing.lines(justified("Table 2 shows the costs of each of the three plans. " + PROSE, 430))
    assert drawing.units()[0].type == "prose"


def test_small_print_with_a_mark_at_the_foot_is_a_footnote() -> None:
    drawing = Drawing()
    drawing.lines(justified(PROSE, 430))
    drawing.text(LEFT, 760, "1 See the report of the committee, page 12.", size=7.5)
    assert drawing.units()[-1].type == "footnote"


def test_code_keeps_its_lines() -> None:
    drawing = Drawing()
    drawing.lines(justified(PROSE, 430))
    for n, line in enumerate(["for row in rows:", "print(row)"]):
        drawing.text(LEFT, 200 + 11 * n, line, size=9, font="cour")
    unit = drawing.units()[-1]
    assert unit.type == "code" and unit.text == "for row in rows:\nprint(row)"


def test_code_keeps_its_indents() -> None:
    listing = "def total(rows):\n    amount = 0\n    for row in rows:\n        amount += row.price"
    drawing = Drawing()
    drawing.lines(justified(PROSE, 430))
    for n, line in enumerate(listing.split("\n")):
        text = line.lstrip()
        x = LEFT + (len(line) - len(text)) * 0.6 * 9
        drawing.text(x, 200 + 11 * n, text, size=9, font="cour")
    (page,) = drawing.read()
    unit = page.units[-1]
    assert unit.type == "code" and unit.text == listing
    check([page])


def test_entries_of_a_table_of_contents_are_units_of_their_own() -> None:
    drawing = Drawing()
    entries = [f"{n} Chapter on matter {n} {'.' * (60 + n)} {n * 7}" for n in range(1, 8)]
    drawing.lines(entries)
    assert texts(drawing.units()) == entries


def test_slanted_text_does_not_disturb_the_page() -> None:
    drawing = Drawing()
    drawing.lines(justified(PROSE, 430))
    writer = pymupdf.TextWriter(drawing.page.rect)
    writer.append((150, 500), "CONFIDENTIAL", fontsize=40)
    writer.write_text(drawing.page, morph=(pymupdf.Point(150, 500), pymupdf.Matrix(40)))
    assert texts(drawing.units()) == [PROSE, "CONFIDENTIAL"]


def test_a_note_in_the_margin_is_a_paragraph_of_its_own() -> None:
    drawing = Drawing()
    drawing.lines(["Notes such", "as this are", "usually set", "in the outer", "margin."], x=20)
    drawing.text(100, TOP - 30, "2.4 Findings", size=14)
    drawing.lines(justified(PROSE, 400), x=100)
    drawing.lines(["Name      Value", "This         11"], x=200, y=400)
    found = texts(drawing.units())
    assert found[0] == "Notes such as this are usually set in the outer margin."
    assert PROSE in found


def test_a_bold_line_that_ends_with_a_colon_heads_what_it_introduces() -> None:
    drawing = Drawing()
    drawing.text(LEFT, TOP - 30, "Cash flows from operations:", font="hebo")
    drawing.lines(justified(PROSE, 430))
    drawing.text(LEFT, 300, "The committee resolved:")
    found = {unit.text: unit.type for unit in drawing.units()}
    assert found["Cash flows from operations:"] == "heading"
    assert found["The committee resolved:"] == "prose"


def test_a_line_in_a_colour_of_its_own_heads_the_text_below_it() -> None:
    blue = (0.18, 0.45, 0.71)
    drawing = Drawing()
    for y, text in ((60, "Where it is used"), (200, "See www.example.org")):
        drawing.page.insert_text((LEFT, y), text, fontsize=10, color=blue)
        drawing.lines(justified(PROSE, 430), y=y + 20)
    found = {unit.text: unit.type for unit in drawing.units()}
    assert found["Where it is used"] == "heading"
    assert found["See www.example.org"] == "prose"


def test_footnotes_set_close_below_one_another_are_parted_at_their_raised_numbers() -> None:
    notes = ["Security of the whole building and its gardens", "The survey of the year before"]
    drawing = Drawing()
    for number, note in enumerate(notes):
        drawing.text(LEFT, 700 + 10 * number, f"{30 + number}", size=5)
        drawing.text(LEFT + 7, 703 + 10 * number, note, size=8)
    assert texts(drawing.units()) == [f"30 {notes[0]}", f"31 {notes[1]}"]


def test_lines_of_a_hanging_indent_stay_together_under_wide_leading() -> None:
    page = Drawing()
    item = justified("to set all of its lines as wide as the column " * 6, width=300)
    page.text(72, 100, "3)")
    page.lines(item, x=90, y=100, leading=15.5)
    page.lines(justified("The column itself is a little wider than that, and " * 6, width=318), y=300)
    assert texts(page.units())[0] == "3) " + " ".join(item)


def test_a_sentence_that_runs_past_a_picture_stays_whole() -> None:
    page = Drawing()
    beside = justified("words that stand beside a picture and go on below it " * 2, width=200)[:-1]
    below = justified("where the lines are as long as the column again " * 3, width=240)
    page.lines(beside, x=112, y=100)
    page.lines(below, y=100 + 12 * len(beside))
    assert len(page.units()) == 1


def test_heads_of_two_columns_of_items_are_read_with_their_columns() -> None:
    page = Drawing()
    for x, name in ((72, "First"), (320, "Second")):
        page.text(x - 12, 100, f"{name} column of the slide", size=14)
        for n in range(4):
            page.text(x, 120 + 14 * n, "\u2022", font="helv")
            page.text(x + 10, 120 + 14 * n, f"{name} item number {n}")
    found = texts(page.units())
    assert [text.split()[0] for text in found if "column" in text] == ["First", "Second"]
    assert found.index("Second column of the slide") == 5


def test_texts_far_apart_in_one_row_are_units_of_their_own() -> None:
    page = Drawing()
    page.text(72, 100, "The sender of the letter")
    page.text(420, 100, "Berlin in spring")
    assert texts(page.units()) == ["The sender of the letter", "Berlin in spring"]


def test_items_that_open_with_a_dash_under_one_another_are_parted() -> None:
    page = Drawing()
    items = ["- the first of the items here", "- the second of the items", "- the third of the items, of all"]
    page.lines(items)
    assert texts(page.units()) == items


def test_the_number_of_a_heading_stays_with_it_however_far_away() -> None:
    page = Drawing()
    page.text(72, 100, "Item 1A.", font="hebo")
    page.text(180, 100, "RISK FACTORS", font="hebo")
    page.lines(justified(PROSE, 430), y=120)
    assert page.units()[0].type == "heading"
    assert page.units()[0].text == "Item 1A. RISK FACTORS"


def test_a_ragged_line_within_a_sentence_does_not_end_its_paragraph() -> None:
    page = Drawing()
    ragged = [
        justified(PROSE, 430)[0],
        justified(OTHER, 375)[0],
        "Berlin, as it has always been in their view.",
    ]
    room = [pymupdf.get_text_length(text, "helv", 10) for text in (ragged[0], f"{ragged[1]} Berlin,")]
    assert room[1] < room[0]
    page.lines(ragged)
    assert texts(page.units()) == [" ".join(ragged)]


def test_a_numbered_heading_may_end_with_initials() -> None:
    page = Drawing()
    page.lines(justified(PROSE, 430), y=60)
    page.text(72, 130, "3.3 H.E.S.S.", font="hebo")
    page.lines(justified(OTHER, 430), y=150)
    heading = page.units()[1]
    assert (heading.type, heading.text) == ("heading", "3.3 H.E.S.S.")


def test_words_in_spaced_letters_are_words() -> None:
    page = Drawing()
    x = 72.0
    for letter in "ARTICLE  ABSTRACT":
        if letter == " ":
            x += 4
            continue
        page.text(x, 100, letter)
        x += pymupdf.get_text_length(letter, "helv", 10) + 4
    page.lines(justified(PROSE, 430), y=130)
    assert page.read()[0].text.startswith("ARTICLE ABSTRACT\n")


def test_letters_that_name_columns_are_no_word() -> None:
    page = Drawing()
    for n, letter in enumerate("ABCDEFG"):
        page.text(72 + 11 * n, 100, letter)
    assert page.units()[0].text == "A B C D E F G"


def test_double_spaced_prose_stays_whole() -> None:
    drawing = Drawing()
    y = drawing.lines(justified(PROSE, 400), leading=24)
    drawing.lines(justified(OTHER, 400), y=y + 12, leading=24)
    assert texts(drawing.units()) == [PROSE, OTHER]


def test_a_label_far_from_the_text_before_it_begins_a_text_of_its_own() -> None:
    drawing = Drawing()
    drawing.text(72, 90, "Date: May 20, 2022")
    drawing.text(330, 90, "By:")
    drawing.text(350, 90, "/s/ Ada Lovelace")
    drawing.text(350, 104, "Chief Counsel")
    assert texts(drawing.units())[0] == "Date: May 20, 2022"


def test_a_line_mostly_in_smaller_code_stays_in_its_paragraph() -> None:
    drawing = Drawing()
    first, *rest = justified(PROSE, 400, size=11)
    drawing.text(72, 90, first, size=11)
    drawing.text(72, 104, "where", size=11)
    drawing.text(
        108, 104, "the_identifier_of_the_party_that_asked_for_it_is_known_to_them,", size=9, font="cour"
    )
    drawing.lines(rest, y=118, leading=14, size=11)
    assert len(drawing.units()) == 1


def test_boxes_to_be_checked_open_items() -> None:
    drawing = Drawing()
    html = "<p>Check the box below that applies to the filing of this form:</p>"
    for text in ("communications under Rule 425", "material under Rule 14a-12"):
        html += f"<p>☐ {text}</p>"
    html = html.replace("<p>", '<p style="margin:0;font-size:10px">')
    drawing.page.insert_htmlbox(pymupdf.Rect(72, 72, 360, 200), html)
    assert [unit.list_marker for unit in drawing.units()] == ["", "☐", "☐"]


def test_entries_of_a_table_of_contents_are_no_headings_whatever_their_type() -> None:
    drawing = Drawing()
    chapters = (("Introduction", 3), ("Methods of measuring", 9), ("Results", 17))
    y = 120.0
    drawing.text(LEFT, 90, "Contents", size=16)
    for number, (title, page) in enumerate(chapters, 1):
        drawing.text(LEFT, y, f"{number} {title}", font="hebo")
        drawing.text(480 - 5.56 * len(str(page)), y, str(page), font="hebo")
        for part in range(1, 3):
            name = f"{number}.{part} Part {part} "
            dots = "." * int((480 - LEFT - 20 - 6 * len(name)) / 2.78)
            drawing.text(LEFT + 20, y + 14 * part, f"{name}{dots}")
            drawing.text(480 - 5.56 * len(str(page + part)), y + 14 * part, str(page + part))
        y += 60
    drawing.new_page()
    drawing.text(LEFT, 90, "1 Introduction", font="hebo", size=14)
    drawing.lines(justified(PROSE, 430), y=120)
    headings = [unit.text for unit in drawing.units() if unit.type == "heading"]
    assert headings == ["Contents", "1 Introduction"]


def test_a_numbered_line_in_another_face_heads_a_section_though_nothing_says_that_it_is_bold() -> None:
    drawing = Drawing()
    drawing.lines(justified(PROSE, 430))
    drawing.text(LEFT, 170, "1.4.2 Reading the tide tables", font="tiro")
    below = drawing.lines(justified(OTHER, 430), y=190)
    drawing.text(LEFT, below + 20, "10.0.0.6 harbour.example.org harbour", font="cour")
    headings = [unit.text for unit in drawing.units() if unit.type == "heading"]
    assert headings == ["1.4.2 Reading the tide tables"]
