"""No user reaches another's objects: every route × method × foreign id, from the URL conf and the schema.

Alice owns one of everything. Charlie, who was given nothing, asks for each by
its id, by session and by token, through every route that takes an id, every
filter and every body that does: all is answered by 404. A new route whose ids
are not in ``OWNED`` fails the first test.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from typing import Any

import pytest
from allauth.usersessions.models import UserSession
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import timezone
from drf_spectacular.generators import SchemaGenerator
from rest_framework.test import APIClient

from agents.models import FileCheck, ReaderEmbed, Webhook
from chat.models import (
    Annotation,
    AnswerShare,
    Citation,
    Conversation,
    Message,
    Note,
    NoteVersion,
    Report,
)
from chat.models.conversation import revoke, share_answer, token_of
from documents.models import ApiToken, CitationUnit, Collection, Document, Job, RetrievalChunk, Share, Tag
from retrieval.models import SavedSearch, SearchQuery
from reviews.models import Review, ReviewCell, ReviewColumn, ReviewRow, ReviewTemplate
from tests.api_clients import client_of
from tests.conftest import Ingest

SECRET = "Zanzibar"  # stands in everything that is Alice's
METHODS = ("get", "post", "put", "patch", "delete")
NOT_OURS = ("admin/", "static/")  # Django's own, tested below: only for staff

# Which of Alice's things an id in a path names, by the beginning of the route.
OWNED = {
    r"(api/)?documents/": "document",
    r"api/units/": "unit",
    r"api/chunks/": "chunk",
    r"api/collections/": "collection",
    r"api/tags/": "tag",
    r"api/shares/": "share",
    r"api/tokens/": "token",
    r"api/jobs/": "job",
    r"api/conversations/": "conversation",
    r"api/messages/": "answer",
    r"api/citations/": "citation",
    r"api/notes/": "note",
    r"(api/saved-searches|search/saved)/": "saved search",
    r"(api|account)/webhooks/": "webhook",
    r"(api/)?annotations/": "annotation",
    r"v1/responses/": "answer",
    r"api/checks/": "file check",
    r"api/embeds/": "embed",
    r"api/reviews/<uuid:review_id>/columns/<uuid": "review column",
    r"api/reviews/<uuid:review_id>/rows/<uuid": "review row",
    r"api/reviews/<uuid:review_id>/cells/<uuid": "review cell",
    r"reviews/cell/": "review cell",
    r"api/reviews/<uuid:review_id>/shares/<int": "review share",
    r"api/review-templates/<uuid:template_id>/shares/<int": "template share",
    r"(api/review-|reviews/)templates/": "review template",
    r"(api/)?reviews/": "review",
    r"(api/)?reports/": "report",
    r"search/similar/": "chunk",
    r"search/picture/": "unit",
    r"search/history/": "search",
    r"conversations/(beside|marks)/": "document",
    r"conversations/sources/": "answer",
    r"conversations/<uuid": "conversation",
    r"chat/messages/": "answer",
    r"chat/citations/": "citation",
    r"chat/<uuid": "conversation",
    r"collections/": "collection",
    r"tags/": "tag",
    r"shares/": "share",
    r"notes/": "note",
    r"account/tokens/": "token",
    r"account/sessions/": "session",
}
# Ids that name nothing of a person's, or links that are meant for whoever holds them.
OPEN = (
    "api/providers/",
    "conversations/providers/",
    "chat/shared/",
    "embed/",
    "account/single-sign-on/",
    "account/invitation/",  # a signed link
    "account/people/",  # for administrators alone: tests/operations/accounts/test_people.py
)
# Switched off here; ``tests/operations/accounts/test_sign_in_second_factor.py`` has its own Charlie.
SWITCHED_OFF = ("account/second-factor/",)
CATALOGUES = ("/citing/", "/references/")  # ask other servers
NUMBERS = {"number": 1, "index": 0, "revision": 0, "share_id": 1}
HOLDERS = {"review_id": "review", "template_id": "review template"}  # ids before the one a route is about


@dataclass(frozen=True)
class Route:
    path: str  # as in the URL conf: documents/<uuid:pk>/
    parameters: tuple[str, ...]
    methods: tuple[str, ...]


@cache
def routes() -> tuple[Route, ...]:
    return tuple(
        route for route in _walk(get_resolver().url_patterns, "") if not route.path.startswith(NOT_OURS)
    )


def _walk(patterns: list[URLPattern | URLResolver], prefix: str) -> Iterator[Route]:
    for pattern in patterns:
        path = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from _walk(pattern.url_patterns, path)
        else:
            yield Route(path, tuple(re.findall(r"<(?:\w+:)?(\w+)>", path)), _methods(pattern.callback))


def _methods(view: Any) -> tuple[str, ...]:
    """What a view answers; a plain function is asked with all methods."""
    actions = getattr(view, "actions", None)
    if actions:
        return tuple(method for method in METHODS if method in actions)
    kind = getattr(view, "cls", None) or getattr(view, "view_class", None)
    if kind is None:
        return METHODS
    return tuple(method for method in METHODS if method in kind.http_method_names and hasattr(kind, method))


def owned_by(route: Route) -> str | None:
    return next((name for start, name in OWNED.items() if re.match(start, route.path)), None)


def personal_routes() -> list[Route]:
    return [
        route for route in routes() if route.parameters and not route.path.startswith(OPEN + SWITCHED_OFF)
    ]


@pytest.fixture
def hers(alice: User, bob: User, ingested: Ingest) -> dict[str, Any]:
    """One of everything, Alice's; ``share`` gives the collection to Bob, so that it is really shared."""
    document = ingested(
        alice, f"# {SECRET}\n\nThe {SECRET} contract is worth 7,777 dollars.", name=f"{SECRET}.pdf"
    )
    Document.objects.create(owner=alice, title=SECRET, status="failed", failure_code="internal")
    collection = Collection.objects.create(owner=alice, name=SECRET)
    unit = CitationUnit.objects.filter(document=document).first()
    conversation = Conversation.objects.create(owner=alice, title=SECRET)
    Message.objects.create(conversation=conversation, position=0, role="user", content=f"What of {SECRET}?")
    answer = Message.objects.create(conversation=conversation, position=1, role="assistant", content=SECRET)
    citation = Citation.objects.create(
        message=answer, number=1, document=document, unit=unit, quote=SECRET, page_number=1, verdict="exact",
        rects=[[72, 80, 120, 92]],
    )  # fmt: skip
    note = Note.objects.create(owner=alice, title=SECRET, content=SECRET)
    NoteVersion.objects.create(note=note, revision=0, content=SECRET)
    annotation = Annotation.objects.create(
        owner=alice, document=document, quote=SECRET, page_number=1, rects=[[72, 80, 120, 92]]
    )
    report = Report.objects.create(owner=alice, kind="versions", title=SECRET, documents=[document.pk])
    review = Review.objects.create(owner=alice, name=SECRET)
    columns = [{"title": SECRET, "question": "What?"}]
    template = ReviewTemplate.objects.create(owner=alice, name=SECRET, columns=columns)
    nobody = Group.objects.create(name="Nobody")
    column = ReviewColumn.objects.create(review=review, title=SECRET, question=f"What of {SECRET}?")
    row = ReviewRow.objects.create(review=review, document=document, added_by=alice)
    return {
        "report": report,
        "review": review,
        "review share": review.shares.create(group=nobody),
        "review template": template,
        "template share": template.shares.create(group=nobody),
        "review column": column,
        "review row": row,
        "review cell": ReviewCell.objects.create(row=row, column=column, state="found", text=SECRET),
        "document": document,
        "annotation": annotation,
        "job": Job.objects.get(document=document),
        "unit": unit,
        "chunk": RetrievalChunk.objects.filter(document=document).first(),
        "collection": collection,
        "tag": Tag.objects.create(owner=alice, name=SECRET),
        "share": Share.objects.create(collection=collection, user=bob),
        "session": UserSession.objects.create(user=alice, ip="10.0.0.1", session_key="x" * 32),
        "token": ApiToken.objects.issue(alice, SECRET, ["read"])[0],
        "conversation": conversation,
        "answer": answer,
        "citation": citation,
        "note": note,
        "search": SearchQuery.objects.create(user=alice, query=SECRET),
        "saved search": SavedSearch.objects.create(user=alice, name=SECRET, query="q=x"),
        "answer share": AnswerShare.objects.create(message=answer),
        "file check": FileCheck.objects.create(owner=alice, kind="verify", wanted=[], results=[SECRET]),
        "embed": ReaderEmbed.objects.create(
            owner=alice,
            document=document,
            origins=["https://zanzibar.example"],
            expires_at=timezone.now() + timedelta(days=1),
        ),
        "webhook": Webhook.objects.create(owner=alice, url="https://example.com/", events=["document.ready"]),
    }


