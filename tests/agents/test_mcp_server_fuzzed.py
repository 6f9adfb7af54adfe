"""What no schema describes, fuzzed: JSON-RPC at `/mcp`, and OpenAI's protocol.

Neither a status of 500 nor its disguises may come of any body: JSON-RPC's "internal error", or a tool that
says no more than that it failed, which is how the package reports a crash.
`--hypothesis-profile=search` tries ten times as many, others each time.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rest_framework.test import APIClient

from agents.results import PAGE_URI, PICTURE_URI
from documents.models import Document
from reviews.models import Review
from tests.api_clients import client_of

pytestmark = pytest.mark.django_db
INTERNAL_ERROR = -32603
METHOD_NOT_FOUND = -32601
TOOL_NAMES = ["list_documents", "search", "read", "locate", "verify", "ask", "add_document", "review"]
Arguments = dict[str, Any]

text = st.text(st.characters(codec="utf-8"), max_size=30)
surrogate = st.text(st.characters(categories=["Cs"]), min_size=1, max_size=2)
number = st.integers() | st.sampled_from([0, -1, 2**31, 2**63, 10**30]) | st.floats()
scalar = st.none() | st.booleans() | number | text | surrogate
anything = st.recursive(
    scalar, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3), max_leaves=6
)


def cases(number: int) -> settings:
    """Run this many cases, ten times as many under `--hypothesis-profile=search`. Users stay between them."""
    return settings(
        max_examples=number * settings.default.max_examples // 100,
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )


def written(body: object) -> bytes:
    """The body as JSON; surrogates are escaped, and NaN is written as JavaScript does."""
    return json.dumps(body).encode()


def post(client: APIClient, path: str, body: bytes, **headers: str) -> Any:
    return client.post(path, body, content_type="application/json", **headers)


def answer_of_mcp(client: APIClient, body: bytes, **headers: str) -> Any:
    """The answer, read as JSON where it is. Fails for a server error and its disguises."""
    response = post(client, "/mcp", body, HTTP_ACCEPT="application/json, text/event-stream", **headers)
    assert response.status_code < 500, (body, response.content)
    try:
        answer = json.loads(response.content)
    except ValueError:
        return None
    if isinstance(answer, dict):
        assert (answer.get("error") or {}).get("code") != INTERNAL_ERROR, (body, answer)
        result = answer.get("result") or {}
        for part in result.get("content", []) if isinstance(result, dict) else []:
            assert part.get("text") not in {f"Error executing tool {name}" for name in TOOL_NAMES}, body
    return answer


def rpc(method: object, params: object, key: object = 1) -> bytes:
    return written({"jsonrpc": "2.0", "id": key, "method": method, "params": params})


METHODS = [
    "initialize",
    "ping",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/read",
    "resources/templates/list",
    "prompts/list",
    "prompts/get",
    "completion/complete",
    "logging/setLevel",
    "notifications/initialized",
    "notifications/cancelled",
    "tasks/get",
    "subscriptions/listen",
]


@pytest.mark.slow
@cases(25)
@given(body=st.binary(max_size=60) | anything.map(written) | st.builds(rpc, anything, anything, anything))
def test_bytes_and_json_that_are_no_call_are_refused(alice: User, body: bytes) -> None:
    answer_of_mcp(client_of(alice), body)


@cases(25)
@given(method=st.sampled_from(METHODS), params=anything, key=anything)
def test_methods_bear_any_parameters(alice: User, method: str, params: object, key: object) -> None:
    answer_of_mcp(client_of(alice), rpc(method, params, key))


LATEST = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": LATEST,
    "io.modelcontextprotocol/clientInfo": {"name": "fuzz", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


def modern(client: APIClient, method: str, params: Arguments) -> Any:
    """The answer to a call of the protocol's latest version, which names version and method in headers."""
    headers = {"HTTP_MCP_PROTOCOL_VERSION": LATEST, "HTTP_MCP_METHOD": method}
    return answer_of_mcp(client, rpc(method, params | {"_meta": META}), **headers)


@pytest.mark.slow
@cases(25)
@given(method=st.sampled_from(METHODS), params=st.dictionaries(text, anything, max_size=3))
def test_methods_of_the_latest_version_bear_any_parameters(
    alice: User, method: str, params: Arguments
) -> None:
    modern(client_of(alice), method, params)


@pytest.mark.timeout(120)
def test_nobody_stops_the_process_by_a_subscription(alice: User) -> None:
    """The package waits for a disconnect while it answers; this loop once blocked the whole process."""
    client = client_of(alice)
    assert modern(client, "tools/list", {})["result"]["tools"]
    refused = modern(client, "subscriptions/listen", {"notifications": {"toolsListChanged": True}})
    assert refused["error"]["code"] == METHOD_NOT_FOUND


def usual(document: Document, review: Review) -> dict[str, Arguments]:
    """For each tool arguments that it takes."""
    key = str(document.pk)
    return {
        "list_documents": {"query": "acme", "offset": 0, "limit": 5},
        "search": {"query": "anvils", "documents": [key], "limit": 5, "offset": 0},
        "read": {"document": key, "pages": "1-2"},
        "locate": {"document": key, "quote": "weighed twelve tons", "context": "anvils"},
        "verify": {"document": key, "claim": "The anvils weighed twelve tons.", "quote": "", "page": 1},
        "ask": {"question": "", "documents": [key], "conversation": ""},
        "add_document": {"name": "a.pdf", "content_base64": "TVo="},
        "review": {"review": str(review.pk), "offset": 0, "name": "", "documents": [], "columns": []},
    }


