"""The extractive answer: which lines are said, in which order, and how they are written down."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from rapidfuzz import fuzz

from chat.extractive.asked import Asked, read_question
from chat.extractive.candidates import Candidate, candidates
from chat.extractive.lineitems import statement_of, statement_title
from chat.extractive.orders import gives_orders
from chat.naming import strangers
from chat.prompting import Passage
from chat.providers.base import Delta, NativeCitation, TextDelta
from retrieval.analysis import terms_of

MOST_LINES = 6
FEWEST_LINES = 3
CLOSE_ENOUGH = 0.3  # of the question's weight must be spoken of, or the documents do not say
WORTH_SAYING = 0.5  # of the best line's score
NEAREST_LINES = 2
LINES_A_UNIT = 2
ROWS_AN_ITEM = 2
SAME_WORDS = 90  # fuzz.ratio above which two lines say the same
# Only what Markdown would take for markup; a lone bracket or an ampersand is none (CommonMark 0.31).
_MARKDOWN = re.compile(r"([\\`*<]|(?<!\w)_|_(?!\w)|~(?=~)|&(?=[#\w]+;)|\[(?=[^\]]*\]\())")
_DIGITS = re.compile(r"\d+")
_LINE_HEAD = re.compile(r"^(\s*)([#+>-]|\d{1,9}(?=[.)]))")


def extractive_answer(question: str, passages: Sequence[Passage]) -> Iterator[Delta]:
    """The answer in Markdown with its citations; all but its headings stands in a passage word for word."""
    asked = read_question(question, {passage.unit.title for passage in passages})
    ranked = candidates(asked, passages)
    if not ranked:
        yield TextDelta("The documents do not say.")
        return
    if not says_something(question, ranked, passages):
        yield TextDelta("The documents do not say. Nearest:\n\n")
        yield from written(selected(asked, ranked)[:NEAREST_LINES], single_title(passages))
        return
    yield from written(selected(asked, ranked), single_title(passages))


def says_something(question: str, ranked: Sequence[Candidate], passages: Sequence[Passage]) -> bool:
    """Whether the best lines speak of enough of the question, and of those it names."""
    if max(candidate.coverage for candidate in ranked[:10]) < CLOSE_ENOUGH:
        return False
    said = {text for p in passages for text in (p.unit.text, p.unit.title, p.heading)}
    return not strangers(question, (frozenset(terms_of(text)) for text in said))


def selected(asked: Asked, ranked: Sequence[Candidate]) -> list[Candidate]:
    """At most six lines: first one for each line item, then the best others that add something.

    Lines of the accounts that were asked for, read on their own statement, need no company: others join
    them only when they are nearly as telling. Else there are at least three lines, and three beside those
    of a statement that says only a part of what was asked.
    """
    chosen: list[Candidate] = []
    best_score = ranked[0].score
    for item in asked.items:
        best = next((candidate for candidate in ranked if candidate.item is item), None)
        if best and best.score >= WORTH_SAYING * best_score and best not in chosen:
            chosen.append(best)
    if ranked[0] not in chosen:
        chosen.insert(0, ranked[0])
    fewest = fewest_lines(asked, ranked[0], len(chosen))
    for candidate in ranked:
        if len(chosen) >= MOST_LINES:
            break
        enough = len(chosen) >= fewest and candidate.score < WORTH_SAYING * best_score
        if not enough and adds_something(candidate, chosen):
            chosen.append(candidate)
    return chosen


def fewest_lines(asked: Asked, best: Candidate, items: int) -> int:
    if not is_of_its_statement(best):
        return FEWEST_LINES
    return min(MOST_LINES, items + FEWEST_LINES) if asked.beyond_statements else items


def is_of_its_statement(candidate: Candidate) -> bool:
    """Whether it is a line item on the very statement where such a line stands first of all."""
    return candidate.item is not None and statement_of(candidate.passage.heading) == candidate.item.statement


def adds_something(candidate: Candidate, chosen: Sequence[Candidate]) -> bool:
    """Not a line that was said already, nor a third one of the same unit or a third row of one item."""
    if candidate in chosen:
        return False
    units = Counter(other.passage.unit.id for other in chosen)
    items = Counter(other.item.name for other in chosen if other.item)
    if units[candidate.passage.unit.id] >= LINES_A_UNIT:
        return False
    if candidate.item and items[candidate.item.name] >= ROWS_AN_ITEM:
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
        told = [escaped(part) for part in (title, section) if part and part != known_title]
        if told:
            yield TextDelta(f"#### {' · '.join(told)}\n\n")
        for candidate in group:
            yield TextDelta(f"- {escaped(candidate.text)}")
            yield NativeCitation(candidate.passage.alias, candidate.quote)
            yield TextDelta("\n")
        yield TextDelta("\n")


def grouped(chosen: Sequence[Candidate]) -> list[Candidate]:
    order = {heading_of(candidate): index for index, candidate in reversed(list(enumerate(chosen)))}
    return sorted(chosen, key=lambda candidate: order[heading_of(candidate)])


def heading_of(candidate: Candidate) -> tuple[str, str]:
    """The document's title, and the statement or section a line stands in (its page when it has none)."""
    unit = candidate.passage.unit
    statement = statement_title(candidate.passage.heading) if unit.table else ""
    section = statement or " › ".join(unit.section_path[-2:])
    page = f"page {unit.page}"
    return "" if gives_orders(unit.title) else unit.title, page if gives_orders(section) else section or page


def escaped(text: str) -> str:
    """Text that Markdown shows as it is."""
    return _LINE_HEAD.sub(r"\1\\\2", _MARKDOWN.sub(r"\\\1", " ".join(text.split())))
