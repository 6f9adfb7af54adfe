"""Time to find quoted words in a stored document, beside PyMuPDF's own search of the open file.

The quotes are drawn from the document's own passages and then changed as people
and models change them; the document's text is in memory after the first, as it
is in a server that has been up for a while. Of a file of claims (``.jsonl``, as for ``manage.py verify
--batch``) the processor time that the verification of one takes is measured instead: with empty caches of
words and sentences ("first"), and again with full ones ("again").
"""

from __future__ import annotations

import random
import re
import statistics
import time
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pymupdf
from django.core.management.base import BaseCommand, CommandError

from bench._installation import ingested
from chat.citations.stored_pages import forget_pages, locate
from citing.anchoring.find_quote import Anchor
from citing.batch import Case, check
from citing.comparison import prose, tokens
from documents.models import CitationUnit, Document
from text import quantities

FEWEST_WORDS, MOST_WORDS = 6, 30
SEARCHED_BY_PYMUPDF = 10  # quotes; each reads the whole file


class Quote(msgspec.Struct, frozen=True):
    text: str
    context: str = ""


class Times(msgspec.Struct, frozen=True):
    """Milliseconds of one kind of quote, and the share of quotes that were found."""

    p50: float
    p95: float
    found: float


class LocateFigures(msgspec.Struct, frozen=True):
    """Times by kind of quote; ``first`` is the median of calls that must load the document's text."""

    pages: int
    quotes: int
    first: float
    kinds: dict[str, Times]
    pymupdf: float


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="a long PDF, or claims")
    parser.add_argument("--quotes", type=int, default=100, help="of each kind")
    parser.add_argument("--json", action="store_true")


def run(command: BaseCommand, options: dict[str, Any]) -> int:
    if options["file"].suffix == ".jsonl":
        write_verification(command, options["file"].read_bytes().splitlines())
        return 0
    with ingested(options["file"]) as document:
        figures = measure(document, options["file"], options["quotes"])
    if options["json"]:
        command.stdout.write(msgspec.json.encode(figures).decode())
        return 0
    command.stdout.write(f"{figures.pages} pages, {figures.quotes} quotes of each kind")
    command.stdout.write(f"{'':<28}{'p50 ms':>10}{'p95 ms':>10}{'found':>8}")
    for name, times in figures.kinds.items():
        command.stdout.write(f"{name:<28}{times.p50:>10.1f}{times.p95:>10.1f}{times.found:>8.0%}")
    command.stdout.write(f"{'first of a document':<28}{figures.first:>10.1f}")
    command.stdout.write(f"{'page.search_for, all pages':<28}{figures.pymupdf:>10.1f}")
    return 0


def measure(document: Document, path: Path, count: int) -> LocateFigures:
    generator = random.Random(1)
    sentences = sentences_of(document, count, generator)
    kinds = {
        "as printed": sentences,
        "typed otherwise": [Quote(without_punctuation(quote.text)) for quote in sentences],
        "a word changed": [Quote(with_changed_word(quote.text, generator)) for quote in sentences],
        "a value, by its row": values_of(document, count, generator),
        "words that stand nowhere": [Quote(shuffled(quote.text, generator)) for quote in sentences],
    }
    first = [timed(document, quote, cold=True)[0] for quote in sentences[:10]]
    return LocateFigures(
        document.page_count,
        count,
        statistics.median(first),
        {name: times_of(document, quotes) for name, quotes in kinds.items()},
        searched_by_pymupdf(path, sentences[:SEARCHED_BY_PYMUPDF]),
    )


def sentences_of(document: Document, count: int, generator: random.Random) -> list[Quote]:
    """Return stretches of 6 to 30 words. Raises CommandError."""
    passages = document.units.filter(unit_type__in=("prose", "list")).values_list("content", flat=True)
    long = [words for text in passages if len(words := text.split()) >= FEWEST_WORDS]
    if not long:
        raise CommandError("This file has too little text to measure.")
    found = []
    for words in generator.choices(long, k=count):
        size = generator.randint(FEWEST_WORDS, min(MOST_WORDS, len(words)))
        start = generator.randint(0, len(words) - size)
        found.append(Quote(" ".join(words[start : start + size])))
    return found


def values_of(document: Document, count: int, generator: random.Random) -> list[Quote]:
    """Return numbers of table rows, each with its row as context; without tables, numbers of sentences."""
    rows = CitationUnit.objects.filter(document=document, content__regex=r"\d").order_by("-unit_type")
    texts = list(rows.values_list("content", flat=True)[:2000])
    chosen = generator.choices(texts, k=count) if texts else []
    return [Quote(generator.choice(re.findall(r"\d[\d.,]*\d|\d", text)), text) for text in chosen]


def without_punctuation(text: str) -> str:
    """Return the text without quotes and hyphens, in lower case."""
    return re.sub(r"[-'\"“”‘’–—]", "", text.lower())


def with_changed_word(text: str, generator: random.Random) -> str:
    words = text.split()
    words[generator.randrange(len(words))] = "altogether"
    return " ".join(words)


def shuffled(text: str, generator: random.Random) -> str:
    words = [word[::-1] for word in text.split()]
    generator.shuffle(words)
    return " ".join(words)


def times_of(document: Document, quotes: Sequence[Quote]) -> Times:
    outcomes = [timed(document, quote) for quote in quotes]
    times = sorted(milliseconds for milliseconds, _ in outcomes)
    found = sum(anchor is not None for _, anchor in outcomes)
    return Times(statistics.median(times), times[len(times) * 95 // 100], found / len(outcomes))


def timed(document: Document, quote: Quote, cold: bool = False) -> tuple[float, Anchor | None]:
    if cold:
        forget_pages()
    start = time.perf_counter()
    anchor = locate(document.pk, quote.text, quote.context)
    return (time.perf_counter() - start) * 1000, anchor


def searched_by_pymupdf(path: Path, quotes: Sequence[Quote]) -> float:
    """Return the median milliseconds of ``page.search_for`` over all pages of the open file."""
    times = []
    with pymupdf.open(path) as file:
        for quote in quotes:
            start = time.perf_counter()
            for page in file:
                page.search_for(quote.text)
            times.append((time.perf_counter() - start) * 1000)
    return statistics.median(times)


def write_verification(command: BaseCommand, lines: Sequence[bytes]) -> None:
    cases = [msgspec.json.decode(line, type=Case) for line in lines]
    verification_times(cases)  # reads the words of every language
    for name, empty in (("first", True), ("again", False)):
        times = sorted(verification_times(cases, empty=empty))
        p50, p95 = statistics.median(times), times[int(len(times) * 0.95)]
        command.stdout.write(
            f"{name:6} {len(times)} claims  p50 {p50:7.0f} µs  p95 {p95:7.0f} µs  most {times[-1]:7.0f} µs"
        )


def verification_times(cases: Sequence[Case], *, empty: bool = False) -> list[float]:
    """Return the microseconds of processor time of each case."""
    found = []
    for case in cases:
        if empty:
            tokens.tokens_of.cache_clear()
            prose.sentences_of.cache_clear()
            quantities.quantities_in.cache_clear()
        start = time.process_time()
        check(case)
        found.append((time.process_time() - start) * 1e6)
    return found
