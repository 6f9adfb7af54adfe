from __future__ import annotations

import re

import pymupdf
import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from documents.contents import figure_boxes, figures_of, table_areas, tables_of
from documents.ingestion.pipeline import ingest_again, ingest_document
from documents.models import CitationUnit, Document, Page
from tests.conftest import Ingest

ROWS = (("Item", "2030", "2031"), ("Revenue", "4,711", "5,002"), ("Costs", "3,900", "4,100"))
COLUMNS = (80, 240, 340, 440)
TOP, STEP = 200, 24


@pytest.fixture
def report(alice: User, ingested: Ingest) -> Document:
    """A ruled table with its title on page 1, a picture with its caption on page 2."""
    drawn = pymupdf.open()
    first = drawn.new_page()
    first.insert_text((80, 100), "Nothing else of note happened, and the outlook is unchanged.")
    first.insert_text((80, TOP - 20), "Table 1: Results of the year")
    for line, row in enumerate(ROWS):
        for column, text in enumerate(row):
            cell = pymupdf.Rect(
                COLUMNS[column], TOP + STEP * line, COLUMNS[column + 1], TOP + STEP * (line + 1)
            )
            first.draw_rect(cell)
            first.insert_text((cell.x0 + 6, cell.y1 - 7), text, fontsize=10)
    second = drawn.new_page()
    second.insert_text((80, 100), "The chart below shows what came of it.")
    pixmap = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, 60, 40))
    pixmap.clear_with(160)
    second.insert_image(pymupdf.Rect(80, 200, 380, 400), pixmap=pixmap)
    second.insert_text((80, 425), "Figure 1: Revenue by year", fontsize=9)
    return ingested(alice, pdf=drawn.tobytes())


def test_figures_and_tables_are_listed_with_their_captions(report: Document) -> None:
    table, figure = figures_of(report)
    assert (table.page, table.is_table, table.caption) == (1, True, "Table 1: Results of the year")
    assert (figure.page, figure.is_table, figure.caption) == (2, False, "Figure 1: Revenue by year")
    (box,) = figure.boxes
    assert box == pytest.approx((80 / 595, 200 / 842, 380 / 595, 400 / 842), abs=0.01)


def test_a_caption_with_a_hyphenated_word_is_listed_once(report: Document) -> None:
    CitationUnit.objects.filter(content="Table 1: Results of the year").update(
        content="Table 1: Long results"
    )
    for row in CitationUnit.objects.filter(document=report, table_index=0):
        row.cells["caption"] = "Table 1: Long re- sults"
        row.save(update_fields=["cells"])
    table, _ = figures_of(report)
    assert (table.caption, table.is_table) == ("Table 1: Long results", True)


def test_a_table_without_a_caption_is_named_by_its_section_and_its_column_heads(report: Document) -> None:
    CitationUnit.objects.filter(document=report, content="Table 1: Results of the year").delete()
    rows = CitationUnit.objects.filter(document=report, table_index=0)
    for row in rows:
        row.cells["caption"], row.section_title = "", "Results\nof the year"
        row.save(update_fields=["cells", "section_title"])
    table, _ = figures_of(report)
    assert table.caption == "Results of the year › Item, 2030, 2031"
    assert [(found.name, found.caption) for found in tables_of(report)] == [(table.caption, "")]


def test_a_chart_drawn_with_lines_is_listed_as_a_picture_is(alice: User, ingested: Ingest) -> None:
    drawn = pymupdf.open()
    page = drawn.new_page()
    page.insert_text((80, 100), "The line below shows what came of it.")
    page.draw_polyline([(100, 380), (180, 250), (260, 300), (380, 200)])
    page.insert_text((100, 410), "Figure 1: Revenue by year", fontsize=9)
    (figure,) = figures_of(ingested(alice, pdf=drawn.tobytes()))
    assert (figure.page, figure.is_table, figure.caption) == (1, False, "Figure 1: Revenue by year")
    (box,) = figure.boxes
    assert box == pytest.approx((100 / 595, 200 / 842, 380 / 595, 380 / 842), abs=0.01)


