"""Words that kerning tore apart, made whole: ``LIQUIDI TY``.

Some programs write a space within a word and kern the next letters back over
most of it. What is left is narrower than the spaces around it, and the document
spells the word elsewhere in one piece.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from statistics import median

from documents.pdf.fast.raw import RawPage
from documents.pdf.fast.words import RawWord

# Words that the document never has alone are parted by less than this share of a space, others by less
# than that; only where one of the two is so rare is the gap measured.
NARROW, NARROWEST = 0.97, 0.8
RARE = 3
_AROUND = ".,;:()“”\"'"


def join_kerned(pages: Iterable[RawPage]) -> None:
    """Joins, on every page, the halves of words that the document has whole."""
    pages = [page for page in pages if not page.ocr]
    counts = Counter([word[4] for page in pages for word in page.words])
    alone = Counter[str]()
    for text, count in counts.items():
        alone[text.strip(_AROUND).casefold()] += count
    for page in pages:
        torn = [i for i in _suspects(page.words, counts, alone) if _is_torn(page.words, i, alone)]
        for i in reversed(torn):
            page.words[i : i + 2] = [_joined(*page.words[i : i + 2])]


def _suspects(words: Sequence[RawWord], counts: Counter[str], alone: Counter[str]) -> Iterator[int]:
    """Where a word and the next, one of them rare or a lone letter, make a word together."""
    for i, (a, b) in enumerate(pairwise(words)):
        left, right = a[4], b[4]
        if (
            (counts[left] <= RARE or counts[right] <= RARE or len(right) == 1 or len(left) == 1)
            and a[7] == b[7]
            and left[-1].isalpha()
            and right[0].isalpha()
            and f"{left}{right}".strip(_AROUND).casefold() in alone
        ):
            yield i


def _is_torn(words: Sequence[RawWord], i: int, alone: Counter[str]) -> bool:
    """Whether the gap behind word ``i`` is narrower than a space of its line, or of its type."""
    a, b = words[i : i + 2]
    gaps = [(words[n], gap) for n, gap in _gaps(words) if n != i]
    others = [gap for word, gap in gaps if word.line == a.line] or [
        gap for word, gap in gaps if word.style == a.style
    ]
    if a.turn or not others:
        return False
    are_words = all(alone[word.text.strip(_AROUND).casefold()] > 1 for word in (a, b))
    return b.x0 - a.x1 < (NARROWEST if are_words else NARROW) * median(others)


def _gaps(words: Sequence[RawWord]) -> Iterator[tuple[int, float]]:
    """The spaces between words of one line (points), each with the number of the word before it."""
    for n, (a, b) in enumerate(pairwise(words)):
        if a.line == b.line and 0 < b.x0 - a.x1 < a.style.size:
            yield n, b.x0 - a.x1


def _joined(a: RawWord, b: RawWord) -> RawWord:
    return a._replace(
        x0=min(a.x0, b.x0), y0=min(a.y0, b.y0), x1=max(a.x1, b.x1), y1=max(a.y1, b.y1), text=a.text + b.text
    )
