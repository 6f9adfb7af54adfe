"""Compare two versions of a text: align its sections, list changed numbers, names, modal words.

Units (paragraphs, headings, rows) are paired first: equal ones, then those that share most rare words.
Sections are paired by what their units share, so that a section may have moved, been renumbered, split into
two or merged. Within paired units, words are aligned with each number as one word, and numbers that stand in
the same place but differ are changes.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import pairwise, product, zip_longest
from math import log
from typing import Literal

from text.quantities import Quantity, quantities_in
from text.semantics import lexicon
from text.terms import one_line

SectionKind = Literal["same", "changed", "added", "removed", "split", "merged"]
ChangeKind = Literal["number", "date", "reference", "modal", "name", "words", "added", "removed"]


@dataclass(frozen=True, slots=True)
class AlignmentSettings:
    """Numbers of the alignment, chosen with ``manage.py bench versions`` on filings, a standard and manuals.

    Attributes:
        similar: least share of two units' words, weighted by rarity, that they have in common.
        contained: least share of a unit's words in another of which it was a part.
        fewest: words of a unit that is paired by similarity.
        rare: rarest words of a unit, by which at most ``candidates`` others are found.
        beside: bonus of a pair whose neighbours are paired.
        short: most letters of a unit that is paired by its place alone.
        piece: least share of a section's words in another for the two to be paired.
    """

    similar: float = 0.45
    contained: float = 0.8
    fewest: int = 3
    rare: int = 8
    candidates: int = 40
    beside: float = 0.15
    short: int = 40
    piece: float = 0.4


SETTINGS = AlignmentSettings()
LABEL = re.compile(
    r"\W*(?:(?:section|sec\.|article|clause|part|item|schedule|annex|appendix|chapter|artikel|abschnitt|ziffer|§)\s*)?"
    r"(?P<number>\d+(?:\.\d+)*|[IVXLC]+(?=[.)])|\([a-z\d]{1,4}\)|[a-z](?=[.)]))[.):]*(?=\s|$)\s*",
    re.I,
)
BARE_NUMBER = re.compile(r"\s*\d+\s")
CLAUSE = re.compile(
    r"\s*(?:(?:section|sec\.|article|clause|artikel|abschnitt|ziffer|§)\s?\d{1,3}(?:\.\d+)*"
    r"|\(?(?:\d{1,3}(?:\.\d{1,3})*|[a-z]|[ivxlc]{1,5})[.)]+|\d{1,3}(?:\.\d{1,3})+)(?=\s|$|\()",
    re.I,
)
REFERENCE = re.compile(
    r"(?:sections?|articles?|clauses?|paragraphs?|items?|schedules?|annex|appendix|chapters?|notes?|pages?|parts?"
    r"|tables?|figures?|artikel|abschnitt|absatz|ziffer|anlage|seite|§+)\W*$",
    re.I,
)
WORD = re.compile(r"(?:[^\W\d]*\d[\w.,:/-]*\w)|[\w’']+|[^\w\s]")
LEADERS = re.compile(r"(?:[.…·_][ \xa0]?){4,}")  # from an entry of a table of contents to its page
FULL_STOP = re.compile(r"[.:;!?…][\"'”’)\]]*\s*$")
IDENTIFIER = re.compile(r"(?<![\w.])[A-Za-z]{0,3}\d+(?:\.\d+){2,}[a-z]?(?!\w)")  # of a section, a version
LONGEST_MODAL = 4  # words
LONGEST_UNIT = 20_000  # characters compared word by word
MOST_PAIRS = 1_000_000  # of equal words; prose of that length has a tenth
NUMBERED, MODAL_KEY = "#", "!"  # keys of numbers and of modal phrases, which are aligned whatever they say
MODAL = frozenset({"modality", "negation"})


@dataclass(frozen=True, slots=True)
class VersionUnit:
    """A paragraph, heading, list item or row of a version, in reading order."""

    id: str
    page: int
    text: str
    is_heading: bool = False
    language: str = "en"


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with what follows it; ``start`` and ``end`` are indices of units."""

    title: str
    number: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class SectionPair:
    """Sections of the old and the new version by index; one of them is empty for added and removed ones."""

    kind: SectionKind
    old: tuple[int, ...]
    new: tuple[int, ...]
    is_moved: bool = False
    is_renumbered: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """One change; ``old_unit`` and ``new_unit`` are indices of units, -1 where there is none."""

    kind: ChangeKind
    old: str
    new: str
    old_unit: int
    new_unit: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """``units`` pairs indices of units of the old and the new version."""

    old_sections: tuple[Section, ...]
    new_sections: tuple[Section, ...]
    sections: tuple[SectionPair, ...]
    changes: tuple[Change, ...]
    units: tuple[tuple[int, int], ...]

    @property
    def shared(self) -> float:
        """Return the share of the longer version's units that are paired, 0..1."""
        most = max((section.end for section in (*self.old_sections, *self.new_sections)), default=0)
        paired = min(len({old for old, _ in self.units}), len({new for _, new in self.units}))
        return paired / most if most else 0.0


