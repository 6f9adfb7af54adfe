"""Time to show and to scroll a library of many documents, sorted and filtered, and queries a page.

Runs a web server on an installation of its own, in a folder of ``PINCITE_VAR``, over HTTP. The documents are
rows without content, with stored pictures; they and all that was made with them are removed afterwards.
"""

from __future__ import annotations

import io
import os
import random
import re
import statistics
import subprocess
import sys
import time
import uuid
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID
from zlib import crc32

import httpx
from django.conf import settings
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.core.paginator import Paginator
from django.db import connection, transaction
from django.http import QueryDict
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from PIL import Image, ImageDraw

from bench._installation import chromium, server
from bench.chaos import own_installation
from documents.ingestion.persistence import copy_rows
from documents.library import CARDS_A_PAGE, LibraryView
from documents.models import CitationUnit, Collection, Document, Placement, RetrievalChunk, Share, Tag
from retrieval.index.document_index import embed_document, index_words
from retrieval.index.vectors import active_space
from retrieval.models import ChunkVector, IndexedChunk, IndexedDocument
from text.numbers import YEAR

if TYPE_CHECKING:
    from playwright.sync_api import Page as BrowserPage

OWN_FOLDER = "library"
USERS = ("library-owner", "library-guest")  # the guest has two documents of three by a collection
ORDERS = ("newest", "oldest", "title", "pages", "year")
TAGS, COLLECTIONS = 12, 8
PICTURES = 50  # of first pages
MOST_MILLISECONDS, MOST_QUERIES = 200.0, 12
WARM_UP_REQUESTS = 10  # requests
WORDS = (
    *("annual", "report", "audit", "bridge", "budget", "climate", "contract", "dairy", "energy", "forest"),
    *("guidance", "harvest", "insurance", "ledger", "manual", "mining", "northern", "policy", "railway"),
    *("review", "river", "safety", "southern", "standard", "survey", "tariff", "valve", "water"),
)


class Listing(NamedTuple):
    """A view of the library: user and query string."""

    user: User
    query: str
    pages: int


class LibraryFigures(NamedTuple):
    """Milliseconds per page of a listing, and the fewest and most queries."""

    p50: float
    p95: float
    worst: float
    fewest: int
    most: int


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--pages", type=int, default=40, help="of each listing, evenly over all of them")
    parser.add_argument("--scroll", type=int, default=0, metavar="N", help="pages to scroll in Chromium")


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
        failed = measure(command, owner, guest, options["pages"]) if options["pages"] else 0
        return max(failed, scroll(command, owner, options["scroll"]) if options["scroll"] else 0)
    finally:
        remove()


def remove() -> None:
    for number in range(PICTURES):
        default_storage.delete(picture_name(number))
    Document.objects.filter(owner__username__in=USERS).delete()
    User.objects.filter(username__in=USERS).delete()


def fill(owner: User, guest: User, count: int) -> None:
    """Create documents with tags, collections, shares and copies of the same text."""
    chance = random.Random(1)
    store_pictures(chance)
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


def store_pictures(chance: random.Random) -> None:
    """Store the pictures of first pages, which the cards share: grey lines of different lengths."""
    for number in range(PICTURES):
        page = Image.new("RGB", (360, 466), "white")
        for height in range(30, 440, 9):
            ImageDraw.Draw(page).line((30, height, chance.randrange(200, 330), height), "#444", 3)
        out = io.BytesIO()
        page.save(out, "WEBP", quality=82)
        default_storage.save(picture_name(number), ContentFile(out.getvalue()))


def picture_name(number: int) -> str:
    return f"thumbnails/bench-{number}.webp"


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
            thumbnail=picture_name(number % PICTURES),
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
            found = LibraryFigures(statistics.median(times), p95(times), max(times), min(counts), max(counts))
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


SCREENS_A_SECOND = 2.0  # a fast scroll, from which titles can still be read

# Scrolls evenly until so many pages were put in, or the list ends. Returns [ms, cards] of each that came:
# how long the end of the list was in sight before.
SCROLL = """async ([pages, screens]) => {
  const list = document.querySelector("[data-cards]");
  const frame = () => new Promise(requestAnimationFrame);
  const waits = [];
  let cards = list.children.length, waited = 0, last = performance.now();
  while (waits.length < pages) {
    const now = await frame();
    const end = list.getBoundingClientRect().bottom - innerHeight;
    if (end > 0) scrollBy(0, Math.min(end, screens * innerHeight * (now - last) / 1000));
    else if (!document.querySelector("[data-further]")) break;
    else waited += now - last;
    last = now;
    if (list.children.length > cards) {
      waits.push([waited, cards = list.children.length]);
      waited = 0;
    }
  }
  return waits;
}"""


