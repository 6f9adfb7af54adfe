from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from documents.management.commands.ingest import completely_written, file_state, pdf_files
from documents.models import Document
from tests.drawing import draw_pdf

pytestmark = pytest.mark.django_db
KEYS = {"file", "document", "status", "pages", "units", "chunks", "seconds", "failure"}


@pytest.fixture
def admin(db: None) -> User:
    return User.objects.create_superuser("admin", "admin@example.com", "correct horse")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in/deep").mkdir(parents=True)
    (tmp_path / "in/b.pdf").write_bytes(draw_pdf("Second."))
    (tmp_path / "in/deep/a.PDF").write_bytes(draw_pdf("First.", "Another page."))
    (tmp_path / "in/notes.txt").write_text("not asked for")
    return tmp_path / "in"


def ingest(*arguments: object) -> tuple[list[dict], int]:
    """The lines that `ingest --json` printed, and its exit code."""
    printed, code = StringIO(), 0
    try:
        call_command("ingest", *map(str, arguments), "--json", stdout=printed)
    except SystemExit as end:
        code = int(str(end.code))
    return [json.loads(line) for line in printed.getvalue().splitlines()], code


def test_a_folder_is_ingested_with_one_line_per_document(admin: User, folder: Path) -> None:
    lines, code = ingest(folder)
    assert code == 0
    assert [Path(line["file"]).name for line in lines] == ["b.pdf", "a.PDF"]
    assert [(line["status"], line["pages"], line["failure"]) for line in lines] == [
        ("ready", 1, ""),
        ("ready", 2, ""),
    ]
    for line in lines:
        assert set(line) == KEYS
        document = Document.objects.get(pk=line["document"])
        assert document.owner == admin
        assert (line["units"], line["chunks"]) == (document.units.count(), document.chunks.count())


def test_a_file_that_is_there_already_is_reported_as_ready(admin: User, folder: Path) -> None:
    (first, *_), _ = ingest(folder / "b.pdf")
    (again, *_), code = ingest(folder / "b.pdf")
    assert code == 0
    assert (again["document"], again["status"]) == (first["document"], "ready")


def test_what_cannot_be_read_is_said_and_the_rest_goes_on(admin: User, folder: Path) -> None:
    (folder / "c.pdf").write_bytes(b"<html>")
    (folder / "d.pdf").write_bytes(b"%PDF-1.7 and then nothing")
    lines, code = ingest(folder)
    assert code == 1
    found = {Path(line["file"]).name: (line["status"], line["failure"].split(":")[0]) for line in lines}
    assert found == {
        "a.PDF": ("ready", ""),
        "b.pdf": ("ready", ""),
        "c.pdf": ("failed", "not_a_pdf"),
        "d.pdf": ("failed", "damaged"),
    }


def test_the_owner_can_be_named(admin: User, alice: User, folder: Path) -> None:
    (line,), _ = ingest(folder / "b.pdf", "--owner", "alice")
    assert Document.objects.get(pk=line["document"]).owner == alice
    with pytest.raises(CommandError, match="no user"):
        ingest(folder, "--owner", "nobody")


def test_a_path_that_is_not_there_is_named(admin: User, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"missing\.pdf"):
        ingest(tmp_path / "missing.pdf")


def test_a_watched_folder_gives_up_files_once_they_are_written(folder: Path) -> None:
    seen = {path: file_state(path) for path in pdf_files([folder])}
    assert completely_written([folder], seen) == []
    new = folder / "deep/new.pdf"
    new.write_bytes(b"%PDF-1.7 half")
    assert completely_written([folder], seen) == []  # it may still be growing
    new.write_bytes(draw_pdf("All of it."))
    assert completely_written([folder], seen) == []
    assert completely_written([folder], seen) == [new]
    assert completely_written([folder], seen) == []
    new.unlink()
    assert completely_written([folder], seen) == []


def test_a_folder_is_watched_until_the_command_is_stopped(
    admin: User, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def put_another(seconds: float, looks: list[float] = []) -> None:  # noqa: B006  (counts its calls)
        looks.append(seconds)
        if len(looks) == 1:
            (folder / "third.pdf").write_bytes(draw_pdf("Third."))
        if len(looks) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr("documents.management.commands.ingest.time.sleep", put_another)
    lines, code = ingest(folder, "--watch", 5)
    assert code == 0
    assert [Path(line["file"]).name for line in lines] == ["b.pdf", "a.PDF", "third.pdf"]
    assert Document.objects.filter(owner=admin).count() == 3
