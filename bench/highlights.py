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

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page
import unicodedata
from argparse import ArgumentParser
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import msgspec
from django.core.management.base import BaseCommand

from bench._installation import chromium, ingested, new_tab, server
from documents.models import CitationUnit, Document
from pdf.extract.words import UNDECODABLE

# --- Where the letters of a line are: the ink on the page's canvas ---
#
# pdf.js's text layer sets a run of text in a system font, stretched to the run's length. The ends of the run
# are right; words inside it may be pixels away from the painted ones. The canvas shows the real letters.

REACH = 8  # CSS pixels from a word of the text layer to the ink that is its own, at most
GAP = 0.15  # of the line's height: what parts words; letters stand closer

Run = tuple[float, float]  # from, to: ink without a gap

# inkOf(canvas, reach)(rect): the runs of ink along a rectangle and `reach` beyond its ends, in CSS pixels of
# the window: from left to right, and from top to bottom. Lines above and below reach into its edges, which
# are left out.
INK = """
const inkOf = (canvas, reach) => {
  const at = canvas.getBoundingClientRect();
  const dots = canvas.width / at.width;
  const context = canvas.getContext("2d");
  const runs = (rect, along) => {
    const across = 1 - along, origin = [at.left, at.top], thin = (rect[across + 2] - rect[across]) / 5;
    const from = [0, 0], to = [0, 0];
    [from[along], to[along]] = [rect[along] - reach, rect[along + 2] + reach];
    [from[across], to[across]] = [rect[across] + thin, rect[across + 2] - thin];
    const [x, y] = from.map((edge, axis) => Math.max(0, Math.round((edge - origin[axis]) * dots)));
    const right = Math.min(canvas.width, Math.round((to[0] - origin[0]) * dots));
    const bottom = Math.min(canvas.height, Math.round((to[1] - origin[1]) * dots));
    if (right <= x || bottom <= y) return [];
    const { data, width, height } = context.getImageData(x, y, right - x, bottom - y);
    const light = [];
    for (let i = 0; i < data.length; i += 4) light.push(data[i] + data[i + 1] + data[i + 2]); // of 765
    const paper = [...light].sort((a, b) => a - b)[light.length >> 1]; // most of a line is paper
    const found = [], count = along ? height : width;
    for (let place = 0, open = null; place <= count; place += 1) {
      const inked = place < count && light.some((value, i) =>
        (along ? Math.floor(i / width) : i % width) === place && Math.abs(value - paper) > 150);
      if (inked) open ??= place;
      else if (open !== null) (found.push([open, place]), (open = null));
    }
    return found.map((run) => run.map((edge) => (edge + [x, y][along]) / dots + origin[along]));
  };
  return (rect) => [runs(rect, 0), runs(rect, 1)];
};
"""


@dataclass(frozen=True, slots=True)
class Ink:
    """The runs of ink along one line; gaps of at least ``gap`` CSS pixels separate words."""

    runs: list[Run]
    gap: float

    def words(self) -> list[Run]:
        out: list[Run] = []
        for start, end in self.runs:
            if out and start - out[-1][1] < self.gap:
                out[-1] = (out[-1][0], end)
            else:
                out.append((start, end))
        return out

    def end_near(self, place: float, side: int) -> float | None:
        """Return the beginning (side 0) or end (1) of the ink nearest to that of the text layer."""
        ends = [word[side] for word in self.words()]
        nearest = min(ends, key=lambda end: abs(end - place), default=None)
        return nearest if nearest is not None and abs(nearest - place) <= REACH else None


WITHIN = 1.5  # CSS pixels at 100 % zoom

MEASURE = (
    f"([number, reach]) => {{ {INK}"
    + """
  const page = document.querySelector(`.page[data-page-number="${number}"]`);
  const box = ({ left, top, right, bottom }) => [left, top, right, bottom];
  const lit = [...page.querySelectorAll(".lit-anchor:not(.lit-other)")];
  const painted = lit.map((element) => box(element.getBoundingClientRect()));
  const spans = [...page.querySelectorAll(".textLayer span")].filter((span) => span.firstChild?.data);
  const words = spans.flatMap((span) =>
    [...span.firstChild.data.matchAll(/\\S+/g)].map((match) => {
      const range = document.createRange();
      range.setStart(span.firstChild, match.index);
      range.setEnd(span.firstChild, match.index + match[0].length);
      return { text: match[0], box: box(range.getBoundingClientRect()) };
    }));
  const ink = painted.map(inkOf(page.querySelector("canvas"), reach));
  return { painted, words, ink };
}"""
)
STILL = """() => {
  const drawn = document.querySelector(".page[data-loaded] .textLayer .endOfContent") !== null;
  const shown = [...document.querySelectorAll(".lit, .textLayer")];
  const at = JSON.stringify(shown.map((element) => element.getBoundingClientRect()));
  const still = drawn && window.lastPlaces === at;
  window.lastPlaces = at;
  return still;
}"""
Box = tuple[float, float, float, float]  # CSS pixels


