"""A battery for the verifier: true claims made from parsed pages, and the same claims made false.

``python -m tests.chat.mutations DIR [--per-file N]`` reads every PDF of a folder
and prints how many true claims are accepted and how many false ones flagged.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

from citing.anchoring.page_text import Span
from citing.claims import Claim, SourceUnit, words_between
from citing.comparison.values.support import FALLING, head_years, heads_of
from citing.verdict import verify
from pdf.structure import ParsedPage
from text.measures import page_scale
from text.values import Value, values_in

Page = Sequence[SourceUnit]
SCALE_NAMES = {Decimal(10**3): "thousand", Decimal(10**6): "million", Decimal(10**9): "billion"}


@dataclass(frozen=True)
class Case:
    """A claim with all the verifier is given. ``kind`` names how it was made false; '' when it is true."""

    kind: str
    claim: Claim
    cited: SourceUnit
    page: Page


def source_units(page: ParsedPage, document: str, title: str) -> list[SourceUnit]:
    return [
        SourceUnit(
            f"{document}:{page.number}:{unit.index}",
            document,
            page.number,
            unit.text,
            unit.char_start,
            words_between(page.words, unit.char_start, unit.char_end),
            unit.type,
            unit.section_path,
            unit.table,
            title,
        )
        for unit in page.units
    ]


def cases(pages: Sequence[Page], strangers: Sequence[Page], seed: int = 0) -> Iterator[Case]:
    """True claims of every page, each followed by its mutations. ``strangers``: pages of other documents."""
    chance = random.Random(seed)
    for page in pages:
        for unit in page:
            claims = _table_claims(unit, page, chance) if unit.type == "table" else _prose_claims(unit)
            for claim in claims:
                yield Case("", claim.claim, unit, page)
                yield from _mutations(claim, unit, page, strangers, chance)
            if unit.type != "table":
                yield from _word_mutations(unit, page, chance)


@dataclass(frozen=True)
class _TrueClaim:
    """A true claim; ``value`` is the one that is mutated, its range that of the sentence."""

    claim: Claim
    value: Value
    years: tuple[int, ...] = ()  # years of the table's other columns


def _table_claims(unit: SourceUnit, page: Page, chance: random.Random) -> Iterator[_TrueClaim]:
    """ "Inventories were 4,366 in 2018", in one of the ways people write it."""
    head = re.split(r"\t", unit.text)[0]
    values = [value for value in values_in(unit.text) if value.kind not in ("year", "date")]
    if len(re.findall(r"[^\W\d_]{3,}", head)) < 1 or len(head) > 90 or values_in(head):
        return
    others = [other for other in page if other.id != unit.id]
    numbers = [value for value in values if value.start >= len(head)]
    columns = {value.start: _column(unit, value) for value in numbers}
    for value in chance.sample(numbers, min(2, len(numbers))):
        same = [other for other in numbers if other.number == value.number]
        if len(same) > 1 or abs(value.number) < 10:
            continue
        year = columns[value.start]
        if value.kind == "percent" and any(other.kind != "percent" for other in numbers):
            year = None  # a column of changes, though it stands beside one of a year
        scale = page_scale([*heads_of(unit), *(o.text for o in others)], unit.language)
        bare = not re.match(r" ?[^\W\d_]", unit.text[value.end :])  # no "$112" of "112 bps"
        written = _written(value, scale, chance) if bare else value.text.strip()
        when = f" in {year}" if year else ""
        label = re.sub(r"(?<![A-Z])\.$", "", head.strip(" :"))  # "U.S." keeps its period
        sentence = f"{label} was {written}{when}."
        claimed = next((v for v in values_in(sentence) if v.start >= len(label)), None)
        if claimed is None:
            continue
        wrong = tuple({y for start, y in columns.items() if y and y != year and start != value.start})
        yield _TrueClaim(Claim(sentence), claimed, wrong if year else ())


def _column(unit: SourceUnit, value: Value) -> int | None:
    years = head_years(unit, value.start)
    return next(iter(years)) if len(years) == 1 else None


def _written(value: Value, scale: Decimal | None, chance: random.Random) -> str:
    """The value as printed, without its commas, with a currency, or with the scale the page counts in."""
    ways = [value.text.strip(), value.text.replace(",", "")]
    if value.kind == "number" and value.number > 0:
        ways.append(f"${value.digits}")
        if scale in SCALE_NAMES and value.number >= 100 and "." not in value.digits:
            ways.append(f"${value.digits} {SCALE_NAMES[scale]}")
            if scale == 10**6 and value.number >= 1000:
                ways.append(f"${(value.number / 1000).normalize():f} billion")
    return chance.choice(ways)


def _prose_claims(unit: SourceUnit) -> Iterator[_TrueClaim]:
    """Sentences of the page that hold a value, cut at their first clause where that keeps it."""
    for start, end in _sentences(unit.text):
        sentence = " ".join(unit.text[start:end].split())
        values = [v for v in values_in(sentence) if v.kind not in ("year", "date") and abs(v.number) >= 10]
        if values and 40 <= len(sentence) <= 400:
            years = {v.year for v in values_in(sentence) if v.year}
            shifted = tuple(y + 1 for y in years if y + 1 not in years)
            yield _TrueClaim(Claim(sentence), values[0], shifted if len(years) == 1 else ())


def _sentences(text: str) -> Iterator[Span]:
    ends = [match.end() for match in re.finditer(r"[a-z)%]\.\s+(?=[A-Z])", text)]
    borders = [0, *ends, len(text)]
    yield from pairwise(borders)


def _mutations(
    true: _TrueClaim, unit: SourceUnit, page: Page, strangers: Sequence[Page], chance: random.Random
) -> Iterator[Case]:
    sentence, value = true.claim.sentence, true.value

    def said(written: str) -> Claim:
        return Claim(sentence[: value.start] + written + sentence[value.end :])

    if changed := _digit_changed(value, unit, chance):
        yield Case("digit", said(changed), unit, page)
    if flipped := _flipped(value, sentence, unit):
        yield Case("sign", said(flipped), unit, page)
    if value.scale is not None:
        wrong = chance.choice([name for scale, name in SCALE_NAMES.items() if scale != value.scale])
        yield Case("scale", said(re.sub(r"[a-z]+(?=\W*$)", wrong, value.text, flags=re.I)), unit, page)
    if true.years:
        wrong_year = chance.choice(true.years)
        shifted = re.sub(r"\b(?:19|20)\d\d\b(?=\D*$)|\b(?:19|20)\d\d\b", str(wrong_year), sentence)
        if shifted != sentence:
            yield Case("year", Claim(shifted), unit, page)
    if swapped := _of_other_row(value, unit, page, chance):
        yield Case("table", said(swapped), unit, page)
    if strangers:
        other = chance.choice(strangers)
        yield Case("document", true.claim, chance.choice(other), other)


_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"

# Words that turn what a sentence says: pattern and replacement, by the kind of claim this makes of it.
_TURNED: dict[str, Sequence[tuple[str, str]]] = {
    "unit": [
        (r"(?<=\d )days\b", "months"), (r"(?<=\d )months\b", "years"), (r"(?<=\d )years\b", "months"),
        (r"(?<=\d )hours\b", "days"), (r"(?<=\d )minutes\b", "hours"), (r"(?<=\d )seconds\b", "minutes"),
        (r"(?<=\d )mm\b", "cm"), (r"(?<=\d )cm\b", "m"), (r"(?<=\d )kg\b", "g"),
        (r"(?<=\d )inches\b", "feet"),
        (r"(?<=\d) ?°F\b", " °C"), (r"(?<=\d) ?°C\b", " °F"), (r"(?<=\d )weeks\b", "days"),
    ],
    "points": [(r"percentage points", "percent"), (r"(?<=\d)(?: percent|%)", " percentage points")],
    "direction": [
        (r"\bincreased\b", "decreased"), (r"\bdecreased\b", "increased"), (r"\brose\b", "fell"),
        (r"\bfell\b", "rose"), (r"\bhigher\b", "lower"), (r"\blower\b", "higher"), (r"\bgrew\b", "shrank"),
        (r"\ban increase\b", "a decrease"), (r"\ba decrease\b", "an increase"),
    ],
    "comparator": [
        (r"\bat least\b", "at most"), (r"\bat most\b", "at least"), (r"\bmore than\b", "less than"),
        (r"\bless than\b", "more than"), (r"\bup to(?= \$?\d)", "at least"), (r"\bover(?= \$?\d)", "under"),
    ],
    "negation": [
        (r"\b(is|are|was|were|does|did|do|may|shall|will|could|should|must) not\b", r"\1"),
        (r"\b(is|are|was|were|shall|will|must)\b(?! not)", r"\1 not"),
    ],
    "modality": [(r"\bmay\b", "must"), (r"\bmust\b", "may"), (r"\bshall\b", "may"), (r"\bshould\b", "must")],
    "quantifier": [
        (r"\b[Aa]ll\b(?! of)", "no"), (r"\b[Mm]ost\b(?= \w+s\b)", "all"), (r"\b[Ss]ome\b", "all"),
        (r"\b[Nn]one\b", "all"),
    ],
    "condition": [(r"\bunless\b", "if"), (r"\bif\b(?! not)", "unless"), (r"\bexcept\b", "including")],
    "period": [
        (r"\bannually\b", "monthly"), (r"\bquarterly\b", "annually"), (r"\bmonthly\b", "annually"),
        (r"\bper year\b", "per month"), (r"\bper month\b", "per week"), (r"\bper day\b", "per week"),
        (r"\bbefore\b", "after"), (r"\bafter\b", "before"), (r"\bdaily\b", "weekly"),
    ],
    "ordinal": [
        (r"\bfirst\b(?! and)", "second"), (r"\bsecond\b", "third"), (r"\bthird\b(?= quarter)", "fourth"),
        (r"\bfourth\b(?= quarter)", "first"), (r"\bhighest\b", "lowest"), (r"\blargest\b", "smallest"),
    ],
    "date": [
        (rf"\b({_MONTHS}) 1(\d)(?=, (?:19|20)\d\d)", r"\1 2\2"),
        (rf"\b({_MONTHS}) 2(\d)(?=, (?:19|20)\d\d)", r"\1 1\2"),
        (rf"\b({_MONTHS}) 3([01])(?=, (?:19|20)\d\d)", r"\1 1\2"),
    ],
    "currency": [(r"(?<![A-Z])\$ ?(?=\d)", "€"), (r"€ ?(?=\d)", "$"), (r"£ ?(?=\d)", "€")],
    "range": [(r"\bfrom (\S*\d\S*) to (\S*\d\S*\w)\b", r"from \2 to \1"),
        (r"\bbetween (\S*\d\S*) and (?=\S*\d)", r"between 7\1 and ")],
    "cause": [(r"\b((?:[Tt]he |[Oo]ur )?\w+ \w+) (was|were) due to ((?:the )?\w+ \w+)", r"\3 \2 due to \1"),
        (r"\bresult(?:ed|s) in\b", "resulted from")],
    "correlation": [(r"\b(is|are|was|were) (?:associated|correlated) with\b", r"\1 caused by")],
    "role": [(r"\b([Tt]he \w+) (shall|must|may|will|can) (\w+) (the \w+)\b", r"\4 \2 \3 \1")],
}  # fmt: skip


def _word_mutations(unit: SourceUnit, page: Page, chance: random.Random) -> Iterator[Case]:
    """Sentences of the page, each with one word of every kind that turns it exchanged for another."""
    for start, end in _sentences(unit.text):
        sentence = " ".join(unit.text[start:end].split())
        if not 40 <= len(sentence) <= 300 or not sentence.endswith("."):
            continue
        if swapped := _names_swapped(sentence, unit, chance):
            yield Case("entity", Claim(swapped), unit, page)
        for kind, swaps in _TURNED.items():
            fitting = [(pattern, new) for pattern, new in swaps if re.search(pattern, sentence)]
            if fitting:
                pattern, new = chance.choice(fitting)
                yield Case(kind, Claim(re.sub(pattern, new, sentence, count=1)), unit, page)


def _of_other_row(value: Value, unit: SourceUnit, page: Page, chance: random.Random) -> str | None:
    """A number of another row of the table, that the unit itself does not hold; None outside a table."""
    own = {abs(printed.number) for printed in values_in(unit.text)}
    others = [
        printed.digits
        for other in page
        if unit.type == other.type == "table" and other.id != unit.id and other.table and unit.table
        and other.table.index == unit.table.index
        for printed in values_in(other.text)
        if printed.kind == value.kind and abs(printed.number) not in own and len(printed.digits) > 2
    ]  # fmt: skip
    return chance.choice(others) if others and value.scale is None else None


def _names_swapped(sentence: str, unit: SourceUnit, chance: random.Random) -> str | None:
    """The sentence with a name in it exchanged for another of its unit; None where there are no two."""
    names = dict.fromkeys(re.findall(r"(?<=[a-z,] )[A-Z][a-z]{3,}(?= [a-z]| [A-Z]|\.|,)", unit.text))
    own = [name for name in names if len(re.findall(rf"\b{name}\b", sentence)) == 1]
    others = [name for name in names if not re.search(rf"\b{name}", sentence)]
    if not own or not others:
        return None
    return re.sub(rf"\b{chance.choice(own)}\b", chance.choice(others), sentence)


def _digit_changed(value: Value, unit: SourceUnit, chance: random.Random) -> str | None:
    """The value with one digit of its number changed, so that it is none of the unit's."""
    printed = {printed.digits.replace(",", "") for printed in values_in(unit.text)}
    changed = [
        value.text[:at] + digit + value.text[at + 1 :]
        for at, old in enumerate(value.text)
        for digit in "123456789"
        if old.isdigit() and digit != old
    ]
    new = [text for text in changed if re.sub(r"[^\d.]", "", text) not in printed]
    return chance.choice(new) if new else None


