"""What a reader of the product downloads of our own, unpacked."""

from __future__ import annotations

from pathlib import Path

from tests.browser.site import ROOT

KB = 1024
JS = ROOT / "static/js"
CSS = ROOT / "static/css"


def size(paths: list[Path]) -> int:
    assert paths
    return sum(path.stat().st_size for path in paths)


def test_own_javascript_and_css_stay_within_60_kb_each() -> None:
    assert size([*JS.rglob("*.js")]) <= 60 * KB
    assert size([*CSS.rglob("*.css")]) <= 60 * KB
