"""What a person does with an answer, and with the note it goes to."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urljoin

import psycopg
import pymupdf
import pytest
from playwright.sync_api import BrowserContext, Locator, Page, Route, expect

from chat.answers import question_commands
from chat.models import Citation, Conversation
from tests.browser.conftest import READY_MS, Upload, committed
from tests.browser.sheets import report
from tests.browser.site import Site, database_url

QUESTION = "What was the revenue of the northern division?"
HEADCOUNT = "What was the headcount of the southern office?"

Ask = Callable[[str], Locator]


@pytest.fixture(scope="module")
def uploaded() -> dict[str, str]:
    return {}


@pytest.fixture
def ask(page: Page, site: Site, upload: Upload, uploaded: dict[str, str]) -> Ask:
    """``ask(question)`` on a new conversation's page; its answer, complete."""
    if "path" not in uploaded:
        uploaded["path"] = upload(report(), "Regions.pdf")

    def send(question: str) -> Locator:
        page.goto(site.url("/conversations/new/"))
        page.get_by_label("Your question").fill(question)
        page.keyboard.press("Enter")
        return complete(page)

    return send


@pytest.fixture
def answer(ask: Ask) -> Locator:
    """An answer that rests on the second page."""
    found = ask(HEADCOUNT)
    expect(found).to_contain_text("1,842")
    return found


def complete(page: Page) -> Locator:
    answer = page.locator("[data-message]").last
    expect(answer).to_have_attribute("data-status", "complete", timeout=READY_MS)
    return answer


def answer_again(page: Page, answer: Locator) -> None:
    with page.expect_response("**/retry/"):
        answer.get_by_role("button", name="Answer again").click()
    expect(answer.locator(".htmx-request, .htmx-added")).to_have_count(0)


def conversation_of(page: Page) -> str:
    """The address of the conversation on its page."""
    return urljoin(page.url, f"/conversations/{page.locator('[name=conversation]').input_value()}/")


def menu(answer: Locator) -> None:
    answer.get_by_role("button", name="Save, export or share").click()


def test_a_question_on_a_page_of_its_own_is_answered_and_its_sources_fold(page: Page, ask: Ask) -> None:
    answer = ask(QUESTION)
    expect(answer).to_contain_text("4,711")
    expect(page.get_by_label("Your question")).to_have_value("")
    answer.get_by_role("button", name="Sources").click()
    expect(answer.locator(".sources")).to_contain_text("Found")
    answer.get_by_role("button", name="Sources").click()
    expect(answer.locator(".sources")).to_have_count(0)


@pytest.mark.slow
def test_a_citation_opens_at_its_words_on_a_phone_where_the_panel_is_shut(
    page: Page, site: Site, answer: Locator
) -> None:
    address = answer.locator("a[data-citation]").first.get_attribute("href")
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(site.url(str(address)))
    expect(page.locator(".lit-anchor").first).to_be_in_viewport()
    expect(page.locator("#panel")).to_be_hidden()


@pytest.mark.slow
def test_the_page_that_an_answer_cites_is_drawn_before_it_is_gone_to(
    page: Page, site: Site, upload: Upload
) -> None:
    with pymupdf.open() as manual:
        for number in range(1, 31):
            text = "The valve opens at 4,711 pascals." if number == 20 else "The pump has a handle."
            manual.new_page().insert_text((72, 100), f"{text} Page {number}.")
        path = upload(manual.tobytes(), "Pump.pdf")
    page.goto(site.url(f"{path}?page=1"))
    page.get_by_label("Your question").fill("At how many pascals does the valve open?")
    page.keyboard.press("Enter")
    expect(complete(page)).to_contain_text("4,711")
    far = page.locator('.page[data-page-number="20"]')
    expect(far.locator("canvas:not([hidden])")).to_have_count(1)
    expect(far).not_to_be_in_viewport()
    expect(page.locator('.page[data-page-number="10"] canvas')).to_have_count(0)


def test_a_second_question_goes_to_the_same_conversation_and_an_answer_is_written_anew(
    page: Page, ask: Ask
) -> None:
    ask(QUESTION)
    page.get_by_label("Your question").fill(HEADCOUNT)
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.locator("[data-message]")).to_have_count(2)
    answer = complete(page)
    expect(answer).to_contain_text("1,842")
    answer_again(page, answer)
    expect(page.locator("[data-message]")).to_have_count(2)
    expect(answer).to_have_attribute("data-status", "complete", timeout=READY_MS)
    expect(answer).to_contain_text("1,842")


