"""What is done with a document or a conversation without leaving the list it stands in."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from playwright.sync_api import APIResponse, Locator, Page, Route, expect

from documents.models import Document
from tests.browser.conftest import READY_MS, Upload, committed, wait_until
from tests.browser.dropping import drag, drop
from tests.browser.sheets import report
from tests.browser.site import Site

# Like a worker's lease, so that no worker takes it.
BEING_READ = {
    "status": "parsing",
    "lease": uuid4(),
    "lease_expires_at": timezone.now() + timedelta(hours=1),
}


def ask_menu(page: Page, action: str, text: str) -> None:
    """Choose an entry of the first card's menu and type ``text`` in its dialog."""
    page.locator(".doc").first.hover()
    page.locator(".doc").first.get_by_role("button", name="Actions for").click()
    page.get_by_role("button", name=action, exact=True).click()
    page.locator("#ask input").fill(text)
    page.locator("#ask").get_by_role("button", name=action, exact=True).click()
    expect(page.locator("#ask")).to_be_hidden()


def add_to_collection(page: Page, collection: str) -> Locator:
    """Put the first card into a new collection; return the collection's entry in the sidebar."""
    ask_menu(page, "Add to collection", collection)
    place = page.locator("[data-drop=collection]", has_text=collection)
    expect(place).to_contain_text("1")
    return place


@pytest.mark.slow
def test_a_document_is_renamed_collected_and_dragged_and_the_sidebar_follows(
    page: Page, site: Site, upload: Upload
) -> None:
    upload(report(), "Collected.pdf")
    page.goto(site.url("/"))
    ask_menu(page, "Rename", "Named anew")
    expect(page.locator(".doc-title").first).to_have_text("Named anew")
    ask_menu(page, "Tag", "audit")
    expect(page.locator(".doc").first.locator(".chip")).to_have_text("audit")
    expect(page.locator("[data-drop=tag]", has_text="audit")).to_have_count(1)
    entry = add_to_collection(page, "Yearly")
    upload(report(), "Dragged.pdf")
    drag(page, page.locator(".doc").first, entry)
    expect(entry).to_contain_text("2")


@pytest.mark.slow
def test_a_card_that_changes_while_it_is_dragged_is_put_where_it_is_dropped(
    page: Page, site: Site, upload: Upload
) -> None:
    upload(report(), "Stays behind.pdf")
    page.goto(site.url("/"))
    entry = add_to_collection(page, "Busy")
    path = upload(report(), "Changes.pdf")
    rename = f"htmx.ajax('POST', '{path}rename/', {{swap: 'none', values: {{title: 'Changed'}}}})"
    drag(page, page.locator(".doc").first, entry, meanwhile=lambda: page.evaluate(rename))
    expect(entry).to_contain_text("2")
    expect(page.locator(".doc-title").first).to_have_text("Changed")


@pytest.mark.slow
def test_the_sidebar_shows_changes_made_while_it_is_loaded(page: Page, site: Site, upload: Upload) -> None:
    upload(report(), "On the move.pdf")
    page.goto(site.url("/"))
    held: list[tuple[Route, APIResponse]] = []
    page.route(site.url("/"), lambda route: held.append((route, route.fetch())), times=1)
    ask_menu(page, "Tag", "slowly")
    wait_until(page, lambda: bool(held))
    ask_menu(page, "Tag", "at last")
    route, answer = held[0]
    route.fulfill(response=answer)
    expect(page.locator("[data-drop=tag]", has_text="at last")).to_have_count(1)


@pytest.mark.slow
def test_the_menu_of_a_card_goes_by_keyboard(page: Page, site: Site, upload: Upload) -> None:
    upload(report(), "By key.pdf")
    page.goto(site.url("/"))
    card = page.locator(".doc").first
    card.get_by_role("button", name="Actions for").focus()
    page.keyboard.press("Enter")
    expect(card.get_by_role("link", name="Open", exact=True)).to_be_focused()
    last = card.get_by_role("button", name="Delete", exact=True)
    expect(last).to_be_visible()
    page.keyboard.press("ArrowUp")
    expect(last).to_be_focused()
    page.keyboard.press("Escape")
    expect(card.get_by_role("button", name="Actions for")).to_be_focused()
    expect(last).to_be_hidden()


