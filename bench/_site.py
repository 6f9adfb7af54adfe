"""The product as a browser sees it, for measures in real Chromium: a server, a browser, a signed-in tab."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.request import urlopen

from django.conf import settings
from django.contrib.auth.models import User
from django.core.files import File
from django.core.management.base import CommandError
from django.test import Client

from documents.files.uploads import store_upload
from documents.ingestion.pipeline import ingest_document
from documents.library.trash import delete_document
from documents.models import Document

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

USER = "bench-read"
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update")
START_SECONDS = 60


def new_tab(browser: Browser, address: str) -> Page:
    """A context of its own: nothing is in its cache."""
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
def taken_in(path: Path) -> Iterator[Document]:
    """The file as a document of an owner of its own; both are removed afterwards. Raises CommandError."""
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
