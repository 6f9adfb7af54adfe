from __future__ import annotations

import json
import re
import threading
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from chat.answers import question_commands
from chat.answers.question_commands import start_conversation
from chat.answers.write_answer import AnswerContext, write_answer
from chat.models import Citation, Conversation, Message, Note
from chat.models.conversation import excerpt
from chat.notes import add_answer, for_editor, from_editor
from documents.labels import labels_in_library
from documents.models import Collection, Document, Share
from tests.conftest import Ingest


@pytest.fixture
def report(alice: User, ingested: Ingest) -> Document:
    return ingested(alice, "The quick brown fox jumps over the lazy dog.")


@pytest.fixture
def browser(alice: User, client: Client) -> Client:
    client.force_login(alice)
    return client


def answered(owner: User, document: Document, answer: str = "It is brown. [[cite:{unit}:1]]") -> Conversation:
    """A conversation of one question, whose answer cites the document's only unit."""
    unit = document.units.get()
    conversation = Conversation.objects.create(owner=owner, title="Colour?", scope="documents")
    conversation.documents.add(document)
    Message.objects.create(conversation=conversation, position=0, role="user", content="Which colour?")
    message = Message.objects.create(
        conversation=conversation, position=1, role="assistant", content=answer.format(unit=unit.pk)
    )
    Citation.objects.create(
        message=message,
        number=1,
        document=document,
        unit=unit,
        quote="brown",
        page_number=1,
        verdict="exact",
        rects=unit.rects,
        unit_rects=unit.rects,
        document_title="</script><b>",
    )
    return conversation


def scope_chosen(page: str) -> str:
    """Return the label of the chosen scope."""
    found = re.search(r'<select name="scope">.*?<option [^>]*selected>([^<]*)<', page, re.DOTALL)
    assert found
    return found[1].strip()


def test_a_conversation_names_what_it_is_about(
    browser: Client, alice: User, report: Document, ingested: Ingest
) -> None:
    other = ingested(alice, "The lazy dog sleeps under the table.")
    collection = Collection.objects.create(owner=alice, name="Animals")
    collection.documents.add(report)
    for query, scope in (
        ("", "All documents"),
        (f"?collection={collection.pk}", "Animals"),
        (f"?document={report.pk}&document={other.pk}", "These 2 documents"),
        (f"?document={report.pk}", labels_in_library([report])[report.pk]),
    ):
        assert scope_chosen(browser.get(reverse("conversation-new") + query).content.decode()) == scope
    of_collection = Conversation.objects.create(
        owner=alice, title="Dogs?", scope="collection", collection=collection
    )
    page = browser.get(reverse("conversation", args=[of_collection.pk])).content.decode()
    assert scope_chosen(page) == "Animals"


def test_the_scope_is_changed_where_one_asks(
    browser: Client, alice: User, bob: User, report: Document, ingested: Ingest
) -> None:
    other = ingested(alice, "The lazy dog sleeps under the table.")
    both = start_conversation(alice, [report, other])
    panel = reverse("chat-panel", args=[report.pk])
    assert scope_chosen(browser.get(panel).content.decode()) == "These 2 documents"

    def ask(scope: str) -> int:
        form = {"conversation": both.pk, "question": "Who sleeps?", "scope": scope}
        return browser.post(reverse("ask-first"), form).status_code

    assert ask("library") == 201
    assert scope_chosen(browser.get(panel).content.decode()) == "All documents"
    assert ask("documents") == 201
    both.refresh_from_db()
    assert both.scope == "documents" and both.documents.count() == 2
    assert ask(f"document:{report.pk}") == 201
    assert scope_chosen(browser.get(panel).content.decode()) == "This document"
    his = Collection.objects.create(owner=bob, name="His")
    assert [ask(scope) for scope in (f"collection:{his.pk}", "document:x", "everything")] == [400, 400, 400]


def test_a_conversation_whose_documents_are_gone_says_so(
    browser: Client, alice: User, report: Document
) -> None:
    talk = start_conversation(alice, [report])
    talk.documents.clear()
    page = browser.get(reverse("conversation", args=[talk.pk])).content.decode()
    assert scope_chosen(page) == "no documents left"