@pytest.mark.slow
def test_the_dialog_gives_the_focus_back_to_the_card_it_was_asked_from(
    page: Page, site: Site, upload: Upload
) -> None:
    upload(report(), "Renamed by key.pdf")
    page.goto(site.url("/"))
    card = page.locator(".doc").first
    actions = card.get_by_role("button", name="Actions for")

    def open_dialog() -> None:
        actions.focus()
        page.keyboard.press("Enter")
        card.get_by_role("button", name="Rename", exact=True).press("Enter")
        expect(page.locator("#ask input")).to_be_focused()

    open_dialog()
    page.keyboard.press("Escape")
    expect(actions).to_be_focused()
    open_dialog()
    page.keyboard.type("Named by key")
    page.keyboard.press("Enter")
    expect(card.locator(".doc-title")).to_have_text("Named by key")
    expect(actions).to_be_focused()


def folder_of_papers(tmp_path: Path, subject: str) -> Path:
    """Two that can be read, one of them a folder deeper, and one that cannot."""
    folder = tmp_path / "papers"
    (folder / "more").mkdir(parents=True)
    (folder / f"{subject} in spring.txt").write_text(
        f"{subject} were counted in the northern barns in spring."
    )
    (folder / "more" / f"{subject} in autumn.md").write_text(
        f"# {subject}\n\nThey were counted in autumn, too."
    )
    (folder / "program.exe").write_bytes(b"MZ")
    return folder


def expect_papers(page: Page, subject: str, before: int) -> None:
    expect(page.locator(".doc")).to_have_count(before + 2)
    expect(page.locator(".doc[data-status=ready]", has_text=subject)).to_have_count(2, timeout=READY_MS)
    expect(page.locator(".upload-row")).to_have_count(0)


@pytest.mark.slow
def test_of_a_chosen_folder_only_what_can_be_read_is_added(page: Page, site: Site, tmp_path: Path) -> None:
    page.goto(site.url("/"))
    before = page.locator(".doc").count()
    folder = folder_of_papers(tmp_path, "Owls")
    page.locator("[data-upload-input][webkitdirectory]").set_input_files(folder)
    expect_papers(page, "Owls", before)


@pytest.mark.slow
def test_of_a_dropped_folder_only_what_can_be_read_is_added(page: Page, site: Site, tmp_path: Path) -> None:
    page.goto(site.url("/"))
    before = page.locator(".doc").count()
    drop(page, folder_of_papers(tmp_path, "Voles"))
    expect_papers(page, "Voles", before)


@pytest.mark.slow
def test_an_address_becomes_a_card_that_says_what_became_of_it(page: Page, site: Site) -> None:
    page.goto(site.url("/"))
    page.get_by_role("button", name="Other ways to add").click()
    page.locator("#add-menu").get_by_role("button", name="From the web").click()
    page.locator("#ask input").fill("http://127.0.0.1:9/report.pdf")
    page.keyboard.press("Enter")
    expect(page.locator("#ask [role=alert]")).to_contain_text("cannot be reached, or is not allowed")
    page.locator("#ask input").fill("http://reports.invalid/Report.pdf")
    page.keyboard.press("Enter")
    expect(page.locator("#ask")).to_be_hidden()
    card = page.locator(".doc").first
    expect(card).to_have_attribute("data-status", "failed", timeout=READY_MS)
    expect(card.locator(".doc-failure")).to_contain_text("address")


@pytest.mark.slow
def test_a_deleted_document_comes_back_with_undo(page: Page, site: Site, upload: Upload) -> None:
    upload(report(), "Undone.pdf")
    page.goto(site.url("/"))
    before = page.locator(".doc").count()
    page.locator(".doc").first.get_by_role("button", name="Actions for").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.locator(".doc")).to_have_count(before - 1)
    page.locator(".toast").get_by_role("button", name="Undo").click()
    expect(page.locator(".doc")).to_have_count(before)