def _flipped(value: Value, sentence: str, unit: SourceUnit) -> str | None:
    """The value with the other sign.

    None where that is no lie: the words around carry the sign, or the unit prints both. Nor is a number
    in brackets negative in prose: "as a competitor (55%)".
    """
    if unit.type != "table" and value.text.startswith("("):
        return None
    if any(printed.number == -value.number for printed in values_in(unit.text)):
        return None
    if value.number < 0:
        bare = re.sub(r"\([^)]*[a-z][^)]*\)", "", sentence)
        return None if FALLING.search(bare) else re.sub("[-−–()]", "", value.text)
    return None if FALLING.search(unit.text) else f"-{value.text}"


def accepted(case: Case, shown: Sequence[SourceUnit] = ()) -> bool:
    around = [unit for unit in case.page if unit.id != case.cited.id]
    return verify(case.claim, case.cited, around, shown).supported


def tally(battery: Iterable[Case]) -> dict[str, tuple[int, int]]:
    """By kind of mutation ('' are the true claims): how many, and how many were accepted."""
    seen, right = Counter[str](), Counter[str]()
    for case in battery:
        seen[case.kind] += 1
        right[case.kind] += accepted(case)
    return {kind: (seen[kind], right[kind]) for kind in seen}


def main() -> None:
    import pymupdf

    from pdf.layout.pipeline import read_pages

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--per-file", type=int, default=12, help="pages of each file")
    parser.add_argument("--show", type=int, default=0, help="print so many wrong answers of each kind")
    options = parser.parse_args()
    documents = {}
    for path in sorted(options.folder.glob("*.pdf")):
        with pymupdf.open(path) as document:
            step = max(1, document.page_count // options.per_file)
            parsed = read_pages(document, range(1, document.page_count + 1, step))
        documents[path.stem] = [source_units(page, path.stem, path.stem) for page in parsed if page.units]
    total: dict[str, list[int]] = {}
    shown = Counter[str]()
    for name, pages in documents.items():
        strangers = [page for other, theirs in documents.items() if other != name for page in theirs]
        for case in cases(pages, strangers):
            right = accepted(case)
            counts = total.setdefault(case.kind, [0, 0])
            counts[0] += 1
            counts[1] += right
            if right == bool(case.kind) and shown[case.kind] < options.show:
                shown[case.kind] += 1
                _print_wrong(case)
    for kind, (count, taken) in sorted(total.items()):
        print(f"{kind or 'true':10} {count:6} accepted {taken / count:.4f}")
    false = [counts for kind, counts in total.items() if kind]
    count, missed = sum(c for c, _ in false), sum(a for _, a in false)
    print(f"{'all false':10} {count:6} flagged {1 - missed / count:.4f}")


def _print_wrong(case: Case) -> None:
    around = [unit for unit in case.page if unit.id != case.cited.id]
    said = verify(case.claim, case.cited, around)
    print(f"\n[{case.kind or 'true'}] {said.verdict}: {said.reason} {said.missing}\n  {case.claim.sentence}")
    print(f"  {case.cited.id} {case.cited.type} {case.cited.text[:300]!r}")


if __name__ == "__main__":
    main()
