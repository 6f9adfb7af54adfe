"""A claim in the words of a table: short forms spelled out, "a year earlier" as the year it means."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from citing.tables import CellReading
from text.languages import base_language
from text.numbers import YEAR
from text.semantics import lexicon

_ACRONYM = re.compile(r"(?<![^\W_])[A-Z]{2,6}s?(?![^\W_])")
_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class Way:
    """The text of a claim; ``newest``: the year that it does not say, as its amounts are of the last."""

    text: str
    newest: int = 0

    def fits(self, cells: Sequence[CellReading]) -> bool:
        """Return whether its cells show that the year is meant: a change, or the year before beside it."""
        return not self.newest or any(cell.is_change or cell.year == self.newest - 1 for cell in cells)


def ways_to_say(claim: str, cells: Sequence[CellReading], language: str) -> Iterator[Way]:
    """Yield a claim as the table would say it.

    "Sales were $5, 3% more than a year earlier" means the last year of a table with a change.
    """
    claim = with_years_apart(_spelled_out(claim, cells))
    earlier = _year_before(language)
    for than, turn in _changes(language):
        claim = than.sub(turn, claim)
    newest = max((cell.year for cell in cells if not cell.is_change), default=0)
    yield Way(_dated(claim, earlier))
    years = {*map(int, YEAR.findall(claim))}
    if newest and years <= {newest - 1}:
        yield Way(_dated(f"{newest}: {claim}", earlier), newest)


_FISCAL = re.compile(r"\b(?:FY|fy)\s?'?(?:20)?(\d\d)\b")


def with_years_apart(text: str) -> str:
    """Return a text with its fiscal years as words of their own: "FY2024" and "FY24" as "fiscal 2024"."""
    return _FISCAL.sub(r"fiscal 20\1", text)


@cache
def _changes(language: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    """Return patterns of "higher than a year earlier", each with its word of direction: "up"."""
    behind = rf"\s(?:\w{{1,4}}\s)?{_year_before(language).pattern}"
    changes = lexicon(base_language(language)).changes
    return tuple(
        (re.compile(rf"(?i)(?<!\w){re.escape(than)}{behind}"), turn) for than, turn in changes.items()
    )


def _dated(claim: str, earlier: re.Pattern[str]) -> str:
    """Replace "a year earlier" by the year before the one that the claim says before it."""
    found = earlier.search(claim)
    years = YEAR.findall(claim[: found.start()]) if found else ()
    if found is None or not years:
        return claim
    return f"{claim[: found.start()]}({int(years[-1]) - 1}:){claim[found.end() :]}"


@cache
def _year_before(language: str) -> re.Pattern[str]:
    phrases = sorted(lexicon(base_language(language)).year_before, key=len, reverse=True)
    return re.compile(rf"(?i:(?<!\w)(?:{'|'.join(map(re.escape, phrases)) or '(?!)'})(?!\w))")


def _spelled_out(claim: str, cells: Sequence[CellReading]) -> str:
    """Replace capitals by the words of the table that begin with them: "AEs" by "adverse event".

    Unchanged where the table has them itself, or where several names begin so.
    """
    found = list(_ACRONYM.finditer(claim))
    if not found:
        return claim
    names = {text for cell in cells for text in (cell.label, *cell.groups, cell.head)}
    own = {word for name in names for word in _WORD.findall(name)}
    for short in reversed(found):
        letters = short[0].rstrip("s").lower()
        meant = {words.lower() for name in names for words in _with_initials(name, letters)}
        if len(meant) == 1 and own.isdisjoint((short[0], letters.upper())):
            claim = f"{claim[: short.start()]}{meant.pop()}{claim[short.end() :]}"
    return claim


def _with_initials(name: str, letters: str) -> Iterator[str]:
    """Yield words of a name, one right after another, that begin with these letters."""
    words = _WORD.findall(name)
    for at in range(len(words) - len(letters) + 1):
        some = words[at : at + len(letters)]
        if "".join(word[0] for word in some).lower() == letters:
            yield " ".join(some)
