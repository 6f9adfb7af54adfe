"""Rank the pages that may answer a question and their lines; judge whether the best page answers it."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from chat.answers.prompt import ContextItem, SearchNotes
from chat.answers.without_model.answer_types import (
    PERCENT,
    counted_dimensions,
    definitions,
    has_time,
    money_in,
    type_match,
)
from chat.answers.without_model.lines import (
    AnswerLine,
    distinct_terms,
    is_of_other_years,
    is_only_title,
    terms_over,
    units_named,
)
from chat.answers.without_model.question import (
    QuestionFeatures,
    QuestionWord,
    counted_terms,
    holds_name,
    share_of_names,
    share_of_years,
)
from domains.items import Item, items_asked, label_match, words_known
from pdf.gc_control import cleared_with_memory
from retrieval.embeddings.base import Vectors
from retrieval.embeddings.wordllama import WordLlamaEmbedder
from retrieval.query.question_terms import HIRAGANA, KANA_PAIR
from text.numbers import YEAR_NOT_AMOUNT, month_numbers, numbers_in
from text.quantities import quantities_in
from text.terms import COMPOUND_LINKS, one_line

PageNumber = tuple[str, int]  # document, page

PAGE_WEIGHTS = {
    "hits": 2.2,  # sum of 1/rank of the page's hits
    "words": 2.75,  # mean over the question's terms of the cosine with the nearest term of a line
    "over": 3.4,  # share of the question's weighted terms in the headings, the caption, the column heads
    "names": 1.9,  # share of the question's names and numbers on the page
    "year": 1.1,  # share of the years asked for that a line is of
    "named": 2.6,  # a line is at the page, figure, table, section that the question names
    "label": 3.9,  # a row is a line item that a pack lists for the question
    "fits": 0.9,  # a line has the question's words and the kind of answer
    "defines": 5.5,  # the question asks for a definition, and a line is one
}
"""Weights of a page by the best of its lines, fitted by softmax regression on the right pages of three sets
(general documents, filings, a standard in four languages), one example per question; ``fits`` was chosen
on them, ``defines``, which is rare in them, by hand."""
LINE_WEIGHTS = {
    "own_words": 2.4,  # ``words`` without the names in the document's title
    "over": 0.6,
    "type": 1.45,  # it has the kind of answer of the question
    "row": 0.8,  # it is a row with values
    "label": 3.9,
    "named": 2.6,
    "defines": 1.5,  # it defines the thing asked for; chosen by hand
    "title": -0.7,  # it only names a subject: a heading, a question, an entry of a table of contents
    "empty_box": -1.0,  # a choice of a form that was not made; chosen by hand
}
"""Weights of a line among the lines of its page, fitted likewise on the lines with the known answers."""

LEAST_OF_COMPOUND = 5  # letters of its first part
RELATED = 0.35  # cosine of two words above which they are related

DIRECTNESS_WEIGHTS = {
    "lacking": -1.75,  # a name or number of the question is not on the best page
    "year": 2.85,  # share of the years asked for on the pages cited; half where none is named
    "compare": -0.84,  # the question compares, and no single row is known to have both values
    "words": 1.63,  # of the best page
}
DIRECTNESS_THRESHOLD = 1.2
"""Minimum sum of pages that answer. Fitted by logistic regression on questions that the document answers and
57 that it does not, held out by document."""
WORDS_HELD = 0.5  # weight of the question's words on a page against that of their meaning
NEAR, RELATED_PAGE = 0.4, 0.36
"""Minimum nearness of a page that answers, and of a closest passage: below it is another subject."""
FEW_WORDS = 3  # content words of a question of which one other than a name must be on the pages cited
MOST_PAGES = 3
WORTH_CITING = 0.2  # minimum probability, as a share of the best page's, of another page to cite
ITEM_EXACT = 0.5  # score from which a row is the line item of a pack in the question's own words


@dataclass(frozen=True, slots=True)
class RankedPage:
    """A page that may answer, with its lines.

    Attributes:
        probability: that it answers, among the pages at hand.
        lines: best first.
        features: for each of ``PAGE_WEIGHTS`` the best of its lines.
        text: of all its units.
        titles: of its sections; the pages of a section on a thing need not name it.
    """

    number: PageNumber
    probability: float
    lines: tuple[AnswerLine, ...]
    features: Mapping[str, float]
    text: str = ""
    titles: str = ""

    @property
    def titled_text(self) -> str:
        return f"{self.titles}\n{self.text}"


class TermWeights:
    """Inverse document frequency of each term among the units at hand (Robertson 2004).

    Args:
        least: the fewest units to assume, so that in a short document an absent word does not outweigh all.
    """

    def __init__(self, passages: Sequence[ContextItem], least: int = 0) -> None:
        units = {unit.id: unit for passage in passages for unit in (passage.unit, *passage.around)}
        texts = (distinct_terms(unit.text, unit.language or "en") for unit in units.values())
        self._frequency = Counter(chain.from_iterable(texts))
        self._count = max(len(units), least)

    def __getitem__(self, term: str) -> float:
        frequency = self._frequency[term]
        ending = KANA_PAIR if len(term) == 2 and HIRAGANA.search(term) else 1.0
        return ending * math.log(1 + (self._count - frequency + 0.5) / (frequency + 0.5))

    def share(self, wanted: Sequence[str], found: Set[str]) -> float:
        """Return 0..1, the share by weight of the wanted terms that are found."""
        total = sum(self[term] for term in wanted)
        return sum(self[term] for term in wanted if term in found) / total if total else 0.0


def page_of(line: AnswerLine) -> PageNumber:
    return line.unit.document, line.unit.page


def rank(
    question: QuestionFeatures,
    lines: Sequence[AnswerLine],
    passages: Sequence[ContextItem],
    packs: Sequence[str] = (),
) -> list[RankedPage]:
    """Return the pages of the lines, best first."""
    lines = [line for line in lines if not is_of_other_years(question, line)] or lines
    if not lines:
        return []
    features = features_of(question, lines, passages, packs)
    line_scores = np.sum([weight * np.array(features[name]) for name, weight in LINE_WEIGHTS.items()], axis=0)
    order = (-line_scores).tolist()
    rows: dict[PageNumber, list[int]] = defaultdict(list)
    for at, line in enumerate(lines):
        rows[page_of(line)].append(at)
    texts = page_texts(passages)
    names = [name for name in PAGE_WEIGHTS if name != "names"]
    of_lines = np.array([features[name] for name in names])
    best = [
        dict(zip(names, of_lines[:, own].max(axis=1).tolist(), strict=True))
        | {"names": share_of_names(question, "\n".join(texts[page]))}
        for page, own in rows.items()
    ]
    scores = np.array([sum(PAGE_WEIGHTS[name] * value for name, value in page.items()) for page in best])
    odds = np.exp(scores - scores.max())
    pages = [
        RankedPage(
            page,
            float(chance),
            tuple(lines[at] for at in sorted(own, key=order.__getitem__)),
            values,
            *texts[page],
        )
        for (page, own), values, chance in zip(rows.items(), best, odds / odds.sum(), strict=True)
    ]
    return sorted(pages, key=lambda page: -page.probability)


def without_title(question: QuestionFeatures, lines: Sequence[AnswerLine]) -> QuestionFeatures:
    """Leave out names that stand in the title of the only document: its pages need not repeat them."""
    titles = {line.unit.title for line in lines}
    own = distinct_terms(" ".join(titles), lines[0].language) if len(titles) == 1 else frozenset()
    named = {term for word in question.words if word.is_name for term in own.intersection(word.terms)}
    kept = tuple(term for term in question.terms if term not in named)
    return replace(question, terms=kept) if kept else question


def worth_citing(pages: Sequence[RankedPage]) -> list[RankedPage]:
    """Return the best page, and others that are likely to answer."""
    return [page for page in pages[:MOST_PAGES] if page.probability >= WORTH_CITING * pages[0].probability]


def page_texts(passages: Iterable[ContextItem]) -> dict[PageNumber, tuple[str, str]]:
    """Return the texts of all units of the passages' pages, and the titles of their sections."""
    found: dict[PageNumber, tuple[str, str]] = {}
    for passage in passages:
        key = passage.unit.document, passage.unit.page
        if key not in found:
            units = (passage.unit, *passage.around)
            titles = dict.fromkeys(chain.from_iterable(unit.section_path for unit in units))
            found[key] = "\n".join(unit.text for unit in units), "\n".join(titles)
    return found


