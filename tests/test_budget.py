"""What a reader of the product downloads of our own, unpacked."""

from __future__ import annotations

import pytest

from tests.browser.site import ROOT

MOST_BYTES = 60 * 1024


@pytest.mark.parametrize("suffix", [".js", ".css"])
def test_own_javascript_and_css_stay_within_60_kb_each(suffix: str) -> None:
    """All of ``static/`` is our own: libraries are served from ``node_modules``."""
    own = [path for path in (ROOT / "static").rglob("*") if path.suffix == suffix]
    assert own
    assert sum(path.stat().st_size for path in own) <= MOST_BYTES
