"""What becomes of an answer when the document it rests on is replaced by a new version."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import READY_MS, Upload
from tests.browser.site import Site
from tests.chat.scripted_server import Reply, ScriptedServer, openai_answer
from tests.drawing import draw_pdf

pytestmark = pytest.mark.slow

REVENUE = "# Revenue\n\nRevenue of the polar division was 4,711 million in 2031."
HEADCOUNT = "# Headcount\n\nThe coastal office had 1,842 people at the end of 2031."
OWLS = "# Owls\n\nSeventeen owls were counted in the barns of the north."
CLAIMS = {
    "4,711": "Revenue of the polar division was 4,711 million",
    "1,842": "The coastal office had 1,842 people",
    "owls": "Seventeen owls",
}


def cites_all(body: dict[str, Any]) -> Reply:
    """A sentence for each of the three pages, citing its passage."""
    asked = json.dumps(body, ensure_ascii=False)
    places = {word: re.search(rf"\[(u\d+) · p\. (\d+)[^\]]*\] [^\[]*{word}", asked) for word in CLAIMS}
    said = [f"{CLAIMS[word]} [[cite:{at[1]}:{at[2]}]]. " for word, at in places.items() if at]
    assert len(said) == len(CLAIMS), asked
    return Reply(openai_answer(*said))


def replace_by(page: Page, site: Site, path: str, file: Path) -> None:
    page.goto(site.url(f"{path}details/"))
    page.get_by_label("Or replace it with a new version").set_input_files(file)
    page.get_by_role("button", name="Replace", exact=True).click()
    expect(page.get_by_text("The new version is being read")).to_be_visible()
    expect(page.locator("#facts")).to_contain_text("Ready", timeout=READY_MS)


def card_of(page: Page, answer: Locator, number: int) -> Locator:
    page.mouse.move(1, 1)
    expect(page.locator("#hover-card")).to_be_hidden()
    answer.locator("a[data-citation]").nth(number).hover()
    expect(page.locator("#hover-card")).to_be_visible()
    return page.locator("#hover-card")


def test_an_answer_says_which_of_its_words_moved_changed_or_went(
    page: Page, site: Site, upload: Upload, model: ScriptedServer, tmp_path: Path
) -> None:
    path = upload(draw_pdf(REVENUE, HEADCOUNT, OWLS), "Polar.pdf")
    model.requests.clear()
    model.replies[:] = [cites_all]
    page.goto(site.url(path))
    page.get_by_label("Answers by").select_option("compatible")
    page.get_by_label("Your question").fill("What of revenue, people and owls?")
    page.keyboard.press("Enter")
    answer = page.locator("[data-message]").last
    expect(answer).to_contain_text("3 of 3 claims verified", timeout=READY_MS)
    expect(answer.locator(".answer-changed")).to_have_count(0)

    new = tmp_path / "Polar 2032.pdf"
    new.write_bytes(draw_pdf("A page that was put before.", REVENUE.replace("4,711", "5,822"), HEADCOUNT))
    replace_by(page, site, path, new)
    page.goto(site.url(path))
    expect(answer.locator(".answer-changed")).to_contain_text(
        "[1], [3] rest on words that are no longer there"
    )
    expect(card_of(page, answer, 0)).to_contain_text("the document now says something else here")
    expect(card_of(page, answer, 1)).to_contain_text("the same words, elsewhere in the document")
    expect(card_of(page, answer, 1)).to_contain_text("p. 3")
    expect(card_of(page, answer, 2)).to_contain_text("the words are no longer in the document")
    page.mouse.move(1, 1)
    answer.get_by_role("button", name="Sources").click()
    expect(answer.locator(".sources")).to_contain_text("Seventeen owls")
    told = page.request.get(site.url(f"/api/messages/{answer.get_attribute('data-message')}/")).json()
    assert [citation["durability"] for citation in told["citations"]] == ["changed", "moved", "gone"]

    broken = tmp_path / "Broken.pdf"
    broken.write_bytes(b"%PDF-1.7 and nothing else")
    replace_by(page, site, path, broken)
    expect(page.locator("#facts")).to_contain_text("The new version could not be read")
    page.goto(site.url(path))
    expect(page.locator(".textLayer").first).to_contain_text("A page that was put before.")
