"""Text of annotations that is printed on the page is content; text that opens on a click is not."""

from __future__ import annotations

import pymupdf

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
