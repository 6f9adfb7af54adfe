"""Exports of answers, and public links to them."""

from __future__ import annotations

import io
import re
import zipfile
from html import unescape
from xml.etree import ElementTree

import pymupdf
import pytest
from django.contrib.auth.models import User
from django.db.models import F
from django.test import Client
from docx import Document as read_docx
from msgspec.structs import replace

from chat.answers.events import CitationShown
from chat.answers.message_presenters import shown_message
from chat.citations.stored_citations import COLOURS
from chat.exports.html_and_evidence import as_html
from chat.exports.markdown import (
    as_markdown,
    exported,
    exported_conversation,
    exported_note,
    source_lines,
)
from chat.exports.word import as_docx
from chat.models import AnswerShare, Citation, Conversation, Message, Note
from chat.notes import add_answer, add_quote
from chat.views.exports import without_links
from documents.models import Document
from documents.papers.bibliography import PaperRecord, reference_list
from pdf.api import bind_evidence
from pdf.geometry import Rect
from pdf.sandbox.messages import HighlightedFile, HighlightedPage, PdfHighlight
from tests.api_clients import client_of
from tests.browser.site import ROOT
from tests.chat.conftest import QUESTION, answered
from tests.conftest import imported
from tests.drawing import draw_pdf

pytestmark = pytest.mark.django_db


WORDS = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


def test_markdown_has_a_footnote_for_each_source(answer: Message) -> None:
    text = as_markdown(exported(answer))
    numbers = set(answer.citations.values_list("number", flat=True))
    assert set(map(int, re.findall(r"^\[\^(\d+)\]: ", text, re.M))) == numbers
    assert text.startswith(f"# {QUESTION}") and "[[cite" not in text and "1,577 red anvils" in text


def test_a_link_of_exported_markdown_outlives_its_citation(answer: Message, client: Client) -> None:
    client.force_login(answer.conversation.owner)
    text = client.get(f"/chat/messages/{answer.pk}/export.md").content.decode()
    links = re.findall(r"^\[\^\d+\]: .+ \[Open\]\((http://testserver/documents/\S+)\)$", text, re.M)
    assert len(links) == len(exported(answer).sources) > 0
    Citation.objects.filter(message=answer).delete()
    (lit,) = client.get(links[0]).context["opening"]
    assert lit["page"] == 1 and lit["anchor"]


def test_each_source_of_exported_html_opens_its_words(answer: Message, client: Client) -> None:
    client.force_login(answer.conversation.owner)
    html = client.get(f"/chat/messages/{answer.pk}/export.html").content.decode()
    links = re.findall(r'<a href="(http://testserver/documents/[^"]+)">Open</a></li>', html)
    assert len(links) == len(exported(answer).sources) > 0
    (lit,) = client.get(unescape(links[0])).context["opening"]
    assert lit["page"] == 1 and lit["anchor"]


def test_html_stands_alone_and_is_escaped(answer: Message) -> None:
    Document.objects.update(title="<script>alert(1)</script>")
    html = as_html(exported(answer))
    assert "<script" not in html and "&lt;script&gt;" in html
    targets = set(re.findall(r'href="#(source-\d+)"', html))
    assert targets and targets <= set(re.findall(r'id="(source-\d+)"', html))


def test_word_numbers_footnotes_that_name_page_and_words_and_open_them(
    answer: Message, client: Client
) -> None:
    client.force_login(answer.conversation.owner)
    content = client.get(f"/chat/messages/{answer.pk}/export.docx").content
    first, *_ = notes = word_footnotes(content)
    assert len(notes) == len(exported(answer).citations)
    assert "p. 1, line" in first and "1,577 red anvils" in first and "(exact)" not in first
    with zipfile.ZipFile(io.BytesIO(content)) as package:
        links = re.findall(r'Target="(http[^"]+)"', package.read("word/_rels/footnotes.xml.rels").decode())
    (lit,) = client.get(unescape(links[0])).context["opening"]
    assert lit["page"] == 1 and lit["anchor"]
    texts = [paragraph.text for paragraph in read_docx(io.BytesIO(content)).paragraphs]
    assert texts[texts.index("Sources") + 1].startswith(exported(answer).sources[0].title)


