"""Read what a document says of itself: authors, organisation, date, parties, numbers, contacts, officers.

Each fact has the page and the words that state it. A rule reads one unit, or two short ones in a row; rules
stand in the order in which they are tried. The labels and offices of a language are in
``text/languages/<code>/facts.toml``; a document in a language without it has only what English labels name.
"""

from __future__ import annotations

import itertools
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import msgspec

from pdf.structure import ParsedDocument, ParsedUnit
from text.languages import language_data
from text.numbers import dates_in
from text.terms import one_line

FactKind = Literal[
    "author", "organisation", "date", "party", "number", "presenter", "contact", "officer"
]  # fmt: skip
FIRST_PAGES, LAST_PAGES = 3, 3  # where a document speaks of itself
MOST_OF_KIND = 24
LONGEST_VALUE, LONGEST_LINE = 120, 160  # characters
MOST_BESIDE_DATE = 4  # words of a line that is a date: a place before it
NAME = r"[^\W\d_a-z][\w'’-]*[a-z][\w'’-]*"
PERSON = rf"{NAME}(?: (?:{NAME}|[A-Z]\.|I{{2,3}}|de|la|van|von|der|den)){{1,4}}"
COMPANY = (
    r"[^\W_a-z][\w&.,'’ -]{0,70}?,?\s"
    r"(?:(?:Inc|INC|Ltd|LTD|Corp|CORP)\b\.?|Limited|LIMITED|Incorporated|INCORPORATED|LLC|LLP|PLC|plc|Corporation"
    r"|CORPORATION|Company|COMPANY|GmbH|AG|KG|SE|S\.?A\.?|B\.?V\.?|AB)(?!\w)"
)
ORGANISATION = re.compile(
    r"\b(?:Universi\w+|Institut\w*|College|School|Department|Laborator\w+|Labs?|Academy|Centre|Center|Hospital)\b"
)
OPENS = r"(?:^|[\n\t]|[Ss]aid |By:\s*|/s/\s*|Name:\s*)"  # what stands before an officer's name
LOOKED_BACK = 120  # characters before an office, in which its holder is looked for
MOST_BEFORE_DATE = 12  # characters: "this 7th day of"
ABSTRACT = re.compile(r"(?:Abstract|ABSTRACT|Summary|SUMMARY)\s?(?:[—–:.-]|$)")  # begins a paragraph
MARKED_PLACE = re.compile(r"(?:^|\s)([a-z])(?=[A-Z][a-z]+ )")  # "aTongji University bFudan University"
YEAR = re.compile(r"\d{4}|\d{1,2}[./-]\d{1,2}[./-]\d{2}")


class Fact(msgspec.Struct, frozen=True):
    """One fact. ``value`` as a person would say it; ``quote``: the words on ``page`` that state it."""

    kind: FactKind
    value: str
    page: int
    quote: str


@dataclass(frozen=True, slots=True)
class FactWords:
    """Words of a language.

    Attributes:
        labels: by kind, what stands before a value: "Invoice number: 17".
        between, joins, together: "between" and "and" of the parties of a contract, "(together “Tenant”)".
        offices: of officers.
        asked: by kind, phrases of questions that ask for it.
    """

    labels: dict[str, tuple[str, ...]]
    between: tuple[str, ...]
    joins: tuple[str, ...]
    together: tuple[str, ...]
    offices: tuple[str, ...]
    asked: dict[str, tuple[str, ...]]


@cache
def fact_words(language: str) -> FactWords:
    """Return the words of a language and of English, whose labels stand in documents of any language."""
    tables = [tomllib.loads(language_data(code, "facts.toml")) for code in dict.fromkeys((language, "en"))]
    labels: dict[str, tuple[str, ...]] = {}
    asked: dict[str, tuple[str, ...]] = {}
    for table in tables:
        for kind, words in table.get("labels", {}).items():
            labels[kind] = (*labels.get(kind, ()), *words)
        for kind, words in table.get("asked", {}).items():
            asked[kind] = (*asked.get(kind, ()), *words)
    between, joins, together, offices = (
        tuple(word for table in tables for word in table.get("words", {}).get(key, ()))
        for key in ("between", "joins", "together", "offices")
    )
    return FactWords(labels, between, joins, together, offices, asked)


@dataclass(frozen=True, slots=True)
class Rule:
    """Read facts from one text: ``true`` states the value ``says``; ``false`` looks alike and has none."""

    name: str
    sentence: str
    read: Callable[[str, str], Iterable[tuple[FactKind, str]]]
    true: str
    says: str
    false: str


