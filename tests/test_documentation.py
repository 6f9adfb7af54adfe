"""Files, functions and settings named in the documentation exist."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from django.conf import settings

ROOT = Path(settings.BASE_DIR)
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")])

_LINK = re.compile(r"\]\(([^)\s#]+)(?:#[^)]*)?\)")
_CODE = re.compile(r"`[^`\n]*`")
_PATH = re.compile(
    r"`((?:bench|chat|config|docs|documents|domains|examples|operations|pdf|retrieval|static|templates|tests|text)"
    r"/(?:[\w/.-]*(?:/|\.(?:py|js|css|html|md|txt|toml|json|png)))?)`"
)
_NAME = re.compile(r"`([A-Za-z_][\w.]*)`")


def links(page: Path) -> Iterator[str]:
    text = _CODE.sub("", page.read_text())
    return (link for link in _LINK.findall(text) if "://" not in link)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_of_a_page_lead_to_files(page: Path) -> None:
    assert not [link for link in links(page) if not (page.parent / link).exists()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_paths_that_a_page_names_exist(page: Path) -> None:
    assert not [path for path in _PATH.findall(page.read_text()) if not (ROOT / path).exists()]


@cache
def defined(path: Path) -> frozenset[str]:
    """Names that a file defines: functions, classes, methods (``Class.method``), module variables."""
    if path.suffix == ".js":
        return frozenset(re.findall(r"(?:function|class|const|let) (\w+)", path.read_text()))
    return frozenset(_names(ast.parse(path.read_text()).body))


def _names(body: list[ast.stmt], prefix: str = "") -> Iterator[str]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield prefix + node.name
        if isinstance(node, ast.ClassDef):
            yield from _names(node.body, f"{prefix}{node.name}.")
        if isinstance(node, ast.Assign):
            yield from (prefix + target.id for target in node.targets if isinstance(target, ast.Name))
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield prefix + node.target.id


def named_rows() -> list[list[str]]:
    """Cells of the architecture page's two tables whose third column names what the second's files define."""
    tables = (ROOT / "docs/architecture.md").read_text().partition("## Where is …?")[2]
    return [row.split("|")[1:-1] for row in tables.splitlines() if row.startswith("| ") and "](../" in row]


@pytest.mark.parametrize("cells", named_rows(), ids=lambda cells: cells[0].strip())
def test_what_the_architecture_page_looks_for_is_defined_where_it_says(cells: list[str]) -> None:
    files = [(ROOT / "docs" / link).resolve() for link in _LINK.findall(cells[1])]
    known = frozenset().union(*(defined(file) for file in files))
    names = set(_NAME.findall(cells[2]))
    assert names and names <= known


def test_the_architecture_page_answers_where_things_are() -> None:
    assert len(named_rows()) >= 10


def test_the_settings_page_names_every_setting() -> None:
    read = re.findall(r'environment\.\w+\(\s*"([A-Z_]+)"', (ROOT / "config/settings.py").read_text())
    named = re.findall(r"^\|([^|]+)\|", (ROOT / "docs/settings.md").read_text(), re.MULTILINE)
    assert {name for cell in named for name in re.findall(r"`([A-Z_]+)`", cell)} == set(read)
