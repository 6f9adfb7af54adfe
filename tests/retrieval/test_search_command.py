"""The command `manage.py search`."""

from __future__ import annotations

import json

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command

from tests.retrieval.conftest import Library


def test_search_prints_a_line_a_hit(
    alice: User, library: Library, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("search", "Nike dividends", "--owner", "alice", "--limit", "2", "--json")
    first, second = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert first["document"] == str(library.nike.pk)
    assert first["page"] == 2
    assert first["units"] and first["score"] >= second["score"]
    assert first["ranks"]["question"] == 1
    call_command("search", "Nike dividends", "--owner", "alice", "--document", str(library.amcor.pk))
    assert "NIKE" not in capsys.readouterr().out
