"""Quotes of real pages, with the words poppler sees there: rotated, cropped, in columns, in any script."""

from __future__ import annotations

import json
from itertools import groupby, islice
from pathlib import Path
from typing import Any

import pytest

from citing.anchoring.file_pages import pages_of_file
from citing.anchoring.find_quote import Anchor, find_quote
from citing.anchoring.page_text import PageText
from pdf.sandbox.messages import Limits

pytestmark = pytest.mark.corpus
MOST_BYTES = 300_000  # of a file; the larger ones are measured by hand
MOST_FILES = 8


def cases(corpus: Path) -> list[dict[str, Any]]:
    lines = [
        json.loads(line)
        for name in ("sentences", "values")
        for line in (corpus / "quotes" / f"{name}.jsonl").read_text().splitlines()
    ]
    return sorted((line for line in lines if _is_small(corpus / line["pdf"])), key=lambda line: line["pdf"])


def _is_small(path: Path) -> bool:
    return path.parent.parent.name == "quotes" and path.stat().st_size <= MOST_BYTES


def test_quoted_words_of_real_pages_are_covered_and_no_others(corpus: Path) -> None:
    page_lines = (corpus / "quotes/pages.jsonl").read_text().splitlines()
    words = {(page["pdf"], page["page"]): page["words"] for page in map(json.loads, page_lines)}
    right = []
    for pdf, of_file in islice(groupby(cases(corpus), lambda case: case["pdf"]), MOST_FILES):
        pages = pages_of_file(corpus / pdf, Limits())
        right += [_is_exact(_anchor(pages, case), case, words) for case in of_file]
    assert len(right) >= 8
    assert sum(right) / len(right) >= 0.9


def _anchor(pages: list[PageText], case: dict[str, Any]) -> Anchor | None:
    return find_quote(pages, case["quote"], case.get("context", ""))


def _is_exact(anchor: Anchor | None, case: dict[str, Any], words: dict[tuple[str, int], list]) -> bool:
    if anchor is None or anchor.page != case["page"] + 1:
        return False
    rects = [anchor.parts[0].page.frame.to_display(rect) for rect in anchor.rects]
    quoted = {tuple(word) for word in case["words"]}
    covered = {
        tuple(word)
        for word in words[case["pdf"], case["page"]]
        if any(rect.contains((word[1] + word[3]) / 2, (word[2] + word[4]) / 2) for rect in rects)
    }
    return covered == quoted