def test_bluebook_footnotes_name_page_and_line_and_shorten_repeated_sources(
    conversation: Conversation, client: Client
) -> None:
    answer = answered(conversation, "What does Acme offer: anvils or earthquake pills?")
    Document.objects.update(authors=["June Harbour"], year=2019, title="Anvils")
    answer.citations.update(
        document_title="Anvils", page_label="31", line_start=12, line_end=14, first_line=1
    )
    content = as_docx(exported(answer, "bluebook"))
    first, *others = word_footnotes(content)
    assert first.startswith("June Harbour, Anvils at 31:12-14 (2019)")
    assert others and all(note.startswith("Id. at 31:12-14") for note in others)
    texts = [paragraph.text for paragraph in read_docx(io.BytesIO(content)).paragraphs]
    assert texts[texts.index("Sources") + 1] == "June Harbour, Anvils (2019)"
    client.force_login(conversation.owner)
    pack = client.get(f"/chat/messages/{answer.pk}/evidence.pdf?style=bluebook").content
    assert "Harbour, Anvils at 31:12-14 (2019)" in " ".join(pymupdf.open(stream=pack)[0].get_text().split())
    export = exported(answer, "bluebook")
    one, other = export.citations[0], replace(export.citations[0], document="another")
    assert export.named(one, [one, other]) == "Harbour, supra note 1, at 31:12-14"


@pytest.mark.parametrize(("words", "end"), [("Ring twice, please.", "please.”"), ("412 crates", "crates”.")])
def test_a_footnote_of_word_ends_with_one_full_stop(words: str, end: str, alice: User) -> None:
    document = imported(alice, [{"type": "paragraph", "text": words}], "Quay")
    note = add_quote(Note.objects.create(owner=alice), document, 1, words)
    (footnote,) = word_footnotes(as_docx(exported_note(note)))
    assert footnote.removesuffix(" Open").endswith(end)


def test_sources_with_one_title_are_told_apart(alice: User) -> None:
    note = Note.objects.create(owner=alice, title="Anvils")
    for year in ("2018", "2019"):
        document = imported(alice, [{"type": "paragraph", "text": f"{year} anvils were sold."}], year)
        add_quote(note, document, 1, f"{year} anvils")
    Document.objects.update(title="Sales")
    note.refresh_from_db()
    Document.objects.filter(pk=document.pk).update(original_name="late.pdf")
    export = exported_note(note, "apa")
    titles = [source.title for source in export.sources]
    assert len(set(titles)) == 2 and titles[1] == "Sales (late.pdf)"
    assert any("Sales (late.pdf)" in line for line in export.references)
    bluebook = exported_note(note, "bluebook")
    assert all(title in bluebook.named(one) for one, title in zip(bluebook.sources, titles, strict=True))


def word_footnotes(content: bytes) -> list[str]:
    """Return the texts of a Word document's footnotes, in the order of their references."""
    with zipfile.ZipFile(io.BytesIO(content)) as package:
        body = package.read("word/document.xml").decode()
        root = ElementTree.fromstring(package.read("word/footnotes.xml"))
    texts = {
        note.get(f"{WORDS}id"): "".join(text.text or "" for text in note.iter(f"{WORDS}t")).strip()
        for note in root
    }
    return [texts[number] for number in re.findall(r'<w:footnoteReference w:id="(\d+)"', body)]


def test_docx_survives_tables_code_and_control_characters(answer: Message) -> None:
    Message.objects.filter(pk=answer.pk).update(
        content="| a | b |\n|---|---|\n| 1 | **2** |\n\n```\ncode\n```\n\n1. one\n\n\x0btext"
    )
    answer.refresh_from_db()
    assert zipfile.is_zipfile(io.BytesIO(as_docx(exported(answer))))