@pytest.fixture
def callers(charlie: User) -> list[Client]:
    """Charlie, by session and by token."""
    browser = Client()
    browser.force_login(charlie)
    return [browser, client_of(charlie)]


@pytest.fixture(autouse=True)
def no_limits(settings: Any) -> None:
    settings.RATES = dict.fromkeys(settings.RATES, "1000000/h")
    settings.SEMANTIC_SCHOLAR_URL = settings.OPENALEX_URL = "http://127.0.0.1:9"  # a page asks them
    settings.CATALOGUE_BACKOFF_SECONDS = 0.01


def address(route: Route, hers: dict[str, Any]) -> str:
    """The route's path with the ids of what is Alice's."""
    name = owned_by(route)
    assert name is not None, f"{route.path}: say in OWNED what its ids name, and it is probed"

    def value(match: re.Match[str]) -> str:
        return str(NUMBERS.get(match[1], hers[HOLDERS.get(match[1], name)].pk))

    return "/" + re.sub(r"<(?:\w+:)?(\w+)>", value, route.path)


def call(client: Client, method: str, path: str) -> Any:
    body = {} if method == "get" else {"data": "{}", "content_type": "application/json"}
    return getattr(client, method)(path, **body)


def content_of(answer: Any) -> str:
    if not answer.streaming:
        return answer.content.decode(errors="replace")
    return b"".join(answer).decode(errors="replace")


