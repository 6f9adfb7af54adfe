"""A bounded sample of the hostile files; ``python -m tests.pdf.robust_corpus`` runs them all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.pdf.robust_corpus import SLOWEST_SECONDS, as_expected, outcome_of

SYNTHETIC = Path("/work/shared/corpus/robust/synthetic")
# Each breaks a reader in a different way; none needs OCR, which has its own tests.
SAMPLE = [
    "claims_1e9_pages",
    "deep_page_tree_5000",
    "docx_zip_renamed",
    "enc_rc4_40_user",
    "geom_zero_mb",
    "inj_covered_by_box",
    "inj_offpage",
    "many_pages_20000",
    "tounicode_nul",
    "truncated_tail_200",
    "type3_recursive",
    "xref_prev_loop",
    "zero_pages",
]
pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not SYNTHETIC.exists(), reason="the shared corpus is not here"),
]


@pytest.mark.parametrize("name", SAMPLE)
def test_a_hostile_file_ends_as_it_must(name: str) -> None:
    expected = json.loads((SYNTHETIC / "expected.json").read_text())[f"{name}.pdf"]["outcome"]
    outcome = outcome_of(SYNTHETIC / f"{name}.pdf", SYNTHETIC)
    assert as_expected(outcome, expected), outcome
    assert outcome.seconds < SLOWEST_SECONDS
    if name.startswith("inj_"):
        assert outcome.hidden > 0
