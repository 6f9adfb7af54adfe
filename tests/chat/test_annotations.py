"""People's own highlights: made of what is selected, found again, searched, exported."""

from __future__ import annotations

import json
import re
from html import unescape
from xml.etree import ElementTree as ET

import pymupdf
import pytest
from django.contrib.auth.models import User
from django.test import Client

from chat.annotations import annotate_quote, reanchor_annotations
from chat.models import Annotation
from documents.models import Document
from tests.api_clients import client_of
from tests.chat.citations.test_citations_reanchored import read_anew
from tests.conftest import Ingest
from tests.drawing import LEFT, TOP

LINES = "The brake line holds at 40 bar.\nEvery valve is tested twice."


@pytest.fixture
def manual(alice: User, ingested: Ingest) -> Document:
    return ingested(alice, LINES, "Nothing of it here.", name="manual.pdf")


def selected(document: Document, x0: float, x1: float, line: int = 0, page: int = 1) -> str:
    """The JSON of a selection on a drawn line, from x0 to x1 points."""
    width, height = document.pages.get(number=page).frame.display_size
    y = TOP + 14 * line
    return json.dumps(
        [{"page": page, "boxes": [[x0 / width, (y - 8) / height, x1 / width, (y + 2) / height]]}]
    )


def test_the_words_that_were_selected_are_kept_with_their_place(
    alice: User, manual: Document, client: Client
) -> None:
    client.force_login(alice)
    url = f"/documents/{manual.pk}/annotations/"
    sent = {"selected": selected(manual, LEFT, 300), "colour": "green", "kind": "highlight"}
    made = client.post(url, sent)
    assert made.status_code == 201
    (shown,) = made.json()
    kept = Annotation.objects.get(pk=shown["id"])
    assert (kept.quote, kept.page_number, kept.colour) == ("The brake line holds at 40 bar.", 1, "green")
    ((x0, y0, _, y1),) = kept.rects
    assert x0 == pytest.approx(LEFT, abs=1) and y0 < TOP < y1 < TOP + 14
    assert client.get(url).json() == [shown]


def test_part_of_a_word_is_that_word(alice: User, manual: Document, client: Client) -> None:
    client.force_login(alice)
    url = f"/documents/{manual.pk}/annotations/"
    client.post(url, {"selected": selected(manual, LEFT + 2, LEFT + 5), "kind": "underline"})
    assert [(one.quote, one.kind) for one in Annotation.objects.all()] == [("The", "underline")]


def test_what_cannot_be_annotated_is_refused_in_a_sentence(
    alice: User, manual: Document, client: Client, subtests: pytest.Subtests
) -> None:
    for sent in [
        {},
        {"selected": "no JSON"},
        {"selected": '[{"page": 1, "boxes": [[0.9, 0.9, 0.95, 0.95]]}]'},  # no words there
        {"selected": '[{"page": 99, "boxes": [[0, 0, 1, 1]]}]'},
        {"selected": '[{"page": 1, "boxes": [[0, 0, 1, 1]]}]', "colour": "red; x"},
    ]:
        with subtests.test(sent=sent):
            client.force_login(alice)
            answer = client.post(f"/documents/{manual.pk}/annotations/", sent)
            assert answer.status_code == 422
            assert answer.json()["error"].endswith(".")
            assert not Annotation.objects.exists()


def test_annotations_are_their_makers_alone(alice: User, bob: User, manual: Document, client: Client) -> None:
    (hers,) = annotate_quote(alice, manual, "brake line")
    client.force_login(bob)
    assert client.get(f"/documents/{manual.pk}/annotations/").status_code == 404
    assert client.post(f"/annotations/{hers.pk}/delete/").status_code == 404
    assert not Annotation.objects.visible_to(bob).exists()
    Document.objects.filter(pk=manual.pk).update(deleted_at="2026-01-01T00:00Z")
    assert not Annotation.objects.visible_to(alice).exists()


def test_the_list_is_searched_changed_and_undone(alice: User, manual: Document, client: Client) -> None:
    (brake,) = annotate_quote(alice, manual, "brake line")
    (valve,) = annotate_quote(alice, manual, "Every valve")
    client.force_login(alice)
    url = f"/documents/{manual.pk}/annotations/list/"
    sent = {"comment": "Ask the\r\nworkshop", "colour": "pink", "kind": "underline"}
    assert client.post(f"/annotations/{brake.pk}/", sent).status_code == 204
    brake.refresh_from_db()
    assert (brake.comment, brake.colour, brake.kind) == ("Ask the\nworkshop", "pink", "underline")
    found = client.get(url, {"q": "WORKSHOP"}).content.decode()
    assert str(brake.pk) in found and str(valve.pk) not in found
    client.post(f"/annotations/{brake.pk}/delete/")
    assert str(brake.pk) not in client.get(url).content.decode()
    client.post(f"/annotations/{brake.pk}/restore/")
    assert str(brake.pk) in client.get(url).content.decode()


