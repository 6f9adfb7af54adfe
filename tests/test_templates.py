"""Templates stay readable, and name icons that the sprite has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from documents.templatetags.ui import sprite

FOLDER = Path(__file__).parent.parent / "templates"
TEMPLATES = sorted(FOLDER.rglob("*.html"))


def test_no_line_is_longer_than_160_letters() -> None:
    lines = [
        f"{file.relative_to(FOLDER)}:{number}"
        for file in TEMPLATES
        for number, line in enumerate(file.read_text().splitlines(), 1)
        if len(line) > 160
    ]
    assert lines == []


def test_the_sprite_has_every_icon_that_a_template_names() -> None:
    named = {
        name
        for file in TEMPLATES
        for name in re.findall(r'\{% icon(?:_button)? "([\w-]+)"', file.read_text())
    }
    known = set(re.findall(r'id="([\w-]+)"', sprite().decode()))
    if not known:
        pytest.skip("node_modules lacks the icons")
    assert named - known == set()