def scroll(command: BaseCommand, owner: User, pages: int) -> int:
    """Scroll the newest documents in Chromium, and print the waiting time for each further page."""
    with server() as address, chromium() as browser:
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        name = settings.SESSION_COOKIE_NAME
        session = signed_in(owner).cookies[name].value
        page.context.add_cookies([{"name": name, "value": session, "url": address}])
        page.goto(address)
        found: list[tuple[float, int]] = scrolled(page, pages)
    waits = [wait for wait, _cards in found]
    held = p95(waits) <= MOST_MILLISECONDS
    command.stdout.write(
        f"{'✓' if held else '✗'} {len(waits)} pages scrolled in Chromium, to {found[-1][1]:,} cards: "
        f"waited p50 {statistics.median(waits):.0f} ms, p95 {p95(waits):.0f} ms, worst {max(waits):.0f} ms; "
        f"load {os.getloadavg()[0]:.1f}"
    )
    return int(not held)


def scrolled(page: BrowserPage, pages: int) -> list[tuple[float, int]]:
    page.locator("[data-cards]").wait_for()
    return [(wait, cards) for wait, cards in page.evaluate(SCROLL, [pages, SCREENS_A_SECOND])]


def listings(owner: User, guest: User) -> Iterator[Listing]:
    """Yield each order, the list view, a search, and each filter, for the owner and then for the guest."""
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
    """Return the milliseconds of whole pages from first to last, one after the other."""
    name = settings.SESSION_COOKIE_NAME
    cookies = {name: signed_in(listing.user).cookies[name].value}
    step = max(1, listing.pages // most)
    found = []
    with httpx.Client(base_url=address, cookies=cookies, timeout=60) as browser:
        for _ in range(WARM_UP_REQUESTS):
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


# --- A library of any size for `bench search` and `bench load`: varied copies of the documents that exist ---
#
# It belongs to a user who is removed afterwards with all of it, unless it is to be kept. A run that was
# stopped leaves what it made, and the next continues it. Use a database of its own: while rows are repeated
# their indexes are away.
#
# Equal copies would tie in every list and form cliques in every graph. So each copy has its own vocabulary:
# one word in eight is replaced, always by the same other word of the library, and the digits of numbers that
# are not years are changed. Copies are indexed and embedded like other documents. They have no rectangles,
# which search does not read.

OWNER = "benchmark"
REPLACED_ONE_IN = 8
WORD = re.compile(r"[A-Za-z]{4,}|\d+")


class Variation:
    """The replacements of one copy; the same word is always replaced by the same other word."""

    def __init__(self, seed: int, vocabulary: Sequence[str]) -> None:
        self._seed = seed
        self._vocabulary = vocabulary
        self._known: dict[str, str] = {}

    def of(self, text: str) -> str:
        return WORD.sub(self._replaced, text)

    def _replaced(self, match: re.Match[str]) -> str:
        word = match[0]
        if word not in self._known:
            self._known[word] = self._other(word)
        return self._known[word]

    def _other(self, word: str) -> str:
        if word.isdigit():
            return word if YEAR.fullmatch(word) else self._turned(word)
        number = crc32(f"{self._seed} {word.lower()}".encode())
        return self._vocabulary[number % len(self._vocabulary)] if number % REPLACED_ONE_IN == 0 else word

    def _turned(self, digits: str) -> str:
        return "".join(str((int(digit) + self._seed) % 10) for digit in digits)


def benchmark_owner() -> User:
    user, new = User.objects.get_or_create(username=OWNER)
    if new:
        user.set_unusable_password()
        user.save()
    return user


def originals() -> list[Document]:
    """Return documents with chunks, except those of the benchmark."""
    found = Document.objects.exclude(owner__username=OWNER).filter(deleted_at=None, chunks__isnull=False)
    return list(found.distinct().order_by("created_at"))


def vocabulary_of(documents: Sequence[Document], size: int = 20_000) -> list[str]:
    words: dict[str, None] = {}
    contents = RetrievalChunk.objects.filter(document__in=documents).values_list("content", flat=True)
    for content in contents.iterator(chunk_size=500):
        words.update(dict.fromkeys(WORD.findall(content)))
        if len(words) > 4 * size:
            break
    return [word for word in words if word.isalpha()][:size]


@dataclass(frozen=True, slots=True)
class BenchStep:
    """One more copy: total and new chunks, and the seconds for indexing them (without varying them)."""

    chunks: int
    new: int
    seconds: float


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """A document to vary: its rows, and its words separately."""

    document: Document
    chunks: list[tuple[RetrievalChunk, str, str]]
    unit_ids: list[list[UUID]]
    units: list[tuple[CitationUnit, str, UUID, int | None]]


def build_library(owner: User, chunks: int) -> Iterator[BenchStep]:
    """Add varied copies until the owner has ``chunks`` chunks; stopped, it goes on where it was."""
    documents = originals()
    vocabulary = vocabulary_of(documents)
    sources = [read_source(document) for document in documents]
    have = RetrievalChunk.objects.filter(document__owner=owner).count()
    made = set(Document.objects.filter(owner=owner).values_list("metadata__copy_of", "metadata__seed"))
    seed = 0
    while sources and have < chunks:
        seed += 1
        variation = Variation(seed, vocabulary)
        for source in sources:
            if have < chunks and (str(source.document.pk), seed) not in made:
                copy = write_copy(source, owner, seed, variation)
                have += len(source.chunks)
                yield BenchStep(have, len(source.chunks), index_seconds(copy))


def read_source(document: Document) -> SourceDocument:
    chunks = list(RetrievalChunk.objects.filter(document=document))
    index: dict[uuid.UUID | None, int] = {chunk.pk: chunk.index for chunk in chunks}
    units = list(CitationUnit.objects.filter(document=document).defer("bbox", "rects", "cells"))
    for unit in units:
        unit.bbox, unit.rects, unit.cells = [0.0] * 4, [], None
    return SourceDocument(
        document,
        [(chunk, chunk.content, chunk.context_header) for chunk in chunks],
        [list(chunk.unit_ids) for chunk in chunks],
        [(unit, unit.content, unit.pk, index.get(unit.chunk_id)) for unit in units],
    )


def write_copy(source: SourceDocument, owner: User, seed: int, variation: Variation) -> Document:
    """Return a varied copy, not indexed yet."""
    original = source.document
    copy = Document(
        owner=owner,
        title=variation.of(original.title),
        original_name=variation.of(original.original_name.replace("_", " ")),
        year=original.year,
        language=original.language,
        status=Document.Status.READY,
        page_count=original.page_count,
        metadata={"copy_of": str(original.pk), "seed": seed},
        indexed_at=timezone.now(),
    )
    for index, (chunk, content, header) in enumerate(source.chunks):
        chunk.pk, chunk.document = uuid.uuid5(copy.pk, str(chunk.index)), copy
        chunk.content, chunk.context_header = variation.of(content), variation.of(header)
        chunk.unit_ids = [uuid.uuid5(copy.pk, str(pk)) for pk in source.unit_ids[index]]
    for unit, content, key, chunk_index in source.units:
        unit.pk, unit.document, unit.content = uuid.uuid5(copy.pk, str(key)), copy, variation.of(content)
        unit.chunk_id = None if chunk_index is None else uuid.uuid5(copy.pk, str(chunk_index))
    with transaction.atomic():
        copy.save()
        copy_rows(RetrievalChunk, [chunk for chunk, _, _ in source.chunks])
        copy_rows(CitationUnit, [unit for unit, *_ in source.units])
    return copy


def index_seconds(document: Document) -> float:
    """Index and embed the copy; return the seconds. The vector index is built after all copies."""
    start = time.perf_counter()
    index_words(document)
    embed_document(document, active_space())
    return time.perf_counter() - start


def remove_library(owner: User) -> None:
    """Delete all rows of the library, table by table; it has no files and no subscribers."""
    documents = Document.objects.filter(owner=owner)
    for rows in (
        ChunkVector.objects.filter(document__in=documents),
        IndexedChunk.objects.filter(document__in=documents),
        IndexedDocument.objects.filter(document__in=documents),
        CitationUnit.objects.filter(document__in=documents),
        RetrievalChunk.objects.filter(document__in=documents),
        documents,
    ):
        rows._raw_delete("default")
    owner.delete()
