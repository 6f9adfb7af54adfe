"""Files of other formats: accepted, converted in the sandbox, citable, and kept as uploaded."""

from __future__ import annotations

import io
import resource
import zipfile
from collections.abc import Callable
from pathlib import Path

import docx
import pymupdf
import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml.ns import qn
from PIL import Image, ImageDraw

from documents.files.uploads import (
    OTHERS,
    UploadRefused,
    accepted,
    office_lacks,
    recognise,
    store_upload,
)
from documents.ingestion.pipeline import ingest_document
from documents.ingestion.recognition import recognise_document
from documents.ingestion.source_files import office_to_pdf, pdf_of
from documents.library import delete_document
from documents.models import Document
from pdf.api import ParseFailure, annotations_in
from pdf.convert.depth_limits import DEEPEST, deepest
from tests.drawing import draw_pdf
from tests.sandbox_children import stop_idle_children

needs_office = pytest.mark.skipif(bool(office_lacks(".docx")), reason="needs LibreOffice with Writer")
CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0"><rootfiles>'
    '<rootfile full-path="book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
)
BOOK = (
    '<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id">'
    '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Of owls</dc:title>'
    '<dc:identifier id="id">1</dc:identifier></metadata><manifest>'
    '<item id="a" href="a.xhtml" media-type="application/xhtml+xml"/></manifest>'
    '<spine><itemref idref="a"/></spine></package>'
)
XPS = "http://schemas.microsoft.com/xps/2005/06"
RELATIONSHIPS = "http://schemas.openxmlformats.org/package/2006/relationships"
HOSTILE = (
    '<img src="/etc/passwd"><img src="http://127.0.0.1:9/x.png"><script>stolen()</script><style>p{}</style>'
)


def picture(kind: str, words: str = "Revenue of owls") -> bytes:
    image = Image.new("RGB", (1600, 800), "white")
    ImageDraw.Draw(image).text((120, 300), words, fill="black", font_size=110)
    out = io.BytesIO()
    image.save(out, kind)
    return out.getvalue()


