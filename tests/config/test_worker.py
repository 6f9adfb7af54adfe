"""The real worker, killed in every way: django-q2's cluster under its watchdog, on the tests' database."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.db import connection

from documents.models import Document, Worker
from documents.uploads import store_upload
from tests.config.test_runapp import wait_for
from tests.drawing import draw_pdf

pytestmark = [pytest.mark.worker, pytest.mark.django_db(transaction=True)]
DRAINS_WITHIN = 120.0  # on a busy machine
LONG = "The quick brown fox jumps over the lazy dog, again and again and again.\n" * 50


class Workers:
    """One `manage.py worker` on the database and the files of this test."""

    def __init__(self, media: Path, log: Path) -> None:
        self.log = log
        environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "tests.worker_settings",
            "PINCITE_TEST_DATABASE": connection.settings_dict["NAME"],
            "PINCITE_TEST_MEDIA": str(media),
        }
        self.process = subprocess.Popen(
            [sys.executable, "-W", "ignore", str(settings.BASE_DIR / "manage.py"), "worker"],
            env=environment,
            stdout=log.open("ab"),
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def wait_until_whole(self) -> None:
        wait_for(lambda: Worker.objects.alive().exists(), f"never whole: {self.log.read_text()}")

    def member(self, name: str) -> psutil.Process:
        """A process of the cluster by what it is: sentinel, worker, monitor or pusher."""
        (cluster,) = psutil.Process(self.process.pid).children()
        (sentinel,) = cluster.children()
        ordered = sorted(sentinel.children(), key=lambda process: process.pid)
        workers = settings.Q_CLUSTER["workers"]
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


@pytest.fixture
def start_worker(tmp_path: Path) -> Iterator[Callable[[], Workers]]:
    started: list[Workers] = []

    def start() -> Workers:
        started.append(Workers(tmp_path / "media", tmp_path / "worker.log"))
        started[-1].wait_until_whole()
        return started[-1]

    yield start
    for worker in started:
        if worker.process.poll() is None:
            worker.stop()


def upload(owner: User, number: int, pages: int = 1) -> Document:
    texts = [f"Document {number}, page {page}.\n\n{LONG}" for page in range(pages)]
    return store_upload(owner, ContentFile(draw_pdf(*texts)), f"{number}.pdf")


def wait_until_ready(documents: list[Document], log: Path) -> None:
    keys = [document.pk for document in documents]
    ready = Document.objects.filter(pk__in=keys, status=Document.Status.READY)
    wait_for(lambda: ready.count() == len(keys), f"not ready: {log.read_text()[-3000:]}", DRAINS_WITHIN)


@pytest.mark.parametrize("victim", ["worker", "pusher", "monitor", "sentinel", "cluster"])
def test_a_backlog_drains_after_a_process_of_the_idle_queue_was_killed(
    alice: User, start_worker, victim: str
) -> None:
    worker = start_worker()
    worker.member(victim).kill()
    wait_until_ready([upload(alice, number) for number in range(3)], worker.log)


def test_a_document_whose_worker_was_killed_is_ready_once_and_soon(alice: User, start_worker) -> None:
    worker = start_worker()
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


def test_a_worker_that_is_told_to_stop_puts_its_document_back(alice: User, start_worker) -> None:
    worker = start_worker()
    document = upload(alice, 1, pages=60)
    wait_for(Document.objects.filter(pk=document.pk, lease__isnull=False).exists, "nobody took it")
    assert worker.stop() < 30
    document.refresh_from_db()
    if document.status != Document.Status.READY:  # it may have been quicker than us
        assert (document.status, document.attempts, document.lease) == (Document.Status.UPLOADED, 0, None)
    again = start_worker()
    wait_until_ready([document], again.log)
