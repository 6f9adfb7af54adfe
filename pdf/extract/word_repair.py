"""Join the parts of words that are broken at the end of a line, by kerning, or by letter-spacing.

``Vocabulary`` has the document's own spellings. Some programs write a space within a word and kern the next
letters back over most of it (``LIQUIDI TY``): the gap is narrower than the spaces around it, and the document
has the whole word elsewhere. Titles may be letter-spaced: ``A B S T R A C T``.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import compress, count, islice, pairwise
from operator import add
from statistics import median

from msgspec.structs import replace

from pdf.extract.page_content import RawPage
from pdf.extract.words import SOFT_HYPHEN, RawWord, breaks_anywhere

_HYPHENS = "-\u2010" + SOFT_HYPHEN
_AROUND = ".,;:()“”\"'"


# Minimum letters of a part of a compound.
PART = 4
# Parts that words of 5,700 pages (filings, papers, manuals, in four languages) have with a hyphen at least
# twice as often as without, the other small numbers, and French ones at which no syllable ends.
_FIRST_PARTS = re.compile(
    r"all|best|cross|eight|ever|fifty|first|five|forty|four|full|half|high|ill|long|low|nine|ninety|non|one"
    r"|second|self|semi|seven|six|sixty|ten|third|thirty|three|twenty|two|well|year"
    r"|arrière|après|avant|beaux|belles?|celles?|celui|ceux|demi|grands|quasi|quelques?|sous|vingt"
)
_ELIDED = re.compile(r"^.{1,2}[’']")
# Both parts are words of their own, and no syllables of another word.
_PAIRS = frozenset(("part-time",))
_LAST_PARTS = re.compile(
    r"based|called|driven|evident|free|known|level|oriented|owned|related|specific|term|year"
)


def spelling(text: str) -> str:
    """Return the word case-folded, without the punctuation around it."""
    return text.strip(_AROUND).casefold()


class Vocabulary:
    """The words of a document, by which broken words are recognised.

    ``counts`` is by the word as printed, ``spelt`` by the word without case and punctuation,
    ``spelling_of`` maps the former to the latter.
    """

    def __init__(self, pages: Iterable[RawPage]) -> None:
        self.counts = Counter([word.text for page in pages for word in page.words])
        self.spelling_of: dict[str, str] = {}
        self.spelt: dict[str, int] = {}
        for text, times in self.counts.items():
            word = self.spelling_of[text] = spelling(text)
            self.spelt[word] = self.spelt.get(word, 0) + times

    def at_line_end(self, text: str, following: str, glue: str = " ") -> tuple[str, str]:
        """Return the last word of a line as it is written within a line, and the separator to ``following``.

        A hyphen that only breaks the word is removed. The separator is '' after a hyphen, and between
        characters of unspaced scripts; else it is ``glue``.
        """
        if not following:
            return text.replace(SOFT_HYPHEN, "-"), ""
        if len(text) > 1 and text[-1] in _HYPHENS and text[-2].isalpha() and following[0].isalpha():
            return (text, "") if self._keeps_hyphen(text, following) else (text[:-1], "")
        if len(text) > 1 and text[-1] == "-" and text[-2].isalnum() and following[0].isdigit():
            return text, ""
        if glue == " " and not text.isascii() and breaks_anywhere(text[-1]) and breaks_anywhere(following):
            return text, ""
        return text, glue

    def _keeps_hyphen(self, text: str, following: str) -> bool:
        if text[-1] == SOFT_HYPHEN:
            return False
        rest = spelling(following)
        stem = text[:-1].strip("(“\"'").casefold()
        if stem + rest in self.spelt:
            return False
        if f"{stem}-{rest}" in self.spelt or "-" in stem + rest or not following[0].islower():
            return True
        compounds = joined = 0
        for end in self._ends_after(stem):
            compounds += end[0] in _HYPHENS and end[1:].isalpha()
            joined += len(end) >= PART and end.isalpha()
        if compounds > joined or _LAST_PARTS.fullmatch(rest) or f"{stem}-{rest}" in _PAIRS:
            return True
        are_words = len(stem) >= PART and stem in self.spelt and self.spelt.get(rest, 0) > 1  # once: here
        return (
            not joined
            and len(rest) >= PART
            and (are_words or (rest != "ness" and bool(_FIRST_PARTS.fullmatch(_ELIDED.sub("", stem)))))
        )

    def _ends_after(self, stem: str) -> Iterator[str]:
        """Yield the ends of the document's words that begin with ``stem``."""
        for word in islice(self._in_order, bisect_right(self._in_order, stem), None):
            if not word.startswith(stem):
                return
            yield word[len(stem) :]

    @cached_property
    def _in_order(self) -> list[str]:
        return sorted(self.spelt)


