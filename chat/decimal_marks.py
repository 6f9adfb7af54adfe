"""Whether a text writes ``1,577.5`` or ``1.577,5``: told by its numbers, else by its words.

``1.577`` alone is one and a half in English and fifteen hundred in German.
Numbers that can be read in one way only outweigh the words around them: Swiss
German writes ``1'577.50``.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

DecimalMark = Literal[".", ","]

_ONLY_COMMA = re.compile(r"(?<![\d.,])\d{1,3}(?:\.\d{3})+,\d|(?<![\d.,])\d{1,3}(?:\.\d{3}){2,}(?![\d.,]*\d)")
_ONLY_POINT = re.compile(
    r"(?<![\d.,])\d{1,3}(?:[,'’]\d{3})+\.\d|(?<![\d.,])\d{1,3}(?:,\d{3}){2,}(?![\d.,]*\d)"
)
_RATHER_COMMA = re.compile(r"(?<![\d.,])\d+,\d{1,2}(?![\d.,]*\d)")
_RATHER_POINT = re.compile(r"(?<![\d.,])\d+\.\d{1,2}(?![\d.,]*\d)")
_WORD = re.compile(r"[^\W\d_]+")
_FOREIGN_LETTERS = re.compile(r"[äöüßéèêàçñõãøå]")
_WITH_COMMA = frozenset(
    re.findall(
        r"\S+",
        "der das und ist nicht mit von für auf wurde wurden betrug betrugen im zum zur bei eine einen sich "
        "auch mio mrd tsd teur millionen milliarden "  # German
        "het een zijn voor met le les du est une dans pour par sur ont été "  # Dutch, French
        "el los las del que por con una fue il della che gli nel è dos uma não para "  # Iberian, Italian
        "og ikke blev och för",  # Danish, Norwegian, Swedish
    )
)
_WITH_POINT = frozenset(
    re.findall(r"\S+", "the of and to is was were that for by from at its with this as are")
)
_LANGUAGES_WITH_COMMA = frozenset(
    re.findall(r"\S+", "de fr es it pt nl da sv nb no fi pl cs ru uk tr el hu ro")
)


@lru_cache(maxsize=2048)
def decimal_mark(*texts: str, language: str = "") -> DecimalMark | None:
    """The decimal mark of texts that stand together; None when nothing tells.

    ``language`` (BCP 47, '' when unknown) tells where the texts themselves do not.
    """
    text = "\n".join(texts)
    clear = _difference(_ONLY_COMMA, _ONLY_POINT, text)
    return _mark(clear or _by_words(text) or _difference(_RATHER_COMMA, _RATHER_POINT, text)) or _of(language)


def _mark(difference: int) -> DecimalMark | None:
    """Above 0 speaks for the comma, below for the point."""
    return None if difference == 0 else "," if difference > 0 else "."


def _difference(comma: re.Pattern[str], point: re.Pattern[str], text: str) -> int:
    return len(comma.findall(text)) - len(point.findall(text))


def _by_words(text: str) -> int:
    words = _WORD.findall(text.lower())
    foreign = sum(word in _WITH_COMMA or _FOREIGN_LETTERS.search(word) is not None for word in words)
    return foreign - sum(word in _WITH_POINT for word in words)


def _of(language: str) -> DecimalMark | None:
    tongue, _, region = language.lower().replace("_", "-").partition("-")
    if not tongue or region in ("ch", "li"):
        return None
    return "," if tongue in _LANGUAGES_WITH_COMMA else "."
