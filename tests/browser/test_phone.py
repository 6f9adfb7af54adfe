"""On a phone: nothing is wider than the page, every control is a finger wide, and axe finds no violation."""

from __future__ import annotations

import pymupdf
import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import Upload, wait_until
from tests.browser.keys import confirm_password
from tests.browser.sheets import report
from tests.browser.site import Site
from tests.browser.test_accessible import violations

FINGER = 40  # CSS pixels
# The cross of a chip takes touches beside it too.
CONTROLS = "button:not(.chip-button), select, summary, nav a, .button, .menu a, input:not([type=hidden])"
IN_THE_READER = (
    ".reader-bar :is(a, button, input), .tabs button, .menu a, .outline a, .ask-send, .note-write, "
    ".search-box input"
)
SMALL = """([controls, finger]) => [...document.querySelectorAll(controls)]
  .filter((control) => control.checkVisibility({ visibilityProperty: true }))
  .filter((control) => !control.closest(".visually-hidden"))
  .map((control) => control.closest("label") ?? control)
  .filter((control) => control.getBoundingClientRect().height < finger - .5)
  .map((control) => control.outerHTML.slice(0, 120))"""
PAGES = ("/?as=list", "/?as=grid", "/conversations/", "/collections/", "/account/", "{reader}details/")
LONG_NAMES = {
    "/collections/": "New collection",
    "{reader}details/": "Add a tag",
    "/account/": "What is it for?",
}


@pytest.fixture
def phone(page: Page) -> Page:
    page.set_viewport_size({"width": 390, "height": 844})
    return page


def complaints(phone: Page, name: str) -> list[str]:
    wide = phone.evaluate("document.documentElement.scrollWidth > innerWidth")
    small = [f"{name}: small {control}" for control in phone.evaluate(SMALL, [CONTROLS, FINGER])]
    return [*small, *([f"{name}: wider than the phone"] if wide else []), *violations(phone, name)]


@pytest.mark.parametrize(
    ("pages", "word"), [(PAGES[1:2], "Unbroken"), pytest.param(PAGES, "Seamless", marks=pytest.mark.slow)]
)
def test_pages_and_menus_fit_a_phone_and_a_finger(
    pages: tuple[str, ...], word: str, phone: Page, site: Site, upload: Upload
) -> None:
    reader = upload(report(), f"{word}.pdf")
    for path, label in LONG_NAMES.items():
        phone.goto(site.url(path.format(reader=reader)))
        phone.get_by_label(label).fill(word * 7)
        phone.keyboard.press("Enter")
        confirm_password(phone, phone.get_by_text(word * 2).first)
    found = []
    for path in pages:
        phone.goto(site.url(path.format(reader=reader)))
        found += complaints(phone, path)
    phone.goto(site.url("/collections/"))
    phone.get_by_role("link", name=f"Change {word}").first.click()
    phone.wait_for_url("**/collections/*/**")
    found += complaints(phone, "collection")
    phone.goto(site.url("/"))
    phone.get_by_role("button", name="Actions for").first.click()
    rename = phone.get_by_role("button", name="Rename", exact=True)
    rename.wait_for()
    found += complaints(phone, "menu")
    rename.click()
    found += complaints(phone, "dialog")
    assert found == []


@pytest.mark.slow
def test_what_is_pressed_in_the_reader_fits_a_finger(phone: Page, upload: Upload, site: Site) -> None:
    phone.goto(site.url(upload(report(), "Read on a phone.pdf")))
    phone.locator(".page[data-loaded]").first.wait_for()
    bar = phone.locator(".reader-bar")
    small = []
    for name in ("More", "Contents and pages", "Find in this document", "Panel"):
        button = bar.get_by_role("button", name=name, exact=True)
        button.click()
        phone.wait_for_timeout(400)
        small += phone.evaluate(SMALL, [IN_THE_READER, FINGER])
        phone.keyboard.press("Escape")
        if name == "Contents and pages":
            button.click()
    for name in ("Search", "Notes"):
        phone.get_by_role("tab", name=name).click()
        phone.wait_for_timeout(400)
        small += phone.evaluate(SMALL, [IN_THE_READER, FINGER])
    assert small == []