def compare(old: Sequence[VersionUnit], new: Sequence[VersionUnit]) -> Comparison:
    """Compare two versions of a document."""
    pairs = unit_pairs(old, new)
    old_sections, new_sections = sections_of(old), sections_of(new)
    changes = changes_of(old, new, pairs)
    changed = {change.old_unit for change in changes}
    sections = section_pairs(old, new, old_sections, new_sections, pairs, changed)
    return Comparison(tuple(old_sections), tuple(new_sections), tuple(sections), tuple(changes), tuple(pairs))


# --- Units ---


def label_of(text: str) -> tuple[str, str]:
    """Split off the number of a heading, clause or list item."""
    match = LABEL.match(text)
    return (match["number"], text[match.end() :]) if match and match.end() < len(text) else ("", text)


def without_label(unit: VersionUnit) -> str:
    """Return the text behind its label. A bare number before a paragraph may be an amount: "30 days …"."""
    is_amount = not unit.is_heading and BARE_NUMBER.match(unit.text)
    return unit.text if is_amount else label_of(unit.text)[1]


def words_of(unit: VersionUnit) -> list[str]:
    text = label_of(one_line(unit.text).casefold())[1]
    return re.findall(r"\w+", text) or re.findall(r"\w+", unit.text.casefold())


def unit_pairs(old: Sequence[VersionUnit], new: Sequence[VersionUnit]) -> list[tuple[int, int]]:
    """Return the pairs of units, in the order of the old version; a split unit is in several pairs."""
    sides = paragraphs_of(old), paragraphs_of(new)
    joined = [
        [joined_unit(side[at] for at in one) for one in ones]
        for side, ones in zip((old, new), sides, strict=True)
    ]
    return sorted(
        (o, n)
        for before, after in paragraph_pairs(*joined)
        for o, n in product(sides[0][before], sides[1][after])
    )


def paragraphs_of(units: Sequence[VersionUnit]) -> list[list[int]]:
    """Return the indices of the units of each paragraph: several where it goes on at the top of a page."""
    found: list[list[int]] = []
    for at, unit in enumerate(units):
        if at and goes_on(units[at - 1], unit):
            found[-1].append(at)
        else:
            found.append([at])
    return found


def goes_on(before: VersionUnit, unit: VersionUnit) -> bool:
    """Return whether a unit goes on with the one before: at the top of a page, or a number by itself."""
    if unit.is_heading or before.is_heading or FULL_STOP.search(before.text):
        return False
    if not any(map(str.isalpha, unit.text)):
        return unit.text.lstrip().startswith("§")
    first, last = unit.text.lstrip()[:1], before.text.rstrip().rpartition(" ")[2]
    is_inside = first.islower() or (last[:1].islower() and first.isalnum())
    return unit.page != before.page and is_inside and without_label(unit) == unit.text


def joined_unit(units: Iterable[VersionUnit]) -> VersionUnit:
    first, *others = units
    return replace(first, text=" ".join([first.text, *(one.text for one in others)])) if others else first


def paragraph_pairs(old: Sequence[VersionUnit], new: Sequence[VersionUnit]) -> list[tuple[int, int]]:
    old_words, new_words = [words_of(unit) for unit in old], [words_of(unit) for unit in new]
    weights = rarity((*old_words, *new_words))
    pairs = dict(equal_pairs(old, new, old_words, new_words))
    add_similar(pairs, old, new, old_words, new_words, weights)
    add_between(pairs, old, new)
    found = set(pairs.items())
    taken = set(pairs.values())
    left = [at for at in range(len(new)) if at not in taken]
    found |= {(o, n) for n, o in parts(left, new_words, old_words, weights)}
    left = [at for at in range(len(old)) if at not in pairs]
    return [*found, *parts(left, old_words, new_words, weights)]


