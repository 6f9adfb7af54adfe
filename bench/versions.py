"""Alignment of two versions of a document, and changed numbers found, on pairs made by known edits.

Each file is a pair: its own units, and the same after edits drawn at random: numbers, dates, modal words and
words changed, sections moved, split, renumbered, removed and added (from the file before). The headings that
layout found delimit sections in both. A changed number is found where the list of changes has the old and the
new digits.
"""

from __future__ import annotations

import random
import re
import time
from argparse import ArgumentParser
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from citing.versions import VersionUnit, compare, label_of, sections_of
from documents.ingestion.parser import parse_limits
from pdf.api import ParseFailure, parse_file

LEAST_SECTIONS = 8
NUMBERS, MODALS, WORDS = 30, 6, 12  # edits of a pair
MOVED, SPLIT, RENUMBERED, REMOVED, ADDED = 3, 2, 3, 2, 2  # sections
NUMBER = re.compile(r"(?<![\w.,/-])\d[\d,.]*\d(?![\w/-])")
MODAL = {"shall": "may", "must": "should", "may": "must", "should": "must"}


@dataclass(slots=True)
class Part:
    """A section of the edited version: its units, and the index of the old section it came from."""

    units: list[VersionUnit]
    old: int | None


@dataclass(slots=True)
class Pair:
    """The edited version with its truth: section pairs by index, and (old, new) digits by unit id."""

    name: str
    old: list[VersionUnit]
    new: list[VersionUnit] = field(default_factory=list)
    sections: set[tuple[int, int]] = field(default_factory=set)
    numbers: list[tuple[str, str, str]] = field(default_factory=list)
    modals: list[tuple[str, str, str]] = field(default_factory=list)


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE.pdf")
    parser.add_argument("--pairs", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--misses", action="store_true", help="each number that was not found")


def run(command: BaseCommand, options: dict[str, Any]) -> int:
    generator = random.Random(options["seed"])
    totals = [0] * 7  # right, found and true section pairs; numbers found, numbers; modal words found, all
    spare: list[VersionUnit] = []
    pairs = 0
    for path in options["files"]:
        if pairs >= options["pairs"]:
            break
        units = units_in(path)
        if len(sections_of(units)) < LEAST_SECTIONS:
            continue
        pair = edited(path.stem, units, spare, generator)
        start = time.process_time()
        scores = score(pair, command if options["misses"] else None)
        seconds = time.process_time() - start
        totals = [one + other for one, other in zip(totals, scores, strict=True)]
        pairs += 1
        command.stdout.write(f"{line(scores)}  {len(units):>6} units {seconds:5.1f} s  {path.stem}")
        spare = units
    command.stdout.write(f"{line(totals)}  {pairs} pairs")
    return 0


def units_in(path: Path) -> list[VersionUnit]:
    """Return the units of a PDF; [] if it cannot be read."""
    try:
        parsed = parse_file(path, limits=parse_limits())
    except ParseFailure:
        return []
    return [
        VersionUnit(
            f"{page.number}.{unit.index}", page.number, unit.text, unit.type == "heading", parsed.language
        )
        for page in parsed.pages
        for unit in page.units
        if unit.text.strip()
    ]


def edited(name: str, units: list[VersionUnit], spare: list[VersionUnit], generator: random.Random) -> Pair:
    """Return the pair of a document and its edited version."""
    pair = Pair(name, units)
    new = {unit.id: unit for unit in units}
    edit_words(pair, new, generator)
    parts = [
        Part([new[unit.id] for unit in units[one.start : one.end]], at)
        for at, one in enumerate(sections_of(units))
    ]
    edit_sections(parts, spare, generator)
    for part in parts:
        pair.new += part.units
    left = {unit.id for unit in pair.new}  # a change in a section that was removed is no longer in the text
    pair.numbers = [edit for edit in pair.numbers if edit[0] in left]
    pair.modals = [edit for edit in pair.modals if edit[0] in left]
    owner = {id(unit): part.old for part in parts for unit in part.units}
    for at, section in enumerate(sections_of(pair.new)):
        old = owner[id(pair.new[section.start])]
        if old is not None:
            pair.sections.add((old, at))
    return pair


def edit_words(pair: Pair, new: dict[str, VersionUnit], generator: random.Random) -> None:
    body = [unit for unit in pair.old if not unit.is_heading]
    for unit in generator.sample(body, min(len(body), 40 * NUMBERS)):
        _, rest = label_of(unit.text)
        spots = list(NUMBER.finditer(unit.text, len(unit.text) - len(rest)))
        if spots and len(pair.numbers) < NUMBERS:
            spot = generator.choice(spots)
            changed = other_number(spot[0], generator)
            new[unit.id] = replace(unit, text=unit.text[: spot.start()] + changed + unit.text[spot.end() :])
            pair.numbers.append((unit.id, spot[0], changed))
    free = [unit for unit in body if new[unit.id] is unit]
    for unit in generator.sample(free, len(free)):
        modal = re.search(rf"\b({'|'.join(MODAL)})\b(?= [a-z])", unit.text)
        if modal and len(pair.modals) < MODALS:
            text = unit.text[: modal.start()] + MODAL[modal[0]] + unit.text[modal.end() :]
            new[unit.id] = replace(unit, text=text)
            pair.modals.append((unit.id, modal[0], MODAL[modal[0]]))
    long = [unit for unit in free if new[unit.id] is unit and len(unit.text.split()) > 12]
    for unit in generator.sample(long, min(WORDS, len(long))):
        words = unit.text.split(" ")
        at = generator.randrange(len(words))
        new[unit.id] = replace(unit, text=" ".join([*words[:at], "notwithstanding", *words[at + 1 :]]))


def other_number(digits: str, generator: random.Random) -> str:
    places = [at for at, mark in enumerate(digits) if mark.isdigit()]
    at = generator.choice(places)
    other = generator.choice([str(d) for d in range(1, 10) if str(d) != digits[at]])
    return digits[:at] + other + digits[at + 1 :]


def edit_sections(parts: list[Part], spare: list[VersionUnit], generator: random.Random) -> None:
    """Remove, split, renumber, move and add sections in place."""
    for _ in range(min(REMOVED, len(parts) // 8)):
        parts.pop(generator.randrange(1, len(parts)))
    long = [part for part in parts[1:] if len(part.units) >= 7]
    for part in generator.sample(long, min(SPLIT, len(long))):
        middle = len(part.units) // 2 + 1
        head = replace(part.units[0], id=f"{part.units[0].id}+", text="Further provisions on this subject")
        parts.insert(parts.index(part) + 1, Part([head, *part.units[middle:]], part.old))
        del part.units[middle:]
    for part in generator.sample(parts[1:], min(RENUMBERED, len(parts) - 1)):
        title = label_of(part.units[0].text)[1]
        part.units[0] = replace(part.units[0], text=f"{generator.randrange(20, 99)}. {title}")
    for _ in range(min(MOVED, len(parts) // 4)):
        part = parts.pop(generator.randrange(1, len(parts)))
        parts.insert(generator.randrange(1, len(parts) + 1), part)
    added = [
        one for one in sections_of(spare) if 2 <= one.end - one.start <= 12 and spare[one.start].is_heading
    ]
    for one in generator.sample(added, min(ADDED, len(added))):
        copies = [replace(unit, id=f"added {unit.id}") for unit in spare[one.start : one.end]]
        parts.insert(generator.randrange(1, len(parts) + 1), Part(copies, None))


def score(pair: Pair, command: BaseCommand | None) -> list[int]:
    found = compare(pair.old, pair.new)
    links = {(o, n) for one in found.sections for o in one.old for n in one.new}
    if command:
        names = found.old_sections, found.new_sections
        for o, n in sorted(links ^ pair.sections):
            sign = "+" if (o, n) in links else "-"
            command.stdout.write(f"   {sign} {names[0][o].title[:60]} | {names[1][n].title[:60]}")
    hits = [sum(is_found(pair, found, one) for one in listed) for listed in (pair.numbers, pair.modals)]
    if command:
        for one in pair.numbers:
            if not is_found(pair, found, one):
                text = next(unit.text for unit in pair.old if unit.id == one[0])
                command.stdout.write(f"   number {one[1]} → {one[2]}: {text[:150]}")
    return [
        len(links & pair.sections), len(links), len(pair.sections),
        hits[0], len(pair.numbers), hits[1], len(pair.modals),
    ]  # fmt: skip


def is_found(pair: Pair, found: Any, edit: tuple[str, str, str]) -> bool:
    unit, old, new = edit
    return any(
        change.old_unit >= 0
        and pair.old[change.old_unit].id == unit
        and change.kind not in ("added", "removed")
        and old in change.old
        and new in change.new
        for change in found.changes
    )


def line(scores: list[int]) -> str:
    right, links, true, numbers, all_numbers, modals, all_modals = scores
    f1 = 2 * right / (links + true) if links + true else 0.0
    return f"F1 {f1:.3f}  numbers {numbers}/{all_numbers}  modal words {modals}/{all_modals}"