def test_what_is_asked_in_another_tab_or_on_another_device_appears(page: Page, ask: Ask) -> None:
    ask(QUESTION)
    tab = page.context.new_page()
    tab.clock.install()
    tab.goto(conversation_of(page))
    tab.get_by_role("button", name="Sources").click()
    expect(tab.locator(".sources")).to_have_count(1)
    page.get_by_label("Your question").fill(HEADCOUNT)
    page.keyboard.press("Enter")
    expect(tab.locator("[data-message]")).to_have_count(2)
    expect(complete(tab)).to_contain_text("1,842")
    expect(tab.locator(".sources")).to_have_count(1)
    conversation = page.locator("[name=conversation]").input_value()
    committed(lambda: question_commands.ask(Conversation.objects.get(pk=conversation), QUESTION))
    tab.clock.fast_forward("00:21")
    expect(tab.locator("[data-message]")).to_have_count(3)
    expect(complete(tab)).to_contain_text("4,711")
    tab.close()


def test_hovering_a_citation_shows_its_words_its_place_and_the_verdict(page: Page, answer: Locator) -> None:
    answer.locator("a[data-citation]").first.hover()
    card = page.locator("#hover-card")
    expect(card).to_be_visible()
    expect(card).to_contain_text("Found")
    picture = card.locator("img")
    expect(picture).to_have_js_property("complete", value=True)
    assert picture.evaluate("image => image.naturalWidth") > 100
    card.get_by_role("button", name="Mark citation wrong").click()
    expect(page.locator(".toast")).to_contain_text("Marked as wrong")
    assert (
        Citation.objects.filter(feedback="wrong", message=answer.get_attribute("data-message")).count() == 1
    )


def test_an_answer_is_copied_with_its_references(page: Page, answer: Locator) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    answer.get_by_role("button", name="Copy with citations").click()
    expect(page.locator(".toast")).to_contain_text("Copied")
    copied = page.evaluate("() => navigator.clipboard.readText()")
    assert re.search(r"1,842 people in 2031\.\[\d\]", copied)
    assert re.search(r"^\[\d\] .*, p\. 2", copied, re.M)


def test_words_copied_by_hand_have_no_numbers_of_citations_in_them(page: Page, answer: Locator) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    cited = answer.locator("[data-block]", has=page.locator("a[data-citation]")).first
    cited.evaluate("(block) => getSelection().selectAllChildren(block)")
    page.keyboard.press("Control+c")
    copied = page.evaluate("() => navigator.clipboard.readText()")
    shown, numbers = cited.evaluate(
        "(block) => { const copy = block.cloneNode(true); const cites = [...copy.querySelectorAll('a.cite')];"
        " cites.forEach((cite) => cite.remove()); return [copy.textContent, cites.length]; }"
    )
    assert numbers and copied.split() == shown.split()


@pytest.mark.slow
def test_an_answer_is_saved_as_a_file(page: Page, answer: Locator, subtests: pytest.Subtests) -> None:
    for link, start in [
        ("Evidence", b"%PDF"),
        ("Word", b"PK"),
        ("Markdown", b"# What"),
        ("HTML", b"<!doctype"),
    ]:
        with subtests.test(link=link, start=start):
            menu(answer)
            with page.expect_download() as download:
                page.locator("form.menu:popover-open").get_by_role("button", name=link).click()
            saved = Path(download.value.path()).read_bytes()
            assert saved.startswith(start)
            if start == b"%PDF":
                assert any(page.first_annot for page in pymupdf.open(stream=saved))


def test_a_link_is_made_opened_by_a_stranger_and_revoked(page: Page, answer: Locator) -> None:
    menu(answer)
    page.get_by_role("button", name="Share by a link").click()
    link = page.locator(".share input").input_value()
    assert page.context.browser is not None
    stranger = page.context.browser.new_page()
    stranger.goto(link)
    expect(stranger.get_by_role("heading", level=1)).to_contain_text("southern office")
    expect(stranger.locator(".shared-sources img").first).to_be_visible()
    page.get_by_role("button", name="Revoke").click()
    expect(page.locator("[data-below]").last).to_contain_text("no longer works")
    refused = stranger.goto(link)
    assert refused is not None and refused.status == 404
    stranger.close()


@pytest.mark.slow
def test_the_menu_of_an_answer_goes_by_keyboard(page: Page, answer: Locator) -> None:
    answer.get_by_role("button", name="Save, export or share").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Add to a note")).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("button", name="Share by a link")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Share by a link")).to_be_hidden()