@pytest.mark.slow
def test_the_layout_that_was_chosen_is_remembered(page: Page, site: Site) -> None:
    page.goto(site.url("/"))
    page.get_by_role("link", name="As a list").click()
    page.goto(site.url("/"))
    expect(page.locator(".cards-list")).to_have_count(1)
    page.get_by_role("link", name="As a grid").click()
    page.goto(site.url("/"))
    expect(page.locator(".cards-list")).to_have_count(0)


@pytest.mark.slow
def test_a_deleted_note_comes_back_with_undo(page: Page, site: Site) -> None:
    page.goto(site.url("/notes/"))
    page.get_by_role("button", name="New note").click()
    page.goto(site.url("/notes/"))
    rows = page.locator(".row-item")
    before = rows.count()
    rows.first.get_by_role("button", name="Delete").click()
    expect(rows).to_have_count(before - 1)
    page.locator(".toast").get_by_role("button", name="Undo").click()
    page.goto(site.url("/notes/"))
    expect(rows).to_have_count(before)


@pytest.mark.slow
def test_g_and_a_letter_lead_to_other_pages(page: Page, site: Site) -> None:
    page.goto(site.url("/notes/"))
    page.keyboard.press("g")
    page.keyboard.press("c")
    page.get_by_role("heading", level=1, name="Conversations").wait_for()
    page.keyboard.press("g")
    page.keyboard.press("l")
    page.get_by_role("heading", level=1, name="Library").wait_for()


def test_the_library_is_filtered_while_one_types(page: Page, site: Site, upload: Upload) -> None:
    name = f"otters {uuid4().hex[:6]}"  # a second run finds the document of the first
    upload(report(), f"{name}.pdf")
    page.goto(site.url("/"))
    ask_menu(page, "Rename", f"{name.title()} in rivers")
    field = page.get_by_role("searchbox")
    field.press_sequentially(f"{name} in riv")
    expect(page.locator(".doc")).to_have_count(1)
    expect(page.locator("#library-title")).to_contain_text("1")
    expect(field).to_be_focused()
    field.press_sequentially("alry")
    expect(page.get_by_text("No documents match.")).to_be_visible()
    field.fill(f"{name} in")
    expect(page.locator(".doc")).to_have_count(1)
    expect(page.get_by_text("No documents match.")).to_have_count(0)


@pytest.mark.slow
def test_who_types_on_while_the_library_is_filtered_is_told_of_no_lost_connection(
    page: Page, site: Site, upload: Upload
) -> None:
    upload(report(), "Beavers.pdf")
    page.goto(site.url("/"))
    ask_menu(page, "Rename", "Beavers at work")
    field = page.get_by_role("searchbox")
    held: list[Route] = []
    page.route("**/?*q=*", lambda route: held.append(route), times=1)
    field.press_sequentially("beavers")
    expect(page.locator(".htmx-request")).not_to_have_count(0)
    field.press_sequentially(" at no work")
    page.wait_for_timeout(600)  # longer than the delay between typing and the request
    held[0].continue_()
    expect(page.get_by_text("No documents match.")).to_be_visible()
    expect(page.locator(".toast")).to_have_count(0)


@pytest.mark.slow
def test_a_card_that_was_filtered_away_is_not_missed_when_its_progress_comes(
    page: Page, site: Site, upload: Upload
) -> None:
    row = Document.objects.filter(pk=upload(report(), "Long read.pdf").split("/")[2])
    committed(lambda: row.update(**BEING_READ))
    held: list[Route] = []
    page.route("**/documents/cards/?*", lambda route: held.append(route), times=1)
    page.goto(site.url("/"))
    wait_until(page, lambda: bool(held))
    page.get_by_role("searchbox").fill("nothing of that name")
    expect(page.get_by_text("No documents match.")).to_be_visible()
    held[0].continue_()
    page.wait_for_load_state("networkidle")
    committed(lambda: row.update(status="ready", lease=None))
    page.get_by_role("searchbox").fill("")
    expect(page.locator(".doc").first).to_have_attribute("data-status", "ready")


