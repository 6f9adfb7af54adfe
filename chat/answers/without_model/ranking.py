"""How well each line answers the question: one linear score from the search's signals, words and meaning."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain, pairwise, starmap

import numpy as np

from chat.answers.prompt import ContextItem
from chat.answers.without_model.lines import AnswerLine, distinct_terms
from chat.answers.without_model.question import YEAR, NamedPlace, QuestionFeatures, words_of
from chat.citations.claims import SourceUnit
from domains.items import Item, items_asked, label_match
from retrieval.embeddings.wordllama import WordLlamaEmbedder

PAGE_WEIGHTS = {
    "score": 1.6,  # the best hit's score as a share of the best of all
    "hits": 1.0,  # sum of 1/rank of the page's hits
    "context": 1.5,  # share of the question's weighted terms in a line, those beside and what is over it
    "over": 4.0,  # … in the headings, the caption and the column heads alone
    "covered": 2.3,  # mean of context and words, of the page's best line in both
    "meaning": 1.8,  # cosine of a line and the question
    "phrases": 0.5,  # neighbouring words of the question that are neighbours in a line; three are all
    "year": 0.7,  # share of the years asked for that a line is of
    "named": 3.9,  # a line stands at the page, figure, table, section the question names
    "label": 3.6,  # a row is a line item that a pack says the question needs
}
"""Of a page by the best of its lines; fitted by softmax regression on the right pages of three sets (general
documents, filings, a standard in four languages), each question one example, held out by documents."""
LINE_WEIGHTS = {
    "hit": 0.4, "first": 1.2, "line": 0.4, "near": 0.3, "context": 1.3, "over": 0.2, "meaning": 1.0,
    "words": 0.8, "phrases": 0.6, "type": 2.2, "row": 1.8, "label": 4.0,
}  # fmt: skip
"""Of a line among the lines of its page; fitted alike on the lines that hold the known answers."""

TITLE_COST = 1.5
"""On a page, what a line loses that only names a subject: a heading, an entry of a table of contents."""

LONGEST_TITLE = 60  # characters
CLOSED_END = re.compile(r"[.!?。！？:;%\d]\W*$")
LIST_NUMBER = re.compile(r"[\dA-Z]+[.)]")
LONGEST_READ = 400  # characters of a line that are embedded
RELATED = 0.35  # cosine of two words above which they are related
DATE = re.compile(
    r"\b\d{1,2}[./-]\d{1,2}[./-]\d{2,4}\b|\b(?:19|20)\d{2}\b|\d\s?(?::\d\d|am\b|pm\b)|[年月日]|\b\d+ \w+\b"
)
NUMBER = re.compile(r"\d+")
NAME = re.compile(r"(?<![.!?] )(?<!^)\b[^\W\d_a-z][\w.'’-]+|[\u3040-\u9fff\u0600-\u06ff]{2}")


@dataclass(frozen=True, slots=True)
class RankedPage:
    """A page that may answer, with its lines.

    Attributes:
        score: logarithm of odds, up to a constant, that the page answers.
        probability: that it does, among the pages at hand.
        lines: best first.
        features: of ``PAGE_WEIGHTS``, the best of its lines in each.
    """

    score: float
    probability: float
    lines: tuple[AnswerLine, ...]
    features: Mapping[str, float]

    @property
    def number(self) -> tuple[str, int]:
        return page_of(self.lines[0])


def page_of(line: AnswerLine) -> tuple[str, int]:
    return line.unit.document, line.unit.page


class TermWeights:
    """How telling each term is among the units at hand: inverse document frequency (Robertson 2004)."""

    def __init__(self, texts: Sequence[frozenset[str]]) -> None:
        self._frequency = Counter(chain.from_iterable(texts))
        self._count = len(texts)

    def __getitem__(self, term: str) -> float:
        frequency = self._frequency[term]
        return math.log(1 + (self._count - frequency + 0.5) / (frequency + 0.5))

    def share(self, wanted: Sequence[str], found: Set[str]) -> float:
        """0..1: the weight of the wanted terms that are found."""
        total = sum(self[term] for term in wanted)
        return sum(self[term] for term in wanted if term in found) / total if total else 0.0


def rank(
    question: QuestionFeatures,
    lines: Sequence[AnswerLine],
    passages: Sequence[ContextItem],
    packs: Sequence[str] = (),
) -> list[RankedPage]:
    """The pages of the lines, best first."""
    if not lines:
        return []
    columns = features_of(question, lines, passages, packs)
    line_scores = sum(weight * np.array(columns[name]) for name, weight in LINE_WEIGHTS.items())
    line_scores = line_scores - TITLE_COST * np.array([is_title(line) for line in lines])
    order = (-line_scores).tolist()
    rows: dict[tuple[str, int], list[int]] = defaultdict(list)
    for at, line in enumerate(lines):
        rows[page_of(line)].append(at)
    of_pages = np.array([columns[name] for name in PAGE_WEIGHTS])
    best = [
        dict(zip(PAGE_WEIGHTS, of_pages[:, own].max(axis=1).tolist(), strict=True)) for own in rows.values()
    ]
    scores = np.array([sum(PAGE_WEIGHTS[name] * value for name, value in page.items()) for page in best])
    odds = np.exp(scores - scores.max())
    pages = [
        RankedPage(
            float(score),
            float(probability),
            tuple(lines[at] for at in sorted(own, key=order.__getitem__)),
            page,
        )
        for score, probability, own, page in zip(scores, odds / odds.sum(), rows.values(), best, strict=True)
    ]
    return sorted(pages, key=lambda page: -page.score)


def is_title(line: AnswerLine) -> bool:
    """Whether a line is a few words without the end of a sentence, and no list item or row with values."""
    if line.values or len(line.text) >= LONGEST_TITLE or CLOSED_END.search(line.text):
        return False
    return line.unit.type != "list" or bool(LIST_NUMBER.match(line.unit.text))


def features_of(
    question: QuestionFeatures,
    lines: Sequence[AnswerLine],
    passages: Sequence[ContextItem],
    packs: Sequence[str] = (),
) -> dict[str, list[float]]:
    """The values of all lines by the name of the feature."""
    weights, items = term_weights(passages), items_asked(question.text, packs)
    columns = {
        **search_signals(lines, passages),
        **coverage(question, lines, weights),
        "meaning": cosines(question, lines),
        "words": word_nearness(question, lines, weights),
        "phrases": shared_phrases(question, lines),
        "type": [type_match(question, line) for line in lines],
        "year": [year_match(question, line) for line in lines],
        "named": named_places(question, lines),
        "row": [float(bool(line.values)) for line in lines],
        "label": [item_match(items, line) for line in lines],
    }
    both = zip(columns["context"], columns["words"], strict=True)
    columns["covered"] = [(context + words) / 2 for context, words in both]
    return columns


def term_weights(passages: Sequence[ContextItem]) -> TermWeights:
    """Over all units of the pages at hand."""
    units = {unit.id: unit for passage in passages for unit in (passage.unit, *passage.around)}
    return TermWeights([distinct_terms(unit.text, unit.language or "en") for unit in units.values()])


def search_signals(lines: Sequence[AnswerLine], passages: Sequence[ContextItem]) -> dict[str, list[float]]:
    seen: Counter[int] = Counter()
    place: dict[str, int] = {}
    of_page: dict[tuple[str, int], set[int]] = defaultdict(set)
    for passage in passages:
        place[passage.alias] = seen[passage.rank]
        seen[passage.rank] += 1
        if passage.rank:
            of_page[passage.unit.document, passage.unit.page].add(passage.rank)
    hits = [line.passage for line in lines]
    hits_of_page: dict[tuple[str, int], float] = defaultdict(float)
    hits_of_page |= {page: sum(1 / rank for rank in ranks) for page, ranks in of_page.items()}
    return {
        "hit": [1 / hit.rank**0.5 if hit.rank else 0.0 for hit in hits],
        "score": [hit.score for hit in hits],
        "first": [1 / (1 + place[hit.alias]) if hit.rank else 0.0 for hit in hits],
        "hits": [hits_of_page[page_of(line)] for line in lines],
    }


def coverage(
    question: QuestionFeatures, lines: Sequence[AnswerLine], weights: TermWeights
) -> dict[str, list[float]]:
    """The share of the question in each line and in what stands beside and over it.

    What is found of the question is a set of bits: lines are many, its terms are few.
    """
    wanted = {term: 1 << at for at, term in enumerate(question.terms)}

    asked = frozenset(wanted)

    def bits(terms: frozenset[str]) -> int:
        return sum(map(wanted.__getitem__, asked & terms))

    @cache
    def share(found: int) -> float:
        return weights.share(question.terms, {term for term, bit in wanted.items() if found & bit})

    own = [bits(line.terms) for line in lines]
    over_units = {line.unit.id: bits(terms_over(line)) for line in one_a_unit(lines)}
    over = [over_units[line.unit.id] for line in lines]
    near = with_beside(own, list(starmap(are_near, pairwise(lines))))
    return {
        "line": list(map(share, own)),
        "near": list(map(share, near)),
        "context": [share(found | above) for found, above in zip(near, over, strict=True)],
        "over": list(map(share, over)),
    }


def terms_over(line: AnswerLine) -> frozenset[str]:
    """Terms of the headings, the caption and the column heads of a line, and of the top of its page."""
    return line.context | distinct_terms(line.passage.heading[:120], line.language)


def one_a_unit(lines: Iterable[AnswerLine]) -> Iterable[AnswerLine]:
    """A line of each unit."""
    return {line.unit.id: line for line in lines}.values()


def with_beside(found: Sequence[int], near: Sequence[bool]) -> list[int]:
    """What is found in each line, the one before and the one after; ``near[i]``: i and i + 1 are near."""
    result = list(found)
    for index, is_near in enumerate(near):
        if is_near:
            result[index] |= found[index + 1]
            result[index + 1] |= found[index]
    return result


def are_near(line: AnswerLine, other: AnswerLine) -> bool:
    one, two = line.unit, other.unit
    if one is two:
        return True
    same_page = (one.document, one.page) == (two.document, two.page)
    return same_page and abs(one.char_start - two.char_start) < 1500


def cosines(question: QuestionFeatures, lines: Sequence[AnswerLine]) -> list[float]:
    texts = [question.text, *(line.text[:LONGEST_READ] for line in lines)]
    vectors = WordLlamaEmbedder().embed(texts)
    return [max(0.0, float(cosine)) for cosine in vectors[1:] @ vectors[0]]


def word_nearness(
    question: QuestionFeatures, lines: Sequence[AnswerLine], weights: TermWeights
) -> list[float]:
    """Mean over the question's terms of the cosine with the line's nearest term; the same term counts 1."""
    wanted = list(question.terms)
    vocabulary = {term: at for at, term in enumerate(sorted({t for line in lines for t in line.terms}))}
    if not wanted or not vocabulary:
        return [0.0] * len(lines)
    vectors = WordLlamaEmbedder().embed([*wanted, *vocabulary])
    near = np.clip(vectors[: len(wanted)] @ vectors[len(wanted) :].T, 0.0, 1.0)
    near[near < RELATED] = 0.0
    for row, term in enumerate(wanted):
        if term in vocabulary:
            near[row, vocabulary[term]] = 1.0
    weight = np.array([weights[term] for term in wanted])
    weight /= weight.sum()
    holding = [at for at, line in enumerate(lines) if line.terms]
    of_each = [[vocabulary[term] for term in lines[at].terms] for at in holding]
    starts = np.cumsum([0, *map(len, of_each[:-1])])
    nearest = np.maximum.reduceat(near[:, list(chain.from_iterable(of_each))], starts, axis=1)
    result = np.zeros(len(lines))
    result[holding] = weight @ nearest
    return [float(value) for value in result]


def shared_phrases(question: QuestionFeatures, lines: Sequence[AnswerLine]) -> list[float]:
    firsts = {first for first, _ in question.pairs}
    return [
        0.0
        if firsts.isdisjoint(line.terms)
        else min(1.0, len(question.pairs & set(pairwise(line.terms_in_order))) / 3)
        for line in lines
    ]


def type_match(question: QuestionFeatures, line: AnswerLine) -> float:
    """Whether the line holds what the question's kind wants; 0.5 where that cannot be seen."""
    if question.wants_number:
        return float(not numbers_in(question.text).issuperset(NUMBER.findall(line.text)))
    if "when" in question.kinds:
        return float(bool(DATE.search(line.text)))
    if question.kinds & {"who", "where"}:
        return float(bool(NAME.search(line.text)))
    return 0.5


