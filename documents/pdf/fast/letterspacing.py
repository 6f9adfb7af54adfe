"""Words set in spaced letters, as titles are, made whole: ``A B S T R A C T``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from msgspec.structs import replace

from documents.pdf.fast.hyphens import Vocabulary
from documents.pdf.fast.raw import RawPage
from documents.pdf.fast.words import RawWord

# So many letters in a row are no list of points or variables.
LETTERS = 5
# Letters of one word stand at most so far apart (ems); the next word so many times as far.
WIDEST, NEXT_WORD = 0.9, 1.6
# Distances of letters differ by less than this share of the narrowest, and this (ems): boxes hold bearings.
EVEN, BEARING = 0.5, 0.1


def join_letterspaced(pages: Iterable[RawPage], vocabulary: Vocabulary) -> None:
    """Joins, on every page, capitals that stand evenly apart."""
    capitals = {text for text in vocabulary.counts if len(text) == 1 and text.isupper()}
    if sum([vocabulary.counts[text] for text in capitals]) < LETTERS:
        return
    for page in pages:
        letters = [n for n, word in enumerate(page.words) if word.text in capitals]
        if len(letters) >= LETTERS and not page.ocr:
            for start, end in reversed([*_spaced(page.words, letters)]):
                page.words[start:end] = [_joined(page.words[start:end])]


def _spaced(words: Sequence[RawWord], letters: Sequence[int]) -> Iterator[tuple[int, int]]:
    """From where to where (exclusive) the words are the letters of one."""
    start = 0
    for i in range(1, len(letters) + 1):
        if i < len(letters) and _goes_on(words, letters[i - 1], letters[i]):
            continue
        run = words[letters[start] : letters[i - 1] + 1]
        for a, b in _words_of(run):
            if _is_word(run[a:b]):
                yield letters[start] + a, letters[start] + b
        start = i


def _goes_on(words: Sequence[RawWord], here: int, following: int) -> bool:
    a, b = words[here], words[following]
    return (
        following == here + 1
        and a.style == b.style
        and abs(a.baseline - b.baseline) < BEARING * a.style.size
        and b.x0 - a.x1 > 0
        and a.turn == b.turn == 0
    )


def _words_of(run: Sequence[RawWord]) -> Iterator[tuple[int, int]]:
    """The run parted where a gap is much wider than the narrowest."""
    gaps = [b.x0 - a.x1 for a, b in pairwise(run)]
    if not gaps:
        return
    widest = NEXT_WORD * min(gaps) + BEARING * run[0].style.size
    ends = [n + 1 for n, gap in enumerate(gaps) if gap > widest]
    yield from pairwise([0, *ends, len(run)])


def _is_word(letters: Sequence[RawWord]) -> bool:
    """Whether they stand evenly and near; in the order of the alphabet they are names of columns."""
    if len(letters) < LETTERS or all(a.text < b.text for a, b in pairwise(letters)):
        return False
    gaps = [b.x0 - a.x1 for a, b in pairwise(letters)]
    em = letters[0].style.size
    return max(gaps) <= WIDEST * em and max(gaps) - min(gaps) <= EVEN * min(gaps) + BEARING * em


def _joined(letters: Sequence[RawWord]) -> RawWord:
    return replace(
        letters[0],
        y0=min(letter.y0 for letter in letters),
        x1=letters[-1].x1,
        y1=max(letter.y1 for letter in letters),
        text="".join(letter.text for letter in letters),
    )