def test_captions_of_what_was_not_recognised_are_listed_alone(alice: User, ingested: Ingest) -> None:
    drawn = pymupdf.open()
    page = drawn.new_page()
    page.insert_text((80, 100), "The tree below is drawn with words only, as in many papers.")
    page.insert_text((80, 410), "Figure 1: Where the harbours lie", fontsize=9)
    page.insert_text((80, 610), "Table 2: How deep the harbours are", fontsize=9)
    figure, table = figures_of(ingested(alice, pdf=drawn.tobytes()))
    assert (figure.page, figure.is_table, figure.caption) == (1, False, "Figure 1: Where the harbours lie")
    assert (table.page, table.is_table, table.caption) == (1, True, "Table 2: How deep the harbours are")
    assert 400 < figure.area[1] * 842 < figure.area[3] * 842 < 415


def test_figures_of_a_page_without_captions_are_listed_as_one(
    alice: User, ingested: Ingest, client: Client
) -> None:
    drawn = pymupdf.open()
    for count in (3, 1):
        page = drawn.new_page()
        page.insert_text((80, 100), "Our partners of many years are shown on this page.")
        for at in range(count):
            pixmap = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, 50, 50))
            pixmap.set_rect(pixmap.irect, (200, 30 * at, 30))
            page.insert_image(pymupdf.Rect(80 + 150 * at, 200, 180 + 150 * at, 300), pixmap=pixmap)
    document = ingested(alice, pdf=drawn.tobytes())
    logos, photo = figures_of(document)
    assert ((logos.page, len(logos.boxes)), (photo.page, len(photo.boxes))) == ((1, 3), (2, 1))
    assert logos.area == pytest.approx((80 / 595, 200 / 842, 480 / 595, 300 / 842), abs=0.01)
    client.force_login(alice)
    shown = client.get(reverse("document-figures", args=[document.pk])).content.decode()
    assert "3 figures on page 1" in shown and "Figure on page 2" in shown


PARAGRAPH = "The harbour was dredged last year, and no ship has run aground there since then. " * 4


def put_picture(page: pymupdf.Page, x: float, y: float, shade: int) -> None:
    pixmap = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, 60, 40))
    pixmap.set_rect(pixmap.irect, (shade, 90, 30))
    page.insert_image(pymupdf.Rect(x, y, x + 180, y + 80), pixmap=pixmap, keep_proportion=False)


@pytest.mark.parametrize(("above", "below"), [(0, 215), (-14, 0)])
def test_a_figure_of_several_pictures_is_listed_with_all_of_them(
    alice: User, ingested: Ingest, above: float, below: float
) -> None:
    """Captions stand below their pictures in one document, above them in the other."""
    drawn = pymupdf.open()
    page = drawn.new_page()
    for n, (x, y) in enumerate(((80, 100), (280, 100), (80, 220), (280, 220))):
        put_picture(page, x, y, 40 * n)
    page.insert_text((80, 100 + (above or below)), "Figure 1: Ships by harbour and month, by flag, by size")
    page.insert_textbox(pymupdf.Rect(80, 340, 460, 420), PARAGRAPH)
    put_picture(page, 80, 450, 200)
    page.insert_text((80, 450 + (above or below - 120)), "Figure 2: Depth of the harbour by year")
    ships, depth = figures_of(ingested(alice, pdf=drawn.tobytes()))
    assert (ships.caption[:9], len(ships.boxes)) == ("Figure 1:", 4)
    assert ships.area == pytest.approx((80 / 595, 100 / 842, 460 / 595, 300 / 842), abs=0.01)
    assert (depth.caption[:9], len(depth.boxes)) == ("Figure 2:", 1)


