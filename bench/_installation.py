"""Installations for benchmarks: worker, web server, browser, users, known documents, a scripted model."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import urlopen

import httpx
import psutil
import pymupdf
from django.conf import settings
from django.contrib.auth.models import User
from django.core.files import File
from django.core.files.base import ContentFile
from django.core.management.base import CommandError
from django.db import DatabaseError, connection, models
from django.test import Client

from documents.files.uploads import store_upload
from documents.ingestion.pipeline import ingest_document
from documents.library import delete_document
from documents.models import ApiToken, CitationUnit, Document, Page, RetrievalChunk, Worker
from operations.processes import ProcessGroup, children
from retrieval.models import ChunkVector, IndexedChunk, IndexedDocument

if TYPE_CHECKING:
    from playwright.sync_api import Browser
    from playwright.sync_api import Page as BrowserPage


LINES = 45


def sample_pdf(serial: int, pages: int) -> bytes:
    """Return a PDF with this number of pages of plain text."""
    document = pymupdf.open()
    for number in range(1, pages + 1):
        page = document.new_page()
        page.insert_text((72, 72), f"Report {serial}, part {number}", fontname="hebo", fontsize=16)
        lines = [
            f"Line {line} of part {number}: measure {line * number} was {line + number}.50 pounds."
            for line in range(LINES)
        ]
        page.insert_text((72, 100), lines, fontname="helv", fontsize=10, lineheight=1.4)
    return bytes(document.tobytes(no_new_id=True))


USERS = ("chaos-one", "chaos-two")
PATIENCE = 180.0  # seconds until a missing event is a failure, on an idle machine
SMALL = 2  # pages
CONTENT: dict[type[models.Model], str] = {  # all rows of a document, and their relations to it
    Page: "document",
    CitationUnit: "document",
    RetrievalChunk: "document",
    ChunkVector: "document",
    IndexedDocument: "document",
    IndexedChunk: "document",
}
PER_COPY = {
    "id",
    "chunk_id",
    "unit_ids",
    "indexed_at",
    "created_at",
}  # differ between copies


def slowdown() -> float:
    """Return by how much load delays a process here: the processes for each processor, at least 1."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


class Broken(Exception):
    """A condition does not hold or was not met in time; the message says which."""


class Installation:
    def __init__(self, one: User, two: User, pages: int, seed: int) -> None:
        self.one, self.two, self.pages = one, two, pages
        self.random = random.Random(seed)
        self.serial = 0
        self.worker = ProcessGroup.start("worker")
        self.port = free_port()
        self.web = ProcessGroup.start("web", "--port", str(self.port))
        _, key = ApiToken.objects.issue(two, "chaos", ["read", "write", "ask"])
        self.client = httpx.Client(
            base_url=f"http://127.0.0.1:{self.port}",
            headers={"Authorization": f"Bearer {key}"},
            timeout=60,
            limits=httpx.Limits(keepalive_expiry=1),  # before the server closes it under a request
        )

    def upload(self, owner: User | None = None, pages: int = 0, serial: int = 0) -> Document:
        """Store a unique document; the same ``serial`` gives the same content."""
        self.serial += 1
        pdf = sample_pdf(serial or 1000 + self.serial, pages or self.pages)
        return store_upload(owner or self.one, ContentFile(pdf), f"chaos {serial or self.serial}.pdf")

    def wait(self, condition: Callable[[], object], what: str, patience: float = PATIENCE) -> float:
        """Return the seconds until the condition holds; tolerate an unreachable database. Raises Broken.

        ``patience``: seconds on an idle machine.
        """
        begun = time.monotonic()
        while True:
            try:
                if condition():
                    return time.monotonic() - begun
            except DatabaseError:
                connection.close()
            if time.monotonic() - begun > patience * slowdown():
                raise Broken(what)
            time.sleep(0.05)

    def wait_until_whole(self) -> None:
        """Wait until the web server answers and the queue's heartbeat is that of a whole cluster."""
        Worker.objects.all().delete()
        self.wait(lambda: Worker.objects.alive().exists(), "the queue never became whole")
        self.wait(self.web_answers, "the web server never answered")

    def warm_up(self, pages: int) -> None:
        """Wait until every worker process has ingested documents, and so has loaded its modules."""
        self.wait_until_whole()
        for _ in range(3):
            at_once = range(2 * settings.Q_CLUSTER["workers"])
            self.wait_until_ready(*(self.upload(self.two, pages) for _ in at_once))

    def web_answers(self) -> bool:
        try:
            return self.client.get("/healthz").status_code == 200
        except httpx.TransportError:
            return False

    def wait_until_ready(self, *documents: Document, patience: float = PATIENCE) -> float:
        keys = [document.pk for document in documents]
        ready = Document.objects.filter(pk__in=keys, status=Document.Status.READY)
        return self.wait(lambda: ready.count() == len(keys), "not all documents became ready", patience)

    def busy_process(self, document: Document) -> int:
        """Return the process that holds the document's lease, once there is one."""
        held = Document.objects.filter(pk=document.pk, lease__isnull=False)
        self.wait(held.exists, "nobody took the document")
        return int(held.values_list("lease_holder", flat=True)[0].split(":")[-1])

    def member(self, name: str) -> psutil.Process:
        """Return a process of the idle cluster by its role."""
        (cluster,) = children(self.worker.process.pid)
        (sentinel,) = children(cluster.pid)
        own = sorted(children(sentinel.pid), key=lambda process: process.pid)
        workers = settings.Q_CLUSTER["workers"]
        places = {"worker": 0, "monitor": workers, "pusher": workers + 1}
        return sentinel if name == "sentinel" else own[places[name]]