def test_the_panel_shows_the_last_conversation_about_the_document(
    browser: Client, alice: User, report: Document
) -> None:
    answered(alice, report)
    page = browser.get(reverse("chat-panel", args=[report.pk])).content.decode()
    assert "Which colour?" in page
    assert 'data-number="1"' in page


def test_the_panel_begins_a_new_conversation_and_goes_back_to_earlier_ones(
    browser: Client, alice: User, report: Document
) -> None:
    earlier = answered(alice, report)
    panel = reverse("chat-panel", args=[report.pk])
    new = browser.get(f"{panel}?new").content.decode()
    assert "Which colour?" not in new
    assert f'hx-get="{panel}?conversation={earlier.pk}"' in new
    later = Conversation.objects.create(owner=alice, title="Later", scope="documents")
    later.documents.add(report)
    assert "Which colour?" not in browser.get(panel).content.decode()
    assert "Which colour?" in browser.get(f"{panel}?conversation={earlier.pk}").content.decode()
    others = Conversation.objects.create(
        owner=User.objects.create_user("bob"), title="His", scope="documents"
    )
    others.documents.add(report)
    assert "His" not in browser.get(f"{panel}?conversation={others.pk}").content.decode()


def test_nothing_in_a_citation_can_end_its_script_element(
    browser: Client, alice: User, report: Document
) -> None:
    answered(alice, report)
    page = browser.get(reverse("chat-panel", args=[report.pk])).content.decode()
    assert "</script><b>" not in page
    assert "\\u003C/script\\u003E" in page


