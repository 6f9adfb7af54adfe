"""Find all occurrences of typed words, or of a regular expression, on a page.

Case, accents, ligatures, quotes and kinds of dashes are folded. A hyphen may split a word over two lines; in
scripts without spaces any line end may.
"""

from __future__ import annotations

import re
import time
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import re2

from citing.anchoring.page_text import Folded, PageText, Span, fold, without_marks
from text.terms import UNSPACED

MOST_MATCHES = 10_000  # that are counted
HYPHEN_AT_LINE_END = re.compile(r"\S*[-‐‑\u00ad]\s*")
MOST_MEMORY = 4 << 20  # bytes that RE2 may use for a pattern; it refuses one that needs more


class InvalidPattern(ValueError):
    """What was typed is no regular expression."""


@dataclass(frozen=True)
class WordQuery:
    """What somebody typed to find.

    Attributes:
        words: words, or a regular expression.
        whole: only as words of their own.
        regex: whether ``words`` is an expression, in the syntax of RE2.
    """

    words: str
    whole: bool = False
    regex: bool = False

    @cached_property
    def folded(self) -> Folded:
        return fold(self.words.strip())

    @cached_property
    def gaps(self) -> dict[int, str]:
        """Return the characters that folding removed between two of the query, by the second one's offset."""
        return dict(_gaps(self.folded, 0, len(self.folded.text)))

    @cached_property
    def pattern(self) -> Any:
        """Return the compiled expression. RE2 takes time linear in the text. Raises InvalidPattern."""
        options = re2.Options()
        options.case_sensitive = False
        options.max_mem = MOST_MEMORY
        options.log_errors = False
        try:
            return re2.compile(f"(?m){_of_any_script(without_marks(self.words).text)}", options)
        except re2.error as error:
            raise InvalidPattern(_reason(error)) from None


def matches_on(page: Folded, query: WordQuery) -> list[Span]:
    """Ranges of the page's own characters, in order; they do not overlap. Raises InvalidPattern."""
    if query.regex:
        return _expressions_on(page, query)
    wanted = query.folded.text
    found: list[Span] = []
    start = page.text.find(wanted) if wanted else -1
    while start >= 0:
        end = start + len(wanted)
        fits = _fits(page, start, end, query)
        if fits:
            found.append(page.source_range(start, end))
        start = page.text.find(wanted, end if fits else start + 1)
    return found


# Regular expressions see a page as it is printed, line by line, without accents and marks.


def _expressions_on(page: Folded, query: WordQuery) -> list[Span]:
    if not query.words.strip():
        return []
    spans = (match.span() for match in query.pattern.finditer(page.plain.text))
    found = [page.plain.source_range(start, end) for start, end in spans if end > start]
    return [span for span in found if not query.whole or _is_whole(page, *span)]


_PART = re.compile(r"\\.|\[:\^?\w+:\]|\[\^?\]?|.", re.S)  # of an expression
# RE2's own classes are of ASCII.
_IN_CLASS = {r"\w": r"\p{L}\p{N}_", r"\d": r"\p{Nd}"}
_ALONE = {r"\w": r"[\p{L}\p{N}_]", r"\W": r"[^\p{L}\p{N}_]", r"\d": r"\p{Nd}", r"\D": r"\P{Nd}"}
_SPACE = {" ": r"\s", r"\ ": r"\s"}


def _of_any_script(expression: str) -> str:
    """Return the expression with ``\\w`` and ``\\d`` of all scripts, and a space for any white space."""
    parts: list[str] = []
    in_class = False
    for part in _PART.findall(expression):
        in_class = part.startswith("[") or (in_class and part != "]")
        parts.append((_SPACE | (_IN_CLASS if in_class else _ALONE)).get(part, part))
    return "".join(parts)


def _reason(error: re2.error) -> str:
    message = error.args[0] if error.args else ""
    return message.decode(errors="replace") if isinstance(message, bytes) else str(message)


# The counts of a long document come in parts, so that the first match is shown while the rest is searched.

PART_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Counts:
    """How many matches each page has, in the order of the search.

    Attributes:
        cut: whether the search ended at the most matches that are counted.
        rest: the page to go on from; None when all were searched.
    """

    by_page: dict[int, int]
    cut: bool = False
    rest: int | None = None


def counts_by_page(
    pages: Iterable[PageText], query: WordQuery, most: int = MOST_MATCHES, seconds: float | None = None
) -> Counts:
    """Count matches until ``most`` are found or ``seconds`` have passed. Raises InvalidPattern."""
    counts: dict[int, int] = {}
    left = most
    begun = time.monotonic()
    for at, page in enumerate(pages):
        if left <= 0:
            return Counts(counts, cut=True)
        if at and seconds is not None and time.monotonic() - begun > seconds:
            return Counts(counts, rest=page.number)
        if count := len(matches_on(page.folded, query)):
            counts[page.number] = count
            left -= count
    return Counts(counts)


def _fits(page: Folded, start: int, end: int, query: WordQuery) -> bool:
    if query.whole and not _is_whole(page, *page.source_range(start, end)):
        return False
    gaps = dict(_gaps(page, start, end))
    return all(
        _alike(page.text[start + at - 1 : start + at + 1], query.gaps.get(at, ""), gaps.get(at, ""))
        for at in gaps.keys() | query.gaps.keys()
    )


def _gaps(folded: Folded, start: int, end: int) -> Iterator[tuple[int, str]]:
    """Yield the characters that folding removed within a range, by their offset in it."""
    for gap in folded.gaps[bisect_right(folded.gaps, start) : bisect_left(folded.gaps, end)]:
        yield gap - start, folded.source[folded.offsets[gap - 1] + 1 : folded.offsets[gap]]


def _alike(pair: str, typed: str, printed: str) -> bool:
    """Return whether the typed text between the characters of ``pair`` may be printed so; '' is nothing."""
    if all(map(UNSPACED.match, pair)):
        return True
    if any(map(str.isspace, typed)):
        return bool(printed) or not pair.isalnum()
    if pair.isdigit():  # 10-12 is not 1012
        return bool(typed) == bool(printed) and not any(map(str.isspace, printed))
    return not any(map(str.isspace, printed)) or HYPHEN_AT_LINE_END.fullmatch(printed) is not None


def _is_whole(page: Folded, start: int, end: int) -> bool:
    return not any(
        one.isalnum() and other.isalnum() and not UNSPACED.match(one) and not UNSPACED.match(other)
        for one, other in (
            (page.source[start - 1 : start] or " ", page.source[start]),
            (page.source[end - 1], page.source[end : end + 1] or " "),
        )
    )