def rarity(units: Sequence[Sequence[str]]) -> dict[str, float]:
    """Return the inverse document frequency of each word."""
    counts = Counter(word for words in units for word in set(words))
    return {word: log(1 + len(units) / count) for word, count in counts.items()}


def equal_pairs(
    old: Sequence[VersionUnit],
    new: Sequence[VersionUnit],
    old_words: Sequence[list[str]],
    new_words: Sequence[list[str]],
) -> Iterator[tuple[int, int]]:
    """Yield units with the same words; of those that recur, the ones beside others that are equal."""
    keys = [[tuple(words) for words in listed] for listed in (old_words, new_words)]
    places: list[dict[tuple[str, ...], list[int]]] = [defaultdict(list), defaultdict(list)]
    for side, listed in enumerate(keys):
        for place, key in enumerate(listed):
            places[side][key].append(place)
    taken: set[int] = set()
    anchors: dict[int, int] = {}
    for key, at in places[0].items():
        if len(at) == len(places[1].get(key, ())) == 1 and has_letters(key):
            anchors[at[0]] = places[1][key][0]
            taken.add(anchors[at[0]])
            yield at[0], anchors[at[0]]
    for start, (o, n) in [(-1, (-1, -1)), *enumerate(sorted(anchors.items()))]:  # extend from each anchor
        for step in (1, -1) if start >= 0 else (1,):
            o2, n2 = o + step, n + step
            while 0 <= o2 < len(old) and 0 <= n2 < len(new) and o2 not in anchors and n2 not in taken:
                if keys[0][o2] != keys[1][n2]:
                    break
                anchors[o2] = n2
                taken.add(n2)
                yield o2, n2
                o2, n2 = o2 + step, n2 + step
    for key, at in places[0].items():
        left = [o for o in at if o not in anchors and has_letters(key)]
        free = [n for n in places[1].get(key, ()) if n not in taken]
        if len(left) == len(free):
            yield from zip(left, free, strict=True)


def has_letters(key: Sequence[object]) -> bool:
    """Return whether a unit is more than numbers, which recur in charts and say nothing of their place."""
    return any(character.isalpha() for word in key if isinstance(word, str) for character in word)


def add_similar(
    pairs: dict[int, int],
    old: Sequence[VersionUnit],
    new: Sequence[VersionUnit],
    old_words: Sequence[list[str]],
    new_words: Sequence[list[str]],
    weights: Mapping[str, float],
) -> None:
    """Pair units that share most of their words, the most similar first, neighbours of pairs preferred."""
    taken = set(pairs.values())
    free = [at for at in range(len(new)) if at not in taken]
    by_word = postings(free, new_words, weights)
    scored = []
    for o in range(len(old)):
        if o in pairs:
            continue
        near = {pairs[o + step] - step for step in (1, -1) if o + step in pairs}
        for n in {*candidates(old_words[o], by_word, weights), *near}:
            if n < 0 or n >= len(new) or n in taken:
                continue
            score = similarity(old_words[o], new_words[n], weights)
            score += SETTINGS.beside * (n in near)
            fewest = min(len(old_words[o]), len(new_words[n]))
            if score >= SETTINGS.similar and (fewest >= SETTINGS.fewest or n in near):
                scored.append((-score, abs(o - n), o, n))
    for _, _, o, n in sorted(scored):
        if o not in pairs and n not in taken:
            pairs[o] = n
            taken.add(n)


def add_between(pairs: dict[int, int], old: Sequence[VersionUnit], new: Sequence[VersionUnit]) -> None:
    """Pair the short units between two pairs that follow each other, if both versions have as many there."""
    known = [(-1, -1), *sorted(pairs.items()), (len(old), len(new))]
    for (o1, n1), (o2, n2) in pairwise(known):
        if 1 < o2 - o1 == n2 - n1:
            for o, n in zip(range(o1 + 1, o2), range(n1 + 1, n2), strict=True):
                longest = max(sum(map(len, words_of(unit))) for unit in (old[o], new[n]))
                if longest <= SETTINGS.short:
                    pairs[o] = n
    add_numbers_beside(pairs, old, new)


