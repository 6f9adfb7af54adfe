"""The extractive answer: which lines are said, in which order, and how they are written down."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby, islice

from rapidfuzz import fuzz

from chat.extractive.asked import Asked, read_question
from chat.extractive.candidate import Candidate, statement_of_row
from chat.extractive.candidates import candidates
from chat.extractive.markdown import bullet, escaped
from chat.extractive.orders import gives_orders
from chat.extractive.proving import Proof
from chat.naming import strangers
from chat.prompting import Passage
from chat.providers.base import Delta, NativeCitation, TextDelta
from documents.sections import trail
from retrieval.analysis import terms_of

MOST_LINES = 6
FEWEST_LINES = 3
MOST_WEIGHED = 400  # candidates; the others are never said
CLOSE_ENOUGH = 0.3  # of the question's weight must be spoken of, or the documents do not say
WORTH_SAYING = 0.5  # of the best line's score
NEAREST_LINES = 2
LINES_A_UNIT = 2
ROWS_AN_ITEM = 2
SAME_WORDS = 90  # fuzz.ratio above which two lines say the same
_DIGITS = re.compile(r"\d+")


def extractive_answer(question: str, passages: Sequence[Passage]) -> Iterator[Delta]:
    """The answer in Markdown with its citations; all but its headings stands in a passage word for word."""
    asked = read_question(question, {passage.unit.title for passage in passages})
    ranked = candidates(asked, passages)
    chosen = selected(asked, ranked[:MOST_WEIGHED], Proof(asked, passages))
    if not chosen:
        yield TextDelta("The documents do not say.")
    elif not says_something(question, ranked, passages):
        yield TextDelta("The documents do not say. Nearest:\n\n")
        yield from written(chosen[:NEAREST_LINES], single_title(passages))
    else:
        yield from written(chosen, single_title(passages))


def says_something(question: str, ranked: Sequence[Candidate], passages: Sequence[Passage]) -> bool:
    """Whether the best lines speak of enough of the question, and of those it names."""
    if max(candidate.coverage for candidate in ranked[:10]) < CLOSE_ENOUGH:
        return False
    said = {text for p in passages for text in (p.unit.text, p.unit.title, p.heading)}
    return not strangers(question, (frozenset(terms_of(text)) for text in said))


def selected(asked: Asked, ranked: Sequence[Candidate], proof: Proof) -> list[Candidate]:
    """At most six lines that hold: first one for each line item, then the best others that add something.

    Lines of the accounts that were asked for, read on their own statement, need no company: others join
    them only when they are nearly as telling. Else there are at least three lines, and three beside those
    of a statement that says only a part of what was asked.
    """
    best = next(proof.holding(ranked), None)
    if best is None:
        return []
    least = WORTH_SAYING * best.score
    chosen: list[Candidate] = []
    for item in asked.items:
        of_item = (candidate for candidate in ranked if candidate.item is item and candidate.score >= least)
        chosen += islice(proof.holding(of_item), 1)
    if best not in chosen:
        chosen.insert(0, best)
    fewest = fewest_lines(asked, best, len(chosen))
    for candidate in proof.holding(ranked):
        if len(chosen) >= MOST_LINES or (len(chosen) >= fewest and candidate.score < least):
            break
        if adds_something(asked, candidate, chosen):
            chosen.append(candidate)
    return chosen


def fewest_lines(asked: Asked, best: Candidate, items: int) -> int:
    if not is_of_its_statement(best):
        return FEWEST_LINES
    return min(MOST_LINES, items + FEWEST_LINES) if asked.beyond_statements else items


def is_of_its_statement(candidate: Candidate) -> bool:
    """Whether it is a line item on the very statement where such a line stands first of all."""
    item = candidate.item
    return item is not None and statement_of_row(candidate.passage)[0] == item.statement


def adds_something(asked: Asked, candidate: Candidate, chosen: Sequence[Candidate]) -> bool:
    """Not a line that was said already, nor a third one of the same unit or a third row of one item.

    What was read on its own statement needs no row from elsewhere, unless a part of it is asked for.
    """
    if candidate in chosen:
        return False
    units = Counter(other.passage.unit.id for other in chosen)
    same_item = [other for other in chosen if candidate.item and other.item is candidate.item]
    if units[candidate.passage.unit.id] >= LINES_A_UNIT:
        return False
    if len(same_item) >= ROWS_AN_ITEM:
        return False
    said_already = any(map(is_of_its_statement, same_item)) and not is_of_its_statement(candidate)
    if said_already and not asked.beyond_statements:
        return False
    return not any(says_the_same(candidate.text, other.text) for other in chosen)


def says_the_same(text: str, other: str) -> bool:
    """The same words and the same numbers."""
    return fuzz.ratio(text, other) >= SAME_WORDS and _DIGITS.findall(text) == _DIGITS.findall(other)


def single_title(passages: Sequence[Passage]) -> str:
    """The title of the only document that was searched; a heading need not repeat it."""
    titles = {passage.unit.document: passage.unit.title for passage in passages}
    return next(iter(titles.values())) if len(titles) == 1 else ""


def written(chosen: Sequence[Candidate], known_title: str = "") -> Iterator[Delta]:
    """Lines under their document and section where these tell something; groups by their best line."""
    for (title, section), group in groupby(grouped(chosen), key=heading_of):
        told = [escaped(part) for part in dict.fromkeys((title, section)) if part and part != known_title]
        if told:
            yield TextDelta(f"#### {' · '.join(told)}\n\n")
        for candidate in group:
            yield TextDelta(bullet(candidate.text))
            yield NativeCitation(candidate.passage.alias, candidate.quote)
            yield TextDelta("\n")
        yield TextDelta("\n")


def grouped(chosen: Sequence[Candidate]) -> list[Candidate]:
    order = {heading_of(candidate): index for index, candidate in reversed(list(enumerate(chosen)))}
    return sorted(chosen, key=lambda candidate: order[heading_of(candidate)])


def heading_of(candidate: Candidate) -> tuple[str, str]:
    """The document's title, and the statement or section a line stands in (its page when it has none)."""
    unit = candidate.passage.unit
    statement = statement_of_row(candidate.passage)[1] if unit.table else ""
    path = unit.section_path[-2:]
    section = statement or trail(path, unit.title) or trail(path)
    page = f"page {unit.page}"
    return "" if gives_orders(unit.title) else unit.title, page if gives_orders(section) else section or page