@lru_cache(maxsize=64)
def numbers_in(text: str) -> frozenset[str]:
    return frozenset(NUMBER.findall(text))


def year_match(question: QuestionFeatures, line: AnswerLine) -> float:
    if not question.years:
        return 0.5
    said = {*YEAR.findall(line.text), *YEAR.findall(" ".join(line.unit.section_path[-1:]))}
    return len(said & question.years) / len(question.years)


def named_places(question: QuestionFeatures, lines: Sequence[AnswerLine]) -> list[float]:
    """1 for each line at a place the question names."""
    named = {
        line.unit.id
        for line in one_a_unit(lines)
        if any(is_at(place, line.unit) for place in question.places)
    }
    return [float(line.unit.id in named) for line in lines]


def is_at(place: NamedPlace, unit: SourceUnit) -> bool:
    """Whether the unit stands at the place the question names."""
    if place.kind in ("page", "slide"):
        return place.number.isdigit() and unit.page == int(place.number)
    if place.kind in ("figure", "table"):
        pattern = _caption(place, unit.language)
        return any(pattern.match(text) for text in (unit.text, unit.table.caption if unit.table else ""))
    starts = re.compile(rf"\W*(?:\w+\s+)?{re.escape(place.number)}(?![\w.]*\d)")
    return bool(starts.match(unit.text)) or any(starts.match(path) for path in unit.section_path)


def _caption(place: NamedPlace, language: str) -> re.Pattern[str]:
    words = {*words_of(language or "en", "places")[place.kind], *words_of("en", "places")[place.kind]}
    return re.compile(rf"\W*(?:{'|'.join(map(re.escape, words))})\s*{re.escape(place.number)}(?!\w)", re.I)


def item_match(items: Sequence[Item], line: AnswerLine) -> float:
    """How surely the line is an item that the question needs, as the packs of the documents know it."""
    section = line.unit.section_path[-1] if line.unit.section_path else ""
    if not items:
        return 0.0
    over = line.passage.heading_below or line.passage.heading
    return max(label_match(item, line.label, over, section) for item in items)