def add_numbers_beside(pairs: dict[int, int], old: Sequence[VersionUnit], new: Sequence[VersionUnit]) -> None:
    """Pair units without letters, as in charts, that follow or precede a pair in both versions."""
    taken = set(pairs.values())
    for start in sorted(pairs.items()):
        for step in (1, -1):
            o, n = start[0] + step, start[1] + step
            while 0 <= o < len(old) and 0 <= n < len(new) and o not in pairs and n not in taken:
                if any(map(str.isalpha, old[o].text + new[n].text)):
                    break
                pairs[o] = n
                taken.add(n)
                o, n = o + step, n + step


def postings(
    free: Sequence[int], words: Sequence[list[str]], weights: Mapping[str, float]
) -> dict[str, list[int]]:
    """Return the units by each of their rarest words."""
    found: dict[str, list[int]] = defaultdict(list)
    for at in free:
        for word in rarest(words[at], weights):
            found[word].append(at)
    return found


def rarest(words: Sequence[str], weights: Mapping[str, float]) -> list[str]:
    return sorted(set(words), key=lambda word: (-weights.get(word, 0), word))[: SETTINGS.rare]


def candidates(
    words: Sequence[str], by_word: Mapping[str, list[int]], weights: Mapping[str, float]
) -> list[int]:
    """Return the units with most of the rare words in common."""
    votes: Counter[int] = Counter()
    for word in rarest(words, weights):
        for at in by_word.get(word, ())[: 4 * SETTINGS.candidates]:
            votes[at] += 1
    return [at for at, _ in votes.most_common(SETTINGS.candidates)]


def similarity(one: Sequence[str], other: Sequence[str], weights: Mapping[str, float]) -> float:
    """Return the weighted Dice coefficient of two bags of words, 0..1."""
    left, right = Counter(one), Counter(other)
    both = sum(weights.get(word, 1.0) * count for word, count in (left & right).items())
    each = sum(weights.get(word, 1.0) * count for word, count in (left + right).items())
    return 2 * both / each if each else 0.0


def parts(
    left: Sequence[int],
    words: Sequence[list[str]],
    whole_words: Sequence[list[str]],
    weights: Mapping[str, float],
) -> Iterator[tuple[int, int]]:
    """Yield units whose words are nearly all in one larger unit of the other version, with that unit."""
    if not left:
        return
    by_word: dict[str, list[int]] = defaultdict(list)
    for at, listed in enumerate(whole_words):
        for word in set(listed):
            by_word[word].append(at)
    for at in left:
        if len(words[at]) < 2 * SETTINGS.fewest:
            continue
        own = Counter(words[at])
        total = sum(weights.get(word, 1.0) * count for word, count in own.items())
        best, share = -1, 0.0
        for place in candidates(words[at], by_word, weights):
            shared = own & Counter(whole_words[place])
            found = sum(weights.get(word, 1.0) * count for word, count in shared.items()) / total
            if found > share:
                best, share = place, found
        if share >= SETTINGS.contained:
            yield at, best


# --- Sections ---


def sections_of(units: Sequence[VersionUnit]) -> list[Section]:
    """Return the sections: each heading and each numbered or lettered clause begins one, whatever its depth.

    The depth is never chosen: the sections of two versions would differ where one has its headings in bold.
    """
    starts = [
        at
        for at, unit in enumerate(units)
        if at == 0 or unit.is_heading or (CLAUSE.match(unit.text) and not goes_on(units[at - 1], unit))
    ]
    ends = [*starts[1:], len(units)]
    return [
        Section(one_line(units[start].text)[:160], label_of(one_line(units[start].text))[0], start, end)
        for start, end in zip(starts, ends, strict=False)
    ]


def section_pairs(
    old: Sequence[VersionUnit],
    new: Sequence[VersionUnit],
    old_sections: Sequence[Section],
    new_sections: Sequence[Section],
    pairs: Sequence[tuple[int, int]],
    changed: set[int],
) -> list[SectionPair]:
    """Pair the sections that share units, weighted by their words."""
    old_starts = [section.start for section in old_sections]
    new_starts = [section.start for section in new_sections]
    shared: Counter[tuple[int, int]] = Counter()
    for o, n in pairs:
        place = section_at(old_starts, o), section_at(new_starts, n)
        shared[place] += min(len(words_of(old[o])), len(words_of(new[n]))) or 1
    sizes = [
        [sum(len(words_of(unit)) or 1 for unit in units[one.start : one.end]) for one in sections]
        for units, sections in ((old, old_sections), (new, new_sections))
    ]
    links = [
        (o, n)
        for (o, n), words in shared.items()
        if words >= SETTINGS.piece * min(sizes[0][o], sizes[1][n]) and (words > 2 or o_n_only(shared, o, n))
    ]
    return list(grouped(links, old_sections, new_sections, changed))


