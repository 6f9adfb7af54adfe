"""Metadata of uploads, looked up by the DOI, arXiv number or ISBN on their first pages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client, TestCase
from django.urls import reverse

from documents.ingestion.pipeline import ingest_again, ingest_document
from documents.models import Document
from documents.papers import identification
from documents.papers.bibliography import record_of, reference
from documents.papers.identification import CSL, identify, is_isbn, is_printed
from tests.api_clients import client_of
from tests.conftest import ingest
from tests.drawing import draw_pdf
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


def test_the_doi_of_a_cited_work_is_not_the_documents(alice: User, services: ScriptedServer) -> None:
    services.script[CROSSREF.format("10.1234/tides.2019")] = Answer.json(RECORD)
    said = ingest(
        alice, "Lamps of the North\n\nAs Harbour (doi:10.1234/tides.2019) says, lamps are lit at dusk."
    )
    assert not said.doi, "without a service"
    listed = ingest(alice, "Lamps of the South\n\n1 Harbour, J. Tides. doi:10.1234/tides.2019", name="b.pdf")
    assert listed.doi
    identify(str(listed.pk))
    listed.refresh_from_db()
    assert listed.doi == "" and "Tides" not in listed.title


def test_the_address_of_a_file_names_its_work() -> None:
    found = identification.dois_in(
        "http://press.example/doi/10.1234/tides.2019/2369509/tides.2019.pdf by guest"
    )
    assert found == ["10.1234/tides.2019"]
    assert identification.dois_in("doi:10.1234/tides.pdf") == ["10.1234/tides.pdf"]


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


# Responses in the shape of the real services, with the members that we do not read.
CROSSREF_SAYS = {
    "indexed": {
        "date-parts": [[2024, 3, 1]],
        "date-time": "2024-03-01T10:00:00Z",
        "timestamp": 1709287200000,
    },
    "publisher": "Quay Press",
    "issue": "2",
    "content-domain": {"domain": ["quay.example"], "crossmark-restriction": True},
    "DOI": "10.1234/TIDES.2019",
    "type": "journal-article",
    "source": "Crossref",
    "is-referenced-by-count": 3,
    "title": "Tides &amp; the Keeping of <i>Lighthouses</i>",
    "prefix": "10.1234",
    "author": [
        {"given": "June", "family": "Harbour", "sequence": "first", "affiliation": []},
        {"name": "Lamp Consortium", "sequence": "additional", "affiliation": []},
    ],
    "container-title": "Harbours &amp; Lights",
    "original-title": [],
    "issued": {"date-parts": [[2019, 5, 1]]},
    "abstract": "<jats:title>Abstract</jats:title> <jats:p>Lamps are lit at dusk.</jats:p>",
    "URL": "https://doi.org/10.1234/tides.2019",
    "subtitle": [],
    "short-title": [],
    "ISSN": ["1234-5679"],
}
DATACITE_SAYS = {
    "type": "article",
    "id": "https://doi.org/10.48550/arxiv.2101.01234",
    "categories": ["Computation and Language (cs.CL)", "FOS: Computer and information sciences"],
    "author": [{"family": "Harbour", "given": "June"}, {"literal": "Lamp Consortium"}],
    "issued": {"date-parts": [[2019]]},
    "abstract": "Lamps are lit at dusk.",
    "DOI": "10.48550/ARXIV.2101.01234",
    "publisher": "arXiv",
    "title": "Tides & the Keeping of Lighthouses",
    "copyright": "arXiv.org perpetual, non-exclusive license",
}
OPEN_LIBRARY_SAYS = {
    "ISBN:9780306406157": {
        "url": "https://openlibrary.org/books/OL1M/Tides",
        "key": "/books/OL1M",
        "title": "Tides & the Keeping of Lighthouses",
        "authors": [
            {"url": "https://openlibrary.org/authors/OL1A", "name": "June Harbour"},
            {"url": "https://openlibrary.org/authors/OL2A", "name": "Lamp Consortium"},
        ],
        "number_of_pages": 212,
        "identifiers": {"isbn_13": ["9780306406157"], "openlibrary": ["OL1M"]},
        "publishers": [{"name": "Quay Press"}],
        "publish_date": "May 2019",
        "subjects": [{"name": "Lighthouses", "url": "https://openlibrary.org/subjects/lighthouses"}],
        "cover": {"small": "https://covers.openlibrary.org/b/id/1-S.jpg"},
    }
}


@pytest.mark.parametrize(
    ("number", "path", "says", "source"),
    [
        (
            "https://doi.org/10.1234/tides.2019",
            CROSSREF.format("10.1234/tides.2019"),
            CROSSREF_SAYS,
            "Crossref",
        ),
        (
            "arXiv:2101.01234v2 [cs.CL] 4 Jan 2021",
            DATACITE.format("10.48550/arxiv.2101.01234"),
            DATACITE_SAYS,
            "DataCite",
        ),
        ("ISBN 978-0-306-40615-7", "/ol/api/books", OPEN_LIBRARY_SAYS, "Open Library"),
    ],
)
def test_an_upload_is_named_by_the_service_that_lists_its_number_and_can_be_edited(
    alice: User,
    client: Client,
    services: ScriptedServer,
    monkeypatch: pytest.MonkeyPatch,
    number: str,
    path: str,
    says: Any,
    source: str,
) -> None:
    """From the first minute to the corrected title, as the page, the worker and the services do it."""
    client.force_login(alice)
    assert (
        "looked up at Crossref, DataCite or Open Library" in client.get(reverse("library")).content.decode()
    )
    services.script[path] = Answer.json(says)
    monkeypatch.setattr(identification, "async_task", lambda task, pk, **options: identify(pk))
    title = "Tides & the Keeping of Lighthouses"
    file = SimpleUploadedFile("scan_0001.pdf", draw_pdf(f"# {title}\n\n{number}\n\nThe lamp is lit at dusk."))
    client.post(reverse("document-upload"), {"file": file}, headers={"HX-Request": "true"})
    document = Document.objects.get(owner=alice)
    with TestCase.captureOnCommitCallbacks(execute=True):
        ingest_document(document.pk)
    document.refresh_from_db()
    assert (document.title, document.year) == (title, 2019)
    assert document.authors == ["June Harbour", "Lamp Consortium"]
    assert document.metadata["paper"].get("venue") == {
        "Crossref": "Harbours & Lights",
        "Open Library": "Quay Press",
    }.get(source)
    page = client.get(reverse("document-details", args=[document.pk])).content.decode()
    assert f"Title, authors and year are from {source}" in page
    address = reverse("document-metadata", args=[document.pk])
    assert "June Harbour" in client.get(address).content.decode()
    client.post(address, {"title": "My Tides", "authors": "June Harbour", "year": "2020"})
    document.refresh_from_db()
    assert (document.title, document.year) == ("My Tides", 2020)
    assert identify(str(document.pk)) == "nothing to do"
    assert (
        "Title, authors and year are from"
        not in client.get(reverse("document-details", args=[document.pk])).content.decode()
    )


def test_without_a_listed_number_the_title_page_names_it(alice: User, services: ScriptedServer) -> None:
    """A service that answers 400 or moves a number knows nothing, and is asked for the next document."""
    services.script[CROSSREF.format("10.1234/tides.2019")] = Answer(400)
    services.script[DATACITE.format("10.1234/tides.2019")] = Answer(302)
    document = identified(alice, f"# {PAPER}")
    assert document.title == TITLE and "identified" not in document.metadata
    assert not cache.get(identification.UNREACHABLE)


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


def test_a_document_without_authors_is_cited_as_its_organisations(alice: User) -> None:
    filing = ingest(alice, "Words.")
    filing.title, filing.year, filing.authors = "Do Lamps Pay?", 2021, []
    filing.metadata["facts"] = [{"kind": "organisation", "value": "Quay, Inc.", "page": 1, "quote": ""}]
    assert reference(record_of(filing)) == "Quay, Inc. (2021). Do Lamps Pay?"
    filing.title = "Lamps Pay!"
    assert reference(record_of(filing), "chicago-author-date") == "Quay, Inc. 2021. Lamps Pay!"


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