def features_of(
    question: QuestionFeatures,
    lines: Sequence[AnswerLine],
    passages: Sequence[ContextItem],
    packs: Sequence[str] = (),
) -> dict[str, list[float]]:
    """Return the values of all lines by the name of the feature."""
    weights, items = TermWeights(passages), items_asked(question.text, packs)
    of_unit = {line.unit.id: line for line in lines}
    over = {key: weights.share(question.terms, terms_over(line)) for key, line in of_unit.items()}
    named = units_named(question.places, lines)
    words, types = word_nearness(question, lines, weights), [type_match(question, line) for line in lines]
    own = without_title(question, lines)
    return {
        "hits": hits_of(lines, passages),
        "words": words,
        "own_words": words if own == question else word_nearness(own, lines, weights),
        "fits": [near * kind for near, kind in zip(words, types, strict=True)],
        "over": [over[line.unit.id] for line in lines],
        "year": [year_match(question, line) for line in lines],
        "named": [float(line.unit.id in named) for line in lines],
        "label": [item_match(items, line) for line in lines],
        "defines": definitions(question, lines),
        "type": types,
        "row": [float(bool(line.values)) for line in lines],
        "title": [float(is_only_title(question, line)) for line in lines],
        "empty_box": [float(line.text.startswith("☐")) for line in lines],
    }


