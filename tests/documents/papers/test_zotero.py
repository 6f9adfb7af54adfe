"""Libraries exported by Zotero: RDF and BibTeX, with their PDFs in a ZIP or already in the library."""

from __future__ import annotations

import io
import json
import re
import secrets
import struct
import time
import tracemalloc
import zipfile
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.test import Client, TestCase
from django.urls import reverse

from documents.files.uploads import store_upload
from documents.models import Document, Tag
from documents.papers import acquisition
from documents.papers.acquisition import ExportUnreadable, add_export, add_records
from documents.papers.bibliography import BibliographyUnreadable, read_bibliography
from tests.drawing import draw_pdf
from tests.scripted_server import Answer, Asked, ScriptedServer, scripted_server

pytestmark = pytest.mark.django_db
RDF = """<?xml version="1.0" encoding="UTF-8"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
 xmlns:z="http://www.zotero.org/namespaces/export#" xmlns:dcterms="http://purl.org/dc/terms/"
 xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:bib="http://purl.org/net/biblio#"
 xmlns:foaf="http://xmlns.com/foaf/0.1/" xmlns:link="http://purl.org/rss/1.0/modules/link/"
 xmlns:prism="http://prismstandard.org/namespaces/1.2/basic/">
  <bib:Article rdf:about="https://journal.example/tides">
    <z:itemType>journalArticle</z:itemType>
    <dcterms:isPartOf rdf:resource="urn:issn:1234-5678"/>
    <bib:authors><rdf:Seq>
      <rdf:li><foaf:Person><foaf:surname>Okafor</foaf:surname><foaf:givenName>Ada</foaf:givenName></foaf:Person></rdf:li>
      <rdf:li><foaf:Person><foaf:surname>Lind</foaf:surname><foaf:givenName>Per</foaf:givenName></foaf:Person></rdf:li>
    </rdf:Seq></bib:authors>
    <link:link rdf:resource="#item_2"/><link:link rdf:resource="#item_3"/>
    <dc:subject>tides</dc:subject>
    <dc:subject><z:AutomaticTag><rdf:value>Harbours</rdf:value></z:AutomaticTag></dc:subject>
    <dc:title>Tides of a harbour</dc:title>
    <dcterms:abstract>Tides rise twice a day.</dcterms:abstract>
    <dc:date>2019-04-01</dc:date>
    <dc:identifier><dcterms:URI><rdf:value>https://journal.example/tides</rdf:value></dcterms:URI></dc:identifier>
    <dc:identifier>DOI 10.5555/TIDES.1</dc:identifier>
  </bib:Article>
  <bib:Journal rdf:about="urn:issn:1234-5678"><dc:title>Journal of Harbours</dc:title></bib:Journal>
  <z:Attachment rdf:about="#item_2">
    <z:itemType>attachment</z:itemType><rdf:resource rdf:resource="files/2/Okafor 2019 - Tides.pdf"/>
    <dc:title>Full Text PDF</dc:title><link:type>application/pdf</link:type>
  </z:Attachment>
  <z:Attachment rdf:about="#item_3">
    <z:itemType>attachment</z:itemType><rdf:resource rdf:resource="files/3/snapshot.html"/>
  </z:Attachment>
  <bib:Book rdf:about="#item_4">
    <z:itemType>book</z:itemType><dc:title>Lights at sea</dc:title><dc:date>1998</dc:date>
  </bib:Book>
  <bib:Memo rdf:about="#item_5"><z:itemType>note</z:itemType><rdf:value>mine</rdf:value></bib:Memo>
  <z:Collection rdf:about="#collection_1"><dc:title>Sea</dc:title>
    <dcterms:hasPart rdf:resource="https://journal.example/tides"/>
    <dcterms:hasPart rdf:resource="#item_4"/></z:Collection>
</rdf:RDF>
"""
BIBTEX = r"""@article{okafor_tides_2019, title = {Tides of a harbour}, author = {Okafor, Ada and Lind, Per},
 year = {2019}, doi = {10.5555/tides.1}, keywords = {tides, Harbours},
 file = {Full Text PDF:files/2/Okafor 2019 - Tides.pdf:application/pdf;Page:files/3/page.html:text/html}}
"""
NAME = "Okafor 2019 - Tides.pdf"
PDF = draw_pdf("The harbour has two tides a day, of four metres each.")


