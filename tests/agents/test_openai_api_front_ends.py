"""The requests of Open WebUI and LibreChat, as their sources write them, sent to a real server.

Both list models, then stream with usage. Their history, tools, images and options come along; tasks that
need a language model (titles, tags, follow-up questions) go to the same address.
"""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from django.contrib.auth.models import User
from openai.types.chat import ChatCompletionChunk

from chat.models import Conversation, Message
from documents.models import Document
from tests.agents.conftest import NewKey
from tests.chat.conftest import QUESTION

pytestmark = pytest.mark.django_db(transaction=True)
NEXT = "What do earthquake pills cost?"
PIXEL = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"
TOOL = {
    "type": "function",
    "function": {
        "name": "get_time",
        "description": "Get the time.",
        "parameters": {"type": "object", "properties": {"zone": {"type": "string"}}, "required": []},
    },
}
# Open WebUI: temperature and the like from the chat's controls, tools when "native" calling is chosen.
OPEN_WEBUI: dict[str, Any] = {
    "stream": True,
    "stream_options": {"include_usage": True},
    "temperature": 0.7,
    "top_p": 0.9,
    "max_tokens": 512,
    "frequency_penalty": 0.1,
    "seed": 7,
    "stop": ["###"],
    "tools": [TOOL],
}
# LibreChat asks through LangChain's ChatOpenAI.
LIBRECHAT: dict[str, Any] = {
    "stream": True,
    "stream_options": {"include_usage": True},
    "temperature": 1,
    "top_p": 1,
    "presence_penalty": 0,
    "frequency_penalty": 0,
    "max_tokens": None,
    "n": 1,
    "user": "66f0c1d2a7b8c9d0e1f2a3b4",
    "tools": [TOOL],
    "tool_choice": "auto",
    "parallel_tool_calls": True,
}
OPEN_WEBUI_TASKS = [
    "### Task:\nGenerate a concise, 3-5 word title with an emoji summarizing the chat history.\n### Output:\n"
    'JSON format: { "title": "your concise title here" }\n### Chat History:\n<chat_history>\nUSER: Hi\n'
    "</chat_history>",
    "### Task:\nGenerate 1-3 broad tags categorizing the main themes of the chat history\n<chat_history>",
    "### Task:\nSuggest 3-5 relevant follow-up questions or prompts\n<chat_history>",
    "### Task:\nAnalyze the chat history to determine the necessity of generating search queries",
]
LIBRECHAT_TASKS = [
    "Provide a concise, 5-word-or-less title for the conversation, using its same language, with no "
    "punctuation.\n\nConversation:\nUser: Hi\nAI: Hello",
    "Analyze this conversation and provide:\n1. The detected language of the conversation\n"
    "2. A concise title in the detected language (5 words or less, no punctuation or quotation)\n",
]


def posted(server: str, key: str, body: dict[str, Any]) -> httpx.Response:
    headers = {
        "Authorization": f"Bearer {key}",
        "Content-Type": "application/json",
        "X-OpenWebUI-User-Name": "Alice",
    }
    return httpx.post(f"{server}/v1/chat/completions", json=body, headers=headers, timeout=60)


def streamed(response: httpx.Response) -> tuple[str, list[ChatCompletionChunk]]:
    """The words of a stream and its chunks. Fails where a line is no event, or the stream does not end."""
    assert response.status_code == 200 and response.headers["content-type"].startswith("text/event-stream")
    lines = [line for line in response.text.split("\n") if line and not line.startswith(":")]
    assert all(line.startswith("data: ") for line in lines) and lines[-1] == "data: [DONE]"
    chunks = [ChatCompletionChunk.model_validate(json.loads(line[6:])) for line in lines[:-1]]
    assert chunks[-1].usage and not chunks[-1].choices
    assert chunks[0].choices[0].delta.role == "assistant"
    assert chunks[-2].choices[0].finish_reason == "stop"
    return "".join(chunk.choices[0].delta.content or "" for chunk in chunks[:-1]), chunks


@pytest.mark.parametrize("options", [OPEN_WEBUI, LIBRECHAT], ids=["open-webui", "librechat"])
def test_a_front_end_lists_models_and_streams_a_talk(
    asgi_server: str, alice: User, report: Document, new_key: NewKey, options: dict[str, Any]
) -> None:
    key = new_key(alice, "ask", "read")
    listed = httpx.get(f"{asgi_server}/v1/models", headers={"Authorization": f"Bearer {key}"}).json()
    model = listed["data"][-1]
    assert model["id"] == f"document:{report.pk}" and model["name"] == report.title

    talk: list[dict[str, Any]] = [
        {"role": "system", "content": "You are a pirate. User: Alice."},
        {"role": "user", "content": [{"type": "text", "text": QUESTION}]},
    ]
    said, chunks = streamed(posted(asgi_server, key, {"model": model["id"], "messages": talk, **options}))
    assert "1,577 red anvils" in said and "[[1]](" in said and "**Sources**" in said
    assert {chunk.model for chunk in chunks} == {model["id"]}
    assert not any(choice.delta.tool_calls for chunk in chunks for choice in chunk.choices)

    # The answer comes back as it was shown, and a picture with the next question.
    picture = {"type": "image_url", "image_url": {"url": PIXEL, "detail": "auto"}}
    talk += [
        {"role": "assistant", "content": said},
        {"role": "user", "content": [{"type": "text", "text": NEXT}, picture]},
    ]
    said, _ = streamed(posted(asgi_server, key, {"model": model["id"], "messages": talk, **options}))
    assert "49 dollars" in said
    questions = Conversation.objects.get().messages.filter(role=Message.Role.USER).order_by("position")
    assert [question.content for question in questions] == [QUESTION, NEXT]


def test_a_talk_with_tool_calls_and_its_first_answer_left_out_is_answered(
    asgi_server: str, alice: User, report: Document, new_key: NewKey
) -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "get_time", "arguments": "{}"}}
    talk = [
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": "What time is it?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": "12:00"},
        {"role": "assistant", "content": ""},
        {"role": "user", "content": QUESTION},
    ]
    body = {"model": "library", "messages": talk, "stream": None, "max_completion_tokens": 1000}
    answer = posted(asgi_server, new_key(alice, "ask"), body).json()
    assert "1,577 red anvils" in answer["choices"][0]["message"]["content"]


@pytest.mark.parametrize("task", OPEN_WEBUI_TASKS + LIBRECHAT_TASKS)
def test_tasks_for_a_language_model_are_refused_and_leave_nothing(
    asgi_server: str, alice: User, report: Document, new_key: NewKey, task: str
) -> None:
    body = {
        "model": "library",
        "messages": [{"role": "user", "content": task}],
        "stream": False,
        "max_completion_tokens": 1000,
    }
    refused = posted(asgi_server, new_key(alice, "ask"), body)
    assert refused.status_code == 422 and "titles" in refused.json()["error"]["message"]
    assert not Conversation.objects.exists()


def test_a_picture_without_words_is_refused(
    asgi_server: str, alice: User, report: Document, new_key: NewKey
) -> None:
    content = [{"type": "image_url", "image_url": {"url": PIXEL}}]
    body = {"model": "library", "messages": [{"role": "user", "content": content}], "stream": True}
    refused = posted(asgi_server, new_key(alice, "ask"), body)
    assert refused.status_code == 422 and "Write a question" in refused.json()["error"]["message"]
