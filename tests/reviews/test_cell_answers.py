"""Cells filled by a model over real HTTP: one call per row, bad and broken replies, budgets."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from chat.answers import answer_builder
from chat.providers.registry import provider_named
from citing.claims import VERIFIED, Verification
from documents.models import Document
from reviews.cell_answers import COLUMNS_A_CALL, fill_estimate, whole_members
from reviews.fill_queue import fill_next_row
from reviews.models import Review, ReviewCell
from reviews.review_commands import fill_cells
from tests.chat.scripted_server import (
    Reply,
    ScriptedServer,
    anthropic_block,
    anthropic_end,
    anthropic_start,
    openai_answer,
    openai_chunk,
    serving,
)
from tests.reviews.conftest import COLUMNS, cell

State = ReviewCell.State
NOT_STATED = {"state": "not_stated", "answer": "", "value": "", "evidence": []}
SAID = {
    "Passengers": ("Northern Ferries carried 48,200 passengers in 2031.", "48,200", "48,200 passengers"),
    "Revenue": (
        "Total revenue of the company was $14,544 million in 2031.",
        "$14,544 million",
        "$14,544 million",
    ),
    "Effect": ("The charter agreement takes effect on March 5, 2029.", "March 5, 2029", "March 5, 2029"),
    "Dividend": ("The company did not pay a dividend.", "No", "did not pay a dividend"),
    "Fuel": ("The ships run on liquefied gas.", "Liquefied gas", "run on liquefied gas"),
}


@pytest.fixture
def server(settings: Any) -> Iterator[ScriptedServer]:
    with serving(lambda body: Reply(openai_answer(json.dumps(reply_to(body))))) as server:
        settings.COMPATIBLE_BASE_URL, settings.COMPATIBLE_MODEL = f"{server.url}/v1", "scripted"
        settings.CHAT_BACKOFF_SECONDS = 0.01
        yield server


@pytest.fixture
def asked(review: Review, server: ScriptedServer) -> Review:
    """The review, with the first document's cells waiting to be filled by the model."""
    review.provider = "compatible"
    review.save()
    fill_cells(ReviewCell.objects.filter(row__review=review, row__position=0))
    return review


def reply_to(body: dict[str, Any]) -> dict[str, Any]:
    """Return a correct reply, with the passages' aliases found in the prompt."""
    prompt = body["messages"][-1]["content"]
    if isinstance(prompt, list):  # Anthropic's
        prompt = prompt[-1]["text"]
    questions = dict(re.findall(r"^(?:Question: )?(c\d+): (.*)$", prompt, re.MULTILINE))
    members = {}
    for name, question in questions.items():
        title = next(column["title"] for column in COLUMNS if question.startswith(column["question"]))
        members[name] = NOT_STATED
        if title in SAID:
            answer, value, quote = SAID[title]
            alias = re.search(rf"^\[(u\d+) [^\n]*{re.escape(quote)}", prompt, re.MULTILINE)
            evidence = [{"passage": alias[1], "quote": quote}] if alias else []
            members[name] = {"state": "found", "answer": answer, "value": value, "evidence": evidence}
    return members


def fill_all() -> None:
    for _ in range(50):
        if not fill_next_row():
            return
    raise AssertionError("It never ended.")


def test_one_call_answers_all_the_columns_of_a_document(asked: Review, server: ScriptedServer) -> None:
    fill_all()
    assert len(server.requests) == 1
    schema = server.requests[0]["response_format"]["json_schema"]["schema"]
    assert list(schema["properties"]) == [f"c{number}" for number in range(1, len(COLUMNS) + 1)]
    values = {column["title"]: cell(asked, column["title"]).value for column in COLUMNS}
    assert values == {
        "Passengers": {"number": 48200, "unit": ""},
        "Revenue": {"number": 14_544_000_000, "currency": "USD"},
        "Effect": "2029-03-05",
        "Dividend": False,
        "Fuel": "Liquefied gas",
        "Auditor": None,
    }
    revenue = cell(asked, "Revenue")
    assert revenue.citations.get(position=0).verdict in VERIFIED
    assert revenue.answered_by == "scripted" and revenue.usage["input_tokens"] == 11 // len(COLUMNS)


