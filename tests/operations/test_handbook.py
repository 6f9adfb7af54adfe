"""The handbook, which is the first document of a new installation."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from operations.handbook import SUGGESTED_QUESTIONS, draw_handbook
from tests.chat.answers.without_model.test_evidence import answer
from tests.conftest import Ingest


@pytest.mark.parametrize("question", SUGGESTED_QUESTIONS)
def test_each_question_that_the_handbook_suggests_is_answered_directly(
    alice: User, ingested: Ingest, question: str
) -> None:
    handbook = ingested(alice, pdf=draw_handbook(), name="Pincite_handbook.pdf")
    text, pages = answer(question, handbook, alice)
    assert pages and not text.startswith("No direct answer")
