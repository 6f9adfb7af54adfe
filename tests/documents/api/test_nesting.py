"""JSON that is nested too deeply is refused."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client

from documents.api.common.callers import DEEPEST, depth
from documents.models import ApiToken, Document
from reviews.models import Review
from tests.api_clients import client_of

PATHS = ("/api/documents/", "/api/conversations/", "/api/tags/", "/api/collections/", "/api/search/")


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("levels", [100, 900, 100_000])
@pytest.mark.parametrize("pair", ["[]", ('{"a":', "}")])
def test_deep_json_is_refused_and_breaks_nothing(
    client: Client, alice: User, path: str, levels: int, pair: tuple[str, str] | str
) -> None:
    """On 9a9b452: 500 of a RecursionError."""
    _, key = ApiToken.objects.issue(alice, "deep", ["read", "write", "ask"])
    opening, closing = pair
    body = opening * levels + "1" * (pair != "[]") + closing * levels
    headers = {"authorization": f"Bearer {key}"}
    answer = client.post(path, data=body, content_type="application/json", headers=headers)
    assert answer.status_code in (400, 405)
    if answer.status_code == 400:
        assert answer.json()["message"] == "This JSON is nested too deeply."


def test_levels_are_counted() -> None:
    assert depth({"a": [1, {"b": 2}]}) <= DEEPEST
    deep: object = 1
    for _ in range(1000):
        deep = [deep]
    assert depth(deep) > DEEPEST


def test_json_that_takes_long_to_parse_is_refused_unparsed(alice: User) -> None:
    client, body = client_of(alice), b'{"query": "' + b"a" * (5 << 20) + b'"}'
    assert client.post("/api/search/", body, content_type="application/json").status_code == 413


def test_a_list_of_ids_is_read_in_one_query(alice: User, django_assert_max_num_queries: Any) -> None:
    """Two thousand ids took a query each, 3.5 s of processor time."""
    client, review = client_of(alice), Review.objects.create(owner=alice, name="Owls")
    Document.objects.bulk_create(Document(owner=alice, title=f"Owl {n}") for n in range(60))
    ids = [str(key) for key in Document.objects.values_list("pk", flat=True)]
    address = f"/api/reviews/{review.pk}/rows/"
    with django_assert_max_num_queries(40):
        assert client.post(address, {"documents": ids}, format="json").json() == {"added": 60}
    refused = client.post(address, {"documents": ids * 20}, format="json")
    assert refused.status_code in (400, 422) and "1000" in refused.content.decode()
    for wrong in ([str(uuid4())], [*ids, str(uuid4())]):
        assert client.post(address, {"documents": wrong}, format="json").status_code == 404
    for wrong_type in ([5], ["x"], "x", None):
        assert client.post(address, {"documents": wrong_type}, format="json").status_code in (400, 404, 422)
