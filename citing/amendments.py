"""Follow each clause of a contract through its amendments: the value after all of them, with its places.

A later document is a whole new version, whose units are paired with those before, or an instrument that says
what changes: “Section 4.2 is amended by replacing “30 days” with “45 days””. The words of a language are in
the table ``amends`` of its ``facts.toml``.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from citing.versions import Comparison, VersionUnit, compare, label_of
from text.languages import language_data
from text.terms import one_line

StepKind = Literal["original", "restated", "replaced", "deleted"]
LEAST_SHARED = 0.2  # of the units: a new version, and no instrument
QUOTED = re.compile('[“"„«‘](.+?)[”"“»’](?!\\w)', re.S)
NUMBER = r"(?P<number>\d+(?:\.\d+)*(?:\([a-z\d]{1,4}\))*|[IVXLC]+)"


@dataclass(frozen=True, slots=True)
class Step:
    """What a clause says in one document: index ``version``, and there index ``unit``; -1: it is left out."""

    kind: StepKind
    version: int
    unit: int
    text: str


@dataclass(frozen=True, slots=True)
class Instruction:
    """A change that an instrument makes to a numbered clause: ``old`` becomes ``new``, or all of it does."""

    kind: StepKind
    number: str
    old: str
    new: str
    unit: int


@dataclass(frozen=True, slots=True)
class Consolidation:
    """The versions in order, taken together.

    Attributes:
        comparisons: of each later version: the index of the whole version before it, and how it compares with
            that; None for an instrument.
        chains: the steps of each clause that a later version changes.
    """

    comparisons: tuple[tuple[int, Comparison | None], ...]
    chains: tuple[tuple[Step, ...], ...]


def consolidate(versions: Sequence[Sequence[VersionUnit]]) -> Consolidation:
    """Follow the clauses of the first version, and those that are added, through all others."""
    base, text = 0, versions[0]
    chains = {at: [Step("original", 0, at, unit.text)] for at, unit in enumerate(text)}
    ended: list[list[Step]] = []
    comparisons: list[tuple[int, Comparison | None]] = []
    for version, units in enumerate(versions[1:], start=1):
        compared = compare(text, units)
        found = list(instructions(units)) if compared.shared < LEAST_SHARED else []
        comparisons.append((base, None if found else compared))
        if found:
            apply(found, chains, text, version)
            continue
        chains, gone = followed(chains, compared, units, version)
        ended += gone
        base, text = version, units
    changed = [tuple(steps) for steps in (*ended, *chains.values()) if len(steps) > 1]
    changed.sort(key=lambda steps: (steps[0].version, steps[0].unit))
    return Consolidation(tuple(comparisons), tuple(changed))


def followed(
    chains: dict[int, list[Step]], compared: Comparison, units: Sequence[VersionUnit], version: int
) -> tuple[dict[int, list[Step]], list[list[Step]]]:
    """Return the chains by the units of a whole new version, and those that end with it."""
    found: dict[int, list[Step]] = {}
    ended: list[list[Step]] = []
    paired = dict(reversed(compared.units))
    for at, steps in chains.items():
        target = paired.get(at)
        if target is None:
            ended.append([*steps, Step("deleted", version, -1, "")])
            continue
        said, says = one_line(steps[-1].text), one_line(units[target].text)
        is_same = label_of(said)[1] == label_of(says)[1]
        found[target] = steps if is_same else [*steps, Step("restated", version, target, says)]
    paired_new = {at for _, at in compared.units}
    for at, unit in enumerate(units):
        if at not in found and at not in paired_new:
            found[at] = [Step("original", version, at, unit.text)]
    return found, ended


def apply(
    found: Sequence[Instruction], chains: dict[int, list[Step]], text: Sequence[VersionUnit], version: int
) -> None:
    """Append the steps of an instrument to the clauses that it names."""
    for one in found:
        clause = clause_at(one, text, chains)
        if clause is None:
            continue
        said = chains[clause][-1].text
        if one.kind == "replaced":
            said = one_line(said).replace(one_line(one.old), one_line(one.new))
        chains[clause].append(Step(one.kind, version, one.unit, one.new if one.kind == "restated" else said))
        if one.kind == "deleted":
            chains[clause][-1] = Step("deleted", version, one.unit, "")


def clause_at(one: Instruction, text: Sequence[VersionUnit], chains: dict[int, list[Step]]) -> int | None:
    """Return the index of the clause: that of its number, or below its heading the one with the words."""
    start = next(
        (
            at
            for at in chains
            if label_of(text[at].text)[0].casefold() == one.number.casefold() and at < len(text)
        ),
        None,
    )
    if start is None:
        return None
    inside = [start]
    for at in range(start + 1, len(text)):
        if text[at].is_heading or label_of(text[at].text)[0]:
            break
        inside.append(at)
    if one.kind == "replaced":
        wanted = one_line(one.old)
        return next((at for at in inside if at in chains and wanted in one_line(chains[at][-1].text)), None)
    return next((at for at in inside if not text[at].is_heading), start)


@cache
def amending_words(language: str) -> dict[str, str]:
    """Return patterns of the language's phrases by what they do; of English where it has none."""
    read: dict[str, list[str]] = {}
    for code in ("en", language):
        read |= tomllib.loads(language_data(code, "facts.toml")).get("amends", {})
    return {
        key: rf"(?:{'|'.join(map(re.escape, sorted(words, key=len, reverse=True)))})"
        for key, words in read.items()
    }


def instructions(units: Sequence[VersionUnit]) -> Iterator[Instruction]:
    """Yield the changes that an instrument makes, in its order."""
    for at, unit in enumerate(units):
        words = amending_words(unit.language)
        text = one_line(unit.text)
        named = re.search(rf"{words['clause']}\s*{NUMBER}", text, re.I)
        if named is None:
            continue
        number, rest = named["number"], text[text.find(named[0]) + len(named[0]) :]
        quoted = QUOTED.findall(rest)
        if restated := re.search(rf"{words['restated']}\s*:?", rest, re.I):
            new = rest[restated.end() :].strip(" :") or following(units, at)
            yield Instruction("restated", number, "", unquoted(new), at)
        elif re.search(words["replaced"], rest, re.I) and len(quoted) >= 2:
            for old, new in zip(quoted[::2], quoted[1::2], strict=False):
                yield Instruction("replaced", number, old, new, at)
        elif re.search(words["deleted"], rest, re.I):
            yield Instruction("deleted", number, "", "", at)


def following(units: Sequence[VersionUnit], at: int) -> str:
    """Return the text after an instruction that ends with a colon: quoted units, or the next one."""
    taken: list[str] = []
    for unit in units[at + 1 :]:
        if unit.is_heading:
            break
        taken.append(one_line(unit.text))
        if not taken[0].startswith(("“", '"', "„", "«")) or taken[-1].endswith(("”", '"', "“", "»", ".”")):
            break
    return " ".join(taken)


def unquoted(text: str) -> str:
    return text.strip().strip('“”"„«»').strip()