def section_at(starts: Sequence[int], unit: int) -> int:
    at = bisect_left(starts, unit)
    return at if at < len(starts) and starts[at] == unit else at - 1


def o_n_only(shared: Counter[tuple[int, int]], old: int, new: int) -> bool:
    """Return whether two short sections share words with no other section."""
    return sum(o == old or n == new for o, n in shared) == 1


def grouped(
    links: Sequence[tuple[int, int]],
    old_sections: Sequence[Section],
    new_sections: Sequence[Section],
    changed: set[int],
) -> Iterator[SectionPair]:
    """Yield the pairs with their kinds, in the order of the old version, then what was added."""
    of_old: dict[int, list[int]] = defaultdict(list)
    of_new: dict[int, list[int]] = defaultdict(list)
    for o, n in sorted(links):
        of_old[o].append(n)
        of_new[n].append(o)
    stayed = in_order([(o, targets[0]) for o, targets in sorted(of_old.items())])
    done: set[int] = set()
    for o, section in enumerate(old_sections):
        targets = of_old.get(o, [])
        if not targets:
            yield SectionPair("removed", (o,), ())
            continue
        sources = sorted({source for target in targets for source in of_new[target]})
        if len(targets) == 1 and len(sources) > 1:
            if targets[0] in done:
                continue
            kind: SectionKind = "merged"
        else:
            sources = [o]
            is_changed = any(section.start <= at < section.end for at in changed)
            kind = "split" if len(targets) > 1 else "changed" if is_changed else "same"
        done.update(targets)
        numbers = section.number, new_sections[targets[0]].number
        is_renumbered = bool(any(numbers) and numbers[0].casefold() != numbers[1].casefold())
        yield SectionPair(kind, tuple(sources), tuple(targets), (o, targets[0]) not in stayed, is_renumbered)
    for n in range(len(new_sections)):
        if n not in of_new:
            yield SectionPair("added", (), (n,))


def in_order(pairs: Sequence[tuple[int, int]]) -> set[tuple[int, int]]:
    """Return a longest subsequence of pairs that ascends on both sides: the others have moved."""
    tails: list[int] = []
    chains: list[tuple[tuple[int, int], int]] = []  # pair, index of its predecessor
    last: list[int] = []
    for pair in pairs:
        at = bisect_left(tails, pair[1])
        chains.append((pair, last[at - 1] if at else -1))
        tails[at : at + 1], last[at : at + 1] = [pair[1]], [len(chains) - 1]
    found: set[tuple[int, int]] = set()
    at = last[-1] if last else -1
    while at >= 0:
        found.add(chains[at][0])
        at = chains[at][1]
    return found


# --- Changes within units ---


@dataclass(frozen=True, slots=True)
class Piece:
    """A word, number or modal phrase of a unit: ``key`` aligns it, ``value`` tells whether it is the same."""

    kind: ChangeKind
    key: str
    value: str
    text: str


Place = tuple[Piece, int]  # with the index of its unit


def changes_of(
    old: Sequence[VersionUnit], new: Sequence[VersionUnit], pairs: Sequence[tuple[int, int]]
) -> list[Change]:
    """Return the changes in the order of the old version; what is only in the new one stands after."""
    found: list[Change] = []
    for before, after in shifted_together(list(groups(pairs)), old, new):
        if len(before) > 1 or len(after) > 1 or old[before[0]].text != new[after[0]].text:
            found += changes_between([(at, old[at]) for at in before], [(at, new[at]) for at in after])
    paired = [set(side) for side in zip(*pairs, strict=True)] or [set(), set()]
    found += [
        Change("removed", one_line(unit.text), "", at, -1)
        for at, unit in enumerate(old)
        if at not in paired[0]
    ]
    found.sort(key=lambda change: change.old_unit)
    added = [at for at in range(len(new)) if at not in paired[1]]
    return found + [Change("added", "", one_line(new[at].text), -1, at) for at in added]


