"""OpenAI's protocol, spoken by its own SDK to a real server."""

from __future__ import annotations

import openai
import pytest
from django.contrib.auth.models import User

from chat.models import Conversation, Message
from documents.models import Collection, Document
from tests.agents.conftest import NewKey
from tests.chat.conftest import QUESTION

pytestmark = pytest.mark.django_db(transaction=True)
NEXT = "What do earthquake pills cost?"


def client_for(server: str, key: str) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{server}/v1", api_key=key, max_retries=0, timeout=60)


def test_models_are_the_library_its_collections_and_documents(
    asgi_server: str, alice: User, bob: User, report: Document, new_key: NewKey
) -> None:
    collection = Collection.objects.create(owner=alice, name="Anvils")
    listed = client_for(asgi_server, new_key(alice, "read")).models.list()
    assert [model.id for model in listed] == [
        "library",
        f"collection:{collection.pk}",
        f"document:{report.pk}",
    ]
    assert [model.id for model in client_for(asgi_server, new_key(bob, "read")).models.list()] == ["library"]


def test_an_answer_has_links_annotations_and_sources(
    asgi_server: str, alice: User, report: Document, new_key: NewKey
) -> None:
    client = client_for(asgi_server, new_key(alice, "ask"))
    answer = client.chat.completions.create(
        model=f"document:{report.pk}", messages=[{"role": "user", "content": QUESTION}]
    )
    message = answer.choices[0].message
    assert (
        message.content
        and "1,577 red anvils" in message.content
        and answer.choices[0].finish_reason == "stop"
    )
    assert "**Sources**" in message.content and "passage" in message.content
    assert message.annotations
    note = message.annotations[0]
    cited = message.content[note.url_citation.start_index : note.url_citation.end_index]
    assert cited == f"[[1]]({note.url_citation.url})"
    assert note.url_citation.url.startswith(f"{asgi_server}/documents/{report.pk}/?page=1&unit=")
    assert note.pincite["page"] == 1 and note.pincite["verdict"] == "found" and note.pincite["rects"]  # type: ignore[attr-defined]


def test_a_stream_says_the_same_as_a_whole_answer(
    asgi_server: str, alice: User, report: Document, new_key: NewKey
) -> None:
    client, model = client_for(asgi_server, new_key(alice, "ask")), f"document:{report.pk}"
    whole = client.chat.completions.create(model=model, messages=[{"role": "user", "content": QUESTION}])
    chunks = list(
        client.chat.completions.create(
            model=model, messages=[{"role": "user", "content": QUESTION}], stream=True
        )
    )
    said = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    without_ids = [part.split("&citation=")[0] for part in said.split("](")]
    assert without_ids == [
        part.split("&citation=")[0] for part in (whole.choices[0].message.content or "").split("](")
    ]
    assert chunks[-1].choices[0].finish_reason == "stop"
    notes = [note for chunk in chunks for note in getattr(chunk.choices[0].delta, "annotations", None) or []]
    place = notes[0]["url_citation"]
    assert said[place["start_index"] : place["end_index"]] == f"[[1]]({place['url']})"


def test_a_talk_that_is_sent_whole_goes_on_in_its_conversation(
    asgi_server: str, alice: User, bob: User, report: Document, new_key: NewKey
) -> None:
    client = client_for(asgi_server, new_key(alice, "ask"))
    system = {"role": "system", "content": "You are a pirate."}
    talk = [system, {"role": "user", "content": [{"type": "text", "text": QUESTION}]}]
    first = client.chat.completions.create(model="library", messages=talk)  # type: ignore[arg-type]
    talk += [
        {"role": "assistant", "content": first.choices[0].message.content or ""},
        {"role": "user", "content": NEXT},
    ]
    second = client.chat.completions.create(model="library", messages=talk)  # type: ignore[arg-type]
    assert "49 dollars" in (second.choices[0].message.content or "")
    conversation = Conversation.objects.get()
    questions = conversation.messages.filter(role=Message.Role.USER).order_by("position")
    assert [question.content for question in questions] == [QUESTION, NEXT]
    with pytest.raises(openai.UnprocessableEntityError, match="no document to search"):
        stranger = client_for(asgi_server, new_key(bob, "ask"))
        stranger.chat.completions.create(model="library", messages=talk)  # type: ignore[arg-type]
    assert Conversation.objects.filter(owner=bob).count() == 1  # Alice's is not continued