def test_a_value_the_page_does_not_bear_out_is_unclear(asked: Review, server: ScriptedServer) -> None:
    def wrong(body: dict[str, Any]) -> Reply:
        members = reply_to(body)
        members["c2"]["answer"] = "Total revenue was $19,544 million in 2031."
        return Reply(openai_answer(json.dumps(members)))

    server.replies = [wrong]
    fill_all()
    assert cell(asked, "Revenue").state == State.UNCLEAR and cell(asked, "Revenue").value is None
    assert cell(asked, "Passengers").state == State.FOUND


@pytest.mark.parametrize("bad", [{"state": "maybe"}, "48,200", {"state": "found", "evidence": [3]}, None])
def test_a_bad_member_costs_its_own_cell_only(asked: Review, server: ScriptedServer, bad: Any) -> None:
    server.replies = [lambda body: Reply(openai_answer(json.dumps(reply_to(body) | {"c1": bad})))]
    fill_all()
    assert cell(asked, "Passengers").state == State.FAILED
    assert "could not be read" in cell(asked, "Passengers").error
    assert cell(asked, "Fuel").value == "Liquefied gas"


def test_what_a_model_said_before_it_broke_off_is_kept_and_the_rest_asked_again(
    asked: Review, server: ScriptedServer
) -> None:
    def half(body: dict[str, Any]) -> Reply:
        text = json.dumps(reply_to(body))
        return Reply([openai_chunk(text[: text.index('"c4"') + 30])], ending="reset")

    server.replies = [half, lambda body: Reply(openai_answer(json.dumps(reply_to(body))))]
    fill_all()
    assert len(server.requests) == 2
    assert cell(asked, "Passengers").state == State.FOUND
    assert "48,200" not in json.dumps(server.requests[1]["response_format"])
    assert "How many passengers" not in server.requests[1]["messages"][-1]["content"].rpartition("c1:")[2]
    assert cell(asked, "Fuel").value == "Liquefied gas"


def test_a_model_that_always_breaks_off_is_given_up_and_says_why(
    asked: Review, server: ScriptedServer
) -> None:
    server.replies = [Reply([openai_chunk('{"c1": {"state"')], ending="reset")]
    fill_all()
    assert len(server.requests) == 3
    assert {found.state for found in asked.rows.first().cells.all()} == {State.FAILED}
    assert "broke off" in cell(asked, "Fuel").error


def test_a_refused_key_ends_the_filling_of_all_rows_and_takes_nothing_away(
    filled: Review, server: ScriptedServer
) -> None:
    held = cell(filled, "Fuel").value
    filled.provider = "compatible"
    filled.save()
    server.replies = [Reply(['{"error": {"message": "no"}}'], status=401)]
    fill_cells(ReviewCell.objects.filter(row__review=filled), again=True)
    fill_all()
    assert len(server.requests) == 1
    for name in ("north.pdf", "south.pdf"):
        found = cell(filled, "Fuel", name)
        assert found.state == State.STALE and "key" in found.error
    assert cell(filled, "Fuel").value == held
    assert cell(filled, "Auditor", "south.pdf").state == State.FAILED  # it had no earlier value


def test_a_budget_is_kept_to(asked: Review, server: ScriptedServer) -> None:
    asked.tokens_left = 100
    asked.save()
    fill_all()
    assert server.requests == []
    assert "token limit" in cell(asked, "Fuel").error
    Review.objects.update(tokens_left=50_000)
    fill_cells(ReviewCell.objects.filter(row__review=asked, row__position=0))
    fill_all()
    assert cell(asked, "Fuel").value == "Liquefied gas"
    asked.refresh_from_db()
    assert asked.tokens_left == 50_000 - 18  # the usage that the server reported


