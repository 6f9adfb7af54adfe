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


_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_ASCII = {code: _folded[chr(code)] for code in range(128)}
_ASCII_LENGTHS = np.array([len(_ASCII[code]) for code in range(128)], np.int32)


@dataclass(frozen=True)
class Folded:
    """A folded text.

    Attributes:
        source: the text it was made of.
        text: the folded characters.
    """

    source: str
    text: str

    @cached_property
    def offsets(self) -> npt.NDArray[np.int32]:
        """For each folded character, the index of the character it came from. Ascending."""
        codes = np.frombuffer(self.source.encode("utf-32-le", "surrogatepass"), np.uint32)
        lengths = _ASCII_LENGTHS[np.minimum(codes, 127)]
        for place in np.flatnonzero(codes > 127).tolist():
            lengths[place] = len(_folded[self.source[place]])
        return np.repeat(np.arange(len(codes), dtype=np.int32), lengths)

    def source_range(self, start: int, end: int) -> tuple[int, int]:
        """Range of the original characters behind ``text[start:end]``; ``start < end``."""
        return int(self.offsets[start]), int(self.offsets[end - 1]) + 1

    def folded_range(self, start: int, end: int) -> tuple[int, int]:
        """Range of folded characters that came from ``[start, end)`` of the original."""
        first, last = np.searchsorted(self.offsets, (start, end))
        return int(first), int(last)


def fold(text: str) -> Folded:
    """Fold a text."""
    return Folded(text, folded_text(text))


def folded_text(text: str) -> str:
    """The folded characters alone. ASCII is translated at once: ten times as fast as by the character."""
    plain = _NOT_ASCII.sub(lambda found: "".join([_folded[character] for character in found[0]]), text)
    return plain.translate(_ASCII)


def tokens(text: str) -> list[str]:
    """Words, numbers and signs of a text, folded; ``1,577`` and ``15.6`` are one token each."""
    found = re.findall(r"\d+(?:[.,]\d+)*|[^\W\d_]+|[%$£€¥]", unicodedata.normalize("NFKC", text))
    return [folded for word in found if (folded := "".join([_folded[character] for character in word]))]


def collapsed(text: str) -> str:
    """A text with each run of white space as one space: what ``exact`` compares."""
    return " ".join(text.split())