def test_every_route_with_an_id_says_whose_it_is() -> None:
    unnamed = [route.path for route in personal_routes() if owned_by(route) is None]
    assert not unnamed, f"say in OWNED what the ids of these routes name: {unnamed}"


def test_no_route_answers_another_persons_ids(hers: dict[str, Any], callers: list[Client]) -> None:
    answered, probes = [], 0
    for route in personal_routes():
        path, statuses = address(route, hers), set()
        for client in callers:
            by_token = isinstance(client, APIClient)
            if by_token and not route.path.startswith("api/"):
                continue  # tokens open the API only
            for method in route.methods:
                answer = call(client, method, path)
                probes += 1
                statuses.add(answer.status_code)
                if answer.status_code not in (404, 405) or SECRET in content_of(answer):
                    answered.append((method, path, answer.status_code))
        assert 404 in statuses, f"{route.path}: only {statuses}"
    assert not answered
    assert probes >= 200, f"only {probes} probes"


def test_the_same_routes_do_answer_their_owner(hers: dict[str, Any], alice: User) -> None:
    """Else the probes would prove nothing: GET of each route of the API finds Alice's own."""
    client = client_of(alice)
    for route in personal_routes():
        path = address(route, hers)  # Alice has no table; pictures have their own tests
        if (
            path.startswith("/api/")
            and "get" in route.methods
            and not path.endswith(("/tables/0/", "/image/", *CATALOGUES))
        ):
            needs = {"find": "?q=Zanzibar", "budget": "?question=Zanzibar"}  # what else is a 400
            asked = path + needs.get(path.rstrip("/").rpartition("/")[2], "")
            assert call(client, "get", asked).status_code == 200, path


