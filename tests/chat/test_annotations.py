"""People's own highlights: made of what is selected, found again, searched, exported."""

from __future__ import annotations

import json

import pymupdf
import pytest
from django.contrib.auth.models import User
from django.test import Client

from chat.annotations.annotation_commands import annotate_quote, reanchor_annotations
from chat.models import Annotation
from documents.models import Document
from tests.api_clients import client_of
from tests.chat.test_reanchoring import read_anew
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


@pytest.mark.parametrize(
    "sent",
    [
        {},
        {"selected": "no JSON"},
        {"selected": '[{"page": 1, "boxes": [[0.9, 0.9, 0.95, 0.95]]}]'},  # no words there
        {"selected": '[{"page": 99, "boxes": [[0, 0, 1, 1]]}]'},
        {"selected": '[{"page": 1, "boxes": [[0, 0, 1, 1]]}]', "colour": "red; x"},
    ],
)
def test_what_cannot_be_annotated_is_refused_in_a_sentence(
    alice: User, manual: Document, client: Client, sent: dict[str, str]
) -> None:
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
    assert "## Page 1\n\n> A \\<script\\> tag and a \\[link\\](x).\n\n\\# Not a heading\n" in said


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
