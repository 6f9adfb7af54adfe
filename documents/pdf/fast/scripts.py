"""Scripts that put no spaces between words: their runs, and where each character stands."""

from __future__ import annotations

import re
from collections.abc import Iterator

# Han, kana, CJK punctuation and full-width forms; Hangul has spaces and is left alone.
_UNSPACED = "\u2e80-\u312f\u3190-\u9fff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef"
_AT_UNSPACED = re.compile(f"([{_UNSPACED}])")
_UNSPACED_ONLY = re.compile(f"[{_UNSPACED}]")


def breaks_anywhere(text: str) -> bool:
    """Whether the text begins in a script that puts no spaces between words."""
    return bool(_UNSPACED_ONLY.match(text))


def is_unspaced(text: str) -> bool:
    """Whether any of the text is in such a script."""
    return not text.isascii() and bool(_UNSPACED_ONLY.search(text))


def pieces(text: str, start: float, end: float) -> Iterator[tuple[str, float, float]]:
    """Single characters of such scripts and the runs between them, each with its stretch of the line.

    MuPDF gives a whole clause as one word. Characters of these scripts are all of
    one width, two of any other's, so that the clause's box can be shared out.
    """
    found: list[str] = _AT_UNSPACED.split(text)  # a run, a character, a run, ...; runs may be empty
    unit = (end - start) / (len(text) + len(found) // 2)
    at = start
    for n, piece in enumerate(found):
        if piece:
            behind = at + (2 if n % 2 else len(piece)) * unit
            yield piece, at, behind
            at = behind