def test_nobody_gets_anything_without_signing_in(hers: dict[str, Any]) -> None:
    stranger = Client()
    for route in personal_routes():
        for method in ("get", "post"):
            if method not in route.methods:
                continue
            answer = call(stranger, method, address(route, hers))
            assert answer.status_code in (302, 401, 403, 404, 405), (method, route.path, answer.status_code)
            assert SECRET not in content_of(answer)
            if answer.status_code == 302:
                assert answer["Location"].startswith("/account/sign-in/")


def test_no_list_shows_what_is_anothers(hers: dict[str, Any], callers: list[Client]) -> None:
    probes, keys = 0, [str(thing.pk) for thing in hers.values() if not isinstance(thing.pk, int)]
    assert keys
    for route in routes():
        if route.parameters or "get" not in route.methods or "^" in route.path:
            continue
        for client in callers:
            content = content_of(call(client, "get", "/" + route.path))
            probes += 1
            assert SECRET not in content, route.path
            assert [key for key in keys if key in content] == [], route.path
    assert probes >= 20


@cache
def schema() -> dict[str, Any]:
    generated: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)
    return generated


def named(parameter: str) -> str:
    """What a filter or field of this name refers to: ``documents`` to ``document``."""
    others = {"tags": "tag", "message": "answer", "cells": "review cell", "column": "review column"}
    return others.get(parameter, parameter.removesuffix("s"))


def test_no_filter_takes_anothers_ids(hers: dict[str, Any], callers: list[Client]) -> None:
    probed = []
    for path, operations in schema()["paths"].items():
        for parameter in operations.get("get", {}).get("parameters", []):
            is_id = parameter["in"] == "query" and parameter["schema"].get("format") == "uuid"
            if not is_id or "{" in path:
                continue
            for client in callers:
                answer = client.get(path, {parameter["name"]: str(hers[named(parameter["name"])].pk)})
                assert answer.status_code == 404, (path, parameter["name"], answer.status_code)
            probed.append((path, parameter["name"]))
    assert len(probed) >= 6, probed


def test_no_body_takes_anothers_ids(hers: dict[str, Any], charlie: User, ingested: Ingest) -> None:
    """Each field of each body that holds ids is sent with Alice's; Charlie's own things stay as they are."""
    client, probed = client_of(charlie), []
    own = {
        "document": ingested(charlie, "Words of Charlie's own."),
        "note": Note.objects.create(owner=charlie),
        "conversation": Conversation.objects.create(owner=charlie),
        "review": Review.objects.create(owner=charlie, name="Mine"),
    }
    for path, method, field, is_list in id_fields():
        kind = path.split("/")[2].removesuffix("s")
        target = re.sub(r"\{\w+\}", str(own[kind].pk) if kind in own else "", path)
        value = str(hers[named(field)].pk)
        body = {"query": "words", "name": "x"} | {field: [value] if is_list else value}
        allowed = body_fields(path, method)
        sent = {name: given for name, given in body.items() if name in allowed}
        answer = getattr(client, method)(target, sent, format="json")
        assert answer.status_code == 404, (method, path, field, answer.status_code, content_of(answer))
        probed.append((method, path, field))
    assert len(probed) >= 10, probed


def id_fields() -> Iterator[tuple[str, str, str, bool]]:
    for path, operations in schema()["paths"].items():
        for method in ("post", "patch"):
            for name, field in body_fields(path, method).items() if method in operations else ():
                is_list = field.get("type") == "array"
                inner = field["items"] if is_list else field
                if inner.get("format") == "uuid":
                    yield path, method, name, is_list


def body_fields(path: str, method: str) -> dict[str, Any]:
    content = schema()["paths"][path][method].get("requestBody", {}).get("content", {})
    reference = content.get("application/json", {}).get("schema", {}).get("$ref", "")
    component = schema()["components"]["schemas"].get(reference.rpartition("/")[2], {})
    fields: dict[str, Any] = component.get("properties", {})
    return fields


