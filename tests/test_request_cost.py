"""The largest input that each address takes costs a web process at most two seconds of processor time.

The walk reads the names of fields from the views: a first request records which ones a view looks for, the
next ones send them. Bodies of the API are made from its schema, arguments of MCP from the tools' schemas.
Answers, files and imports are jobs.
"""

from __future__ import annotations

import asyncio
import base64
import gc
import io
import json
import re
import time
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.http import QueryDict
from django.test import Client
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart
from django.utils.datastructures import MultiValueDict

from agents.mcp_server import make_server
from bench._installation import sample_pdf
from chat.models import Annotation, Citation, Conversation, Message, Note, NoteVersion
from chat.notes import LONGEST_NOTE
from documents.models import ApiToken, CitationUnit, Collection, Document, Job, RetrievalChunk, Share, Tag
from operations import interrupts
from retrieval.models import SavedSearch, SearchQuery
from reviews.models import Review, ReviewCell, ReviewColumn, ReviewRow, ReviewTemplate
from tests.conftest import ingest, new_alice
from tests.documents.test_access import HOLDERS, NUMBERS, Route, owned_by, routes, schema

Cost = tuple[float, int, str]
"""Seconds of processor time, status, and the request."""
pytestmark = [pytest.mark.django_db, pytest.mark.slow, pytest.mark.timeout(6000)]
PAGES, DOCUMENTS, MESSAGES, ROWS, MARKS = 100, 300, 40, 60, 2000
LONGEST_VALUE, LONGEST_FORM, LONGEST_TEXT, MOST_ITEMS = 4_000, 1_000_000, 200_000, 2_000
LONGEST_FILE, LONGEST_LIST = 100_000_000, 5_000_000
SECONDS = 2.0
WORDS = "The tenant shall pay the rent of £2,400,000 by 5 March 2024, or 5.5 percent more. "
PIECES = (
    WORDS,
    '*a **b _c `[x](y) > - | $z$ "q ',
    "[",
    "a*b* rent* -x* ",
    "(a+)+(.*)*[x-z]{1,9}|",
    "[[cite:u1:1]]",
)
CHECKED = {
    "claims": json.dumps([{"claim": WORDS * 40}] * 100),
    "quotes": json.dumps([{"quote": WORDS * 100}] * 100),
}
FORMS = ("md", "html", "docx", "txt", "csv", "xlsx", "pdf", "ris", "bib", "json", "csl")
VALID = {
    "page": "1",
    "revision": "0",
    "title": "x",
    "name": "x",
    "question": "What is the rent?",
    "q": "rent",
}


class File(NamedTuple):
    """A file as it is sent."""

    name: str
    content: bytes


def archive(entries: int, size: int) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for number in range(entries):
            packed.writestr(f"{number}.pdf", bytes(size))
    return out.getvalue()


@cache
def files() -> tuple[File, ...]:
    """Return the largest files of each kind, most of them no valid ones."""
    lists = {
        "list.ris": "TY  - JOUR\nTI  - A paper on rent\nAU  - Coyote, W.\nER  - \n",
        "list.bib": "@article{a, title={A paper on rent}, author={W. Coyote}}\n",
        "open.bib": "@article{",
        "list.csv": "title,question,kind\nRent,What is the rent?,money\n",
        "list.json": '[{"title": "Rent", "claim": "a", "quote": "b"}, ',
        "text.txt": WORDS,
        "page.html": "<div><p>rent",
    }
    written = [File(name, filled(piece, LONGEST_LIST).encode()) for name, piece in lists.items()]
    pdf = File("large.pdf", b"%PDF-1.7\n" + bytes(LONGEST_FILE))
    pages = File("pages.pdf", sample_pdf(1, 100))
    return (
        *written,
        pdf,
        pages,
        File("many.zip", archive(20_000, 10)),
        File("bomb.zip", archive(20, 20_000_000)),
    )


