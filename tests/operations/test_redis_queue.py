"""Tickets in Redis: a real server of it, a real worker, and an outage."""

from __future__ import annotations

import shutil
import socket
import subprocess
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django_q.models import OrmQ

from documents.files.uploads import store_upload
from documents.models import Document
from tests.drawing import draw_pdf
from tests.operations.test_runapp import wait_for
from tests.operations.test_worker import Workers, wait_until_ready

pytestmark = [pytest.mark.worker, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def port() -> int:
    if shutil.which("redis-server") is None:
        pytest.skip("needs redis-server")
    pytest.importorskip("redis")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def start(port: int) -> subprocess.Popen[bytes]:
    """A Redis that keeps nothing on disk, once it answers."""
    options = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
    server = subprocess.Popen(["redis-server", *options], stdout=subprocess.DEVNULL)
    wait_for(lambda: not socket.socket().connect_ex(("127.0.0.1", port)), "redis does not answer")
    return server


def store(owner: User, text: str) -> Document:
    """Stored without a ticket: the worker's sweep writes one, as it does for those that Redis forgot."""
    return store_upload(owner, ContentFile(draw_pdf(text)), f"{text}.pdf", queued=False)


def test_documents_are_taken_in_by_tickets_in_redis_which_may_go_and_come_back(
    alice: User, port: int, tmp_path: Path, settings
) -> None:
    settings.MEDIA_ROOT = tmp_path
    redis = start(port)
    worker = Workers(tmp_path, tmp_path / "worker.log", PINCITE_REDIS=f"redis://127.0.0.1:{port}/0")
    try:
        wait_until_ready([store(alice, "The first.")], worker.log)
        redis.kill()
        redis.wait()
        second = store(alice, "The second.")
        wait_for(lambda: "the queue cannot be reached" in worker.log.read_text(), "nobody noticed")
        assert Document.objects.get(pk=second.pk).status == Document.Status.UPLOADED
        redis = start(port)
        wait_until_ready([second], worker.log)
        assert not OrmQ.objects.exists()
    finally:
        worker.stop()
        redis.kill()
        redis.wait()
