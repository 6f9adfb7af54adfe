"""`bench robust` judges every outcome that a corpus can name, and warns of text that only poppler reads."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from bench.robust import ENDS, FileOutcome, expected_in, faults, files_of, unread_text
from pdf.failures import FailureCode
from tests.drawing import draw_pdf


@pytest.mark.parametrize(
    ("wanted", "good", "bad"),
    [
        ("ready", "ready", "damaged"),
        ("failed", "damaged", "ready"),
        ("failed_or_ready", "no_pages", "internal"),
        ("ready_or_failed", "ready", "internal"),
        ("ready_or_rejected", "not_a_pdf", "damaged"),
        ("failed_limit_or_ready", "took_too_long", "damaged"),
        ("failed_password", "password_protected", "ready"),
        ("a new word", "", "ready"),
    ],
)
def test_each_expected_outcome_is_judged(tmp_path: Path, wanted: str, good: str, bad: str) -> None:
    (tmp_path / "expected.json").write_text(json.dumps({"a.pdf": {"outcome": wanted}}))
    assert list(faults(FileOutcome("a.pdf", bad, 1.0), tmp_path / "a.pdf"))
    if good:
        assert not list(faults(FileOutcome("a.pdf", good, 1.0), tmp_path / "a.pdf"))


def test_a_page_that_our_own_code_lost_is_wrong(tmp_path: Path) -> None:
    assert not list(faults(FileOutcome("a.pdf", "ready", 1.0, unread_pages=1), tmp_path / "a.pdf"))
    assert list(faults(FileOutcome("a.pdf", "ready", 1.0, unread_pages=1, own_faults=1), tmp_path / "a.pdf"))


def test_the_corpus_expects_nothing_else(corpus: Path) -> None:
    for path in (corpus / "robust").rglob("expected.json"):
        assert {known["outcome"] for known in expected_in(path.parent).values()} <= ENDS.keys()
    assert set().union(*ENDS.values()) <= {"ready", "empty", *map(str, FailureCode)}


@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="needs poppler")
def test_text_that_only_poppler_reads_is_warned_of(tmp_path: Path) -> None:
    file = tmp_path / "a.pdf"
    file.write_bytes(draw_pdf("one two three four five six\n" * 5))
    assert unread_text(FileOutcome("a.pdf", "ready", 1.0, words=3), file) == "poppler reads 30 words, we 3"
    assert unread_text(FileOutcome("a.pdf", "ready", 1.0, words=30), file) == ""


def test_a_list_names_the_files(tmp_path: Path) -> None:
    listed = tmp_path / "files.txt"
    listed.write_text("b/one.pdf\n\ntwo.pdf\n")
    assert files_of(tmp_path, listed, 0) == [tmp_path / "b/one.pdf", tmp_path / "two.pdf"]
    assert files_of(tmp_path, listed, 1) == [tmp_path / "b/one.pdf"]
