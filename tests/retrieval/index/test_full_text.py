"""Full-text search: what is stored in PostgreSQL, and which chunks its index selects."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from django.contrib.auth.models import User
from django.db import connection
from hypothesis import given
from hypothesis import strategies as st

import retrieval.index.full_text
import retrieval.search
from documents.models import Document
from retrieval.index import bm25
from retrieval.index.backfill import backfill, documents_behind
from retrieval.index.bm25 import (
    IMPACT_STEP,
    MAX_IMPACT,
    TERM,
    Field,
    idf,
    impacts,
    pack_terms,
    unpack_terms,
)
from retrieval.index.document_index import index_words
from retrieval.index.full_text import open_index, words_to_ask
from retrieval.index.postgres import (
    any_of,
    at_least,
    lexeme,
    phrase,
    read_rows,
    tsvector,
)
from retrieval.models import IndexedChunk, IndexedDocument
from retrieval.query.question_terms import analyze_query
from retrieval.query.scope import Scope, read_summary
from retrieval.results import SearchOptions
from retrieval.search import search
from tests.retrieval.conftest import written
from text.terms import compounds_in

# --- Arithmetic ------------------------------------------------------------------------------


def one_field(text: str, weight: float = 1.0) -> dict[str, float]:
    return impacts([Field(text.split(), weight)])


def test_a_second_mention_adds_less_than_the_first() -> None:
    once, twice, often = (one_field("goodwill " * count)["goodwill"] for count in (1, 2, 50))
    assert 0 < once < twice < often < MAX_IMPACT
    assert twice - once < once


def test_a_long_chunk_must_say_it_more_often() -> None:
    assert one_field("goodwill " + "filler " * 500)["goodwill"] < one_field("goodwill")["goodwill"]


def test_what_every_chunk_of_a_section_shares_does_not_make_it_longer() -> None:
    heading = Field(["heading"] * 200, measured=False)
    assert impacts([Field(["goodwill"]), heading])["goodwill"] == one_field("goodwill")["goodwill"]


def test_a_field_of_more_weight_counts_more() -> None:
    assert one_field("goodwill", 3)["goodwill"] > one_field("goodwill")["goodwill"]


def test_rare_terms_tell_more() -> None:
    assert idf(1, 1000) > idf(100, 1000) > idf(999, 1000) > 0


@given(st.lists(st.dictionaries(st.text(min_size=1, max_size=8), st.floats(0.01, 2.1)), max_size=5))
def test_impacts_come_back_as_they_were_packed(texts: list[dict[str, float]]) -> None:
    columns = {term: at for at, term in enumerate(sorted({t for text in texts for t in text}))}
    packed = [pack_terms(text) for text in texts]
    sizes = np.array([len(part) // TERM.itemsize for part in packed], np.int64)
    matrix = unpack_terms(b"".join(packed), sizes, columns)
    for row, text in zip(matrix, texts, strict=True):
        assert np.count_nonzero(row) == len(text)
        for term, value in text.items():
            assert abs(row[columns[term]] - value) <= IMPACT_STEP


# --- PostgreSQL's types --------------------------------------------------------------------------


def matches(words: bytes, query: str) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("CREATE TEMP TABLE IF NOT EXISTS vectors (words tsvector) ON COMMIT DROP")
        cursor.execute("TRUNCATE vectors")
        with cursor.copy("COPY vectors FROM STDIN (FORMAT BINARY)") as copy:
            copy.set_types(["bytea"])
            copy.write_row([words])
        cursor.execute("SELECT words @@ %s::tsquery FROM vectors", [query])
        return bool(cursor.fetchone()[0])


@pytest.mark.django_db
def test_a_tsvector_holds_terms_weights_and_order() -> None:
    words = tsvector([("D", ["net", "income", "rose"]), ("A", ["o'neill", "back\\slash", "p<0.001", "三年"])])
    assert matches(words, phrase(["net", "income"]))
    assert not matches(words, phrase(["income", "net"]))
    assert not matches(words, phrase(["rose", "o'neill"])), "no phrase reaches into another field"
    for term in ("o'neill", "back\\slash", "p<0.001", "三年"):
        assert matches(words, lexeme(term))
    assert matches(words, lexeme("inco", prefix=True))
    assert matches(words, lexeme("o'neill") + ":A")
    assert not matches(words, lexeme("net") + ":A")


@pytest.mark.django_db
def test_at_least_two_of_three_words() -> None:
    query = at_least(2, [("net", "netto"), ("income",), ("fell",)])
    assert matches(tsvector([("D", ["netto", "income"])]), query)
    assert not matches(tsvector([("D", ["net", "netto"])]), query)
    assert matches(tsvector([("D", ["fell"])]), any_of(["fell", "rose"]))


@pytest.mark.django_db
def test_a_word_said_more_often_than_postgresql_counts_is_stored() -> None:
    assert matches(tsvector([("D", ["net"] * 20_000 + ["last"])]), lexeme("last"))


# --- Operators -------------------------------------------------------------------------------------


@pytest.fixture
def garden(alice: User) -> Document:
    return written(
        alice,
        "Garden handbook",
        ("# Roses", "Prune the climbing roses in late winter."),
        ("# Soil", "Winter compost feeds the soil and late roses."),
        ("# Tools", "Clean the pruning shears and the computer of the irrigation."),
    )


def pages(user: User, query: str) -> list[int]:
    return [hit.page for hit in search(query, Scope(user), SearchOptions(off=frozenset({"vector"}))).hits]


def test_the_exact_words_come_first(alice: User, garden: Document) -> None:
    assert pages(alice, '"late roses"')[0] == 2
    assert pages(alice, '"late winter"')[0] == 1


def test_a_word_after_a_minus_is_not_found(alice: User, garden: Document) -> None:
    assert set(pages(alice, "roses")) == {1, 2}
    assert pages(alice, "roses -compost") == [1]
    assert pages(alice, 'roses -"late winter"') == [2]
    found = search("roses -compost", Scope(alice)).hits  # also by its meaning
    assert 2 not in [hit.page for hit in found]


def test_a_star_finds_words_by_their_beginning(alice: User, garden: Document) -> None:
    assert pages(alice, "comp*") and set(pages(alice, "comp*")) == {2, 3}
    assert pages(alice, "irrig*") == [3]
    assert {hit.page for hit in search("irrig*", Scope(alice)).hits} == {3}


def test_a_star_matches_printed_words_and_not_their_stems(alice: User) -> None:
    written(
        alice,
        "On models",
        ("# One", "Hallucinations of models, and their governing rules."),
        ("# Two", "An opera about the governor: Opéra, again and again."),
        ("# Three", "Safe operations of a plant."),
    )
    assert pages(alice, "hallucinat*") == [1]
    assert set(pages(alice, "govern*")) == {1, 2}
    assert pages(alice, "governi*") == [1]
    assert pages(alice, "operati*") == [3]
    assert set(pages(alice, "oper*")) == {2, 3}
    assert not pages(alice, "hallucinatx*")


# --- Full-text search decides what is found --------------------------------------------------------


def test_without_tsvectors_words_find_nothing_in_any_scope(
    alice: User, garden: Document, request: pytest.FixtureRequest
) -> None:
    own = Scope(alice, document_ids=(garden.pk,))
    by_words = SearchOptions(off=frozenset({"vector"}))
    assert search("climbing roses", own, by_words).hits
    IndexedChunk.objects.update(words="")
    assert not search("climbing roses", own, by_words).hits
    assert not search("climbing roses", Scope(alice), by_words).hits
    request.getfixturevalue("large")
    assert not search("climbing roses", Scope(alice), by_words).hits


def test_backfill_indexes_a_document_whose_packed_terms_are_empty(alice: User, garden: Document) -> None:
    IndexedChunk.objects.filter(document=garden).update(terms=b"")
    assert [(behind.document.pk, behind.what) for behind in documents_behind()] == [(garden.pk, "words")]
    backfill()
    assert not list(documents_behind())
    assert pages(alice, "shears") == [3]


def test_a_chunk_in_scope_is_sent_only_if_it_has_a_word_of_the_question(
    alice: User, garden: Document
) -> None:
    scope = Scope(alice).compiled()
    assert scope is not None
    index = open_index(scope, read_summary(scope), [analyze_query("shears")], names=True)
    assert len(index.at) == 1


def test_so_many_words_are_asked_for_as_a_hundred_chunks_should_have() -> None:
    known = bm25.DocumentFrequencies({"common": 0.5, "often": 0.2, "seldom": 0.01}, 0.01)
    words = [("common",), ("often",), ("seldom",)]
    assert words_to_ask([words], known, 200_000) == 3
    assert words_to_ask([words], known, 2_000) == 2
    assert words_to_ask([words], known, 100) == 1
    assert words_to_ask([[]], known, 200_000) == 1


# --- The index selects in a large scope -------------------------------------------------------------


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every scope large enough for the index to select candidates."""
    monkeypatch.setattr(retrieval.index.full_text, "EXACT_UP_TO", 0)
    bm25.forget()


