"""Time to scroll a library of many documents page by page, sorted and filtered, and queries a page.

Runs a web server on an installation of its own, in a folder of ``PINCITE_VAR``, over HTTP. The documents are
rows without content; they and all that was made with them are removed afterwards.
"""

from __future__ import annotations

import os
import random
import statistics
import subprocess
import sys
import time
import uuid
from argparse import ArgumentParser
from collections.abc import Iterator
from datetime import timedelta
from typing import Any, NamedTuple

import httpx
from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.core.paginator import Paginator
from django.db import connection
from django.http import QueryDict
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from bench._installation import server
from bench.chaos import own_installation
from documents.library import CARDS_A_PAGE, LibraryView
from documents.models import Collection, Document, Placement, Share, Tag

OWN_FOLDER = "library"
USERS = ("library-owner", "library-guest")  # the guest has two documents of three by a collection
ORDERS = ("newest", "oldest", "title", "pages", "year")
TAGS, COLLECTIONS = 12, 8
MOST_MILLISECONDS, MOST_QUERIES = 200.0, 12
WARMING = 10  # requests
WORDS = (
    *("annual", "report", "audit", "bridge", "budget", "climate", "contract", "dairy", "energy", "forest"),
    *("guidance", "harvest", "insurance", "ledger", "manual", "mining", "northern", "policy", "railway"),
    *("review", "river", "safety", "southern", "standard", "survey", "tariff", "valve", "water"),
)


class Listing(NamedTuple):
    """One way to look at the library: whose, and by which query."""

    user: User
    query: str
    pages: int


class Figures(NamedTuple):
    """Milliseconds of the pages of one listing, and the fewest and most queries of one."""

    p50: float
    p95: float
    worst: float
    fewest: int
    most: int


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--pages", type=int, default=40, help="of each listing, evenly over all of them")


def run(command: BaseCommand, options: dict[str, Any]) -> int:
    if settings.VAR_DIR.name != OWN_FOLDER:
        for name, value in own_installation(OWN_FOLDER).items():
            os.environ[name] = value
        return subprocess.call([sys.executable, *sys.argv])
    call_command("migrate", verbosity=0, interactive=False)
    remove()
    try:
        owner, guest = (User.objects.create(username=name) for name in USERS)
        fill(owner, guest, options["documents"])
        return measure(command, owner, guest, options["pages"])
    finally:
        remove()


def remove() -> None:
    Document.objects.filter(owner__username__in=USERS).delete()
    User.objects.filter(username__in=USERS).delete()


def fill(owner: User, guest: User, count: int) -> None:
    """Make documents with tags, collections, shares and copies of the same text, as people have them."""
    chance = random.Random(1)
    documents = Document.objects.bulk_create(rows(owner, count, chance), batch_size=1000)
    added = timezone.now()
    for number, document in enumerate(documents):
        document.created_at = added - timedelta(minutes=number)
    Document.objects.bulk_update(documents, ["created_at"], batch_size=1000)
    tags = Tag.objects.bulk_create(Tag(owner=owner, name=f"tag {number}") for number in range(TAGS))
    names = ("Shared", *(f"collection {number}" for number in range(1, COLLECTIONS)))
    collections = Collection.objects.bulk_create(Collection(owner=owner, name=name) for name in names)
    Tagged = Document.tags.through
    Tagged.objects.bulk_create(
        (
            Tagged(document_id=document.pk, tag_id=tag.pk)
            for document in documents
            for tag in chance.sample(tags, chance.randrange(3))
        ),
        batch_size=5000,
    )
    Placement.objects.bulk_create(
        (
            Placement(document=document, collection=collection, added_by=owner, handed_on=False)
            for number, document in enumerate(documents)
            for collection in {collections[0] if number % 3 else collections[1], chance.choice(collections)}
        ),
        batch_size=5000,
    )
    Share.objects.create(collection=collections[0], user=guest)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")


