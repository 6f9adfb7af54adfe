"""`manage.py search QUERY`: what stands in the library about it, from the command line."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any, get_args
from uuid import UUID

import msgspec
from django.core.management.base import CommandError

from documents.management import LibraryCommand, owner_named
from retrieval.query.scope import Scope
from retrieval.results import STRATEGIES, FullTextLevel, Hit, SearchOptions, SearchResult
from retrieval.search import search


class HitRecord(msgspec.Struct, frozen=True):
    """What is printed of one hit (design.md, section 9). ``ranks``: list name to rank."""

    document: UUID
    title: str
    page: int
    units: tuple[UUID, ...]
    chunk: UUID
    score: float
    ranks: dict[str, int]
    snippet: str


class Command(LibraryCommand):
    help = "Searches the library (or one document) and prints the hits, best first."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("query")
        parser.add_argument("--document", type=UUID, help="id of the only document to search")
        parser.add_argument("--limit", type=int, default=10)
        parser.add_argument("--owner", default="", help="owner of the library (default: the first superuser)")
        parser.add_argument(
            "--off", action="append", choices=STRATEGIES, default=[], help="a strategy not to run"
        )
        parser.add_argument(
            "--level", choices=get_args(FullTextLevel), help="the level that keyword search ranks"
        )
        parser.add_argument("--json", action="store_true", help="one JSON object per hit")

    def handle(self, *, query: str, document: UUID | None, limit: int, owner: str, **options: Any) -> None:
        if limit < 1:
            raise CommandError("--limit must be 1 or more.")
        scope = Scope(owner_named(owner), document_ids=None if document is None else (document,))
        search_options = SearchOptions(limit=limit, fts_level=options["level"], off=frozenset(options["off"]))
        result = search(query, scope, search_options)
        if options["json"]:
            for hit in result.hits:
                self.stdout.write(msgspec.json.encode(line_of(hit)).decode())
        else:
            self.show(result)

    def show(self, result: SearchResult) -> None:
        for number, hit in enumerate(result.hits, 1):
            ranks = ", ".join(f"{rank.list} {rank.rank}" for rank in hit.why)
            self.stdout.write(f"{number}. {hit.document_title}, p. {hit.page}  ({hit.score:.2f}; {ranks})")
            self.stdout.write("   " + " ".join(hit.snippet.text.split()))
        if result.message:
            self.stdout.write(result.message)
        if result.preparing:
            self.stdout.write(f"Documents being prepared for search: {result.preparing}")
        for report in result.strategies:
            state = f"{report.milliseconds:.1f} ms" if report.ran else "did not run"
            self.stdout.write(f"   {report.name}: {state} {report.reason}")


def line_of(hit: Hit) -> HitRecord:
    return HitRecord(
        document=hit.document_id,
        title=hit.document_title,
        page=hit.page,
        units=hit.unit_ids,
        chunk=hit.chunk_id,
        score=hit.score,
        ranks={rank.list: rank.rank for rank in hit.why},
        snippet=hit.snippet.text,
    )