def groups(pairs: Sequence[tuple[int, int]]) -> Iterator[tuple[list[int], list[int]]]:
    """Yield the units that became each other: several where some were split or merged, as at page ends."""
    of_old: dict[int, list[int]] = defaultdict(list)
    of_new: dict[int, list[int]] = defaultdict(list)
    for o, n in pairs:
        of_old[o].append(n)
        of_new[n].append(o)
    done: set[int] = set()
    for start in of_old:
        if start in done:
            continue
        before, after, left = {start}, set[int](), [start]
        while left:
            for n in of_old[left.pop()]:
                if n not in after:
                    after.add(n)
                    left += [o for o in of_new[n] if o not in before]
                    before.update(of_new[n])
        done |= before
        yield sorted(before), sorted(after)


def shifted_together(
    groups: Sequence[tuple[list[int], list[int]]], old: Sequence[VersionUnit], new: Sequence[VersionUnit]
) -> list[tuple[list[int], list[int]]]:
    """Join groups that follow each other where words went from the end of one to the start of the next."""
    found: list[tuple[list[int], list[int]]] = []
    for before, after in groups:
        if found and (found[-1][0][-1] + 1, found[-1][1][-1] + 1) == (before[0], after[0]):
            ends, starts = (old[found[-1][0][-1]], new[found[-1][1][-1]]), (old[before[0]], new[after[0]])
            last, first = [words_of(one)[-1:] for one in ends], [words_of(one)[:1] for one in starts]
            if last[0] != last[1] and first[0] != first[1]:
                found[-1] = found[-1][0] + before, found[-1][1] + after
                continue
        found.append((before, after))
    return found


def changes_between(
    old: Sequence[tuple[int, VersionUnit]], new: Sequence[tuple[int, VersionUnit]]
) -> Iterator[Change]:
    """Yield the changes from units to what became of them; each unit with its index."""
    before, after = (
        [
            (piece, at)
            for at, unit in side
            for piece in pieces_of(without_label(unit)[:LONGEST_UNIT], unit.language)
        ]
        for side in (old, new)
    )
    for left, right, units in stretches(before, after):
        yield from replaced(left, right, units)


def stretches(
    before: Sequence[Place], after: Sequence[Place]
) -> Iterator[tuple[list[Place], list[Place], tuple[int, int]]]:
    """Yield what stands on both sides between pieces that are the same, and the units of what precedes it."""
    keys, others = [one.key for one, _ in before], [one.key for one, _ in after]
    counts, other_counts = Counter(keys), Counter(others)
    repeated = sum(count * other_counts[key] for key, count in counts.items()) > MOST_PAIRS
    matcher = SequenceMatcher(None, keys, others, autojunk=repeated)
    left: list[Place] = []
    right: list[Place] = []
    units = before[0][1] if before else -1, after[0][1] if after else -1
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag != "equal":
            left += before[i1:i2]
            right += after[j1:j2]
            continue
        for one, other in zip(before[i1:i2], after[j1:j2], strict=True):
            if not is_same(one[0], other[0]):
                left.append(one)
                right.append(other)
                continue
            if left or right:
                yield left, right, units
                left, right = [], []
            units = one[1], other[1]
    if left or right:
        yield left, right, units


def is_same(one: Piece, other: Piece) -> bool:
    return one.value == other.value or is_same_digits(one, other)


def is_same_digits(one: Piece, other: Piece) -> bool:
    """Return whether two numbers are printed alike, but for spaces or a unit that was read beside one."""
    texts = ["".join(piece.text.split()) for piece in (one, other)]
    digits = ["".join(filter(str.isdigit, text)) for text in texts]
    is_part = texts[0] in texts[1] or texts[1] in texts[0]
    return one.key == NUMBERED and digits[0] == digits[1] and is_part and min(map(len, digits)) > 0


