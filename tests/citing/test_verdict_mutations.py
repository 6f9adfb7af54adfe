"""The battery of false claims: what share is flagged, and what share of the true ones is accepted."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pymupdf
import pytest

from pdf.layout.pipeline import read_pages
from tests.chat.mutations import Page, cases, source_units, tally
from tests.citing.test_verdict import STATEMENT, under_years, units

REVENUE = [
    (60.0, 60.0, "(in thousands)"),
    (300.0, 60.0, "2022"),
    (400.0, 60.0, "2021"),
    (60.0, 80.0, "Subscription"),
    (300.0, 80.0, "16,388"),
    (400.0, 80.0, "14,573"),
    (60.0, 100.0, "Gross profit margin rose to 87.7 percent in the fiscal year 2022."),
]


def check(documents: list[list[Page]], least: int, seeds: int = 1) -> None:
    counts: dict[str, list[int]] = {}
    for seed, pages in product(range(seeds), documents):
        strangers = [page for other in documents if other is not pages for page in other]
        for kind, (seen, accepted) in tally(cases(pages, strangers, seed)).items():
            count = counts.setdefault(kind, [0, 0])
            count[0] += seen
            count[1] += accepted
    true, false = counts.pop(""), counts.values()
    assert set(counts) >= {"digit", "sign", "scale", "year", "document", "direction", "points"}
    assert true[0] >= least
    assert true[1] / true[0] >= 0.97
    assert 1 - sum(accepted for _, accepted in false) / sum(seen for seen, _ in false) >= 0.98


def test_claims_made_of_drawn_pages_are_told_from_their_mutations() -> None:
    adobe = under_years(units(*REVENUE, document="Adobe", title="ADOBE_2022_10K"))
    check([[units(*STATEMENT)], [adobe]], least=40, seeds=8)


@pytest.mark.slow
@pytest.mark.corpus
def test_claims_made_of_real_filings_are_told_from_their_mutations(corpus: Path) -> None:
    documents = []
    for path in sorted((corpus / "financebench/pdfs").glob("*.pdf"))[::12]:
        with pymupdf.open(path) as document:
            middle = document.page_count // 2
            parsed = read_pages(document, range(middle, min(middle + 2, document.page_count) + 1))
        documents.append([source_units(page, path.stem, path.stem) for page in parsed if page.units])
    check(documents, least=25)