QUERIES = [
    "roses in winter",
    "how to prune climbing roses",
    '"late roses"',
    "comp*",
    "soil -late",
    "shears",
]


@pytest.mark.parametrize("query", QUERIES)
def test_the_index_lets_the_same_chunks_through(
    alice: User, garden: Document, query: str, request: pytest.FixtureRequest
) -> None:
    whole = pages(alice, query)
    request.getfixturevalue("large")
    assert set(pages(alice, query)) <= set(whole)
    assert pages(alice, query)[:1] == whole[:1] or query == "comp*", "equal scores come in any order"


def test_a_document_called_by_its_name_is_found_among_many(
    alice: User, garden: Document, large: None
) -> None:
    for number in range(6):
        written(alice, f"Report {number}", ("# Roses", "Winter roses in late winter, roses and winter."))
    hit = search("Garden handbook: roses in winter", Scope(alice)).hits[0]
    assert hit.document_id == garden.pk


def test_few_chunks_are_read_first_of_the_document_that_is_named_best(
    alice: User, garden: Document, large: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        written(
            alice,
            f"Report {number}",
            ("# Roses", "Late roses, climbing roses, soil, winter shears, gravel, peat, moss."),
        )
    module = retrieval.index.full_text
    limit = f"LIMIT {module.READ_OF_NAMED}"
    assert limit in module.OF_NAMED
    monkeypatch.setattr(module, "OF_NAMED", module.OF_NAMED.replace(limit, "LIMIT 1"))
    monkeypatch.setattr(module, "_by_index", lambda *asked: [])
    monkeypatch.setattr(module, "NAMES_WEIGHT", 50.0)
    scope = Scope(alice).compiled()
    assert scope
    question = analyze_query("Garden handbook: roses, gravel, peat, moss")
    index = open_index(scope, read_summary(scope), [question], names=True)
    assert index.document_ids == [garden.pk]


@pytest.mark.django_db(transaction=True)
def test_candidates_of_a_large_scope_come_by_an_index(
    alice: User, garden: Document, large: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, Sequence[Any]]] = []

    def spy(query: str, params: Sequence[Any]) -> list[tuple[Any, ...]]:
        asked.append((query, params))
        return read_rows(query, params)

    monkeypatch.setattr(retrieval.index.full_text, "read_rows", spy)
    for number in range(12):
        days = [(f"# Day {day}", f"Rain fell on day {day} of survey {number}.") for day in range(50)]
        written(alice, f"Log {number}", *days)
    with connection.cursor() as cursor:  # Citus takes one table at a time, outside transactions
        for table in ("retrieval_indexedchunk", "retrieval_indexeddocument", "documents_document"):
            cursor.execute(f"ANALYZE {table}")
    assert search("how to prune climbing roses", Scope(alice)).hits
    of_chunks = [(query, params) for query, params in asked if "FROM retrieval_indexedchunk" in query]
    assert of_chunks
    for query, params in of_chunks:
        with connection.cursor() as cursor:
            cursor.execute("SET enable_seqscan = off")  # so few rows may be read at once, whatever the index
            cursor.execute(f"EXPLAIN {query}", params)
            plan = "\n".join(row[0] for row in cursor.fetchall())
            cursor.execute("RESET enable_seqscan")
        # At this size PostgreSQL may also take the chunks of each document by their key; never all of them.
        by_index = "Bitmap Index Scan on chunk_words|(?:on|using) retrieval_indexedchunk_pkey"
        assert re.search(by_index, plan), plan
        assert "Seq Scan on retrieval_indexedchunk" not in plan, plan


