"""`manage.py scheduler`, where no worker runs: one that did would take what is put back."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.utils import timezone

from documents.files.uploads import store_upload
from documents.ingestion.leases import acquire
from documents.models import Document
from documents.tasks import sweep_in_turn
from tests.drawing import draw_pdf
from tests.operations.management.commands.test_worker import Workers
from tests.operations.test_processes_runapp import wait_for

pytestmark = [pytest.mark.worker, pytest.mark.django_db(transaction=True)]


@pytest.mark.slow
def test_a_scheduler_alone_puts_back_what_a_silent_worker_left(alice: User, tmp_path: Path, settings) -> None:
    settings.MEDIA_ROOT = tmp_path
    left = store_upload(alice, ContentFile(draw_pdf("Left behind.")), "left.pdf", queued=False)
    assert acquire(left.pk)
    Document.objects.update(lease_expires_at=timezone.now() - timedelta(seconds=1))
    scheduler = Workers(tmp_path, tmp_path / "log", "scheduler")
    try:
        wait_for(lambda: Document.objects.get(pk=left.pk).lease is None, "it was not put back")
        assert sweep_in_turn() is None  # the round was the scheduler's
    finally:
        assert scheduler.stop() < 10
    assert scheduler.process.returncode == 0 and Document.objects.get(pk=left.pk).status == "uploaded"
