"""What is painted on a page in the browser, measured against pdf.js's own text layer, and its ink."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from chat.benchmarks._ink import GAP, INK, REACH, Ink, Run

if TYPE_CHECKING:
    from playwright.sync_api import Page

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
    """The strong rectangles of a page, and the words of the text layer that stand in them."""

    rects: list[Box]
    words: list[tuple[str, Box]]
    ink: list[tuple[list[Run], list[Run]]] = field(default_factory=list)  # of each rectangle: x, y

    @property
    def text(self) -> str:
        return " ".join(text for text, _ in self.words)

    def errors(self) -> list[float]:
        """Of each rectangle: how far its ends are from the ends of its words, along the line.

        Where the text layer has an end elsewhere, the ink of the word there decides.
        """
        found = []
        for number, rect in enumerate(self.rects):
            inside = [box for _, box in self.words if holds(rect, box)]
            if inside:
                words = hull(inside)
                along = 0 if words[2] - words[0] > words[3] - words[1] else 1
                ink = Ink(self.ink[number][along], GAP * (rect[3 - along] - rect[1 - along]))
                found.append(max(_error(rect, words, along + 2 * side, side, ink) for side in (0, 1)))
        return found

    def covers_its_words(self) -> bool:
        (x0, y0, x1, y1) = hull(self.rects)
        return all(
            x0 - WITHIN <= box[0]
            and y0 - WITHIN <= box[1]
            and box[2] <= x1 + WITHIN
            and box[3] <= y1 + WITHIN
            for _, box in self.words
        )


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
    """Whether the middle of the word is inside."""
    x, y = (word[0] + word[2]) / 2, (word[1] + word[3]) / 2
    return rect[0] <= x <= rect[2] and rect[1] <= y <= rect[3]


def hull(boxes: list[Box]) -> Box:
    x0s, y0s, x1s, y1s = zip(*boxes, strict=True)
    return min(x0s), min(y0s), max(x1s), max(y1s)


def settle(page: Page) -> None:
    """Waits until pdf.js has drawn what it has to, and nothing moves any more."""
    page.wait_for_function(STILL, polling=250)