def test_a_table_in_word_has_room_around_its_texts_and_columns_by_their_length(answer: Message) -> None:
    said = "As of May 31, 2021, we had approximately 73,300 employees worldwide."
    Message.objects.filter(pk=answer.pk).update(
        content=f"| Document | What it says |\n|---|---|\n| Quay | {said} |\n\n**Passages**"
    )
    answer.refresh_from_db()
    written = read_docx(io.BytesIO(as_docx(exported(answer))))
    (table,) = written.tables
    texts = [cell.paragraphs[0] for row in table.rows for cell in row.cells]
    assert all(one.paragraph_format.space_before and one.paragraph_format.space_after for one in texts)
    assert [bool(one.runs[0].bold) for one in texts] == [True, True, False, False]
    narrow, wide = (cell.width for cell in table.rows[1].cells)
    assert narrow and wide and 2 * narrow < wide
    assert [column.width for column in table.columns] == [narrow, wide]
    below = next(one for one in written.paragraphs if one.text == "Passages")
    assert below.paragraph_format.space_before


def test_the_evidence_pack_highlights_the_cited_words_on_their_pages(
    answer: Message, alice: User, client: Client
) -> None:
    client.force_login(alice)
    response = client.get(f"/chat/messages/{answer.pk}/evidence.pdf")
    assert response.status_code == 200 and response["Content-Type"] == "application/pdf"
    pack = pymupdf.open(stream=response.content)
    assert QUESTION in pack[0].get_text()
    cited = set(answer.citations.values_list("page_number", flat=True))
    assert pack.page_count == 1 + len(cited)
    page = pack[1]  # PyMuPDF deletes an annotation with its page object
    lit = {a.info["title"]: page.get_textbox(a.rect) for a in page.annots() if a.type[1] == "Highlight"}
    first = answer.citations.earliest("position")
    assert "1,577 red anvils" in lit[f"[{first.number}]"]
    assert pack.get_toc()[0][1] == "Answer"


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_highlights_lie_on_the_words_of_rotated_and_cropped_pages(tmp_path, rotation: int) -> None:  # type: ignore[no-untyped-def]
    drawn = pymupdf.open(stream=draw_pdf("Some words to light on a page"))
    drawn[0].set_cropbox(pymupdf.Rect(30, 40, 500, 700))
    drawn[0].set_rotation(rotation)
    path = tmp_path / "odd.pdf"
    drawn.save(path)
    words = {word[4]: Rect(*word[:4]) for word in pymupdf.open(path)[0].get_text("words")}
    mark = PdfHighlight("3", (words["light"],), "why")
    pack = pymupdf.open(
        stream=bind_evidence(
            "<p>Answer</p>", [HighlightedFile(str(path), "Odd", (HighlightedPage(1, (mark,)),))]
        )
    )
    page = pack[1]
    assert page.rotation == rotation
    highlight = next(a for a in page.annots() if a.type[1] == "Highlight")
    page.set_rotation(0)
    assert highlight.info["title"] == "[3]"
    box = pymupdf.Quad(*[pymupdf.Point(p) for p in highlight.vertices]).rect * 1
    lit = words["light"]
    assert abs(box.x0 - lit.x0) < 3 and abs(box.y0 - lit.y0) < 3 and abs(box.x1 - lit.x1) < 3


@pytest.fixture
def described(answer: Message, report: Document) -> Message:
    report.title, report.authors, report.year = "On anvils", ["Wile E. Coyote", "Ann Acme"], 1949
    report.save()
    return answer


