"""Indexing: first words, then vectors; once, and never by a worker that lost its lease."""

from __future__ import annotations

import json
import re
import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

import retrieval.index.backfill
import retrieval.index.document_index
from documents.ingestion.pipeline import ingest_document
from documents.models import CitationUnit, Document, FailureCode
from documents.tasks import sweep
from retrieval import provider_calls
from retrieval.embeddings.base import HashingEmbedder
from retrieval.index.backfill import (
    BackfillProgress,
    backfill,
    documents_behind,
    move_into,
    move_on,
    reindex,
    share_embedded,
)
from retrieval.index.document_index import embed_document, index_document
from retrieval.index.vectors import active_space, build_vector_index, has_vector_index
from retrieval.management.commands.backfill import quality
from retrieval.models import ChunkVector, EmbeddingSpace, IndexedChunk, IndexedDocument
from retrieval.provider_calls import ProviderError
from retrieval.query.scope import Scope
from retrieval.search import BEING_PREPARED, search
from tests.conftest import Ingest, imported
from tests.retrieval.conftest import NIKE, Library, written
from tests.scripted_server import Answer, Asked, scripted_server


def counts(document: Document) -> tuple[int, int, int]:
    return (
        IndexedDocument.objects.filter(document=document).count(),
        IndexedChunk.objects.filter(document=document).count(),
        ChunkVector.objects.filter(document=document).count(),
    )


def test_indexing_twice_leaves_one_set_of_rows(alice: User, library: Library) -> None:
    before = counts(library.nike)
    index_document(Document.objects.get(pk=library.nike.pk))
    assert counts(library.nike) == before
    assert min(before) > 0


def test_a_worker_that_lost_its_lease_writes_nothing(alice: User, library: Library) -> None:
    stale = Document.objects.get(pk=library.nike.pk)
    stale.lease = uuid.uuid4()
    IndexedDocument.objects.filter(document=library.nike).delete()
    assert not index_document(stale)
    assert not IndexedDocument.objects.filter(document=library.nike).exists()


def test_a_document_in_the_bin_is_not_indexed(alice: User, library: Library) -> None:
    Document.objects.filter(pk=library.nike.pk).update(deleted_at="2026-01-01T00:00Z")
    assert not index_document(library.nike)


def test_every_chunk_is_indexed_under_its_document(alice: User, library: Library) -> None:
    indexed = IndexedChunk.objects.filter(document=library.nike).values_list("chunk_id", flat=True)
    assert set(indexed) == set(library.nike.chunks.values_list("pk", flat=True))


def test_what_an_older_version_indexed_is_being_prepared_and_then_found(
    alice: User, library: Library, client: Client
) -> None:
    """As after an upgrade: the rows of chunks are gone, the sweep of a worker writes them."""
    IndexedChunk.objects.all().delete()
    IndexedDocument.objects.update(analysis_version=0)
    waiting = search("Nike dividends", Scope(alice))
    assert (waiting.hits, waiting.preparing, waiting.message) == ((), 3, BEING_PREPARED)
    client.force_login(alice)
    called = client.post("/api/search/", {"query": "Nike dividends"}, content_type="application/json").json()
    assert (called["hits"], called["preparing"], called["message"]) == ([], 3, BEING_PREPARED)
    sweep()
    prepared = search("Nike dividends", Scope(alice))
    assert prepared.preparing == 0
    assert prepared.hits[0].document_id == library.nike.pk


def failing(monkeypatch: pytest.MonkeyPatch, times: int) -> HashingEmbedder:
    """Every embedder fails so often, for good."""
    broken = HashingEmbedder(dimensions=256, failures=[ProviderError("No key.", permanent=True)] * times)
    monkeypatch.setattr(retrieval.index.document_index, "embedder_of", lambda space: broken)
    return broken


