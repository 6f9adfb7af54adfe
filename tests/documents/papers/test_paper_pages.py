"""The pages for papers: added, imported, put right, completed, followed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from documents.ingestion.pipeline import ingest_document
from documents.models import Document
from documents.papers.acquisition import add_paper
from documents.papers.bibliography import PaperRecord, record_named
from tests.api_clients import client_of
from tests.drawing import draw_pdf
from tests.scripted_server import Answer, ScriptedServer

DOI = "10.1234/anvils.2018"
PAPER = {"title": "On the Weight of Anvils", "year": 2018, "externalIds": {"DOI": DOI}}
RIS = "TY  - JOUR\nTI  - Anvils\nAU  - Coyote, Wile E.\nPY  - 2018\nER  - \n"


@pytest.fixture
def browser(alice: User, client: Client) -> Client:
    client.force_login(alice)
    return client


@pytest.fixture
def paper(alice: User) -> Document:
    return add_paper(alice, PaperRecord(title="On the Weight of Anvils", year=2018, doi=DOI))


@pytest.mark.parametrize(
    ("typed", "doi", "arxiv_id", "title"),
    [
        ("https://doi.org/10.1234/Anvils.2018", "10.1234/anvils.2018", "", ""),
        ("arXiv:1706.03762v5", "", "1706.03762", ""),
        ("https://arxiv.org/pdf/1706.03762v5.pdf", "", "1706.03762", ""),
        ("1706.03762", "", "1706.03762", ""),
        ("Anvils since 1706.03762 B.C.", "", "", "Anvils since 1706.03762 B.C."),
    ],
)
def test_what_names_a_paper_is_told_apart(typed: str, doi: str, arxiv_id: str, title: str) -> None:
    record = record_named(typed)
    assert (record.doi, record.arxiv_id, record.title) == (doi, arxiv_id, title)


def test_a_paper_is_added_by_its_doi(browser: Client, catalogues: ScriptedServer) -> None:
    assert b"DOI, arXiv id or title" in browser.get(reverse("papers")).content
    catalogues.script[f"/s2/paper/DOI:{DOI}"] = Answer.json(PAPER)
    answer = browser.post(reverse("paper-add"), {"what": f"https://doi.org/{DOI}"})
    made = Document.objects.get()
    assert answer.url == reverse("document-details", args=[made.pk])  # type: ignore[attr-defined]
    assert (made.title, made.kind, made.doi) == (PAPER["title"], "paper", DOI)


def test_a_paper_nobody_knows_stays_in_the_field_with_the_reason(
    browser: Client, catalogues: ScriptedServer
) -> None:
    answer = browser.post(reverse("paper-add"), {"what": DOI})
    assert answer.status_code == 422 and b"No catalogue knows this paper" in answer.content
    assert DOI.encode() in answer.content and not Document.objects.exists()


def test_a_paper_is_written_down_by_hand(browser: Client) -> None:
    refused = browser.post(reverse("paper-by-hand"), {"title": "", "doi": "no DOI"})
    assert refused.status_code == 422 and refused.content.count(b"field-error") == 2
    browser.post(
        reverse("paper-by-hand"), {"title": "Anvils", "authors": "Coyote\r\n\r\nRunner", "year": "2018"}
    )
    made = Document.objects.get()
    assert (made.title, made.authors, made.year) == ("Anvils", ["Coyote", "Runner"], 2018)


def test_a_list_is_imported_pasted_or_as_a_file(browser: Client) -> None:
    assert browser.post(reverse("papers-import"), {"text": "nothing"}).status_code == 422
    assert browser.post(reverse("papers-import"), {}).status_code == 422
    assert browser.post(reverse("papers-import"), {"text": RIS}).status_code == 302
    csl = SimpleUploadedFile("list.json", json.dumps([{"title": "Rockets"}]).encode())
    assert browser.post(reverse("papers-import"), {"file": csl}).status_code == 302
    assert {document.title for document in Document.objects.all()} == {"Anvils", "Rockets"}


def test_metadata_that_was_put_right_stays_when_the_document_is_read_again(
    browser: Client, alice: User, ingested: Any
) -> None:
    document = ingested(alice, "# A Heading\n\nWords of a page.")
    path = reverse("document-metadata", args=[document.pk])
    assert b"A Heading" in browser.get(path).content
    said = {"title": "Anvils", "authors": "Wile E. Coyote", "year": "2018", "venue": "Falling", "doi": DOI}
    assert browser.post(path, said).status_code == 302
    Document.objects.filter(pk=document.pk).update(status="uploaded")
    ingest_document(document.pk)
    document.refresh_from_db()
    assert (document.title, document.authors, document.doi) == ("Anvils", ["Wile E. Coyote"], DOI)
    shown = browser.get(reverse("document-details", args=[document.pk])).content.decode()
    assert f"https://doi.org/{DOI}" in shown and "Falling" in shown


def test_a_reference_is_shown_in_a_style_to_be_copied(browser: Client, paper: Document) -> None:
    path = reverse("document-reference", args=[paper.pk])
    assert "data-copy=" in browser.get(path, {"style": "ieee"}).content.decode()
    assert browser.get(path, {"style": "unheard-of"}).status_code == 404


def test_a_paper_is_given_its_pdf(browser: Client, paper: Document) -> None:
    file = SimpleUploadedFile("a.pdf", draw_pdf("The paper itself."))
    browser.post(reverse("document-replace", args=[paper.pk]), {"file": file})
    paper.refresh_from_db()
    assert (paper.kind, paper.status) == ("pdf", "uploaded")


def test_papers_around_a_paper_are_listed_and_added_many_at_once(
    browser: Client,
    alice: User,
    paper: Document,
    catalogues: ScriptedServer,
    django_assert_max_num_queries: Any,
) -> None:
    add_paper(alice, PaperRecord(title="Rockets", doi="10.1234/rockets"))
    others = [
        {"title": f"Magnet {n}", "citationCount": n, "externalIds": {"DOI": f"10.1234/m{n}"}}
        for n in range(30)
    ]
    rows = [*others, {"title": "Rockets", "externalIds": {"DOI": "10.1234/ROCKETS"}}]
    catalogues.script[f"/s2/paper/DOI:{DOI}/citations"] = Answer.json(
        {"data": [{"citingPaper": row} for row in rows]}
    )
    page = browser.get(reverse("papers-around", args=[paper.pk]), {"of": "citing"}).content.decode()
    assert reverse("papers-around-list", args=[paper.pk]) + "?of=citing" in page
    with django_assert_max_num_queries(8):
        listed = browser.get(
            reverse("papers-around-list", args=[paper.pk]), {"of": "citing"}
        ).content.decode()
    assert listed.count('type="checkbox"') == 30 and listed.count("neighbour-kept") == 1
    add = {"of": "citing", "key": ["10.1234/m1", "10.1234/m2", "10.1234/nothing-of-the-list"]}
    assert browser.post(reverse("papers-around-add", args=[paper.pk]), add).status_code == 302
    assert set(Document.objects.filter(title__startswith="Magnet").values_list("title", flat=True)) == {
        "Magnet 1",
        "Magnet 2",
    }


def test_catalogues_that_do_not_answer_are_said_to(
    browser: Client, paper: Document, catalogues: ScriptedServer
) -> None:
    catalogues.script[f"/s2/paper/DOI:{DOI}/references"] = Answer(500)
    catalogues.script[f"/oa/works/doi:{DOI}"] = Answer(500)
    shown = browser.get(reverse("papers-around-list", args=[paper.pk])).content.decode()
    assert "is unavailable" in shown
    assert browser.get(reverse("papers-around-list", args=[paper.pk]), {"of": "x"}).status_code == 404


def test_papers_of_others_are_not_there(browser: Client, charlie: User) -> None:
    other = add_paper(charlie, PaperRecord(title="Secret", doi="10.1234/secret"))
    for view in ("document-metadata", "document-reference", "papers-around", "papers-around-list"):
        assert browser.get(reverse(view, args=[other.pk])).status_code == 404
    for view in ("document-replace", "papers-around-add"):
        assert browser.post(reverse(view, args=[other.pk])).status_code == 404


FOUND = [{"title": f"Tides {number}", "year": 2000 + number} for number in range(3)]


def test_papers_on_a_topic_are_found_and_added(browser: Client, catalogues: ScriptedServer) -> None:
    catalogues.script["/s2/paper/search"] = Answer.json({"data": FOUND})
    assert b"Find papers by topic" in browser.get(reverse("papers")).content
    page = browser.get(reverse("papers-found"), {"q": "tides & moons"}).content.decode()
    assert 'hx-get="/papers/found/list/?q=tides%20%26%20moons"' in page and "tides &amp; moons" in page
    listed = browser.get(reverse("papers-found-list"), {"q": "tides & moons"}).content.decode()
    assert listed.count('type="checkbox"') == 3 and 'name="q" value="tides &amp; moons"' in listed
    add = {"q": "tides & moons", "key": ["tides 1"]}
    assert browser.post(reverse("papers-found-add"), add).status_code == 302
    assert [document.title for document in Document.objects.all()] == ["Tides 1"]
    listed = browser.get(reverse("papers-found-list"), {"q": "tides & moons"}).content.decode()
    assert listed.count('type="checkbox"') == 2 and "in your library" in listed
    assert len(catalogues.asked) == 1, "the catalogue was asked once"


def test_papers_on_a_topic_are_found_by_the_second_catalogue_and_by_the_api(
    alice: User, catalogues: ScriptedServer
) -> None:
    catalogues.script["/s2/paper/search"] = Answer(500)
    catalogues.script["/oa/works"] = Answer.json(
        {"results": [{"display_name": "Tides", "cited_by_count": 4}]}
    )
    (row,) = client_of(alice).get("/api/papers/search/", {"q": "tides"}).json()
    assert (row["title"], row["citation_count"], row["document"]) == ("Tides", 4, None)
    assert "q" in client_of(alice).get("/api/papers/search/").json()["fields"]


def test_a_topic_that_cannot_be_looked_up_says_so(browser: Client, catalogues: ScriptedServer) -> None:
    for path in ("/s2/paper/search", "/oa/works"):
        catalogues.script[path] = Answer(500)
    listed = browser.get(reverse("papers-found-list"), {"q": "tides"}).content.decode()
    assert "Paper lookup is unavailable" in listed
    assert browser.get(reverse("papers-found")).status_code == 302, "nothing to look for"
