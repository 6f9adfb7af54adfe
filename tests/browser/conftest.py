"""A browser, signed in to a site that really runs."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection, connections
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect, sync_playwright

from bench.highlights import WITHIN, Painted
from chat.models import TourEnd
from tests.browser.site import Site, running_site
from tests.chat.scripted_server import ScriptedServer, serving
from tests.conftest import delete_committed_rows, fail_if_anything_is_left
from tests.leftovers import Rows

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
]
PASSWORD = "correct horse battery"
WAIT_MS = 60_000  # until a page shows something, on a busy machine
READY_MS = 120_000  # until a document of some pages is ready
expect.set_options(timeout=WAIT_MS)

Upload = Callable[..., str]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.django_db)  # creates the database, rolls back unseen
            item.add_marker(pytest.mark.flaky(reruns=1))  # busy machine; the report lists reruns


@pytest.fixture(scope="package", autouse=True)
def nothing_left(django_db_blocker: Any, rows_now: Rows) -> Iterator[None]:
    """Check once after all browser tests, which share a site, instead of after each file."""
    with fail_if_anything_is_left("tests/browser", django_db_blocker, rows_now):
        yield


@pytest.fixture(scope="package")
def model() -> Iterator[ScriptedServer]:
    """A language model that a conversation may choose; a test writes down its ``replies``."""
    with serving() as server:
        yield server


@pytest.fixture(scope="package")
def site(
    django_db_setup: None,
    django_db_blocker,  # type: ignore[no-untyped-def]
    tmp_path_factory: pytest.TempPathFactory,
    model: ScriptedServer,
) -> Iterator[Site]:
    assert connection.settings_dict["NAME"].startswith("test_")  # everything in it is deleted at the end
    with django_db_blocker.unblock():
        TourEnd.objects.create(owner=User.objects.create_user("alice", password=PASSWORD))
        try:
            with running_site(
                tmp_path_factory.mktemp("site"),
                PINCITE_CHAT="extractive",
                PINCITE_COMPATIBLE_URL=f"{model.url}/v1",
                PINCITE_COMPATIBLE_MODEL="scripted",
            ) as site:
                yield site
        finally:
            delete_committed_rows()


@pytest.fixture(scope="package")
def chromium(site: Site) -> Iterator[Browser]:
    # Playwright's synchronous API keeps an event loop in this thread, in which Django would refuse its ORM.
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()
        connections.close_all()  # connections opened in this thread


@pytest.fixture(scope="package")
def signed_in(chromium: Browser, site: Site) -> Iterator[BrowserContext]:
    """Alice, signed in through the form."""
    context = chromium.new_context(viewport={"width": 1280, "height": 860}, reduced_motion="reduce")
    context.set_default_timeout(WAIT_MS)
    page = context.new_page()
    sign_in(page, site)
    page.close()
    yield context
    context.close()


def sign_in(page: Page, site: Site, name: str = "alice") -> None:
    page.goto(site.url("/account/sign-in/"))
    page.get_by_label("User name").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("heading", level=1, name="Library").wait_for()


@pytest.fixture
def page(signed_in: BrowserContext) -> Iterator[Page]:
    """A tab; the test fails if its console reports an error or a violation of the CSP."""
    tab = signed_in.new_page()
    complaints: list[str] = []
    tab.on("pageerror", lambda error: complaints.append(str(error)))
    tab.on("console", lambda said: is_complaint(said) and complaints.append(worded(said)))
    yield tab
    tab.close()
    assert complaints == []


def committed(action: Callable[[], object]) -> None:
    """Run this in a thread with its own connection and commit it, so that the server sees it."""

    def run() -> None:
        try:
            action()
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as thread:
        thread.submit(run).result()


def wait_until(page: Page, true: Callable[[], bool]) -> None:
    """Wait for a condition outside the page."""
    for _ in range(WAIT_MS // 50):
        if true():
            return
        page.wait_for_timeout(50)
    raise AssertionError("It never became true.")


def worded(said: ConsoleMessage) -> str:
    """Return a console message with its address."""
    return f"{said.text} {said.location.get('url', '')}".strip()


def is_complaint(said: ConsoleMessage) -> bool:
    """Return whether this is an error other than a refused upload or address, which the page itself shows."""
    refused = "status of 422" in said.text or "Status Error Code 422" in said.text
    return said.type == "error" and not refused


@pytest.fixture
def upload(page: Page, site: Site, tmp_path: Path) -> Upload:
    """``upload(pdf, "name.pdf")`` adds it to the library; the reader's path once it is ready."""

    def send(pdf: bytes, name: str) -> str:
        file = tmp_path / name
        file.write_bytes(pdf)
        page.goto(site.url("/"))
        with page.expect_response("**/documents/upload/") as answer:
            page.locator("[data-upload-input]").first.set_input_files(file)
        found = re.search(r'data-document="([^"]+)"', answer.value.text())
        assert found, answer.value.text()
        page.locator(f'[data-document="{found[1]}"][data-status=ready]').wait_for(timeout=READY_MS)
        return f"/documents/{found[1]}/"

    return send


def assert_covers_words(painted: Painted) -> None:
    lefts, tops, rights, bottoms = zip(*painted.rects, strict=True)
    for _, (x0, y0, x1, y1) in painted.words:
        assert min(lefts) - WITHIN <= x0 and x1 <= max(rights) + WITHIN
        assert min(tops) - WITHIN <= y0 and y1 <= max(bottoms) + WITHIN
