"""Whether the best pages answer a question, judged by what of the question they lack."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from chat.answers.prompt import ContextItem, SearchNotes
from chat.answers.without_model.question import YEAR, QuestionFeatures
from chat.answers.without_model.ranking import RankedPage
from domains.items import words_known
from retrieval.embeddings.wordllama import WordLlamaEmbedder
from text.terms import terms_of

WEIGHTS = {
    "lacking": -2.0,  # a name or number of the question is on none of the pages cited
    "missing": -1.1,  # share of its specific words not on the best page, unless that page is asked for
    "year": 2.0,  # share of the years asked for on the best page; half where none is named
    "compare": -0.7,  # the question compares, and no one row is known to hold both values
}
DIRECT = -0.07
"""Least sum of a direct answer. Fitted by logistic regression on 186 questions that their document answers
and 57 that it does not, held out by documents; docs/answers.md has the curve."""
LEAST_SCORE, SCORE_OF_MISSING = 0.25, 6.0
"""A page's score must outweigh the words it lacks: what questions on another subject fail."""
LEAST_RELATED, MOST_MISSING = 3.0, 0.95
"""Score and missing words of a page that is shown as a closest passage."""
LABELLED = 0.5  # from which a row is the line item that a pack says the question needs, in its own words
FEW_LETTERS = 5  # a name this short is looked for as a whole word


class Relevance(NamedTuple):
    """``score``: of the best page. ``lacking``: names and numbers that are on none of the pages cited."""

    features: dict[str, float]
    score: float
    lacking: tuple[str, ...]

    @property
    def is_related(self) -> bool:
        """Whether the pages are worth showing at all."""
        return self.score >= LEAST_RELATED and self.features["missing"] <= MOST_MISSING

    @property
    def is_direct(self) -> bool:
        fits = sum(WEIGHTS[name] * value for name, value in self.features.items()) >= DIRECT
        return fits and self.score >= LEAST_SCORE + SCORE_OF_MISSING * self.features["missing"]


def relevance(
    question: QuestionFeatures,
    cited: Sequence[RankedPage],
    passages: Sequence[ContextItem],
    notes: SearchNotes,
) -> Relevance:
    """Judge the pages cited, best first."""
    texts = page_texts(passages, {page.number for page in cited})
    best = cited[0]
    known = {*notes.subject, *words_known(question.text, notes.packs)}
    lacking = tuple(
        name
        for name in question.names
        if name not in known
        and not YEAR.fullmatch(name)
        and not any(re.search(name_pattern(name), text, re.I) for text in texts.values())
    )
    labelled = best.features["label"] >= LABELLED
    missing = 0.0 if labelled else missing_share(question, texts[best.number], passages)
    features = {
        "lacking": float(bool(lacking or notes.absent)),
        "missing": missing * (1 - best.features["named"]),
        "year": best.features["year"],
        "compare": float("compare" in question.kinds and not labelled),
    }
    return Relevance(features, best.score, lacking)


def page_texts(passages: Iterable[ContextItem], pages: set[tuple[str, int]]) -> Mapping[tuple[str, int], str]:
    """The texts of the pages, of all their units."""
    found: dict[tuple[str, int], str] = {}
    for passage in passages:
        key = passage.unit.document, passage.unit.page
        if key in pages and key not in found:
            found[key] = "\n".join(unit.text for unit in (passage.unit, *passage.around))
    return found


def name_pattern(name: str) -> str:
    """Matches the name with any ending, long ones whatever mark or line end stands between two letters."""
    letters = [letter for letter in name if letter.isalnum()]
    if len(letters) > FEW_LETTERS and not any(map(str.isdigit, letters)):
        return r"\W{0,2}".join(letters[: max(FEW_LETTERS, len(letters) - 2)])
    core = name.removesuffix("s") if len(name) > FEW_LETTERS - 2 else name
    return rf"(^|[^A-Za-z0-9]){re.escape(core)}" + (r"(?!\d)" if core[-1].isdigit() else "")


def missing_share(question: QuestionFeatures, text: str, passages: Sequence[ContextItem]) -> float:
    """0..1: the part of the question's words that the page lacks, each counting the more the rarer it is."""
    if not question.words:
        return 0.0
    found = set(terms_of(text, passages[0].unit.language or "en"))
    lengths = WordLlamaEmbedder().lengths([word.lower() for word, _ in question.words])
    lacked = (
        length for (_, terms), length in zip(question.words, lengths, strict=True) if found.isdisjoint(terms)
    )
    return sum(lacked) / (sum(lengths) or 1.0)
