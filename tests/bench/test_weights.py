"""Fitting the weights of the ranking's features."""

from __future__ import annotations

import json
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from bench.weights import CURRENT, NAMES, Ranking, fit
from tests.drawing import draw_pdf


@pytest.mark.django_db
def test_weights_are_fitted_on_the_documents_of_the_evaluation(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pages = ("Nike makes shoes in Asia.", "Dividends paid were 1,332.", "Shoes were sold in stores.")
    (tmp_path / "NIKE.pdf").write_bytes(draw_pdf(*pages))
    questions = tmp_path / "questions.jsonl"
    line = {"question": "Which dividends?", "doc_name": "NIKE", "evidence": [{"evidence_page_num": 1}]}
    questions.write_text(json.dumps(line))
    with pytest.raises(CommandError, match="NIKE"):
        call_command("bench", "weights", f"one={questions}")
    call_command("evaluate", "retrieval", str(questions), "--pdfs", str(tmp_path), "--json")
    capsys.readouterr()
    call_command("bench", "weights", f"one={questions}", f"two={questions}")
    printed = capsys.readouterr().out
    assert "one (1)" in printed and "1.000 1.000 1.000" in printed
    assert "unit meaning" in printed


def test_fitted_weights_follow_what_tells_right_pages_apart() -> None:
    right = np.array([False, True])
    told, other = NAMES.index("headings"), NAMES.index("table")
    features = np.zeros((2, len(NAMES)))
    features[1, told], features[0, other] = 1, 1
    weights = fit([[Ranking(features, ((uuid4(), 1), (uuid4(), 2)), right)] * 5])
    assert weights[told] > CURRENT[told] and weights[other] < CURRENT[other]
    assert (weights >= 0).all()