def rows_of(document: Document) -> dict[str, tuple[int, str]]:
    """Return the number of a document's rows of each kind, and a checksum of their content."""
    return {model._meta.label: _checksum(model, path, document) for model, path in CONTENT.items()}


def _checksum(model: type[models.Model], path: str, document: Document) -> tuple[int, str]:
    names = [
        field.attname
        for field in model._meta.concrete_fields
        if not field.is_relation and field.attname not in PER_COPY
    ]
    manager: Any = model._default_manager
    rows = sorted(repr(row) for row in manager.filter(**{path: document.pk}).values_list(*names))
    return len(rows), hashlib.sha256("\n".join(rows).encode()).hexdigest()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def installation(pages: int, seed: int) -> Iterator[Installation]:
    one, two = (User.objects.get_or_create(username=name)[0] for name in USERS)
    clear(one, two)
    chaos = Installation(one, two, pages, seed)
    try:
        yield chaos
    finally:
        chaos.worker.stop(30)
        chaos.web.stop(30)
        clear(one, two)


def clear(*owners: User) -> None:
    for document in Document.objects.filter(owner__in=owners):
        delete_document(document)


# A scripted model server with OpenAI's API: it records what it embeds, and answers slowly.

WORDS = [f"word{number} " for number in range(30)]  # one answer
SECONDS_A_WORD = 0.1
DIMENSIONS = 8
SEARCH = "You help a search engine"  # how our own prompts to widen a search begin


class ScriptedProvider(ThreadingHTTPServer):
    """A model server with OpenAI's API. ``embedded`` are the texts it embedded; answers wait until ``speaks``
    is set.
    """

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self) -> None:
        url = urlsplit(settings.COMPATIBLE_BASE_URL)
        super().__init__((str(url.hostname), int(url.port or 80)), ProviderRequestHandler)
        self.embedded: list[str] = []
        self.speaks = threading.Event()
        self.speaks.set()


class ProviderRequestHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.0"  # the end of the connection is the end of the answer
    server: ScriptedProvider

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path.endswith("/embeddings"):
            self.embed(body["input"])
        else:
            with suppress(ConnectionError):  # of a process that was killed
                self.chat([] if SEARCH in json.dumps(body) else WORDS)

    def embed(self, texts: list[str]) -> None:
        self.server.embedded.extend(texts)
        data = [
            {"object": "embedding", "index": index, "embedding": [1.0 + len(text), *range(1, DIMENSIONS)]}
            for index, text in enumerate(texts)
        ]
        self.begin("application/json")
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        answer = {"object": "list", "model": "billing", "data": data, "usage": usage}
        self.wfile.write(json.dumps(answer).encode())

    def chat(self, words: list[str]) -> None:
        self.begin("text/event-stream")
        self.server.speaks.wait()
        for word in words:
            self.piece({"content": word})
            time.sleep(SECONDS_A_WORD)
        self.piece({}, "stop")
        self.wfile.write(b"data: [DONE]\n\n")

    def piece(self, delta: dict[str, str], finish: str | None = None) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        chunk = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "slow"}
        self.wfile.write(f"data: {json.dumps(chunk | {'choices': [choice]})}\n\n".encode())

    def begin(self, content_type: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", content_type)
        self.end_headers()

    def log_message(self, format: str, *arguments: object) -> None:
        pass


@contextmanager
def scripted_provider() -> Iterator[ScriptedProvider]:
    with ScriptedProvider() as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        try:
            yield server
        finally:
            server.shutdown()


USER = "bench-read"
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update")
START_SECONDS = 60


def new_tab(browser: Browser, address: str) -> BrowserPage:
    """Return a browser context with an empty cache."""
    client = Client()
    client.force_login(User.objects.get(username=USER), "django.contrib.auth.backends.ModelBackend")
    session = client.cookies[settings.SESSION_COOKIE_NAME].value
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": address}])
    return context.new_page()


@contextmanager
def chromium() -> Iterator[Browser]:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise CommandError("Playwright is missing: pip install playwright.") from None
    found = shutil.which("chromium") or shutil.which("google-chrome")
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"  # Playwright keeps an event loop in this thread
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=list(FLAGS))
        yield browser
        browser.close()


@contextmanager
def ingested(path: Path) -> Iterator[Document]:
    """Store the file as a document of a temporary owner; delete both afterwards. Raises CommandError."""
    owner, _made = User.objects.get_or_create(username=USER)
    with path.open("rb") as file:
        document = store_upload(owner, File(file), path.name, queued=False)
    try:
        ingest_document(document.pk)
        document.refresh_from_db()
        if document.indexed_at is None:  # its pictures and scanned pages may be recognised later
            raise CommandError(f"{path}: {document.failure_message}")
        yield document
    finally:
        delete_document(document)
        with suppress(User.DoesNotExist):
            User.objects.get(username=USER).delete()


@contextmanager
def server() -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    arguments = ["-m", "uvicorn", "config.asgi:application", "--port", str(port), "--log-level", "error"]
    process = subprocess.Popen([sys.executable, "-W", "ignore", *arguments], cwd=settings.BASE_DIR)
    try:
        address = f"http://127.0.0.1:{port}"
        wait_for(f"{address}/account/sign-in/")
        yield address
    finally:
        process.terminate()
        process.wait(20)


def wait_for(url: str) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        with suppress(OSError), urlopen(url, timeout=2):
            return
        time.sleep(0.2)
    raise CommandError(f"{url} did not answer.")