@pytest.mark.slow
def test_the_details_offer_to_read_again_once_the_reading_is_over(
    page: Page, site: Site, upload: Upload
) -> None:
    path = upload(report(), "Read twice.pdf")
    row = Document.objects.filter(pk=path.split("/")[2])
    page.goto(site.url(path + "details/"))
    before = row.get().indexed_at
    again = page.get_by_role("button", name="Re-process")
    again.click()
    wait_until(page, row.filter(status="ready").exclude(indexed_at=before).exists)
    committed(lambda: row.update(**BEING_READ))
    page.reload()
    expect(page.locator("#facts progress")).to_be_visible()
    expect(again).to_have_count(0)
    committed(lambda: row.update(status="ready", lease=None))
    expect(again).to_be_visible()
    expect(page.locator("#facts progress")).to_have_count(0)


@pytest.mark.slow
def test_a_list_says_that_it_is_empty_once_its_last_line_is_deleted(page: Page, site: Site) -> None:
    page.goto(site.url("/notes/"))
    page.get_by_role("button", name="New note").click()
    page.get_by_role("textbox", name="Title").fill("Zebras only")
    expect(page.locator("[data-note-state]")).to_have_text("Saved")
    page.goto(site.url("/notes/?q=zebras"))
    expect(page.get_by_role("heading", name="No notes here")).to_be_hidden()
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("heading", name="No notes here")).to_be_visible()


@pytest.fixture
def scrolled(site: Site) -> Iterator[None]:
    """A library with 110 more documents, titled ``Scrolled 000`` to ``Scrolled 109``."""
    alice = User.objects.get(username="alice")
    rows = [
        Document(owner=alice, title=f"Scrolled {number:03}", status="ready", sha256=f"scrolled {number}")
        for number in range(110)
    ]
    committed(lambda: Document.objects.bulk_create(rows))
    yield
    committed(lambda: Document.objects.filter(title__startswith="Scrolled ").delete())


@pytest.mark.slow
@pytest.mark.usefixtures("scrolled")
def test_a_library_is_scrolled_to_its_end_and_comes_back_where_a_document_was_opened(
    page: Page, site: Site
) -> None:
    page.goto(site.url("/?q=Scrolled&order=title"))
    cards = page.locator(".doc")
    expect(cards.first).to_be_visible()
    for _ in range(3):
        page.mouse.wheel(0, 20_000)
        page.wait_for_timeout(300)
    expect(cards).to_have_count(110)
    titles = cards.locator(".doc-title").all_inner_texts()
    assert titles == [f"Scrolled {number:03}" for number in range(110)]
    expect(page.locator("#library-pages nav")).to_have_count(0)
    opened = cards.nth(60)
    opened.scroll_into_view_if_needed()
    opened.locator(".doc-title a").click()
    page.wait_for_url("**/documents/**")
    page.go_back()
    expect(page.locator(".doc-title", has_text="Scrolled 060")).to_be_in_viewport()


@pytest.mark.slow
@pytest.mark.usefixtures("scrolled")
def test_words_that_are_typed_while_further_cards_come_filter_all(page: Page, site: Site) -> None:
    held: list[Route] = []
    page.route("**/documents/further/**", lambda route: held.append(route), times=1)
    page.goto(site.url("/?q=Scrolled&order=title"))
    expect(page.locator(".doc")).to_have_count(48)
    page.mouse.wheel(0, 20_000)
    wait_until(page, lambda: bool(held))
    page.locator("[name=q]").evaluate(
        "box => { box.value = 'Scrolled 10'; box.dispatchEvent(new Event('input', { bubbles: true })); }"
    )
    page.wait_for_timeout(600)  # until the words are sent
    held[0].continue_()
    expect(page.locator(".doc")).to_have_count(11)  # 010, 100 to 109
    page.wait_for_timeout(600)  # long enough for a late response to arrive
    expect(page.locator(".doc")).to_have_count(11)
    expect(page.locator("[data-further]")).to_have_count(0)
