"""The metadata of a chunk: JSON-safe, small, and consistent with the document's text."""

from __future__ import annotations

import json

import pytest
from django.contrib.auth.models import User
from hypothesis import given
from hypothesis import strategies as st

from documents.models import CitationUnit
from documents.models.content import chunk_metadata, citation_anchor, list_style
from retrieval.query.scope import Scope
from retrieval.search import search
from tests.api_clients import client_of
from tests.conftest import Ingest, imported

PAGES = (
    "Harvest report\n\nThe orchard gave 412 crates of pears.\nPickers worked in two shifts.",
    "The cellar holds them until spring.\n1. Check the doors.\n2. Read the thermometers.",
)


def test_offsets_point_into_the_text_of_the_document(alice: User, ingested: Ingest) -> None:
    document = ingested(alice, *PAGES)
    text = "\n".join(document.pages.order_by("number").values_list("text", flat=True))
    chunks = list(document.chunks.select_related("document").prefetch_related("units"))
    assert chunks
    for chunk in chunks:
        units = list(chunk.units.all())
        known = chunk_metadata(chunk, units)
        cut = text[known["start_char"] : known["end_char"]]
        assert cut.startswith(units[0].content) and cut.endswith(units[-1].content)


def test_a_chunk_s_metadata_is_small_json_with_its_file_and_its_place(alice: User, ingested: Ingest) -> None:
    document = ingested(alice, *PAGES, name="harvest.pdf")
    chunk = document.chunks.order_by("index").first()
    known = client_of(alice).get(f"/api/chunks/{chunk.pk}/").json()["metadata"]
    assert len(json.dumps(known)) < 2000
    assert (known["media_id"], known["file_name"]) == (str(document.pk), "harvest.pdf")
    assert (known["chunk_index"], known["total_chunks"]) == (0, document.chunks.count())
    assert known["ancestry_titles"][0] == document.title
    anchor = known["citation"]
    assert (anchor["page_number"], anchor["paragraph_number"], anchor["line_start"]) == (1, 1, 1)
    left_top, right_top, right_bottom, left_bottom = anchor["bbox_quad"]
    assert left_top["x"] == left_bottom["x"] < right_top["x"] == right_bottom["x"]
    assert left_top["y"] == right_top["y"] < left_bottom["y"] == right_bottom["y"]


def test_a_chunk_of_several_kinds_is_mixed(alice: User) -> None:
    blocks = [
        {"type": "heading", "text": "Stores", "page": 1},
        {"type": "text", "text": "The cellar holds pears, apples and quinces until spring.", "page": 1},
        {"type": "list", "text": "Check the doors.", "page": 1},
    ]
    chunk = imported(alice, blocks, "Stores").chunks.get()
    known = chunk_metadata(chunk, list(chunk.units.all()))
    assert (chunk.chunk_type, known["chunk_type"]) == ("mixed", "mixed")
    assert known["unit_types"] == ["heading", "prose", "list"]
    found = search("pears", Scope(alice, chunk_types=("mixed",))).hits
    assert [hit.chunk_id for hit in found] == [chunk.pk]


def test_the_title_is_among_the_ancestors_once(alice: User) -> None:
    blocks = [{"type": "heading", "text": "Stores"}, {"text": "The cellar holds pears."}]
    chunk = imported(alice, blocks, "Stores").chunks.get()
    assert chunk_metadata(chunk, list(chunk.units.all()))["ancestry_titles"] == ["Stores"]


def test_the_anchor_is_around_all_units_of_the_chunk(alice: User) -> None:
    blocks = [
        {"type": "heading", "text": "Stores", "bbox": [0.1, 0.1, 0.5, 0.2], "start_timestamp": "00:12:04"},
        {"text": "The cellar holds\npears.", "bbox": [0.2, 0.3, 0.8, 0.4], "start_timestamp": 2.5},
        {"text": "And apples.", "end_timestamp": "12:09,25"},
    ]
    chunk = imported(alice, blocks, "Stores").chunks.get()
    anchor = chunk_metadata(chunk, list(chunk.units.all()))["citation"]
    assert (anchor["line_start"], anchor["line_end"]) == (1, 4)
    assert (anchor["start_timestamp_ms"], anchor["end_timestamp_ms"]) == (2500, 729250)
    assert anchor["bbox_quad"][0] == {"x": 0.1, "y": 0.1} and anchor["bbox_quad"][2] == {"x": 0.8, "y": 0.4}


def test_no_box_is_invented_for_a_block_without_one(alice: User) -> None:
    chunk = imported(alice, [{"text": "The cellar holds pears."}], "Stores").chunks.get()
    assert "bbox_quad" not in chunk_metadata(chunk, list(chunk.units.all()))["citation"]


def test_a_chunk_says_the_language_of_its_own_words(alice: User) -> None:
    blocks = [
        {"type": "heading", "text": "English", "page": 1},
        {"text": "The cellar holds the pears and the apples until it is spring again.", "page": 1},
        {"type": "heading", "text": "Deutsch", "page": 2},
        {"text": "Der Keller ist voll, und die Birnen sind noch nicht reif für den Markt.", "page": 2},
    ]
    chunks = imported(alice, blocks, "Stores").chunks.order_by("index")
    known = [chunk_metadata(chunk, list(chunk.units.all()))["language"] for chunk in chunks]
    assert known == ["en", "de"]


@pytest.mark.parametrize(
    ("marker", "style"),
    [
        ("•", "bullet"),
        ("-", "bullet"),
        ("·", "bullet"),
        ("o", "bullet"),
        ("1.", "numbered"),
        ("(a)", "numbered"),
        ("iv)", "numbered"),
        ("12", "numbered"),
        ("bullet", "bullet"),
    ],
)
def test_a_marker_is_a_bullet_or_a_number(marker: str, style: str) -> None:
    assert list_style(marker) == style


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


@given(
    st.lists(texts, max_size=4),
    st.sampled_from(CitationUnit.Type.values),
    texts,
    st.dictionaries(st.sampled_from(["slide", "sheet", "row", "start_ms", "end_ms"]), texts | st.integers()),
    st.tuples(*[st.floats(0, 2000)] * 4),
)
def test_any_chunk_gives_json_without_empty_values(
    path: list[str], kind: str, marker: str, placed: dict[str, object], box: tuple[float, ...]
) -> None:
    unit = CitationUnit(
        unit_type=kind,
        list_style=marker,
        page_number=3,
        paragraph_index=0,
        line_start=1,
        line_end=1,
        bbox=list(box),
        section_path=path,
        location=placed,
    )
    anchor = citation_anchor([unit])
    assert json.loads(json.dumps(anchor)) == anchor
    assert all(value is not None for value in anchor.values())
    assert len(json.dumps(anchor)) < 1000


def test_a_chunk_that_begins_above_its_sheet_still_names_the_first_cell() -> None:
    heading = CitationUnit(page_number=2, paragraph_index=0, line_start=1, line_end=1, bbox=[0.0] * 4)
    row = CitationUnit(location={"sheet": "Q2", "row": 6, "column": 2}, table_row=0)
    anchor = citation_anchor([heading, row])
    assert (anchor["sheet_name"], anchor["row_number"], anchor["column_number"]) == ("Q2", 6, 2)