def facts_asked(question: str, language: str, facts: Sequence[Fact]) -> list[Fact]:
    """Return the facts that a question asks for: "Who are the parties?", "Who is the CEO?"."""
    words = fact_words(language)
    kinds = kinds_asked(question, language)
    found = [fact for fact in facts if fact.kind in kinds]
    offices = {
        office for office in words.offices if re.search(rf"\b{re.escape(office)}\b", question, re.IGNORECASE)
    }
    longest = {
        one
        for one in offices
        if not any(one != other and one.casefold() in other.casefold() for other in offices)
    }
    held = [fact for fact in facts if fact.kind == "officer" and any(_holds(fact, one) for one in longest)]
    if not found and kinds == {"author"}:  # an organisation writes without naming people
        found = [fact for fact in facts if fact.kind == "organisation"]
    return found or held


def kinds_asked(question: str, language: str) -> set[str]:
    """Return the kinds of facts that a question asks for; ``*`` in a phrase is any word."""
    lowered = question.casefold()
    return {
        kind
        for kind, phrases in fact_words(language).asked.items()
        if any(re.search(rf"(?<!\w){_any_word(phrase)}(?!\w)", lowered) for phrase in phrases)
    }


def _any_word(phrase: str) -> str:
    return re.escape(phrase).replace(r"\*", r"[\w-]+")


def _holds(fact: Fact, office: str) -> bool:
    """Return whether a person holds an office, also by its initials: "CEO"."""
    named = fact.value.partition(", ")[2]
    if re.search(rf"(?<!vice )\b{re.escape(office)}\b", named, re.IGNORECASE):
        return True
    initials = r"\w+ ".join(office.upper()).strip()
    return office.isupper() and bool(re.search(rf"\b{initials}\w+", named, re.IGNORECASE))


def _labelled(text: str, language: str) -> Iterator[tuple[FactKind, str]]:
    for kind, pattern in _label_patterns(language):
        if match := pattern.match(text):
            value = one_line(match["value"]).strip(" .;")
            if kind == "date":
                value = next(iter(_dates(value, language)), "")
            if kind == "number" and not any(map(str.isdigit, value)):
                continue
            if kind in ("author", "presenter") and not value[:1].isupper():
                continue
            if value:
                yield kind, value
                return


def _dates(text: str, language: str) -> list[str]:
    """Return the dates of a text that have a year, as printed."""
    found = (one_line(text[date.start : date.end]) for date in dates_in(text, language))
    return [date for date in found if YEAR.search(date)]


@cache
def _label_patterns(language: str) -> tuple[tuple[FactKind, re.Pattern[str]], ...]:
    found = []
    for kind, labels in fact_words(language).labels.items():
        names = "|".join(re.escape(label) for label in sorted(labels, key=len, reverse=True))
        pattern = rf"^(?:.{{0,30}}?\s)?(?:{names})\s*[:：#]\s*(?P<value>\S.{{0,{LONGEST_VALUE}}})$"
        found.append((kind, re.compile(pattern, re.IGNORECASE)))
    return tuple(found)  # type: ignore[arg-type]


def _parties(text: str, language: str) -> Iterator[tuple[FactKind, str]]:
    words = fact_words(language)
    between = re.search(rf"\b(?:{'|'.join(words.between)})\b:?\s+", text, re.IGNORECASE)
    if between is None:
        return
    rest = text[between.end() :]
    join = rf"\s*[,;]?\s+(?:{'|'.join(words.joins)})\s+(?=[^\W\da-z_])"
    unnamed: list[str] = []  # people before "(together “Tenant”)"
    for part in re.split(join, rest)[:MOST_OF_KIND]:
        name = re.match(rf"{COMPANY}|{PERSON}|[^\W\d_a-z][\w&.'’ -]{{2,60}}?(?=,|\s\(|$)", part.strip())
        short = re.search(r"\([^()]*[“\"„«]", part)  # a party is given a name: (“Supplier”)
        if name and short:
            names = [*unnamed, name[0]] if re.search("|".join(words.together), short[0]) else [name[0]]
            yield from (("party", one_line(one).strip(" ,")) for one in names)
        unnamed = [*unnamed, part] if not short and re.fullmatch(PERSON, part) else []


def _dateline(text: str, language: str) -> Iterator[tuple[FactKind, str]]:
    line = re.split("[—–]", text)[0] if len(text) > LONGEST_LINE else text
    dates = _dates(line, language)
    beside = line.replace(dates[0], " ") if len(dates) == 1 else line
    if len(dates) == 1 and len(re.findall(r"\w+", beside)) <= MOST_BESIDE_DATE:
        yield "date", dates[0]


