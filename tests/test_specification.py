"""`docs/specification.md` names existing tests and files, and counts its rows correctly."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "docs/specification.md").read_text()
ROW = re.compile(r"^\| (\w+\.\d+) \| .+ \| (\w+) \| (.+) \|$", re.M)
NAMED = re.compile(r"`((?:[a-z_]+/)+\w+\.\w+)`(?: `(\w+)`)?")
ASKED = {"000": 38, "001": 22, "002": 45, "003": 54, "004": 22, "card": 8}
STATES = {"whole", "other", "part", "missing"}


def test_every_requirement_has_one_row_and_a_known_state() -> None:
    numbers = [number for number, _, _ in ROW.findall(TEXT)]
    assert numbers == [f"{part}.{row}" for part, rows in ASKED.items() for row in range(1, rows + 1)]
    assert {state for _, state, _ in ROW.findall(TEXT)} <= STATES


def test_every_row_names_something_that_shows_it() -> None:
    bare = [number for number, state, shown in ROW.findall(TEXT) if state == "whole" and "`" not in shown]
    assert not bare


def test_every_file_that_is_named_exists_and_holds_what_is_named_of_it() -> None:
    named = NAMED.findall(TEXT)
    assert len(named) > 140
    for path, name in named:
        assert (ROOT / path).is_file(), path
        assert name in (ROOT / path).read_text(), f"{path}: {name}"
