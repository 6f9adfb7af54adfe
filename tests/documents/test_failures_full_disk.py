"""A full or read-only disk is reported to users, and existing documents remain usable.

A real one: a small file system is mounted where the files are kept.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.db import connection
from django.test import Client
from django.urls import reverse

from documents.failures import NO_ROOM, READ_ONLY
from documents.files.uploads import store_upload
from documents.ingestion.pipeline import ingest_document
from documents.models import CitationUnit, Document
from tests.conftest import Ingest
from tests.drawing import draw_pdf

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="only root mounts"),
]


UNITS = CitationUnit._meta.db_table


class Disk:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def fill(self) -> None:
        with (self.folder / "filler").open("wb", buffering=0) as filler:
            try:
                while True:
                    filler.write(b"x" * 4096)
            except OSError:
                pass

    def empty(self) -> None:
        (self.folder / "filler").unlink()

    def seal(self) -> None:
        subprocess.run(["mount", "-o", "remount,ro", self.folder], check=True)


@contextmanager
def small_disk(folder: Path, size: str = "2m") -> Iterator[Disk]:
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder]
    mounted = subprocess.run(command, capture_output=True)
    if mounted.returncode:
        pytest.skip("nothing can be mounted here")
    yield Disk(folder)
    subprocess.run(["umount", "-l", folder], check=True)


@pytest.fixture
def disk(tmp_path: Path, settings: object) -> Iterator[Disk]:
    """Where files are kept."""
    folder = tmp_path / "small"
    folder.mkdir()
    with small_disk(folder) as disk:
        settings.MEDIA_ROOT = folder  # type: ignore[attr-defined]
        yield disk


@pytest.fixture
def database_disk(transactional_db: None) -> Iterator[Disk]:
    """Where PostgreSQL keeps the units."""
    data = Path(connection.settings_dict["HOST"])
    if not (data / "postmaster.pid").exists():
        pytest.skip("only the embedded server's disk is ours")
    with tempfile.TemporaryDirectory() as folder, small_disk(Path(folder)) as disk:
        owner = data.stat()
        os.chown(folder, owner.st_uid, owner.st_gid)
        with connection.cursor() as cursor:
            cursor.execute(f"CREATE TABLESPACE small LOCATION '{folder}'")
            cursor.execute(f"ALTER TABLE {UNITS} SET TABLESPACE small")
        try:
            yield disk
        finally:
            (disk.folder / "filler").unlink(missing_ok=True)
            with connection.cursor() as cursor:  # the test may have lost its first connection
                cursor.execute(f"TRUNCATE {UNITS} CASCADE")
                cursor.execute(f"ALTER TABLE {UNITS} SET TABLESPACE pg_default")
                cursor.execute("DROP TABLESPACE small")


@pytest.fixture
def browser(alice: User) -> Client:
    client = Client()
    client.force_login(alice)
    return client


def files(disk: Disk) -> set[Path]:
    return {path for path in disk.folder.rglob("*") if path.is_file()}


def upload(browser: Client) -> tuple[int, str]:
    pdf = ContentFile(draw_pdf("A second report." * 3), "second.pdf")
    answer = browser.post("/api/documents/", {"file": pdf})
    return answer.status_code, answer.json()["message"]


def check_that_it_answers(browser: Client, document: Document) -> None:
    """Search, the picture of a page, its thumbnail, the file."""
    hits = browser.post(
        "/api/search/", {"query": "When was the bridge closed?"}, content_type="application/json"
    )
    assert "2019" in hits.content.decode()
    for name in ("document-thumbnail", "document-file"):
        assert browser.get(reverse(name, args=[document.pk])).status_code == 200


def test_a_full_disk_refuses_uploads_with_a_reason_and_keeps_no_half_of_them(
    disk: Disk, browser: Client, alice: User, ingested: Ingest
) -> None:
    document = ingested(alice, "The bridge was closed in 2019.")
    disk.fill()
    before = files(disk)
    assert upload(browser) == (507, NO_ROOM)
    assert files(disk) == before
    assert Document.objects.count() == 1
    check_that_it_answers(browser, document)


def test_files_that_can_only_be_read_refuse_uploads_and_still_answer(
    disk: Disk, browser: Client, alice: User, ingested: Ingest
) -> None:
    document = ingested(alice, "The bridge was closed in 2019.")
    disk.seal()
    assert upload(browser) == (507, READ_ONLY)
    check_that_it_answers(browser, document)


def test_a_document_stored_before_the_disk_was_full_is_still_ingested(disk: Disk, alice: User) -> None:
    waiting = store_upload(alice, ContentFile(draw_pdf("The bridge was closed.")), "a.pdf", queued=False)
    disk.fill()
    assert ingest_document(waiting.pk)
    waiting.refresh_from_db()
    assert waiting.status == Document.Status.READY


@pytest.mark.slow
def test_a_database_without_room_fails_the_new_document_with_a_reason_and_the_old_ones_answer(
    database_disk: Disk, settings: object, browser: Client, alice: User, ingested: Ingest
) -> None:
    document = ingested(alice, "The bridge was closed in 2019.")
    database_disk.fill()
    long = [f"Paragraph {number}.\n\n" * 40 for number in range(30)]
    failed = ingested(alice, *long)
    assert (failed.status, failed.failure_message) == (Document.Status.FAILED, NO_ROOM)
    assert not failed.pages.exists()
    check_that_it_answers(browser, document)