def replaced(before: Sequence[Place], after: Sequence[Place], units: tuple[int, int]) -> Iterator[Change]:
    """Yield a replacement: its numbers and modal words one by one, and the other words as one change.

    Where one side has more numbers, nobody knows which became which: then all of it is one change.
    ``units`` are those of a side that has nothing.
    """

    def change(kind: ChangeKind, left: Sequence[Place], right: Sequence[Place]) -> Change:
        old, new = (" ".join(piece.text for piece, _ in side) for side in (left, right))
        places = (side[0][1] if side else at for side, at in zip((left, right), units, strict=True))
        return Change(kind, old, new, *places)

    sides = [
        {key: [one for one in side if one[0].key == key] for key in (NUMBERED, MODAL_KEY)}
        for side in (before, after)
    ]
    numbers = [side[NUMBERED] for side in sides]
    if all(numbers) and len(numbers[0]) != len(numbers[1]):
        yield change(kind_of(numbers[0][0][0], numbers[1][0][0]), before, after)
        return
    for key in (NUMBERED, MODAL_KEY):
        for one, other in zip_longest(sides[0][key], sides[1][key]):
            if one is None or other is None or not is_same(one[0], other[0]):
                pair = [one] if one else [], [other] if other else []
                yield change(kind_of(*(piece for side in pair for piece, _ in side)), *pair)
    words = [[one for one in side if one[0].key not in (NUMBERED, MODAL_KEY)] for side in (before, after)]
    if any(re.search(r"\w", piece.text) for side in words for piece, _ in side):
        is_name = all(
            side and all(map(is_capitalised, re.findall(r"\w+", " ".join(piece.text for piece, _ in side))))
            for side in words
        )
        yield change("name" if is_name else "words", *words)


def is_capitalised(word: str) -> bool:
    return word[:1].isupper()


def kind_of(*pieces: Piece) -> ChangeKind:
    kinds = {piece.kind for piece in pieces}
    return kinds.pop() if len(kinds) == 1 else "number"


@lru_cache(maxsize=4096)
def pieces_of(text: str, language: str) -> tuple[Piece, ...]:
    """Return the words of a text, with each number, date, reference and modal phrase as one piece."""
    dotted = [
        (*match.span(), Piece("number", NUMBERED, match[0].casefold(), match[0]))
        for match in IDENTIFIER.finditer(text)
    ]
    spans = list(dotted)
    for quantity in quantities_in(text, language):
        if is_covered(quantity.start, dotted) or is_covered(quantity.end - 1, dotted):
            continue
        printed = one_line(text[quantity.start : quantity.end])
        piece = Piece(number_kind(quantity, text), NUMBERED, value_of(quantity), printed)
        spans.append((quantity.start, quantity.end, piece))
    covered = sorted(spans)
    found: list[tuple[int, Piece]] = [(start, piece) for start, _, piece in covered]
    words = [
        match
        for match in WORD.finditer(LEADERS.sub(lambda match: " " * len(match[0]), text))
        if not is_covered(match.start(), covered)
    ]
    at = 0
    phrases = modal_phrases(language)
    while at < len(words):
        length = modal_length(words, at, phrases)
        if length:  # "shall not" is one
            length += modal_length(words, at + length, phrases)
            span = text[words[at].start() : words[at + length - 1].end()]
            value = one_line(span).casefold()
            found.append((words[at].start(), Piece("modal", MODAL_KEY, value, one_line(span))))
        else:
            word = words[at][0]
            is_number = any(map(str.isdigit, word))
            key = NUMBERED if is_number else word.casefold()
            piece = Piece("number" if is_number else "words", key, word.casefold(), word)
            found.append((words[at].start(), piece))
        at += length or 1
    return tuple(piece for _, piece in sorted(found, key=lambda one: one[0]))


def is_covered(start: int, spans: Sequence[tuple[int, int, Piece]]) -> bool:
    at = bisect_left(spans, (start + 1,)) - 1
    return at >= 0 and spans[at][0] <= start < spans[at][1]


def number_kind(quantity: Quantity, text: str) -> ChangeKind:
    if quantity.dimension in ("date", "year"):
        return "date"
    before = text[max(0, quantity.start - 24) : quantity.start]
    return "reference" if quantity.bare and REFERENCE.search(before) else "number"


def value_of(quantity: Quantity) -> str:
    currency = quantity.unit if quantity.dimension == "money" else ""
    return f"{quantity.base or quantity.value} {quantity.dimension} {currency}"


@lru_cache(maxsize=32)
def modal_phrases(language: str) -> frozenset[tuple[str, ...]]:
    """Return the phrases that oblige, allow or deny."""
    phrases = lexicon(language).phrases.items()
    return frozenset(key for key, sense in phrases if any(mark.category in MODAL for mark in sense.markers))


def modal_length(words: Sequence[re.Match[str]], at: int, phrases: frozenset[tuple[str, ...]]) -> int:
    for length in range(min(LONGEST_MODAL, len(words) - at), 0, -1):
        if tuple(word[0].casefold() for word in words[at : at + length]) in phrases:
            return length
    return 0
