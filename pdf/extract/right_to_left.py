"""Build the words of right-to-left lines from the positions of their characters.

MuPDF reverses right-to-left runs as they were drawn. Lines drawn in several pieces, ligatures
of several letters, numbers in Arabic digits, and spaces drawn elsewhere on the line then come
in the wrong order. So this module sorts the characters of a line by position, and reverses the
letters that are read from right to left, but not the numbers and foreign words among them
(the inverse of UAX 9, rule L2).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from operator import attrgetter
from typing import Any, NamedTuple

import pymupdf
from msgspec.structs import replace

from pdf.extract.words import (
    ASCENT,
    DESCENT,
    TALLEST_BOX,
    UNDECODABLE,
    LineKey,
    MuPDFWord,
    RawWord,
    Style,
    is_private,
    marker_of,
    style_of,
)
from pdf.geometry import rect_of

# A list marker in a right-to-left line is at most so many words, at least this far from others (ems).
MARKER_WORDS = 2
MARKER_CLEAR = 0.6

# Characters written from right to left (Unicode, DerivedBidiClass: R and AL).
RIGHT_TO_LEFT = re.compile(
    "[\u0590-\u08ff\u200f\ufb1d-\ufdff\ufe70-\ufeff\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
_LEFT = attrgetter("x0")


def in_reading_order(words: list[RawWord], rtl: bool = False) -> list[RawWord]:
    """Return the words of one line in reading order: a right-to-left line reversed, except its Latin runs.

    ``rtl``: the line is right-to-left; else that is inferred from its letters.
    """
    words = sorted(words, key=_LEFT)
    if not (rtl or is_rtl(" ".join([word.text for word in words]))):
        return words
    marker, words = _split_at_marker(words)
    runs: list[list[RawWord]] = []
    was_rightwards = False
    for word, rightwards in zip(words, _rightwards(words), strict=True):
        if rightwards and was_rightwards:
            runs[-1].append(word)
        else:
            runs.append([word])
        was_rightwards = rightwards
    return [*marker, *(word for run in reversed(runs) for word in run)]


def _split_at_marker(words: list[RawWord]) -> tuple[list[RawWord], list[RawWord]]:
    """Split a list marker off the right end of a line; return it, as one word, and the other words.

    Otherwise its number would be ordered with foreign words beside it; its full stop may be a separate word.
    """
    for count in range(1, min(MARKER_WORDS, len(words) - 1) + 1):
        first, neighbor = words[-count], words[-count - 1]
        if first.x0 - neighbor.x1 > MARKER_CLEAR * first.style.size:
            text = "".join([word.text for word in reversed(words[-count:])])
            if not marker_of(text):
                break
            return [replace(words[-1], x0=first.x0, text=text)], words[:-count]
    return [], words


def _rightwards(words: Sequence[RawWord]) -> list[bool]:
    """Return whether each word of a right-to-left line runs rightwards, as do signs between two such words.

    This is a part of the Unicode bidirectional algorithm (UAX 9, rules N1 and N2).
    """
    found = [_direction(word.text) for word in words]
    before, after = _last_nonzero(found), _last_nonzero(found[::-1])[::-1]
    return [
        direction > 0 or (direction == 0 and left > 0 and right > 0)
        for direction, left, right in zip(found, before, after, strict=True)
    ]


def _last_nonzero(directions: Sequence[int]) -> list[int]:
    """Return the directions, each 0 replaced by the last other value before it."""
    found, last = [], 0
    for direction in directions:
        last = direction or last
        found.append(last)
    return found


def is_rtl(text: str) -> bool:
    """Return whether most of the letters are of a right-to-left script, such as Hebrew or Arabic."""
    return not text.isascii() and bool(RIGHT_TO_LEFT.search(text)) and _direction(text) < 0


@lru_cache(maxsize=65536)
def _direction(text: str) -> int:
    """Return the number of left-to-right letters minus right-to-left ones; 1 for digits alone."""
    if text.isascii():
        return 1 if any(map(str.isalnum, text)) else 0
    kinds = [unicodedata.bidirectional(c) for c in text]
    left, right = sum(k in ("R", "AL") for k in kinds), kinds.count("L")
    return right - left if left or right else int(any(k in ("EN", "AN") for k in kinds))


# Least gap between words, and between lines on one baseline (ems). The values are poppler's.
WORD_GAP, LINE_GAP = 0.1, 1.5
# A space between letters with a smaller gap (ems) is covered by them, and separates no words.
COVERED = 0.03
# Largest difference of equal baselines (ems), and of equal positions (points).
SAME_BASELINE, SAME_PLACE = 0.15, 0.1
# A character printed again at most this far away (ems) is the shadow of the first.
SHADOW = 0.06
LAM, ALEFS = "ل", "اأإآ"
_PRESENTED = re.compile("[\ufb1d-\ufdff\ufe70-\ufefc]")
# Parts of a word that are read rightwards: numbers, with the signs in them, and foreign letters.
_RIGHTWARDS = re.compile(
    r"[\d٠-٩۰-۹](?:[\d٠-٩۰-۹.,:/٫٬%-]*[\d٠-٩۰-۹%])?|[^\W\d_\u0590-\u08ff]+(?:[\d.'’_@/-]*[^\W\d_\u0590-\u08ff])*"
)
_MARKS = re.compile("[\u200b-\u200f\u202a-\u202e\u2066-\u2069]")


class Char(NamedTuple):
    """One character: its box, text, baseline and type, and the line in which it was drawn."""

    x0: float
    y0: float
    x1: float
    y1: float
    text: str
    baseline: float
    style: Style
    key: LineKey

    @property
    def middle(self) -> float:
        return (self.x0 + self.x1) / 2


def right_to_left_lines(
    words: Sequence[MuPDFWord], read_again: Callable[[int], pymupdf.TextPage], flags: int
) -> dict[LineKey, list[RawWord]]:
    """Return the words of right-to-left lines by MuPDF's line; a line drawn in pieces has all in its first.

    Its other pieces get no words. ``read_again`` reads the page with other flags: each ligature must come
    as one character.
    """
    if not RIGHT_TO_LEFT.search(" ".join([word[4] for word in words])):
        return {}
    again = read_again(flags | pymupdf.TEXT_PRESERVE_LIGATURES)
    blocks = [block for block in again.extractRAWDICT()["blocks"] if block["type"] == 0]
    known = {(word[5], word[6]) for word in words}
    found: dict[LineKey, list[RawWord]] = {}
    for row in _rows(blocks):
        keys = sorted({char.key for char in row})
        if not known.issuperset(key for char in row if (key := char.key) and char.text.strip()):
            continue
        found |= {key: [] for key in keys}
        found[next(key for key in keys if key in known)] = in_reading_order([*_words(row)])
    return found


def _rows(blocks: Sequence[dict[str, Any]]) -> Iterator[list[Char]]:
    """Yield the characters of each visual line with right-to-left letters, its pieces from left to right."""
    lines = [
        chars
        for number, block in enumerate(blocks)
        for row, line in enumerate(block["lines"])
        if line["dir"] == (1.0, 0.0) and line["wmode"] == 0 and (chars := _chars(line, (number, row)))
    ]
    lines.sort(key=lambda chars: chars[0].baseline)
    row: list[list[Char]] = []
    for line in [*lines, None]:
        if row and (
            line is None or line[0].baseline - row[-1][0].baseline > SAME_BASELINE * line[0].style.size
        ):
            yield from _joined(row)
            row = []
        if line is not None:
            row.append(line)


def _chars(line: dict[str, Any], key: LineKey) -> list[Char]:
    chars: list[Char] = []
    for span in line["spans"]:
        style = style_of(span["size"], span["font"], span["flags"], span["color"])
        chars += [
            Char(*rect_of(char["bbox"]), char["c"], char["origin"][1], style, key)
            for char in span["chars"]
            if not char.get("synthetic")
        ]
    return chars


def _joined(lines: Sequence[list[Char]]) -> Iterator[list[Char]]:
    """Join lines of one baseline that are close; yield those that have right-to-left letters."""
    group: list[list[Char]] = []
    right = 0.0
    for line in [*sorted(lines, key=_left), None]:
        if group and (line is None or _left(line) - right > LINE_GAP * line[0].style.size):
            chars = [char for part in group for char in part]
            if any(RIGHT_TO_LEFT.match(char.text) for char in chars):
                yield chars
            group = []
        if line is not None:
            right = max([right if group else 0.0, *(char.x1 for char in line)])
            group.append(line)


def _left(chars: Sequence[Char]) -> float:
    return min([char.x0 for char in chars])


def _words(row: Sequence[Char]) -> Iterator[RawWord]:
    """Yield the words of a row from left to right, each in logical order."""
    for chars in _letters_by_word(row):
        text = _logical(chars)
        if text:
            yield _word(chars, text)


def _letters_by_word(row: Sequence[Char]) -> Iterator[list[list[Char]]]:
    """Yield words from left to right: lists of letters, each a list with its combining marks."""
    solid = [char for char in row if not _is_space(char.text) and not unicodedata.combining(char.text)]
    letters: list[list[Char]] = []
    for char in _with_dropped_alefs(_from_left(solid), row):
        if not (letters and _is_shadow(letters[-1][0], char)):
            letters.append([char])
    if not letters:
        return
    for mark in row:
        if unicodedata.combining(mark.text):
            _base_of(mark, letters).append(mark)
    spaces = [char.middle for char in row if _is_space(char.text) and char.x1 > char.x0]
    word, end = letters[:1], letters[0][0].x1
    for (last, *_), letter in pairwise(letters):
        if _is_word_boundary(last, letter[0], letter[0].x0 - end, spaces):
            yield word
            word, end = [], letter[0].x1
        word.append(letter)
        end = max(end, letter[0].x1)
    yield word


def _from_left(chars: Sequence[Char]) -> list[Char]:
    """Return the characters from left to right; a ligature, whose box its first has, stays together."""
    chars = list(chars)
    places = [char.middle for char in chars]
    for n, char in enumerate(chars):
        if char.x1 == char.x0:
            beside = [chars[i] for i in (n - 1, n + 1) if 0 <= i < len(chars)]
            whole = [other for other in beside if abs(other.x1 - char.x0) < SAME_PLACE]
            places[n] = min([other.middle + SAME_PLACE for other in whole], default=char.middle)
            if char.text in ALEFS and (lams := [other for other in whole if other.text == LAM]):
                places[n] = left = lams[0].x0  # it is read after its lam
                chars[n] = char._replace(x0=left, x1=left)
    return [chars[n] for n in sorted(range(len(chars)), key=places.__getitem__)]


def _with_dropped_alefs(letters: Sequence[Char], row: Sequence[Char]) -> Iterator[Char]:
    """Yield the letters, and restore an alef before a ligature of lam and alef.

    MuPDF drops it as printed twice. It leaves a gap that is as wide as the letter elsewhere in the line.
    """
    widths = {(one.text, round(one.x1 - one.x0, 1)) for one in letters if one.x1 > one.x0}
    for n, letter in enumerate(letters):
        yield letter
        alef = letters[n - 1] if n else letter
        if letter.text == LAM and alef.text in ALEFS and alef.x0 == alef.x1 == letter.x0:
            beside = [other.x0 for other in row if letter.x1 - SAME_PLACE < other.x0 < other.x1]
            gap = min(beside, default=letter.x1) - letter.x1
            if (alef.text, round(gap, 1)) in widths:
                yield alef._replace(x0=letter.x1, x1=letter.x1 + gap)


def _is_word_boundary(left: Char, right: Char, gap: float, spaces: Sequence[float]) -> bool:
    """Return whether a word ends between two characters: at a gap, a space or a change of direction."""
    if gap >= WORD_GAP * max(left.style.size, right.style.size) or UNDECODABLE in (left.text, right.text):
        return True
    if gap > COVERED * left.style.size and any(left.middle < space < right.middle for space in spaces):
        return True
    return any(
        a.text.isascii() and a.text.isalnum() and RIGHT_TO_LEFT.match(b.text) is not None and b.text.isalpha()
        for a, b in ((left, right), (right, left))
    )


def _base_of(mark: Char, letters: Sequence[list[Char]]) -> list[Char]:
    """Return the letter to which a combining mark belongs."""
    return min(
        letters,
        key=lambda letter: (
            max(letter[0].x0 - mark.middle, mark.middle - letter[0].x1, 0.0)
            + 0.01 * abs(letter[0].middle - mark.middle)
        ),
    )


def _is_space(character: str) -> bool:
    return character <= " " or "\x7f" <= character <= "\xa0"


def _is_shadow(char: Char, other: Char) -> bool:
    return (
        char.text == other.text and abs(char.x0 - other.x0) < SHADOW * char.style.size and char.x1 > char.x0
    )


def _logical(letters: Sequence[list[Char]]) -> str:
    """Return the word's characters in reading order."""
    texts = ["".join(_folded(char.text) for char in letter) for letter in letters]
    if not any(RIGHT_TO_LEFT.search(text) for text in texts):
        return _MARKS.sub("", "".join(texts))
    return _MARKS.sub("", "".join([text for run in _runs(texts) for text in run]))