def test_words_are_found_although_embedding_failed(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    failing(monkeypatch, 1)
    document = written(alice, "NIKE_2019_10K", *NIKE)
    assert document.status == Document.Status.FAILED
    assert document.failure_code == FailureCode.EMBEDDING_FAILED
    assert document.failure_message.startswith("Embedding failed: No key.")
    assert search("Nike dividends", Scope(alice)).hits[0].page == 2


def test_a_service_that_is_down_marks_the_document_which_is_found_by_words_and_embedded_later(
    alice: User, ingested: Ingest, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """End to end, through the real SDK: read once, billed once, found all the time."""
    monkeypatch.setattr(provider_calls, "FIRST_PAUSE", 0.01)
    EmbeddingSpace.objects.update(active=False)  # the settings choose one only where none answers
    with scripted_server() as server:
        settings.EMBEDDING_SPACE = "compatible:failing"
        settings.EMBEDDING_BASE_URL, settings.EMBEDDING_API_KEY = f"{server.url}/v1", ""
        server.script["/v1/embeddings"] = Answer.json({"error": {"message": "overloaded"}}, 503)
        document = ingested(alice, "# Goodwill\n\nGoodwill was impaired by 17 million.", "Second page.")
        assert (document.status, document.failure_code) == ("failed", FailureCode.EMBEDDING_FAILED)
        assert "Embedding failed: The embedding service refused with status 503" in document.failure_message
        assert len(server.asked) > 1, "asked again before it gave up"
        assert Document.objects.searchable().contains(document)
        result = search("goodwill", Scope(alice))
        assert result.hits[0].page == 1
        assert "503" in next(report.reason for report in result.strategies if report.name == "vector")

        read = document.units.order_by("position").values_list("pk", flat=True)
        before = list(read)
        server.script["/v1/embeddings"] = three_dimensions
        assert sweep().retried == 0, "not before a pause"
        Document.objects.filter(pk=document.pk).update(started_at=timezone.now() - timedelta(hours=2))
        assert sweep().retried == 1
        assert search("goodwill", Scope(alice)).hits, "found while it waits"
        assert ingest_document(document.pk)
        document.refresh_from_db()
        assert (document.status, document.failure_code) == ("ready", "")
        assert list(read) == before, "not read again"
        assert ChunkVector.objects.filter(document=document).count() == document.chunk_count


def three_dimensions(asked: Asked) -> Answer:
    texts = json.loads(asked.body)["input"]
    rows = [{"object": "embedding", "index": at, "embedding": [1.0, at, 1.0]} for at in range(len(texts))]
    return Answer.json({"object": "list", "model": "tiny", "data": rows, "usage": {}})


def test_backfill_embeds_what_failed_and_finds_nothing_the_second_time(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing(monkeypatch, 1)
    document = written(alice, "NIKE_2019_10K", *NIKE)
    assert [behind.what for behind in documents_behind()] == ["vectors"]
    assert backfill() == 1
    assert backfill() == 0
    document.refresh_from_db()
    assert document.status == Document.Status.READY


def test_backfill_indexes_words_of_an_older_analysis_again(alice: User, library: Library) -> None:
    IndexedDocument.objects.filter(document=library.nike).update(analysis_version=0)
    assert [(behind.what, behind.document) for behind in documents_behind()] == [("words", library.nike)]
    assert backfill() == 1
    assert search("Nike dividends", Scope(alice)).hits[0].document_id == library.nike.pk


def test_backfill_has_read_again_what_an_older_parser_read_and_imported_again(
    alice: User, ingested: Ingest, library: Library
) -> None:
    document = ingested(alice, "Goodwill was impaired.")
    units = set(CitationUnit.objects.values_list("pk", flat=True))
    Document.objects.update(parser_version="of long ago")
    behind = {(found.what, found.document) for found in documents_behind()}
    assert behind == {("parser", found) for found in Document.objects.all()}
    assert backfill() == len(behind)
    document.refresh_from_db()
    assert document.status == Document.Status.UPLOADED
    for waiting in Document.objects.all():
        assert ingest_document(waiting.pk)
    assert not list(documents_behind())
    assert set(CitationUnit.objects.values_list("pk", flat=True)) == units, "what is cited keeps its id"


@pytest.mark.slow
def test_a_library_is_read_again_at_a_pace_and_says_how_far_it_is(
    alice: User, ingested: Ingest, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(4):
        ingested(alice, f"Report {number}.")
    Document.objects.update(parser_version="of long ago")
    at_once = []

    def let_a_worker_read(seconds: float) -> None:
        uploaded = Document.objects.filter(status=Document.Status.UPLOADED)
        at_once.append(uploaded.count())
        if at_once[-1] == 2:
            assert ingest_document(uploaded.earliest("created_at").pk)

    monkeypatch.setattr(retrieval.index.backfill.time, "sleep", let_a_worker_read)
    call_command("backfill", "--waiting", "2")
    assert max(at_once) == 2
    assert "4 of 4, parser: " in capsys.readouterr().out


def test_backfill_gives_an_empty_chunk_type_and_changes_nothing_else(
    alice: User, library: Library, capsys: pytest.CaptureFixture[str]
) -> None:
    chunks, vectors = library.nike.chunks, ChunkVector.objects.filter(document=library.nike)
    before = list(chunks.order_by("index").values()), list(vectors.order_by("chunk_id").values_list("pk"))
    chunks.filter(index=0).update(chunk_type="")
    call_command("backfill", "--dry-run")
    said = capsys.readouterr().out
    assert "chunk types: NIKE" in said and "1 documents are behind" in said and "100.0%" not in said
    assert chunks.filter(chunk_type="").count() == 1, "a dry run changes nothing"
    call_command("backfill")
    after = list(chunks.order_by("index").values()), list(vectors.order_by("chunk_id").values_list("pk"))
    assert after == before
    call_command("backfill", "--dry-run")
    assert "0 documents are behind" in capsys.readouterr().out


def test_quality_is_reported(alice: User, library: Library) -> None:
    found = quality()
    assert found.chunks == sum(document.chunk_count for document in Document.objects.all())
    assert found.typed_share == 1
    assert 300 < found.mean_metadata < 1500, "as the API gives it"
    assert found.located == {}
    blocks = [{"text": "So we begin.", "slide": 2, "start_ms": 5}, {"text": "On.", "slide": 3, "sheet": "A"}]
    imported(alice, blocks, "Talk")
    assert quality().located == {"slide": 2, "start_ms": 1, "sheet": 1}


def test_another_space_takes_over_when_it_is_complete(alice: User, library: Library) -> None:
    old = active_space()
    seen: list[int] = []
    new = reindex("hashing", lambda progress: seen.append(progress.remaining))
    assert seen == [2, 1, 0]
    assert active_space() == new != old
    assert EmbeddingSpace.objects.filter(active=True).count() == 1
    assert ChunkVector.objects.filter(space=new).count() == ChunkVector.objects.filter(space=old).count()
    assert search("Nike dividends", Scope(alice)).hits[0].document_id == library.nike.pk


def test_a_reindexing_that_was_stopped_goes_on_with_the_documents_that_are_left(
    alice: User, library: Library
) -> None:
    old = active_space()
    seen: list[int] = []

    def stopped(progress: BackfillProgress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reindex("hashing", stopped)
    assert active_space() == old
    reindex("hashing", lambda progress: seen.append(progress.remaining))
    assert seen == [1, 0]
    assert active_space() != old


def test_the_old_space_answers_while_the_new_one_fails(
    alice: User, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = active_space()
    reindexed = failing(monkeypatch, 1)
    with pytest.raises(ProviderError):
        reindex("hashing")
    assert active_space() == old
    reindexed.dimensions = 64
    assert reindex("hashing") == active_space() != old


MODELS = "/search/models/"


@pytest.fixture
def administrator(alice: User, client: Client) -> Client:
    alice.is_staff = True
    alice.save()
    client.force_login(alice)
    return client


def test_a_model_of_many_languages_is_offered_where_most_documents_are_not_english(
    alice: User, administrator: Client
) -> None:
    written(alice, "Lease", ["The rent is 900 euros."])
    others = [written(alice, title, [title]) for title in ("Mietvertrag", "Nebenkosten", "Bail")]
    Document.objects.update(language="en-GB")

    def offer() -> str:
        return "".join(re.findall(r"for your documents in \w+", administrator.get(MODELS).content.decode()))

    Document.objects.filter(pk__in=[of.pk for of in others[:2]]).update(language="de")
    assert not offer(), "half are English"
    Document.objects.filter(pk=others[2].pk).update(language="fr")
    assert offer() == "for your documents in German"
    administrator.force_login(User.objects.create_user("reader"))
    assert not offer()


def test_an_administrator_moves_the_library_into_another_model_and_sees_how_far_it_is(
    alice: User,
    library: Library,
    administrator: Client,
    monkeypatch: pytest.MonkeyPatch,
    settings: Any,
) -> None:
    old, settings.OPENAI_API_KEY = active_space(), ""
    page = administrator.get("/conversations/providers/").content.decode()
    assert "searches now" in page and "set the environment variable OPENAI_API_KEY" in page
    administrator.post(MODELS, {"provider": "hashing", "model": "96"})
    new = EmbeddingSpace.objects.get(wanted=True)
    monkeypatch.setattr(retrieval.index.backfill, "ROUND_SECONDS", -1.0)  # the time limit of a round is zero
    assert not move_on()
    embed_document(library.nike, new)
    assert 0 < share_embedded(new) < 1 and active_space() == old
    assert search("Nike dividends", Scope(alice)).hits
    monkeypatch.undo()
    assert not move_on(), "it looks once more for what came in meanwhile"
    assert move_on()
    assert active_space() == new
    assert not EmbeddingSpace.objects.filter(wanted=True).exists()
    assert search("Nike dividends", Scope(alice)).hits[0].document_id == library.nike.pk


def test_one_worker_at_a_time_is_at_a_move_and_the_next_goes_on_where_one_died(library: Library) -> None:
    space = move_into("hashing:96")
    EmbeddingSpace.objects.update(busy_until=timezone.now() + timedelta(minutes=1))
    assert not move_on() and share_embedded(space) == 0
    EmbeddingSpace.objects.update(busy_until=timezone.now() - timedelta(seconds=1))
    move_on()
    assert share_embedded(space) == 1


@pytest.mark.parametrize("permanent", [True, False])
def test_a_move_whose_model_fails_says_why_and_is_tried_again_where_that_may_help(
    library: Library, administrator: Client, monkeypatch: pytest.MonkeyPatch, permanent: bool
) -> None:
    old, space = active_space(), move_into("hashing:96")
    failure = ProviderError("The key was refused.", permanent=permanent)
    failing_model = HashingEmbedder(dimensions=96, failures=[failure] * 9)
    monkeypatch.setattr(retrieval.index.document_index, "embedder_of", lambda space: failing_model)
    monkeypatch.setattr(provider_calls, "LONGEST_PAUSE", 0.0)
    assert not move_on()
    space.refresh_from_db()
    assert space.wanted is not permanent and active_space() == old
    assert permanent or space.busy_until > timezone.now(), "not at once"


def test_choosing_the_model_that_answers_ends_a_move(library: Library, administrator: Client) -> None:
    move_into("hashing:96")
    assert "Stop" not in administrator.get(MODELS).content.decode(), "the hashing model is for tests alone"
    administrator.post(MODELS, {"provider": "wordllama", "model": active_space().model})
    assert not EmbeddingSpace.objects.filter(wanted=True).exists()


def test_who_is_no_administrator_cannot_move_the_library(client: Client, bob: User, library: Library) -> None:
    client.force_login(bob)
    assert client.post(MODELS, {"provider": "hashing", "model": "96"}).status_code == 403
    page = client.get(MODELS).content.decode()
    assert "WordLlama" in page and "Use for search" not in page
    client.logout()
    assert client.get(MODELS).status_code == 302
    assert not EmbeddingSpace.objects.filter(wanted=True).exists()


def test_a_model_that_cannot_be_had_is_refused_in_words(
    administrator: Client, library: Library, settings: Any, subtests: pytest.Subtests
) -> None:
    for provider in ["", "nonsense", "openai", "x:y"]:
        with subtests.test(provider=provider):
            settings.OPENAI_API_KEY = ""
            page = administrator.post(MODELS, {"provider": provider, "model": "m"})
            assert page.status_code == 200 and 'role="alert"' in page.content.decode()
            assert EmbeddingSpace.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_the_vector_index_is_built_once_and_finds_what_comparing_finds(library: Library) -> None:
    space = active_space()
    assert build_vector_index(space, at_least=1)
    assert has_vector_index(space)
    assert not build_vector_index(space, at_least=1)