def test_no_field_gives_a_thing_to_another_owner(alice: User, charlie: User, ingested: Ingest) -> None:
    client, document = client_of(charlie), ingested(charlie, "Words of Charlie's own.")
    for path, row in {
        f"/api/documents/{document.pk}/": document,
        f"/api/notes/{Note.objects.create(owner=charlie).pk}/": None,
        f"/api/tags/{Tag.objects.create(owner=charlie, name='t').pk}/": None,
        f"/api/collections/{Collection.objects.create(owner=charlie, name='c').pk}/": None,
        f"/api/conversations/{Conversation.objects.create(owner=charlie).pk}/": None,
    }.items():
        for field in ("owner", "owner_id", "user", "id"):
            answer = client.patch(path, {field: str(alice.pk)}, format="json")
            assert answer.status_code == 400, (path, field)
        if row is not None:
            row.refresh_from_db()
            assert row.owner == charlie


def test_a_share_gives_reading_and_no_more(
    hers: dict[str, Any], alice: User, bob: User, charlie: User
) -> None:
    """Bob was given the collection to read: they open, but cannot be changed, given on, deleted."""
    hers["document"].collections.add(hers["collection"])
    reader, url = client_of(bob), f"/api/documents/{hers['document'].pk}/"
    assert reader.get(url).status_code == 200
    assert reader.patch(url, {"title": "mine"}, format="json").status_code == 403
    assert reader.delete(url).status_code == 403
    browser = Client()
    browser.force_login(bob)
    for verb in ("delete", "rename", "retry", "restore"):
        page = f"/documents/{hers['document'].pk}/{verb}/"
        assert browser.post(page, {"title": "mine"}).status_code in (403, 404), verb
    given_on = {"document": str(hers["document"].pk), "user": charlie.username}
    assert reader.post("/api/shares/", given_on, format="json").status_code in (400, 403, 404)
    assert reader.get("/api/shares/").json()["results"] == []
    Share.objects.update(can_write=True)
    assert reader.patch(url, {"title": "Better"}, format="json").status_code == 200
    assert reader.delete(url).status_code == 403, "only its owner deletes it"
    Share.objects.all().delete()
    assert reader.get(url).status_code == 404


@pytest.mark.parametrize("name", ["nobody", "al ice"])
def test_a_share_with_a_name_that_nobody_has_is_not_found(
    hers: dict[str, Any], alice: User, name: str
) -> None:
    share = {"document": str(hers["document"].pk), "user": name}
    assert client_of(alice).post("/api/shares/", share, format="json").status_code == 404


def test_the_admin_is_for_staff_only(hers: dict[str, Any], callers: list[Client]) -> None:
    for path in (
        "/admin/",
        "/admin/documents/document/",
        f"/admin/documents/document/{hers['document'].pk}/change/",
    ):
        answer = callers[0].get(path)
        assert answer.status_code == 302 and "/login/" in answer["Location"]


def test_a_link_shows_one_answer_until_it_is_revoked(hers: dict[str, Any]) -> None:
    """Whoever holds it sees that answer; a made-up link, another answer's picture, a revoked link: 404."""
    stranger, token = Client(), token_of(share_answer(hers["answer"]))
    assert stranger.get(f"/chat/shared/{token}/").status_code == 200
    conversation = Conversation.objects.create(owner=hers["document"].owner)
    other = Message.objects.create(conversation=conversation, position=1, role="assistant")
    elsewhere = Citation.objects.create(
        message=other, number=1, document=hers["document"], quote=SECRET, page_number=1, verdict="exact"
    )
    paths = [f"/chat/shared/{token[:-2]}xx/", f"/chat/shared/{hers['answer'].pk}/"]
    paths.append(f"/chat/shared/{token}/{elsewhere.pk}.png")
    revoked = f"/chat/shared/{token}/"
    for path in paths:
        assert stranger.get(path).status_code == 404, path
    revoke(hers["answer"])
    assert stranger.get(revoked).status_code == 404