def _dated(text: str, language: str) -> Iterator[tuple[FactKind, str]]:
    for match in re.finditer(r"\b(?:made|dated|effective|entered into)(?: on| as of|,)*\s+", text):
        near = text[match.end() : match.end() + 40]
        if (dates := _dates(near, language)) and one_line(near).find(dates[0]) <= MOST_BEFORE_DATE:
            yield "date", dates[0]
            return


def _people(text: str, language: str) -> Iterator[tuple[FactKind, str]]:
    for line in text.splitlines():
        plain = re.sub(r"(?<=[a-z])(?:\s?[\d*†‡§¶∗⋆](?:,\s?(?=[\d*†‡§¶∗⋆]))?)+", "  ", line)
        parts = [part for part in map(str.strip, re.split(r",|;|\band\b|&|\s{2,}", plain)) if part]
        if len(parts) < 2 or ORGANISATION.search(line) or not all(re.fullmatch(PERSON, p) for p in parts):
            return
        yield from (("author", part) for part in parts)


def _officers(text: str, language: str) -> Iterator[tuple[FactKind, str]]:
    offices, holder = _office_patterns(language)
    at = 0
    for office in offices.finditer(text):
        if office.start() < at:
            continue
        start = max(0, office.start() - LOOKED_BACK)
        match = holder.search(text[start : office.start()])
        if match is None or offices.search(match["name"]) or ORGANISATION.search(match["name"]):
            continue
        ends = re.search(r"[\n\t;.(“”—–]|,? (?:who|which|said|was|is|and (?:is|was))\b", text[office.end() :])
        at = office.end() + (ends.start() if ends else len(text) - office.end())
        named = one_line(match["before"] + text[office.start() : at]).strip(" ,").removesuffix(" and")
        yield "officer", f"{one_line(match['name'])}, {named}"