def epub(chapter: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as book:
        book.writestr("mimetype", "application/epub+zip")
        book.writestr("META-INF/container.xml", CONTAINER)
        book.writestr("book.opf", BOOK)
        book.writestr("a.xhtml", f'<html xmlns="http://www.w3.org/1999/xhtml"><body>{chapter}</body></html>')
    return out.getvalue()


def xps(words: str) -> bytes:
    """One page with a line of text, in a font that lies beside it."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as book:
        book.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{RELATIONSHIPS}">'
            f'<Relationship Id="a" Type="{XPS}/fixedrepresentation" Target="/a.fdseq"/></Relationships>',
        )
        book.writestr(
            "a.fdseq",
            f'<FixedDocumentSequence xmlns="{XPS}"><DocumentReference Source="/a.fdoc"/>'
            "</FixedDocumentSequence>",
        )
        book.writestr(
            "a.fdoc", f'<FixedDocument xmlns="{XPS}"><PageContent Source="/a.fpage"/></FixedDocument>'
        )
        book.writestr(
            "a.fpage",
            f'<FixedPage xmlns="{XPS}" Width="600" Height="800"><Glyphs Fill="#ff000000" FontUri="/a.ttf" '
            f'FontRenderingEmSize="16" OriginX="60" OriginY="80" UnicodeString="{words}"/></FixedPage>',
        )
        book.writestr("a.ttf", pymupdf.Font("helv").buffer)
    return out.getvalue()


def word(*paragraphs: str) -> bytes:
    document, out = docx.Document(), io.BytesIO()
    for text in paragraphs:
        document.add_paragraph(text)
    document.save(out)
    return out.getvalue()


def store_and_ingest(owner: User, name: str, content: bytes) -> Document:
    document = store_upload(owner, ContentFile(content), name, queued=False)
    ingest_document(document.pk)
    recognise_document(document.pk)
    document.refresh_from_db()
    return document


def text_of(tmp_path: Path, name: str, content: bytes) -> str:
    """The words of the PDF that is made of the file."""
    file = tmp_path / name
    file.write_bytes(content)
    with pymupdf.open("pdf", pdf_of(file, name)) as made:
        return "\n".join(page.get_text() for page in made)


@pytest.mark.parametrize(
    ("name", "head", "label"),
    [
        ("a.bin", b"junk %PDF-1.7", "PDF"),
        ("a.PNG", b"\x89PNG\r\n\x1a\n....", "PNG"),
        ("a.png", b"\xff\xd8\xff", None),
        ("a.docx", b"PK\x03\x04", "Word"),
        ("a.docx", b"<html>", None),
        ("a.md", "# Größe".encode(), "Markdown"),
        ("a.txt", b"\0\1\2", None),
        ("a.txt", "\ufeffwords".encode("utf-16-le"), "Text"),
        ("a.exe", b"MZ", None),
        ("pdf", b"<html>", None),
    ],
)
def test_a_kind_is_told_by_name_and_content(name: str, head: bytes, label: str | None) -> None:
    found = recognise(name, head)
    assert (found.label if found else None) == label


def test_office_files_are_left_out_where_there_is_no_libreoffice(alice: User, settings) -> None:
    settings.LIBREOFFICE = ""
    with pytest.raises(UploadRefused, match="LibreOffice"):
        store_upload(alice, ContentFile(b"PK\x03\x04"), "a.docx", queued=False)
    settings.LIBREOFFICE = "/nowhere/soffice"
    assert {format.label for format in OTHERS} - {format.label for format in accepted()} == {
        *("Word", "PowerPoint", "Excel", "OpenDocument")
    }


def test_a_part_that_libreoffice_lacks_is_named(alice: User, tmp_path: Path, settings) -> None:
    """Debian installs Writer, Calc and Impress one by one; each has its file beside that of the whole."""
    program, registry = tmp_path / "program" / "soffice", tmp_path / "share" / "registry"
    program.parent.mkdir()
    registry.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    for part in ("main", "calc"):
        (registry / f"{part}.xcd").touch()
    settings.LIBREOFFICE = str(program)
    assert "Excel" in {format.label for format in accepted()}
    with pytest.raises(UploadRefused, match="need LibreOffice Writer, which this server does not have"):
        store_upload(alice, ContentFile(b"PK\x03\x04 letter"), "letter.docx")
    with pytest.raises(ParseFailure, match="LibreOffice Impress"):
        office_to_pdf(tmp_path / "talk.pptx", ".pptx")


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.txt", "The fox jumps over 漢字.\nGröße 12.".encode(), ["The fox jumps over 漢字.", "Größe 12."]),
        ("latin.txt", "Café 12".encode("cp1252"), ["Café 12"]),
        (
            "a.md",
            b"# Report\n\nIt **rose** to `4711`.\n\n|a|b|\n|-|-|\n|1|2|\n",
            ["Report", "It rose to 4711."],
        ),
        (
            "a.html",
            f"<title>No</title><h1>Report</h1><p>It rose</p>{HOSTILE}".encode(),
            ["Report", "It rose"],
        ),
        ("a.epub", epub("<h1>Night</h1><p>It was dark.</p>"), ["Night", "It was dark."]),
        ("a.xps", xps("It was dark."), ["It was dark."]),
        ("a.oxps", xps("It was dark."), ["It was dark."]),
    ],
)
def test_text_is_set_on_pages(tmp_path: Path, name: str, content: bytes, words: list[str]) -> None:
    text = text_of(tmp_path, name, content)
    assert [part for part in words if part not in text] == []
    assert [part for part in ("stolen", "root:", "<script", "No\n", "**", "p{}") if part in text] == []


@pytest.mark.parametrize("name", ["a.png", "a.jpg", "a.tiff", "a.gif", "a.bmp"])
def test_a_picture_becomes_a_page_not_larger_than_a4(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.write_bytes(picture({"jpg": "JPEG"}.get(name[2:], name[2:].upper())))
    with pymupdf.open("pdf", pdf_of(file, name)) as made:
        assert made.page_count == 1
        assert made[0].rect.width / made[0].rect.height == pytest.approx(2, abs=0.02)
        assert made[0].rect.width <= 843


@pytest.mark.parametrize(
    ("name", "content"), [("a.epub", b"PK\x03\x04junk"), ("a.png", b"\x89PNG\r\n\x1a\n??")]
)
def test_a_broken_file_is_told_as_what_it_is(alice: User, db: None, name: str, content: bytes) -> None:
    document = store_and_ingest(alice, name, content)
    assert document.status == Document.Status.FAILED
    assert document.failure_code == "damaged"
    assert "could not be converted to PDF" in document.failure_message


def test_a_file_that_never_ends_costs_only_its_time(tmp_path: Path, settings) -> None:
    settings.CONVERT_SECONDS = 1
    with pytest.raises(ParseFailure):
        text_of(tmp_path, "deep.html", b"<div>" * 300_000)


def test_a_markdown_file_is_kept_read_and_deleted_with_what_was_made_of_it(
    alice: User, tmp_path: Path, django_capture_on_commit_callbacks
) -> None:
    source = b"# Owls\n\nThere were 4,711 owls in the northern barn.\n"
    document = store_and_ingest(alice, "Owls.md", source)
    assert document.status == Document.Status.READY, document.failure_message
    assert document.original.read() == source
    assert document.file.read().startswith(b"%PDF-")
    assert "4,711 owls" in document.units.get(unit_type="prose").content
    with django_capture_on_commit_callbacks(execute=True):
        delete_document(document)
    assert not [path for path in (tmp_path / "media").rglob("*") if path.is_file()]


def test_the_words_of_a_picture_are_recognised(alice: User, db: None) -> None:
    document = store_and_ingest(alice, "scan.png", picture("PNG"))
    assert document.status == Document.Status.READY, document.failure_message
    assert "Revenue" in document.pages.get().text


def test_a_pdf_named_otherwise_is_taken_as_a_pdf(alice: User, db: None) -> None:
    document = store_upload(alice, ContentFile(draw_pdf("Hello")), "report.txt", queued=False)
    assert document.file
    assert not document.original


@needs_office
def test_a_word_file_is_read_through_libreoffice(alice: User, db: None) -> None:
    document = store_and_ingest(alice, "Barns.docx", word("There were 4,711 owls in the northern barn."))
    assert document.status == Document.Status.READY, document.failure_message
    assert "4,711 owls" in document.pages.get().text


@needs_office
def test_libreoffice_follows_no_link_into_this_machine(tmp_path: Path) -> None:
    """The picture lies on this machine; a document that links to it must not show it."""
    secret, file = tmp_path / "secret.png", tmp_path / "a.docx"
    secret.write_bytes(picture("PNG"))
    document = docx.Document()
    document.add_paragraph("Before").add_run().add_picture(str(secret))
    link = document.part.relate_to(secret.as_uri(), RELATIONSHIP_TYPE.IMAGE, is_external=True)
    (shown,) = document.element.body.xpath(".//a:blip")
    del shown.attrib[qn("r:embed")]
    shown.set(qn("r:link"), link)
    document.save(str(file))
    with pymupdf.open("pdf", pdf_of(file, "a.docx")) as made:
        assert "Before" in made[0].get_text()
        assert made[0].get_images() == []


# --- Nesting and size ------------------------------------------------------------------


def epub_of(page: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/epub+zip")
        archive.writestr("chapter.xhtml", page)
    return made.getvalue()


def bomb() -> bytes:
    """17 members of 64 MB each, all of them the same bytes of the archive."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("chapter.xhtml", b"0" * 2**26)
        archive.filelist *= 17
    return made.getvalue()


DEEP = b"<div>" * 200_000 + b"words" + b"</div>" * 200_000


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("deep.html", lambda: DEEP, "more than 512 deep"),
        ("open.html", lambda: b"<b><i>" * 100_000 + b"words", "more than 512 deep"),
        ("long.html", lambda: b"<p>words " * 5_000_000, "more than 32 MB of text"),
        ("deep.epub", lambda: epub_of(DEEP), "more than 512 deep"),
        ("bomb.epub", bomb, "unpacks to more than 1024 MB"),
    ],
    ids=["html", "unclosed", "long", "epub", "bomb"],
)
def test_what_is_nested_too_deep_or_too_large_is_refused_at_once_with_the_reason(
    tmp_path: Path, db: None, name: str, content: Callable[[], bytes], reason: str
) -> None:
    """On 9a9b452 200,000 nested elements kept a worker for 125 s."""
    path = tmp_path / name
    path.write_bytes(content())
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with pytest.raises(ParseFailure, match=reason):
        pdf_of(path, name)
    stop_idle_children()  # and is waited for
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 15


