"""``manage.py locate`` as it is used: real files, real child process."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pymupdf
import pytest
from django.core.management import CommandError, call_command


@pytest.fixture
def report(tmp_path: Path) -> Path:
    """Two pages, the second turned by 90 degrees, with words at known places."""
    document = pymupdf.open()
    document.new_page(width=600, height=800).insert_text(
        (60, 100), "Sales grew 4 percent in 2018.", fontsize=12
    )
    second = document.new_page(width=600, height=800)
    second.insert_text((60, 400), "Costs fell by 3 percent.", fontsize=12)
    second.set_rotation(90)
    document.save(tmp_path / "report.pdf")
    return tmp_path / "report.pdf"


def run(*arguments: str) -> list[dict]:
    out = StringIO()
    call_command("locate", *arguments, "--json", stdout=out, stderr=StringIO())
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_it_prints_page_rectangles_verdict_and_text(report: Path) -> None:
    (said,) = run(str(report), "grew 4 percent")
    assert (said["page"], said["verdict"], said["text"]) == (1, "exact", "grew 4 percent")
    ((x0, y0, x1, y1),) = said["rects"]
    assert 0.1 < x0 < x1 < 0.35
    assert 85 / 800 < y0 < 100 / 800 < y1 < 108 / 800


def test_rectangles_are_those_of_the_page_as_shown(report: Path) -> None:
    (said,) = run(str(report), "Costs fell")
    ((x0, y0, x1, y1),) = said["rects"]
    assert said["page"] == 2
    assert (x0 + x1) / 2 == pytest.approx(1 - 396 / 800, abs=0.01)  # turned clockwise: y runs leftwards
    assert y0 == pytest.approx(60 / 600, abs=0.01)
    assert y1 - y0 > x1 - x0


def test_words_that_are_nowhere_have_no_page(report: Path) -> None:
    assert run(str(report), "Dividends doubled") == [
        {"page": None, "rects": [], "verdict": "unsupported", "text": ""}
    ]


def test_a_batch_answers_every_case_by_its_id(report: Path, tmp_path: Path) -> None:
    cases = [
        {"id": "a", "pdf": "report.pdf", "quote": "4 percent"},
        {"id": "b", "pdf": "missing.pdf", "quote": "4 percent"},
        {"id": "c", "pdf": "report.pdf", "quote": "percent", "context": "Costs fell by 3 percent."},
    ]
    batch = tmp_path / "cases.jsonl"
    batch.write_text("".join(json.dumps(case) + "\n" for case in cases))
    said = {line["id"]: line["page"] for line in run("--batch", str(batch), "--root", str(tmp_path))}
    assert said == {"a": 1, "b": None, "c": 2}


def test_words_of_a_picture_are_recognised_when_they_stand_nowhere_else(tmp_path: Path) -> None:
    drawn = pymupdf.open()
    drawn.new_page(width=400, height=100).insert_text((30, 60), "Dividends doubled again", fontsize=24)
    document = pymupdf.open()
    document.new_page(width=400, height=100).insert_text((30, 60), "Sales grew.")
    scan = document.new_page(width=400, height=100)
    scan.insert_image(scan.rect, pixmap=drawn[0].get_pixmap(dpi=150))
    document.save(tmp_path / "scan.pdf")
    (said,) = run(str(tmp_path / "scan.pdf"), "Dividends doubled again")
    assert said["page"] == 2
    assert 0.05 < said["rects"][0][0] < 0.1


def test_a_file_that_is_no_pdf_is_refused_with_its_reason(tmp_path: Path) -> None:
    (tmp_path / "page.pdf").write_text("<html>")
    with pytest.raises(CommandError, match="not_a_pdf"):
        run(str(tmp_path / "page.pdf"), "words")
    with pytest.raises(CommandError, match="neither a file nor a document"):
        run("nowhere", "words")
