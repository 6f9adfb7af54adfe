"""Features of candidates for the ranking."""

from __future__ import annotations

from django.contrib.auth.models import User

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
