"""Depth, strategies and filters of one question and of a conversation, in the API and on the page."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from chat.answers.question_commands import ask, start_conversation
from chat.answers.write_answer import AnswerContext, write_answer
from chat.models import Conversation, Message
from documents.models import CitationUnit, Document
from retrieval.models import SearchQuery
from retrieval.provider_calls import ScriptedModel
from retrieval.query.scope import Scope
from retrieval.results import RagConfig, SearchFilters, SearchOptions
from retrieval.search import search
from tests.api_clients import client_of
from tests.chat.conftest import QUESTION, wait_until
from tests.conftest import Ingest

pytestmark = pytest.mark.django_db(transaction=True)


def asked_on(page: Client, conversation: Conversation, form: dict[str, Any]) -> None:
    """Ask on the page, and wait for the answer's thread."""
    assert page.post(f"/chat/{conversation.pk}/ask/", {"question": QUESTION, **form}).status_code == 201
    wait_until(lambda: not Message.objects.filter(conversation=conversation).unfinished().exists())
    conversation.refresh_from_db()


def answered(conversation: Conversation, question: str = QUESTION, **config: Any) -> Message:
    answer = ask(conversation, question, config).answer
    write_answer(answer, AnswerContext(lambda event: None, threading.Event()))
    answer.refresh_from_db()
    return answer


def pages_of(answer: Message) -> set[int]:
    return set(CitationUnit.objects.filter(pk__in=answer.sources).values_list("page_number", flat=True))


def test_a_question_goes_before_its_conversation_and_both_are_kept_with_the_answer(
    conversation: Conversation,
) -> None:
    conversation.rag_config = {"hyde": False, "top_k": 5}
    conversation.save()
    answer = answered(conversation, hyde=True, rerank=False)
    assert answer.rag_config == {"hyde": True, "top_k": 5, "rerank": False}
    ran = {row["name"]: row for row in SearchQuery.objects.get(pk=answer.pk).strategies}
    assert ran["rerank"]["reason"] == "switched off"
    assert ran["hyde"]["reason"] != "switched off"


def test_a_filter_keeps_an_answer_to_its_pages(conversation: Conversation) -> None:
    assert pages_of(answered(conversation)) == {1, 2}
    assert pages_of(answered(conversation, filters={"page_from": 2})) == {2}


def test_depth_limits_the_lists_that_are_fused(alice: User, report: Document) -> None:
    everything = search("anvils rockets", Scope(alice), SearchOptions())
    shallow = RagConfig(keyword_limit=1, vector_limit=1, top_k=1).options(SearchOptions())
    found = search("anvils rockets", Scope(alice), shallow)
    assert everything.total >= found.total and len(found.hits) == 1
    assert all(rank.rank == 1 for hit in found.hits for rank in hit.why)


def test_filters_never_widen_what_a_conversation_is_over(
    alice: User, report: Document, ingested: Ingest
) -> None:
    other = ingested(alice, "Ducks swim on the pond.", name="ducks.pdf")
    over = Scope(alice, document_ids=(report.pk,))
    assert SearchFilters(documents=(other.pk,)).narrow(over).document_ids == ()
    assert SearchFilters(documents=(other.pk, report.pk)).narrow(over).document_ids == (report.pk,)


def test_the_api_takes_a_config_for_a_conversation_and_for_a_question(alice: User, report: Document) -> None:
    api = client_of(alice)
    config = {"rerank": False, "filters": {"documents": [str(report.pk)], "chunk_types": ["table"]}}
    made = api.post("/api/conversations/", {"rag_config": config}, format="json")
    assert made.status_code == 201, made.content
    assert made.json()["rag_config"] == config
    sent = {"question": QUESTION, "rag_config": {"top_k": 3}}
    asked = api.post(f"/api/conversations/{made.json()['id']}/messages/", sent, format="json")
    assert asked.status_code == 201, asked.content
    assert asked.json()["answer"]["rag_config"] == {**config, "top_k": 3}