@pytest.mark.slow
def test_a_message_does_not_lie_over_the_question(phone: Page, upload: Upload, site: Site) -> None:
    phone.goto(site.url(upload(report(), "Asked on a phone.pdf")))
    phone.get_by_role("button", name="Panel", exact=True).click()
    question = phone.get_by_label("Your question")
    question.wait_for()
    phone.locator("[data-toasts]").evaluate(
        "(tray) => htmx.swap(tray, '<div class=toast>Copied</div>', { swapStyle: 'beforeend' })"
    )

    def is_above() -> bool:
        toast, field = phone.locator(".toast").bounding_box(), question.bounding_box()
        return bool(toast and field and toast["y"] + toast["height"] < field["y"])

    wait_until(phone, is_above)


def linked() -> bytes:
    """A page full of links; pdf.js gives each a higher z-index than the one before."""
    document = pymupdf.open("pdf", report())
    for line in range(30):
        place = pymupdf.Rect(60, 60 + 20 * line, 300, 75 + 20 * line)
        document[0].insert_link({"kind": pymupdf.LINK_URI, "from": place, "uri": "https://example.com/"})
    return bytes(document.tobytes())


@pytest.mark.slow
def test_links_of_the_page_stay_under_the_side_and_the_answer_has_room(
    phone: Page, upload: Upload, site: Site
) -> None:
    phone.goto(site.url(upload(linked(), "Linked on a phone.pdf")))
    phone.locator(".linkAnnotation").nth(29).wait_for()
    phone.get_by_role("button", name="Contents and pages").click()
    phone.locator("#side").wait_for()
    covered = """() => [...document.querySelectorAll(".linkAnnotation")].filter((link) => {
      const { left, top, height } = link.getBoundingClientRect();
      return document.elementFromPoint(left + 5, top + height / 2)?.closest(".side");
    }).length"""
    assert phone.evaluate(covered) == 30
    phone.get_by_role("button", name="Contents and pages").click()
    phone.get_by_role("button", name="Panel", exact=True).click()
    phone.get_by_label("Your question").fill("What is reported?")
    phone.keyboard.press("Enter")
    fresh = phone.get_by_role("button", name="New conversation").bounding_box()
    settings = phone.get_by_text("Search settings").bounding_box()
    assert fresh
    assert settings
    assert fresh["y"] < settings["y"] + settings["height"]  # in one line


@pytest.mark.slow
def test_the_words_of_a_choice_stand_beside_its_box(phone: Page, site: Site, upload: Upload) -> None:
    upload(report(), "Chosen.pdf")
    phone.goto(site.url("/reviews/"))
    if not phone.locator("[name=joins]").is_visible():
        phone.locator("summary", has_text="New review").click()
    box = phone.locator("[name=joins]").bounding_box()
    label = phone.locator("label:has([name=joins])").bounding_box()
    assert box and label
    assert abs((box["y"] + box["height"] / 2) - (label["y"] + label["height"] / 2)) < 6


def test_compared_pages_fit_their_frames_below_the_changes(
    signed_in: BrowserContext, site: Site, upload: Upload
) -> None:
    old, new = upload(report(), "Old.pdf"), upload(changed(report()), "New.pdf")
    phone = signed_in.browser.new_context(  # type: ignore[union-attr]
        viewport={"width": 390, "height": 844},
        screen={"width": 390, "height": 844},
        storage_state=signed_in.storage_state(),
    ).new_page()
    phone.goto(site.url(f"/reports/versions/?document={old.split('/')[2]}&document={new.split('/')[2]}"))
    phone.get_by_role("main").get_by_role("button", name="Compare").click()
    expect(phone.locator(".versions-readers iframe")).to_have_count(2)
    for frame in phone.locator(".versions-readers iframe").all():
        sheet = frame.content_frame.locator(".page").first
        expect(frame.content_frame.locator(".lit-anchor").first).to_be_visible()
        assert sheet.bounding_box()["width"] <= 390  # type: ignore[index]
    assert phone.locator(".versions-list").bounding_box()["height"] > 300  # type: ignore[index]
    phone.context.close()


def changed(pdf: bytes) -> bytes:
    """The report with another figure."""
    with pymupdf.open(stream=pdf) as document:
        for page in document:
            for place in page.search_for("1,842"):
                page.add_redact_annot(place, "1,950")
            page.apply_redactions()
        return document.tobytes()
