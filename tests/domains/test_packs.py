"""Packs: which documents are of a field, and that its words count for no others."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User

from domains import LEAST_EVIDENCE, evidence_of, fields_of, pack_data, pack_names
from retrieval.models import IndexedDocument
from retrieval.query.scope import Scope
from retrieval.search import packs_for, search, summary_of
from tests.retrieval.conftest import written

LEASE = (
    "This agreement is made between the parties; hereinafter the landlord and the tenant.",
    "The tenant shall indemnify the landlord. Confidential information stays so.",
    "Neither party is liable in case of force majeure. Governing law is that of the state.",
    "In witness whereof the parties sign in two counterparts.",
)
RECIPE = ("Mix flour and water.", "Let the dough rest in a warm place.", "Bake it until it is brown.")


def test_there_are_packs_and_each_has_evidence_and_words() -> None:
    assert {"finance", "contracts"} <= set(pack_names())
    for pack in pack_names():
        assert len(evidence_of(pack)) >= 2 * LEAST_EVIDENCE
        assert pack_data(pack, "synonyms.txt")
    assert pack_data("finance", "missing.txt") == ""


def test_a_document_is_of_a_field_by_what_it_says() -> None:
    assert fields_of(LEASE) == ["contracts"]
    assert fields_of(RECIPE) == []
    assert fields_of(["Our agreement on dividends was hereby sealed."]) == []


@pytest.mark.django_db
def test_words_of_a_pack_count_for_documents_of_its_field_alone(alice: User, settings: Any) -> None:
    """'NDA' is 'confidential information' in contracts; a cookbook's is not meant."""
    lease = written(alice, "Lease of a flat", LEASE)
    written(alice, "Cookbook", RECIPE, ("Confidential information: the baker's secret.",))
    fields = {entry.names: entry.fields for entry in IndexedDocument.objects.all()}
    assert sorted(fields.values()) == [[], ["contracts"]]
    assert packs_for(summary_of(Scope(alice))) == ["contracts"]
    scope = Scope(alice, document_ids=(lease.pk,))
    assert "Confidential" in search("nda", scope).hits[0].snippet.text
    settings.PACKS = []
    assert packs_for(summary_of(Scope(alice))) == []
