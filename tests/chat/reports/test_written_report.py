"""Reports written by a model, over real HTTP, that deceives in a third of its sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User

from bench.deceiving_writer import HONEST, DeceivingWriter, deceiving_server
from chat.models import Report
from chat.reports.report_commands import new_report
from chat.reports.report_queue import work_on_next
from chat.reports.sentence_check import letters
from documents.models import Document
from tests.conftest import ingest

PAGES = (
    "The ferry carried 1,240 passengers in May and 1,390 passengers in June of that year.\n"
    "The harbour office closed the northern pier on 3 April because of a storm.\n"
    "Two deckhands repaired the mast before the ferry left the harbour again.\n"
    "The captain reported that the engine used 42 litres of fuel an hour.",
    "The ticket office sold season tickets for $85 each to residents of the island.\n"
    "Dogs and bicycles travel free of charge on all weekdays in winter.\n"
    "The council approved a second ferry with room for 18 cars and one lorry.",
)
WORDS = "\n".join(PAGES)


@pytest.fixture
def writer(settings: Any) -> Iterator[DeceivingWriter]:
    writer = DeceivingWriter()
    with deceiving_server(writer) as url:
        settings.COMPATIBLE_BASE_URL, settings.COMPATIBLE_MODEL = url, "deceiving"
        settings.CHAT_PROVIDER = "compatible"
        yield writer


@pytest.fixture
def ferry(alice: User) -> Document:
    return ingest(alice, *PAGES, name="ferry.pdf")


def work_through() -> None:
    while work_on_next():
        pass


def test_no_deceit_stands_unmarked_and_no_quotation_is_invented(
    alice: User, ferry: Document, writer: DeceivingWriter
) -> None:
    made = new_report(alice, "What does the ferry carry?", [ferry], "Passengers\nFares\nThe harbour")
    work_through()
    made.refresh_from_db()
    assert (made.state, made.error) == (Report.State.DONE, "") and made.note is not None
    content = made.note.content
    kept = [
        one
        for one in re.split(r"(?<=[.])\s", re.sub(r"\[\[cite[^\]]*\]\]", "", content))
        if writer.kind_of(one)
    ]
    assert len(kept) >= 4 and {writer.kind_of(one) for one in kept} == {HONEST}
    assert all(letters(quote) in letters(WORDS) for quote in re.findall("“([^”]+)”", content))
    assert {one.outcome for one in made.note.citations.all()} <= {"verified", "found"}
    counts = [section["counts"] for section in made.outline]
    assert sum(one["removed"] for one in counts) and sum(one["verified"] for one in counts)
    assert made.tokens > 0 and "Every sentence was compared" in content
