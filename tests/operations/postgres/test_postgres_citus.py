"""The tables on a Citus cluster. Run on one: ``python -m tests.citus_nodes BIN python -m pytest …``."""

from __future__ import annotations

import json
import re
from io import StringIO
from typing import Any

import psycopg
import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from documents.library import move_to_trash
from documents.models import CitationUnit, Document, Page, RetrievalChunk
from operations.management.commands import distribute as citus
from retrieval.index import vectors
from retrieval.models import ChunkVector, IndexedChunk
from retrieval.query.scope import Scope
from retrieval.search import search
from tests.conftest import Ingest

pytestmark = pytest.mark.django_db


def on_citus() -> bool:
    if not settings.DATABASE_URL:
        return False
    with psycopg.connect(settings.DATABASE_URL) as named:
        return named.execute("SELECT 1 FROM pg_extension WHERE extname = 'citus'").fetchone() is not None


needs_citus = pytest.mark.skipif("not on_citus()", reason="DATABASE_URL is not that of a Citus coordinator")
needs_plain = pytest.mark.skipif("on_citus()", reason="DATABASE_URL is that of a Citus coordinator")


def plan_of(statement: str, params: Any = None) -> list[dict[str, Any]]:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL citus.explain_all_tasks = on")
        cursor.execute(f"EXPLAIN (FORMAT JSON) {statement}", params)
        plan = cursor.fetchone()[0]
        return json.loads(plan) if isinstance(plan, str) else plan


def tasks_of(plan: Any) -> list[Any]:
    """Every task of a distributed plan, wherever in it."""
    if isinstance(plan, list):
        return [task for part in plan for task in tasks_of(part)]
    if not isinstance(plan, dict):
        return []
    found = plan.get("Tasks", [])
    return [*found, *(task for value in plan.values() if value is not found for task in tasks_of(value))]


@needs_plain
def test_a_server_without_citus_is_told_what_it_lacks() -> None:
    with pytest.raises(CommandError, match=r"has no Citus.*shared_preload_libraries"):
        call_command("distribute", "--check")


def test_a_node_is_a_host_and_a_port() -> None:
    assert citus.Node.parse("db1.internal:5432") == ("db1.internal", 5432)
    with pytest.raises(ValueError, match="not host:port"):
        citus.Node.parse("5432")


def test_what_a_search_sets_is_what_distribute_sets_on_the_workers() -> None:
    sent = dict(re.findall(r"set_config\('(hnsw\.\w+)', '(\w+)'", vectors.TUNED))
    assert sent == {name: value for name, value in citus.WORKER_SETTINGS.items() if name.startswith("hnsw")}


@needs_citus
def test_every_table_is_in_its_place_and_nothing_is_left_to_do() -> None:
    said = StringIO()
    call_command("distribute", "--check", stdout=said)
    assert "All tables are distributed." in said.getvalue()
    assert citus.distribute() == 0


def constraint(name: str, kind: str, table: str, columns: str, target: str = "") -> citus.Constraint:
    return citus.Constraint(name, kind, table, tuple(columns.split()), target, ("id",) * bool(target), True)


def test_keys_get_the_distribution_column_and_foreign_keys_that_are_not_possible_go() -> None:
    vector = constraint("one_vector", "u", "retrieval_chunkvector", "chunk_id space_id")
    chunk = constraint("of_chunk", "f", "documents_citationunit", "chunk_id", "documents_retrievalchunk")
    cited = constraint("of_unit", "f", "chat_citation", "unit_id", "documents_citationunit")
    owner = constraint("of_owner", "f", "documents_document", "owner_id", "auth_user")
    first = [step.statements for step in citus.constraint_steps([vector, chunk, cited, owner], {})]
    assert "UNIQUE (document_id, chunk_id, space_id)" in first[0][1]
    assert first[1:] == [(chunk.drop,), (cited.drop,)]
    (then,) = citus.foreign_key_steps([vector, chunk, cited, owner], {})
    target = "REFERENCES documents_retrievalchunk (document_id, id) DEFERRABLE INITIALLY DEFERRED"
    assert then.statements[0].endswith(f"FOREIGN KEY (document_id, chunk_id) {target}")


@needs_citus
def test_what_was_read_of_a_document_lies_on_one_node(alice: User, ingested: Ingest) -> None:
    document = ingested(alice, "Ice melts at zero degrees.")
    nodes = set()
    for model in (Page, RetrievalChunk, CitationUnit, IndexedChunk, ChunkVector):
        table = model._meta.db_table
        (plan,) = plan_of(f"SELECT * FROM {table} WHERE document_id = %s", [document.pk])
        (task,) = tasks_of(plan)
        nodes.add(task["Node"])
        assert model._default_manager.filter(document=document).exists()
    assert len(nodes) == 1


@needs_citus
def test_a_library_asks_every_shard_for_its_best_only(alice: User, ingested: Ingest) -> None:
    ingested(alice, "Ice melts at zero degrees.")
    with CaptureQueriesContext(connection) as sent:
        assert search("When does ice melt?", Scope(alice)).hits
    (nearest,) = [query["sql"] for query in sent if "<=>" in query["sql"]]
    tasks = [task for task in tasks_of(plan_of(nearest)) if "chunkvector" in json.dumps(task)]
    assert len(tasks) > 1
    assert all('"Node Type": "Limit"' in json.dumps(task) for task in tasks)


@needs_citus
def test_facets_and_the_trash_work(alice: User, bob: User, ingested: Ingest) -> None:
    document, other = ingested(alice, "Ice melts at zero."), ingested(bob, "Ice melts at zero, too.")
    found = search("ice", Scope(alice))
    assert {hit.document_id for hit in found.hits} == {document.pk}
    move_to_trash(document)
    assert not search("ice", Scope(alice)).hits
    document.refresh_from_db()
    document.delete()
    assert not CitationUnit.objects.filter(document=document.pk).exists()
    assert set(Document.objects.values_list("pk", flat=True)) == {other.pk}