NEAR_MISS = st.sampled_from(
    [
        *(
            "",
            " ",
            "0",
            "1-",
            "9-1",
            "1-99999999999",
            "1,,2",
            "\x00",
            "a\x00b",
            "%",
            "\ud800",
            "٣",
            "²",
            "None",
        ),
        *("00000000-0000-0000-0000-000000000000", "{}", "pincite://documents/x/pages/1", "A" * 5000),
    ]
)
value = NEAR_MISS | anything


@pytest.mark.slow
@cases(50)
@given(tool=st.sampled_from(TOOL_NAMES), data=st.data())
def test_tools_bear_any_arguments(alice: User, report: Document, tool: str, data: st.DataObject) -> None:
    """One to three of the arguments are replaced, dropped or added."""
    arguments = usual(report, Review.objects.get_or_create(owner=alice, name="Anvils")[0])[tool]
    names = st.sampled_from(sorted(arguments)) | text
    for name in data.draw(st.lists(names, min_size=1, max_size=3)):
        if data.draw(st.booleans()):
            arguments[name] = data.draw(value)
        else:
            arguments.pop(name, None)
    if tool == "ask":
        arguments["question"] = data.draw(st.sampled_from(["", " ", "\x00"]))  # answers are another test's
    answer_of_mcp(client_of(alice), rpc("tools/call", {"name": tool, "arguments": arguments}))


@pytest.mark.slow
@cases(25)
@given(page=value.map(str), boxes=value.map(str), template=st.sampled_from([PAGE_URI, PICTURE_URI, "{page}"]))
def test_resources_bear_any_address(
    alice: User, report: Document, template: str, page: str, boxes: str
) -> None:
    uri = template.format(document=report.pk, page=page, boxes=boxes)
    answer_of_mcp(client_of(alice), rpc("resources/read", {"uri": uri}))


def openai_error(response: Any, body: object) -> None:
    """Fails for a server error, and for an error in another shape than OpenAI's."""
    assert response.status_code < 500, (body, response.content)
    if response.status_code >= 400:
        error = json.loads(response.content)["error"]
        assert set(error) == {"message", "type", "code", "param"} and error["message"], (body, error)


MESSAGE = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "system", "tool", "developer"]) | anything},
    optional={"content": value, "tool_calls": anything, "name": anything},
)
CHAT = {
    "model": st.builds("{}:{}".format, st.sampled_from(["document", "collection"]), text | st.uuids()),
    "messages": st.lists(MESSAGE, max_size=4),
    "stream": st.booleans(),
}
RESPONSE = {
    "model": CHAT["model"],
    "input": st.lists(MESSAGE | anything, max_size=4) | text,
    "previous_response_id": st.none() | text,
}
Fields = dict[str, st.SearchStrategy[Any]]


def bodies(fields: Fields) -> st.SearchStrategy[dict[str, Any]]:
    """Requests with one field replaced by anything, or left out, or another added."""

    def spoilt(sent: dict[str, Any], name: str, other: object, dropped: bool) -> dict[str, Any]:
        rest = {key: value for key, value in sent.items() if key != name}
        return rest if dropped else rest | {name: other}

    return st.builds(
        spoilt,
        st.fixed_dictionaries(fields),
        st.sampled_from([*fields, "stream_options", "n", "tools", "instructions"]),
        value,
        st.booleans(),
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "fields"),
    [("/v1/chat/completions", CHAT), ("/v1/responses", RESPONSE)],
    ids=["chat", "responses"],
)
def test_openais_protocol_bears_any_body(bob: User, path: str, fields: Fields) -> None:
    """Bob has no access to these models, so even a valid request is refused before an answer starts."""

    @cases(50)
    @given(body=bodies(fields))
    def bears(body: dict[str, Any]) -> None:
        openai_error(post(client_of(bob), path, written(body)), body)

    bears()


@cases(25)
@given(body=st.binary(max_size=60) | anything.map(written))
def test_openais_protocol_bears_what_is_no_request(bob: User, body: bytes) -> None:
    for path in ("/v1/chat/completions", "/v1/responses"):
        openai_error(post(client_of(bob), path, body), body)


@pytest.mark.slow
@cases(25)
@given(key=text.filter(lambda key: key and "/" not in key and key not in (".", "..")))
def test_a_response_of_any_id_is_not_found(bob: User, key: str) -> None:
    response = client_of(bob).get(f"/v1/responses/{key}".replace("%", "%25").replace("?", "%3F"))
    openai_error(response, key)
    assert response.status_code in (404, 422)


def test_the_checks_of_this_module_notice_a_crash(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tool that raises is reported, so that the tests above can fail."""

    def broken(*arguments: object) -> None:
        raise ZeroDivisionError

    call: Callable[[], Any] = lambda: answer_of_mcp(  # noqa: E731
        client_of(alice), rpc("tools/call", {"name": "list_documents", "arguments": {}})
    )
    assert call()["result"]["structuredContent"]["total"] == 0
    monkeypatch.setattr("agents.evidence._next", broken)
    with pytest.raises(AssertionError):
        call()
