"""Text without what printing changes: spaces, hyphens, quotes, ligatures, case, accents.

Two texts that say the same words fold to the same string, and each folded
character knows which character it came from.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

# Quotes, apostrophes, primes: typesetters exchange them freely.
_QUOTES = frozenset("'\"`´′″‘’‚‛“”„‟«»‹›〝〞＂＇")
_DROPPED_CATEGORIES = frozenset({"Zs", "Zl", "Zp", "Cc", "Cf", "Mn", "Pd"})
_DROPPED = frozenset("−ـ⁃") | _QUOTES  # minus sign, Arabic tatweel, hyphen bullet
# Letters that look alike and are typed for each other in Persian and Arabic.
_SAME_LETTER = {"ی": "ي", "ى": "ي", "ک": "ك", "ہ": "ه", "ة": "ه", "⁄": "/", "∕": "/"}


class _FoldedCharacters(dict[str, str]):
    """Each character's folded form, worked out once."""

    def __missing__(self, character: str) -> str:
        parts = unicodedata.normalize("NFKD", character).casefold()
        folded = self[character] = "".join(map(_folded_part, parts))
        return folded


def _folded_part(part: str) -> str:
    if part in _DROPPED or unicodedata.category(part) in _DROPPED_CATEGORIES:
        return ""
    decimal = unicodedata.decimal(part, None)
    return str(decimal) if decimal is not None else _SAME_LETTER.get(part, part)


_folded = _FoldedCharacters()


@dataclass(frozen=True)
class Folded:
    """A folded text.

    Attributes:
        text: the folded characters.
        offsets: for each of them, the index of the character it came from. Ascending.
    """

    text: str
    offsets: npt.NDArray[np.int32]

    def source_range(self, start: int, end: int) -> tuple[int, int]:
        """Range of the original characters behind ``text[start:end]``; ``start < end``."""
        return int(self.offsets[start]), int(self.offsets[end - 1]) + 1

    def folded_range(self, start: int, end: int) -> tuple[int, int]:
        """Range of folded characters that came from ``[start, end)`` of the original."""
        first, last = np.searchsorted(self.offsets, (start, end))
        return int(first), int(last)

    @cached_property
    def length(self) -> int:
        return len(self.text)


def fold(text: str) -> Folded:
    """Fold a text."""
    parts = [_folded[character] for character in text]
    lengths = np.fromiter(map(len, parts), np.int32, len(parts))
    return Folded("".join(parts), np.repeat(np.arange(len(parts), dtype=np.int32), lengths))


def tokens(text: str) -> list[str]:
    """Words, numbers and signs of a text, folded; ``1,577`` and ``15.6`` are one token each."""
    found = re.findall(r"\d+(?:[.,]\d+)*|[^\W\d_]+|[%$£€¥]", unicodedata.normalize("NFKC", text))
    return [folded for word in found if (folded := "".join([_folded[character] for character in word]))]


def collapsed(text: str) -> str:
    """A text with each run of white space as one space: what ``exact`` compares."""
    return " ".join(text.split())
