"""Metadata of uploads, looked up by the DOI, arXiv number or ISBN on their first pages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client, TestCase
from django.urls import reverse

from documents.ingestion.pipeline import ingest_again, ingest_document
from documents.models import Document
from documents.papers import identification
from documents.papers.bibliography import record_of, reference
from documents.papers.identification import CSL, identify, is_isbn, is_printed
from tests.api_clients import client_of
from tests.conftest import ingest
from tests.scripted_server import Answer, ScriptedServer, scripted_server

TITLE = "Tides and the Keeping of Lighthouses"
PAPER = f"{TITLE}\n\nJ. Q. Harbour\n\ndoi:10.1234/tides.2019\n\nThe northern lamp is lit at dusk."
RECORD = {
    "type": "journal-article",
    "title": "Tides and the Keeping of <i>Lighthouses</i>",
    "author": [{"given": "June", "family": "Harbour"}, {"given": "Ben", "family": "Tarn"}],
    "issued": {"date-parts": [[2019, 5]]},
    "container-title": "Journal of Harbours",
    "DOI": "10.1234/tides.2019",
    "abstract": "<jats:p>Lamps are lit at dusk.</jats:p>",
}
CROSSREF, DATACITE = f"/cr/works/{{}}/transform/{CSL}", f"/dc/dois/{CSL}/{{}}"


@pytest.fixture
def services(settings: Any) -> Iterator[ScriptedServer]:
    cache.clear()
    with scripted_server() as server:
        settings.IDENTIFY = True
        settings.CROSSREF_URL, settings.DATACITE_URL = f"{server.url}/cr", f"{server.url}/dc"
        settings.OPEN_LIBRARY_URL, settings.CATALOGUE_SECONDS = f"{server.url}/ol", 2
        yield server
    cache.clear()


def identified(owner: User, *pages: str) -> Document:
    document = ingest(owner, *pages)
    identify(str(document.pk))
    document.refresh_from_db()
    return document


def test_a_doi_on_the_first_page_gives_title_authors_and_year(
    alice: User, client: Client, services: ScriptedServer
) -> None:
    services.script[CROSSREF.format("10.1234/tides.2019")] = Answer.json(RECORD)
    document = identified(alice, PAPER)
    assert (document.title, document.authors, document.year) == (TITLE, ["June Harbour", "Ben Tarn"], 2019)
    assert document.abstract == "Lamps are lit at dusk."
    assert reference(record_of(document)) == (
        "Harbour, J., & Tarn, B. (2019). Tides and the Keeping of Lighthouses. Journal of Harbours."
        " https://doi.org/10.1234/tides.2019"
    )
    client.force_login(alice)
    page = client.get(reverse("document-details", args=[document.pk])).content.decode()
    assert "from Crossref, found by the DOI 10.1234/tides.2019" in page
    assert all("Harbour" not in asked.path and not asked.body for asked in services.asked), "only the number"
    ingest_again(document)
    ingest_document(document.pk)
    document.refresh_from_db()
    assert document.authors == ["June Harbour", "Ben Tarn"], "reading it again keeps them"


def test_an_upload_queues_one_look_up_where_a_number_is_printed(
    alice: User, services: ScriptedServer, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks: list[Any] = []
    monkeypatch.setattr(identification, "async_task", lambda *task, **options: tasks.append(task))
    with TestCase.captureOnCommitCallbacks(execute=True):
        numbered = ingest(alice, PAPER)
        ingest(alice, "A page without any number of a work.", name="plain.pdf")
        settings.IDENTIFY = False
        ingest(alice, f"{PAPER} Again.", name="off.pdf")
    assert tasks == [(identification.IDENTIFY_TASK, str(numbered.pk))]


def test_the_number_of_a_cited_work_is_not_the_documents_own(alice: User, services: ScriptedServer) -> None:
    cited = {**RECORD, "title": "Fog Signals of the North"}
    services.script[CROSSREF.format("10.9/fog")] = Answer.json(cited)
    services.script[CROSSREF.format("10.9999/fog")] = Answer.json(cited)
    text = "Letter on Lamps\n\nSee A. Quay, Fog Signals of the North, doi:10.9999/fog, with which I disagree."
    document = identified(alice, text)
    assert services.asked and "identified" not in document.metadata
    assert "June Harbour" not in document.authors


def test_arxiv_numbers_are_looked_up_at_datacite(alice: User, services: ScriptedServer) -> None:
    found = {**RECORD, "type": "article", "DOI": "10.48550/arXiv.2101.01234", "container-title": ""}
    services.script[DATACITE.format("10.48550/arxiv.2101.01234")] = Answer.json(found)
    document = identified(alice, f"{TITLE}\n\narXiv:2101.01234v2 [cs.CL] 4 Jan 2021\n\nLamps are lit.")
    assert document.authors == ["June Harbour", "Ben Tarn"]
    assert document.metadata["identified"] == {"source": "DataCite", "kind": "arXiv", "value": "2101.01234"}


def test_books_are_looked_up_by_the_isbn_behind_the_title_page(
    alice: User, client: Client, services: ScriptedServer
) -> None:
    services.script["/ol/api/books"] = Answer.json(
        {
            "ISBN:9780306406157": {
                "title": "Lighthouses",
                "subtitle": "A Handbook",
                "authors": [{"name": "June Harbour"}],
                "publishers": [{"name": "Quay Press"}],
                "publish_date": "May 1979",
            }
        }
    )
    document = identified(alice, "Lighthouses", "Copyright 1979 Quay Press\n\nISBN 978-0-306-40615-7")
    assert reference(record_of(document)) == "Harbour, J. (1979). Lighthouses: A Handbook. Quay Press."
    assert document.metadata["paper"]["isbn"] == "9780306406157"


def test_what_a_person_edited_stays(alice: User, services: ScriptedServer) -> None:
    document = ingest(alice, PAPER)
    answer = client_of(alice).patch(f"/api/documents/{document.pk}", {"authors": ["Me"]}, format="json")
    assert answer.status_code == 200, answer.content
    services.script[CROSSREF.format("10.1234/tides.2019")] = Answer.json(RECORD)
    assert identify(str(document.pk)) == "nothing to do" and not services.asked
    document.refresh_from_db()
    assert document.authors == ["Me"]


def test_without_a_response_nothing_changes_and_nobody_is_asked_for_an_hour(
    alice: User, services: ScriptedServer
) -> None:
    services.script[CROSSREF.format("10.1234/tides.2019")] = Answer(503)
    before = ingest(alice, PAPER)
    assert identify(str(before.pk)) == "Paper lookup is unavailable. Try again later."
    assert identify(str(before.pk)) == "nothing to do" and len(services.asked) == 1


@pytest.mark.parametrize(
    ("title", "line", "own"),
    [
        ("Lighthouses: A Handbook", "LIGHTHOUSES", True),
        ("Fog Signals", "Fog Sig-\nnals", True),
        ("Fog Signals", "A. Quay, Fog Signals, 2019", False),
        ("Fog Signals", "Fog Signals are heard at night by the keepers of many lighthouses", False),
        ("", "", False),
    ],
)
def test_a_title_is_the_documents_own_where_a_line_begins_with_it(title: str, line: str, own: bool) -> None:
    assert is_printed(title, [line]) is own


def test_check_digits_of_isbns() -> None:
    assert is_isbn("9780306406157") and is_isbn("080442957X")
    assert not is_isbn("9780306406158") and not is_isbn("0804429571") and not is_isbn("12345")