def test_a_conversation_is_exported_with_its_references(
    described: Message, alice: User, client: Client
) -> None:
    client.force_login(alice)
    address = f"/conversations/{described.conversation_id}/export"
    text = client.get(f"{address}.md").content.decode()
    assert text.startswith(f"# {QUESTION}\n") and text.count(QUESTION) == 1  # not title and heading
    assert re.search(r"1,577 red anvils.*\[\^1\]", text)
    assert "\n## References\n\n- Coyote, W. E., & Acme, A. (1949). On anvils." in text.replace("\\", "")
    assert "Coyote WE" in client.get(f"{address}.html?style=vancouver-nlm").content.decode()
    word = client.get(f"{address}.docx?style=ieee")
    assert word["Content-Disposition"].startswith("attachment") and word["Content-Disposition"].endswith(
        '.docx"'
    )
    lines = [paragraph.text for paragraph in read_docx(io.BytesIO(word.content)).paragraphs]
    assert lines[lines.index("Sources") + 1].startswith("W. E. Coyote and A. Acme, “On anvils,”")
    assert [client.get(f"{address}{end}").status_code for end in (".pdf", ".md?style=none")] == [404, 404]


def test_a_note_is_exported_with_its_citations_numbered(
    described: Message, alice: User, client: Client
) -> None:
    client.force_login(alice)
    note = add_answer(described, alice)
    text = client.get(f"/notes/{note.pk}/export.md").content.decode()
    assert re.search(r"1,577 red anvils.*\[\^1\]", text) and "Coyote and Ann Acme, 1949), p. 1" in text
    assert "[[cite" not in text and "- Coyote, W. E." in text
    assert "<em></em>" not in client.get(f"/notes/{note.pk}/export.html").content.decode()
    assert f"/notes/{note.pk}/export.docx" in client.get(f"/notes/{note.pk}/").content.decode()


def test_a_bare_value_is_printed_with_the_row_it_stands_in(alice: User) -> None:
    rows = [["crop", "2022", "2023"], ["pears", "398", "412"]]
    document = imported(alice, [{"type": "table", "rows": rows}], "Harvest")
    note = add_quote(Note.objects.create(owner=alice), document, 1, "412")
    export = exported_note(note)
    assert "“412” in “pears | 398 | 412”" in as_markdown(export).replace("\\", "")
    assert "<q>412</q> in <q>pears | 398 | 412</q>" in as_html(export)
    assert "“412” in “pears | 398 | 412”" in word_footnotes(as_docx(export))[0]
    worded = add_quote(Note.objects.create(owner=alice), document, 1, "pears 398")
    assert " in “" not in as_markdown(exported_note(worded))


def test_a_quote_inside_a_longer_one_of_its_source_is_not_listed_again() -> None:
    def cited(number: int, quote: str, verdict: str = "exact") -> CitationShown:
        return CitationShown("", number, "", "Anvils", 3, "", "", (7, 9), "", quote, verdict, first_line=1)

    row = cited(1, "Sales of anvils grew to 4,711")
    lines = source_lines([cited(1, "4,711"), cited(2, "4,711"), row, cited(1, "grew", "unsupported"), row])
    assert lines == [
        "[1] Anvils, p. 3, lines 7–9: “Sales of anvils grew to 4,711” (verified)",
        "[1] Anvils, p. 3, lines 7–9: “grew” (differs)",
        "[2] Anvils, p. 3, lines 7–9: “4,711” (verified)",
    ]


def test_programs_export_by_media_type_or_format(described: Message, alice: User, bob: User) -> None:
    note = add_answer(described, alice)
    paths = [f"conversations/{described.conversation_id}", f"notes/{note.pk}", f"messages/{described.pk}"]
    for path in paths:
        api = client_of(alice)
        assert api.get(f"/api/{path}/export/", headers={"Accept": "text/html"}).content[:9] == b"<!doctype"
        assert zipfile.is_zipfile(io.BytesIO(api.get(f"/api/{path}/export/?format=docx").content))
        refused = api.get(f"/api/{path}/export/?style=scrawl")
        assert refused.status_code == 400 and "style" in refused.json()["fields"]
        assert client_of(bob).get(f"/api/{path}/export/").status_code == 404