# Two parts belong to one word if their gap is less than NARROW of a space, or less than NARROWEST if both are
# words of the document. Gaps are measured only where one of the parts occurs at most RARE times.
NARROW, NARROWEST = 0.97, 0.8
RARE = 3
# Largest gap (ems) between parts that were drawn as two lines.
SPACE = 0.35


def join_kerned(pages: Iterable[RawPage], vocabulary: Vocabulary) -> None:
    """Join, on every page, the halves of words that the document has in one piece."""
    for page in pages:
        if not page.ocr:
            words = page.words
            torn = [i for i in _candidates(words, vocabulary) if _is_torn(words, i, vocabulary.spelt)]
            for i in reversed(torn):
                words[i : i + 2] = [_joined(*words[i : i + 2])]


def _candidates(words: Sequence[RawWord], vocabulary: Vocabulary) -> list[int]:
    """Return the indexes of words that make a word of the document with the next one.

    One of the two is rare or a single letter.
    """
    spellings = [vocabulary.spelling_of[word.text] for word in words]
    make_words = map(vocabulary.spelt.__contains__, map(add, spellings, spellings[1:]))
    return [
        i
        for i in compress(count(), make_words)
        if words[i].text[-1].isalpha()
        and words[i + 1].text[0].isalpha()
        and any(
            vocabulary.counts[text] <= RARE or len(text) == 1 for text in (words[i].text, words[i + 1].text)
        )
        and (words[i].line == words[i + 1].line or _are_adjacent(words[i], words[i + 1]))
    ]


def _are_adjacent(a: RawWord, b: RawWord) -> bool:
    """Return whether the second word is on the first one's baseline, at most a space after it."""
    em = a.style.size
    return 0 < b.x0 - a.x1 < SPACE * em and abs(a.baseline - b.baseline) < 0.05 * em and a.turn == b.turn


def _is_torn(words: Sequence[RawWord], i: int, spelt: Mapping[str, int]) -> bool:
    """Return whether the gap after word ``i`` is narrower than the spaces of its line, or of its type."""
    a, b = words[i : i + 2]
    others = [gap for n, gap in _gaps(words, *_line_around(words, i)) if n != i] or [
        gap for n, gap in _gaps(words, 0, len(words)) if n != i and words[n].style == a.style
    ]
    if a.turn or not others:
        return False
    texts = [spelling(word.text) for word in (a, b)]
    are_words = all(len(text) > 1 and spelt[text] > 1 for text in texts)
    return b.x0 - a.x1 < (NARROWEST if are_words else NARROW) * median(others)


def _line_around(words: Sequence[RawWord], i: int) -> tuple[int, int]:
    """Return start and end (exclusive) of the words that were drawn as one line with word ``i``."""
    start, end = i, i + 1
    while start and words[start - 1].line == words[i].line:
        start -= 1
    while end < len(words) and words[end].line == words[i].line:
        end += 1
    return start, end


def _gaps(words: Sequence[RawWord], start: int, end: int) -> Iterator[tuple[int, float]]:
    """Yield the gaps between words of one line (points), each with the index of the word before it."""
    for n, (a, b) in enumerate(pairwise(words[start:end]), start):
        if a.line == b.line and 0 < b.x0 - a.x1 < a.style.size:
            yield n, b.x0 - a.x1


def _joined(a: RawWord, b: RawWord) -> RawWord:
    x0, y0, x1, y1 = a.rect.union(b.rect)
    return replace(a, x0=x0, y0=y0, x1=x1, y1=y1, text=a.text + b.text)


# Fewer letters in a row may be a list of points or variables, unless wider gaps set them apart from words.
LETTERS, FEWEST_LETTERS = 5, 3
# Largest gap between letters of one word (ems); a gap this multiple of the narrowest separates words.
WIDEST, NEXT_WORD = 0.9, 1.6
# The gaps of a word differ at most by this share of the narrowest, plus the side bearings in the boxes (ems).
EVEN, SIDE_BEARING = 0.5, 0.1
_CLOSING = frozenset(",.;:!?")


