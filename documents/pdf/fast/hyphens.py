"""Words broken at a line's end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from documents.pdf.fast.raw import RawPage
from documents.pdf.fast.scripts import breaks_anywhere
from documents.pdf.fast.words import SOFT_HYPHEN

_HYPHENS = "-\u2010" + SOFT_HYPHEN
_AROUND = ".,;:()“”\"'"


def spelling(text: str) -> str:
    """The word without the punctuation around it, in small letters."""
    return text.strip(_AROUND).casefold()


class Vocabulary:
    """The words of a document, which tell where a word was broken by its line's end or torn by kerning.

    ``counts`` is by the word as printed, ``spelt`` by the word without case and punctuation,
    ``spelling_of`` leads from the one to the other.
    """

    def __init__(self, pages: Iterable[RawPage]) -> None:
        self.counts = Counter([word.text for page in pages for word in page.words])
        self.spelling_of: dict[str, str] = {}
        self.spelt: dict[str, int] = {}
        for text, count in self.counts.items():
            word = self.spelling_of[text] = spelling(text)
            self.spelt[word] = self.spelt.get(word, 0) + count

    def at_line_end(self, text: str, following: str, glue: str = " ") -> tuple[str, str]:
        """The last word of a line as it is written on, and what stands between it and ``following``."""
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
        if f"{stem}-{rest}" in self.spelt or "-" in stem or not following[0].islower():
            return True
        # neither form stands elsewhere: two whole words keep their hyphen
        return stem in self.spelt and rest in self.spelt and len(stem) > 2
