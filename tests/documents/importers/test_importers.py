"""Import of other parsers' output."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pymupdf
import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.management import call_command
from django.test import Client

from chat.citations.snapshots import quoted
from chat.models import Conversation, Message
from documents.importers.block import MOST_BLOCKS, AdapterError
from documents.importers.block_import import FRAME, parsed_document
from documents.importers.parser_outputs import read_blocks, recognise
from documents.ingestion.source_files import replace_file
from documents.library import delete_document
from documents.models import Document, RetrievalChunk
from documents.models.content import chunk_metadata
from documents.tasks import ingest_next
from pdf.geometry import Rect
from pdf.structure import Location
from pdf.word_boxes import unpack
from retrieval.query.scope import Scope
from retrieval.search import search
from tests.api_clients import client_of
from tests.conftest import imported
from tests.drawing import draw_pdf

DOCLING = {
    "schema_name": "DoclingDocument",
    "body": {"children": [{"$ref": f"#/texts/{at}"} for at in (0, 1, 2)] + [{"$ref": "#/tables/0"}]},
    "texts": [
        {"label": "page_header", "text": "Running head"},
        {"label": "section_header", "text": "Results", "level": 1},
        {
            "label": "text",
            "text": "Goodwill rose to 41 million.",
            "prov": [
                {
                    "page_no": 2,
                    "bbox": {"l": 100, "t": 700, "r": 300, "b": 680, "coord_origin": "BOTTOMLEFT"},
                }
            ],
        },
        {"label": "caption", "text": "Sales by region"},
    ],
    "tables": [
        {
            "label": "table",
            "prov": [{"page_no": 2}],
            "captions": [{"$ref": "#/texts/3"}],
            "data": {
                "table_cells": [],
                "grid": [
                    [{"text": "Region", "column_header": True}, {"text": "2023", "column_header": True}],
                    [{"text": "Europe"}, {"text": "1,577"}],
                ],
            },
        }
    ],
    "pages": {"2": {"size": {"width": 400, "height": 800}}},
}

UNSTRUCTURED = [
    {"type": "Header", "element_id": "a", "text": "Running head", "metadata": {"page_number": 1}},
    {"type": "Title", "element_id": "b", "text": "Results", "metadata": {"page_number": 1}},
    {
        "type": "NarrativeText",
        "element_id": "c",
        "text": "Goodwill rose to 41 million.",
        "metadata": {
            "page_number": 1,
            "coordinates": {
                "points": [[100, 100], [100, 120], [300, 120], [300, 100]],
                "layout_width": 400,
                "layout_height": 800,
            },
        },
    },
    {
        "type": "Table",
        "element_id": "d",
        "text": "Region 2023 Europe 1,577",
        "metadata": {
            "page_number": 1,
            "text_as_html": "<table><tr><th>Region</th><th>2023</th></tr>"
            "<tr><td>Europe &amp; UK</td><td>1,577</td></tr></table>",
        },
    },
]

BLOCKS = {
    "result": {
        "chunks": [
            {
                "blocks": [
                    {"type": "Section Header", "content": "Results"},
                    {
                        "type": "Text",
                        "content": "Goodwill rose to 41 million.",
                        "bbox": {"left": 0.25, "top": 0.125, "width": 0.5, "height": 0.025, "page": 3},
                    },
                    {"type": "code", "text": "x = 1", "code_language": "python", "page": 3},
                    {"type": "list item", "text": "first", "list_style": "a)", "page": 3},
                    {"type": "audio", "text": "so we begin", "start_ms": 1000, "end_ms": 2500, "page": 4},
                    {"type": "audio", "text": "and we end", "start_ms": 2500, "end_ms": 9000, "page": 4},
                ]
            }
        ]
    }
}


@pytest.mark.parametrize(
    ("payload", "kind"), [(DOCLING, "docling"), (UNSTRUCTURED, "unstructured"), (BLOCKS, "blocks")]
)
def test_each_format_is_known_by_its_own_marks(payload: object, kind: str) -> None:
    assert recognise(payload) == kind


@pytest.mark.parametrize("payload", [DOCLING, UNSTRUCTURED])
def test_headings_prose_and_tables_come_out_alike(payload: object) -> None:
    blocks = read_blocks(payload)
    assert [block.type for block in blocks] == ["heading", "text", "table"]
    assert blocks[1].text == "Goodwill rose to 41 million."
    assert blocks[2].has_head
    assert blocks[2].rows[0] == ("Region", "2023")
    assert blocks[2].rows[1][1] == "1,577"


HTML = (
    "<table border=1><thead><tr><th>Region<th colspan='2'>Net <b>sales</b></tr></thead>"
    "<tr><td>Europe &amp; UK</td><td>1,577</td><td>1,400</td></tr><tr></tr></table>"
)
MARKDOWN = "| Region | Net \\| gross |\n|:---|---:|\n| Europe | 1,577 |"


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (HTML, (("Region", "Net sales", ""), ("Europe & UK", "1,577", "1,400"))),
        (MARKDOWN, (("Region", "Net | gross"), ("Europe", "1,577"))),
    ],
)
def test_a_table_as_html_or_markdown_has_rows(text: str, rows: object) -> None:
    (block,) = read_blocks([{"type": "Table", "content": text}])
    assert block.rows == rows
    assert block.has_head
    assert "<" not in block.text
    assert "---" not in block.text


def test_blocks_of_other_names_keep_their_kind_language_times_and_order() -> None:
    table, code, clip, after, slide, last = read_blocks(
        [
            {"block_type": "TABLE", "text": "|a|b|\n|-|-|\n|1|2|"},
            {"type": "CODE", "text": "print(1)", "metadata": {"language": "python"}},
            {"type": "AUDIO", "text": "Hello.", "start_timestamp": 724.5, "end_timestamp": "00:12:09.250"},
            {"text": "On the first page, too."},
            {"text": "The fourth slide.", "slide": 4},
            {"text": "Beside it."},
        ]
    )
    assert table.rows == (("a", "b"), ("1", "2"))
    assert code.code_language == "python"
    assert (clip.start_ms, clip.end_ms) == (724_500, 729_250)
    assert [block.page for block in (after, slide, last)] == [1, 4, 4]
    with pytest.raises(AdapterError):
        read_blocks([{"text": "Soon.", "start_time": "soon"}])


@pytest.mark.parametrize("time", ["PT12M4.5S", "12m4.5s", "12 m 4,5 s", "724500 ms", "00:12:04,500"])
def test_a_time_is_read_in_any_form(time: str) -> None:
    (block,) = read_blocks([{"type": "AUDIO", "text": "Hello.", "start_timestamp": time}])
    assert block.start_ms == 724_500


@pytest.mark.parametrize("time", ["noon", "12mm", "PT", "ms", "2024-05-01T00:12:04Z", "4s 3m"])
def test_what_is_no_time_is_refused(time: str) -> None:
    with pytest.raises(AdapterError) as refused:
        read_blocks([{"type": "AUDIO", "text": "Hello.", "start_timestamp": time}])
    assert refused.value.blocks[0].endswith("is no time.")


def test_the_metadata_of_our_own_chunks_are_read_again() -> None:
    known = {"table_row": 2, "table_col": 1, "citation": {"page_number": 3, "sheet_name": "Q2"}}
    (cell,) = read_blocks([{"type": "TABLE_CELL", "text": "412", "metadata": known}])
    assert (cell.row, cell.column, cell.page, cell.sheet) == (3, 2, 3, "Q2")
    (code,) = read_blocks([{"type": "CODE", "text": "x = 1", "code_metadata": {"language": "python"}}])
    assert code.code_language == "python"


def test_a_table_of_plain_words_stays_one_block() -> None:
    (block,) = read_blocks([{"type": "Table", "content": "Region 2023 Europe 1,577"}])
    assert not block.rows
    assert block.text == "Region 2023 Europe 1,577"


def test_docling_cells_without_a_grid_are_placed() -> None:
    cells = [
        {"text": text, "start_row_offset_idx": row, "start_col_offset_idx": column, "column_header": row == 0}
        for text, row, column in [("1,577", 1, 1), ("Region", 0, 0), ("2023", 0, 1), ("Europe", 1, 0)]
    ]
    tables = [{"label": "table", "data": {"table_cells": cells}}]
    (block,) = read_blocks({**DOCLING, "body": {"children": [{"$ref": "#/tables/0"}]}, "tables": tables})
    assert block.rows == (("Region", "2023"), ("Europe", "1,577"))
    assert block.has_head


def test_boxes_are_fractions_from_the_top_left() -> None:
    prose = read_blocks(DOCLING)[1]
    assert prose.page == 2
    assert prose.quad == ((0.25, 0.125), (0.75, 0.125), (0.75, 0.15), (0.25, 0.15))
    assert read_blocks(UNSTRUCTURED)[1].quad == prose.quad
    for corner, expected in zip(read_blocks(BLOCKS)[1].quad, prose.quad, strict=True):
        assert corner == pytest.approx(expected)


def test_four_corners_are_taken_as_they_are() -> None:
    corners = [[0.1, 0.2], [0.3, 0.2], [0.3, 0.4], [0.1, 0.4]]
    (block,) = read_blocks([{"text": "words", "bbox_quad": corners}])
    assert [list(corner) for corner in block.quad] == corners


def test_units_stand_in_their_pages_text() -> None:
    for payload in (DOCLING, UNSTRUCTURED, BLOCKS):
        for page in parsed_document(read_blocks(payload), "imported").pages:
            for unit in page.units:
                assert page.text[unit.char_start : unit.char_end] == unit.text
                for cell in unit.table.cells if unit.table else ():
                    assert page.text[cell.char_start : cell.char_end] == cell.text


def test_lines_are_numbered_through_the_document() -> None:
    units = [unit for page in parsed_document(read_blocks(BLOCKS), "x").pages for unit in page.units]
    assert [unit.line_start for unit in units] == list(range(1, len(units) + 1))


def test_a_table_row_knows_its_heads_and_caption() -> None:
    head, row = [unit for unit in parsed_document(read_blocks(DOCLING), "x").pages[1].units if unit.table]
    assert head.table is not None and head.table.header
    assert row.table is not None
    assert row.table.head_rows == ("Region", "2023")
    assert row.table.caption == "Sales by region"
    assert row.section_path == ("Results",)


def test_a_box_is_in_page_space() -> None:
    prose = parsed_document(read_blocks(UNSTRUCTURED), "x").pages[0].units[1]
    assert prose.bbox.x0 == pytest.approx(0.25 * FRAME.width)
    assert prose.bbox.y1 == pytest.approx(0.15 * FRAME.height)


@pytest.mark.parametrize(
    "payload",
    [
        None,
        7,
        "text",
        [],
        {},
        [1, 2],
        [{"text": "x", "page": -1}],
        [{"text": "x", "page": "soon"}],
        [{"text": "x", "bbox": [1, 2]}],
        [{"text": "x", "bbox": [100, 100, 300, 120]}],
        [{"text": "x", "bbox": {"left": 72, "top": 72, "width": 100, "height": 12}}],
        [{"text": "x", "bbox_quad": [[72, 72], [90, 72], [90, 84], [72, 84]]}],
        [{"text": " "}],
        [{"text": "x"}] * (MOST_BLOCKS + 1),
        {"schema_name": "DoclingDocument"},
        [{"element_id": "a", "type": "Title"}],
        json.loads('{"blocks":' * 20 + "[]" + "}" * 20),
    ],
    ids=lambda payload: str(payload)[:30],
)
def test_what_cannot_be_read_is_refused_with_a_reason(payload: object) -> None:
    with pytest.raises(AdapterError) as refused:
        read_blocks(payload)
    assert str(refused.value)


def test_a_reference_that_leads_back_ends() -> None:
    loop = {
        "schema_name": "DoclingDocument",
        "body": {"children": [{"$ref": "#/groups/0"}]},
        "groups": [{"children": [{"$ref": "#/groups/0"}, {"$ref": "#/texts/0"}]}],
        "texts": [{"label": "text", "text": "once"}],
    }
    assert [block.text for block in read_blocks(loop)] == ["once"]


def test_imported_blocks_are_found_and_keep_their_times(alice: User) -> None:
    document = imported(alice, BLOCKS, "A talk")
    assert document.status == Document.Status.READY
    hit = search("goodwill", Scope(alice)).hits[0]
    assert hit.page == 3
    spoken = RetrievalChunk.objects.get(document=document, content__contains="so we begin")
    anchor = chunk_metadata(spoken, list(spoken.units.all()))["citation"]
    assert (anchor["start_timestamp_ms"], anchor["end_timestamp_ms"]) == (1000, 9000)


def test_the_payload_is_kept_apart_and_goes_with_its_document(
    alice: User, django_capture_on_commit_callbacks: object
) -> None:
    document = imported(alice, DOCLING, "Results")
    name = document.metadata["payload"]
    assert default_storage.exists(name)
    with django_capture_on_commit_callbacks(execute=True):  # type: ignore[operator]
        delete_document(document)
    assert not default_storage.exists(name)


def test_the_command_imports_a_file(alice: User, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "report_2023.json"
    file.write_text(json.dumps(UNSTRUCTURED))
    call_command("import_blocks", str(file), owner="alice")
    assert "ready, 4 units" in capsys.readouterr().out
    assert Document.objects.get(owner=alice).title == "report 2023"


@pytest.mark.parametrize(
    ("named", "kind"),
    [
        ("TEXT", "text"),
        ("PARAGRAPH", "text"),
        ("TEXTSECTION", "text"),
        ("HEADING", "heading"),
        ("TABLE", "table"),
        ("TABLE_ROW", "table"),
        ("TABLE_CELL", "table"),
        ("BULLET_LIST", "list"),
        ("NUMBERED_LIST", "list"),
        ("CODE", "code"),
        ("IMAGE", "media"),
        ("VIDEO", "media"),
        ("AUDIO", "media"),
        ("FILE", "media"),
    ],
)
def test_each_kind_of_block_maps_to_ours(named: str, kind: str) -> None:
    (block,) = read_blocks([{"type": named, "text": "Dose: 5 mg"}])
    assert block.type == kind


def test_lists_say_their_style_and_code_its_language() -> None:
    numbered, code, prose = read_blocks(
        [
            {"type": "NUMBERED_LIST", "text": "Close the valve."},
            {"type": "CODE", "text": "x = 1", "language": "python"},
            {"type": "TEXT", "text": "Open the valve.", "language": "en"},
        ]
    )
    assert numbered.list_style == "numbered"
    assert (code.code_language, prose.code_language) == ("python", "")


def test_places_may_be_nested_and_named_otherwise() -> None:
    (block,) = read_blocks(
        [
            {
                "type": "TABLE_CELL",
                "text": "41",
                "citation": {"page_number": 3, "sheet_name": "Q2", "row_number": 7, "column_number": 2},
            }
        ]
    )
    assert (block.page, block.sheet, block.row, block.column) == (3, "Q2", 7, 2)
    (spoken,) = read_blocks(
        [{"type": "AUDIO", "text": "so", "start_timestamp_ms": 10, "end_timestamp_ms": 20}]
    )
    assert (spoken.start_ms, spoken.end_ms) == (10, 20)


def test_a_table_of_a_sheet_numbers_its_rows_and_cells(alice: User) -> None:
    rows = [["Crop", "Crates"], ["Pears", "412"]]
    blocks = [
        {"type": "table", "rows": rows, "sheet": "Q2", "row": 6, "column": 2},
        {"type": "table_cell", "text": "87", "sheet": "Q3", "row": 9, "column": 28},
        {"type": "text", "text": "Prices fell.", "slide": 4},
    ]
    document = imported(alice, blocks, "Harvest")
    _, pears, cell, slide = document.units.order_by("position")
    assert [unit.place for unit in (pears, cell, slide)] == ["sheet Q2, row 7", "sheet Q3, AB9", "slide 4"]
    start = pears.char_start + pears.content.index("412")
    assert pears.cited_location(start, start + 3).in_words == "sheet Q2, C7"
    assert [unit.page_number for unit in (pears, cell, slide)] == [1, 2, 4]


@pytest.mark.parametrize(
    ("location", "words"),
    [
        (Location(start_ms=724_000), "12:04"),
        (Location(start_ms=724_000, end_ms=724_900), "12:04"),
        (Location(start_ms=3_723_000, end_ms=3_800_000), "1:02:03–1:03:20"),
        (Location(sheet="Q2"), "sheet Q2"),
        (Location(row=3), ""),
        (Location(slide=2, start_ms=0), "slide 2, 0:00"),
    ],
)
def test_a_location_is_said_in_words(location: Location, words: str) -> None:
    assert location.in_words == words


def test_programs_import_blocks_and_a_worker_makes_the_document(alice: User) -> None:
    sent = {"title": "A talk", "blocks": BLOCKS}
    answer = client_of(alice).post("/api/documents/import/", sent, format="json")
    assert answer.status_code == 201
    document = Document.objects.get(pk=answer.json()["id"])
    job = client_of(alice).get(f"/api/jobs/?document={document.pk}").json()["results"][0]
    assert (document.status, job["kind"], job["state"]) == ("uploaded", "import", "waiting")
    assert ingest_next() == str(document.pk)
    job = client_of(alice).get(f"/api/jobs/{job['id']}/").json()
    assert job["state"] == "done" and job["seconds"] is not None and "store" in job["stage_seconds"]
    units = client_of(alice).get(f"/api/documents/{document.pk}/units/").json()["results"]
    spoken = next(unit for unit in units if unit["content"] == "so we begin")
    assert spoken["place"] == "0:01–0:02" and spoken["location"]["start_ms"] == 1000 and spoken["created_at"]


def test_a_refused_import_names_each_block_at_fault(alice: User) -> None:
    blocks = [
        {"type": "text", "text": "sound"},
        {"type": "text", "text": "x", "page": 0, "slide": -3},
        7,
        {"type": "table", "rows": [1]},
        {"text": "y", "bbox_quad": [[0, 0], [1, 1]]},
    ]
    refused = client_of(alice).post("/api/documents/import/", {"blocks": blocks}, format="json")
    assert refused.status_code == 422 and refused.json()["message"] == "4 of 5 blocks cannot be read."
    assert set(refused.json()["fields"]) == {f"blocks.{number}" for number in (1, 2, 3, 4)}
    assert not Document.objects.exists()


def test_more_pages_than_the_server_reads_are_refused(alice: User, settings: Any) -> None:
    settings.PARSE_MAX_PAGES = 3
    refused = client_of(alice).post(
        "/api/documents/import/", {"blocks": [{"text": "far", "page": 4}]}, format="json"
    )
    assert refused.json()["fields"] == {"blocks": ["There are more than 3 pages."]}


def test_a_cell_says_its_row_and_column_in_its_chunk(alice: User) -> None:
    document = imported(alice, [{"type": "TABLE_CELL", "text": "412", "row": 3, "column": 2}], "Sheet")
    known = client_of(alice).get(f"/api/chunks/{document.chunks.get().pk}/").json()["metadata"]
    assert (known["table_row"], known["table_col"]) == (2, 1)
    assert (known["citation"]["row_number"], known["citation"]["column_number"]) == (3, 2)


def test_a_turned_box_keeps_its_four_corners(alice: User) -> None:
    corners = [{"x": 0.2, "y": 0.1}, {"x": 0.4, "y": 0.2}, {"x": 0.3, "y": 0.4}, {"x": 0.1, "y": 0.3}]
    document = imported(alice, [{"text": "A stamp", "bbox_quad": corners}], "Form")
    chunk = document.chunks.get()
    known = client_of(alice).get(f"/api/chunks/{chunk.pk}/").json()
    assert known["metadata"]["citation"]["bbox_quad"] == corners
    assert known["units"][0]["location"]["quad"][1] == [0.4, 0.2]


def test_a_pdf_that_arrives_keeps_the_blocks_and_lends_its_words_their_boxes(alice: User) -> None:
    blocks = [
        {
            "type": "heading",
            "text": "Harvest",
            "bbox_quad": [[0.1, 0.05], [0.5, 0.05], [0.5, 0.1], [0.1, 0.1]],
        },
        {"type": "text", "text": "The orchard gave 412 crates of pears.", "line": 3},
    ]
    document = imported(alice, blocks, "Harvest")
    assert document.units.get(content__contains="orchard").line_start == 3  # as the blocks say
    before = list(document.units.order_by("position").values_list("pk", "content", "created_at"))
    conversation = Conversation.objects.create(owner=alice)
    message = Message.objects.create(conversation=conversation, position=1, role="assistant")
    (cited,) = quoted(document, 1, "412 crates")
    cited.message = message
    cited.save()
    pdf = ContentFile(draw_pdf("Harvest\n\nThe orchard gave 412 crates of pears.\n\nNot a block."))
    sent = client_of(alice).post(f"/api/documents/{document.pk}/pdf/", {"file": pdf})
    assert (sent.status_code, sent.json()["status"]) == (202, Document.Status.UPLOADED)
    assert ingest_next() == str(document.pk)
    document.refresh_from_db()
    assert document.status == Document.Status.READY and document.file
    assert list(document.units.order_by("position").values_list("pk", "content", "created_at")) == before
    heading, text = document.units.order_by("position")
    page = document.pages.get()
    assert heading.rects == [[*page.frame.from_display(Rect(0.1, 0.05, 0.5, 0.1))]]
    word = next(
        word for word in pymupdf.open(stream=document.file.read())[0].get_text("words") if word[4] == "412"
    )
    boxes = unpack(bytes(page.word_boxes), page.width, page.height).between(
        text.char_start + 17, text.char_start + 20
    )
    assert [round(x) for x in boxes[0]] == [round(x) for x in word[:4]]
    cited.refresh_from_db()
    assert cited.durability == "same" and cited.unit_id == text.pk and cited.rects


def test_another_pdf_in_its_place_is_read_itself(alice: User) -> None:
    document = imported(alice, [{"text": "The orchard gave 412 crates."}], "Harvest")
    for words in ("The orchard gave 412 crates.", "The cellar is empty."):
        document.refresh_from_db()
        replace_file(document, ContentFile(draw_pdf(words)))
        assert ingest_next() == str(document.pk)
    document.refresh_from_db()
    assert not document.is_imported and document.units.get().content == "The cellar is empty."


def test_imported_text_is_prose_not_an_abstract(alice: User) -> None:
    document = imported(alice, BLOCKS, "A talk")
    assert document.units.get(content__startswith="Goodwill").unit_type == "prose"


def test_a_link_to_a_block_without_a_pdf_marks_it(alice: User, client: Client) -> None:
    document = imported(
        alice, [{"text": "Low tide.", "slide": 1}, {"text": "High tide.", "slide": 2}], "Tides"
    )
    client.force_login(alice)
    unit = document.units.get(content="High tide.")
    page = " ".join(client.get(f"/documents/{document.pk}/?unit={unit.pk}").content.decode().split())
    assert (
        f'id="unit-{unit.pk}" aria-current="true"' in page
        and page.count('aria-current="true" autofocus') == 1
    )