def test_ordinary_markup_is_not_too_deep() -> None:
    assert deepest(b"<ul>" + b"<li>one<p>two<br>" * 5000 + b"</ul>") == 1
    assert deepest(b"<div><div></div><a/></div>" * 1000) == 2
    assert deepest(b"<div>" * 600) == DEEPEST + 1


@needs_office
def test_an_office_file_that_is_nested_too_deep_is_refused_by_its_reason(tmp_path: Path) -> None:
    made = tmp_path / "deep.docx"
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", DEEP)
    with pytest.raises(ParseFailure, match="more than 512 deep"):
        pdf_of(made, "deep.docx")


@pytest.mark.parametrize("raw", [b"abc(def)ghi\\klmn", b"ab\rdef\x01hijklmno\x80", bytes(range(200, 216))])
def test_a_file_is_known_by_its_first_id_however_it_is_written(tmp_path: Path, raw: bytes) -> None:
    document = pymupdf.open()
    document.new_page()
    document = pymupdf.open("pdf", document.tobytes(no_new_id=True))
    document.xref_set_key(-1, "ID", f"[<{raw.hex()}><{raw.hex()}>]")
    (tmp_path / "a.pdf").write_bytes(document.tobytes(no_new_id=True))
    assert annotations_in(tmp_path / "a.pdf").fingerprint == raw.hex()
