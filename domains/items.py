"""Items of a field, such as "revenue": how questions name and documents label them (``items.toml``)."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, Literal, NamedTuple

from domains import pack_data

MOST_ITEMS = 5
LEAST_OF_LABEL = 0.7  # share of the letters of a row's label that the item must match
LONGEST_TITLE = 170  # characters of a line that is a title and no sentence
_CLAUSE = re.compile(r"[.?!:;,](?=\s)|[()\n]")
_WORD = re.compile(r"(?<!\w)[^\W\d]+(?:[&’-][^\W\d]+)*(?!\w)")
REACH = 120  # characters around an item in which its clause is looked for; more is quadratic
AskedItem = tuple[re.Pattern[str], tuple["Item", ...]]


@dataclass(frozen=True, slots=True)
class Item:
    """Something that documents of a field state under a label, such as a line item or a clause.

    Attributes:
        label: matches the label of a row, the heading of a section, or a sentence that says it.
        kind: where the label is found.
        statement: the pack's name of the financial statement that states such a row; or ''.
        is_outflow: statements print it with either sign: costs, payments.
        part: matches labels that name only a part of it: "General and administrative" of SG&A.
    """

    pack: str
    name: str
    label: re.Pattern[str]
    kind: Literal["row", "heading", "sentence"]
    statement: str = ""
    is_outflow: bool = False
    part: re.Pattern[str] | None = None

    def parts_in(self, text: str) -> set[str]:
        """Return the words of a label, or of a question, that name only a part of it."""
        return {match[0].casefold() for match in self.part.finditer(text)} if self.part else set()


@dataclass(frozen=True, slots=True)
class Ratio:
    """A figure that is one item divided by another of the same period, or, with ``less``, without it."""

    question: re.Pattern[str]
    of: tuple[Item, Item]
    is_percent: bool = False
    less: bool = False


class _Items(NamedTuple):
    asked: tuple[AskedItem, ...]
    ratios: tuple[Ratio, ...]
    statements: dict[str, re.Pattern[str]]
    not_statements: re.Pattern[str] | None


@cache
def _read(pack: str) -> _Items:
    data: dict[str, Any] = tomllib.loads(pack_data(pack, "items.toml"))
    items = {
        name: Item(
            pack,
            name,
            re.compile(row["label"], re.I),
            row["kind"],
            row.get("statement", ""),
            row.get("outflow", False),
            re.compile(row["part"], re.I) if "part" in row else None,
        )
        for name, row in data.get("items", {}).items()
    }
    asked = tuple(
        (re.compile(row["question"], re.I), tuple(items[name] for name in row["items"]))
        for row in data.get("asked", ())
    )
    ratios = tuple(
        Ratio(
            re.compile(row["question"], re.I),
            (items[row["of"][0]], items[row["of"][1]]),
            row.get("percent", False),
            row.get("less", False),
        )
        for row in data.get("ratios", ())
    )
    statements = {name: re.compile(pattern, re.I) for name, pattern in data.get("statements", {}).items()}
    excluded = data.get("not_statements", "")
    return _Items(asked, ratios, statements, re.compile(excluded, re.I) if excluded else None)


def items_asked(question: str, packs: Iterable[str]) -> list[Item]:
    """Return the items that the question needs, in its order; at most five of each pack."""
    return [item for pack in packs for item in _items_of(question, pack)]


@cache
def _items_of(question: str, pack: str) -> tuple[Item, ...]:
    """Return the items, without words inside a longer name: "purchases of PP&E" is not the PP&E."""
    named = _named(question, pack)
    whole = [entry for entry in named if not any(_is_inside(entry[0], other) for other, _ in named)]
    found = {item.name: item for _, items in sorted(whole, key=lambda entry: entry[0][0]) for item in items}
    return tuple(found.values())[:MOST_ITEMS]


def ratio_asked(question: str, packs: Iterable[str]) -> Ratio | None:
    """Return the only ratio that the question names; None without one."""
    found = [ratio for pack in packs for ratio in _read(pack).ratios if ratio.question.search(question)]
    return found[0] if len(found) == 1 else None


def words_known(question: str, packs: Iterable[str]) -> set[str]:
    """Return the words of the question by which packs recognise an item: documents may use other words."""
    spans = (span for pack in packs for span, _ in _named(question, pack))
    return {word for start, end in spans for word in question[start:end].split()}


@lru_cache(maxsize=256)  # a claim is compared with each label of a table
def _named(question: str, pack: str) -> list[tuple[tuple[int, int], tuple[Item, ...]]]:
    data = _read(pack)
    known = (*data.asked, *((ratio.question, ratio.of) for ratio in data.ratios))
    return [(m.span(), items) for pattern, items in known for m in pattern.finditer(question)]


def words_beside(question: str, packs: Iterable[str]) -> set[str]:
    """Return the other words of the clause of what packs recognise, each of which may narrow it.

    "footwear" of "footwear revenue", "covenant" of "the current ratio that the covenant requires".
    """
    found: set[str] = set()
    for pack in packs:
        spans = [span for span, _ in _named(question, pack)]
        for span in spans:
            across = [other for other in spans if other[0] < span[1] and span[0] < other[1]]
            start, end = min(other[0] for other in across), max(other[1] for other in across)
            before = _CLAUSE.split(question[max(0, start - REACH) : start])[-1]
            after = _CLAUSE.split(question[end : end + REACH])[0]
            found.update(_WORD.findall(f"{before} {after}"))
    return found


def _is_inside(span: tuple[int, int], other: tuple[int, int]) -> bool:
    return span != other and other[0] <= span[0] and span[1] <= other[1]


def statement_of(heading: str, pack: str) -> str:
    """Return the statement named by a separate line in the words above a table; '' without one."""
    data = _read(pack)
    for line in heading.splitlines():
        if len(line) > LONGEST_TITLE or line.rstrip().endswith("."):
            continue
        if data.not_statements and data.not_statements.search(line):
            continue
        for name, pattern in data.statements.items():
            if pattern.search(line):
                return name
    return ""


def span_of_label(text: str, label: str, packs: Iterable[str]) -> tuple[int, int] | None:
    """Return the span of the text that names the item of a row's label: "capital expenditure"; else None."""
    letters = sum(map(str.isalpha, label))
    for pack in packs:
        for span, items in _named(text, pack):
            match = items[0].label.search(label) if len(items) == 1 and items[0].kind == "row" else None
            if match and sum(map(str.isalpha, match[0])) >= LEAST_OF_LABEL * letters:
                return span
    return None


def label_match(item: Item, label: str, heading: str, section: str) -> float:
    """Return the confidence, 0..1, that a row with this label, or a line of this section, is the item.

    Up to 0.5 for a label without other words, and 0.5 for a row of the item's own statement.
    """
    text = section if item.kind == "heading" else label
    match = item.label.search(text) if text else None
    if match is None:
        return 0.0
    if item.kind == "sentence":
        return 1.0
    excess = sum(map(str.isalpha, text)) - sum(map(str.isalpha, match[0]))
    on_own_statement = not item.statement or statement_of(heading, item.pack) == item.statement
    return 0.5 / (1 + excess / 12) + (0.5 if on_own_statement else 0.0)