def _runs(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield the texts from right to left, but numbers and foreign letters in their own order."""
    line = "".join(text[:1] or " " for text in texts)
    parts: list[Sequence[str]] = []
    at = 0
    for run in _RIGHTWARDS.finditer(line):
        parts += [[text] for text in texts[at : run.start()]]
        parts.append(texts[run.start() : run.end()])
        at = run.end()
    parts += [[text] for text in texts[at:]]
    yield from reversed(parts)


def _folded(character: str) -> str:
    """Return the letters of a presentation form, other characters unchanged; '' for unprintable ones."""
    if _PRESENTED.match(character):
        return unicodedata.normalize("NFKC", character).replace(" ", "")
    if character == UNDECODABLE or is_private(character):
        return UNDECODABLE
    return character if character.isprintable() or _MARKS.match(character) else ""


def _word(letters: Sequence[list[Char]], text: str) -> RawWord:
    first = letters[-1][0]
    size, baseline = first.style.size, first.baseline
    chars = [letter[0] for letter in letters]
    y0, y1 = min([char.y0 for char in chars]), max([char.y1 for char in chars])
    if y1 - y0 > TALLEST_BOX * size:
        y0, y1 = max(y0, baseline - ASCENT * size), min(y1, baseline + DESCENT * size)
    x0, x1 = min([char.x0 for char in chars]), max([char.x1 for char in chars])
    return RawWord(x0, y0, x1, y1, text, first.style, baseline, -1)
