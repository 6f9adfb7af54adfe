"""The reader on a slow line."""

from __future__ import annotations

import random
from typing import Any

import pymupdf
import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Upload
from tests.browser.sheets import report
from tests.browser.site import Site
from tests.browser.slow_line import slow_line

pytestmark = pytest.mark.slow

PAGES = 36
LINE = 60 * 1024  # bytes a second: half of the file takes a minute


def scans() -> bytes:
    """Return a PDF whose pages have some 200 KB of noise, which cannot be compressed."""
    noise = random.Random(6)
    with pymupdf.open() as pdf:
        for _ in range(PAGES):
            page = pdf.new_page()
            page.insert_text((72, 72), "A scanned page.")
            picture = pymupdf.Pixmap(pymupdf.csRGB, 256, 256, noise.randbytes(256 * 256 * 3), False)
            page.insert_image(pymupdf.Rect(72, 100, 328, 356), pixmap=picture)
        return pdf.tobytes(garbage=3, deflate=True, use_objstms=1)


def test_the_first_page_is_shown_before_most_of_the_file_has_come(
    page: Page, upload: Upload, site: Site
) -> None:
    pdf = scans()
    path = upload(pdf, "Scans.pdf")
    other = upload(report(), "Not scanned.pdf")
    with slow_line(site.address) as line:
        page.goto(line.address + other)  # the browser caches the files that all readers share
        page.locator(".textLayer span").first.wait_for()
        received = bytes_of_files(page)
        line.rate = LINE
        page.goto(line.address + path, wait_until="commit")
        expect(page.locator(".textLayer span").first).to_contain_text("A scanned page.")
        assert 0 < sum(received.values()) < len(pdf) / 2
        page.goto("about:blank")  # no request is running when the connection is closed


def bytes_of_files(page: Page) -> dict[str, int]:
    """Return a dict that counts, from now on, the bytes of each request for a document's file."""
    received: dict[str, int] = {}

    def begins(request: dict[str, Any]) -> None:
        if request["request"]["url"].endswith("/file"):
            received[request["requestId"]] = 0

    def comes(part: dict[str, Any]) -> None:
        if part["requestId"] in received:
            received[part["requestId"]] += part["dataLength"]

    devtools = page.context.new_cdp_session(page)
    devtools.on("Network.requestWillBeSent", begins)
    devtools.on("Network.dataReceived", comes)
    devtools.send("Network.enable")
    return received
