"""What a person sees of an answer that a model writes: stopped, continued, failed, tried again."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.conftest import READY_MS, Upload, wait_until
from tests.browser.sheets import report
from tests.browser.site import Site
from tests.chat.scripted_server import Reply, ScriptedServer, openai_answer, openai_chunk

LONG = 60.0  # seconds of silence in the middle of an answer
UNKNOWN_MODEL = Reply([json.dumps({"error": {"message": "no such model"}})], status=404)


def begun(body: dict[str, Any]) -> Reply:
    """Some words, then a long pause."""
    return Reply([openai_chunk("The revenue of the northern division was"), LONG])


def cited(body: dict[str, Any]) -> Reply:
    """The rest of a sentence, resting on the passage that says it."""
    asked = json.dumps(body, ensure_ascii=False)
    found = re.search(r"\[(u\d+) · p\. (\d+)[^\]]*\] [^\[]*4,711", asked)
    assert found, asked
    return Reply(openai_answer(f" 4,711 million [[cite:{found[1]}:{found[2]}]]."))


@pytest.fixture
def asked(page: Page, site: Site, upload: Upload, model: ScriptedServer) -> Locator:
    """The answer to a question that the model begins to answer."""
    upload(report(), "Written.pdf")
    model.requests.clear()
    model.replies[:] = [begun, cited, UNKNOWN_MODEL, cited]
    page.goto(site.url("/conversations/new/"))
    page.get_by_label("Answers by").select_option("compatible")
    page.get_by_label("Your question").fill("What was the revenue of the northern division?")
    page.keyboard.press("Enter")
    return page.locator("[data-message]").last


@pytest.mark.slow
def test_an_answer_is_stopped_continued_and_after_a_failure_tried_again(asked: Locator, page: Page) -> None:
    cards: list[Route] = []
    page.route("**/card/", lambda route: cards.append(route))
    expect(asked).to_contain_text("The revenue of the northern division was")
    asked.get_by_role("button", name="Stop").click()
    expect(asked).to_have_attribute("data-status", "incomplete")
    expect(asked).to_contain_text("Stopped.")
    asked.get_by_role("button", name="Continue").click()
    expect(asked).to_have_attribute("data-status", "complete", timeout=READY_MS)
    expect(asked).to_contain_text("The revenue of the northern division was 4,711 million")
    expect(asked).to_contain_text("1 of 1 claim verified")
    wait_until(page, lambda: bool(cards))  # the card is still being requested when its citation disappears
    asked.get_by_role("button", name="Answer again").click()
    expect(asked).to_have_attribute("data-status", "failed", timeout=READY_MS)
    expect(asked).to_contain_text("does not know this model")
    for card in cards:
        card.continue_()
    page.unroute("**/card/")
    asked.get_by_role("button", name="Try again").click()
    expect(asked).to_have_attribute("data-status", "complete", timeout=READY_MS)
    page.reload()  # the conversation now has an address, a title and its model
    expect(asked).to_contain_text("4,711 million")
    expect(page.get_by_role("heading", level=1)).to_contain_text("northern division")
    expect(page.get_by_label("Answers by")).to_have_value("compatible")


WATCH = r"""() => {
  const [at, moved] = [{}, []];
  window.movedWords = moved;
  const look = () => {
    const answer = [...document.querySelectorAll("[data-message]")].at(-1);
    const blocks = answer?.querySelector("[data-blocks]");
    const from = answer?.getBoundingClientRect();
    const walker = blocks && document.createTreeWalker(blocks, NodeFilter.SHOW_TEXT);
    const words = (text) => text.matchAll(/word\d+(?=\s|\.)/g);
    for (let node; (node = walker?.nextNode()); ) for (const { 0: word, index } of words(node.data)) {
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      const box = range.getBoundingClientRect();
      const place = `${Math.round(box.x - from.x)}, ${Math.round(box.y - from.y)}`;
      if ((at[word] ??= place) !== place) moved.push(`${word}: ${at[word]} -> ${place}`);
      at[word] = place;
    }
    window.seenWords = Object.keys(at).length;
    requestAnimationFrame(look);
  };
  look();
}"""


def long_and_cited(body: dict[str, Any]) -> Reply:
    """Three paragraphs of many lines that come word by word, each resting on a passage."""
    found = re.search(r"\[(u\d+) · p\. (\d+)[^\]]*\] [^\[]*4,711", json.dumps(body, ensure_ascii=False))
    assert found
    pieces: list[str | float] = []
    for paragraph in range(3):
        for word in range(40):
            pieces += [openai_chunk(f"word{100 * paragraph + word} "), 0.01]
        pieces += [openai_chunk(f"in 2031 it was 4,711 million [[cite:{found[1]}:{found[2]}]].\n\n"), 0.05]
    return Reply([*pieces, *openai_answer("")])


def ask(page: Page, model: ScriptedServer, question: str) -> Locator:
    """Ask the scripted model on the open page; its complete answer."""
    model.requests.clear()
    page.get_by_label("Answers by").select_option("compatible")
    page.get_by_label("Your question").fill(question)
    page.keyboard.press("Enter")
    answer = page.locator("[data-message]").last
    expect(answer).to_have_attribute("data-status", "complete", timeout=READY_MS)
    return answer


@pytest.mark.slow
def test_words_stay_where_they_are_while_an_answer_is_written(
    page: Page, site: Site, upload: Upload, model: ScriptedServer
) -> None:
    upload(report(), "Written.pdf")
    model.replies[:] = [long_and_cited]
    page.goto(site.url("/conversations/new/"))
    page.evaluate(WATCH)
    ask(page, model, "What was the revenue of the northern division?")
    page.wait_for_function("window.seenWords === 120")
    assert page.evaluate("window.movedWords") == []


MATRIX = r"""The weights are \(\begin{pmatrix} a \\ b \\ c \\ d \end{pmatrix}\), and

\[
x
+ y_1
\]
"""


def with_formulas(body: dict[str, Any]) -> Reply:
    """Formulas in parts of five characters, as models send them."""
    parts = [MATRIX[at : at + 5] for at in range(0, len(MATRIX), 5)]
    return Reply([*(openai_chunk(part) for part in parts), *openai_answer("")])


@pytest.mark.slow
def test_formulas_are_drawn_with_brackets_as_high_as_what_they_hold(
    page: Page, site: Site, upload: Upload, model: ScriptedServer
) -> None:
    upload(report(), "Written.pdf")
    model.replies[:] = [with_formulas]
    page.goto(site.url("/conversations/new/"))
    answer = ask(page, model, "What are the weights?")
    expect(answer.locator("math")).to_have_count(2)
    expect(answer.locator("li")).to_have_count(0)
    page.wait_for_function("[...document.fonts].some((f) => /Math/.test(f.family) && f.status === 'loaded')")
    bracket, matrix = (answer.locator(part).first.bounding_box() for part in ("mo", "mtable"))
    assert bracket and matrix and bracket["height"] > 0.9 * matrix["height"]