def test_errors_are_openais(
    asgi_server: str, alice: User, bob: User, report: Document, new_key: NewKey
) -> None:
    question = [{"role": "user", "content": "Who?"}]
    client = client_for(asgi_server, new_key(bob, "ask"))
    with pytest.raises(openai.UnprocessableEntityError, match="There is no model"):
        client.chat.completions.create(model=f"document:{report.pk}", messages=question)  # type: ignore[arg-type]
    with pytest.raises(openai.UnprocessableEntityError, match="last message"):
        client.chat.completions.create(model="library", messages=[{"role": "assistant", "content": "I."}])
    with pytest.raises(openai.UnprocessableEntityError, match="Write a question"):
        client.chat.completions.create(model="library", messages=[{"role": "user", "content": " "}])
    with pytest.raises(openai.BadRequestError, match="messages"):
        client.chat.completions.create(model="library", messages=[])
    with pytest.raises(openai.AuthenticationError):
        client_for(asgi_server, "pin_none").models.list()
    with pytest.raises(openai.PermissionDeniedError, match="ask"):
        reader = client_for(asgi_server, new_key(alice, "read"))
        reader.chat.completions.create(model="library", messages=question)  # type: ignore[arg-type]


def test_a_response_has_its_citations_as_annotations(
    asgi_server: str, alice: User, bob: User, report: Document, new_key: NewKey
) -> None:
    client = client_for(asgi_server, new_key(alice, "ask", "read"))
    model = f"document:{report.pk}"
    first = client.responses.create(model=model, input=QUESTION, instructions="You are a pirate.")
    assert first.status == "completed" and "1,577 red anvils" in first.output_text
    note, *_ = first.output[0].content[0].annotations  # type: ignore[union-attr]
    assert first.output_text[note.start_index : note.end_index] == f"[[1]]({note.url})"  # type: ignore[union-attr]
    assert note.url.startswith(f"{asgi_server}/documents/{report.pk}/?page=1")  # type: ignore[union-attr]
    place = note.pincite  # type: ignore[union-attr]
    assert place["page"] == 1 and place["verdict"] == "found" and place["rects"] and "1,577" in place["quote"]

    second = client.responses.create(model=model, input=NEXT, previous_response_id=first.id)
    assert "49 dollars" in second.output_text and second.previous_response_id == first.id
    assert Conversation.objects.count() == 1
    assert client.responses.retrieve(first.id).output_text == first.output_text
    assert client.responses.retrieve(first.id).model == model

    talk = [
        {"role": "user", "content": [{"type": "input_text", "text": QUESTION}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "1,577."}]},
        {"role": "user", "content": NEXT},
    ]
    assert "49" in client.responses.create(model="library", input=talk).output_text  # type: ignore[arg-type]
    stranger = client_for(asgi_server, new_key(bob, "ask", "read"))
    with pytest.raises(openai.NotFoundError):
        stranger.responses.retrieve(first.id)
    with pytest.raises(openai.NotFoundError):
        stranger.responses.create(model="library", input=NEXT, previous_response_id=first.id)
    with pytest.raises(openai.BadRequestError, match="input"):
        client.responses.create(model="library", input=7)  # type: ignore[call-overload]


def test_a_streamed_response_ends_with_the_same_text_and_annotations(
    asgi_server: str, alice: User, report: Document, new_key: NewKey
) -> None:
    client = client_for(asgi_server, new_key(alice, "ask"))
    with client.responses.stream(model=f"document:{report.pk}", input=QUESTION) as stream:
        events = list(stream)
        whole = stream.get_final_response()
    kinds = [event.type for event in events]
    assert kinds[:2] == ["response.created", "response.in_progress"] and kinds[-1] == "response.completed"
    assert [event.sequence_number for event in events] == list(range(len(events)))
    said = "".join(event.delta for event in events if event.type == "response.output_text.delta")
    assert said == whole.output_text and "1,577 red anvils" in said and "**Sources**" in said
    note, *_ = [event.annotation for event in events if event.type == "response.output_text.annotation.added"]
    assert said[note.start_index : note.end_index] == f"[[1]]({note.url})"  # type: ignore[union-attr]
