"""The measures themselves, and the commands that print them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from bench.evaluations.retrieval import (
    KnownQuestion,
    QuestionRank,
    RightPage,
    evaluate,
    scores_of,
)
from tests.drawing import draw_pdf
from tests.retrieval.conftest import Library, library_of

QUESTION = KnownQuestion("What did Nike pay in dividends?", "NIKE", (RightPage(1),))


@pytest.fixture
def library(alice: User) -> Library:
    return library_of(alice)


def test_recall_and_reciprocal_rank_are_those_of_the_first_right_page() -> None:
    scores = scores_of([QuestionRank(QUESTION, rank, 2.0) for rank in (1, 4, 12, 0)])
    assert (scores.recall_1, scores.recall_5, scores.recall_10, scores.recall_20) == (0.25, 0.5, 0.5, 0.75)
    assert scores.mean_reciprocal_rank == pytest.approx((1 + 1 / 4 + 1 / 12) / 4, abs=1e-4)


def test_pages_of_evidence_count_from_zero(alice: User, library: Library) -> None:
    stems = {"NIKE": library.nike.pk, "AMCOR": library.amcor.pk}
    assert [outcome.rank for outcome in evaluate([QUESTION], alice, stems, "document")] == [1]
    assert [outcome.rank for outcome in evaluate([QUESTION], alice, stems, "library")] == [1]
    wrong = KnownQuestion(QUESTION.question, "NIKE", (RightPage(40),))
    assert [outcome.rank for outcome in evaluate([wrong], alice, stems, "document")] == [0]


@pytest.mark.django_db
def test_the_command_takes_files_in_and_prints_the_contract(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "NIKE_2019_10K.pdf").write_bytes(draw_pdf("Nike makes shoes.", "Dividends paid were 1,332."))
    questions = tmp_path / "questions.jsonl"
    line = {
        "question": "What did Nike pay in dividends?",
        "doc_name": "NIKE_2019_10K",
        "evidence": [{"evidence_page_num": 1, "evidence_text": "…"}],
        "answer": "1,332",
    }
    questions.write_text(json.dumps(line) + "\n\n")
    call_command("evaluate", "retrieval", str(questions), "--pdfs", str(tmp_path), "--json")
    printed = json.loads(capsys.readouterr().out)
    assert list(printed) == ["questions", "R@1", "R@5", "R@10", "R@20", "MRR", "ms"]
    assert (printed["questions"], printed["R@1"], printed["MRR"]) == (1, 1.0, 1.0)


@pytest.mark.django_db
def test_a_questions_file_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "q.jsonl").write_text('{"question": 3}')
    with pytest.raises(CommandError):
        call_command("evaluate", "retrieval", str(tmp_path / "q.jsonl"), "--pdfs", str(tmp_path))