def test_a_new_reading_moves_annotations_with_their_words(alice: User, manual: Document) -> None:
    (brake,) = annotate_quote(alice, manual, "brake line holds")
    (valve,) = annotate_quote(alice, manual, "Every valve is tested")
    (same,) = annotate_quote(alice, manual, "Nothing of it")
    read_anew(manual, "A new first page.", "Nothing of it here.\n\nThe brake line holds at 40 bar.")
    for annotation in (brake, valve, same):
        annotation.refresh_from_db()
    assert (brake.page_number, brake.durability) == (2, "moved")
    assert brake.rects[0][1] > TOP
    assert (valve.durability, valve.quote) == ("gone", "Every valve is tested")
    assert (same.page_number, same.durability) == (2, "same")


def test_the_same_words_elsewhere_do_not_draw_an_annotation_away(alice: User, ingested: Ingest) -> None:
    document = ingested(alice, "Check the oil.", "Check the oil.\nThen check the oil again.")
    (first,) = annotate_quote(alice, document, "Check the oil.")
    second = Annotation.objects.create(
        owner=alice, document=document, quote="Check the oil.", page_number=2, rects=first.rects,
        context="Check the oil.\nThen check",
    )  # fmt: skip
    reanchor_annotations(document)
    for annotation in (first, second):
        annotation.refresh_from_db()
    assert [(one.page_number, one.durability) for one in (first, second)] == [(1, "same"), (2, "same")]


def test_the_exported_pdf_has_real_annotations_where_the_words_are(
    alice: User, manual: Document, client: Client
) -> None:
    annotate_quote(alice, manual, "brake line", colour="blue", comment="At 40 bar?")
    annotate_quote(alice, manual, "Every valve", kind="underline")
    client.force_login(alice)
    answer = client.get(f"/documents/{manual.pk}/annotations/export.pdf")
    pdf = pymupdf.open("pdf", answer.content)
    assert pdf.page_count == 2
    page = pdf[0]
    notes = list(page.annots())
    found = [(note.type[1], note.info["content"], note.info["title"]) for note in notes]
    assert found == [("Highlight", "At 40 bar?", "alice"), ("Underline", "", "alice")]
    assert notes[0].colors["stroke"] == pytest.approx((0.58, 0.79, 0.98), abs=0.01)
    assert "brake line" in page.get_textbox(notes[0].rect)


def test_the_markdown_quotes_the_words_and_nothing_else_runs(
    alice: User, ingested: Ingest, client: Client
) -> None:
    document = ingested(alice, "A <script> tag and a [link](x).", name="Report.pdf")
    annotate_quote(alice, document, "A <script> tag and a [link](x).", comment="# Not a heading")
    client.force_login(alice)
    said = client.get(f"/documents/{document.pk}/annotations/export.md").content.decode()
    link = re.search(
        r"^> A \\<script\\> tag and a \\\[link\\\]\(x\)\. \[p\. 1\]\((http://testserver/.+)\)$", said, re.M
    )
    assert link and "## Page 1\n" in said and "\n\n\\# Not a heading\n" in said

    read_anew(document, "Quite another page.", "A <script> tag and a [link](x).")
    opening = client.get(link[1]).context["opening"]
    assert [(lit["page"], len(lit["anchor"])) for lit in opening] == [(2, 1)]


def test_the_api_makes_lists_changes_and_deletes_annotations(
    alice: User, bob: User, manual: Document
) -> None:
    her = client_of(alice)
    sent = {"document": str(manual.pk), "quote": "valve is tested", "colour": "purple", "comment": "Twice!"}
    made = her.post("/api/annotations/", sent, format="json")
    assert made.status_code == 201
    said = made.json()
    assert (said["page"], said["quote"], said["colour"]) == (1, "valve is tested", "purple")
    assert said["region"]["rects"]
    url = f"/api/annotations/{said['id']}/"
    assert her.patch(url, {"comment": "Once."}, format="json").json()["comment"] == "Once."
    assert her.patch(url, {"quote": "other"}, format="json").status_code == 400
    assert her.post("/api/annotations/", sent | {"quote": "penguins"}, format="json").status_code == 400
    listed = her.get("/api/annotations/", {"document": str(manual.pk), "q": "once"}).json()
    assert [row["id"] for row in listed["results"]] == [said["id"]]
    assert her.get("/api/annotations/", {"colour": "blue"}).json()["results"] == []
    assert client_of(bob).get(url).status_code == 404
    assert client_of(bob).post("/api/annotations/", sent, format="json").status_code == 404
    assert her.delete(url).status_code == 204
    assert her.get(url).status_code == 404


