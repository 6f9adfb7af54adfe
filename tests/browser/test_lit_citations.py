"""A written answer with a table and citations of each kind: its look, its cards, its highlights."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pymupdf
import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import READY_MS, Upload, wait_until
from tests.browser.sheets import report
from tests.browser.site import Site
from tests.chat.scripted_server import Reply, ScriptedServer, openai_answer

PICTURES = os.environ.get("PINCITE_PICTURES", "")  # a folder for pictures to look at
TOOLBAR = 56  # px


def written(body: dict[str, Any]) -> Reply:
    """A bold lead-in, a table, and claims that are verified, contradicted, matched and uncited."""
    asked = json.dumps(body, ensure_ascii=False)
    north, south = (
        re.search(rf"\[(u\d+) · p\. \d+[^\]]*\] [^\[]*{value}", asked) for value in ("4,711", "1,842")
    )
    assert north and south, asked
    return Reply(
        openai_answer(
            "**Revenue.** Revenue of the northern division grew to 4,711 million in 2031 "
            f"[[cite:{north[1]}:1|4,711 million]]. It was the highest of 4,711 million ever [{north[1]}].\n\n"
            f"| Division | Headquarters of the division | 2031 | 2030 |\n|---|---|---|---|\n"
            f"| Northern | Northamptonshire | 4,711 million [[cite:{north[1]}:1]] | unknown |\n"
            f"| Southern | Southampton | 1,900 people [[cite:{south[1]}:2]] | unknown |\n\n"
            "**Headcount**\n\n- Headcount of the southern office fell to 1,842 people in 2031.\n"
            f"- Headcount of the southern office fell to 1,900 people in 2031 [[cite:{south[1]}:2]].\n"
            "- Many people of the office were sad about this development.\n"
        )
    )


@pytest.fixture
def answer(page: Page, site: Site, upload: Upload, model: ScriptedServer) -> Locator:
    reader = upload(report(), "Divisions.pdf")
    model.requests.clear()
    model.replies[:] = [written]
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(site.url(reader))
    page.get_by_label("Answers by").select_option("compatible")
    page.get_by_label("Your question").fill("What were revenue and headcount of the divisions in 2031?")
    page.keyboard.press("Enter")
    found = page.locator("[data-message]").last
    expect(found).to_have_attribute("data-status", "complete", timeout=READY_MS)
    return found


def picture(page: Page, name: str) -> None:
    if PICTURES:
        page.wait_for_timeout(600)
        page.screenshot(path=Path(PICTURES) / f"{name}.png")


def overlap(one: dict[str, float], other: dict[str, float]) -> bool:
    across = one["x"] < other["x"] + other["width"] and other["x"] < one["x"] + one["width"]
    down = one["y"] < other["y"] + other["height"] and other["y"] < one["y"] + one["height"]
    return across and down


def box(locator: Locator) -> dict[str, float]:
    found = locator.bounding_box()
    assert found
    return dict(found)


@pytest.mark.slow
def test_a_written_answer_is_shown_whole(page: Page, answer: Locator) -> None:
    expect(answer.locator("td")).to_have_count(8)
    expect(answer.locator("p strong").first).to_have_text("Revenue.")
    assert "|" not in answer.locator("[data-blocks]").inner_text()
    assert "**" not in answer.locator("[data-blocks]").inner_text()
    sizes = answer.locator("[data-blocks] > div:first-child p").evaluate_all(
        "ps => ps.map((p) => getComputedStyle(p).fontSize)"
    )
    body = answer.locator("li").first.evaluate("li => getComputedStyle(li).fontSize")
    assert set(sizes) == {body}  # a bold lead-in is not styled as a caption
    lines = answer.locator("td", has_text="Northamptonshire").evaluate(
        "td => { const r = new Range(); r.selectNodeContents(td); return r.getClientRects().length; }"
    )
    assert lines == 1  # no word is broken
    expect(answer.locator('a[data-matched="true"]')).to_have_count(1)
    expect(answer.locator("mark.uncited")).to_have_count(1)
    top = page.locator(".chat-scroll").bounding_box()["y"]  # type: ignore[index]
    assert box(page.locator(".question").last)["y"] >= top  # it begins at its first line
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
        picture(page, f"answer-1440-{theme}")
        page.set_viewport_size({"width": 390, "height": 844})
        if not answer.is_visible():
            page.locator("[data-do=panel]").click()
        picture(page, f"answer-390-{theme}")
        page.set_viewport_size({"width": 1440, "height": 900})


@pytest.mark.slow
def test_the_card_stands_beside_the_text_with_its_picture_at_once(page: Page, answer: Locator) -> None:
    places = answer.locator("a[data-citation]")
    card = page.locator("#hover-card")
    for number in range(places.count()):
        place = places.nth(number)
        place.scroll_into_view_if_needed()
        place.hover()
        expect(card).to_be_visible()
        image, frame = box(card.locator("img")), box(card.locator("[data-picture]"))
        assert image["width"] <= frame["width"]
        block = place.locator("xpath=ancestor::*[@data-block]")
        wait_until(page, lambda block=block: not overlap(box(card), box(block)))
        assert box(card)["y"] >= TOOLBAR
        picture(page, f"card-{number}-1440")
        place.click()
        expect(page.locator(".lit-anchor:not(.lit-other)").first).to_be_visible()
        lit = page.locator(".lit")  # also the pale passage and other citations: the window is wide
        wait_until(page, lambda lit=lit: not any(overlap(box(card), box(words)) for words in lit.all()))
        picture(page, f"card-{number}-lit-1440")
        page.mouse.move(5, 890)
        expect(card).to_be_hidden()
    waited = places.first.evaluate(
        """async (place) => {
          const card = document.getElementById("hover-card");
          place.dispatchEvent(new PointerEvent("pointerover", { bubbles: true }));
          const from = performance.now();
          while (card.hidden) await new Promise(requestAnimationFrame);
          const shown = performance.now();
          const image = card.querySelector("img");
          while (!(image.complete && image.naturalWidth)) await new Promise(requestAnimationFrame);
          return [shown - from, performance.now() - shown];
        }"""
    )
    print("card after, picture after (ms):", waited)
    assert waited[1] <= 150


@pytest.mark.slow
def test_on_a_phone_the_card_is_a_sheet_from_below(page: Page, answer: Locator) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    place = answer.locator("a[data-citation]").last
    if not place.is_visible():
        page.locator("[data-do=panel]").click()
    place.scroll_into_view_if_needed()
    place.focus()
    card = page.locator("#hover-card")
    expect(card).to_be_visible()
    wait_until(page, lambda: box(card)["x"] == 0 and box(card)["width"] == 390)
    wait_until(page, lambda: box(card)["y"] + box(card)["height"] == 844)
    picture(page, "sheet-390")
    heights = [
        box(card.locator(part).first)["y"] for part in (".hover-verdict", ".hover-picture", ".hover-quote")
    ]
    assert heights == sorted(heights)  # the verdict is in sight, however long the quote
    wait_until(page, lambda: not overlap(box(card), box(place)))


def test_light_tells_the_verdict_and_shared_words_can_be_stepped_through(page: Page, answer: Locator) -> None:
    places = answer.locator("a[data-citation]")
    places.first.click()
    target = page.locator(".lit-target.lit-anchor").first
    expect(target).to_be_in_viewport()
    picture(page, "light-verified")
    step = page.locator(".lit-step button")
    expect(step).to_have_text(re.compile(r"1/[23]"))
    step.click()
    expect(step).to_have_text(re.compile(r"2/[23]"))
    picture(page, "light-stepped")
    wrong = answer.locator("a[data-verdict=unsupported], a[data-verdict=partial]").last
    wrong.click()
    lit = page.locator(".lit-target:is(.lit-unsupported, .lit-partial)").first
    expect(lit).to_be_in_viewport()
    picture(page, "light-contradicted")
    anchor = page.locator(".lit-target.lit-anchor")
    if anchor.count():
        expect(anchor.first).to_have_css("background-image", re.compile("gradient"))


@pytest.mark.slow
def test_all_citations_that_share_words_are_stepped_through_from_each_of_them(
    page: Page, site: Site, upload: Upload, model: ScriptedServer
) -> None:
    """The first citation covers two lines, the others one of these each; they overlap only the first."""
    lines = "Revenue of the northern division grew to 4,711 million in 2031,", "as nobody had expected it."
    with pymupdf.open() as drawn:  # type: ignore[no-untyped-call]
        sheet = drawn.new_page()
        for at, line in enumerate(lines):
            sheet.insert_text((72, 100 + 13 * at), line, fontsize=11)
        reader = upload(bytes(drawn.tobytes()), "Two lines.pdf")

    def written(body: dict[str, Any]) -> Reply:
        found = re.search(r"\[(u\d+) · p\. 1[^\]]*\] Revenue", json.dumps(body, ensure_ascii=False))
        assert found
        quotes = (lines[1].rstrip("."), " ".join(lines).rstrip("."), lines[0].rstrip(","))
        claims = (f"{quote} [[cite:{found[1]}:1|{quote}]]." for quote in quotes)
        return Reply(openai_answer("\n\n".join(claims)))

    model.requests.clear()
    model.replies[:] = [written]
    page.goto(site.url(reader))
    page.get_by_label("Answers by").select_option("compatible")
    page.get_by_label("Your question").fill("How did revenue of the northern division grow?")
    page.keyboard.press("Enter")
    found = page.locator("[data-message]").last
    expect(found).to_have_attribute("data-status", "complete", timeout=READY_MS)
    step = page.locator(".lit-step button")
    for at in range(3):
        found.locator("a[data-citation]").nth(at).click()
        expect(step).to_have_text(f"{at + 1}/3")
    expect(step).to_have_accessible_name("3/3: next citation of these words")
    step.click()
    expect(step).to_have_text("1/3")


def test_a_contradicted_citation_is_not_painted_like_a_right_one_while_another_is_lit(
    page: Page, answer: Locator
) -> None:
    striped = re.compile("repeating-linear-gradient")
    wrong = answer.locator("a:is([data-verdict=unsupported], [data-verdict=partial])").last
    other = page.locator(f"[data-highlight='{wrong.get_attribute('data-citation')}'].lit-other.lit-anchor")
    right = answer.locator("a[data-citation]:not([data-verdict=unsupported], [data-verdict=partial])")
    for number in range(right.count()):
        right.nth(number).click()
        page.wait_for_timeout(300)
        if other.count():
            break
    expect(other.first).to_have_css("background-image", striped)
    margin = page.locator(".mark-wrong").first
    assert striped.search(margin.evaluate("mark => getComputedStyle(mark, '::after').backgroundImage"))


@pytest.mark.slow
def test_an_answer_is_copied_as_rich_text_with_superscripts(page: Page, answer: Locator) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    answer.get_by_role("button", name="Copy with citations").click()
    expect(page.locator(".toast")).to_contain_text("Copied")
    plain, rich = page.evaluate(
        """async () => {
          const [item] = await navigator.clipboard.read();
          const text = async (type) => (await item.getType(type)).text();
          return [await text("text/plain"), await text("text/html")];
        }"""
    )
    assert "**" not in plain and "|" not in plain and re.search(r"4,711 million in 2031\[1\]\.", plain)
    assert re.search(r"<sup>1</sup>", rich) and "<table>" in rich and "[1] Northern division, p. 1" in rich
