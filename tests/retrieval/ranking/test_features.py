"""Features of candidates for the ranking."""

from __future__ import annotations

from django.contrib.auth.models import User

from documents.models import CitationUnit
from retrieval.models import RetrievalChunk
from retrieval.query.scope import Scope
from retrieval.ranking.features import longest_run, read_candidates, unit_meanings
from tests.retrieval.conftest import written


def test_a_quotation_is_found_where_only_most_of_it_stands() -> None:
    assert longest_run("rain in the hills does not last", "the rain in the hills lasts") == 4 / 7
    assert longest_run("high tide", "the high tide") == 1.0
    assert longest_run("high tide", "the high sea and its tide") == 0.0


def test_a_passage_is_as_near_in_meaning_as_its_nearest_sentence(alice: User) -> None:
    other = ["The gearbox oil is changed each spring.", "Tyres are stored upright.", "Wash the cab."]
    written(alice, "tractor", ("# Care", *other, "A physician must examine wounds."), ("# Parts", *other))
    scope = Scope(alice).compiled()
    assert scope is not None
    chunks = (
        RetrievalChunk.objects.filter(document__owner=alice).order_by("index").values_list("pk", flat=True)
    )
    found = read_candidates(scope, list(chunks))
    wounds, gearbox = unit_meanings("When do I need a doctor?", [found[key] for key in chunks])
    assert wounds > gearbox


def test_a_note_makes_a_table_no_less_one_and_long_paragraphs_do(alice: User) -> None:
    rows = ["Sales of boats | 412 | 398 | 377", "Sales of sails | 212 | 198 | 177", "Repairs | 12 | 98 | 77"]
    noted = written(alice, "noted", ("# Sales", *rows, "In thousands."))
    told = written(alice, "told", ("# Sales", *rows, 3 * "Boats sold better than last year, sails did not. "))
    CitationUnit.objects.filter(content__contains=" | ").update(unit_type="table")
    scope = Scope(alice).compiled()
    assert scope is not None
    chunks = RetrievalChunk.objects.filter(document__owner=alice).values_list("pk", flat=True)
    found = {of.document_id: of for of in read_candidates(scope, list(chunks)).values()}
    assert (found[noted.pk].table, found[told.pk].table) == (1.0, 0.5)