def held_pdf() -> bytes:
    """A page with a highlight, an underline, a line drawn by hand, and a note."""
    pdf = pymupdf.open()
    page = pdf.new_page()
    page.insert_text((LEFT, TOP), "The harbour closes at dusk. Lamps are lit on the pier.")
    marked = page.add_highlight_annot(page.search_for("closes at dusk"))
    marked.set_colors(stroke=(0.2, 0.9, 0.3))
    marked.set_info(content="Which\rmonth?")
    marked.update()
    page.add_underline_annot(page.search_for("Lamps"))
    page.add_ink_annot([[(100, 300), (120, 320), (140, 300)]])
    page.add_text_annot((300, 400), "Ask the pilot")
    return bytes(pdf.tobytes())


def test_annotations_in_a_pdf_are_taken_over_once_and_replaced_in_its_export(
    alice: User, ingested: Ingest, client: Client
) -> None:
    document = ingested(alice, pdf=held_pdf(), name="harbour.pdf")
    client.force_login(alice)
    url = f"/documents/{document.pk}/annotations/"
    assert "4 annotations imported" in client.post(f"{url}take-over/").content.decode()
    assert "No new annotations" in client.post(f"{url}take-over/").content.decode()
    taken = {one.kind: one for one in Annotation.objects.filter(comment="")}
    marked = Annotation.objects.get(quote="closes at dusk.")
    assert (marked.kind, marked.colour, marked.comment) == ("highlight", "green", "Which\nmonth?")
    assert taken["underline"].quote == "Lamps"
    assert taken["ink"].strokes == [[[100, 300], [120, 320], [140, 300]]]
    assert Annotation.objects.get(comment="Ask the pilot").quote == ""
    client.post(f"/annotations/{taken['ink'].pk}/delete/")
    shown = client.get(url).json()
    assert len(shown) == 4 and {one["source"] for one in shown} == {one.source for one in taken_all(document)}
    exported = pymupdf.open("pdf", client.get(f"{url}export.pdf").content)
    kinds = sorted(note.type[1] for note in exported[0].annots())
    assert kinds == ["Highlight", "Highlight", "Underline"]  # no drawing: it was deleted


def taken_all(document: Document) -> list[Annotation]:
    return list(Annotation.objects.filter(document=document))


def test_a_drawing_is_kept_on_a_turned_page_where_it_was_drawn(
    alice: User, ingested: Ingest, client: Client
) -> None:
    pdf = pymupdf.open()
    pdf.new_page(width=400, height=600).insert_text((LEFT, TOP), "Turned on its side.")
    pdf[0].set_rotation(90)
    document = ingested(alice, pdf=bytes(pdf.tobytes()), name="turned.pdf")
    client.force_login(alice)
    url = f"/documents/{document.pk}/annotations/"
    strokes = [[[0.25, 0.5], [0.5, 0.75]]]
    sent = json.dumps([{"page": 1, "strokes": strokes}])
    (shown,) = client.post(url, {"selected": sent, "kind": "ink", "colour": "blue"}).json()
    assert (shown["kind"], shown["strokes"]) == ("ink", strokes)
    kept = Annotation.objects.get()
    assert kept.strokes == [[[200, 450], [300, 300]]]  # 400 x 600 points, not turned
    assert kept.rects == [[200, 300, 300, 450]]
    exported = pymupdf.open("pdf", client.get(f"{url}export.pdf").content)
    page = exported[0]
    assert [note.type[1] for note in page.annots()] == ["Ink"]
    reanchor_annotations(document)
    kept.refresh_from_db()
    assert (kept.durability, kept.rects) == ("same", [[200, 300, 300, 450]])


