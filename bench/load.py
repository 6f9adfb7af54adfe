"""Many at once on one web process: answers, idle streams, mixed requests, and searches of a large library.

Runs a web server on an installation of its own, in a folder of ``PINCITE_VAR``. Where other programs run,
seconds are upper bounds: processor time stands beside them. The library that is searched is made
of varied copies of the PDFs in ``--library``.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import sys
import time
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any

import httpx
import psutil
from django.conf import settings
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.test import Client

from bench._installation import clear, free_port, sample_pdf, scripted_provider
from bench.chaos import own_installation
from bench.library import benchmark_owner, remove_library
from bench.search import COLLECTION, build, sentences
from chat.answers.question_commands import start_conversation
from chat.models import Conversation, Message, StreamEvent
from documents.files.uploads import store_upload
from documents.ingestion.pipeline import ingest_document
from documents.models import ApiToken, Document
from operations.embedded.server import postmaster
from operations.processes import ProcessGroup
from pdf.sandbox.progress import processor_seconds
from retrieval.index.vectors import INDEX_MEMORY

OWN_FOLDER = "load"
USER = "load"
DOCUMENTS, PAGES = 5, 20
QUESTION = "What was measure {} of part 1?"
PATIENCE = 300.0  # seconds until what has not come is said not to come
LEAST_ANSWERS_A_SECOND, MOST_TOKEN_SECONDS = 12.0, 10.0
MOST_STREAM_KILOBYTES = 200.0
MOST_SEARCH_SECONDS, MOST_PAGE_SECONDS = 0.2, 0.5
PAGES_A_SECOND = 2.0
UNLIMITED = httpx.Limits(max_connections=None)


@dataclass(slots=True)
class LoadedServer:
    """A separate web process and its clients."""

    user: User
    port: int
    web: ProcessGroup
    key: str
    answered: Counter[str] = field(default_factory=Counter)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def client(self, *, stranger: bool = False) -> httpx.AsyncClient:
        headers = {} if stranger else {"Authorization": f"Bearer {self.key}"}
        unlimited = httpx.Limits(max_connections=None, max_keepalive_connections=0)
        return httpx.AsyncClient(base_url=self.url, headers=headers, timeout=PATIENCE, limits=unlimited)

    def browser(self, user: User) -> httpx.AsyncClient:
        """Return a client with a kept connection and a signed-in session."""
        django = Client()
        django.force_login(user, "django.contrib.auth.backends.ModelBackend")
        name = settings.SESSION_COOKIE_NAME
        cookies = {name: django.cookies[name].value}
        return httpx.AsyncClient(base_url=self.url, cookies=cookies, timeout=PATIENCE, limits=UNLIMITED)

    def processor_time(self) -> dict[str, float]:
        """Return the seconds of the web process and its children, of PostgreSQL, and of this program."""
        server = postmaster(settings.VAR_DIR / "postgres")
        return {
            "web": processor_seconds([self.web.process.pid]),
            "PostgreSQL": processor_seconds([server.pid]) if server else 0.0,
            "clients": time.process_time(),
        }

    def kilobytes(self) -> float:
        """Return the private memory of the web process."""
        return float(psutil.Process(self.web.process.pid).memory_full_info().uss) / 1024

    def conversations(self, count: int, provider: str) -> list[Conversation]:
        return [start_conversation(self.user, provider=provider) for _ in range(count)]


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--answers", type=int, default=200)
    parser.add_argument("--requests", type=int, default=400)
    parser.add_argument("--library", type=Path, help="PDFs for the library that is searched")
    parser.add_argument("--chunks", type=int, default=100_000, help="of that library")
    parser.add_argument(
        "--rates", type=float, nargs="+", default=[50.0, 25.0, 10.0], help="searches a second"
    )
    parser.add_argument("--seconds", type=float, default=20.0, help="of searching at each rate")
    parser.add_argument("--keep", action="store_true", help="keep the library for another run")


def run(command: BaseCommand, options: dict[str, Any]) -> int:
    if settings.VAR_DIR.name != OWN_FOLDER:
        for name, value in own_installation(OWN_FOLDER).items():
            os.environ[name] = value
        return subprocess.call([sys.executable, *sys.argv])
    call_command("migrate", verbosity=0, interactive=False)
    if options["library"]:
        prepare_library(command, options)
    server, passed = prepared(), True
    try:
        for trial in (one_alone, without_model, with_scripted_model, idle_streams, mixed, searched):
            server.answered.clear()
            before = server.processor_time()
            held, told = trial(server, options)
            passed = passed and held
            spent = "; ".join(
                f"{name} {seconds - before[name]:.1f} s CPU"
                for name, seconds in server.processor_time().items()
            )
            codes = ", ".join(f"{count} × {code}" for code, count in sorted(server.answered.items()))
            command.stdout.write(f"{'✓' if held else '✗'} {told}; {codes}; {spent}")
            command.stdout.flush()
    finally:
        server.web.stop(30)
        clear(server.user)
        if options["library"] and not options["keep"]:
            remove_library(benchmark_owner())
    return int(not passed)


def prepare_library(command: BaseCommand, options: dict[str, Any]) -> None:
    """Ingest the PDFs of ``--library``, and build the library of varied copies."""
    owner, _ = User.objects.get_or_create(username=f"{USER}-originals")
    for path in sorted(options["library"].glob("*.pdf")):
        if not Document.objects.filter(owner=owner, original_name=path.name).exists():
            document = store_upload(owner, ContentFile(path.read_bytes()), path.name, queued=False)
            ingest_document(document.pk)
    build(command.stdout, benchmark_owner(), options["chunks"], INDEX_MEMORY)


def prepared() -> LoadedServer:
    user, _ = User.objects.get_or_create(username=USER)
    clear(user)
    Conversation.objects.filter(owner=user).delete()
    for number in range(DOCUMENTS):
        document = store_upload(
            user, ContentFile(sample_pdf(number + 1, PAGES)), f"load {number}.pdf", queued=False
        )
        ingest_document(document.pk)
    _, key = ApiToken.objects.issue(user, "load", ["read", "write", "ask"])
    port = free_port()
    server = LoadedServer(user, port, ProcessGroup.start("web", "--port", str(port)), key)
    give_up_at = time.monotonic() + PATIENCE
    while True:
        try:
            httpx.get(f"{server.url}/healthz")
            return server
        except httpx.TransportError:
            if time.monotonic() > give_up_at:
                raise
            time.sleep(0.1)


def one_alone(server: LoadedServer, options: dict[str, Any]) -> tuple[bool, str]:
    """Warm the process up, then one answer at a time."""
    seconds = []
    for number in range(5):
        (talk,) = server.conversations(1, "extractive")
        began = time.monotonic()
        asyncio.run(ask_all(server, [talk], number))
        wait_until_written([talk], pause=0.02)
        seconds.append(time.monotonic() - began)
    return True, f"one answer alone {statistics.median(seconds[1:]):.2f} s"


def without_model(server: LoadedServer, options: dict[str, Any]) -> tuple[bool, str]:
    """Ask many questions at once: all must start in order, at a minimum rate."""
    talks = server.conversations(options["answers"], "extractive")
    began = time.monotonic()
    asyncio.run(ask_all(server, talks))
    asked = time.monotonic() - began
    wait_until_written(talks)
    seconds = time.monotonic() - began
    done = StreamEvent.objects.filter(message__conversation__in=talks, kind="done")
    ends = list(done.values_list("created_at", flat=True))
    spread = (max(ends) - min(ends)).total_seconds() if ends else 0.0
    a_second = len(talks) / seconds
    failed = (
        Message.objects.filter(conversation__in=talks, role="assistant").exclude(status="complete").count()
    )
    held = set(server.answered) == {"201"} and not failed and a_second >= LEAST_ANSWERS_A_SECOND
    return held, (
        f"{len(talks)} answers at once: all begun after {asked:.1f} s, {a_second:.1f} written a second,"
        f" first and last end {spread:.1f} s apart, {failed} failed"
    )


def with_scripted_model(server: LoadedServer, options: dict[str, Any]) -> tuple[bool, str]:
    """Return the time to the first word of each answer, as its reader sees it."""
    talks = server.conversations(options["answers"], "compatible")
    with scripted_provider():
        seconds = asyncio.run(first_words(server, talks))
    late = p95(seconds)
    held = set(server.answered) == {"201"} and len(seconds) == len(talks) and late <= MOST_TOKEN_SECONDS
    return held, (
        f"{len(talks)} scripted answers at once: first word p50 {statistics.median(seconds):.1f} s,"
        f" p95 {late:.1f} s (limit {MOST_TOKEN_SECONDS:g})"
    )


def idle_streams(server: LoadedServer, options: dict[str, Any]) -> tuple[bool, str]:
    """Return the memory growth of the web process per stream of a silent model."""
    (talk,) = server.conversations(1, "compatible")
    with scripted_provider() as provider:
        provider.speaks.clear()
        try:
            grown = asyncio.run(growth_by_streams(server, talk, options["answers"]))
        finally:
            provider.speaks.set()
        wait_until_written([talk])
    each = grown / options["answers"]
    held = set(server.answered) == {"200", "201"} and each <= MOST_STREAM_KILOBYTES
    return held, (
        f"{options['answers']} idle streams: {each:.0f} KB of memory each (limit {MOST_STREAM_KILOBYTES:g})"
    )


def searched(server: LoadedServer, options: dict[str, Any]) -> tuple[bool, str]:
    """So many searches a second whether or not those before are answered; pages are opened meanwhile."""
    if not options["library"]:
        return True, "searches of a large library: not measured, name PDFs with --library"
    owner = benchmark_owner()
    documents = list(Document.objects.filter(owner=owner).order_by("id").values_list("pk", flat=True))
    step = max(1, len(documents) // COLLECTION)
    scopes = {
        "the library": None,
        f"{COLLECTION} documents": documents[::step][:COLLECTION],
        "one document": documents[:1],
    }
    questions = cycle(sentences(owner, 2000))
    reports, held = [], True
    for name, chosen in scopes.items():
        for rate in options["rates"]:
            body = {"documents": [str(pk) for pk in chosen]} if chosen else {}
            bodies = [
                {**body, "query": next(questions)} for _ in range(max(1, round(rate * options["seconds"])))
            ]
            searches, pages = asyncio.run(search_at(server, owner, rate, bodies))
            fits = searches <= MOST_SEARCH_SECONDS and pages <= MOST_PAGE_SECONDS
            reports.append(
                f"{name} at {rate:g}/s: p95 {1000 * searches:.0f} ms, pages' p95 {1000 * pages:.0f} ms"
            )
            if fits:
                break
            held = False  # a lower rate may hold
    return held and set(server.answered) == {"200"}, "; ".join(reports)


def mixed(server: LoadedServer, options: dict[str, Any]) -> tuple[bool, str]:
    """Load answers, searches, pages and anonymous requests at once, and poll /healthz meanwhile."""
    quarter = options["requests"] // 4
    talks = server.conversations(quarter, "extractive")
    slowest = asyncio.run(mixed_at_once(server, talks, quarter))
    wait_until_written(talks)
    broken = [code for code in server.answered if code not in ("200", "201", "401", "503 with Retry-After")]
    return not broken and slowest < PATIENCE / 60, (
        f"{4 * quarter} mixed requests at once: /healthz at most {slowest:.1f} s"
    )


async def ask_all(server: LoadedServer, talks: list[Conversation], first: int = 0) -> None:
    async with server.client() as client:
        await asyncio.gather(*(ask(server, client, talk, first + place) for place, talk in enumerate(talks)))


async def ask(server: LoadedServer, client: httpx.AsyncClient, talk: Conversation, number: int) -> None:
    body = {"question": QUESTION.format(number % PAGES + 1), "wait": False}
    count(server, await client.post(f"/api/conversations/{talk.pk}/messages/", json=body))


async def first_words(server: LoadedServer, talks: list[Conversation]) -> list[float]:
    async def first_word(client: httpx.AsyncClient, talk: Conversation) -> float:
        path, began = f"/api/conversations/{talk.pk}/messages/", time.monotonic()
        headers, body = {"Accept": "text/event-stream"}, {"question": QUESTION.format(1)}
        async with client.stream("POST", path, json=body, headers=headers) as response:
            server.answered[str(response.status_code)] += 1
            async for line in response.aiter_lines():
                if line == "event: text":
                    return time.monotonic() - began
        return float("inf")

    async with server.client() as client:
        return list(await asyncio.gather(*(first_word(client, talk) for talk in talks)))


async def growth_by_streams(server: LoadedServer, talk: Conversation, streams: int) -> float:
    """Return kilobytes. The streams are opened twice, so that one-time allocations are not counted."""
    path = f"/api/conversations/{talk.pk}/messages/"
    async with server.client() as client:
        asked = await client.post(path, json={"question": QUESTION.format(1), "wait": False})
        count(server, asked)
        stream = f"/api/messages/{asked.json()['answer']['id']}/stream/"
        await open_streams(server, client, stream, min(streams, 20))
        before = server.kilobytes()
        return await open_streams(server, client, stream, streams) - before


async def open_streams(server: LoadedServer, client: httpx.AsyncClient, path: str, streams: int) -> float:
    """Open the streams, wait until all are idle, and close them. Return the kilobytes at that moment."""
    async with AsyncExitStack() as opened:
        for _ in range(streams):
            response = await opened.enter_async_context(client.stream("GET", path))
            server.answered[str(response.status_code)] += 1
        await asyncio.sleep(3)
        return server.kilobytes()


async def search_at(
    server: LoadedServer, user: User, rate: float, bodies: list[dict[str, Any]]
) -> tuple[float, float]:
    """Return the 95th percentile of seconds of the searches, and of the pages opened meanwhile."""
    _, key = await asyncio.to_thread(ApiToken.objects.issue, user, "load", ["read"])
    document = await Document.objects.filter(owner=user).afirst()
    assert document is not None
    pages = cycle(["/", f"/documents/{document.pk}/", "/conversations/", "/collections/", "/search/"])
    browser = await asyncio.to_thread(server.browser, user)
    headers = {"Authorization": f"Bearer {key}"}
    api = httpx.AsyncClient(base_url=server.url, headers=headers, timeout=PATIENCE, limits=UNLIMITED)
    async with api, browser:

        async def search(body: dict[str, Any]) -> float:
            began = time.monotonic()
            count(server, await api.post("/api/search/", json=body))
            return time.monotonic() - began

        async def page(address: str) -> float:
            began = time.monotonic()
            count(server, await browser.get(address))
            return time.monotonic() - began

        opened = [next(pages) for _ in range(max(2, round(len(bodies) / rate * PAGES_A_SECOND)))]
        for address in opened[:5]:
            await page(address)
        searches, shown = await asyncio.gather(
            run_at_rate(search, bodies, rate), run_at_rate(page, opened, PAGES_A_SECOND)
        )
    return p95(searches), p95(shown)


async def run_at_rate(
    call: Callable[[Any], Awaitable[float]], items: Sequence[Any], rate: float
) -> list[float]:
    """Start each call at its time, whether or not earlier ones have ended; return the results."""
    began = time.monotonic()

    async def at_its_time(place: int, item: Any) -> float:
        await asyncio.sleep(began + place / rate - time.monotonic())
        return await call(item)

    return list(await asyncio.gather(*(at_its_time(place, item) for place, item in enumerate(items))))


def p95(seconds: Sequence[float]) -> float:
    return statistics.quantiles(seconds, n=20)[-1] if len(seconds) > 1 else float("inf")


async def mixed_at_once(server: LoadedServer, talks: list[Conversation], each: int) -> float:
    async with server.client() as client, server.client(stranger=True) as stranger:
        calls: list[Awaitable[None]] = [ask(server, client, talk, place) for place, talk in enumerate(talks)]
        calls += [post_search(server, client) for _ in range(each)]
        calls += [get_page(server, client, "/api/documents/", {}) for _ in range(each)]
        calls += [get_page(server, stranger, "/api/documents/", {}) for _ in range(each)]
        ended = asyncio.Event()
        health = asyncio.create_task(slowest_health(server, ended.is_set))
        await asyncio.gather(*calls)
        ended.set()
        return await health


async def post_search(server: LoadedServer, client: httpx.AsyncClient) -> None:
    count(server, await client.post("/api/search/", json={"query": QUESTION.format(3)}))


async def get_page(server: LoadedServer, client: httpx.AsyncClient, path: str, query: dict[str, str]) -> None:
    count(server, await client.get(path, params=query))


async def slowest_health(server: LoadedServer, ended: Callable[[], bool]) -> float:
    slowest = 0.0
    async with server.client(stranger=True) as client:
        while not ended():
            began = time.monotonic()
            await client.get("/healthz")
            slowest = max(slowest, time.monotonic() - began)
            await asyncio.sleep(0.2)
    return slowest


def count(server: LoadedServer, response: httpx.Response) -> None:
    later = " with Retry-After" if "retry-after" in response.headers else ""
    server.answered[f"{response.status_code}{later}"] += 1


def wait_until_written(talks: list[Conversation], pause: float = 0.2) -> None:
    """Wait for the answers. To look costs PostgreSQL and this program a few milliseconds."""
    give_up_at = time.monotonic() + PATIENCE
    unfinished = Message.objects.filter(conversation__in=talks).unfinished()
    while unfinished.exists() and time.monotonic() < give_up_at:
        time.sleep(pause)
