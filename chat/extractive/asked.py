"""What a question asks for, as far as words tell."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from chat.extractive.lineitems import (
    LineItem,
    Statement,
    asks_for_lines,
    items_asked,
    statements_asked,
)
from retrieval.analysis import terms_of
from retrieval.lexicon import ASKING_WORDS, Concept, concepts_in

YEAR = re.compile(r"(?<!\d)(?:19|20)\d{2}(?!\d)")
SHORT_YEAR = re.compile(r"\b(?:FY|CY)\s?'?(\d{2})\b", re.I)
YEAR_SPAN = re.compile(r"((?:19|20)\d{2})\s*(?:-|–|to|through)\s*(?:FY\s*)?((?:19|20)\d{2})", re.I)
VALUE = re.compile(
    r"\bhow (much|many|large|big|high|long|old|far)\b|\b(amount|total|number|percent(age)?|ratio|margin|rate|"
    r"growth|average|value|sum|price|cost|increase|decrease|change|dollars?|usd|eur|millions?|billions?|%)\b|[$€£]",
    re.I,
)
COMPARES = re.compile(
    r"\b(improv\w*|declin\w*|deteriorat\w*|trends?|chang\w+|compar\w+|consisten\w+|histori\w+|fluctuat\w*|"
    r"grow(th|n|s|ing)?|grew|increas\w+|decreas\w+|rise[ns]?|rose|fell|fall(en|s)?|cagr|year[- ]over[- ]year|"
    r"versus|vs|between|accelerat\w*|average)\b",
    re.I,
)
BEYOND_STATEMENTS = re.compile(
    r"\b(adjusted|non[- ]gaap|organic|underlying|comparable|constant currency|pro forma|exclud\w+|excl|real|"
    r"expect\w*|guid(ance|es?|ed)|outlook|forecast\w*|projected|projections?|target\w*|"
    r"quarter\w*|[1-4]q|q[1-4]|segments?|regions?|regional|geograph\w*|countr(y|ies)|international|domestic)\b",
    re.I,
)
PART_OF_YEAR = re.compile(
    r"\bquarter|(?<![a-z])(q[1-4]|h[12])\b|\b([1-4]q|[12]h)(?![a-z])|\b(three|six|nine|[369]) months\b|"
    r"\b\d\d weeks\b|\bhalf[- ]year",
    re.I,
)
PROSE = re.compile(
    r"^\W*(why|who|whom|whose|where|how (do|does|did|is|are|was|were|can|should)|explain|describe|list|name|"
    r"what (drove|caused|led|are|were|kind|type|industry|does|did|do|would|should|happens?|reasons?))\b"
    r"|\b(main|major|key) (agenda|acquisitions?|companies|reasons?|drivers?|products?|risks?|factors?)\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, read.

    Attributes:
        terms: its telling terms (stems), the words of the documents' own titles left out.
        years: the years it speaks of; the years between two joined by a dash, too.
        concepts: what it calls by one name and documents by another.
        items: lines of the accounts it needs.
        statements: statements it names.
        wants_value: a number would answer it.
        wants_prose: words would answer it.
        compares: years beside each other answer it, those it does not name included.
        part_of_year: it asks for a quarter, for some months.
        beyond_statements: it asks for what a year's statements do not say: adjusted measures, outlooks,
            quarters, parts of the company.
    """

    text: str
    terms: frozenset[str]
    years: frozenset[str]
    concepts: tuple[Concept, ...]
    items: tuple[LineItem, ...]
    statements: frozenset[Statement]
    wants_value: bool
    wants_prose: bool
    compares: bool
    part_of_year: bool
    beyond_statements: bool

    def heard_in(self, said: Iterable[str]) -> frozenset[str]:
        """The terms of a text, and the question's own terms for what the text calls by other names."""
        terms = frozenset(said)
        meant = (
            term
            for concept in self.concepts
            if any(terms.issuperset(phrase) for phrase in concept.written)
            for phrase in concept.asked
            for term in phrase
        )
        return terms | (frozenset(meant) & self.terms)


def read_question(text: str, titles: Iterable[str] = ()) -> Asked:
    years = years_of(text)
    titled = {term for title in titles for term in terms_of(title)}
    named = {term for term in terms_of(text) if term not in ASKING_WORDS and not YEAR.search(term)}
    telling = {term for term in named if term not in titled}
    wants_prose = bool(PROSE.search(text)) and not asks_for_lines(text)
    return Asked(
        text=text,
        terms=frozenset(telling or named),
        years=years,
        concepts=tuple(concepts_in(terms_of(text))),
        items=items_asked(text),
        statements=statements_asked(text),
        wants_value=bool(VALUE.search(text)) and not wants_prose,
        wants_prose=wants_prose,
        compares=bool(COMPARES.search(text)),
        part_of_year=bool(PART_OF_YEAR.search(text)),
        beyond_statements=bool(BEYOND_STATEMENTS.search(text)),
    )


def years_of(text: str) -> frozenset[str]:
    years = set(YEAR.findall(text)) | {f"20{year}" for year in SHORT_YEAR.findall(text)}
    for first, last in YEAR_SPAN.findall(text):
        years |= {str(year) for year in range(int(first), min(int(last), int(first) + 15) + 1)}
    return frozenset(years)


class TermWeights:
    """How telling each term is among the passages at hand: inverse document frequency (Robertson 2004)."""

    def __init__(self, texts: Sequence[Iterable[str]]) -> None:
        self._frequency = Counter(term for terms in texts for term in set(terms))
        self._count = len(texts)

    def __getitem__(self, term: str) -> float:
        frequency = self._frequency[term]
        return math.log(1 + (self._count - frequency + 0.5) / (frequency + 0.5))

    def coverage(self, wanted: Iterable[str], *found: tuple[frozenset[str] | set[str], float]) -> float:
        """0..1: the weight of ``wanted`` terms that are found, each counted by the best list it stands in."""
        total = covered = 0.0
        for term in wanted:
            total += self[term]
            covered += self[term] * max((share for terms, share in found if term in terms), default=0.0)
        return covered / total if total else 0.0