@dataclass(frozen=True, slots=True)
class Painted:
    """The strong rectangles of a page, and the words of the text layer inside them."""

    rects: list[Box]
    words: list[tuple[str, Box]]
    ink: list[tuple[list[Run], list[Run]]] = field(default_factory=list)  # of each rectangle: x, y

    @property
    def text(self) -> str:
        return " ".join(text for text, _ in self.words)

    def errors(self) -> list[float]:
        """Return the distances between the ends of each rectangle and the ends of its words, along the line.

        If the text layer has an end elsewhere, the ink of the word decides.
        """
        found = []
        for number, rect in enumerate(self.rects):
            inside = [box for _, box in self.words if holds(rect, box)]
            if inside:
                words = bounding_box(inside)
                along = 0 if words[2] - words[0] > words[3] - words[1] else 1
                ink = Ink(self.ink[number][along], GAP * (rect[3 - along] - rect[1 - along]))
                found.append(max(_error(rect, words, along + 2 * side, side, ink) for side in (0, 1)))
        return found


def _error(rect: Box, words: Box, edge: int, side: int, ink: Ink) -> float:
    error = abs(rect[edge] - words[edge])
    if error <= WITHIN or (inked := ink.end_near(words[edge], side)) is None:
        return error
    return abs(rect[edge] - inked)


def painted_on(page: Page, number: int) -> Painted:
    found = page.evaluate(MEASURE, [number, REACH])
    rects = [tuple(rect) for rect in found["painted"]]
    words = [(word["text"], tuple(word["box"])) for word in found["words"]]
    inside = [(text, box) for text, box in words if any(holds(rect, box) for rect in rects)]
    return Painted(rects, inside, found["ink"])


def holds(rect: Box, word: Box) -> bool:
    """Return whether the middle of the word is inside."""
    x, y = (word[0] + word[2]) / 2, (word[1] + word[3]) / 2
    return rect[0] <= x <= rect[2] and rect[1] <= y <= rect[3]


def bounding_box(boxes: list[Box]) -> Box:
    x0s, y0s, x1s, y1s = zip(*boxes, strict=True)
    return min(x0s), min(y0s), max(x1s), max(y1s)


def wait_until_still(page: Page) -> None:
    """Wait until pdf.js has drawn everything and nothing moves."""
    page.wait_for_function(STILL, polling=250)


SHORTEST = 20  # characters of a passage worth measuring
HYPHENS = dict.fromkeys(map(ord, "-\xad\u2010\u2011"))  # after NFKC
# Follow a link to the passage, as a click in the panel does.
FOLLOW = """(search) => {
  const link = Object.assign(document.createElement("a"), { href: search });
  document.querySelector("[data-reader]").append(link);
  link.click();
  link.remove();
}"""


class Measured(msgspec.Struct):
    """The results of one file. ``errors``: distances of each highlighted line's ends from its words, in CSS
    pixels.
    """

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
    parser.add_argument("--all", action="store_true", help="also pages without rotation, crop or scale")


def run(command: BaseCommand, options: dict[str, Any]) -> int:
    measured = []
    with server() as address, chromium() as browser:
        for path in options["files"]:
            with ingested(path) as document:
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
    for number in pages_to_check(document, options["all"])[: options["pages"]]:
        found.pages += 1
        for unit in passages(document, number)[: options["passages"]]:
            show_highlight(page, unit)
            painted = painted_on(page, number)
            wanted = decodable(unit.content.split())
            found.passages += 1
            found.words += len(wanted)
            found.covered += found_in(wanted, [text for text, _ in painted.words])
            found.errors += painted.errors()
    return found


def show_highlight(page: Page, unit: CitationUnit) -> None:
    page.keyboard.press("Escape")
    page.evaluate(FOLLOW, "?" + urlencode({"page": unit.page_number, "unit": unit.pk, "q": unit.content}))
    place = f'.page[data-loaded][data-page-number="{unit.page_number}"]'
    page.locator(f"{place} .lit-anchor").first.wait_for(state="attached")
    page.locator(f"{place} .textLayer .endOfContent").wait_for(state="attached")
    wait_until_still(page)


def pages_to_check(document: Document, everything: bool) -> list[int]:
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
    """Return how many of the passage's words the text layer has among the painted ones.

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


def decodable(words: list[str]) -> list[str]:
    """Without those of which no letter can be compared, since their font does not say what they are."""
    return [word for word in words if UNDECODABLE not in word or alphanumeric(word)]


def has_symbol(word: str) -> bool:
    """Return whether the word has symbols other than those of a keyboard, which all engines name alike."""
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