def rows(owner: User, count: int, chance: random.Random) -> Iterator[Document]:
    """Yield unsaved documents: one in fifty failed, one in forty is the same text as another."""
    for number in range(count):
        title = " ".join(chance.choices(WORDS, k=6)).capitalize()
        yield Document(
            owner=owner,
            title=f"{title} {number}",
            authors=[f"{chance.choice(WORDS).capitalize()} {chance.choice(WORDS)}" for _ in range(2)],
            year=chance.randrange(1990, 2026),
            original_name=f"{title}.pdf",
            file=f"documents/{number}.pdf",
            sha256=uuid.uuid4().hex * 2,
            text_digest=f"{number - number % 2 if number % 40 < 2 else number:032}",
            size=chance.randrange(10_000, 50_000_000),
            status=Document.Status.FAILED if number % 50 == 7 else Document.Status.READY,
            page_count=chance.randrange(1, 700),
            metadata={"pdf": {"producer": "A printer", "title": title}},
            outline=[[1, title, page] for page in range(1, 60)],
            indexed_at=timezone.now(),
        )


def measure(command: BaseCommand, owner: User, guest: User, pages: int) -> int:
    out = command.stdout
    load = f"{os.getloadavg()[0]:.1f}"
    out.write(
        f"{Document.objects.filter(owner=owner).count():,} documents, {CARDS_A_PAGE} a page, load {load}"
    )
    out.write(f"{'':<42}{'p50 ms':>8}{'p95 ms':>8}{'worst':>8}{'queries':>9}")
    every: list[float] = []
    slowest, most = 0.0, 0
    with server() as address:
        for listing in listings(owner, guest):
            times = timed(address, listing, pages)
            counts = queries(listing)
            found = Figures(statistics.median(times), p95(times), max(times), min(counts), max(counts))
            name = f"{listing.user.username.removeprefix('library-')} {listing.query}"
            out.write(
                f"{name:<42}{found.p50:>8.0f}{found.p95:>8.0f}{found.worst:>8.0f}"
                f"{f'{found.fewest}–{found.most}':>9}"
            )
            out.flush()
            every += times
            slowest, most = max(slowest, found.p95), max(most, found.most)
    held = p95(every) <= MOST_MILLISECONDS and most <= MOST_QUERIES
    out.write(
        f"{'✓' if held else '✗'} all {len(every)} pages: p50 {statistics.median(every):.0f} ms, p95 "
        f"{p95(every):.0f} ms; slowest listing p95 {slowest:.0f} ms; at most {most} queries; load "
        f"{os.getloadavg()[0]:.1f}"
    )
    return int(not held)


def listings(owner: User, guest: User) -> Iterator[Listing]:
    """Yield each order, the list view, a search, and each filter: of the owner, then of the guest."""
    shared = Collection.objects.get(owner=owner, name="Shared")
    tag = Tag.objects.filter(owner=owner).earliest("name")
    filters = [f"order={order}" for order in ORDERS]
    filters += ["as=list", "q=annual", "q=river+valve", "state=failed", f"collection={shared.pk}"]
    for user, queries in ((owner, [*filters, f"tag={tag.pk}"]), (guest, filters)):
        for query in queries:
            documents = LibraryView.from_query(QueryDict(query)).documents(user)
            yield Listing(user, query, Paginator(documents, CARDS_A_PAGE).num_pages)


def signed_in(user: User) -> Client:
    client = Client(SERVER_NAME="127.0.0.1")
    client.force_login(user, "django.contrib.auth.backends.ModelBackend")
    return client


def timed(address: str, listing: Listing, most: int) -> list[float]:
    """Return the milliseconds of pages from first to last, one after the other, as whoever scrolls asks."""
    name = settings.SESSION_COOKIE_NAME
    cookies = {name: signed_in(listing.user).cookies[name].value}
    step = max(1, listing.pages // most)
    found = []
    with httpx.Client(base_url=address, cookies=cookies, timeout=60) as browser:
        for _ in range(WARMING):
            browser.get(f"/?{listing.query}")
        for number in range(1, listing.pages + 1, step):
            start = time.perf_counter()
            answer = browser.get(f"/?{listing.query}&page={number}")
            found.append((time.perf_counter() - start) * 1000)
            answer.raise_for_status()
    return found


def queries(listing: Listing) -> list[int]:
    """Return the number of queries of the first, a middle and the last page."""
    client, counts = signed_in(listing.user), []
    for number in (1, 1 + listing.pages // 2, listing.pages):
        with CaptureQueriesContext(connection) as captured:
            client.get(f"/?{listing.query}&page={number}")
        counts.append(len(captured))
    return counts


def p95(times: list[float]) -> float:
    return sorted(times)[max(0, int(len(times) * 0.95) - 1)]
