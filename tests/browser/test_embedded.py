"""The embedded reader in a page of another origin lights the words, sends no cookie, and ends."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import urlsplit

import httpx
import pytest
from django.contrib.auth.models import User
from playwright.sync_api import BrowserContext, Page, Request, expect

from agents.models import ReaderEmbed
from documents.models import ApiToken
from tests.browser.conftest import Upload, committed
from tests.browser.site import Site
from tests.drawing import draw_pdf
from tests.scripted_server import POLL_SECONDS


class OtherSite(BaseHTTPRequestHandler):
    """Every path is a page that frames the address in ``frame``."""

    frame = ""

    def do_GET(self) -> None:
        page = (
            f'<!doctype html><title>Wiki</title><iframe src="{self.frame}" width="900" height="700"></iframe>'
        )
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(page.encode())

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def others() -> Iterator[tuple[str, str]]:
    """Two origins of another site than the product's: it is 127.0.0.1, they are localhost."""
    servers = [HTTPServer(("127.0.0.1", 0), OtherSite) for _ in range(2)]
    for server in servers:
        threading.Thread(target=server.serve_forever, args=[POLL_SECONDS], daemon=True).start()
    yield tuple(f"http://localhost:{server.server_port}" for server in servers)  # type: ignore[misc]
    for server in servers:
        server.shutdown()
        server.server_close()


def token_of(name: str) -> str:
    keys: list[str] = []

    def issue() -> None:
        owner = User.objects.get(username=name)
        keys.append(ApiToken.objects.issue(owner, "embeds", ["read", "write"])[1])

    committed(issue)
    return keys[0]


def test_a_reader_in_another_site_lights_the_words_without_a_cookie(
    page: Page, signed_in: BrowserContext, site: Site, upload: Upload, others: tuple[str, str]
) -> None:
    path = upload(draw_pdf("The first page.", "Granite melts at 1215 degrees."), "granite.pdf")
    headers = {"Authorization": f"Bearer {token_of('alice')}"}
    sent = {"document": path.split("/")[2], "origins": [others[0]]}
    made = httpx.post(site.url("/api/embeds/"), json=sent, headers=headers).raise_for_status().json()
    assert urlsplit(made["url"]).netloc == urlsplit(site.address).netloc
    OtherSite.frame = f"{made['url']}?page=2&q=melts+at+1215+degrees"

    sent_to_us: list[Request] = []
    page.on("request", lambda request: request.url.startswith(site.address) and sent_to_us.append(request))
    page.goto(others[0])
    reader = page.frame_locator("iframe")
    words = reader.locator(".lit-anchor").first
    expect(words).to_be_visible()
    expect(words).not_to_have_css("background-color", "rgba(0, 0, 0, 0)")  # from another style sheet
    expect(reader.locator("[data-page-shown]")).to_have_text("2")
    expect(reader.locator(".page[data-page-number='2'] .textLayer")).to_contain_text("Granite melts")
    expect(reader.locator("[data-opening-note]")).to_have_count(0)
    if folder := os.environ.get("PINCITE_TEST_PICTURES"):
        page.wait_for_timeout(500)
        page.screenshot(path=f"{folder}/embedded.png")
    assert signed_in.cookies(site.address)  # Alice is signed in, but no cookie is sent
    assert any("/file" in request.url for request in sent_to_us)
    assert not [request.url for request in sent_to_us if "cookie" in request.all_headers()]

    # Another origin may not frame it, nor may this one frame anything else of the site.
    for origin, frame in ((others[1], OtherSite.frame), (others[0], site.url(path))):
        OtherSite.frame = frame
        tab = signed_in.new_page()
        with tab.expect_event("console", lambda said: "frame-ancestors" in said.text):
            tab.goto(origin)
        expect(tab.frame_locator("iframe").locator("[data-reader]")).to_have_count(0)
        tab.close()

    # The embedded reader is ended.
    committed(lambda: ReaderEmbed.objects.all().delete())
    assert httpx.get(made["url"]).status_code == httpx.get(f"{made['url']}file").status_code == 404
