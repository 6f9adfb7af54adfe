"""A token of a claim or a passage: a quantity, a marker of meaning, a word, a function word or a break."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from text.quantities import Quantity
from text.semantics import Lexicon, Marker, plain_letters

Kind = Literal["quantity", "marker", "word", "function", "break"]


HARD_BREAKS = frozenset(";；؛.。!?！？؟")
COORDINATORS = frozenset(["and", "or", "und", "oder", "et", "ou", "y", "e", "o", "u", "و", "او"])
EITHER = frozenset(["or", "oder", "ou", "o", "u", "او"])


@dataclass(frozen=True, slots=True)
class Token:
    """A word, phrase or number: ``text[start:end]``.

    Attributes:
        word: it in lower case.
        stem: its stem; for a marker ``category:value``.
        marker: what it does to the sentence, when it is a marker.
        poles, synonyms: see ``text.semantics.Sense``.
        quantity: the number with its unit; ``bound``: "le", "gt", "approx" … said of it.
        clause: number of the stretch between breaks it stands in; ``part``: between semicolons.
        capital: it begins with a capital letter inside a sentence: a name, or a German noun.
        name: it is a name by its capital; never in German.
        root: its stem without endings that make a noun of a verb.
    """

    kind: Kind
    word: str
    start: int
    end: int
    stem: str = ""
    marker: Marker | None = None
    poles: frozenset[tuple[str, int]] = frozenset()
    synonyms: frozenset[int] = frozenset()
    quantity: Quantity | None = None
    bound: str = ""
    clause: int = 0
    part: int = 0
    capital: bool = False
    name: bool = False
    root: str = ""

    @property
    def content(self) -> bool:
        """Whether it must have a partner."""
        return self.kind in ("quantity", "marker", "word")


DENIALS = (Marker("negation", "not"), Marker("quantifier", "none"))


def is_marker(token: Token, category: str, value: str = "") -> bool:
    """Whether the token is a marker of this category, and of this value where one is given."""
    return (
        token.marker is not None and token.marker.category == category and value in ("", token.marker.value)
    )


def denials_at(places: Sequence[int], tokens: Sequence[Token]) -> list[int]:
    """Those of the places where a denial stands."""
    return [at for at in places if is_marker(tokens[at], "negation") or tokens[at].marker == DENIALS[1]]


# German and Dutch compounds.

_LEAST_COMPOUND = 8  # letters
_LEAST_PART_LETTERS = 4
_LINKS = ("", "s", "es", "n", "en", "e", "er")  # between the parts of a compound


def with_parts(tokens: Sequence[Token], other: Sequence[Token], words: Lexicon) -> Sequence[Token]:
    """German and Dutch compounds as their parts, where the other side says both: "Risiko von Stürzen"."""
    if words.language not in ("de", "nl"):
        return tokens
    own = {token.word for token in tokens}
    stems = {
        form: t
        for t in other
        if t.kind == "word" and len(t.stem) >= _LEAST_PART_LETTERS and t.word not in own
        for form in (t.stem, plain_letters(t.word))
    }
    result: list[Token] = []
    for token in tokens:
        parts = (
            _parts_of(token, stems) if token.kind == "word" and len(token.word) >= _LEAST_COMPOUND else None
        )
        result += parts or [token]
    return result


def _parts_of(token: Token, stems: dict[str, Token]) -> list[Token] | None:
    """A compound as two words of the other side, the first with what links it to the second."""
    word = plain_letters(token.word)
    for stem, first in stems.items():
        for link in _LINKS:
            rest = word.removeprefix(stem + link)
            second = next(
                (
                    t
                    for s, t in stems.items()
                    if t is not first and rest.startswith(s) and len(rest) - len(s) < 4
                ),
                None,
            )
            if rest != word and second is not None:
                return [
                    replace(
                        token,
                        word=part.word,
                        stem=part.stem,
                        root=part.root,
                        synonyms=part.synonyms,
                        poles=part.poles,
                    )
                    for part in (first, second)
                ]
    return None


# Abbreviations that a passage defines: "Lassa fever (LF)".

_DEFINED = re.compile(r"\s\(([A-Z][A-Za-z0-9&-]*[A-Z][A-Z0-9]*)(s?)\)")
_LONGEST_FORM = 80  # characters


@lru_cache(maxsize=512)
def abbreviations(text: str) -> tuple[tuple[str, str], ...]:
    """Abbreviations in brackets with the words before that they stand for (Schwartz and Hearst, 2003)."""
    found = {m[1]: _long_form(m[1], text[max(0, m.start() - _LONGEST_FORM) : m.start()]) for m in
             _DEFINED.finditer(text)}  # fmt: skip
    return tuple((short, form) for short, form in found.items() if form)


def _long_form(short: str, before: str) -> str:
    """The shortest end of a text with an abbreviation's letters in order, the first as an initial."""
    at = len(before)
    for place in range(len(short) - 1, -1, -1):
        if not short[place].isalnum():
            continue
        at -= 1
        while at >= 0 and (
            before[at].lower() != short[place].lower()
            or (place == 0 and at > 0 and (before[at - 1].isalnum() or before[at - 1] == "-"))
        ):
            at -= 1
        if at < 0:
            return ""
    words = before[at:].split()
    return before[at:] if len(words) <= min(len(short) + 5, 2 * len(short)) else ""


def written_out(
    tokens: Sequence[Token], text: str, forms: Mapping[str, Sequence[Token]]
) -> tuple[Token, ...]:
    """The tokens with each abbreviation as the words it stands for, and without the brackets that define it.

    ``text``: what the tokens' characters count in; ``forms``: tokens of the words by abbreviation.
    """
    found: list[Token] = []
    skipped = 0
    for at, token in enumerate(tokens):
        written = text[token.start : token.end]
        form = forms.get(written) or forms.get(written.removesuffix("s"))
        defines = at > 0 and tokens[at - 1].word == "(" and tokens[at + 1 : at + 2]
        if skipped:
            skipped -= 1
        elif form is None:
            found.append(token)
        elif defines and tokens[at + 1].word == ")":
            found.pop()
            skipped = 1
        else:
            found += [
                replace(part, start=token.start, end=token.end, clause=token.clause, part=token.part)
                for part in form
            ]
    return tuple(found)
