"""Painted passages against pdf.js's own text layer, in real Chromium: words covered, ends of lines.

Passages of each page are lit whole, as a link lights them, at 100 % zoom. A
word of the passage is covered when the text layer has it inside the painted
rectangles. The text layer sets each run of text in a font of the system,
stretched to the run's length as it is on the page; where it has the end of a
line more than 1.5 px from ours, the ink of the canvas that is nearest to its end
decides who is right. By default only pages that are rotated, cropped, scaled
or do not begin at (0, 0), and files with pages of several sizes. Needs
Playwright and Chromium.
"""

from __future__ import annotations

import unicodedata
from argparse import ArgumentParser
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import msgspec
from django.core.management.base import BaseCommand

from chat.benchmarks._painted import WITHIN, painted_on, settle
from chat.benchmarks._site import chromium, new_tab, server, taken_in
from documents.models import CitationUnit, Document
from documents.pdf.fast.words import UNDECODABLE

if TYPE_CHECKING:
    from playwright.sync_api import Page

SHORTEST = 20  # characters of a passage worth measuring
HYPHENS = dict.fromkeys(map(ord, "-\xad\u2010\u2011"))  # after NFKC
# Follows a link to the passage as a person does who clicks one in the panel.
FOLLOW = """(search) => {
  const link = Object.assign(document.createElement("a"), { href: search });
  document.querySelector("[data-reader]").append(link);
  link.click();
  link.remove();
}"""


class Measured(msgspec.Struct):
    """One file. ``errors``: of each painted line, how far its ends are from its words, in CSS pixels."""

    file: str
    pages: int = 0
    passages: int = 0
    words: int = 0
    covered: int = 0
    errors: list[float] = []


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE")
    parser.add_argument("--pages", type=int, default=3, help="at most, of each file")
    parser.add_argument("--passages", type=int, default=5, help="at most, of each page")
    parser.add_argument("--all", action="store_true", help="also pages that lie as one expects")


def run(command: BaseCommand, options: dict[str, Any]) -> int:
    measured = []
    with server() as address, chromium() as browser:
        for path in options["files"]:
            with taken_in(path) as document:
                page = new_tab(browser, address)
                page.goto(f"{address}/documents/{document.pk}/?page=1")
                measured.append(measure(page, document, path.name, options))
                page.context.close()
                command.stdout.write(line_of(measured[-1]))
    command.stdout.write(line_of(total(measured)))
    return 0


def measure(page: Page, document: Document, name: str, options: dict[str, Any]) -> Measured:
    page.locator(".page[data-loaded] .textLayer").first.wait_for(state="attached")
    page.locator("[data-zoom]").select_option("1")
    found = Measured(name)
    for number in odd_pages(document, options["all"])[: options["pages"]]:
        found.pages += 1
        for unit in passages(document, number)[: options["passages"]]:
            light(page, unit)
            painted = painted_on(page, number)
            wanted = named(unit.content.split())
            found.passages += 1
            found.words += len(wanted)
            found.covered += found_in(wanted, [text for text, _ in painted.words])
            found.errors += painted.errors()
    return found


def light(page: Page, unit: CitationUnit) -> None:
    page.keyboard.press("Escape")
    page.evaluate(FOLLOW, "?" + urlencode({"page": unit.page_number, "unit": unit.pk, "q": unit.content}))
    place = f'.page[data-loaded][data-page-number="{unit.page_number}"]'
    page.locator(f"{place} .lit-anchor").first.wait_for(state="attached")
    page.locator(f"{place} .textLayer .endOfContent").wait_for(state="attached")
    settle(page)


def odd_pages(document: Document, everything: bool) -> list[int]:
    pages = list(document.pages.defer("text", "word_boxes", "furniture", "figures"))
    sizes = {(round(page.width), round(page.height)) for page in pages}
    return [
        page.number
        for page in pages
        if everything
        or len(sizes) > 1
        or (page.rotation, page.crop_x, page.crop_y, page.user_unit) != (0, 0, 0, 1)
    ]


def passages(document: Document, number: int) -> list[CitationUnit]:
    units = document.units.filter(page_number=number).order_by("paragraph_index")
    return [unit for unit in units if len(unit.content) >= SHORTEST]


def found_in(words: list[str], painted: list[str]) -> int:
    """How many of the passage's words the text layer has among the painted ones.

    In their turn, whatever spans the layer cuts them into; or as whole words,
    where the layer has another order than the passage; or without symbols, which
    engines name differently (an arrow over a letter is a tilde to pdf.js).
    """
    read, at, count = letters("".join(painted)), 0, 0
    whole = Counter(map(letters, painted))
    plain = alphanumeric(read)
    for word in map(letters, words):
        found = read.find(word, at)
        count += found >= 0 or whole[word] > 0 or (has_symbol(word) and alphanumeric(word) in plain)
        whole[word] -= 1
        at = max(at, found)
    return count


def named(words: list[str]) -> list[str]:
    """Without those of which no letter can be compared, since their font does not say what they are."""
    return [word for word in words if UNDECODABLE not in word or alphanumeric(word)]


def has_symbol(word: str) -> bool:
    """Other than those of a keyboard, which all engines name alike."""
    return bool(alphanumeric(word)) and any(not (c.isalnum() or c.isascii()) for c in word)


def alphanumeric(text: str) -> str:
    return "".join(filter(str.isalnum, text))


def letters(text: str) -> str:
    """Without white space, ligatures and hyphens: engines part and spell them differently, and a
    passage has whole words where the page parts them at the end of a line."""
    return "".join(unicodedata.normalize("NFKC", text).translate(HYPHENS).split())


def total(measured: list[Measured]) -> Measured:
    return Measured(
        "in all",
        pages=sum(file.pages for file in measured),
        passages=sum(file.passages for file in measured),
        words=sum(file.words for file in measured),
        covered=sum(file.covered for file in measured),
        errors=[error for file in measured for error in file.errors],
    )


def line_of(found: Measured) -> str:
    errors = sorted(found.errors) or [0.0]
    within = sum(error <= WITHIN for error in errors) / len(errors)
    return (
        f"{found.file[:44]:44} {found.pages:3} pages {found.passages:4} passages"
        f"  words covered {found.covered / max(found.words, 1):7.2%} of {found.words:5}"
        f"  ends within {WITHIN} px {within:7.2%} of {len(errors):4}"
        f", median {errors[len(errors) // 2]:.2f}, worst {errors[-1]:.1f}"
    )