def test_a_long_conversation_needs_no_more_queries(
    browser: Client, alice: User, report: Document, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    conversation = answered(alice, report)
    for position in range(2, 30):
        Message.objects.create(
            conversation=conversation,
            position=position,
            role=("user", "assistant")[position % 2],
            content="Yes?",
        )
    with django_assert_max_num_queries(12):
        browser.get(reverse("conversation", args=[conversation.pk]))


def test_conversations_are_listed_searched_renamed_deleted_and_brought_back(
    browser: Client, alice: User, report: Document
) -> None:
    conversation = answered(alice, report)
    listing = reverse("conversations")
    assert "Colour?" in browser.get(listing, {"q": "brown"}).content.decode()
    assert "Colour?" not in browser.get(listing, {"q": "purple"}).content.decode()
    browser.post(reverse("conversation-rename", args=[conversation.pk]), {"title": "Of foxes"})
    assert "Of foxes" in browser.get(listing).content.decode()
    browser.post(reverse("conversation-delete", args=[conversation.pk]))
    assert "Of foxes" not in browser.get(listing).content.decode()
    browser.post(reverse("conversation-restore", args=[conversation.pk]))
    assert "Of foxes" in browser.get(listing).content.decode()


def test_many_words_are_searched_in_long_conversations_without_their_product(
    browser: Client, alice: User
) -> None:
    """Each word joined all messages again: with ten words PostgreSQL computed for hours."""
    conversation = Conversation.objects.create(owner=alice, title="Birds")
    Message.objects.bulk_create(
        Message(conversation=conversation, position=n, role="user", content="a b c d e f owl" if n else "elk")
        for n in range(40)
    )
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = '60s'")
    words = "a b c d e f o w l el lk k elk owl bird"
    assert "Birds" in browser.get("/conversations/", {"q": words}).content.decode()
    assert "Birds" not in browser.get("/conversations/", {"q": f"{words} emu"}).content.decode()


def test_an_empty_library_is_not_asked(browser: Client, alice: User) -> None:
    shown = browser.get(reverse("conversation-new")).content.decode()
    assert "Add a document" in shown
    assert "data-conversation" not in shown
    Document.objects.create(owner=alice, title="Annual report", status="parsing")
    shown = browser.get(reverse("conversation-new")).content.decode()
    assert "as soon as the first one has been read" in shown
    assert "data-conversation" not in shown


def test_a_library_with_one_document_that_was_read_is_asked(browser: Client, report: Document) -> None:
    assert "data-conversation" in browser.get(reverse("conversation-new")).content.decode()


def test_the_reader_says_how_far_a_document_is_and_that_it_is_ready(
    browser: Client, report: Document
) -> None:
    state = reverse("document-state", args=[report.pk])
    Document.objects.update(status="parsing", progress=0.5, page_count=4)
    assert "Page 2 of 4 read" in browser.get(reverse("document", args=[report.pk])).content.decode()
    assert "Page 2 of 4 read" in browser.get(state).content.decode()
    for minutes, again in ((0, 2), (1, 6), (60, 15)):
        Document.objects.update(started_at=timezone.now() - timedelta(minutes=minutes))
        assert f'hx-trigger="every {again}s"' in browser.get(state).content.decode()
    Document.objects.update(status="ready")
    answer = browser.get(state)
    assert answer.content.strip() == b""
    assert answer["HX-Trigger"] == "documentready"
    assert browser.get(state, {"unseen": ""})["HX-Refresh"] == "true"


def test_a_document_that_failed_says_why_and_is_tried_again_by_who_may(
    browser: Client, client: Client, bob: User, report: Document
) -> None:
    Document.objects.update(status="failed", failure_message="The file is damaged.", indexed_at=None)
    shown = browser.get(reverse("document", args=[report.pk])).content.decode()
    assert "The file is damaged." in shown
    assert reverse("document-retry", args=[report.pk]) in shown
    assert "No readable text" in browser.get(reverse("chat-panel", args=[report.pk])).content.decode()
    Share.objects.create(document=report, user=bob)
    client.force_login(bob)
    shown = client.get(reverse("document", args=[report.pk])).content.decode()
    assert "The file is damaged." in shown
    assert reverse("document-retry", args=[report.pk]) not in shown
    assert client.get(reverse("document-state", args=[report.pk])).status_code == 200


@pytest.mark.parametrize("name", ["conversation", "conversation-rename", "conversation-delete"])
def test_others_do_not_see_a_conversation(
    name: str, client: Client, alice: User, bob: User, report: Document
) -> None:
    conversation = answered(alice, report)
    client.force_login(bob)
    send = client.get if name == "conversation" else client.post
    assert send(reverse(name, args=[conversation.pk])).status_code == 404
    assert client.get(reverse("chat-panel", args=[report.pk])).status_code == 404
    assert client.post(reverse("conversation-restore", args=[conversation.pk])).status_code in (302, 404)


def test_a_note_is_made_beside_its_document_and_seen_by_its_owner_alone(
    browser: Client, client: Client, bob: User, report: Document
) -> None:
    browser.post(reverse("note-new"), {"document": str(report.pk)})
    note = Note.objects.get()
    assert note.document == report
    assert browser.get(reverse("note", args=[note.pk])).status_code == 200
    client.force_login(bob)
    assert client.get(reverse("note", args=[note.pk])).status_code == 404
    assert client.post(reverse("note-delete", args=[note.pk])).status_code == 404
    assert client.post(reverse("note-new"), {"document": str(report.pk)}).status_code == 404


def test_a_note_in_the_list_begins_with_its_words(client: Client, alice: User) -> None:
    content = "#### Results\n\n- **Sales** grew by 6.2%* [[cite:0b1f:3]].\n> as_they_say [[cite:0b1f"
    note = Note.objects.create(owner=alice, content=content)
    assert note.excerpt == "Results Sales grew by 6.2%*. as_they_say"
    client.force_login(alice)
    listed = client.get("/notes/").content.decode()
    assert "Results Sales grew" in listed
    assert "[[cite" not in listed


def test_a_note_is_edited_with_marks_that_can_be_read_and_loses_no_citation(
    browser: Client, alice: User, report: Document
) -> None:
    answer = answered(alice, report).messages.get(role="assistant")
    note = add_answer(answer, alice)
    stored = note.content
    page = browser.get(reverse("note", args=[note.pk])).content.decode()
    mark = f"[[p. 1 #{note.citations.get().pk.hex[:8]}]]"
    assert f"It is brown. {mark}" in page
    assert "[[cite:" not in page
    edited = for_editor(stored, alice)
    form = {"note": note.pk, "revision": note.revision, "title": note.title, "content": f"{edited}More.\n"}
    saved = browser.post(reverse("note-save"), form).json()
    assert saved["content"] == form["content"]
    note.refresh_from_db()
    assert note.content == f"{stored}More.\n"
    other = {"revision": 0, "title": "Copied", "content": f"Carried over {mark} [[p. 9 #00000000]]"}
    saved = browser.post(reverse("note-save"), other).json()
    copied = Note.objects.get(pk=saved["note"])
    assert list(copied.citations.all()) == list(note.citations.all())
    assert saved["content"] == other["content"]
    assert "data-citation" in saved["html"]


def test_marks_of_another_persons_note_stay_words(alice: User, bob: User, report: Document) -> None:
    note = add_answer(answered(alice, report).messages.get(role="assistant"), alice)
    edited = for_editor(note.content, alice)
    assert from_editor(edited, alice) == note.content
    assert from_editor(edited, bob) == edited


@pytest.mark.parametrize(
    ("markdown", "words"),
    [
        ("| Year | Sales |\n|---|--:|\n| 2023 | 14,694 |", "Year Sales 2023 14,694"),
        ("Year|Sales\n:--|--\n2023|1", "Year Sales 2023 1"),
        ("One\n\n---\n\ntwo -- three", "One two -- three"),
        ("**bold**ly *well* `code`, 6%* of it*", "boldly well code, 6%* of it*"),
    ],
)
def test_an_excerpt_shows_no_signs_of_markdown(markdown: str, words: str) -> None:
    assert excerpt(markdown) == words


def test_an_answer_is_called_by_its_first_words() -> None:
    answer = str(Message(content="#### Net sales\n\n" + "They grew[[cite:0b1f:3]] again. " * 9))
    assert answer.startswith("Net sales They grew again. They grew")
    assert len(answer) == 80


def test_the_form_names_the_conversation_that_a_first_question_started(
    browser: Client, report: Document
) -> None:
    """So that the second question is asked in it."""
    data = {"question": "Which colour?", "document": str(report.pk)}
    page = browser.post(reverse("ask-first"), data, headers={"HX-Request": "true"}).content.decode()
    conversation = Conversation.objects.get()
    assert f'name="conversation" id="asked-conversation" value="{conversation.pk}"' in page
    browser.post(reverse("ask-first"), data | {"conversation": str(conversation.pk)})
    assert Conversation.objects.get().messages.count() == 4


def test_a_conversation_whose_model_is_gone_goes_on_without_one(
    browser: Client, alice: User, report: Document
) -> None:
    conversation = answered(alice, report)
    conversation.choose("openai")
    question_commands.ask(conversation, "Which colour?")
    answer = conversation.messages.last()
    assert answer is not None
    write_answer(answer, AnswerContext(lambda event: None, threading.Event()))
    page = browser.get(reverse("conversation", args=[conversation.pk])).content.decode()
    assert "OpenAI is not set up here." in page
    (button,) = re.findall(rf"<button[^>]+when-failed[^>]+{answer.pk}[^>]+hx-vals[^>]+>", page)
    (values,) = re.findall(r"hx-vals='([^']+)'", button)
    assert browser.post(reverse("answer-retry", args=[answer.pk]), json.loads(values)).status_code == 201
    conversation.refresh_from_db()
    assert conversation.provider == "extractive"


def test_what_another_tab_asked_is_shown_once(browser: Client, alice: User, report: Document) -> None:
    conversation = answered(alice, report)
    seen = conversation.messages.get(role="assistant").position
    news = {"conversation": conversation.pk}
    assert "Which colour?" in browser.get(reverse("conversation-news"), news).content.decode()
    assert browser.get(reverse("conversation-news"), news | {"seen": [seen]}).status_code == 204
    page = browser.get(reverse("conversation", args=[conversation.pk])).content.decode()
    assert f'name="seen" value="{seen}"' in page and '#asked-conversation, [name=seen]"' in page