def test_a_page_named_in_a_large_scope_leads_without_being_a_filter(
    alice: User, garden: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = "What does Garden handbook say of roses on page 2?"
    monkeypatch.setattr(retrieval.search, "EXACT_UP_TO", 0)
    found = search(asked, Scope(alice))
    assert not found.filters
    assert found.hits[0].page == 2


def test_nothing_of_another_s_library_is_let_through(
    alice: User, bob: User, garden: Document, large: None
) -> None:
    assert not search("roses", Scope(bob)).hits
    written(bob, "Bob's roses", ("Roses are red.",))
    assert {hit.document_id for hit in search("roses", Scope(alice)).hits} == {garden.pk}


def test_questions_meet_documents_in_several_languages(alice: User) -> None:
    german = written(alice, "Mietvertrag", ("# Fristen", "Die Kündigungsfrist beträgt drei Monate."))
    spanish = written(alice, "Contrato", ("# Plazos", "El plazo de preaviso es de tres meses."))
    for document, code in ((german, "de"), (spanish, "es")):
        Document.objects.filter(pk=document.pk).update(language=code)
        retrieval.index.document_index.index_words(Document.objects.get(pk=document.pk))
    assert search("Welche Kündigungsfristen gelten?", Scope(alice)).hits[0].document_id == german.pk
    assert search("¿Cuáles son los plazos?", Scope(alice)).hits[0].document_id == spanish.pk
    assert search("plazos", Scope(alice)).hits[0].document_id == spanish.pk


def test_a_compound_is_found_by_its_parts_where_these_are_words(alice: User) -> None:
    lease = written(
        alice,
        "Mietvertrag",
        ("# Lift", "Der Aufzug wird von der Hausverwaltung jedes Jahr geprüft und gewartet."),
        ("# Fristen", "Die Frist für die Kündigung beträgt drei Monate zum Ende eines Quartals."),
    )
    Document.objects.filter(pk=lease.pk).update(language="de")
    index_words(Document.objects.get(pk=lease.pk))
    assert pages(alice, "Wie lang ist die Kündigungsfrist?") == [2]
    assert ("kundig", "frist") in compounds_in("Kündigungsfristen", "de")
    assert ("salg", "pris") in compounds_in("salgspris", "da")
    assert not compounds_in("warehouse", "en")


def prepared() -> set[str]:
    """Statements that this connection's server has planned and keeps."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT statement FROM pg_prepared_statements")
        return {row[0] for row in cursor.fetchall()}


def test_what_every_search_asks_is_planned_once(alice: User, garden: Document) -> None:
    for question in ("roses in winter", "late roses", "soil", "shears"):
        search(question, Scope(alice, document_ids=(garden.pk,)))
    kept = prepared()
    for table in ("retrieval_indexeddocument", "retrieval_indexedchunk", "documents_citationunit"):
        assert any(table in statement for statement in kept), table
    search("how to prune climbing roses", Scope(alice, document_ids=(garden.pk,)))
    assert prepared() == kept, "another question asks the same statements"


def test_rows_go_with_their_document(alice: User, garden: Document) -> None:
    garden.delete()
    assert not IndexedChunk.objects.exists() and not IndexedDocument.objects.exists()
