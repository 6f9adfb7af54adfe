"""The reader on a slow line."""

from __future__ import annotations

import random

import pymupdf
from playwright.sync_api import Page, expect

from tests.browser.conftest import Upload
from tests.browser.site import Site

PAGES = 12
LINE = 300 * 1024  # bytes a second


def scans() -> bytes:
    """Pages of some 200 KB that no compression makes shorter, their tree in one place as in most files."""
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
    page.goto(site.url("/account/"))
    line = page.context.new_cdp_session(page)
    line.send("Network.enable")
    line.send("Network.clearBrowserCache")
    page.goto(site.url("/search/"))  # what pages have in common
    received: dict[str, int] = {}
    line.on(
        "Network.requestWillBeSent",
        lambda sent: sent["request"]["url"].endswith("/file") and received.setdefault(sent["requestId"], 0),
    )
    line.on(
        "Network.dataReceived",
        lambda part: (
            part["requestId"] in received
            and received.update({part["requestId"]: received[part["requestId"]] + part["dataLength"]})
        ),
    )
    line.send(
        "Network.emulateNetworkConditions",
        {"offline": False, "latency": 20, "downloadThroughput": LINE, "uploadThroughput": LINE},
    )
    page.goto(site.url(path))
    expect(page.locator(".textLayer span").first).to_contain_text("A scanned page.")
    assert 0 < sum(received.values()) < len(pdf) / 2
    line.detach()