def hits_of(lines: Sequence[AnswerLine], passages: Sequence[ContextItem]) -> list[float]:
    """Return the sum of 1/rank of the hits on each line's page."""
    ranks: dict[PageNumber, set[int]] = defaultdict(set)
    for passage in passages:
        if passage.rank:
            ranks[passage.unit.document, passage.unit.page].add(passage.rank)
    return [sum(1 / rank for rank in ranks[page_of(line)]) for line in lines]


def word_nearness(
    question: QuestionFeatures, lines: Sequence[AnswerLine], weights: TermWeights
) -> list[float]:
    """Return the mean over the question's terms of the cosine with the line's nearest term."""
    wanted = list(question.terms)
    own = [line.terms for line in lines]
    vocabulary = {term: at for at, term in enumerate(sorted(set().union(*own)))}
    if not wanted or not vocabulary:
        return [0.0] * len(lines)
    near = np.clip(vectors_of(wanted) @ vectors_of(list(vocabulary)).T, 0.0, 1.0)
    near[near < RELATED] = 0.0
    for row, term in enumerate(wanted):
        if term in vocabulary:
            near[row, vocabulary[term]] = 1.0
    weight = np.array([weights[term] for term in wanted])
    weight /= weight.sum()
    holding = [at for at, terms in enumerate(own) if terms]
    of_each = [[vocabulary[term] for term in own[at]] for at in holding]
    starts = np.cumsum([0, *map(len, of_each[:-1])])
    nearest = np.maximum.reduceat(near[:, list(chain.from_iterable(of_each))], starts, axis=1)
    result = np.zeros(len(lines))
    result[holding] = weight @ nearest
    return [float(value) for value in result]


def vectors_of(terms: Sequence[str]) -> Vectors:
    """Return the vectors of terms, of which frequent pages have the same."""
    if len(_vectors) > MOST_VECTORS:
        forget_vectors()
    kept = _vectors  # another thread may forget them
    if missing := [term for term in terms if term not in kept]:
        kept.update(zip(missing, WordLlamaEmbedder().embed(missing), strict=True))
    return np.stack([kept[term] for term in terms])


def forget_vectors() -> None:
    global _vectors
    _vectors = {}


MOST_VECTORS = 8192  # of one kilobyte each
_vectors: dict[str, Vectors] = {}
cleared_with_memory(forget_vectors)


def year_match(question: QuestionFeatures, line: AnswerLine) -> float:
    if not question.years:
        return 0.5
    years = {
        *YEAR_NOT_AMOUNT.findall(line.text),
        *YEAR_NOT_AMOUNT.findall(" ".join(line.unit.section_path[-1:])),
    }
    return len(years & question.years) / len(question.years)


def item_match(items: Sequence[Item], line: AnswerLine) -> float:
    """Return 0..1, how surely the line is an item of the packs that the question needs."""
    if not items:
        return 0.0
    section = line.unit.section_path[-1] if line.unit.section_path else ""
    over = line.passage.heading_below or line.passage.heading or section
    return max(label_match(item, name_of_item(line, item), over, section) for item in items)


def name_of_item(line: AnswerLine, item: Item) -> str:
    """Return the part of a line that names its item: the label of a row, or a whole sentence."""
    return line.text if item.kind == "sentence" and not line.values else line.label


# Whether the best page answers the question, by the words of the question that it lacks.


@dataclass(frozen=True, slots=True)
class Relevance:
    """``is_related``: worth showing at all. ``lacking``: names and numbers missing on the best page."""

    is_direct: bool
    is_related: bool
    lacking: tuple[str, ...]