@pytest.mark.parametrize(
    ("config", "field"),
    [
        ({"top_k": 0}, "top_k"),
        ({"vector_limit": 1000}, "vector_limit"),
        ({"hyde": "yes"}, "hyde"),
        ({"fts_level": "line"}, "fts_level"),
        ({"use_hyde": True}, "use_hyde"),
        ({"filters": {"chunk_types": ["poem"]}}, "filters"),
    ],
)
def test_a_config_that_makes_no_sense_is_refused(
    alice: User, report: Document, config: dict[str, Any], field: str
) -> None:
    answer = client_of(alice).post("/api/conversations/", {"rag_config": config}, format="json")
    assert answer.status_code in (400, 422)
    assert field in answer.content.decode()


def test_a_document_of_somebody_else_cannot_be_a_filter(alice: User, bob: User, report: Document) -> None:
    config = {"filters": {"documents": [str(report.pk)]}}
    answer = client_of(bob).post("/api/conversations/", {"rag_config": config}, format="json")
    assert answer.status_code == 404


@pytest.fixture
def page(alice: User) -> Client:
    client = Client()
    client.force_login(alice)
    return client


ALL = ["multi_query", "hyde", "self_query", "decomposition", "rerank"]


def model() -> ScriptedModel:
    return ScriptedModel({})


def test_the_panel_of_the_page_sets_the_conversation_s_search(
    page: Client, alice: User, report: Document, settings: Any
) -> None:
    conversation = start_conversation(alice, [report])
    shown = page.get(f"/conversations/{conversation.pk}/").content.decode()
    assert 'value="rerank" checked' in shown
    assert 'type="checkbox" name="use" value="hyde"' not in shown, "it needs a model"
    settings.LANGUAGE_MODEL = f"{__name__}.model"
    asked_on(page, conversation, {"search_panel": "1", "use": [*ALL[1:], "compression"], "page_from": "2"})
    assert conversation.rag_config == {"multi_query": False, "compression": True, "filters": {"page_from": 2}}
    shown = page.get(f"/conversations/{conversation.pk}/").content.decode()
    assert 'value="multi_query">' in shown, "its box is cleared"
    assert 'value="hyde" checked' in shown
    asked_on(page, conversation, {"search_panel": "1", "use": ALL})
    assert conversation.rag_config == {}


def test_a_number_that_is_none_is_said_in_the_panel_s_words(page: Client, report: Document) -> None:
    form = {"question": QUESTION, "search_panel": "1", "use": ALL, "top_k": "many"}
    answer = page.post("/chat/ask/", form)
    assert answer.status_code == 400
    assert answer.json()["error"].startswith("Search settings: top k: ")


def test_the_search_page_has_the_same_switches(page: Client, report: Document) -> None:
    shown = page.get("/search/", {"q": "anvils", "search_panel": "1", "use": ALL[:-1], "fts_level": "unit"})
    result = shown.context["shown"].result
    assert {row.name: row.reason for row in result.strategies}["rerank"] == "switched off"
    assert 'value="rerank">' in shown.content.decode()


def test_questions_are_in_the_search_history_with_what_they_follow(
    page: Client, conversation: Conversation
) -> None:
    first = answered(conversation)
    second = answered(conversation, "And how much did they weigh?")
    kept = SearchQuery.objects.get(pk=second.pk)
    assert (kept.source, kept.query_type, kept.parent_id) == ("chat", "follow_up", first.pk)
    assert SearchQuery.objects.get(pk=first.pk).query_type == "question"
    assert "Follow-up question" in page.get("/search/history/").content.decode()
    assert client_of(conversation.owner).get("/api/searches/").json()["results"][0]["parent"] == str(first.pk)


def test_an_answer_written_again_is_one_search(conversation: Conversation) -> None:
    from chat.answers.question_commands import retry

    answer = answered(conversation)
    retry(answer)
    write_answer(
        Message.objects.select_related("conversation__owner").get(pk=answer.pk),
        AnswerContext(lambda event: None, threading.Event()),
    )
    assert SearchQuery.objects.count() == 1
