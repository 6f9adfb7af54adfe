"""``manage.py verify --batch``: lines of JSON in, lines of JSON out, no database."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pymupdf
import pytest
from django.core.management import call_command

CONTRACT = "The Lessee shall insure the vehicle. The deposit is €900 and is repaid within 14 days."
SURVEY = """Households with a garden
| Region | 2015 | 2020 |
|---|---|---|
| North | 41 | 44 |
| South | 38 | 52 |"""


def verified(tmp_path: Path, *cases: dict[str, Any], wrong: bool = False) -> list[dict[str, Any]]:
    lines = tmp_path / "cases.jsonl"
    lines.write_text("\n".join(map(json.dumps, cases)))
    output = tmp_path / "out.jsonl"
    if wrong:
        with pytest.raises(SystemExit, match="1"):
            call_command("verify", batch=str(lines), output=output.open("w"), stdout=StringIO())
    else:
        call_command("verify", batch=str(lines), output=output.open("w"), stdout=StringIO())
    return [json.loads(line) for line in output.read_text().splitlines()]


def test_a_sentence_of_the_passage_is_verified_with_its_place(tmp_path: Path) -> None:
    claim = "The Lessee shall insure the vehicle."
    (said,) = verified(tmp_path, {"id": "a", "claim": claim, "passage": CONTRACT})
    assert (said["id"], said["verdict"], said["verified"], said["page"]) == ("a", "exact", True, 1)
    assert CONTRACT[said["char_start"] : said["char_end"]] == said["quote"]


def test_spans_of_a_cell_count_in_the_passage(tmp_path: Path) -> None:
    claim = "In the South, households with a garden were 52 in 2020."
    (said,) = verified(tmp_path, {"claim": claim, "passage": SURVEY, "lang": "en"})
    assert "52" in said["quote"]
    assert SURVEY[said["char_start"] : said["char_end"]].endswith("52")


def test_a_line_that_cannot_be_read_gives_its_error_and_the_run_goes_on(tmp_path: Path) -> None:
    good = {"id": "c", "claim": "The Lessee shall insure the vehicle.", "passage": CONTRACT}
    said = verified(tmp_path, {"id": "a"}, {"id": "b", "claim": "x"}, good, wrong=True)
    assert ["error" in line for line in said] == [True, True, False]
    assert said[1] == {"id": "b", "error": "Give a passage, or a pdf and a page."}


def test_a_page_of_a_file_is_read_and_its_unit_chosen(tmp_path: Path) -> None:
    with pymupdf.open() as document:  # type: ignore[no-untyped-call]
        for sentence in ("Ospreys nest on poles.", "The trial enrolled 412 nurses in Leeds."):
            document.new_page().insert_text((72, 72), sentence)
        document.save(tmp_path / "study.pdf")
    case = {"claim": "The trial enrolled 412 nurses in Leeds.", "pdf": str(tmp_path / "study.pdf")}
    right, wrong = verified(tmp_path, {**case, "page": 2}, {**case, "page": 1})
    assert (right["verdict"], right["page"]) == ("exact", 2) and "412" in right["quote"]
    assert not wrong["verified"]


def test_without_json_the_verdicts_are_counted(tmp_path: Path) -> None:
    lines = tmp_path / "cases.jsonl"
    lines.write_text(json.dumps({"claim": "The Lessee shall insure the vehicle.", "passage": CONTRACT}))
    printed = StringIO()
    call_command("verify", batch=str(lines), stdout=printed)
    assert printed.getvalue().split() == ["exact", "1"]


def test_a_passage_in_lines_is_read_as_one_text_with_its_heading(tmp_path: Path) -> None:
    passage = "Ada B. Lund, Director\nMs. Lund joined the port authority of Oslo as an\nengineer in May 2013."
    true = {"claim": "Ada B. Lund joined the port authority as an engineer in May 2013.", "passage": passage}
    false = {"claim": "Ida B. Lund joined the port authority in May 2013.", "passage": passage}
    first, second = verified(tmp_path, true, false)
    assert (first["verified"], second["verified"]) == (True, False)
    assert passage[first["char_start"] :].startswith("Lund joined")