@cache
def _office_patterns(language: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return a pattern for offices, and one for a name and other titles right before an office."""
    offices = "|".join(map(re.escape, sorted(fact_words(language).offices, key=len, reverse=True)))
    # In a table, an age may stand between.
    gap = r"(?:, ?(?:Jr|Sr)\.?)?(?:,\s+|\s*[\n\t|–—]\s*(?:\d{2}\s*\t\s*)?)"
    titles = r"(?P<before>(?:(?:[A-Z][\w&-]*,?|and|of)\s+){0,5})"
    return (
        re.compile(rf"\b(?:{offices})\b", re.IGNORECASE),
        re.compile(rf"{OPENS}(?P<name>{PERSON}){gap}(?!and\b){titles}$"),
    )


RULES: tuple[Rule, ...] = (
    Rule(
        "label",
        "A label, a colon and a value.",
        _labelled,
        "Invoice number: RE-17",
        "RE-17",
        "The number of boats: seventeen",
    ),
    Rule(
        "parties",
        "After “between”, names that the contract gives short names.",
        _parties,
        "This agreement is made on 4 May 2031 between Quay Ltd (“Supplier”) and Tarn Boats GmbH (“Client”).",
        "Quay Ltd",
        "The difference between Quay Ltd and Tarn Boats is small.",
    ),
    Rule(
        "dateline",
        "A date alone on its line, or with a place before it.",
        _dateline,
        "Portland, May 4, 2031",
        "May 4, 2031",
        "The harbour was dredged for the first time on May 4, 2031.",
    ),
    Rule(
        "dated",
        "A date after “made”, “dated” or “effective”.",
        _dated,
        "This lease is made as of May 4, 2031 by the owner of the boat.",
        "May 4, 2031",
        "The boat made its first trip, and on May 4, 2031 the last one.",
    ),
    Rule(
        "people",
        "Between title and text, a line of nothing but names.",
        _people,
        "Ada Quay1, Ben Tarn2 and Eva Lind1",
        "Ada Quay",
        "Harbour Rules, Boats and Lakes",
    ),
    Rule(
        "officer",
        "A person's name beside an office.",
        _officers,
        "Ada Quay, President and Chief Executive Officer",
        "Ada Quay, President and Chief Executive Officer",
        "The Chief Executive Officer signs all contracts.",
    ),
)
BY_NAME = {rule.name: rule for rule in RULES}


def facts_of(parsed: ParsedDocument, language: str, authors: Sequence[str] = ()) -> tuple[Fact, ...]:
    """Return the facts of a document, each once; ``authors``: names that its metadata gives."""
    count = len(parsed.pages)
    own = {*range(1, FIRST_PAGES + 1), *range(count - LAST_PAGES + 1, count + 1)}
    found: dict[tuple[str, str], Fact] = {}
    for page in parsed.pages:
        for kind, value, quote in _facts_on(page.units, language, page.number, own, authors):
            key = (kind, value.casefold())
            if key not in found and len(value) <= LONGEST_VALUE:
                found[key] = Fact(kind, value, page.number, quote)
    counts: dict[str, int] = {}
    kept = []
    for fact in found.values():
        if fact.kind == "officer" and _is_of_common_words(fact.quote, parsed):
            continue
        counts[fact.kind] = counts.get(fact.kind, 0) + 1
        only_one = fact.kind == "date" and counts[fact.kind] > 1
        if not only_one and counts[fact.kind] <= MOST_OF_KIND:
            kept.append(fact)
    return tuple(kept)


def _is_of_common_words(name: str, parsed: ParsedDocument) -> bool:
    """Return whether the document also has all words of the name without a capital: "Supply Chain"."""
    common = [rf"\b{re.escape(word.casefold())}\b" for word in re.findall(r"[^\W\d_]{2,}", name)]
    return all(any(re.search(word, page.text) for page in parsed.pages) for word in common)


def _facts_on(
    units: Sequence[ParsedUnit], language: str, page: int, own: set[int], authors: Sequence[str]
) -> Iterator[tuple[FactKind, str, str]]:
    """Yield kind, value and words of each fact of a page; ``own``: pages that speak of the document."""
    if page in own:
        for unit in units:
            text = unit.text.strip()
            line = one_line(text)
            if len(line) <= LONGEST_LINE:
                yield from ((kind, value, line) for kind, value in BY_NAME["label"].read(line, language))
            if page == 1:
                rules = ("parties", "dated") if unit.type in ("prose", "list") else ()
                for name in (*rules, "dateline"):
                    yield from ((kind, value, line) for kind, value in BY_NAME[name].read(line, language))
        if page <= FIRST_PAGES:
            yield from _authors_on(units, page, authors)
            yield from _publisher(units, page)
    for above, unit, below in zip([None, *units], units, [*units[1:], None], strict=False):
        texts = [unit.text]
        is_column = above and re.fullmatch(PERSON, above.text.strip())  # names above, then their offices
        if below and not is_column and re.fullmatch(PERSON, unit.text.strip()):
            texts.append(f"{unit.text.strip()}\n{below.text}")
        for text in texts:
            for kind, value in BY_NAME["officer"].read(text, language):
                yield kind, value, value.partition(",")[0]


def _authors_on(
    units: Sequence[ParsedUnit], page: int, authors: Sequence[str]
) -> Iterator[tuple[FactKind, str, str]]:
    """Yield the metadata's authors where they are printed, else names above the abstract of a paper."""
    printed = [name for name in authors if any(name in one_line(unit.text) for unit in units)]
    yield from (("author", name, name) for name in printed)
    starts = (
        at for at, unit in enumerate(units) if unit.section_type == "abstract" or ABSTRACT.match(unit.text)
    )
    abstract = next(starts, 0)
    if page == 1 and not printed and abstract:
        for unit, below in itertools.pairwise(units[: abstract + 1]):
            text = _without_marks(unit.text, below.text)
            yield from ((kind, value, value) for kind, value in BY_NAME["people"].read(text, ""))


def _without_marks(names: str, places: str) -> str:
    """Remove the letters that refer to the places below, if each name ends with one: ``Ada Quaya``."""
    marks = "".join(set(MARKED_PLACE.findall(places))) if ORGANISATION.search(places) else ""
    if not marks:
        return names
    mark = rf"\s?[{marks}](?:,[{marks}]){{0,5}}(?=\s*(?:,(?!\w)|$))"
    line = re.sub(r",?\s+and\b", ", ", one_line(names)).replace(" ,", ",")
    plain, count = re.subn(mark, "", line)
    return plain if count == len(re.split(r",\s", line)) else names


def _publisher(units: Sequence[ParsedUnit], page: int) -> Iterator[tuple[FactKind, str, str]]:
    """Yield the company whose name begins a line of the first page, above all text of some length."""
    for unit in units if page == 1 else ():
        if len(unit.text) > LONGEST_LINE:
            return
        if match := re.match(rf"{COMPANY}(?=\s*(?:$|[·•|]))", one_line(unit.text)):
            yield "organisation", match[0].strip(), match[0].strip()
            return
