"""Title, authors, year and identifiers are extracted from a PDF."""

from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest

from documents.ingestion.parser import DocumentMetadata, extract_metadata
from pdf.api import parse_file
from pdf.extract.open_document import read_xmp
from pdf.geometry import PageFrame, Rect
from pdf.structure import ParsedDocument, ParsedPage, ParsedUnit
from tests.drawing import draw_pdf

PACKET = """<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/"
  xmlns:prism="http://prismstandard.org/namespaces/basic/2.0/"{attributes}>
<dc:title><rdf:Alt><rdf:li xml:lang="x-default">On the Weight of Anvils</rdf:li></rdf:Alt></dc:title>
<dc:creator><rdf:Seq><rdf:li>Wile E. Coyote</rdf:li><rdf:li>Road Runner</rdf:li></rdf:Seq></dc:creator>
{elements}</rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end="w"?>"""
IDENTIFIER = "<dc:identifier>doi:10.1234/Anvils.2018</dc:identifier>"


def described(tmp_path: Path, *pages: str, xmp: str = "", **metadata: str) -> DocumentMetadata:
    file = tmp_path / "drawn.pdf"
    with pymupdf.open(stream=draw_pdf(*pages)) as pdf:
        pdf.set_metadata(metadata)
        if xmp:
            pdf.set_xml_metadata(xmp)
        pdf.save(file)
    return extract_metadata(parse_file(file))


@pytest.mark.parametrize(
    ("attributes", "elements"),
    [
        ("", IDENTIFIER),
        ("", "<prism:doi>10.1234/Anvils.2018</prism:doi>"),
        (' prism:doi="10.1234/Anvils.2018"', ""),
    ],
)
def test_xmp_names_the_work_its_authors_and_its_doi(tmp_path: Path, attributes: str, elements: str) -> None:
    packet = PACKET.format(attributes=attributes, elements=elements)
    found = described(tmp_path, "Words of a page, and nothing that names it.", xmp=packet)
    assert found.title == "On the Weight of Anvils"
    assert (found.authors, found.doi) == (("Wile E. Coyote", "Road Runner"), "10.1234/anvils.2018")


@pytest.mark.parametrize("xml", ["", "no XML", "<a", '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', "<a/>"])
def test_what_is_no_packet_says_nothing(xml: str) -> None:
    assert read_xmp(xml) == {}


def test_the_information_dictionary_goes_before_xmp(tmp_path: Path) -> None:
    packet = PACKET.format(attributes="", elements="")
    found = described(tmp_path, "Words.", xmp=packet, title="The Weight of Rockets", subject="doi:10.5/x")
    assert found.title == "The Weight of Rockets"
    assert found.doi == "", "10.5 is no prefix that is given out"


def test_a_paper_without_metadata_is_known_by_its_first_page(tmp_path: Path) -> None:
    page = (
        "# On the Weight of Anvils\n\nWile E. Coyote1,*, Road Runner2 and Élise Müller-Roe\n\n"
        "# Abstract\n\nWe weigh anvils in the desert; see https://doi.org/10.1234/ANVILS.(2018).\n"
        "They are heavy, and heavier than they were thought to be in 2018."
    )
    found = described(tmp_path, page)
    assert found.title == "On the Weight of Anvils"
    assert found.authors == ("Wile E. Coyote", "Road Runner", "Élise Müller-Roe")
    assert (found.doi, found.year) == ("10.1234/anvils.(2018)", 2018)


def test_a_year_of_birth_is_not_the_year_of_a_contract(tmp_path: Path) -> None:
    page = "# Lease\n\nThe tenant, born in 1991, rents the flat from 1 September 2025."
    assert described(tmp_path, page).year == 2025


def test_a_papers_title_may_be_set_as_its_text_is(tmp_path: Path) -> None:
    page = "{}\n\n# Abstract\n\nWe weigh anvils in the desert. They are heavier than they were thought to be."
    title = "Anvils are no good weights for small scales but good ones for large"
    assert described(tmp_path, page.format(title)).title == title
    assert described(tmp_path, page.format("Received May 4")).title == ""
    assert described(tmp_path, f"{title}\n\nWe weigh anvils in the desert.").title == ""


def test_the_stamp_of_arxiv_is_read(tmp_path: Path) -> None:
    found = described(tmp_path, "arXiv:1706.03762v5 [cs.CL] 6 Dec 2017\n\n# Anvils\n\nWe weigh them.")
    assert found.arxiv_id == "1706.03762"


def test_a_page_that_names_several_dois_has_none_of_its_own(tmp_path: Path) -> None:
    found = described(tmp_path, "# References\n\n[1] doi:10.1234/a1\n\n[2] doi:10.1234/a2")
    assert found.doi == ""


def test_a_second_line_that_is_no_list_of_names_is_nobody(tmp_path: Path) -> None:
    page = "# Anvils\n\nAnvils are heavy things of iron.\n\n# Abstract\n\nWe weigh anvils in the desert."
    assert described(tmp_path, page).authors == ()
    report = "# Annual Report\n\nAcme Corporation, New York\n\nRevenue was 32.8 billion dollars."
    assert described(tmp_path, report).authors == (), "no paper: no abstract, no identifier"


def heading(index: int, text: str, level: int, y: float, size: float) -> ParsedUnit:
    box = Rect(72, y, 400, y + size)
    return ParsedUnit(index, "heading", text, 0, len(text), 1, 1, box, (box,), level=level)


def test_a_cover_s_large_title_goes_before_the_small_print_that_bookmarks_name() -> None:
    cover = (
        heading(0, "The Keeping of Lighthouses", 2, 200, 26),
        heading(1, "Translators of the edition", 1, 600, 14),
    )
    page = ParsedPage(1, "", PageFrame(595, 842), "", (), cover)
    found = extract_metadata(ParsedDocument("fast", "1", 1, (page,)))
    assert found.title == "The Keeping of Lighthouses"
