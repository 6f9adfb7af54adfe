"""Scores of review cells whose values are known."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.management import call_command

from tests.drawing import draw_pdf

PROSE = (
    "# Survey of anglers",
    "Table 4 lists the lakes that were visited by anglers.",
    "We interviewed 2,480 anglers between May 1-7, 2031 at 35 lakes.",
    "Of the anglers, 64% came by train.",
    "The licence costs HK$250 a year for each angler.",
)


def test_evaluate_review_scores_known_cells(
    db: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "survey.pdf").write_bytes(draw_pdf("\n".join(PROSE)))
    count = {"title": "Anglers", "question": "How many anglers were interviewed?", "kind": "number"}
    orbit = {"title": "Orbit", "question": "At what altitude does the satellite orbit?", "kind": "number"}
    cells = [
        {"document": "survey", "column": count, "value": 2480, "pages": [1]},
        {"document": "survey", "column": count, "value": 35, "pages": [2]},
        {"document": "survey", "column": orbit, "value": None},
    ]
    (tmp_path / "cells.jsonl").write_text("\n".join(map(json.dumps, cells)))
    call_command("evaluate", "review", str(tmp_path / "cells.jsonl"), "--pdfs", str(tmp_path), "--json")
    scores = json.loads(capsys.readouterr().out)
    assert scores["accuracy"] == round(2 / 3, 4) and scores["found_right"] == 0.5
    assert scores["cited_page"] == 0.5 and scores["not_stated_precision"] == 1.0