def test_a_paragraph_keeps_a_picture_out_of_the_figure_below_it(alice: User, ingested: Ingest) -> None:
    drawn = pymupdf.open()
    page = drawn.new_page()
    put_picture(page, 80, 60, 250)
    page.insert_textbox(pymupdf.Rect(80, 180, 460, 280), PARAGRAPH)
    put_picture(page, 80, 300, 40)
    page.insert_text((80, 400), "Figure 1: Depth of the harbour by year")
    named, alone = figures_of(ingested(alice, pdf=drawn.tobytes()))
    assert (len(named.boxes), alone.caption, len(alone.boxes)) == (1, "", 1)


def test_places_of_figures_leave_out_scans_and_grounds_of_text(report: Document) -> None:
    page = report.pages.get(number=2)
    spans = ((0.0, 0.5), (0.5, 0.75), (0.0, 0.9))
    rects = [(0, top * page.height, page.width, bottom * page.height) for top, bottom in spans]
    page.figures = [{"rect": rect, "caption": ""} for rect in rects]
    page.text = "Words over their ground. " * 20
    page.save()
    found = figure_boxes(report)[2]
    assert found == (pytest.approx((0, 0, 1, 0.5)), pytest.approx((0, 0.5, 1, 0.75)))
    report.pages.filter(number=2).update(text="A cover")
    assert len(figure_boxes(report)[2]) == 3, "a photograph"
    report.pages.filter(number=2).update(awaits=Page.Awaits.PAGE)
    assert 2 not in figure_boxes(report), "a scan in strips"
    report.pages.filter(number=2).update(awaits="", ocr=True, text=page.text)
    assert len(figure_boxes(report)[2]) == 3, "found in a scan"


def test_the_area_of_a_table_is_around_all_of_its_rows(report: Document) -> None:
    (area,) = table_areas(report)
    x0, y0, x1, y1 = area.box
    assert x0 * 595 == pytest.approx(COLUMNS[0] + 6, abs=8)
    assert y0 * 842 == pytest.approx(TOP + 7, abs=10)
    assert y1 * 842 == pytest.approx(TOP + 3 * STEP - 7, abs=10)
    assert COLUMNS[2] < x1 * 595 < COLUMNS[3] + 2


def test_what_stands_beside_the_pages_takes_a_fixed_number_of_queries(
    report: Document, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_max_num_queries(7):
        figures_of(report)
    with django_assert_max_num_queries(2):
        table_areas(report)
    with django_assert_max_num_queries(1):
        figure_boxes(report)


@pytest.mark.parametrize("name", ["contents", "pages", "figures", "figure-places", "passages"])
def test_it_is_shown_to_those_who_may_read_the_document(
    client: Client, alice: User, bob: User, report: Document, name: str
) -> None:
    url = reverse(f"document-{name}", args=[report.pk])
    client.force_login(bob)
    assert client.get(url).status_code == 404
    client.force_login(alice)
    assert client.get(url).status_code == 200


def test_passages_say_where_they_are(client: Client, alice: User, report: Document) -> None:
    client.force_login(alice)
    page = client.get(reverse("document-passages", args=[report.pk]) + "?page=2").content.decode()
    assert "The chart below" in page
    assert 'data-boxes="[[0.1' in page
    assert client.get(reverse("document-passages", args=[report.pk]) + "?page=77").status_code == 404


def test_passages_are_sent_again_only_when_the_page_was_read_anew(
    client: Client, alice: User, report: Document
) -> None:
    client.force_login(alice)
    url = reverse("document-passages", args=[report.pk]) + "?page=2"
    [shown] = re.findall(r'name="shown" value="(\d+)"', client.get(url).content.decode())
    assert client.get(f"{url}&shown={shown}").status_code == 204
    assert ingest_again(report)
    ingest_document(report.pk)
    assert client.get(f"{url}&shown={shown}").status_code == 204, "it reads as it did"
    report.units.update(section_title="As an older parser called it")
    assert ingest_again(report)
    ingest_document(report.pk)
    assert client.get(f"{url}&shown={shown}").status_code == 200
