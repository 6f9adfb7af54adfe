"""A value that may be said without a model: a cell that only one reading of the question can mean.

A cell is said where its label, groups and head have all that the question names and nothing else, where its
period is the one asked for, and where all such cells on the pages found agree. Else nothing is said: the
passages stand for themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from chat.answers.prompt import SearchNotes
from chat.answers.without_model.lines import AnswerLine, distinct_terms
from chat.answers.without_model.question import QuestionFeatures
from chat.answers.without_model.ranking import RankedPage, item_match
from citing.tables import CellKind, CellReading, column_words, has_word, read_tables, word_of
from domains.items import Item, items_asked
from text.measures import head_words
from text.numbers import YEAR_NOT_AMOUNT, month_numbers, number_words
from text.quantities import currency_names
from text.semantics import lexicon
from text.terms import terms_of

MOST_PAGES = 4  # read for a value
ITEM_EXACT = 0.5  # of ``item_match``: the row is the pack's item under its own words …
ITEM_STATED = 0.75  # … in the statement that states it: then a group of rows there names no part of it
NOT_SAID = frozenset({"compare", "why", "how", "list", "where"})
"""Kinds of question that no single value answers."""
AGREE = 0.002  # largest relative difference of one amount printed in thousands and in millions


@dataclass(frozen=True, slots=True)
class SaidValue:
    """A value with the cell that shows it."""

    cell: CellReading
    line: AnswerLine

    @property
    def text(self) -> str:
        return f"{self.cell.name}: {self.cell.printed}"


def certain_value(
    question: QuestionFeatures, pages: Sequence[RankedPage], notes: SearchNotes
) -> SaidValue | None:
    """Return the only value that the question can mean; None without one, or with several."""
    if question.kinds & NOT_SAID or question.computation or len(question.years) > 1 or notes.absent:
        return None
    items = items_asked(question.text, notes.packs)
    if len(items) > 1:
        return None
    found = [value for page in pages[:MOST_PAGES] for value in _values_on(page, question, items[:1], notes)]
    if not found:
        return None
    best = min(_extra(value.cell, question) for value in found)
    found = [value for value in found if _extra(value.cell, question) == best]
    if not question.years:
        latest = max((max(value.cell.period.years, default=0) for value in found), default=0)
        found = [value for value in found if max(value.cell.period.years, default=0) == latest]
    return found[0] if all(_agree(found[0].cell, value.cell) for value in found) else None


def _values_on(
    page: RankedPage, question: QuestionFeatures, items: Sequence[Item], notes: SearchNotes
) -> Iterator[SaidValue]:
    first = page.lines[0].passage
    rows = read_tables((first.unit, *first.around))
    lines = {line.unit.id: line for line in page.lines}
    for key, cells in rows.items():
        line = lines.get(key)
        for cell in cells if line else ():
            is_alone = len(cells) == 1 or not _beside_period(cell, question)
            if line and is_alone and _is_meant(cell, line, question, items, notes):
                yield SaidValue(cell, line)


def _is_meant(
    cell: CellReading,
    line: AnswerLine,
    question: QuestionFeatures,
    items: Sequence[Item],
    notes: SearchNotes,
) -> bool:
    """Return whether a cell has the question's subject, period and kind, and nothing else."""
    return (
        cell.is_certain
        and not cell.is_change
        and cell.quantity is not None
        and _is_of_kind(cell, question)
        and _is_of_period(cell, question)
        and _is_of_subject(cell, line, question, items, notes)
    )


def _is_of_kind(cell: CellReading, question: QuestionFeatures) -> bool:
    """Return whether the cell is of the kind that the question wants; a plain number fits most."""
    language = question.language
    own = set(re.findall(r"\w+", cell.name.casefold()))
    rates = set(head_words(language, "rate")) & set(re.findall(r"\w+", question.text.casefold()))
    if rates - own:  # a ratio of a thing is not its amount
        return False
    if "count" in question.kinds:
        return cell.kind in ("count", "number")
    if "when" in question.kinds:
        return cell.kind == "date"
    if "who" in question.kinds:
        return False
    rate = any(_names(text, question) for text in (cell.label, cell.head)) if cell.kind == "rate" else True
    if "share" in question.kinds:
        return cell.kind in ("share", "rate")
    if "money" in question.kinds:
        return cell.kind in ("amount", "rate") and rate
    wanted: set[CellKind] = {"amount", "share", "rate", "measure", "number"}
    return bool(question.kinds & {"amount", "define"} or word_of("whole", question.text, language)) and (
        cell.kind in wanted and rate
    )


