"""The real worker, killed in every way: django-q2's cluster under its watchdog, on the tests' database."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from django.conf import settings as settings_module
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.db import connection

from documents.files.uploads import store_upload
from documents.ingestion.pipeline import ingest_document
from documents.models import Document, Worker
from tests.documents.ingestion.test_recognition import scan
from tests.drawing import draw_pdf
from tests.operations.test_processes_runapp import wait_for

pytestmark = [pytest.mark.worker, pytest.mark.django_db(transaction=True)]
DRAINS_WITHIN = 120.0  # on a busy machine
RECOGNISED_WITHIN = 400.0  # likewise, with the least right to its processors
LONG = "The quick brown fox jumps over the lazy dog, again and again and again.\n" * 50


class Workers:
    """One `manage.py worker`, or another role, on the database and the files of this test."""

    def __init__(self, media: Path, log: Path, role: str = "worker", **more: str) -> None:
        self.log, self.role = log, role
        self.environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "tests.worker_settings",
            "PINCITE_TEST_DATABASE": connection.settings_dict["NAME"],
            "PINCITE_TEST_MEDIA": str(media),
            **more,
        }
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-W", "ignore", str(settings_module.BASE_DIR / "manage.py"), self.role],
            env=self.environment,
            stdout=self.log.open("ab"),
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def wait_until_whole(self) -> None:
        wait_for(lambda: Worker.objects.alive().exists(), lambda: f"never whole: {self.log.read_text()}")

    def member(self, name: str) -> psutil.Process:
        """A process of the cluster by what it is: sentinel, worker, monitor or pusher."""
        (cluster,) = psutil.Process(self.process.pid).children()
        (sentinel,) = cluster.children()
        ordered = sorted(sentinel.children(), key=lambda process: process.pid)
        workers = settings_module.Q_CLUSTER["workers"]
        found = {
            "cluster": cluster,
            "sentinel": sentinel,
            "worker": ordered[0],
            "monitor": ordered[workers],
            "pusher": ordered[workers + 1],
        }
        return found[name]

    def stop(self) -> float:
        """SIGTERM; the seconds it took to end."""
        begun = time.monotonic()
        self.process.terminate()
        self.process.wait(60)
        return time.monotonic() - begun


@pytest.fixture(scope="module")
def media(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("media")


@pytest.fixture(scope="module")
def running(django_db_setup: None, media: Path) -> Iterator[Workers]:
    """One worker for all tests of this module: starting one is the slow part."""
    worker = Workers(media, media / "worker.log")
    yield worker
    if worker.process.poll() is None:
        worker.stop()


@pytest.fixture
def worker(running: Workers, media: Path, settings: settings_module) -> Workers:  # type: ignore[valid-type]
    settings.MEDIA_ROOT = media
    if running.process.poll() is not None:  # an earlier test stopped it
        running.start()
    running.wait_until_whole()
    return running


def upload(owner: User, number: int, pages: int = 1) -> Document:
    texts = [f"Document {number}, page {page}.\n\n{LONG}" for page in range(pages)]
    return store_upload(owner, ContentFile(draw_pdf(*texts)), f"{number}.pdf")


def wait_until_ready(documents: list[Document], log: Path) -> None:
    keys = [document.pk for document in documents]
    ready = Document.objects.filter(pk__in=keys, status=Document.Status.READY)
    wait_for(
        lambda: ready.count() == len(keys), lambda: f"not ready: {log.read_text()[-3000:]}", DRAINS_WITHIN
    )


@pytest.mark.slow
def test_a_backlog_drains_whichever_process_of_the_idle_queue_was_killed(
    alice: User, worker: Workers
) -> None:
    for number, victim in enumerate(("worker", "pusher", "monitor", "sentinel", "cluster")):
        Worker.objects.all().delete()  # the next heartbeat is that of a whole queue
        worker.wait_until_whole()
        worker.member(victim).kill()
        wait_until_ready([upload(alice, 10 * number + document) for document in range(3)], worker.log)


@pytest.mark.slow
def test_a_document_whose_worker_was_killed_is_ready_once_and_soon(alice: User, worker: Workers) -> None:
    document = upload(alice, 1, pages=40)
    held = Document.objects.filter(pk=document.pk, lease__isnull=False)
    wait_for(held.exists, "nobody took it")
    process_id = int(held.get().lease_holder.split(":")[1])
    os.kill(process_id, signal.SIGKILL)
    wait_until_ready([document], worker.log)
    document.refresh_from_db()
    assert document.page_count == document.pages.count() == 40
    assert document.units.count() == document.unit_count
    assert sorted(document.chunks.values_list("index", flat=True)) == list(range(document.chunk_count))


@pytest.mark.slow
def test_pages_that_were_recognised_outlast_the_worker_that_was_killed(alice: User, worker: Workers) -> None:
    lines = [f"Bridge number {number} was painted." for number in range(2, 7)]
    document = store_upload(alice, ContentFile(scan(*lines)), "scan.pdf")
    recognised = document.pages.exclude(recognised=b"")
    wait_for(
        recognised.exists, lambda: f"none recognised: {worker.log.read_text()[-3000:]}", RECOGNISED_WITHIN
    )
    document.refresh_from_db()
    if document.lease_holder:
        os.kill(int(document.lease_holder.split(":")[1]), signal.SIGKILL)
    first = recognised.order_by("number")[0]
    wait_for(
        lambda: Document.objects.filter(pk=document.pk, status=Document.Status.READY).exists(),
        lambda: f"not ready: {worker.log.read_text()[-3000:]}",
        RECOGNISED_WITHIN,
    )
    document.refresh_from_db()
    assert (document.pages_waiting, document.failed_pages) == (0, [])
    texts = document.pages.order_by("number").values_list("text", flat=True)
    assert [" ".join(text.split()) for text in texts][1:] == lines
    assert document.pages.get(number=first.number).recognised == first.recognised
    assert sorted(document.chunks.values_list("index", flat=True)) == list(range(document.chunk_count))


@pytest.mark.slow
def test_a_worker_that_is_told_to_stop_puts_its_document_back(alice: User, worker: Workers) -> None:
    document = upload(alice, 1, pages=60)
    wait_for(Document.objects.filter(pk=document.pk, lease__isnull=False).exists, "nobody took it")
    assert worker.stop() < 30
    document.refresh_from_db()
    if document.status != Document.Status.READY:  # it may have been quicker than us
        assert (document.status, document.attempts, document.lease) == (Document.Status.UPLOADED, 0, None)
        assert ingest_document(document.pk), "anybody may take it now"
