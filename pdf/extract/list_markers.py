"""List items: their markers and nesting."""

from __future__ import annotations

import re
from functools import lru_cache

BULLETS = "•‣⁃◦∙●○■□▪▫◆◇➢➤►▶✓✔❖★☆·–—*-o§☐☑☒❏❑\uf0b7\uf0a7\uf0d8\u2212"

_BULLET = re.compile(rf"^[{re.escape(BULLETS)}]$")
_NUMBER = re.compile(
    r"^(?:\(?(?:\d{1,3}|[a-zA-Z]|[ivxlcIVXLC]{1,6})[.)]|\[\d{1,3}\]|\d{1,3}(?:\.\d{1,3}){1,4}\.?|[①-⑳]|\(\d{1,3}\))$"
)
_SURE_BULLETS = frozenset("•‣⁃◦∙●○■□▪▫◆◇➢➤►▶❖☐☑☒❏❑\uf0b7\uf0a7\uf0d8")


@lru_cache(maxsize=65536)
def marker_of(first_word: str) -> str:
    """The bullet or number that the word is, or ''."""
    if _BULLET.match(first_word) or _NUMBER.match(first_word):
        return first_word
    if first_word[:1] in _SURE_BULLETS:
        return first_word[0]
    return ""


def is_bullet(text: str) -> bool:
    """Whether it is or begins with a bullet: ``-`` is one, ``-0.5`` and ``other`` are none."""
    return text[:1] in _SURE_BULLETS or bool(_BULLET.match(text))


def comes_next(marker: str, before: str) -> bool:
    """Whether the one number or letter counts on from the other: ``3.`` from ``2.``, ``b)`` from ``a)``."""
    a, b = before.strip("().[]"), marker.strip("().[]")
    if a.isdecimal() and b.isdecimal():
        return int(b) == int(a) + 1
    return len(a) == len(b) == 1 and ord(b) == ord(a) + 1


_LEADERS = re.compile(r"\.{4,}|(?:\. ){4,}|…{2,}|_{6,}|·{4,}")
_CONTENTS_LINE = re.compile(r"^\W*[\d٠-٩۰-۹ivxlc]+\W*\.{4}|[.…·_]\s*[\d٠-٩۰-۹ivxlc]+\W*$", re.IGNORECASE)


def is_contents_line(text: str) -> bool:
    """An entry of a table of contents: a title, leaders, a page number at one end."""
    if "..." not in text and ". ." not in text and "…" not in text and "__" not in text and "··" not in text:
        return False
    return bool(_LEADERS.search(text) and _CONTENTS_LINE.search(text))