def _names(text: str, question: QuestionFeatures) -> bool:
    """Return whether the question has most words of a label: a rate is only said of a question on it."""
    own = set(terms_of(text, question.language)) - set(YEAR_NOT_AMOUNT.findall(text))
    return bool(own) and 2 * len(own & set(terms_of(question.text, question.language))) >= len(own)


def _is_of_period(cell: CellReading, question: QuestionFeatures) -> bool:
    """Return whether the cell is of the year asked for, and of a part of it only where one is named."""
    asked = {int(year[-4:]) for year in question.years if year[-4:].isdigit()}
    if asked and cell.period.years != asked:
        return False
    part = word_of("part_of_year", question.text, question.language)
    return part == cell.period.part or (bool(part) and part in cell.head.casefold())


def _is_of_subject(
    cell: CellReading,
    line: AnswerLine,
    question: QuestionFeatures,
    items: Sequence[Item],
    notes: SearchNotes,
) -> bool:
    language = line.language
    asked = set(question.terms) - _unspoken(question, notes, language)
    groups = distinct_terms(" ".join(cell.groups), language)
    named = distinct_terms(f"{cell.label} {' '.join(cell.groups)}", language)
    head = distinct_terms(cell.head, language)
    over = head | distinct_terms(
        " ".join((*line.unit.section_path, _caption(line), line.unit.title)), language
    )
    match = item_match(items, line) if items else 0.0
    is_item = match >= ITEM_EXACT
    if cell.scope == "part" and not has_word("part", question.text, question.language):
        return False
    in_label = bool(asked & distinct_terms(cell.label, language))
    if not is_item and not (in_label and asked <= named | over):
        return False
    whole = distinct_terms(" ".join(column_words(language).get("whole", ())), language)
    if match >= ITEM_STATED:
        return True
    extra = (groups if is_item else named) - set(question.terms) - whole
    return all(YEAR_NOT_AMOUNT.fullmatch(term) for term in extra)


def _extra(cell: CellReading, question: QuestionFeatures) -> int:
    """Return how many words of the cell's name, beside its period, the question lacks."""
    name = " ".join((cell.label, *cell.groups))
    own = set(terms_of(name, question.language)) - set(question.terms)
    return len(own) + len(_beside_period(cell, question))


def _beside_period(cell: CellReading, question: QuestionFeatures) -> set[str]:
    """Return the terms of a head that are neither of a period nor of the question: "North America"."""
    words = lexicon(question.language)
    periods = " ".join((*words.period, *words.period_end, *month_numbers(question.language)))
    own = {t for t in terms_of(cell.head, question.language) if not any(map(str.isdigit, t))}
    columns = column_words(question.language)
    whole = " ".join((*columns.get("whole", ()), *columns.get("part_of_year", ())))
    return own - set(terms_of(f"{periods} {whole}", question.language)) - set(question.terms)


def _unspoken(question: QuestionFeatures, notes: SearchNotes, language: str) -> set[str]:
    """Return terms that name the document, the period or the way of counting, which no label repeats."""
    said = " ".join((*notes.subject, *question.years, *column_words(language).get("whole", ())))
    periods = " ".join(column_words(question.language).get("part_of_year", ()))
    counted = " ".join((*number_words(question.language).scales, *currency_names(question.language)))
    period = " ".join(lexicon(question.language).period)
    return set(terms_of(f"{said} {periods} {counted} {period}", language))


def _caption(line: AnswerLine) -> str:
    return line.unit.table.caption if line.unit.table else ""


def _agree(one: CellReading, other: CellReading) -> bool:
    assert one.quantity is not None and other.quantity is not None
    a, b = abs(one.quantity.base), abs(other.quantity.base)
    return abs(a - b) <= max(a, b) * type(a)(str(AGREE))
