"""Hostile PDFs in the reader: no script runs, no dialog opens, no other host is asked for anything."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Dialog, Page, Request, expect

from tests.browser.conftest import READY_MS, WAIT_MS, sign_in
from tests.browser.hostile_sheets import trap
from tests.browser.site import Site

CORPUS = (
    "synthetic/fontmatrix_string_cve_2024_4367.pdf",
    "synthetic/polyglot_html_pdf.pdf",
    "synthetic/inj_metadata.pdf",
    "synthetic/inj_annotation.pdf",
    "synthetic/embedded_file_traversal.pdf",
)
MOST_PAYLOADS = 6
# What a script in a PDF could change in the page if it ran.
LOOKED_FOR = """() => ({
  trapped: "trapped" in globalThis,
  scripts: [...document.scripts].filter((script) => !script.src && script.type !== "application/json").length,
  links: [...document.querySelectorAll("[href], [src], [action]")]
    .flatMap((element) => ["href", "src", "action"].map((name) => element.getAttribute(name) ?? ""))
    .filter((target) => /^\\s*(javascript|vbscript|data:text)/i.test(target)),
})"""


@dataclass(slots=True)
class Watched:
    """A tab, and the forbidden events in it: scripts, dialogs, requests to other hosts."""

    page: Page
    dialogs: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)


@pytest.fixture
def context(chromium: Browser, site: Site) -> Iterator[BrowserContext]:
    """Alice in a context of its own, whose every request and dialog is seen."""
    context = chromium.new_context(viewport={"width": 1280, "height": 860}, reduced_motion="reduce")
    context.set_default_timeout(WAIT_MS)
    yield context
    context.close()


@pytest.fixture
def watched(context: BrowserContext, site: Site) -> Watched:
    seen = Watched(context.new_page())

    def dismiss(dialog: Dialog) -> None:
        seen.dialogs.append(dialog.message)
        dialog.dismiss()

    def note(request: Request) -> None:
        if not request.url.startswith((site.address, "blob:", "data:")):
            seen.foreign.append(request.url)

    sign_in(seen.page, site)
    seen.page.on("dialog", dismiss)
    context.on("request", note)
    return seen


def upload(page: Page, site: Site, file: Path) -> str:
    """The reader's path once the file was read, or could not be."""
    page.goto(site.url("/"))
    with page.expect_response("**/documents/upload/") as answer:
        page.locator("[data-upload-input]").first.set_input_files(file)
    found = re.search(r'data-document="([^"]+)"', answer.value.text())
    if not found:
        return ""  # refused, so there is nothing to open
    done = f'[data-document="{found[1]}"]:is([data-status=ready], [data-status=failed])'
    page.locator(done).wait_for(timeout=READY_MS)
    return f"/documents/{found[1]}/"


def look_around(page: Page, address: str) -> None:
    """Opens the reader, and everything in it that shows words of the document."""
    page.goto(address)
    page.locator("[data-opening-note]").wait_for(state="detached")
    page.locator(".page[data-loaded] canvas").first.wait_for(state="attached")
    page.get_by_label("Your question").wait_for()
    page.get_by_role("button", name="Contents and pages").click()
    for tab in ("Figures", "Contents", "Search", "Notes", "Passages"):
        page.get_by_role("tab", name=tab).click()
        page.locator(
            f"#{page.get_by_role('tab', name=tab).get_attribute('aria-controls')} > *"
        ).first.wait_for()
    page.locator("[data-pages]").focus()
    page.keyboard.press("]")
    page.keyboard.press("[")


def assert_nothing_happened(watched: Watched, name: str) -> None:
    found = watched.page.evaluate(LOOKED_FOR)
    assert (name, found) == (name, {"trapped": False, "scripts": 0, "links": []})
    assert (name, watched.dialogs, watched.foreign) == (name, [], [])


def test_a_pdf_full_of_traps_is_read_and_none_goes_off(watched: Watched, site: Site, tmp_path: Path) -> None:
    file = tmp_path / "trap.pdf"
    file.write_bytes(trap())
    reader = upload(watched.page, site, file)
    look_around(watched.page, site.url(reader))
    expect(watched.page.locator("#contents")).to_contain_text("onerror=")  # shown as words
    expect(watched.page.locator(".annotationLayer input")).to_have_count(0)  # forms are pictures
    assert_nothing_happened(watched, file.name)


@pytest.mark.slow
def test_the_worst_of_the_corpus_do_nothing_either(watched: Watched, site: Site, corpus: Path) -> None:
    payloads = sorted((corpus / "robust/luigigubello+PayloadsAllThePDFs/pdf-payloads").glob("*.pdf"))
    files = [corpus / "robust" / name for name in CORPUS] + payloads[:MOST_PAYLOADS]
    opened = 0
    for file in files:
        reader = upload(watched.page, site, file)
        if not reader:
            continue
        watched.page.goto(site.url(reader))
        note = watched.page.locator("[data-opening-note]")
        watched.page.locator(".page[data-loaded] canvas, [data-opening-note][role=alert]").first.wait_for()
        opened += note.count() == 0
        assert_nothing_happened(watched, file.name)
    assert opened >= len(CORPUS) - 1