def test_a_work_that_is_no_longer_shared_is_not_described(
    described: Message, report: Document, alice: User, bob: User
) -> None:
    Document.objects.filter(pk=report.pk).update(owner=bob)
    text = as_markdown(exported_conversation(described.conversation, "apa"))
    assert "1,577 red anvils" in text and "Ann Acme" not in text and "References" not in text


def test_lists_of_references_are_in_the_order_of_their_style() -> None:
    records = [
        PaperRecord(title="Zinc", authors=("Zoe Zander",)),
        PaperRecord(title="Acid", authors=("Al Abel",)),
    ]
    assert [line[:4] for line in reference_list(records, "apa")] == ["Abel", "Zand"]
    assert [line[:4] for line in reference_list(records, "nature")] == ["Zand", "Abel"]


def test_others_cannot_export_an_answer(answer: Message, bob: User, client: Client) -> None:
    client.force_login(bob)
    for form in ("export.md", "export.html", "export.docx", "evidence.pdf"):
        assert client.get(f"/chat/messages/{answer.pk}/{form}").status_code == 404
    client.logout()
    assert client.get(f"/chat/messages/{answer.pk}/export.md").status_code == 302


def test_pages_of_documents_that_are_no_longer_shared_stay_out_of_the_pack(
    answer: Message, report: Document, bob: User, alice: User, client: Client
) -> None:
    Document.objects.filter(pk=report.pk).update(owner=bob)
    client.force_login(alice)
    pack = pymupdf.open(stream=client.get(f"/chat/messages/{answer.pk}/evidence.pdf").content)
    assert pack.page_count == 1


def test_a_shared_answer_can_be_read_by_anybody_until_it_is_revoked(
    answer: Message, report: Document, alice: User, client: Client
) -> None:
    client.force_login(alice)
    url = client.post(f"/chat/messages/{answer.pk}/share/").json()["url"]
    assert client.post(f"/chat/messages/{answer.pk}/share/").json()["url"] == url
    anybody = Client()
    page = anybody.get(url)
    assert page.status_code == 200
    text = page.content.decode()
    assert "1,577 red anvils" in text and f"/documents/{report.pk}" not in text
    assert "roadrunner" not in text
    assert anybody.get(f"/documents/{report.pk}/").status_code in (302, 404)
    assert client.post(f"/chat/messages/{answer.pk}/unshare/").json() == {"revoked": 1}
    assert anybody.get(url).status_code == 404


def test_an_answer_that_leaves_its_conversation_is_numbered_from_one(answer: Message) -> None:
    answer.citations.update(number=F("number") + 3)
    assert "[^1]: " in as_markdown(exported(answer))
    assert 'data-number="1"' in without_links(shown_message(answer)).html
    assert min(row.number for row in exported(answer).rows) == 1


def test_a_forged_link_opens_nothing(answer: Message, client: Client) -> None:
    share = AnswerShare.objects.create(message=answer)
    for token in (share.pk.hex, f"{share.pk.hex}:forged", "x", str(share.pk)):
        assert client.get(f"/chat/shared/{token}/").status_code == 404


def test_only_the_owner_shares_an_answer(answer: Message, bob: User, client: Client) -> None:
    client.force_login(bob)
    assert client.post(f"/chat/messages/{answer.pk}/share/").status_code == 404
    assert not AnswerShare.objects.exists()


@pytest.mark.parametrize("number", range(1, len(COLOURS) + 1))
def test_pictures_of_citations_have_the_colours_of_the_reader(number: int) -> None:
    pale, strong = COLOURS[number - 1]
    sheet = (ROOT / "static/css/chat.css").read_text()
    assert f".lit-{number} {{ --lit-pale: {pale}; --lit-strong: {strong};" in sheet
