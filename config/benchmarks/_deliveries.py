"""Tasks that come twice, and tasks that never come."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from django.conf import settings
from django.core.files.base import ContentFile
from django.db import transaction
from django_q.models import OrmQ

from config.benchmarks._arena import CONTENT, SMALL, Arena, Broken, rows_of
from config.benchmarks._provider import scripted_provider
from config.benchmarks._sample import sample_pdf
from documents.models import Document
from documents.queue import issue_tickets
from documents.uploads import store_upload
from retrieval.models import EmbeddingSpace
from retrieval.spaces import activate, active_space, open_space

BILLING_SPACE = "compatible:billing"
SWEPT_WITHIN = 300.0
KILLED_AT_ENQUEUEING = """
import os, signal, sys, django
django.setup()
from pathlib import Path
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from documents import queue, uploads
queue.issue_tickets = lambda count: os.kill(os.getpid(), signal.SIGKILL)
owner, pdf = User.objects.get(pk=int(sys.argv[1])), Path(sys.argv[2])
uploads.store_upload(owner, ContentFile(pdf.read_bytes()), pdf.name)
"""


def delivered_twice(chaos: Arena, number: int) -> float:
    """The same task to two workers at once: one lease, one set of rows, one bill from the provider."""
    if not number:
        chaos.wait_until_whole()
    with scripted_provider() as provider:
        usual = active_space()
        activate(open_space(BILLING_SPACE))
        try:
            provider.embedded.clear()
            document, tickets = queued_twice(chaos)
            seconds = chaos.wait_until_ready(document)
            chaos.wait(lambda: not OrmQ.objects.filter(pk__in=tickets).exists(), "a ticket was left over")
        finally:
            activate(usual)
    check_single(document, provider.embedded)
    EmbeddingSpace.objects.filter(model="billing").delete()
    return seconds


def queued_twice(chaos: Arena) -> tuple[Document, list[int]]:
    """A new document, and the keys of two copies of one django-q2 task that both workers see at once."""
    chaos.serial += 1
    pdf = sample_pdf(1000 + chaos.serial, SMALL)
    with transaction.atomic():
        document = store_upload(chaos.one, ContentFile(pdf), "twice.pdf", queued=False)
        issue_tickets(1)
        ticket = OrmQ.objects.latest("pk")
        copy = OrmQ.objects.create(key=ticket.key, payload=ticket.payload, lock=ticket.lock)
    return document, [ticket.pk, copy.pk]


def check_single(document: Document, embedded: list[str]) -> None:
    """Raises Broken unless the provider embedded each chunk once and there is one row of each."""
    document.refresh_from_db()
    rows = rows_of(document)
    vectors = rows[next(model._meta.label for model in CONTENT if model.__name__ == "ChunkVector")][0]
    if (len(embedded), vectors) != (document.chunk_count, document.chunk_count):
        raise Broken(f"{document.chunk_count} chunks, {len(embedded)} on the bill, {vectors} vectors")


def killed_before_enqueueing(chaos: Arena, number: int) -> float:
    """A process that dies between storing a file and putting it in the queue: the sweeper finds it."""
    chaos.wait_until_whole()
    chaos.serial += 1
    with tempfile.TemporaryDirectory() as folder:
        pdf = Path(folder) / f"unqueued {chaos.serial}.pdf"
        pdf.write_bytes(sample_pdf(1000 + chaos.serial, SMALL))
        command = [sys.executable, "-W", "ignore", "-c", KILLED_AT_ENQUEUEING, str(chaos.one.pk), str(pdf)]
        ended = subprocess.run(command, cwd=settings.BASE_DIR, check=False)
    if ended.returncode != -signal.SIGKILL:
        raise Broken(f"the storing process ended with {ended.returncode} instead of being killed")
    document = Document.objects.get(original_name=pdf.name)
    return chaos.wait_until_ready(document, patience=SWEPT_WITHIN)
