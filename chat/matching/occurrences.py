"""Where a quote stands in one piece: the same folded characters, between borders of words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from chat.matching.folding import Folded, collapsed
from chat.matching.page_text import PageText

REACH = 8  # characters beside the quote in which its outer signs are looked for
LONG_ENOUGH = 16  # folded characters that do not stand together by chance
_SIGNS = frozenset("-−–(")
_MINUSES = frozenset("-−–")
_OUTER = re.compile(r"[\s\-−–—'\"“”‘’«»„]*")
_OUTER_END = re.compile(r"[\s\-−–—'\"“”‘’«»„]*$")
_NEGATIVE = re.compile(r"\s*[-−–]\s?[$£€¥]?\d[\d.,]*\s?%?\s*$")


@dataclass(frozen=True, slots=True)
class Occurrence:
    """``page.text[start:end]`` holds the quote.

    Attributes:
        at: where it begins in the page's folded text.
        fit: 2 when the characters are those of the quote but for white space; 1 when they only
            fold to the same; 0 when a sign stands before a number that the quote does not have.
    """

    page: PageText
    start: int
    end: int
    at: int
    fit: int

    @property
    def text(self) -> str:
        return self.page.text[self.start : self.end]


def occurrences(pages: Sequence[PageText], quote: str, folded: Folded) -> list[Occurrence]:
    """Every place of a quote, in the order of the pages. ``folded`` is the folded quote.

    A long quote is taken within words, too, where nothing better is found: some
    files print no spaces.
    """
    found = [place for page in pages for place in _on_page(page, quote, folded.text, True)]
    if not found and len(folded.text) >= LONG_ENOUGH:
        found = [place for page in pages for place in _on_page(page, quote, folded.text, False)]
    return found


def _on_page(page: PageText, quote: str, wanted: str, whole_words: bool) -> Iterator[Occurrence]:
    for at in _places(page.folded.text, wanted):
        start, end = page.folded.source_range(at, at + len(wanted))
        if whole_words and not _between_borders(page.text, start, end):
            continue
        start, end = _with_outer_signs(page.text, start, end, quote)
        if not _loses_sign(page.text, start, quote):
            yield Occurrence(page, start, end, at, _fit(page.text, start, end, quote))


def _places(text: str, wanted: str) -> Iterator[int]:
    at = text.find(wanted) if wanted else -1
    while at >= 0:
        yield at
        at = text.find(wanted, at + 1)


def _between_borders(text: str, start: int, end: int) -> bool:
    """Whether no word or number goes on over either end."""
    return not (_joined(text, start - 1, start) or _joined(text, end - 1, end))


def _joined(text: str, left: int, right: int) -> bool:
    if left < 0 or right >= len(text):
        return False
    before, after = text[left], text[right]
    if before.isdigit() and after in ".," and text[right + 1 : right + 2].isdigit():
        return True
    if after.isdigit() and before in ".," and text[left - 1 : left].isdigit() and left > 0:
        return True
    if before.isdigit() or after.isdigit():
        return before.isdigit() and after.isdigit()
    return before.isalpha() and after.isalpha() and not (_is_unspaced(before) or _is_unspaced(after))


def _is_unspaced(character: str) -> bool:
    """Scripts written without spaces between words: any place is a border."""
    return (
        "\u2e80" <= character <= "\ud7ff"
        or "\uf900" <= character <= "\ufaff"
        or "\u0e00" <= character <= "\u0eff"
    )


def _with_outer_signs(text: str, start: int, end: int, quote: str) -> tuple[int, int]:
    """Widen the range by as many hyphens and quotes as the quote has at its ends: folding drops them.

    No more: beside them other cells of a table may be empty, too.
    """
    head, tail = _OUTER.match(quote), _OUTER_END.search(quote)
    before, after = _OUTER_END.search(text[:start][-REACH:]), _OUTER.match(text[end : end + REACH])
    if head and before:
        start -= len(_nearest(before[0][::-1], len("".join(head[0].split()))))
    if tail and after:
        end += len(_nearest(after[0], len("".join(tail[0].split()))))
    return start, end


def _nearest(signs: str, count: int) -> str:
    """The beginning of ``signs``, up to the ``count``-th that is no space."""
    places = [place for place, sign in enumerate(signs) if not sign.isspace()][:count]
    return signs[: places[-1] + 1] if places else ""


def _loses_sign(text: str, start: int, quote: str) -> bool:
    """Whether the quote is a negative number and the page has it without the sign."""
    return _NEGATIVE.match(quote) is not None and text[start] not in _MINUSES


def _fit(text: str, start: int, end: int, quote: str) -> int:
    if (
        quote[:1].isdigit()
        and start
        and text[start - 1] in _SIGNS
        and text[start - 2 : start - 1].strip() == ""
    ):
        return 0
    return 2 if collapsed(text[start:end]) == collapsed(quote) else 1