def packed(**files: bytes | str) -> io.BytesIO:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    out.seek(0)
    return out


EXPORT = {"My Library/My Library.rdf": RDF, f"My Library/files/2/{NAME}": PDF}


def test_zotero_rdf_gives_works_with_tags_collections_and_files() -> None:
    article, book = read_bibliography(RDF)
    assert article.title == "Tides of a harbour"
    assert article.authors == ("Ada Okafor", "Per Lind")
    assert (article.year, article.doi, article.venue) == (2019, "10.5555/tides.1", "Journal of Harbours")
    assert article.url == "https://journal.example/tides"
    assert article.files == (f"files/2/{NAME}",)
    assert article.tags == ("tides", "Harbours")
    assert article.collections == book.collections == ("Sea",)


def test_bibtex_says_where_its_pdfs_lie_as_zotero_and_as_others_write_it() -> None:
    [work] = read_bibliography(BIBTEX)
    assert work.files == (f"files/2/{NAME}",)
    assert work.tags == ("tides", "Harbours")
    [bare] = read_bibliography(
        BIBTEX.replace("Full Text PDF:files/2", "/home/ada").replace(":application/pdf", "")
    )
    assert bare.files == (f"/home/ada/{NAME}",)


@pytest.mark.parametrize("form", ["rdf", "bib"])
def test_an_exported_folder_brings_its_pdfs_tags_and_collections(alice: User, form: str) -> None:
    files = {
        f"My Library/My Library.{form}": RDF if form == "rdf" else BIBTEX,
        f"My Library/files/2/{NAME}": PDF,
    }
    add_export(alice, packed(**files))
    paper = Document.objects.get(owner=alice, title="Tides of a harbour")
    assert paper.kind == Document.Kind.PDF and paper.original_name == NAME
    assert paper.file.read() == PDF
    assert (paper.doi, paper.authors) == ("10.5555/tides.1", ["Ada Okafor", "Per Lind"])
    assert {tag.name for tag in paper.tags.all()} == {"tides", "Harbours"}
    if form == "rdf":
        assert [row.name for row in paper.collections.all()] == ["Sea"]
        assert Document.objects.get(owner=alice, title="Lights at sea").kind == Document.Kind.PAPER
    count = Document.objects.filter(owner=alice).count()
    add_export(alice, packed(**files))  # again: nothing is doubled
    assert Document.objects.filter(owner=alice).count() == count


def test_a_list_finds_the_files_that_were_added_before_it(alice: User, bob: User) -> None:
    store_upload(bob, ContentFile(PDF), NAME)
    mine = store_upload(alice, ContentFile(PDF), NAME)
    add_records(alice, read_bibliography(RDF))
    mine.refresh_from_db()
    assert (mine.title, mine.year, mine.kind) == ("Tides of a harbour", 2019, Document.Kind.PDF)
    assert Document.objects.get(owner=bob).title != "Tides of a harbour"
    assert not Tag.objects.filter(owner=bob).exists()


HOSTILE = {
    "no list": {"files/2/a.pdf": PDF},
    "a bomb": {"library.bib": BIBTEX + " " * 20_000_000},
    "no zip": None,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_no_exported_library_is_refused(alice: User, name: str) -> None:
    files = HOSTILE[name]
    with pytest.raises(ExportUnreadable):
        add_export(alice, packed(**files) if files else io.BytesIO(b"PK\x03\x04 not a ZIP"))
    assert not Document.objects.filter(owner=alice).exists()


def lying(archive: bytes, size: int) -> io.BytesIO:
    """Return the archive of one entry, which states another size."""
    changed = bytearray(archive)
    struct.pack_into("<I", changed, archive.rfind(b"PK\x01\x02") + 24, size)
    return io.BytesIO(bytes(changed))


def many_entries(count: int) -> io.BytesIO:
    whole = packed(a="x").getvalue()
    start, end = whole.index(b"PK\x01\x02"), whole.index(b"PK\x05\x06")
    directory = whole[start:end] * count
    tail = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 65535, 65535, len(directory), start, 0)
    return io.BytesIO(whole[:start] + directory + tail)


