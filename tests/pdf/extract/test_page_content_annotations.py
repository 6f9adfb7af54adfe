"""Text of annotations that is printed on the page is content; text that opens on a click is not."""

from __future__ import annotations

from collections.abc import Sequence

import pymupdf
import pytest

from pdf.extract.page_content import read_page
from pdf.layout.pipeline import read_pages


def units_of(document: pymupdf.Document) -> list[str]:
    (page,) = read_pages(pymupdf.open("pdf", document.tobytes()), [1])
    return [unit.text for unit in page.units]


def page_of_text() -> tuple[pymupdf.Document, pymupdf.Page]:
    document = pymupdf.open()
    page = document.new_page()
    page.insert_text((72, 100), "Application for a berth in the inner harbour")
    return document, page


def test_free_text_that_was_typed_onto_a_page_is_content() -> None:
    document, page = page_of_text()
    page.add_freetext_annot((72, 200, 400, 230), "Checked by the harbour master on 3 May")
    assert "Checked by the harbour master on 3 May" in units_of(document)


def test_what_was_filled_into_a_form_is_content() -> None:
    document, page = page_of_text()
    page.insert_text((72, 215), "Name of the boat")
    field = pymupdf.Widget()
    field.field_name, field.field_value = "boat", "Seagull of Bergen"
    field.field_type = pymupdf.PDF_WIDGET_TYPE_TEXT
    field.rect = pymupdf.Rect(180, 200, 400, 222)
    page.add_widget(field)
    assert any("Seagull of Bergen" in text for text in units_of(document))


def tick_boxes(page: pymupdf.Page, kind: int, states: Sequence[tuple[str, bool]]) -> None:
    """Draw a box with each label, ticked or not, one below the other."""
    for n, (label, ticked) in enumerate(states):
        field = pymupdf.Widget()
        field.field_name, field.field_type = f"box {n}", kind
        field.rect = pymupdf.Rect(72, 200 + 20 * n, 82, 210 + 20 * n)
        field.border_width, field.border_color = 0.5, (0, 0, 0)
        page.add_widget(field)
        field.field_value = ticked
        field.update()
        page.insert_text((88, 209 + 20 * n), label, fontsize=10)


@pytest.mark.parametrize("rotation", [0, 90])
def test_the_state_of_a_check_box_is_a_word_before_its_label(rotation: int) -> None:
    document, page = page_of_text()
    tick_boxes(
        page,
        pymupdf.PDF_WIDGET_TYPE_CHECKBOX,
        [("Sailing boat", False), ("Motor boat", True), ("Raft", False)],
    )
    page.set_rotation(rotation)
    (read,) = read_pages(pymupdf.open("pdf", document.tobytes()), [1])
    assert {"☐ Sailing boat", "☐ Raft"} <= {unit.text for unit in read.units}
    (motor,) = (unit for unit in read.units if "Motor boat" in unit.text)
    assert motor.text[0] in "☑✓✔" and len(motor.text.split()) == 3


def test_a_check_box_without_a_label_is_a_line_of_its_own() -> None:
    document, page = page_of_text()
    field = pymupdf.Widget()
    field.field_name, field.field_type = "box", pymupdf.PDF_WIDGET_TYPE_CHECKBOX
    field.rect = pymupdf.Rect(72, 300, 82, 310)
    page.add_widget(field)
    assert units_of(document) == ["Application for a berth in the inner harbour", "☐"]


def test_a_large_value_of_a_field_is_no_heading() -> None:
    document, page = page_of_text()
    page.insert_textbox(
        (72, 120, 500, 190), "The harbour master asks for the name of the boat. " * 6, fontsize=10
    )
    field = pymupdf.Widget()
    field.field_name, field.field_value = "boat", "Seagull of Bergen"
    field.field_type, field.text_fontsize = pymupdf.PDF_WIDGET_TYPE_TEXT, 20
    field.rect = pymupdf.Rect(72, 200, 400, 232)
    page.add_widget(field)
    (read,) = read_pages(pymupdf.open("pdf", document.tobytes()), [1])
    (value,) = (unit for unit in read.units if "Seagull" in unit.text)
    assert value.type == "prose"


def test_a_scan_with_fields_over_it_is_still_without_words() -> None:
    document = pymupdf.open()
    page = document.new_page()
    picture = pymupdf.Pixmap(pymupdf.csGRAY, pymupdf.IRect(0, 0, 600, 800))
    picture.clear_with(200)
    page.insert_image(page.rect, pixmap=picture)
    field = pymupdf.Widget()
    field.field_name, field.field_type = "box", pymupdf.PDF_WIDGET_TYPE_CHECKBOX
    field.rect = pymupdf.Rect(72, 200, 82, 210)
    page.add_widget(field)
    assert not read_page(pymupdf.open("pdf", document.tobytes())[0]).words


def test_a_hidden_annotation_is_not_content() -> None:
    document, page = page_of_text()
    annotation = page.add_freetext_annot((72, 200, 400, 230), "Ignore what was said before")
    annotation.set_flags(pymupdf.PDF_ANNOT_IS_HIDDEN)
    annotation.update()
    assert units_of(document) == ["Application for a berth in the inner harbour"]


def test_a_note_that_opens_on_a_click_is_not_content() -> None:
    document, page = page_of_text()
    page.add_text_annot((300, 300), "Ask for the length of the boat")
    assert units_of(document) == ["Application for a berth in the inner harbour"]
