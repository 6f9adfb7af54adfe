"""The check that test files leave nothing behind sees each kind of thing that they may leave."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.core.cache import cache
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.utils import translation

from tests import leftovers


@pytest.fixture
def ending(monkeypatch: pytest.MonkeyPatch) -> Iterator[ExitStack]:
    monkeypatch.setattr(leftovers, "SECONDS", 0)
    with ExitStack() as stack:
        yield stack


def temporary_file(ending: ExitStack) -> None:
    ending.callback(os.unlink, tempfile.mkstemp(suffix="left")[1])


def media_file(ending: ExitStack) -> None:
    ending.callback(default_storage.delete, default_storage.save("left", ContentFile(b"x")))


def cache_entry(ending: ExitStack) -> None:
    cache.set("left", 1)


def process(ending: ExitStack) -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()  # left"], stdin=subprocess.PIPE)
    ending.enter_context(child)


@pytest.mark.parametrize("leave", [temporary_file, media_file, cache_entry, process])
def test_a_new_thing_is_seen(leave: Callable[[ExitStack], None], ending: ExitStack) -> None:
    before = leftovers.things()
    leave(ending)
    (new,) = leftovers.new_things(before)
    assert "left" in new


def test_changed_values_are_named(settings: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before = leftovers.values()
    settings.PINCITE_LEFT = 1
    monkeypatch.setenv("PINCITE_LEFT", "2")
    monkeypatch.chdir(tmp_path)
    with translation.override("de"):
        lines = leftovers.differences(before, leftovers.values())
    names = {line.partition(":")[0] for line in lines}
    assert {"$PINCITE_LEFT", "language", "settings.PINCITE_LEFT", "working directory"} <= names


def test_tables_with_more_or_fewer_rows_are_named_once(db: None) -> None:
    rows = leftovers.count_rows()
    Group.objects.create(name="Readers of this test")
    (line,) = leftovers.changed_tables(rows)
    assert line.startswith("rows of auth_group: ")
    assert not leftovers.changed_tables(rows)
