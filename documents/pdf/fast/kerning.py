"""Words that kerning tore apart, made whole: ``LIQUIDI TY``.

Some programs write a space within a word and kern the next letters back over
most of it. What is left is narrower than the spaces around it, and the document
spells the word elsewhere in one piece.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import compress, count, pairwise
from operator import add
from statistics import median

from msgspec.structs import replace

from documents.pdf.fast.hyphens import Vocabulary, spelling
from documents.pdf.fast.raw import RawPage
from documents.pdf.fast.words import RawWord

# Words that the document never has alone are parted by less than this share of a space, others by less
# than that; only where one of the two is so rare is the gap measured.
NARROW, NARROWEST = 0.97, 0.8
RARE = 3
# A space is at most this wide (ems), where the halves were drawn as two lines.
SPACE = 0.35


def join_kerned(pages: Iterable[RawPage], vocabulary: Vocabulary) -> None:
    """Joins, on every page, the halves of words that the document has whole."""
    for page in pages:
        if not page.ocr:
            words = page.words
            torn = [i for i in _suspects(words, vocabulary) if _is_torn(words, i, vocabulary.spelt)]
            for i in reversed(torn):
                words[i : i + 2] = [_joined(*words[i : i + 2])]


def _suspects(words: Sequence[RawWord], vocabulary: Vocabulary) -> list[int]:
    """Where a word and the next, one of them rare or a lone letter, make a word together."""
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
        and (words[i].line == words[i + 1].line or _stand_close(words[i], words[i + 1]))
    ]


def _stand_close(a: RawWord, b: RawWord) -> bool:
    """Whether the second stands on the first one's baseline, no more than a space behind it."""
    em = a.style.size
    return 0 < b.x0 - a.x1 < SPACE * em and abs(a.baseline - b.baseline) < 0.05 * em and a.turn == b.turn


def _is_torn(words: Sequence[RawWord], i: int, spelt: Mapping[str, int]) -> bool:
    """Whether the gap behind word ``i`` is narrower than a space of its line, or of its type."""
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
    """Where the words that were drawn as one line with word ``i`` begin, and where they have ended."""
    start, end = i, i + 1
    while start and words[start - 1].line == words[i].line:
        start -= 1
    while end < len(words) and words[end].line == words[i].line:
        end += 1
    return start, end


def _gaps(words: Sequence[RawWord], start: int, end: int) -> Iterator[tuple[int, float]]:
    """The spaces between words of one line (points), each with the number of the word before it."""
    for n, (a, b) in enumerate(pairwise(words[start:end]), start):
        if a.line == b.line and 0 < b.x0 - a.x1 < a.style.size:
            yield n, b.x0 - a.x1


def _joined(a: RawWord, b: RawWord) -> RawWord:
    x0, y0, x1, y1 = a.rect.union(b.rect)
    return replace(a, x0=x0, y0=y0, x1=x1, y1=y1, text=a.text + b.text)
