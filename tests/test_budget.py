"""What a reader of the product downloads of our own, compressed, and how it is set out."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tests.browser.site import ROOT

MOST_BYTES = {".js": 30 * 1024, ".css": 20 * 1024}
LONGEST_LINE = 120


def own_files(suffix: str) -> list[Path]:
    """All of ``static/`` is our own: libraries are served from ``node_modules``."""
    found = sorted(path for path in (ROOT / "static").rglob("*") if path.suffix == suffix)
    assert found
    return found


@pytest.mark.parametrize("suffix", MOST_BYTES)
def test_own_javascript_and_css_stay_small_when_compressed(suffix: str) -> None:
    """Compressed as one stream: a new module costs its words, not a header of its own."""
    whole = b"".join(path.read_bytes() for path in own_files(suffix))
    assert len(gzip.compress(whole, mtime=0)) <= MOST_BYTES[suffix]


@pytest.mark.parametrize("suffix", MOST_BYTES)
def test_lines_of_own_javascript_and_css_can_be_read(suffix: str) -> None:
    long = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in own_files(suffix)
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if len(line) > LONGEST_LINE
    ]
    assert not long
