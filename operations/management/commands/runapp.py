"""`make run`: set up what is missing, then run the web server and the worker until Ctrl-C."""

from __future__ import annotations

import fcntl
import os
import secrets
import signal
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.staticfiles.management.commands.collectstatic import Command as CollectStatic
from django.core.files.base import ContentFile
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import OperationalError, connections

from documents.files.uploads import UploadRefused, store_upload
from documents.ingestion.pipeline import ingest_document
from documents.models import Document, TemporaryPassword
from operations.handbook import SUGGESTED_QUESTIONS, draw_handbook
from operations.http.static_files import are_collected
from operations.observability.health import check_database
from operations.processes import ProcessGroup
from pdf.gc_control import memory_released
from pdf.sandbox.progress import processor_seconds

PORTS_TRIED = 20
STARTS_WITHIN = 60.0  # seconds of wall time without processor time: a busy machine is slow, not broken
STOPS_WITHIN = 25.0
AS_ROOT = (
    "Pincite runs as root. A user without rights is safer, in a folder of their own:\n"
    "  useradd --create-home pincite && git clone . ~pincite/app && chown -R pincite ~pincite/app\n"
    "  su pincite -c 'cd ~/app && make run'"
)
Commands = tuple[tuple[str, ...], ...]


class Command(BaseCommand):
    help = "Prepares what is missing, then runs the web server and the worker until Ctrl-C."
    requires_system_checks: list[str] = []

    def handle(self, **options: Any) -> None:
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        if os.geteuid() == 0:
            self.say(f"{AS_ROOT}\n")
        with single_instance():
            address = self.prepare()
            self.serve(stop, address)

    def prepare(self) -> str:
        """Prepare database, static files, first user and sample document. Return the path to open."""
        self.prepare_database()
        collect_static_files()
        first = first_user()
        if first.password:
            self.say(f"First user: {first.user.username}   password: {first.password}   (shown only once)")
        document = sample_document(first.user)
        return f"/documents/{document.pk}/" if document else "/"

    def prepare_database(self) -> None:
        try:
            problems = check_database("default")
        except OperationalError as error:
            raise CommandError(str(error)) from error
        if problems:
            raise CommandError("\n".join(f"{problem.msg} {problem.hint or ''}" for problem in problems))
        with memory_released():  # migrations make and drop thousands of classes
            call_command("migrate", verbosity=0, interactive=False)

    def serve(self, stop: threading.Event, address: str) -> None:
        port = free_port(settings.HOST, settings.PORT)
        if port != settings.PORT:
            self.say(f"Port {settings.PORT} is in use. Using {port}.")
        url = f"http://{shown_host()}:{port}"
        connections.close_all()
        commands: Commands = (("web", "--port", str(port)), ("worker",))
        groups = [ProcessGroup.start(*command) for command in commands]
        try:
            if not answers(f"http://{settings.HOST}:{port}/healthz", stop, groups[0]):
                raise CommandError("The web server did not start, see above.")
            self.say(f"\nPincite runs at {url}{address}\nPress Ctrl-C to stop it.\n")
            self.watch(stop, commands, groups)
        finally:
            end_all(groups)

    def watch(self, stop: threading.Event, commands: Commands, groups: list[ProcessGroup]) -> None:
        """Restart a process that has ended."""
        while not stop.wait(1):
            for index, group in enumerate(groups):
                if not group.is_running:
                    self.stderr.write(
                        f"{commands[index][0]} exited with {group.process.returncode}. Restarting it."
                    )
                    group.stop(0)
                    groups[index] = ProcessGroup.start(*commands[index])

    def say(self, text: str) -> None:
        self.stdout.write(text)
        self.stdout.flush()


@contextmanager
def single_instance() -> Iterator[None]:
    """Hold the lock of the data folder. Raises CommandError when another process holds it."""
    settings.VAR_DIR.mkdir(parents=True, exist_ok=True)
    with (settings.VAR_DIR / "running").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CommandError(f"Pincite is already running on {settings.VAR_DIR}.") from None
        yield


def free_port(host: str, wanted: int) -> int:
    """Return ``wanted``, or the next free port. Raises CommandError after ``PORTS_TRIED``."""
    for port in range(wanted, wanted + PORTS_TRIED):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, port))
            except OSError:
                continue
            return port
    raise CommandError(f"Ports {wanted} to {wanted + PORTS_TRIED - 1} are all in use: set PINCITE_PORT.")


def shown_host() -> str:
    return "localhost" if settings.HOST in ("127.0.0.1", "0.0.0.0", "::1") else settings.HOST


def answers(url: str, stop: threading.Event, server: ProcessGroup) -> bool:
    """Wait until the web server responds with any status.

    Return False when it has ended, or has used no processor time for ``STARTS_WITHIN``.
    """
    last_progress, used = time.monotonic(), 0.0
    while server.is_running and time.monotonic() - last_progress < STARTS_WITHIN and not stop.is_set():
        if (now_used := processor_seconds([server.process.pid])) > used:
            last_progress, used = time.monotonic(), now_used
        try:
            urllib.request.urlopen(url, timeout=2).close()
            return True
        except urllib.error.HTTPError:
            return True
        except OSError:
            time.sleep(0.1)
    return stop.is_set()


def end_all(groups: list[ProcessGroup]) -> None:
    threads = [threading.Thread(target=group.stop, args=(STOPS_WITHIN,)) for group in groups]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


# --- Set-up of a new installation: each step is idempotent ---

HANDBOOK_NAME = "Pincite_handbook.pdf"


@dataclass(frozen=True, slots=True)
class FirstUser:
    """``password`` is '' unless the user was just created."""

    user: User
    password: str


def collect_static_files() -> None:
    """Run collectstatic when a source is newer than the last copy."""
    if not are_collected():
        call_command(CollectStatic(), verbosity=0, interactive=False)


def first_user() -> FirstUser:
    user = User.objects.filter(is_superuser=True, is_active=True).order_by("pk").first()
    if user is not None:
        return FirstUser(user, "")
    password = secrets.token_urlsafe(9)
    user = User.objects.create_superuser(
        settings.FIRST_USER, f"{settings.FIRST_USER}@localhost.localdomain", password
    )
    TemporaryPassword.objects.create(user=user)  # a terminal showed it, and a log may contain it
    return FirstUser(user, password)


def sample_document(owner: User) -> Document | None:
    """Return the handbook, ingested on the first run; None when its owner has deleted it."""
    document = Document.objects.filter(owner=owner, deleted_at=None, original_name=HANDBOOK_NAME).first()
    stamp = settings.VAR_DIR / "handbook-given"
    if document is None and not stamp.exists():
        try:
            document = store_upload(owner, ContentFile(draw_handbook()), HANDBOOK_NAME, queued=False)
            document.metadata["questions"] = SUGGESTED_QUESTIONS
            document.save(update_fields=["metadata"])
        except UploadRefused as refused:
            document = refused.existing
    if document is not None:
        ingest_document(document.pk)
        stamp.touch()
    return document
