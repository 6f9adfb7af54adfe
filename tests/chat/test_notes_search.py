"""Notes are found by the document search, by their owner only, and are not listed as documents."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from chat.models import Note
from chat.notes import Written, index_notes_at_rest, note_blocks, save_note, search_notes
from documents.models import Document, Job, RetrievalChunk
from retrieval.index.backfill import backfill
from retrieval.models import IndexedDocument
from retrieval.query.scope import Scope
from retrieval.search import NOTHING_CLOSE, search
from tests.api_clients import client_of
from tests.chat.scripted_server import Reply, ScriptedServer, openai_answer, serving

TIDES = """## Spring tides

The moon and the sun pull together at new moon. [[cite:00000000-0000-0000-0000-000000000000:4]]

- neap tides are weaker
- **king** tides are the strongest

| port | metres |
|---|---|
| Dover | 6.7 |

```python
height = mean + range / 2
```
"""


@pytest.fixture
def tides(alice: User) -> Note:
    return Note.objects.create(owner=alice, title="Harbour log", content=TIDES)


@pytest.fixture
def bread(alice: User) -> Note:
    return Note.objects.create(owner=alice, title="Kitchen", content="Rye bread needs a sourdough starter.")


def test_a_note_is_made_of_blocks_of_its_kinds(tides: Note) -> None:
    blocks = [(block.type, block.text.strip()) for block in note_blocks(tides)]
    assert blocks == [
        ("heading", "Harbour log"),
        ("heading", "Spring tides"),
        ("text", "The moon and the sun pull together at new moon."),
        ("list", "neap tides are weaker"),
        ("list", "**king** tides are the strongest"),
        ("table", "port\nmetres\nDover\n6.7"),
        ("code", "height = mean + range / 2"),
    ]


def test_notes_are_found_by_stems_table_cells_and_title_and_ranked(
    alice: User, tides: Note, bread: Note
) -> None:
    for query, wanted in {
        "strongest tide": tides,
        "metres at Dover": tides,
        "baking with sourdough starters": bread,
        "kitchen": bread,
    }.items():
        result, found = search_notes(query, alice)
        assert found[0].note == wanted, query
        assert {"keyword", "vector", "rerank"} <= {report.name for report in result.strategies if report.ran}
    _, found = search_notes("neap", alice)
    assert ("neap", True) in found[0].hit.snippet.pieces


def test_a_changed_note_is_found_by_what_it_says_now(alice: User, bread: Note) -> None:
    assert search_notes("sourdough", alice)[0].message == ""
    save_note(bread, Written("Kitchen", "Brioche needs butter.", bread.revision))
    assert [found.note for found in search_notes("brioche", alice)[1]] == [bread]
    assert search_notes("sourdough", alice)[0].message == NOTHING_CLOSE
    bread.refresh_from_db()
    bread.hide()
    assert search_notes("brioche", alice)[1] == []
    assert not Document.objects.notes_of(alice).exists()
    bread.unhide()
    assert [found.note for found in search_notes("brioche", alice)[1]] == [bread]


def test_an_empty_note_is_no_hindrance(alice: User, bread: Note) -> None:
    Note.objects.create(owner=alice)
    assert [found.note for found in search_notes("sourdough", alice)[1]] == [bread]


def test_a_note_is_found_by_its_writer_alone_and_is_no_document(
    alice: User, bob: User, tides: Note, client: Client
) -> None:
    assert search_notes("tides", alice)[1]
    assert search_notes("tides", bob)[1] == []
    assert not Document.objects.visible_to(alice).exists()
    assert not RetrievalChunk.objects.visible_to(alice).exists()
    assert not search("tides", Scope(alice)).hits
    api = client_of(alice)
    assert api.get("/api/documents/").json()["results"] == []
    assert api.get(f"/api/documents/{tides.pk}/").status_code == 404
    client.force_login(alice)
    assert b"Harbour log" not in client.get("/").content


def test_page_and_api_give_the_best_note_first(alice: User, tides: Note, bread: Note, client: Client) -> None:
    found = client_of(alice).get("/api/notes/", {"q": "bread"}).json()["results"]
    assert found[0]["id"] == str(bread.pk)
    client.force_login(alice)
    page = client.get("/notes/", {"q": "king tide"}).content.decode()
    assert "<mark>king</mark>" in page and "Harbour log" in page
    nonsense = client.get("/notes/", {"q": "xyzzyplugh"}).content.decode()
    assert "No note" in nonsense


def test_a_worker_indexes_notes_that_are_left_alone(alice: User, tides: Note, bread: Note) -> None:
    Note.objects.filter(pk=tides.pk).update(updated_at=timezone.now() - timedelta(minutes=5))
    index_notes_at_rest()
    index_notes_at_rest()
    indexed = Document.objects.notes_of(alice)
    assert [row.pk for row in indexed] == [tides.pk]
    assert indexed[0].indexed_at and indexed[0].vectors.count() == indexed[0].chunk_count > 0


def test_backfill_repairs_notes_and_lists_no_job_for_them(alice: User, bread: Note) -> None:
    search_notes("sourdough", alice)
    IndexedDocument.objects.all().delete()
    assert backfill() == 1
    assert not Job.objects.exists()
    assert [found.note for found in search_notes("sourdough", alice)[1]] == [bread]


@pytest.fixture
def model(settings: object) -> Iterator[ScriptedServer]:
    with serving(Reply(openai_answer("unused"))) as script:
        variants = {"variants": ["sourdough starter"], "parts": [], "passage": "", "filters": {}}
        script.for_search = json.dumps(variants)
        settings.COMPATIBLE_BASE_URL = f"{script.url}/v1"  # type: ignore[attr-defined]
        settings.CHAT_PROVIDER = "compatible"  # type: ignore[attr-defined]
        yield script


def test_a_search_of_notes_asks_the_model_for_other_words(
    alice: User, tides: Note, bread: Note, model: ScriptedServer
) -> None:
    result, found = search_notes("leaven for a loaf", alice)
    assert model.searches == 1
    assert found[0].note == bread
    assert any(report.name == "multi_query" and report.ran for report in result.strategies)
    assert result.message == NOTHING_CLOSE  # those are the model's words; no note has the writer's
