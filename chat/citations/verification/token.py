"""A token of a claim or a passage: a quantity, a marker of meaning, a word, a function word or a break."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from text.quantities import Quantity
from text.semantics import Marker

Kind = Literal["quantity", "marker", "word", "function", "break"]


HARD_BREAKS = frozenset(";；؛.。!?！？؟")
COORDINATORS = frozenset(["and", "or", "und", "oder", "et", "ou", "y", "e", "o", "u", "و", "او"])


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
