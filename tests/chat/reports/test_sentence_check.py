"""The check of single sentences of a report."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.contrib.auth.models import User

from chat.answers.answer_builder import AnswerBuilder
from chat.citations.source_units import load_sources
from chat.reports.sentence_check import is_altered_copy, quotations
from documents.models import CitationUnit
from tests.conftest import imported

RULE = (
    "Members of the harbour board are elected for three years by the owners of boats, and they may be "
    "elected again after a pause of one year."
)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("said", "is_altered"),
    [
        ("Members of the harbour board are not elected for three years by the owners of boats.", True),
        ("Members of the harbour board are elected for three years by the owners of boats.", False),
        ("They may not be elected again after a pause of one year.", True),
        ("The board is elected for three years by the owners of boats.", False),
        ("Boat owners choose the harbour board, whose terms last three years.", False),
    ],
)
def test_a_part_of_a_sentence_with_a_word_turned_is_an_altered_copy(
    alice: User, said: str, is_altered: bool
) -> None:
    document = imported(alice, [{"type": "paragraph", "text": RULE}], "Rules")
    unit = CitationUnit.objects.get(document=document)
    draft = AnswerBuilder(uuid4(), load_sources([unit.pk]), {})
    for _ in draft.write(said):
        pass
    for _ in draft.cite(draft.sources.units[str(unit.pk)]):
        pass
    assert is_altered_copy(said, draft.citations, draft) is is_altered


def test_a_quotation_with_others_within_is_checked_whole() -> None:
    said = "It says “the key is called “code”, hardly “PIN”, here” and “no more”."
    assert "the key is called “code”, hardly “PIN”, here" in quotations(said)
    assert "no more" in quotations(said)