def test_an_answer_goes_to_a_note_where_its_citations_stay_live(page: Page, answer: Locator) -> None:
    conversation = conversation_of(page)
    menu(answer)
    page.get_by_role("button", name="Add to a note").click()
    page.locator(".toast a").click()
    expect(page.locator("[data-note-read]")).to_contain_text("1,842")
    page.locator("[data-note-read] a[data-citation]").first.hover()
    expect(page.locator("#hover-card")).to_contain_text("Found")
    note = page.url
    page.goto(conversation)
    answer_again(page, complete(page))  # takes the answer's own citations away
    complete(page)
    page.goto(note)
    expect(page.locator("[data-note-read] a[data-citation]")).not_to_have_count(0)


def test_a_note_saves_itself_merges_and_goes_back_to_an_earlier_version(page: Page, site: Site) -> None:
    path = new_note(page, site, "one\ntwo\nthree\n")
    page.goto(path)
    other = page.context.new_page()
    other.goto(path)
    write(other, "one, theirs\ntwo\nthree\n")
    expect(other.locator("[data-note-state]")).to_have_text("Saved")
    other.close()
    write(page, "one\ntwo\nthree, ours\n")
    expect(page.locator("[data-note-state]")).to_have_text("Saved and merged with your other tab")
    expect(page.locator("[data-note-text]")).to_have_value("one, theirs\ntwo\nthree, ours\n")
    page.reload()
    page.get_by_text("Earlier versions").click()
    earlier = page.locator(".note-version").nth(1)
    earlier.locator("summary").click()
    earlier.get_by_role("button", name="Restore").click()
    expect(page.locator("[data-note-text]")).to_have_value("one\ntwo\nthree\n")


@pytest.mark.slow
def test_a_long_title_of_a_note_is_shown_whole_and_enter_goes_on_to_its_text(page: Page, site: Site) -> None:
    new_note(page, site, "words\n")
    title = page.get_by_label("Title")
    title.fill("Net sales, volumes, price and mix, and what the first half of the year will bring")
    assert title.evaluate("field => field.scrollHeight <= field.clientHeight")
    title.press("Enter")
    expect(page.locator("[data-note-text]")).to_be_focused()
    expect(title).to_have_value(re.compile("will bring$"))


@pytest.mark.slow
def test_a_long_note_beside_a_document_scrolls(page: Page, site: Site, upload: Upload) -> None:
    page.goto(site.url(upload(report(), "Noted.pdf")))
    page.get_by_role("tab", name="Notes").click()
    page.locator("[data-note]").wait_for()
    write(page, "\n\n".join(f"Paragraph {number} of a note longer than its pane." for number in range(60)))
    expect(page.locator("[data-note-state]")).to_have_text("Saved")
    page.get_by_text("Write", exact=True).click()
    blocks = page.locator("[data-note-read] > *")
    expect(blocks).to_have_count(60)
    pressed = (
        "blocks => blocks.filter(({ scrollHeight, clientHeight }) => scrollHeight > clientHeight + 1).length"
    )
    assert blocks.evaluate_all(pressed) == 0


def new_note(page: Page, site: Site, content: str) -> str:
    """The address of a new note."""
    page.goto(site.url("/notes/"))
    page.get_by_role("button", name="New note").click()
    write(page, content)
    expect(page.locator("[data-note-state]")).to_have_text("Saved")
    return page.url


def write(page: Page, content: str) -> None:
    if not page.locator("[data-note-text]").is_visible():
        page.get_by_text("Write", exact=True).click()
    page.locator("[data-note-text]").fill(content)


@pytest.mark.slow
def test_what_is_written_without_a_connection_is_kept_and_saved_later(
    signed_in: BrowserContext, site: Site
) -> None:
    page = signed_in.new_page()
    path = new_note(page, site, "before\n")

    def lost(route: Route) -> None:
        route.abort()

    page.route("**/notes/save/", lost)
    write(page, "before\nwritten in a tunnel\n")
    expect(page.locator("[data-note-state]")).to_have_text("No connection: kept in this browser")
    page.close()
    page = signed_in.new_page()
    page.goto(path)
    expect(page.locator("[data-note-text]")).to_have_value("before\nwritten in a tunnel\n")
    expect(page.locator("[data-note-state]")).to_have_text("Saved")
    page.reload()
    expect(page.locator("[data-note-read]")).to_contain_text("written in a tunnel")
    page.close()


@pytest.mark.slow
def test_an_answer_on_words_that_changed_says_so(page: Page, answer: Locator) -> None:
    changed = "UPDATE chat_citation SET durability = 'changed' WHERE message_id = %s"
    with psycopg.connect(
        database_url(), autocommit=True
    ) as other:  # what a test's own transaction does not show
        other.execute(changed, [answer.get_attribute("data-message")])
    page.goto(conversation_of(page))
    expect(answer).to_contain_text("A document has changed since this answer")
    answer.locator("a[data-citation]").first.hover()
    expect(page.locator("#hover-card")).to_contain_text("the document now says something else here")