def filled(piece: str, length: int) -> str:
    return (piece * (length // len(piece) + 1))[:length]


@pytest.fixture(scope="module")
def owner(module_rows: Path) -> User:
    user = new_alice()
    user.is_staff = user.is_superuser = True
    user.save()
    return user


@pytest.fixture(scope="module")
def hers(owner: User) -> dict[str, Any]:
    """One of everything, long or with many parts."""
    pages = (
        "\n".join([f"# {page} Rent", *[f"{page}.{n} {WORDS}" for n in range(40)]]) for page in range(PAGES)
    )
    document = ingest(owner, *pages, name="lease.pdf")
    Document.objects.bulk_create(
        Document(owner=owner, title=f"Paper {n} on rent", status="ready", abstract=WORDS * 5)
        for n in range(DOCUMENTS)
    )
    collection = Collection.objects.create(owner=owner, name="Leases")
    collection.documents.set(Document.objects.all())
    units = list(CitationUnit.objects.filter(document=document)[:40])
    conversation = Conversation.objects.create(owner=owner, title="Rent")
    conversation.documents.add(document)
    box, said = (
        [[72, 80, 120, 92]],
        "".join(f"{WORDS}[[cite:{unit.pk}:{unit.page_number}]] " for unit in units),
    )
    for n in range(MESSAGES):
        asked = Message(conversation=conversation, position=2 * n, role="user", content=WORDS)
        answer = Message(
            conversation=conversation, position=2 * n + 1, role="assistant", status="complete", content=said
        )
        Message.objects.bulk_create([asked, answer])
        Citation.objects.bulk_create(
            Citation(message=answer, number=at, document=document, unit=unit, quote=unit.content,
                     page_number=unit.page_number, verdict="exact", rects=box)
            for at, unit in enumerate(units, 1)
        )  # fmt: skip
    note = Note.objects.create(owner=owner, title="Rent", content=filled(f"{WORDS}\n\n", LONGEST_NOTE))
    NoteVersion.objects.create(note=note, revision=0, content=note.content)
    Annotation.objects.bulk_create(
        Annotation(owner=owner, document=document, quote=WORDS, page_number=1 + n % PAGES, rects=box)
        for n in range(MARKS)
    )
    review = Review.objects.create(owner=owner, name="Leases")
    columns = [
        ReviewColumn.objects.create(review=review, title=f"Rent {n}", question="What?", position=n)
        for n in range(20)
    ]
    rows = [
        ReviewRow.objects.create(review=review, document=row, added_by=owner)
        for row in Document.objects.order_by("pk")[:ROWS]
    ]
    cells = ReviewCell.objects.bulk_create(
        ReviewCell(row=row, column=column, state="found", text=WORDS) for row in rows for column in columns
    )
    template = ReviewTemplate.objects.create(owner=owner, name="T", columns=[{"title": "x", "question": "y"}])
    bob = User.objects.create_user("bob", "bob@example.com", "battery staple")
    return {
        "review": review,
        "review template": template,
        "review column": columns[0],
        "review row": rows[0],
        "review cell": cells[0],
        "review share": review.shares.create(user=bob),
        "template share": template.shares.create(user=bob),
        "document": document,
        "annotation": Annotation.objects.first(),
        "job": Job.objects.get(document=document),
        "unit": units[0],
        "chunk": RetrievalChunk.objects.filter(document=document).first(),
        "collection": collection,
        "tag": Tag.objects.create(owner=owner, name="x"),
        "share": Share.objects.create(collection=collection, user=bob),
        "token": ApiToken.objects.issue(owner, "x", ["read"])[0],
        "conversation": conversation,
        "answer": answer,
        "citation": Citation.objects.filter(message=answer).first(),
        "note": note,
        "search": SearchQuery.objects.create(user=owner, query="rent"),
        "saved search": SavedSearch.objects.create(user=owner, name="rent", query="q=rent"),
    }


def ended(conversation: UUID) -> None:
    """Stand for the job that writes an answer."""
    Message.objects.filter(conversation=conversation).unfinished().update(status=Message.Status.FAILED)


@pytest.fixture
def browser(owner: User, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Client:
    settings.RATES = dict.fromkeys(settings.RATES, "10000000/h")
    settings.SEMANTIC_SCHOLAR_URL = settings.OPENALEX_URL = "http://127.0.0.1:9"
    settings.CATALOGUE_BACKOFF_SECONDS = 0.01
    monkeypatch.setattr(interrupts, "REQUEST_SECONDS", 60.0)  # the views' own limits are tested
    for caller in ("agents.evidence", "agents.openai_api", "chat.api.messages", "chat.views.conversations"):
        monkeypatch.setattr(f"{caller}.start_next", ended)  # answers are jobs
    client = Client(raise_request_exception=False)
    client.force_login(owner)
    return client


def cost(client: Client, method: str, path: str, body: Any = None) -> tuple[float, int]:
    """Return the processor time of a request in seconds, of all threads, and its status. What it changes is
    rolled back.
    """
    as_json = method != "get" and isinstance(body, dict) and path.startswith(("/api/", "/v1/", "/mcp"))
    as_json = as_json and not any(isinstance(value, SimpleUploadedFile) for value in body.values())
    kind = "application/json" if as_json else MULTIPART_CONTENT
    encoded = json.dumps(body) if as_json else encode_multipart(BOUNDARY, body or {})
    with transaction.atomic():
        began = time.process_time()
        if method == "get":
            answer = client.get(path, body)
        else:
            answer = client.generic(method.upper(), path, encoded, kind, headers={"Accept": "*/*"})
        if answer.streaming and not hasattr(answer.streaming_content, "__aiter__"):
            b"".join(answer.streaming_content)
        took = time.process_time() - began
        transaction.set_rollback(True)
    return took, answer.status_code


def address(path: str, hers: dict[str, Any], form: str = "") -> str | None:
    """Return the path with the ids of what is hers; None where an id names nothing of hers."""
    name = owned_by(Route(path, (), ()))
    other = {"form": form, "action": "tag", "way": "x", "name": "openai", "response_id": "x", "token": "x"}

    def value(match: re.Match[str]) -> str:
        if match[1] in other:
            return other[match[1]]
        return str(NUMBERS[match[1]] if match[1] in NUMBERS else hers[HOLDERS.get(match[1], name or "")].pk)

    try:
        return "/" + re.sub(r"<(?:\w+:)?(\w+)>", value, path)
    except KeyError:
        return None


def noting(kept: Any, names: set[str], of_files: set[str]) -> Any:
    """Return the method of a form that also notes the name it is called with."""

    def look(self: MultiValueDict[str, Any], name: str, *more: Any) -> Any:
        (names if isinstance(self, QueryDict) else of_files).add(name)
        return kept(self, name, *more)

    return look


@contextmanager
def recorded(names: set[str], of_files: set[str]) -> Iterator[None]:
    """Record the names of the fields and files that views look for in a form or query."""
    with pytest.MonkeyPatch.context() as patch:
        for method in ("__getitem__", "get", "getlist", "__contains__"):
            patch.setattr(MultiValueDict, method, noting(getattr(MultiValueDict, method), names, of_files))
        yield


def uploads(browser: Client, path: str, form: dict[str, Any]) -> Iterator[Cost]:
    """Send each file."""
    for file in files():
        sent = form | {"file": SimpleUploadedFile(file.name, file.content)}
        yield *cost(browser, "post", path, sent), f"post {path} {file.name}"
        gc.collect()  # requests are cycles, with bodies of a hundred megabytes


def page_costs(browser: Client, hers: dict[str, Any]) -> Iterator[Cost]:
    for route in routes():
        if route.path.startswith(("v1/", "mcp")) or "^" in route.path:
            continue
        for form in FORMS if "<slug:form>" in route.path else [""]:
            path = address(route.path, hers, form)
            for method in ("get", "post") if path else ():
                if method not in route.methods or (method == "post" and route.path.startswith("api/")):
                    continue
                names: set[str] = set()
                of_files: set[str] = set()
                with recorded(names, of_files):
                    took, status = cost(browser, method, str(path))
                    yield took, status, f"{method} {path}"
                    if status in (404, 405):
                        continue
                    cost(browser, method, str(path), {name: VALID.get(name, "x") for name in names})
                if method == "post" and "file" in of_files:
                    yield from uploads(browser, str(path), {})
                length = LONGEST_VALUE if method == "get" else LONGEST_FORM
                for piece in PIECES if names else ():
                    sent = dict.fromkeys(names, filled(piece, length))
                    yield *cost(browser, method, str(path), sent), f"{method} {path} all {piece[:9]}"
                for name in sorted(names) if method == "post" else ():
                    sent = {other: VALID.get(other, "x") for other in names} | {name: filled(WORDS, length)}
                    yield *cost(browser, method, str(path), sent), f"{method} {path} {name}"


def largest(part: dict[str, Any], text: str, depth: int = 0, named: dict[str, Any] | None = None) -> Any:
    """Return the largest value that a part of a schema allows, with strings of ``text``. ``named``: the parts
    it refers to; None for those of the API's schema.
    """
    if "$ref" in part:
        named = schema()["components"]["schemas"] if named is None else named
        return largest(named[part["$ref"].rpartition("/")[2]], text, depth, named)
    for several in ("allOf", "oneOf", "anyOf"):
        if several in part:
            return largest(part[several][0], text, depth, named)
    kind = part["type"][0] if isinstance(part.get("type"), list) else part.get("type")
    if "enum" in part:
        return part["enum"][0]
    if kind == "object":
        fields = part.get("properties", {}).items()
        return {
            name: largest(field, text, depth + 1, named)
            for name, field in fields
            if not field.get("readOnly")
        }
    if kind == "array":
        most = min(part.get("maxItems", MOST_ITEMS), MOST_ITEMS if depth < 2 else 8)
        return [largest(part["items"], text, depth + 1, named)] * most
    if kind in ("integer", "number", "boolean"):
        return part.get("maximum", 1) if kind != "boolean" else True
    if part.get("format") in ("date-time", "date", "uri", "email"):
        return None
    return text[: part.get("maxLength", LONGEST_TEXT if depth < 2 else 200)]


def api_costs(browser: Client, hers: dict[str, Any]) -> Iterator[Cost]:
    ids = {name: str(row.pk) for name, row in hers.items() if name not in ("note", "search")}
    given = ids | {"documents": [ids["document"]] * MOST_ITEMS}
    for path, operations in schema()["paths"].items():
        target = address(re.sub(r"\{(\w+)\}", r"<\1>", path.lstrip("/")), hers) or path
        for method in ("post", "put", "patch"):
            content = operations.get(method, {}).get("requestBody", {}).get("content", {})
            if form := content.get("multipart/form-data"):
                fields = largest(form["schema"], filled(WORDS, 4000))
                fields = {name: json.dumps(value) if isinstance(value, list) else value or "x"
                          for name, value in fields.items() if name != "file"}  # fmt: skip
                fields |= {name: many for name, many in CHECKED.items() if name in fields}
                yield from uploads(browser, target, fields)
                yield from uploads(browser, target, {})
            if "application/json" not in content:
                continue
            for piece in PIECES:
                body = largest(content["application/json"]["schema"], filled(piece, LONGEST_TEXT))
                body |= {name: value for name, value in given.items() if name in body}
                yield *cost(browser, method, target, body), f"{method} {path} all {piece[:9]}"
                fewer = {name: value for name, value in body.items() if value is not None}
                yield *cost(browser, method, target, fewer), f"{method} {path} set {piece[:9]}"


def mcp_costs(browser: Client, hers: dict[str, Any]) -> Iterator[Cost]:
    """Call each tool with the largest arguments, and read each resource."""
    document = str(hers["document"].pk)
    ids = {"document": document, "documents": [document] * 20, "pages": f"1-{PAGES}", "page": 1}
    for tool in asyncio.run(make_server().list_tools()):
        for piece in PIECES:
            arguments_of = tool.input_schema
            given = largest(arguments_of, filled(piece, LONGEST_TEXT), 0, arguments_of.get("$defs", {}))
            given |= {name: value for name, value in ids.items() if name in given}
            for blank in ("review", "report", "conversation", "template"):
                given |= {blank: ""} if blank in given else {}
            for arguments in (given, {"review": str(hers["review"].pk)} if tool.name == "review" else None):
                if arguments is not None:
                    yield call(browser, "tools/call", {"name": tool.name, "arguments": arguments}, piece)
    content = base64.b64encode(bytes(1_800_000)).decode()
    added = {"name": "add_document", "arguments": {"name": "x.pdf", "content_base64": content}}
    yield call(browser, "tools/call", added, "1.8 MB")
    boxes = ",".join(["0.1,0.1,0.9,0.2"] * 500)
    for page in (
        f"pincite://documents/{document}/pages/1",
        f"pincite://documents/{document}/pages/1/{boxes}",
    ):
        yield call(browser, "resources/read", {"uri": page}, page[:60])
    for method in ("tools/list", "resources/list", "resources/templates/list", "prompts/list", "initialize"):
        yield call(browser, method, {}, "")


def call(browser: Client, method: str, parameters: dict[str, Any], said: str) -> Cost:
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}
    return *cost(browser, "post", "/mcp", body), f"mcp {method} {parameters.get('name', '')} {said[:40]}"


def openai_costs(browser: Client, hers: dict[str, Any]) -> Iterator[Cost]:
    """Send the most and the longest messages."""
    yield *cost(browser, "get", "/v1/models"), "v1/models"
    for piece in PIECES:
        for model in ("library", f"document:{hers['document'].pk}"):
            turns = [
                {"role": "user" if n % 2 else "assistant", "content": filled(piece, 2_000)}
                for n in range(999)
            ]
            turns[-1] = {"role": "user", "content": filled(piece, 4_000)}
            body = {"model": model, "stream": False, "messages": turns}
            yield *cost(browser, "post", "/v1/chat/completions", body), f"v1/chat {model[:8]} {piece[:9]}"
            body = {"model": model, "input": turns}
            yield *cost(browser, "post", "/v1/responses", body), f"v1/responses {model[:8]} {piece[:9]}"
            parts = [{"type": "text", "text": filled(piece, 40)}] * 20_000
            body = {"model": model, "messages": [{"role": "user", "content": parts}]}
            yield *cost(browser, "post", "/v1/chat/completions", body), f"v1/chat parts {piece[:9]}"


def within_limit(costs: Iterable[Cost]) -> int:
    """Print the highest costs, fail for one over the limit, and return how many requests there were."""
    highest = sorted(costs, reverse=True)
    print(*highest[:20], sep="\n")
    assert not [entry for entry in highest if entry[0] > SECONDS], highest[:20]
    return len(highest)


def test_the_largest_call_of_a_program_costs_at_most_two_seconds(
    browser: Client, hers: dict[str, Any]
) -> None:
    assert within_limit([*mcp_costs(browser, hers), *openai_costs(browser, hers)]) > 80


def test_the_largest_input_of_each_page_costs_at_most_two_seconds(
    browser: Client, hers: dict[str, Any]
) -> None:
    assert within_limit(page_costs(browser, hers)) > 1500


def test_the_largest_body_of_each_address_of_the_api_costs_at_most_two_seconds(
    browser: Client, hers: dict[str, Any]
) -> None:
    assert within_limit(api_costs(browser, hers)) > 300