def join_letterspaced(pages: Iterable[RawPage], vocabulary: Vocabulary) -> None:
    """Join, on every page, single letters with even gaps, and the sign that closes them."""
    single = {text for text in vocabulary.counts if len(text) == 1 and text.isalpha()}
    if sum([vocabulary.counts[text] for text in single]) < FEWEST_LETTERS:
        return
    for page in pages:
        letters = [n for n, word in enumerate(page.words) if word.text in single]
        if len(letters) >= FEWEST_LETTERS and not page.ocr:
            for start, end in reversed([*_spaced(page.words, letters)]):
                page.words[start:end] = [_joined_letters(page.words[start:end])]


def _spaced(words: Sequence[RawWord], letters: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield start and end (exclusive) of each run of words that are the letters of one word."""
    start = 0
    for i in range(1, len(letters) + 1):
        if i < len(letters) and _continues_letters(words, letters[i - 1], letters[i]):
            continue
        first = letters[start]
        run = words[first : letters[i - 1] + 1]
        words_in_run = [*_words_of(run)]
        found = [(a, b) for a, b in words_in_run if _is_word(run[a:b])]
        certain = any(b - a >= LETTERS and not _is_in_order(run[a:b]) for a, b in found)
        if certain:  # words of two letters are spaced like the others
            widest = max(right.x0 - left.x1 for a, b in found for left, right in pairwise(run[a:b]))
            widest += SIDE_BEARING * run[0].style.size
            found = [
                (a, b)
                for a, b in words_in_run
                if (a, b) in found or (b - a == 2 and run[a + 1].x0 - run[a].x1 <= widest)
            ]
        for a, b in found:
            if certain or (not _is_in_order(run[a:b]) and _is_set_apart(words, first + a, first + b)):
                closed = _continues(words, first + b - 1, first + b, _CLOSING)
                yield first + a, first + b + closed
        start = i


def _continues_letters(words: Sequence[RawWord], here: int, following: int) -> bool:
    a, b = words[here], words[following]
    return (
        following == here + 1
        and a.style == b.style
        and abs(a.baseline - b.baseline) < SIDE_BEARING * a.style.size
        and b.x0 - a.x1 > 0
        and a.turn == b.turn == 0
    )


def _continues(words: Sequence[RawWord], here: int, following: int, signs: frozenset[str]) -> bool:
    """Return whether one of the signs follows at the distance of a letter."""
    if following >= len(words) or words[following].text not in signs:
        return False
    gap = words[following].x0 - words[here].x1
    return _continues_letters(words, here, following) and gap <= WIDEST * words[here].style.size


def _is_set_apart(words: Sequence[RawWord], start: int, end: int) -> bool:
    """Return whether words of several letters are beside these letters, behind much wider gaps."""
    widest = max(b.x0 - a.x1 for a, b in pairwise(words[start:end]))
    before = start > 0 and words[start - 1].line == words[start].line
    after = end < len(words) and words[end].line == words[end - 1].line
    beside = [(words[start - 1], words[start])] * before + [(words[end - 1], words[end])] * after
    texts = [words[start - 1].text] * before + [words[end].text] * after
    return (
        bool(texts)
        and all(len(text) > 1 for text in texts)
        and all(b.x0 - a.x1 > NEXT_WORD * widest for a, b in beside)
    )


def _words_of(run: Sequence[RawWord]) -> Iterator[tuple[int, int]]:
    """Yield start and end (exclusive) of the words of a run, which much wider gaps separate."""
    gaps = [b.x0 - a.x1 for a, b in pairwise(run)]
    if not gaps:
        return
    widest = NEXT_WORD * min(gaps) + SIDE_BEARING * run[0].style.size
    ends = [n + 1 for n, gap in enumerate(gaps) if gap > widest]
    yield from pairwise([0, *ends, len(run)])


def _is_word(letters: Sequence[RawWord]) -> bool:
    """Return whether letters have small, even gaps."""
    if len(letters) < FEWEST_LETTERS:
        return False
    gaps = [b.x0 - a.x1 for a, b in pairwise(letters)]
    em = letters[0].style.size
    return max(gaps) <= WIDEST * em and max(gaps) - min(gaps) <= EVEN * min(gaps) + SIDE_BEARING * em


def _is_in_order(letters: Sequence[RawWord]) -> bool:
    """Return whether letters are in alphabetical order: labels of columns, or variables."""
    return all(a.text < b.text for a, b in pairwise(letters))


def _joined_letters(letters: Sequence[RawWord]) -> RawWord:
    return replace(
        letters[0],
        y0=min(letter.y0 for letter in letters),
        x1=letters[-1].x1,
        y1=max(letter.y1 for letter in letters),
        text="".join(letter.text for letter in letters),
    )
