"""Asking about a part of a page: dragged over, framed by keyboard, or from the list of figures."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Page, expect

from chat.models import Message
from tests.browser.conftest import READY_MS, Upload, wait_until
from tests.browser.site import Site
from tests.browser.test_reading_view import book


@pytest.fixture
def reader(page: Page, site: Site, upload: Upload, request: pytest.FixtureRequest) -> Page:
    page.goto(site.url(upload(book(2), f"Asked {request.node.name}.pdf")))
    page.get_by_label("Your question").wait_for()
    page.locator(".page[data-loaded] canvas").first.wait_for()
    return page


def test_what_is_dragged_over_goes_with_the_question(reader: Page) -> None:
    reader.keyboard.press("e")
    reader.locator(".region-frame").wait_for()
    sheet = reader.locator(".page").first.bounding_box()
    assert sheet
    left, top = sheet["x"] + 0.1 * sheet["width"], sheet["y"] + 0.1 * sheet["height"]
    reader.mouse.move(left, top)
    reader.mouse.down()
    reader.mouse.move(left + 0.7 * sheet["width"], top + 0.2 * sheet["height"], steps=4)
    reader.mouse.up()
    expect(reader.locator("[data-region]")).to_contain_text("Part of page 1")
    chosen = json.loads(reader.locator("[name=region]").input_value())
    assert chosen["box"] == pytest.approx([0.1, 0.1, 0.8, 0.3], abs=0.01)
    expect(reader.get_by_label("Your question")).to_be_focused()
    reader.set_viewport_size({"width": 1280, "height": 420})
    reader.keyboard.type("What is the book about?")
    reader.keyboard.press("Enter")
    picture = reader.get_by_alt_text("The part of page 1 that the question is about")
    expect(picture).to_be_visible()
    reader.locator("[data-message][data-status=complete]").wait_for(timeout=READY_MS)
    expect(reader.locator(".answer")).to_contain_text("harbours and their masters")
    expect(reader.locator(".answer [data-block]").first).to_be_in_viewport(ratio=0.5)
    expect(reader.locator("[data-region]")).to_be_hidden()  # the next question is about no part
    wait_until(reader, lambda: picture.evaluate("image => image.naturalWidth > 0"))


@pytest.mark.slow
def test_a_frame_is_moved_and_sized_by_keys_and_can_be_taken_back(reader: Page) -> None:
    reader.keyboard.press("e")
    frame = reader.locator(".region-frame")
    expect(frame).to_be_focused()
    before = frame.bounding_box()
    assert before
    reader.keyboard.press("ArrowRight")
    reader.keyboard.press("Shift+ArrowDown")
    after = frame.bounding_box()
    assert after
    assert after["x"] - before["x"] == pytest.approx(24, abs=1)
    assert after["height"] - before["height"] == pytest.approx(24, abs=1)
    reader.keyboard.press("Enter")
    expect(reader.locator("[data-region]")).to_contain_text("Part of page 1")
    reader.get_by_role("button", name="Ask without this part of the page").click()
    expect(reader.locator("[data-region]")).to_be_hidden()
    expect(reader.locator("[name=region]")).to_have_value("")
    reader.locator(".sheets-scroll").focus()
    reader.keyboard.press("e")
    reader.keyboard.press("Escape")
    expect(frame).to_have_count(0)


@pytest.mark.slow
def test_a_figure_of_the_list_can_be_asked_about_and_what_cannot_be_seen_is_said(reader: Page) -> None:
    reader.keyboard.press("]")
    expect(reader.locator("[data-page-input]")).to_have_value("ii")
    reader.get_by_role("button", name="Contents and pages").click()
    reader.get_by_role("tab", name="Figures").click()
    reader.get_by_role("button", name="Ask about this figure").click()
    expect(reader.locator("[data-region]")).to_contain_text("Part of page 1")
    expect(reader.locator("[data-page-input]")).to_have_value("i")  # what is asked about is in sight
    reader.get_by_label("Your question").fill("Which colour is it?")
    reader.keyboard.press("Enter")
    expect(reader.locator(".question-region")).to_contain_text("this provider does not accept images")
    reader.locator("[data-message][data-status=failed]").wait_for(timeout=READY_MS)
    expect(reader.locator(".answer-line")).to_contain_text("does not accept images")
    assert Message.objects.filter(content="Which colour is it?", asked_region__page=1).exists()