def test_the_estimate_is_no_less_than_what_a_filling_takes(asked: Review, server: ScriptedServer) -> None:
    cells = ReviewCell.objects.filter(row__review=asked).select_related("row")
    estimate = fill_estimate(asked, cells, provider_named("compatible"))
    assert (estimate.cells, estimate.calls) == (2 * len(COLUMNS), 2) and len(COLUMNS) <= COLUMNS_A_CALL
    asked.tokens_left = estimate.tokens
    asked.save()
    fill_all()
    assert len(server.requests) == 1
    assert fill_estimate(asked, cells, provider_named("extractive")).tokens == 0


def test_claude_is_asked_for_the_same_reply_by_its_own_sdk(
    review: Review, server: ScriptedServer, settings: Any
) -> None:
    settings.ANTHROPIC_API_KEY, settings.ANTHROPIC_BASE_URL = "key", server.url
    review.provider = "anthropic"
    review.save()
    server.replies = [
        lambda body: Reply(
            [anthropic_start(), *anthropic_block(0, json.dumps(reply_to(body))), *anthropic_end()]
        )
    ]
    fill_cells(ReviewCell.objects.filter(row__review=review, row__position=0))
    fill_all()
    assert server.requests[0]["output_config"]["format"]["type"] == "json_schema"
    assert cell(review, "Fuel").value == "Liquefied gas"


def test_a_document_that_was_deleted_meanwhile_says_so(review: Review, alice: User) -> None:
    fill_cells(ReviewCell.objects.filter(row__review=review))
    document = cell(review, "Fuel").row.document
    Document.objects.filter(pk=document.pk).update(deleted_at=timezone.now())
    fill_all()
    assert "has been deleted" in cell(review, "Fuel").error
    assert cell(review, "Fuel", "south.pdf").state == State.FOUND


def test_a_document_that_cannot_be_read_ends_its_cells_with_the_reason(review: Review) -> None:
    fill_cells(ReviewCell.objects.filter(row__review=review))
    document = cell(review, "Fuel").row.document
    Document.objects.filter(pk=document.pk).update(
        status="failed", failure_code="damaged", failure_message="The file is damaged.", indexed_at=None
    )
    fill_all()
    assert (cell(review, "Fuel").state, cell(review, "Fuel").error) == (
        State.FAILED,
        "This document could not be read: The file is damaged.",
    )
    assert not ReviewCell.objects.filter(row__review=review, state=State.WAITING).exists()


def test_the_whole_members_of_a_broken_reply_are_read() -> None:
    assert whole_members('```json\n{"c1": {"a": "x \\"c9\\": {}"}, "c2": {"a": [1,') == {
        "c1": {"a": 'x "c9": {}'}
    }
    assert whole_members("I cannot help with that.") == {}
    assert whole_members('{"c1": ' + "[" * 100_000) == {}


def test_a_configured_judge_is_asked_about_what_was_found_and_not_compared(
    asked: Review, server: ScriptedServer, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = answer_builder.verify

    def verify(claim: Any, *args: Any) -> Any:
        """Return "found" for the claim about passengers, as if nothing could be compared."""
        result = real(claim, *args)
        return (
            Verification("found", result.unit, result.page, result.quote)
            if "48,200" in claim.sentence
            else result
        )

    monkeypatch.setattr(answer_builder, "verify", verify)
    settings.JUDGE = "compatible:bespoke-minicheck"
    told = lambda body: Reply(openai_answer(json.dumps(reply_to(body))))  # noqa: E731
    server.replies = [told, Reply(openai_answer("No")), Reply(openai_answer("Yes"))]  # control, then ours
    fill_all()
    assert len(server.requests) == 3
    citation = cell(asked, "Passengers").citations.get()
    assert (citation.verdict, citation.judgement) == ("found", "supported")
    assert citation.judged_by == "bespoke-minicheck"
    assert cell(asked, "Passengers").state == State.UNCLEAR  # the judgement does not replace the verdict
    assert cell(asked, "Fuel").state == State.FOUND


def test_a_judge_that_is_away_leaves_the_cells_as_they_are(
    asked: Review, server: ScriptedServer, settings: Any
) -> None:
    settings.JUDGE = "nobody"  # a provider that there is not
    fill_all()
    assert cell(asked, "Fuel").state == State.FOUND