def relevance(
    question: QuestionFeatures,
    pages: Sequence[RankedPage],
    notes: SearchNotes,
    chosen: Sequence[AnswerLine] = (),
) -> Relevance:
    """Judge the pages worth citing by the words of the question they lack and their nearness to its subject.

    ``chosen``: their lines in the answer.
    """
    best, text = pages[0], "\n".join(page.titled_text for page in worth_citing(pages))
    known = {*notes.subject, *words_known(question.text, notes.packs)}
    lacking = tuple(
        name
        for name in question.names
        if name not in known and not holds_name(text if is_number(name, question) else best.titled_text, name)
    )
    labelled = best.features["label"] >= ITEM_EXACT
    lacks = bool(lacking or notes.absent)
    features = {
        "lacking": float(lacks),
        "year": share_of_years(question, text),
        "compare": float("compare" in question.kinds and not labelled),
        "words": best.features["words"],
    }
    fits = sum(DIRECTNESS_WEIGHTS[name] * value for name, value in features.items()) >= DIRECTNESS_THRESHOLD
    is_placed = labelled or bool(best.features["named"])
    found = distinct_terms(text, best.lines[0].language)
    held = [word for word in question.words if holds_word(found, word, question.language)]
    near = 1.0 if is_placed else nearness(question, pages, held)
    is_answer = labelled or covers_predicate(question, held, is_placed)
    is_answer = is_answer and not any(map(is_proper_name, notes.absent))
    is_answer = is_answer and not (question.must_be_seen or (chosen and lacks_kind(question, chosen)))
    is_related = near >= RELATED_PAGE or bool(held)
    return Relevance(fits and is_answer and near >= NEAR, is_related, lacking)


def lacks_kind(question: QuestionFeatures, chosen: Sequence[AnswerLine]) -> bool:
    """Return whether a number or a date is asked for, and no line, its paragraph or its row has one.

    For a count it is enough that a line or its headings name what is counted, unless it counts in a unit.
    """
    if "frequency" in question.kinds:
        return False
    language = chosen[0].language
    texts = [line.text if line.unit.table else one_line(line.unit.text) for line in chosen]
    if question.date_asked and not question.wants_number:
        return not any(has_time(text, language) or question.date_asked in text for text in texts)
    found = {quantity.dimension for text in texts for quantity in quantities_in(text, language)}
    if dimensions := counted_dimensions(question):
        return dimensions.isdisjoint(found)
    rows = [line for line in chosen if line.values]
    if rows and "money" in question.kinds:  # a currency may stand anywhere on the page of a table
        return not any(money_in(language).search(row.page_text) for row in rows)
    if not question.wants_number or rows:
        return False
    if "money" in question.kinds:
        return "money" not in found
    if "share" in question.kinds:
        return not any(map(PERCENT.search, texts))
    if any(numbers_in(text, language) for text in texts):
        return False
    counted = counted_terms(question, language)
    return not any(counted & (line.terms | terms_over(line)) for line in chosen)


def holds_word(found: frozenset[str], word: QuestionWord, language: str) -> bool:
    """Return whether terms are those of a word, or of the beginning of a compound: "Geselle(nstunde)"."""
    if not found.isdisjoint(word.terms):
        return True
    compounds = word.terms if language in COMPOUND_LINKS else ()
    return any(len(term) >= LEAST_OF_COMPOUND and own.startswith(term) for own in compounds for term in found)


def is_proper_name(name: str) -> bool:
    """Return whether a name is a word with a capital, not an abbreviation, a number or a place."""
    return name.isalpha() and name[:1].isupper() and not name.isupper()


def is_number(name: str, question: QuestionFeatures) -> bool:
    """Return whether a name is a number or a month, which may be on any page cited; others on the best."""
    return any(map(str.isdigit, name)) or name.casefold() in month_numbers(question.language)


def covers_predicate(question: QuestionFeatures, held: Sequence[QuestionWord], is_placed: bool) -> bool:
    """Return whether pages have words of a question other than its names.

    True for a question of many words without a named place.
    """
    plain = {word for word in question.words if not word.is_name}
    is_long = len(question.words) > FEW_WORDS and not is_placed
    return is_long or not plain or not plain.isdisjoint(held)


def nearness(question: QuestionFeatures, pages: Sequence[RankedPage], held: Sequence[QuestionWord]) -> float:
    """Return the nearness of pages to the question: by the meaning of the best, and by the words they have.

    Words count by their rarity.
    """
    embedder = WordLlamaEmbedder()
    vectors = embedder.embed([question.text, *(page.text for page in pages[:MOST_PAGES])])
    rarity = embedder.lengths([word.text.lower() for word in question.words]) if question.words else []
    of_held = sum(length for word, length in zip(question.words, rarity, strict=True) if word in held)
    return float(max(vectors[1:] @ vectors[0])) + WORDS_HELD * of_held / (sum(rarity) or 1.0)