def bzip2(content: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("library.bib", content)
    return out.getvalue()


FILLING = {
    "a list that states a thousandth of its size": lambda: lying(
        packed(**{"library.bib": bytes(30_000_000)}).getvalue(), size=30_000
    ),
    "bzip2, which is unpacked at once": lambda: lying(bzip2(bytes(30_000_000)), size=1000),
    "200,000 entries": lambda: many_entries(200_000),
}


@pytest.mark.parametrize("name", FILLING)
def test_an_archive_that_lies_about_its_sizes_fills_no_memory(alice: User, name: str) -> None:
    archive = FILLING[name]()
    tracemalloc.start()
    with pytest.raises((ExportUnreadable, BibliographyUnreadable)):
        add_export(alice, archive)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 15_000_000, f"{most:,} bytes for an archive of {len(archive.getvalue()):,}"


def test_a_path_out_of_the_folder_reads_nothing_of_this_machine(alice: User) -> None:
    hostile = RDF.replace("files/2/", "../../../../etc/").replace(NAME, "passwd.pdf")
    add_export(alice, packed(**{"library.rdf": hostile}))
    assert Document.objects.get(owner=alice, title="Tides of a harbour").kind == Document.Kind.PAPER


def test_rdf_resolves_no_entity(tmp_path) -> None:  # type: ignore[no-untyped-def]
    secret = tmp_path / "secret.txt"
    secret.write_text("the secret")
    doctype = f'<!DOCTYPE r [<!ENTITY x SYSTEM "file://{secret}">]>'
    hostile = RDF.replace("?>", f"?>{doctype}", 1).replace("Tides of a harbour", "Tides &x;")
    try:
        titles = [record.title for record in read_bibliography(hostile)]
    except BibliographyUnreadable:
        titles = []
    assert not any("secret" in title for title in titles)


def test_the_page_takes_a_zip(alice: User, client: Client) -> None:
    client.force_login(alice)
    archive = packed(**EXPORT)
    archive.name = "My Library.zip"
    page = client.post(reverse("papers-import"), {"file": archive})
    assert page.status_code == 302
    assert Document.objects.filter(owner=alice, title="Tides of a harbour", kind=Document.Kind.PDF).exists()
    refused = client.post(reverse("papers-import"), {"file": packed(**{"a.txt": "x"})})
    assert refused.status_code == 422
    assert "list of references" in refused.content.decode()


@pytest.fixture
def zotero(settings: Any) -> Iterator[ScriptedServer]:
    """A library of 101 works at zotero.org, the first with its PDF, and a PDF that belongs to no work."""
    works = [
        {
            "key": f"W{number}",
            "data": {"itemType": "book", "tags": [{"tag": "sea"}], "collections": ["C1", "gone"]},
            "csljson": {"title": f"Lights at sea {number}", "type": "book", "author": [{"literal": "Lind"}]},
        }
        for number in range(101)
    ]
    alone = {
        "key": "A2",
        "data": {"itemType": "attachment", "title": "Alone.pdf", "contentType": "application/pdf"},
    }
    alone["data"]["linkMode"] = "imported_url"  # type: ignore[index]
    attached = {"key": "A1", "data": alone["data"] | {"parentItem": "W0"}}  # type: ignore[operator]
    page = {"key": "A3", "data": {"itemType": "attachment", "contentType": "text/html", "title": "Page"}}
    rows = [*works, alone, page]

    def part(asked: Asked) -> Answer:
        if asked.headers.get("Zotero-API-Key") != "right":
            return Answer(403)
        start = int(parse_qs(asked.path.partition("?")[2])["start"][0])
        return Answer.json(rows[start : start + 100])

    with scripted_server() as server, scripted_server("127.0.0.2") as storage:
        settings.ZOTERO_URL, settings.FETCH_PRIVATE_ADDRESSES = server.url, True
        settings.CATALOGUE_BACKOFF_SECONDS = 0.01
        library = "/users/7"
        server.script["/keys/current"] = lambda asked: (
            Answer.json({"userID": 7}) if asked.headers.get("Zotero-API-Key") == "right" else Answer(403)
        )
        server.script[f"{library}/collections"] = Answer.json([{"key": "C1", "data": {"name": "Sea"}}])
        server.script[f"{library}/items"] = Answer.json([attached, alone, page])
        server.script[f"{library}/items/top"] = part
        server.script[f"{library}/items/A1/file"] = Answer(302, headers={"Location": f"{storage.url}/1.pdf"})
        storage.script["/1.pdf"] = Answer(body=PDF)
        server.storage = storage  # type: ignore[attr-defined]
        yield server


def test_a_library_at_zotero_org_comes_with_tags_collections_and_pdfs(
    alice: User, client: Client, zotero: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.force_login(alice)
    tasks: list[tuple[Any, ...]] = []
    monkeypatch.setattr(acquisition, "async_task", lambda *task, **options: tasks.append((*task, options)))
    with TestCase.captureOnCommitCallbacks(execute=True):
        answer = client.post(reverse("papers-zotero"), {"key": "right"}, follow=True)
    assert "102 papers are in your library." in answer.content.decode()
    paper = Document.objects.get(owner=alice, title="Lights at sea 0")
    assert {tag.name for tag in paper.tags.all()} == {"sea"}
    assert [row.name for row in paper.collections.all()] == ["Sea"]
    assert {task[1] for task in tasks} == {
        str(paper.pk),
        str(Document.objects.get(owner=alice, title="Alone").pk),
    }
    _name, document, headers, options = next(task for task in tasks if task[1] == str(paper.pk))
    assert not options["save"]  # the key is not stored with the task's result
    assert acquisition.fetch_pdf(document, headers) == "fetched"
    paper.refresh_from_db()
    assert paper.file.read() == PDF
    assert "right" not in json.dumps(paper.metadata)
    [asked] = zotero.storage.asked  # type: ignore[attr-defined]
    assert not any(name.lower().startswith("zotero") for name in asked.headers)  # the key is for Zotero only


def test_a_key_that_zotero_refuses_is_said(alice: User, client: Client, zotero: ScriptedServer) -> None:
    client.force_login(alice)
    answer = client.post(reverse("papers-zotero"), {"key": "wrong"})
    assert answer.status_code == 422
    assert "This key is not accepted." in answer.content.decode()
    assert re.search(r'<input type="password" name="key"[^>]* autofocus', answer.content.decode())
    assert 'value="wrong"' not in answer.content.decode()


def test_pdfs_that_did_not_come_are_fetched_by_the_next_import(
    alice: User, client: Client, zotero: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.force_login(alice)
    tasks: list[tuple[Any, ...]] = []
    monkeypatch.setattr(acquisition, "async_task", lambda *task, **options: tasks.append(task))

    def imported() -> dict[str, tuple[Any, ...]]:
        tasks.clear()
        with TestCase.captureOnCommitCallbacks(execute=True):
            client.post(reverse("papers-zotero"), {"key": "right"})
        return {Document.objects.get(pk=task[1]).title: task for task in tasks}

    assert set(imported()) == {"Lights at sea 0", "Alone"}  # a PDF alone is called as its file, without .pdf
    paper = Document.objects.get(owner=alice, title="Lights at sea 0")
    acquisition.fetch_pdf(str(paper.pk))  # the button "Download again", which has no key
    assert acquisition.fetch_failure(paper) == acquisition.NEEDS_KEY
    _name, document, headers = imported()["Lights at sea 0"]
    assert acquisition.fetch_pdf(document, headers) == "fetched"
    Document.objects.filter(owner=alice, title="Alone").update(title="Alone at sea", year=1998)  # edited
    assert set(imported()) == {"Alone at sea"}
    assert Document.objects.filter(owner=alice).count() == 102, "none is doubled"


def test_a_pdf_that_many_works_name_is_unpacked_once(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    """F4: 100 records that name one packed PDF of 262 kB took 94 s within the request."""
    works = "".join(
        f"@article{{k{n}, title = {{Work {n}}}, file = {{x:files/one.pdf:application/pdf}}}}\n"
        for n in range(100)
    )
    archive = packed(**{"list.bib": works, "files/one.pdf": PDF})
    opened = []
    own = zipfile.ZipFile.open

    def noted(self: zipfile.ZipFile, name: Any, *more: Any, **options: Any) -> Any:
        opened.append(getattr(name, "filename", name))
        return own(self, name, *more, **options)

    monkeypatch.setattr(zipfile.ZipFile, "open", noted)
    add_export(alice, archive)
    assert opened.count("files/one.pdf") == 1
    assert Document.objects.filter(owner=alice, kind=Document.Kind.PAPER).count() >= 99


def test_a_list_that_cannot_be_read_ends_soon_and_logs_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """F4: 900 kB of "@article{" did not end and flooded the log."""
    begun = time.process_time()
    with pytest.raises(BibliographyUnreadable):
        read_bibliography("@article{" * 100_000)
    assert time.process_time() - begun < 2
    assert not caplog.records


def test_two_thousand_entries_with_keywords_are_read_and_filed_in_seconds_and_few_queries(
    alice: User, django_assert_max_num_queries: Any
) -> None:
    """F4: 1,990 entries took 78 s: LaTeX was decoded where there is none, each tag took four queries."""
    text = "".join(
        f'@article{{k{n}, title = {{Work {n} on M{{\\"u}}nster}}, keywords = {{{", ".join(TAGS)}, tag {n}}},'
        f" abstract = {{{'plain words of an abstract ' * 40}}}}}\n"
        for n in range(1990)
    )
    begun = time.process_time()
    records = read_bibliography(text)
    assert time.process_time() - begun < 2.5
    assert records[7].title == "Work 7 on Münster"
    with django_assert_max_num_queries(100):
        add_records(alice, records)
    assert Document.objects.get(owner=alice, title="Work 7 on Münster").tags.count() == 11


TAGS = [f"word {n}" for n in range(10)]


def test_latex_beyond_the_budget_is_refused_with_what_to_do() -> None:
    text = "@article{k, title={x}, abstract={" + "\\'e " * 3000 + "}}\n"
    many = "".join(text.replace("{k,", f"{{k{n},") for n in range(200))
    begun = time.process_time()
    with pytest.raises(BibliographyUnreadable, match="smaller parts"):
        read_bibliography(many)
    assert time.process_time() - begun < 6


LARGE = EXPORT | {"My Library/My Library.rdf": f"{RDF}<!-- {secrets.token_hex(260_000)} -->"}
MANY = {"list.bib": "".join(f"@article{{k{n}, title = {{Work {n}}}}}\n" for n in range(501))}


@pytest.mark.parametrize(
    "files, title", [(LARGE, "Tides of a harbour"), (MANY, "Work 500")], ids=("large", "many")
)
def test_a_large_export_is_added_by_a_worker(
    files: dict[str, bytes | str],
    title: str,
    alice: User,
    client: Client,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Any,
) -> None:
    """F4: each list was read, and its works were added, within the request."""
    client.force_login(alice)
    tasks: list[tuple[Any, ...]] = []
    monkeypatch.setattr(acquisition, "async_task", lambda *task, **options: tasks.append(task))
    archive = packed(**files)
    archive.name = "My Library.zip"
    with django_capture_on_commit_callbacks(execute=True):
        assert client.post(reverse("papers-import"), {"file": archive}).status_code == 302
    assert not Document.objects.filter(owner=alice).exists()
    [(task, owner, name)] = [task for task in tasks if task[0] == acquisition.EXPORT_TASK]
    assert task.rpartition(".")[2] == "add_kept_export" and default_storage.exists(name)
    monkeypatch.setattr(acquisition, "PROGRESS_SECONDS", -1.0)
    seen: list[tuple[int, int]] = []
    save = acquisition.KeptExport.save
    monkeypatch.setattr(
        acquisition.KeptExport,
        "save",
        lambda kept, archive: (seen.append((kept.done, kept.files)), save(kept, archive)),
    )
    acquisition.add_kept_export(owner, name)
    assert (
        seen[0] == (0, len(files) - 1) and "My Library.zip" in client.get(reverse("papers")).content.decode()
    )
    assert Document.objects.filter(owner=alice, title=title).exists()
    assert not default_storage.exists(name)
