"""The reader of a document that is still being read, or has no pages to show."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from playwright.sync_api import BrowserContext, Page, expect

from documents.models import Document
from tests.browser.conftest import Upload, committed
from tests.browser.sheets import report
from tests.browser.site import Site


@pytest.mark.slow
def test_how_far_a_document_is_read_is_said_until_it_can_be_asked(
    page: Page, upload: Upload, site: Site
) -> None:
    path = upload(report(), "Being_read.pdf")
    row = Document.objects.filter(pk=path.split("/")[2])
    soon = timezone.now() + timedelta(hours=1)  # no worker takes it up meanwhile
    held = {"lease": uuid4(), "lease_expires_at": soon, "indexed_at": None}
    committed(lambda: row.update(status="parsing", progress=0.5, page_count=8, **held))
    page.goto(site.url(path))
    expect(page.locator(".reading-state")).to_contain_text("Page 4 of 8 read")
    expect(page.get_by_text("You can ask about this document as soon as it has been read.")).to_be_visible()
    expect(page.get_by_label("Your question")).to_have_count(0)
    committed(lambda: row.update(status="ready", indexed_at=timezone.now(), lease=None))
    expect(page.get_by_label("Your question")).to_be_visible()
    expect(page.locator(".reading-state")).to_have_count(0)


def test_a_paper_without_its_pdf_shows_its_abstract_and_how_to_add_it(page: Page, site: Site) -> None:
    paper = Document(kind="paper", title="Of foxes", abstract="They are brown.", status="ready")

    def store() -> None:
        paper.owner = User.objects.get(username="alice")
        paper.save()

    committed(store)
    page.goto(site.url(f"/documents/{paper.pk}/"))
    expect(page.locator(".sheets")).to_contain_text("They are brown.")
    page.get_by_role("link", name="Add its PDF").click()
    expect(page.get_by_role("button", name="Add PDF")).to_be_visible()


@pytest.mark.slow
def test_a_file_that_does_not_open_can_be_tried_again(
    signed_in: BrowserContext, upload: Upload, site: Site
) -> None:
    path = upload(report(), "Broken.pdf")
    page = signed_in.new_page()  # its console errors are expected here
    page.route("**/file", lambda route: route.fulfill(body=b"%PDF-1.7 cut", content_type="application/pdf"))
    page.goto(site.url(path))
    expect(page.get_by_role("heading", name="This PDF could not be opened here")).to_be_visible()
    page.unroute("**/file")
    page.get_by_role("link", name="Try again").click()
    expect(page.locator(".page[data-loaded]").first).to_be_visible()
    page.close()


def test_a_document_can_be_asked_while_its_scanned_pages_are_read(
    page: Page, upload: Upload, site: Site
) -> None:
    path = upload(report(), "Half_scanned.pdf")
    row = Document.objects.filter(pk=path.split("/")[2])
    soon = timezone.now() + timedelta(hours=1)  # no worker takes it up meanwhile
    held = {"lease": uuid4(), "lease_expires_at": soon}
    committed(lambda: row.update(status="recognising", progress=0.4, page_count=35, pages_waiting=23, **held))
    page.goto(site.url(path))
    expect(page.locator(".reading-state")).to_contain_text("12 of 35 pages read")
    expect(page.get_by_label("Your question")).to_be_visible()
    with page.expect_request(lambda sent: "/state/?page=" in sent.url):
        pass  # what it shows is read before the rest
    page.goto(site.url("/"))
    progress = page.locator(".doc-progress").filter(has_text="12 of 35 pages read")
    expect(progress).to_be_visible()
    committed(lambda: row.update(status="ready", pages_waiting=0, lease=None))
    expect(progress).to_have_count(0)
