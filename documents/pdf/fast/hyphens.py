"""Words broken at a line's end."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from documents.pdf.fast.scripts import breaks_anywhere
from documents.pdf.fast.sheets import Sheet
from documents.pdf.fast.words import SOFT_HYPHEN

_HYPHENS = "-\u2010" + SOFT_HYPHEN


class Vocabulary:
    """The words of a document: they tell whether a hyphen belongs to the word or only to the line's end."""

    def __init__(self, sheets: Iterable[Sheet]) -> None:
        self._sheets = sheets

    @cached_property
    def _words(self) -> set[str]:
        texts = {word[4] for sheet in self._sheets for line in sheet.lines for word in line.words}
        return {text.strip(".,;:()“”\"'").casefold() for text in texts}

    def at_line_end(self, text: str, following: str, glue: str = " ") -> tuple[str, str]:
        """The last word of a line as it is written on, and what stands between it and ``following``."""
        if not following:
            return text.replace(SOFT_HYPHEN, "-"), ""
        if len(text) > 1 and text[-1] in _HYPHENS and text[-2].isalpha() and following[0].isalpha():
            return (text, "") if self._keeps_hyphen(text, following) else (text[:-1], "")
        if len(text) > 1 and text[-1] == "-" and text[-2].isalnum() and following[0].isdigit():
            return text, ""
        if glue == " " and breaks_anywhere(text[-1]) and breaks_anywhere(following):
            return text, ""
        return text, glue

    def _keeps_hyphen(self, text: str, following: str) -> bool:
        if text[-1] == SOFT_HYPHEN:
            return False
        rest = following.strip(".,;:()“”\"'").casefold()
        stem = text[:-1].strip("(“\"'").casefold()
        if stem + rest in self._words:
            return False
        if f"{stem}-{rest}" in self._words or "-" in stem or not following[0].islower():
            return True
        # neither form stands elsewhere: two whole words keep their hyphen
        return stem in self._words and rest in self._words and len(stem) > 2
