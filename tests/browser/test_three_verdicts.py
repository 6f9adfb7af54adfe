"""Verified, differing, found and computed citations look different."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pymupdf
import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import READY_MS, Upload
from tests.browser.site import Site
from tests.chat.scripted_server import Reply, ScriptedServer, openai_answer

ENGLISH = (
    [
        "The carrier shall compensate the shipper for goods lost in transit.",
        "The liability of the carrier shall not exceed 40,000 pounds for each consignment.",
        "The shipper may inspect the warehouse during working hours.",
    ],
    "Claims settled by region",
    [["Region", "2019", "2023"], ["Wales", "38", "31"], ["Scotland", "21", "27"]],
    [
        ("liability", "The liability of the carrier shall not exceed 40,000 pounds for each consignment"),
        ("compensate", "The carrier shall not compensate the shipper for goods lost in transit"),
        ("inspect", "The shipper may inspect the warehouse with three expert witnesses"),
        ("Scotland", "Claims settled in Scotland rose by 6 from 2019 to 2023"),
    ],
)
GERMAN = (
    [
        "Der Verleiher haftet für Schäden, die bei der Montage des Gerüsts entstehen.",
        "Die Miete beträgt 340 Euro im Monat und ist im Voraus zu zahlen.",
        "Der Mieter darf das Gerüst nach der Abnahme umbauen lassen.",
    ],
    "Gemeldete Schäden nach Bezirk",
    [["Bezirk", "2019", "2023"], ["Nord", "38", "31"], ["Hafen", "21", "27"]],
    [
        ("Miete", "Die Miete beträgt 340 Euro im Monat und ist im Voraus zu zahlen"),
        ("Verleiher", "Der Verleiher haftet nicht für Schäden, die bei der Montage des Gerüsts entstehen"),
        ("umbauen", "Der Mieter darf das Gerüst durch eine Fachfirma seiner Wahl umbauen lassen"),
        ("Hafen", "Die gemeldeten Schäden im Hafen stiegen von 2019 bis 2023 um 6"),
    ],
)


def drawn(sentences: list[str], caption: str, table: list[list[str]]) -> bytes:
    """A page of paragraphs and a ruled table."""
    with pymupdf.open() as document:  # type: ignore[no-untyped-call]
        page = document.new_page()
        for at, sentence in enumerate(sentences):
            page.insert_text((72, 90 + 40 * at), sentence, fontsize=11)
        page.insert_text((72, 250), caption, fontsize=11)
        for r, row in enumerate(table):
            for c, cell in enumerate(row):
                box = pymupdf.Rect(72 + 150 * c, 262 + 24 * r, 222 + 150 * c, 286 + 24 * r)
                page.draw_rect(box)
                page.insert_text((box.x0 + 6, box.y1 - 8), cell, fontsize=11)
        return bytes(document.tobytes())


@pytest.mark.parametrize(
    ("name", "report"), [("english", ENGLISH), pytest.param("german", GERMAN, marks=pytest.mark.slow)]
)
def test_a_reader_tells_the_verdicts_apart(
    name: str, report: Any, page: Page, site: Site, upload: Upload, model: ScriptedServer
) -> None:
    sentences, caption, table, claims = report

    def answered(body: dict[str, Any]) -> Reply:
        asked = json.dumps(body, ensure_ascii=False)
        said = []
        for word, claim in claims:
            found = re.search(rf"\[(u\d+) · p\. (\d+)[^\]]*\] [^\[]*{word}", asked)
            assert found, (word, asked)
            said.append(f"{claim} [[cite:{found[1]}:{found[2]}]].")
        return Reply(openai_answer("\n\n".join(said)))

    upload(drawn(sentences, caption, table), f"{name}.pdf")
    model.requests.clear()
    model.replies[:] = [answered]
    page.goto(site.url("/conversations/new/"))
    page.get_by_label("Answers by").select_option("compatible")
    page.get_by_label("Your question").fill(" ".join([*sentences, caption, *table[2]])[:400])
    page.keyboard.press("Enter")
    answer = page.locator("[data-message]").last
    expect(answer).to_have_attribute("data-status", "complete", timeout=READY_MS)
    cites = answer.locator("a.cite")
    verdicts = [cites.nth(at).get_attribute("data-verdict") for at in range(4)]
    if folder := os.environ.get("PICTURES"):
        page.screenshot(path=Path(folder) / f"verdicts-{name}.png")
    assert verdicts == ["exact", "unsupported", "found", "computed"]
    expect(answer).to_contain_text("2 of 4 claims verified, 1 found, 1 differs")
    colours = [cites.nth(at).evaluate("cite => getComputedStyle(cite).backgroundColor") for at in range(3)]
    assert len(set(colours)) == 3
