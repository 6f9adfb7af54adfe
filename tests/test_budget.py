"""Limits on the compressed size and the line length of our front-end files."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

from tests.browser.site import ROOT

MOST_BYTES = {".js": 30 * 1024, ".css": 20 * 1024}  # of one page
MOST_IN_ALL = {".js": 41 * 1024, ".css": 24 * 1024}
LONGEST_LINE = 120


def own_files(suffix: str) -> list[Path]:
    """All of ``static/`` is our own: libraries are served from ``node_modules``."""
    found = sorted(path for path in (ROOT / "static").rglob("*") if path.suffix == suffix)
    assert found
    return found


STATIC = re.compile(r"{% static '((?:js|css)/[^']+)' %}")
IMPORTED = re.compile(r"""(?:from|import)\s*\(?\s*["'](\.[^"']+)["']""")


def pages() -> dict[str, set[str]]:
    """The templates that are whole pages, with the files of ours that they and their base name."""
    templates = {
        path.relative_to(ROOT / "templates"): path.read_text() for path in ROOT.glob("templates/**/*.html")
    }
    base = set(STATIC.findall(templates[Path("base.html")]))
    found = {
        str(name): base | set(STATIC.findall(text)) for name, text in templates.items() if "extends" in text
    }
    assert len(found) > 20
    return found


def with_imports(file: Path, known: set[Path]) -> set[Path]:
    """The module and all it imports, those that it loads later among them."""
    if file not in known and file.exists():  # libraries are served from ``node_modules``
        known.add(file)
        for name in IMPORTED.findall(file.read_text()):
            with_imports((file.parent / name).resolve(), known)
    return known


@pytest.mark.parametrize("page", sorted(pages()))
def test_what_a_page_loads_of_our_own_stays_small_when_compressed(page: str) -> None:
    """Compressed as one stream: a new module costs its words, not a header of its own."""
    for suffix, most in MOST_BYTES.items():
        files: set[Path] = set()
        for name in pages()[page]:
            if name.endswith(suffix):
                with_imports((ROOT / "static" / name).resolve(), files)
        whole = b"".join(path.read_bytes() for path in sorted(files))
        assert len(gzip.compress(whole, mtime=0)) <= most


@pytest.mark.parametrize("suffix", MOST_IN_ALL)
def test_all_pages_together_stay_small(suffix: str) -> None:
    whole = b"".join(path.read_bytes() for path in own_files(suffix))
    assert len(gzip.compress(whole, mtime=0)) <= MOST_IN_ALL[suffix]


@pytest.mark.parametrize("suffix", MOST_BYTES)
def test_lines_of_own_javascript_and_css_can_be_read(suffix: str) -> None:
    long = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in own_files(suffix)
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if len(line) > LONGEST_LINE
    ]
    assert not long