@pytest.mark.parametrize("strokes", [[[[3, 0.5]]], [[["a", 1]]], [[[0.5]]]])
def test_a_drawing_that_lies_on_no_page_is_refused(
    alice: User, manual: Document, client: Client, strokes: list[object]
) -> None:
    client.force_login(alice)
    sent = {"selected": json.dumps([{"page": 1, "strokes": strokes}]), "kind": "ink"}
    assert client.post(f"/documents/{manual.pk}/annotations/", sent).status_code == 422


def test_hypothesis_and_zotero_get_the_words_the_place_and_the_comment(
    alice: User, manual: Document, client: Client
) -> None:
    Document.objects.filter(pk=manual.pk).update(title="Brakes & <valves>", authors=["Ida Rowe"], year=2019)
    annotate_quote(alice, manual, "brake line", comment="At 40 bar?\nAsk <b>Tom</b>")
    client.force_login(alice)
    url = f"/documents/{manual.pk}/annotations/export"
    export = client.get(f"{url}.json").json()
    (row,) = export["annotations"]
    assert row["text"] == "At 40 bar?\nAsk <b>Tom</b>"
    assert row["uri"].startswith("urn:x-pdf:") and len(row["uri"]) == len("urn:x-pdf:") + 32
    selectors = {selector["type"]: selector for selector in row["target"][0]["selector"]}
    quote = selectors["TextQuoteSelector"]
    assert (quote["prefix"], quote["exact"]) == ("The ", "brake line") and quote["suffix"].startswith(
        " holds"
    )
    assert selectors["PageSelector"]["index"] == 0
    rdf = ET.fromstring(client.get(f"{url}.rdf").content)
    names = {"dc": "http://purl.org/dc/elements/1.1/", "foaf": "http://xmlns.com/foaf/0.1/"}
    assert rdf.findtext(".//dc:title", namespaces=names) == "Brakes & <valves>"
    assert rdf.findtext(".//foaf:surname", namespaces=names) == "Rowe"
    address, note = (found.text for found in rdf.iter("{http://www.w3.org/1999/02/22-rdf-syntax-ns#}value"))
    assert address == f"http://testserver/documents/{manual.pk}/"
    opened = f"http://testserver/documents/{manual.pk}/?page=1&amp;q=brake+line"
    assert note and f'“brake line” (<a href="{opened}">p. 1</a>)<br>At 40 bar?<br>Ask &lt;b&gt;Tom' in note
    assert client.get(f"{url}.exe").status_code == 404


def test_links_of_exported_highlights_open_the_words_after_the_document_was_read_anew(
    alice: User, manual: Document, client: Client
) -> None:
    """Obsidian keeps the Markdown and Zotero the RDF; the document is another one by then."""
    annotate_quote(alice, manual, "brake line holds", comment="At 40 bar?")
    client.force_login(alice)
    url = f"/documents/{manual.pk}/annotations/export"
    (in_markdown,) = re.findall(r"\[p\. 1\]\((http\S+?)\)", client.get(f"{url}.md").content.decode())
    rdf = ET.fromstring(client.get(f"{url}.rdf").content)
    notes = [found.text or "" for found in rdf.iter("{http://www.w3.org/1999/02/22-rdf-syntax-ns#}value")]
    (in_rdf,) = (unescape(link) for note in notes for link in re.findall('href="([^"]+)"', note))
    assert in_rdf == in_markdown
    read_anew(manual, "A page that was put before all others.", "A second one.", LINES)
    Annotation.objects.all().delete()
    (lit,) = client.get(in_markdown).context["opening"]
    assert lit["page"] == 3 and lit["anchor"]
    read_anew(manual, "Of brakes it says nothing.")
    assert not [lit for lit in client.get(in_markdown).context["opening"] or () if lit["anchor"]]


def test_the_api_stores_drawings_and_says_what_is_missing(alice: User, manual: Document) -> None:
    api = client_of(alice)
    sent = {"document": str(manual.pk), "kind": "ink", "page": 1, "strokes": [[[72, 90], [80, 99.5]]]}
    made = api.post("/api/annotations/", sent, format="json")
    assert made.status_code == 201, made.json()
    assert made.json()["strokes"] == [[[72, 90], [80, 99.5]]]
    del sent["page"]
    refused = api.post("/api/annotations/", sent, format="json")
    assert refused.status_code == 400 and "page" in str(refused.json())
    assert api.post("/api/annotations/", sent | {"page": 77}, format="json").status_code == 400
    url = f"/api/annotations/{made.json()['id']}/"
    assert api.patch(url, {"kind": "underline"}, format="json").status_code == 400
    assert api.patch(url, {"comment": "Mind this"}, format="json").json()["comment"] == "Mind this"
